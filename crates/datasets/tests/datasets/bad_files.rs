//! Files that cannot be used: the error names the file, the place, the value and what to do, whatever is
//! wrong.

use lao_datasets::format::csv::{Column, CsvOptions, read_csv};
use lao_datasets::format::idx::read_idx;
use lao_datasets::format::libsvm::{LibsvmOptions, read_libsvm};
use lao_datasets::format::npy::read_npy;
use lao_datasets::format::{FormatError, Limits, Opening};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file of its own folder, so that tests do not meet.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

#[track_caller]
fn says<T>(outcome: Result<T, FormatError>, path: &Path, parts: &[&str]) {
    let Err(error) = outcome else { panic!("accepted, but should say {parts:?}") };
    let text = error.to_string();
    let text = text.strip_prefix(&path.display().to_string()).unwrap_or_else(|| panic!("no file in: {text}"));
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn libsvm(path: &Path) -> Result<(), FormatError> {
    read_libsvm(path, &Opening::default(), &LibsvmOptions::default()).map(|_| ())
}

fn csv(path: &Path) -> Result<(), FormatError> {
    read_csv(path, &Opening::default(), &CsvOptions::default()).map(|_| ())
}

#[test]
fn libsvm_errors_name_line_value_and_remedy() {
    let scratch = Scratch::new();
    for (text, parts) in [
        ("1 1:1\n1 0:2 3:1\n", ["line 2", "`0:2`", "`zero_based = true`"]),
        ("1 1:1\n1 4:2 3:1\n", ["line 2", "index 3 follows index 4", "must ascend"]),
        ("1 1:1\n1 3:2 3:1\n", ["line 2", "index 3 follows index 3", "without repetition"]),
        ("1 4294967296:1\n", ["line 1", "index 4294967296", "out of range"]),
        ("1 99999999999999999999999:1\n", ["line 1", "index 99999999999999999999999", "out of range"]),
        ("1 1:nan\n", ["line 1", "value of index 1 is `nan`", "not finite"]),
        ("1 1:1 2:-inf\n", ["line 1", "value of index 2 is `-inf`", "not finite"]),
        ("1 1:1e999\n", ["line 1", "`1e999`", "not finite"]),
        ("inf 1:1\n", ["line 1", "label is `inf`", "not finite"]),
        ("1 1:1\n1:1 2:1\n", ["line 2", "label is missing", "`1:1`"]),
        ("# only a comment\n\n \t\r\n", ["no rows", "at least one", ""]),
        ("\n# one\n1:1 2:1\n", ["line 3", "label is missing", "one number"]),
        ("one 1:1\n", ["line 1", "label is `one`", "not a number"]),
        ("1 1:x\n", ["line 1", "value of index 1 is `x`", "not a number"]),
        ("1 1:1.5.2\n", ["line 1", "`1.5.2`", "decimal number"]),
        ("1 -2:1\n", ["line 1", "`-2:1`", "index:value"]),
        ("1 1:1 qid:4\n", ["line 1", "`qid:4`", "index:value"]),
        ("1 qid:x 1:1\n", ["line 1", "`qid:x`", "index:value"]),
        ("1 qid:1 qid:2 1:1\n", ["line 1", "`qid:2`", "index:value"]),
        ("# Column indices are zero-based\n1 1:1\n", ["line 1", "zero-based", "`zero_based = true`"]),
        ("1 1:1 2", ["line 1", "`2`", "index:value"]),
        ("1 1:1 2:", ["line 1", "`2:`", "index:value"]),
        ("1,2 1:1\n", ["line 1", "label is `1,2`", "not a number"]),
        ("", ["no rows", "at least one", ""]),
    ] {
        let path = scratch.file("bad.libsvm", text);
        says(libsvm(&path), &path, &parts);
    }
    let path = scratch.file("wide.libsvm", "1 1:1 7:1\n");
    says(
        read_libsvm(&path, &Opening::default(), &LibsvmOptions { dim: Some(6), ..LibsvmOptions::default() }),
        &path,
        &["line 1", "index 7", "1..=6", "larger dimension"],
    );
}

#[test]
fn a_long_value_is_cut_in_the_message() {
    let scratch = Scratch::new();
    let path = scratch.file("long", format!("1 1:{}\n", "x".repeat(5000)));
    let text = libsvm(&path).unwrap_err().to_string();
    assert!(text.len() < 400 && text.contains("xxx..."), "{text}");
}

#[test]
fn csv_errors_name_line_column_value_and_remedy() {
    let scratch = Scratch::new();
    for (text, parts) in [
        ("a,b,y\n1,2,3\n1,2\n", ["line 3", "2 fields", "have 3"]),
        ("a,b,y\n1,2,3,4\n", ["line 2", "4 fields", "have 3"]),
        ("a,b,y\n1,NaN,3\n", ["line 2", "column 1 (`b`) is `NaN`", "not finite"]),
        ("a,b,y\n1,2,inf\n", ["line 2", "column 2 (`y`) is `inf`", "not finite"]),
        ("a,b,y\n1,two,3\n", ["line 2", "column 1 (`b`) is `two`", "not a number"]),
        ("a,b,y\n1,,3\n", ["line 2", "column 1 (`b`) is ``", "not a number"]),
        ("a,b,y\n1,2,\n", ["line 2", "label is missing", "one number"]),
        ("a,b,y\n1,2,3\n\"1,2,3\n", ["line 3", "field 0 opens a quote", "cut off"]),
        ("a,b,y\n1,2,\"3", ["line 2", "field 2 opens a quote", "not closed"]),
        ("a,b,y\n1,\"2\"5,3\n", ["line 2", "field 1 goes on with `5`", "twice"]),
        ("1,2,3\n4,5,6\n", ["line 1", "nothing but numbers (1, 2, 3)", "`header = false`"]),
        ("\n1e3,,-3,4,5\n4,5,6,7,8\n", ["line 2", "(1e3, , -3, 4, ...)", "by its name"]),
        ("a,b,y\n", ["no rows", "at least one", ""]),
        ("", ["no rows", "at least one", ""]),
        ("a;b;y\n1;2;3\n", ["line 1", "no feature column", "delimiter"]),
    ] {
        let path = scratch.file("bad.csv", text);
        says(csv(&path), &path, &parts);
    }
    let path = scratch.file("good.csv", "a,b,b\n1,2,3\n");
    let target = |target| CsvOptions { target, ..CsvOptions::default() };
    let read = |options| read_csv(&path, &Opening::default(), &options);
    let name = |name: &str| Column::Name(name.to_owned());
    says(read(target(name("z"))), &path, &["column `z` occurs 0 times", "a, b, b"]);
    says(read(target(name("b"))), &path, &["column `b` occurs 2 times"]);
    says(read(target(Column::Index(3))), &path, &["column 3", "0..=2"]);
    says(
        read(CsvOptions { header: false, ..target(name("a")) }),
        &path,
        &["without a header", "give its index"],
    );
    says(read(CsvOptions { delimiter: '\u{b7}', ..CsvOptions::default() }), &path, &["delimiter", "ASCII"]);
    for delimiter in ['"', '\n', '\r', '1', 'e', '.', '-', '\0'] {
        let options = CsvOptions { delimiter, ..CsvOptions::default() };
        says(read(options), &path, &["delimiter", "fields are written with it"]);
    }
    says(read(CsvOptions { drop: vec![name("c")], ..CsvOptions::default() }), &path, &["column `c`"]);
}

/// An IDX file of bytes, two axes.
fn idx(rows: u8, columns: u8, payload: &[u8]) -> Vec<u8> {
    [&[0, 0, 8, 2, 0, 0, 0, rows, 0, 0, 0, columns], payload].concat()
}

#[test]
fn idx_errors_name_byte_value_and_remedy() {
    let scratch = Scratch::new();
    for (bytes, parts) in [
        (vec![1, 2, 8, 1, 0, 0, 0, 1, 5], ["byte 0", "01 02 08 01", "not an IDX file"]),
        (vec![0, 0, 7, 1, 0, 0, 0, 1, 5], ["byte 0", "00 00 07 01", "0d or 0e"]),
        (vec![0, 0, 8, 0], ["byte 3", "`0`", "1 to 255"]),
        (vec![0, 0, 8], ["byte 3", "after 3 bytes", "cut off"]),
        (vec![0, 0, 8, 2, 0, 0, 0, 1, 0], ["byte 9", "after 9 bytes", "asks for 12"]),
        (idx(2, 2, &[1, 2, 3]), ["byte 15", "after 15 bytes", "asks for 16"]),
        (idx(2, 2, &[1, 2, 3, 4, 5]), ["byte 16", "goes on", "damaged"]),
        (
            [&[0, 0, 8, 255][..], &[255; 1020]].concat(),
            ["byte 1024", "more than 2^64", "limit of 2147483648"],
        ),
        (
            [&[0, 0, 0x0d, 1, 0, 0, 0, 1][..], &f32::NAN.to_be_bytes()].concat(),
            ["byte 8", "NaN", "not finite"],
        ),
    ] {
        let path = scratch.file("bad.idx", bytes);
        says(read_idx(&path, &Opening::default()), &path, &parts);
    }
    let read = |path: &Path| read_idx(path, &Opening::default()).unwrap();
    let images = scratch.file("images", idx(2, 2, &[1, 2, 3, 4]));
    let labels = scratch.file("labels", [0, 0, 8, 1, 0, 0, 0, 1, 5]);
    says(read(&images).into_table(read(&labels)), &labels, &["1 labels", "2 rows", "same release"]);
    let empty = scratch.file("empty", idx(0, 2, &[]));
    says(read(&empty).into_table(read(&labels)), &empty, &["no rows"]);
    let flat = scratch.file("flat", idx(2, 0, &[]));
    says(read(&flat).into_table(read(&labels)), &flat, &["no feature column"]);
}

/// An NPY file of version 1.
fn npy(header: &str, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), payload].concat()
}

