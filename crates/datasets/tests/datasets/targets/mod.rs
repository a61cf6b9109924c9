//! What must hold for each reader whatever the bytes: no panic; an error, or finite numbers of a consistent
//! shape; and the same outcome whether the bytes come at once or one at a time.
//!
//! `fuzz.rs` calls these functions on mutated files of `tests/corpus`; the crate `fuzz/` calls them
//! from libFuzzer.

#![allow(dead_code, reason = "each program that includes this file calls some of the functions")]

use lao_datasets::catalog::{Catalog, Folders, Manifest, SplitRule};
use lao_datasets::format::csv::{Column, CsvOptions, CsvReader};
use lao_datasets::format::idx::read_idx_from;
use lao_datasets::format::libsvm::{LibsvmOptions, LibsvmReader};
use lao_datasets::format::npy::read_npy_from;
use lao_datasets::format::{Array, FormatError, Limits, Opening, Part, open_reader, open_seekable};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// Gives out one byte at a time, as the slowest pipe does.
struct Trickle(Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(1);
        self.0.read(&mut buffer[..count])
    }
}

impl Seek for Trickle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn trickle(bytes: &[u8]) -> Trickle {
    Trickle(Cursor::new(bytes.to_vec()))
}

/// Bits of all numbers of a row; equality of numbers would take 0 for -0.
type Bits = Vec<u64>;

fn bits(values: &[f64]) -> Bits {
    assert!(values.iter().all(|value| value.is_finite()), "a number that is not finite was given out");
    values.iter().map(|value| value.to_bits()).collect()
}

/// All rows before the first error, and that error.
#[derive(Debug, PartialEq)]
struct Rows<T> {
    rows: Vec<T>,
    error: Option<String>,
}

/// CSV, with and without a header, with a group, other columns and another delimiter.
pub fn csv(bytes: &[u8]) {
    let name = |name: &str| Column::Name(name.to_owned());
    let first = || Column::Index(0);
    let last = || Column::FromEnd { last: 0 };
    for options in [
        CsvOptions::default(),
        CsvOptions { header: false, group: Some(first()), ..CsvOptions::default() },
        CsvOptions { target: name("y"), drop: vec![first(), last()], ..CsvOptions::default() },
        CsvOptions { header: false, target: Column::Index(1), delimiter: ';', ..CsvOptions::default() },
    ] {
        let whole = csv_rows(bytes, &options);
        assert_eq!(whole, csv_rows(trickle(bytes), &options), "{options:?}");
    }
}

fn csv_rows(input: impl Read, options: &CsvOptions) -> Rows<(Bits, Option<u32>)> {
    let mut reader = CsvReader::new(input, "input", options.clone());
    let (mut rows, mut width, mut groups) = (Vec::new(), None, 0);
    let error = loop {
        match reader.next_row() {
            Ok(None) => break None,
            Err(error) => break Some(checked(&error)),
            Ok(Some(row)) => {
                assert_eq!(*width.get_or_insert(row.values.len()), row.values.len());
                assert!(!row.values.is_empty());
                assert_eq!(row.group.is_some(), options.group.is_some());
                // Groups are numbered by first appearance.
                assert!(row.group.is_none_or(|group| group <= groups));
                groups = groups.max(row.group.map_or(0, |group| group + 1));
                let mut numbers = bits(row.values);
                numbers.extend(bits(&[row.label]));
                rows.push((numbers, row.group));
            }
        }
    };
    if let (Some(names), Some(width)) = (reader.feature_names(), width) {
        assert_eq!(names.len(), width);
    }
    Rows { rows, error }
}

/// LibSVM text of either base, with and without a dimension.
pub fn libsvm(bytes: &[u8]) {
    for (dim, zero_based) in [(None, false), (None, true), (Some(3), false), (Some(3), true)] {
        let options = LibsvmOptions { dim, zero_based };
        let whole = libsvm_rows(bytes, options);
        assert_eq!(whole, libsvm_rows(trickle(bytes), options), "{options:?}");
    }
}

