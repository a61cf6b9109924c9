//! The readers agree with naive twins on what is well-formed, and survive what is not.

use lao_datasets::format::csv::{Column, CsvOptions, CsvReader, read_csv};
use lao_datasets::format::idx::read_idx_from;
use lao_datasets::format::libsvm::{LibsvmOptions, LibsvmReader, read_libsvm};
use lao_datasets::format::npy::read_npy_from;
use lao_datasets::format::{Opening, SparseRows, Table};
use lao_datasets::memory::By;
use lao_observation::{BlockBuf, Source};
use proptest::prelude::*;
use std::fs;
use std::io::{self, Read};

/// Gives out its bytes in pieces of a few, as a slow pipe does.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

/// LibSVM by splitting strings: for well-formed text only.
fn naive_libsvm(text: &str) -> SparseRows {
    let mut rows = SparseRows::new(0);
    for line in text.lines() {
        let mut tokens = line.split('#').next().unwrap().split_whitespace();
        rows.labels.push(tokens.next().unwrap().parse().unwrap());
        for token in tokens {
            let (index, value) = token.split_once(':').unwrap();
            rows.indices.push(index.parse::<u32>().unwrap() - 1);
            rows.values.push(value.parse().unwrap());
        }
        rows.starts.push(rows.values.len());
    }
    rows.dim = rows.indices.iter().max().map_or(0, |j| *j as usize + 1);
    rows
}

fn collect(text: &[u8], piece: usize) -> SparseRows {
    let mut reader = LibsvmReader::new(Trickle(text, piece), "test", LibsvmOptions::default());
    let mut rows = SparseRows::new(0);
    while let Some(row) = reader.next_row().unwrap() {
        rows.push(row);
    }
    rows
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<i16>().prop_map(f64::from),
        -1.0..1.0f64,
        any::<f64>().prop_filter("finite", |v| v.is_finite())
    ]
}

