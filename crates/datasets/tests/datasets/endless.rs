//! Input without an end, and headers that claim what no memory holds, are refused in bounded memory.

use flate2::Compression;
use lao_datasets::format::csv::{Column, CsvOptions, CsvReader};
use lao_datasets::format::idx::read_idx_from;
use lao_datasets::format::libsvm::{LibsvmOptions, LibsvmReader};
use lao_datasets::format::npy::read_npy_from;
use lao_datasets::format::{FormatError, Opening, open_reader};
use lao_testing::peak;
use std::io::{self, Read};

/// Repeats some bytes for ever.
struct Cycle(&'static [u8], usize);

impl Read for Cycle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for byte in &mut *buffer {
            *byte = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
        Ok(buffer.len())
    }
}

fn cycle(bytes: &'static [u8]) -> Cycle {
    Cycle(bytes, 0)
}

/// Reads until the error that must come; it must name what `says` lists, and memory must stay below `most`
/// bytes.
#[track_caller]
fn refused<T>(most: usize, says: &[&str], read: impl FnOnce() -> Result<T, FormatError>) {
    let (outcome, held) = peak(|| read().map(drop));
    let text = outcome.unwrap_err().to_string();
    assert!(says.iter().all(|part| text.contains(part)), "{says:?} are not in: {text}");
    assert!(held < most, "{held} bytes for: {text}");
}

fn csv(input: impl Read) -> Result<(), FormatError> {
    let options = CsvOptions { header: false, ..CsvOptions::default() };
    let mut reader = CsvReader::new(input, "endless", options);
    while reader.next_row()?.is_some() {}
    Ok(())
}

fn libsvm(input: impl Read) -> Result<(), FormatError> {
    let mut reader = LibsvmReader::new(input, "endless", LibsvmOptions::default());
    while reader.next_row()?.is_some() {}
    Ok(())
}

#[test]
fn a_csv_line_without_an_end_is_refused() {
    let line = ["endless, line 1", "longer than 67108864 bytes", "one row per line"];
    let field = ["endless, line 1", "field 0 is longer than 1048576 bytes", "delimiter"];
    let fields = ["endless, line 1", "more than 4194304 fields", "LibSVM text"];
    refused(8 << 20, &field, || csv(io::repeat(b'1')));
    refused(8 << 20, &field, || csv(io::repeat(b' ')));
    refused(8 << 20, &field, || csv(io::repeat(0)));
    refused(8 << 20, &field, || csv(b"\"".chain(io::repeat(b'\n'))));
    refused(8 << 20, &field, || csv(b"\"a\"".chain(io::repeat(b'"'))));
    refused(160 << 20, &fields, || csv(io::repeat(b',')));
    refused(160 << 20, &fields, || csv(cycle(b"1,")));
    refused(320 << 20, &line, || csv(cycle(b"1234567890123456789012345678901234567890,")));
    refused(8 << 20, &["longer than 67108864 bytes", "blank lines"], || csv(io::repeat(b'\n')));
    refused(8 << 20, &["longer than 67108864 bytes", "blank lines"], || csv(cycle(b" \r\n")));
}

#[test]
fn a_libsvm_line_without_an_end_is_refused() {
    let line = ["endless, line 1", "longer than 67108864 bytes", "one row per line"];
    for bytes in [b"1".as_slice(), b" ", b"\0", b"#", b"1:1 "] {
        refused(320 << 20, &line, || libsvm(cycle(bytes)));
    }
    for bytes in [b"\n".as_slice(), b" \t\r\n", b"# a comment\n"] {
        refused(8 << 20, &["longer than 67108864 bytes", "blank lines and comments"], || {
            libsvm(cycle(bytes))
        });
    }
    // A row before does not count, and the line is named.
    refused(320 << 20, &["endless, line 2"], || libsvm(b"1 1:1\n".chain(io::repeat(b'1'))));
}

fn npy(shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    [b"\x93NUMPY\x01\x00".as_slice(), &[header.len() as u8, 0], header.as_bytes()].concat()
}

#[test]
fn a_header_that_claims_too_much_is_refused_before_the_first_number() {
    let claim = ["claims 1000000000000000 numbers", "limit of 2147483648", "split larger arrays"];
    refused(1 << 20, &claim, || {
        read_npy_from(npy("(1000000, 1000000000)").as_slice().chain(io::repeat(0)), "x")
    });
    let idx = [0, 0, 8, 3, 0, 0x98, 0x96, 0x80, 0, 0x98, 0x96, 0x80, 0, 0, 0, 10];
    refused(1 << 20, &claim, || read_idx_from(idx.as_slice().chain(io::repeat(0)), "x"));
    // A claim within the limit takes no memory before there are bytes.
    let cut = ["byte 8", "it is cut off"];
    refused(2 << 20, &cut, || read_npy_from(npy("(2147483648,)").as_slice().chain(&[0; 8000][..]), "x"));
    let idx = [0, 0, 0x0e, 1, 0x80, 0, 0, 0];
    refused(2 << 20, &cut[..1], || read_idx_from(idx.as_slice().chain(&[0; 8000][..]), "x"));
}

#[test]
fn an_array_becomes_a_table_without_being_held_twice() {
    let (rows, columns) = (30_000, 41);
    let bytes = 8 * rows * columns;
    let payload: Vec<u8> = (0..rows * columns).flat_map(|at| (at as f64).to_le_bytes()).collect();
    let (array, held) =
        peak(|| read_npy_from(npy(&format!("({rows}, {columns})")).as_slice().chain(&payload[..]), "x"));
    // The last copy of the growing list is one of less than half.
    assert!(held < bytes * 3 / 2 + (1 << 18), "{held} bytes to read {bytes}");
    let array = array.unwrap();
    let (table, held) = peak(|| array.into_table_labeled_by(&Column::Index(0)));
    // A band of rows is copied, and the labels.
    assert!(held < bytes / 10, "{held} bytes to turn {bytes}");
    let table = table.unwrap();
    assert_eq!(table.column(6)[777], (777 * columns + 7) as f64);
    assert_eq!(table.labels[777], (777 * columns) as f64);
}

#[test]
fn an_array_that_goes_on_for_ever_is_refused() {
    refused(1 << 20, &["goes on after"], || read_npy_from(npy("(3,)").as_slice().chain(io::repeat(0)), "x"));
}

#[test]
fn packed_data_without_an_end_are_refused() {
    let bomb = ["archive bomb", "raise `Limits`"];
    let read = |input: Box<dyn Read + Send>| {
        let part = open_reader(input, "endless", &Opening::default())?.remove(0);
        read_npy_from(part.reader(), "endless")
    };
    // 64 MiB are always allowed, so the values of these zeros are read at first.
    let zeros = || npy("(2147483648,)").into_iter().collect::<Vec<u8>>();
    let gzip =
        flate2::read::GzEncoder::new(io::Cursor::new(zeros()).chain(io::repeat(0)), Compression::best());
    refused(256 << 20, &bomb, || read(Box::new(gzip)));
    let bzip2 = bzip2::read::BzEncoder::new(
        io::Cursor::new(zeros()).chain(io::repeat(0)),
        bzip2::Compression::fast(),
    );
    refused(256 << 20, &bomb, || read(Box::new(bzip2)));
}