fn libsvm_rows(input: impl Read, options: LibsvmOptions) -> Rows<(Vec<u32>, Bits)> {
    let mut reader = LibsvmReader::new(input, "input", options);
    let mut rows = Vec::new();
    let error = loop {
        match reader.next_row() {
            Ok(None) => break None,
            Err(error) => break Some(checked(&error)),
            Ok(Some(row)) => {
                assert_eq!(row.indices.len(), row.values.len());
                assert!(row.indices.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(row.indices.last().is_none_or(|&last| last < options.dim.unwrap_or(u32::MAX)));
                let mut numbers = bits(row.values);
                numbers.extend(bits(&[row.label]));
                rows.push((row.indices.to_vec(), numbers));
            }
        }
    };
    Rows { rows, error }
}

/// An error must say where and what, and briefly.
fn checked(error: &FormatError) -> String {
    let text = error.to_string();
    assert!(text.starts_with("input"), "{text}");
    assert!(text.len() < 1200, "{text}");
    text
}

/// IDX.
pub fn idx(bytes: &[u8]) {
    array(|input| read_idx_from(input, "input"), bytes);
}

/// NPY.
pub fn npy(bytes: &[u8]) {
    array(|input| read_npy_from(input, "input"), bytes);
}

fn array(read: impl Fn(Box<dyn Read>) -> Result<Array, FormatError>, bytes: &[u8]) {
    let whole = read(Box::new(Cursor::new(bytes.to_vec())));
    let pieces = read(Box::new(trickle(bytes)));
    match (whole, pieces) {
        (Err(whole), Err(pieces)) => assert_eq!(checked(&whole), checked(&pieces)),
        (Ok(whole), Ok(pieces)) => {
            assert_eq!((bits(&whole.values), &whole.shape), (bits(&pieces.values), &pieces.shape));
            assert_eq!(whole.shape.iter().product::<usize>(), whole.values.len());
            let (rows, count) = (whole.shape[0], whole.values.len());
            for labels in [whole.clone(), pieces] {
                if let Ok(table) = whole.clone().into_table(labels) {
                    assert_eq!((table.rows(), table.rows() * table.columns()), (rows, count));
                    assert_eq!(table.labels.len(), rows);
                }
            }
        }
        (whole, pieces) => panic!("at once {whole:?}, in pieces {pieces:?}"),
    }
}

/// Plain bytes, gzip, bzip2 and zip.
pub fn archive(bytes: &[u8]) {
    let limits = Limits { max_bytes: 1 << 20, max_ratio: 100, free_bytes: 1 << 16 };
    for member in [None, Some("*".to_owned()), Some("*a*.csv".to_owned())] {
        let opening = Opening { member, limits };
        let whole = unpacked(open_seekable(Cursor::new(bytes.to_vec()), "input", &opening));
        let pieces = unpacked(open_seekable(trickle(bytes), "input", &opening));
        same(&whole, &pieces);
        let streamed = unpacked(open_reader(Cursor::new(bytes.to_vec()), "input", &opening));
        same(&streamed, &unpacked(open_reader(trickle(bytes), "input", &opening)));
        // What a stream gives is what a file gives; only zip is not read from a stream.
        match (&whole, &streamed) {
            (Ok(whole), Ok(streamed)) => assert_eq!(whole, streamed),
            (_, Err(error)) if error.contains("comes through a pipe") => assert!(bytes.starts_with(b"PK")),
            (Err(_), Err(_)) => {}
            // The ratio of a stream is that of the bytes so far.
            (Ok(_), Err(error)) => assert!(error.contains("archive bomb"), "{error}"),
            (Err(whole), Ok(_)) => panic!("a file gives {whole}, but a stream is read"),
        }
    }
}

/// Both read, and to the same bytes, or both refused.
fn same(whole: &Result<Vec<(String, Vec<u8>)>, String>, pieces: &Result<Vec<(String, Vec<u8>)>, String>) {
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        (Err(whole), Err(pieces)) => {
            // Decoders word one fault in two ways. Of damage and too much output, a decoder that meets both
            // in one call reports the damage, and drops the output. Anything else must be said alike.
            let packed =
                |text: &str| ["damaged or cut off", "archive bomb"].iter().any(|part| text.contains(part));
            assert!(
                whole == pieces || packed(whole) && packed(pieces),
                "at once {whole}, in pieces {pieces}"
            );
        }
        (whole, pieces) => panic!("at once {whole:?}, in pieces {pieces:?}"),
    }
}

fn unpacked(parts: Result<Vec<Part>, FormatError>) -> Result<Vec<(String, Vec<u8>)>, String> {
    let parts = parts.map_err(|error| checked(&error))?;
    assert!(!parts.is_empty());
    let read = |part: Part| {
        let name = part.name.clone();
        let mut bytes = Vec::new();
        let mut reader = part.reader();
        reader.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok((name, bytes))
    };
    parts.into_iter().map(read).collect()
}

/// The manifest of the catalog.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let manifest = match Manifest::parse(text) {
        Ok(manifest) => manifest,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for dataset in &manifest.datasets {
        for id in dataset.file_ids() {
            assert!(dataset.alternatives(id).next().is_some(), "`{id}` names no file");
        }
        for file in &dataset.files {
            assert!(!file.path.starts_with('/') && !file.path.split('/').any(|part| part == ".."));
        }
        match dataset.split {
            SplitRule::Given => assert!(dataset.test.is_some()),
            SplitRule::Random { test_fraction } | SplitRule::ByGroup { test_fraction } => {
                assert!(test_fraction > 0.0 && test_fraction < 1.0);
            }
        }
    }
    let names: Vec<String> = manifest.datasets.iter().map(|dataset| dataset.name.clone()).collect();
    let catalog = Catalog::new(manifest, Folders::default());
    for name in names {
        catalog.load(&name).unwrap_err();
    }
}