fn libsvm_text() -> impl Strategy<Value = String> {
    let row = (finite(), proptest::collection::btree_map(1u32..100_000, finite(), 0..8), 0..4usize);
    proptest::collection::vec(row, 1..12).prop_map(|rows| {
        let lines = rows.iter().map(|(label, entries, ending)| {
            let body: String = entries.iter().map(|(index, value)| format!(" {index}:{value:?}")).collect();
            format!("{label:?}{body}{}", ["", " ", " # note 7:1", "\r"][*ending])
        });
        lines.collect::<Vec<_>>().join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn libsvm_agrees_with_splitting_strings(
        text in libsvm_text(),
        piece in 1usize..300,
        newline in any::<bool>(),
    ) {
        let expected = naive_libsvm(&text);
        let text = if newline { format!("{text}\n") } else { text };
        prop_assert_eq!(collect(text.as_bytes(), piece), expected);
    }

    #[test]
    fn csv_agrees_with_splitting_strings(
        values in proptest::collection::vec(finite(), 12),
        target in 0usize..4,
        dropped in 0usize..4,
    ) {
        let line = |row: &[f64]| format!("{:?},{:?}, {:?},\"{:?}\"\r\n", row[0], row[1], row[2], row[3]);
        let text: String = values.chunks(4).map(line).collect();
        let (target_column, drop) = (Column::Index(target), vec![Column::Index(dropped)]);
        let options = CsvOptions { header: false, target: target_column, drop, ..CsvOptions::default() };
        let mut reader = CsvReader::new(text.as_bytes(), "test", options);
        for row in values.chunks(4) {
            let read = reader.next_row().unwrap().unwrap();
            let kept: Vec<f64> = (0..4).filter(|j| *j != target && *j != dropped).map(|j| row[j]).collect();
            prop_assert_eq!((read.label, read.values), (row[target], kept.as_slice()));
        }
        prop_assert!(reader.next_row().unwrap().is_none());
    }

    #[test]
    fn npy_round_trips_in_both_orders(
        rows in 1usize..6,
        columns in 1usize..6,
        fortran in any::<bool>(),
        big in any::<bool>(),
    ) {
        let value = |i: usize, j: usize| (i * 10 + j) as f64 - 7.5;
        let cells: Vec<(usize, usize)> = match fortran {
            true => (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).collect(),
            false => (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).collect(),
        };
        let bytes = |v: f64| if big { v.to_be_bytes() } else { v.to_le_bytes() };
        let payload: Vec<u8> = cells.iter().flat_map(|&(i, j)| bytes(value(i, j))).collect();
        let (order, mark) = (if fortran { "True" } else { "False" }, if big { '>' } else { '<' });
        let header =
            format!("{{'descr': '{mark}f8', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}");
        let array = read_npy_from(npy(2, &header, &payload).as_slice(), "x").unwrap();
        let header = format!("{{\"shape\": ({rows},), \"fortran_order\": False, \"descr\": \"|u1\"}}  \n");
        let labels = npy(1, &header, &vec![3; rows]);
        let table = array.into_table(read_npy_from(labels.as_slice(), "y").unwrap()).unwrap();
        for j in 0..columns {
            let expected: Vec<f64> = (0..rows).map(|i| value(i, j)).collect();
            prop_assert_eq!(table.column(j), expected.as_slice());
        }
        prop_assert!(table.labels.iter().all(|y| *y == 3.0));
    }

    #[test]
    fn an_array_gives_the_examples_and_the_stream_of_its_table(
        (rows, columns, target) in (1usize..20, 2usize..20)
            .prop_flat_map(|(rows, columns)| (Just(rows), Just(columns), 0..columns)),
        fortran in any::<bool>(),
    ) {
        let payload: Vec<u8> = (0..rows * columns).flat_map(|at| (at as f64 + 0.5).to_le_bytes()).collect();
        let order = if fortran { "True" } else { "False" };
        let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}");
        let mut array = read_npy_from(npy(1, &header, &payload).as_slice(), "x").unwrap();
        let table = array.clone().into_table_labeled_by(&Column::Index(target)).unwrap();
        let labels = array.take_labels(&Column::Index(target)).unwrap();
        let value = |i: usize, j: usize| if fortran { j * rows + i } else { i * columns + j } as f64 + 0.5;
        for i in 0..rows {
            prop_assert_eq!(table.labels[i], value(i, target));
            for (place, j) in (0..columns).filter(|&j| j != target).enumerate() {
                prop_assert_eq!(table.column(place)[i], value(i, j));
            }
        }
        prop_assert_eq!(&labels.values, &table.labels);
        prop_assert_eq!(&array.clone().into_table(labels.clone()).unwrap(), &table);

        let table = Table::Dense(table);
        for by in [By::Rows, By::Columns] {
            let examples = array.clone().into_examples(by).unwrap();
            prop_assert_eq!(format!("{examples:?}"), format!("{:?}", table.examples(by).unwrap()));
        }
        let mut stream = array.into_rows(labels).unwrap();
        let (all, table) = ((0..columns as u32 - 1).collect::<Vec<_>>(), table.dense().unwrap());
        let mut block = BlockBuf::new();
        block.reset(all.len(), rows);
        prop_assert_eq!(stream.observe(&all, &mut block).unwrap(), rows);
        prop_assert_eq!(block.view(&all).labels(), &table.labels[..]);
        for j in 0..all.len() {
            prop_assert_eq!(block.view(&all).column(j), table.column(j));
        }
    }

    #[test]
    fn csv_agrees_with_the_csv_crate(text in csv_text(), piece in 1usize..20) {
        let mut twin = csv::ReaderBuilder::new();
        let mut reader = twin.has_headers(false).flexible(true).from_reader(text.as_bytes());
        // A field that is left out of the features may hold any text, so the crates are compared by numbers
        // only.
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.trim().parse::<f64>().ok();
        let expected: Option<Vec<Vec<f64>>> = reader
            .byte_records()
            .map(|record| record.unwrap().iter().map(number).collect())
            .collect();
        let options = CsvOptions { header: false, ..CsvOptions::default() };
        let mut reader = CsvReader::new(Trickle(text.as_bytes(), piece), "test", options);
        let mut found = Vec::new();
        let outcome = loop {
            match reader.next_row() {
                Ok(Some(row)) => found.push([row.values, &[row.label]].concat()),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error.to_string()),
            }
        };
        prop_assert!(outcome.is_ok(), "{:?} in {:?}", outcome, text);
        prop_assert_eq!(Some(found), expected);
    }
}

#[test]
fn what_the_csv_crate_accepts_is_refused() {
    for (text, fields, said) in [
        ("1,2,3\n4,\"5,6\n7,8,9\n", 5, "field 1 opens a quote"),
        ("1,2,3\n4,\"5\"5,6\n", 6, "field 1 goes on with `5`"),
    ] {
        let mut twin = csv::ReaderBuilder::new();
        let mut twin = twin.has_headers(false).flexible(true).from_reader(text.as_bytes());
        let accepted: usize = twin.byte_records().map(|record| record.unwrap().len()).sum();
        assert_eq!(accepted, fields, "{text:?}");

        let options = CsvOptions { header: false, ..CsvOptions::default() };
        let mut reader = CsvReader::new(text.as_bytes(), "test", options);
        assert_eq!(reader.next_row().unwrap().unwrap().label, 3.0);
        let refused = reader.next_row().unwrap_err().to_string();
        assert!(refused.contains("line 2") && refused.contains(said), "{refused}");
    }
}