#[test]
fn npy_errors_name_field_value_and_remedy() {
    let scratch = Scratch::new();
    let header = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n")
    };
    let i64_header = header("<i8", "False", "(1,)");
    let offset = format!("byte {}", 10 + i64_header.len());
    for (bytes, parts) in [
        (b"PK not numpy".to_vec(), ["byte 0", "50 4b 20 6e 6f 74", "not an NPY file"]),
        (b"\x93NUMPY\x03\x00\x00\x00".to_vec(), ["byte 6", "version is `3`", "1 and 2"]),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), ["byte 8", "length is `4294967295`", "65536"]),
        (b"\x93NUM".to_vec(), ["byte 4", "after 4 bytes", "cut off"]),
        (b"\x93NUMPY\x01\x00\x40\x00{'descr'".to_vec(), ["byte 18", "asks for 74", "cut off"]),
        (npy("nonsense", &[]), ["dictionary is `nonsense`", "supported", "'descr'"]),
        (npy(&header("<c16", "False", "(1,)"), &[]), ["descr", "<c16", "f8"]),
        (npy(&header("|f8", "False", "(1,)"), &[]), ["descr", "|f8", "f8"]),
        (npy(&header("|O", "False", "(1,)"), &[]), ["descr", "|O", "u8"]),
        (npy(&header("<f8", "Maybe", "(1,)"), &[]), ["fortran_order", "Maybe", "True and False"]),
        (npy(&header("<f8", "False", "()"), &[]), ["shape", "`()`", "(3, 4)"]),
        (npy(&header("<f8", "False", "(-1,)"), &[]), ["shape", "`(-1,)`", "(3, 4)"]),
        (npy(&header("<f8", "False", "(2,)"), &[0; 9]), ["asks for", "ends after", "cut off"]),
        (npy(&header("<f8", "False", "(1,)"), &[0; 9]), ["goes on", "76 bytes", "damaged"]),
        (
            npy(&header("<f8", "False", "(9999999999, 9999999999)"), &[0; 9]),
            ["claims more than 2^64 numbers", "limit of 2147483648", "split larger arrays"],
        ),
        (npy(&i64_header, &i64::MAX.to_le_bytes()), [&offset, "9223372036854775807", "2^53"]),
        (
            npy(&header("<f8", "False", "(1,)"), &f64::INFINITY.to_le_bytes()),
            ["number 0", "inf", "not finite"],
        ),
    ] {
        let path = scratch.file("bad.npy", bytes);
        says(read_npy(&path, &Opening::default()), &path, &parts);
    }
    // The first culprit is named, wherever it stands.
    let float_header = header("<f4", "False", "(40000,)");
    let mut payload = vec![0; 160_000];
    for number in [39_999_usize, 20_001, 20_000] {
        payload[4 * number..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        let path = scratch.file("late.npy", npy(&float_header, &payload));
        let offset = format!("byte {}", 10 + float_header.len() + 4 * number);
        let parts = [offset, format!("number {number} of the array"), "NaN".to_owned()];
        says(read_npy(&path, &Opening::default()), &path, &parts.each_ref().map(|part| part.as_str()));
    }
    let cube = scratch.file("cube.npy", npy(&header("|u1", "True", "(2, 2, 1)"), &[1, 2, 3, 4]));
    let labels = scratch.file("labels.npy", npy(&header("|u1", "False", "(2,)"), &[0, 1]));
    let read = |path: &Path| read_npy(path, &Opening::default()).unwrap();
    let table = read(&cube).into_table(read(&labels));
    says(table, &cube, &["fortran_order", "3 axes", "one or two axes"]);
    let table = scratch.file("table.npy", npy(&header("|u1", "False", "(2, 3)"), &[1, 2, 3, 4, 5, 6]));
    for (target, says_so) in [
        (Column::Index(3), ["column 3", "columns 0..=2"]),
        (Column::FromEnd { last: 3 }, ["column 3", "columns 0..=2"]),
        (Column::Name("age".to_owned()), ["column `age`", "give its index"]),
    ] {
        says(read(&table).into_table_labeled_by(&target), &table, &says_so);
    }
    says(
        read(&labels).into_table_labeled_by(&Column::Index(0)),
        &labels,
        &["no feature column", "1 columns"],
    );
    says(read(&table).into_table(read(&table)), &table, &["6 labels", "2 rows"]);
}

#[test]
fn truncated_and_damaged_archives_are_errors_at_every_cut() {
    let scratch = Scratch::new();
    let text: String = (1..400).map(|i| format!("{} {i}:{}\n", i % 3, 1.0 / f64::from(i))).collect();
    let packed = [gzip(text.as_bytes()), bzip2(text.as_bytes()), zip(&[("a", text.as_bytes())])];
    for bytes in &packed {
        let whole = scratch.file("whole", bytes);
        let rows = read_libsvm(&whole, &Opening::default(), &LibsvmOptions::default()).unwrap();
        assert_eq!(rows.rows(), 399);
        for cut in (12..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
            let path = scratch.file("cut", &bytes[..cut]);
            says(libsvm(&path), &path, &["damaged or cut off", "fetch the file again"]);
        }
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 0x10;
        let path = scratch.file("flipped", &flipped);
        libsvm(&path).unwrap_err();
    }
    let path = scratch.file("tail", [packed[0].as_slice(), b"garbage"].concat());
    says(libsvm(&path), &path, &["gzip data are damaged"]);
}

#[test]
fn an_archive_bomb_is_stopped_at_the_stated_limit() {
    let scratch = Scratch::new();
    let limits = Limits { max_bytes: 1 << 40, max_ratio: 50, free_bytes: 1 << 16 };
    let opening = Opening { limits, member: Some("*".to_owned()) };
    let zeros = vec![b' '; 1 << 22];
    for bytes in [gzip(&zeros), bzip2(&zeros), zip(&[("a", &zeros)])] {
        let path = scratch.file("bomb", &bytes);
        let parts = ["archive bomb", "raise `Limits`", "ratio 50"];
        says(read_libsvm(&path, &opening, &LibsvmOptions::default()), &path, &parts);
        says(read_csv(&path, &opening, &CsvOptions::default()), &path, &parts);
    }
    // Many members that are harmless one by one.
    let rows: Vec<u8> = b"1 1:1\n".repeat(5000);
    let parts: Vec<(String, &[u8])> = (0..40).map(|k| (format!("{k}"), rows.as_slice())).collect();
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let path = scratch.file("many", zip(&parts));
    says(read_libsvm(&path, &opening, &LibsvmOptions::default()), &path, &["archive bomb"]);
    assert_eq!(
        read_libsvm(&path, &Opening { limits: Limits::default(), ..opening }, &LibsvmOptions::default())
            .unwrap()
            .rows(),
        40 * 5000
    );
}