/// Rows of three numbers in every way of quoting and of ending a line.
fn csv_text() -> impl Strategy<Value = String> {
    let field = (finite(), 0..4usize).prop_map(|(value, way)| match way {
        0 => format!("{value:?}"),
        1 => format!("\"{value:?}\""),
        2 => format!(" {value:?} "),
        _ => format!("\"\n{value:?}\r\n\""),
    });
    let row = (
        proptest::collection::vec(field, 3),
        proptest::sample::select(vec!["\n", "\r\n", "\r", "\n\n", "\r\r\n"]),
    );
    proptest::collection::vec(row, 1..6).prop_map(|rows| {
        rows.iter().map(|(fields, end)| format!("{}{end}", fields.join(","))).collect::<String>()
    })
}

fn npy(version: u8, header: &str, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    let length = &length[..if version == 1 { 2 } else { 4 }];
    [b"\x93NUMPY".as_slice(), &[version, 0], length, header.as_bytes(), payload].concat()
}

#[test]
fn integers_and_floats_of_every_width_are_read_from_idx_and_npy() {
    let cases: [(u8, &str, Vec<u8>, f64); 6] = [
        (0x08, "|u1", vec![200], 200.0),
        (0x09, "|i1", vec![0xfe], -2.0),
        (0x0b, ">i2", (-300i16).to_be_bytes().to_vec(), -300.0),
        (0x0c, ">i4", (-70_000i32).to_be_bytes().to_vec(), -70_000.0),
        (0x0d, ">f4", 0.1f32.to_be_bytes().to_vec(), f64::from(0.1f32)),
        (0x0e, ">f8", 0.1f64.to_be_bytes().to_vec(), 0.1),
    ];
    for (kind, descr, bytes, value) in cases {
        let idx = [&[0, 0, kind, 1, 0, 0, 0, 1], bytes.as_slice()].concat();
        assert_eq!(read_idx_from(idx.as_slice(), "x").unwrap().values, [value], "{kind}");
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
        assert_eq!(
            read_npy_from(npy(1, &header, &bytes).as_slice(), "x").unwrap().values,
            [value],
            "{descr}"
        );
    }
    let unsigned = [("<u2", 65_535u64), ("<u4", 4_294_967_295), ("<u8", 1 << 53), ("<i8", 1 << 53)];
    for (descr, value) in unsigned {
        let size = usize::from(descr.as_bytes()[2] - b'0');
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
        let array = read_npy_from(npy(1, &header, &value.to_le_bytes()[..size]).as_slice(), "x").unwrap();
        assert_eq!(array.values, [value as f64], "{descr}");
    }
}

#[test]
fn explicit_zeros_stay_entries_and_the_last_newline_may_be_missing() {
    let rows = collect(b"1 2:0\n-1", 3);
    assert_eq!((rows.rows(), rows.entries(), rows.dim), (2, 1, 2));
}

#[test]
fn csv_header_groups_and_names_are_kept() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "who,a,skip,b,y\nann,1,x,2,3\nbob,4,x,5,6\nann,7,x,8,9\n").unwrap();
    let name = |name: &str| Column::Name(name.to_owned());
    let options = CsvOptions { group: Some(name("who")), drop: vec![name("skip")], ..CsvOptions::default() };
    let table = read_csv(file.path(), &Opening::default(), &options).unwrap();
    assert_eq!(table.groups.as_deref(), Some([0, 1, 0].as_slice()));
    assert_eq!(table.names.as_deref().unwrap(), ["a", "b"]);
    assert_eq!(
        (table.values(), table.labels.as_slice()),
        ([1.0, 4.0, 7.0, 2.0, 5.0, 8.0].as_slice(), [3.0, 6.0, 9.0].as_slice())
    );
}

#[test]
fn the_name_of_a_file_does_not_matter_only_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.zip");
    fs::write(&path, "1 1:1\n").unwrap();
    assert_eq!(read_libsvm(&path, &Opening::default(), &LibsvmOptions::default()).unwrap().rows(), 1);
}

/// As scikit-learn's `dump_svmlight_file(x, y, file, comment="two rows", query_id=[1, 2])` writes it.
const SKLEARN: &[u8] =
    b"# Generated by dump_svmlight_file from scikit-learn 1.5.2\n# Column indices are zero-based\n#\n\
# two rows\n1 qid:1 0:0.5 2:0.25\n\n-1 qid:2 1:4\n";