#[test]
fn the_default_limit_stops_a_bomb_too() {
    let scratch = Scratch::new();
    // bzip2 packs spaces more than 200 to 1, and 65 MiB exceed what is always allowed.
    let path = scratch.file("bomb", bzip2(&vec![b' '; 65 << 20]));
    says(libsvm(&path), &path, &["archive bomb", "67108864 bytes"]);
}

#[test]
fn zip_members_must_be_chosen_and_be_there() {
    let scratch = Scratch::new();
    let path = scratch.file("two.zip", zip(&[("b.csv", b"3,4\n"), ("a.csv", b"1,2\n"), ("notes.txt", b"x")]));
    let options = CsvOptions { header: false, ..CsvOptions::default() };
    let read = |member: Option<&str>| {
        let opening = Opening { member: member.map(str::to_owned), ..Opening::default() };
        read_csv(&path, &opening, &options)
    };
    says(read(None), &path, &["several files (a.csv, b.csv, notes.txt)", "choose"]);
    says(read(Some("c*.csv")), &path, &["`c*.csv`", "a.csv, b.csv, notes.txt"]);
    says(read(Some("notes.txt")), &path, &["/notes.txt, line 1"]);
    assert_eq!(read(Some("*.csv")).unwrap().values(), [1.0, 3.0], "members are joined in name order");
    let ragged = scratch.file("ragged.zip", zip(&[("a", b"1,2\n"), ("b", b"1,2,3\n")]));
    let opening = Opening { member: Some("*".to_owned()), ..Opening::default() };
    says(read_csv(&ragged, &opening, &options), &ragged, &["/b, line 1", "fields"]);
}