#[test]
fn what_scikit_learn_writes_is_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), SKLEARN).unwrap();
    let read = |options| read_libsvm(file.path(), &Opening::default(), &options);
    let zero_based = LibsvmOptions { zero_based: true, ..LibsvmOptions::default() };
    let rows = read(zero_based).unwrap();
    assert_eq!((rows.labels.as_slice(), rows.dim), ([1.0, -1.0].as_slice(), 3));
    assert_eq!(
        (rows.indices, rows.values, rows.starts),
        (vec![0, 2, 1], vec![0.5, 0.25, 4.0], vec![0, 2, 3])
    );
    assert_eq!(read(LibsvmOptions { dim: Some(3), ..zero_based }).unwrap().dim, 3);
    let text = read(LibsvmOptions { dim: Some(2), ..zero_based }).unwrap_err().to_string();
    assert!(text.contains("line 5: index 2 is out of range 0..=1"), "{text}");
    let text = read(LibsvmOptions::default()).unwrap_err().to_string();
    assert!(text.contains("line 2") && text.contains("`zero_based = true`"), "{text}");
    // The same from 1: what the comment says is compared with the option either way.
    let one_based = b"# Column indices are one-based\n1 1:0.5 3:0.25\n-1 2:4\n";
    fs::write(file.path(), one_based).unwrap();
    assert_eq!(read(LibsvmOptions::default()).unwrap().indices, [0, 2, 1]);
    let text = read(zero_based).unwrap_err().to_string();
    assert!(text.contains("one-based") && text.contains("`zero_based = false`"), "{text}");
}

#[test]
fn the_largest_indices_are_read_from_either_base() {
    let read = |text: &str, zero_based| {
        let options = LibsvmOptions { zero_based, ..LibsvmOptions::default() };
        let mut reader = LibsvmReader::new(text.as_bytes(), "test", options);
        reader.next_row().map(|row| row.unwrap().indices.to_vec()).map_err(|e| e.to_string())
    };
    assert_eq!(read("1 4294967295:1", false), Ok(vec![u32::MAX - 1]));
    assert_eq!(read("1 4294967294:1", true), Ok(vec![u32::MAX - 1]));
    assert!(read("1 4294967295:1", true).unwrap_err().contains("0..=4294967294"));
    assert!(read("1 4294967296:1", false).unwrap_err().contains("1..=4294967295"));
}

#[test]
fn a_mark_before_utf8_is_left_out() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), b"\xef\xbb\xbfa,b,y\r\n1,2,3\r\n").unwrap();
    let table = read_csv(file.path(), &Opening::default(), &CsvOptions::default()).unwrap();
    assert_eq!(table.names.as_deref().unwrap(), ["a", "b"]);
    for piece in [1, 2, 100] {
        assert_eq!(collect(b"\xef\xbb\xbf1 1:2\n", piece).values, [2.0]);
    }
}

#[test]
fn a_header_of_numbers_is_read_when_a_column_is_asked_for_by_name() {
    let text = b"0,1,2\n5,6,7\n";
    let read = |options| {
        let mut reader = CsvReader::new(text.as_slice(), "test", options);
        let row = reader.next_row().map(|row| row.unwrap().values.to_vec());
        row.map_err(|error| error.to_string())
    };
    let text = read(CsvOptions::default()).unwrap_err();
    assert!(text.contains("line 1") && text.contains("`header = false`"), "{text}");
    let by_name = CsvOptions { target: Column::Name("1".to_owned()), ..CsvOptions::default() };
    assert_eq!(read(by_name), Ok(vec![5.0, 7.0]));
    assert_eq!(read(CsvOptions { header: false, ..CsvOptions::default() }), Ok(vec![0.0, 1.0]));
}

#[test]
fn csv_lines_are_counted_across_every_kind_of_line_end() {
    for (text, line) in [
        ("a,b\n1,2\nx,2\n", 3),
        ("a,b\r\n1,2\r\nx,2\r\n", 3),
        ("a,b\r1,2\rx,2\r", 3),
        ("\n\n a,b \n\n  \n1,2\n\nx,2", 8),
        ("\"a\n\r\nc\",b\r\n1,2\r\n\r\nx,2", 6),
    ] {
        for piece in [1, 3, 1000] {
            let mut reader = CsvReader::new(Trickle(text.as_bytes(), piece), "test", CsvOptions::default());
            assert_eq!(reader.next_row().unwrap().unwrap().values, [1.0], "{text:?}");
            let error = reader.next_row().unwrap_err().to_string();
            assert!(error.starts_with(&format!("test, line {line}: column 0")), "{error} in {text:?}");
        }
    }
}