#[test]
fn missing_files_and_folders_are_errors() {
    let scratch = Scratch::new();
    let nowhere = scratch.0.path().join("nowhere");
    for path in [nowhere.as_path(), scratch.0.path()] {
        says(libsvm(path), path, &["cannot be read", "check that the file exists"]);
        says(csv(path), path, &["cannot be read"]);
        says(read_idx(path, &Opening::default()), path, &["cannot be read"]);
        says(read_npy(path, &Opening::default()), path, &["cannot be read"]);
    }
}

#[test]
fn what_is_packed_or_no_text_is_refused_by_name() {
    let scratch = Scratch::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let tar = [b"rows.csv".as_slice(), &[0; 92], b"0000644\0", &[0; 412], b"a,b,y\n1,2,3\n"].concat();
    let cases: [(Vec<u8>, [&str; 2]); 20] = [
        (b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46".to_vec(), ["xz", "`xz -d FILE`"]),
        (b"\x28\xb5\x2f\xfd\x24\x0c\x61\0\0".to_vec(), ["zstd", "`zstd -d FILE`"]),
        (b"\x04\x22\x4d\x18\x64\x40\xa7".to_vec(), ["lz4", "`lz4 -d FILE`"]),
        (b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), ["7-Zip", "`7z x FILE`"]),
        (b"Rar!\x1a\x07\x01\0".to_vec(), ["RAR", "`unrar x FILE`"]),
        (b"\x1f\x9d\x90\x31".to_vec(), ["compress", "`uncompress FILE`"]),
        (b"PK\x07\x08PK\x03\x04".to_vec(), ["split zip", "joins its parts"]),
        (gzip(&gzip(b"1 1:1\n")), ["holds gzip data", "once for each time"]),
        (gzip(&bzip2(b"1 1:1\n")), ["holds bzip2 data", "`bzip2 -d FILE`"]),
        (bzip2(&zip(&[("a", b"1 1:1\n")])), ["holds zip data", "`unzip FILE`"]),
        (zip(&[("a.gz", &gzip(b"1 1:1\n"))]), ["/a.gz, line 1: holds gzip data", "`gzip -d FILE`"]),
        (gzip(b"\xfd7zXZ\0\0\x04"), ["holds xz data", "`xz -d FILE`"]),
        ([vec![0xff, 0xfe], utf16("a,b,y\n1,2,3\n")].concat(), ["UTF-16", "save it as UTF-8"]),
        (utf16("a,b,y\n1,2,3\n"), ["NUL byte", "UTF-16"]),
        (utf16("1 1:1\n"), ["NUL byte", "UTF-16"]),
        (gzip(&tar), ["NUL byte", "tar"]),
        (b"\x93NUMPY\x01\0".to_vec(), ["an NPY array", "`read_npy`"]),
        (b"PAR1\x15\0".to_vec(), ["a Parquet file", "export"]),
        (b"\x89HDF\r\n\x1a\n".to_vec(), ["an HDF5 file", "export"]),
        (b"<!DOCTYPE html>\n<p>404\n".to_vec(), ["a web page", "error page"]),
    ];
    for (bytes, parts) in cases {
        let path = scratch.file("packed", bytes);
        says(libsvm(&path), &path, &parts);
        says(csv(&path), &path, &parts);
    }
    // Arrays, too, are not unpacked twice.
    let nested = scratch.file("nested", gzip(&gzip(&idx(1, 1, &[1]))));
    says(
        read_idx(&nested, &Opening::default()),
        &nested,
        &["byte 0", "holds gzip data", "once for each time"],
    );
    says(
        read_npy(&nested, &Opening::default()),
        &nested,
        &["byte 0", "holds gzip data", "once for each time"],
    );
}

#[test]
fn an_archive_that_is_cut_off_early_is_no_plain_text() {
    let scratch = Scratch::new();
    let text = b"a,b,y\n1,2,3\n";
    for (kind, bytes) in [("gzip", gzip(text)), ("bzip2", bzip2(text))] {
        for cut in 3..12 {
            let path = scratch.file("cut", &bytes[..cut]);
            for outcome in [libsvm(&path), csv(&path)] {
                says(
                    outcome,
                    &path,
                    &[&format!("the {kind} data are damaged or cut off"), "fetch the file again"],
                );
            }
        }
    }
}

#[test]
fn zip_archives_that_cannot_be_read_say_what_to_do() {
    let scratch = Scratch::new();
    // Windows compresses large files by a method of its own: 9 stands for it in both headers.
    let mut bytes = zip(&[("rows.csv", b"a,b,y\n1,2,3\n")]);
    for signature in [b"PK\x03\x04", b"PK\x01\x02"] {
        let at = bytes.windows(4).position(|window| window == signature).unwrap();
        bytes[at + if signature[2] == 3 { 8 } else { 10 }] = 9;
    }
    let path = scratch.file("windows.zip", bytes);
    says(csv(&path), &path, &["`rows.csv` is compressed by Deflate64", "7-Zip"]);
    // Two members of one name: no name says which to read.
    let mut bytes = zip(&[("a.csv", b"1"), ("b.csv", b"2")]);
    for at in (0..bytes.len() - 5).rev() {
        if bytes[at..].starts_with(b"b.csv") {
            bytes[at] = b'a';
        }
    }
    let path = scratch.file("twins.zip", bytes);
    says(csv(&path), &path, &["several members of one name", "pack it again"]);
    let names: Vec<String> =
        (0..=lao_datasets::format::limits::MOST_MEMBERS).map(|k| k.to_string()).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    let path = scratch.file("many.zip", zip(&members));
    says(csv(&path), &path, &["65537 members", "limit of 65536", "unpack it"]);
}

#[test]
fn very_long_numbers_are_shown_short() {
    let scratch = Scratch::new();
    let digits = "9".repeat(300);
    for text in
        [format!("1 1:1{digits}{digits}\n"), format!("1 {digits}:1\n"), format!("{digits}{digits} 1:1\n")]
    {
        let path = scratch.file("long", text);
        let text = libsvm(&path).unwrap_err().to_string();
        assert!(text.contains("999...") && text.len() - path.display().to_string().len() < 200, "{text}");
    }
    let path = scratch.file("long", format!("{digits},b,y\n1,2,{digits}{digits}\n"));
    let text = csv(&path).unwrap_err().to_string();
    assert!(text.contains("999...") && text.len() - path.display().to_string().len() < 200, "{text}");
}
