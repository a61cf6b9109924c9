//! What comes through a pipe is read as the same bytes in a file are: the input is opened once, and no byte
//! is lost.
#![cfg(unix)]

use lao_datasets::format::csv::{CsvOptions, read_csv};
use lao_datasets::format::idx::read_idx;
use lao_datasets::format::libsvm::{LibsvmOptions, LibsvmReader, read_libsvm};
use lao_datasets::format::npy::read_npy;
use lao_datasets::format::{ArchiveFault, Limits, Opening, ReadProblem, open, open_reader};
use std::fmt::Debug;
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Reads `bytes` from a file, from a named pipe, and from a descriptor as process substitution gives one. The
/// three outcomes must be one.
fn three_ways<T: PartialEq + Debug>(bytes: &[u8], read: impl Fn(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, bytes).unwrap();
    let expected = read(&file);
    assert_eq!(named_pipe(bytes, &read), expected, "named pipe");
    assert_eq!(descriptor(bytes, &read), expected, "descriptor");
    expected
}

fn named_pipe<T>(bytes: &[u8], read: impl Fn(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    thread::scope(|scope| {
        // The reader may refuse what is written, and close its end.
        scope.spawn(|| fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(bytes));
        read(&path)
    })
}

fn descriptor<T>(bytes: &[u8], read: impl Fn(&Path) -> T) -> T {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
    thread::scope(|scope| {
        scope.spawn(move || writer.write_all(bytes));
        let outcome = read(&path);
        drop(reader);
        outcome
    })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("member", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn text_is_read_from_a_pipe_as_from_a_file() {
    let text = b"1 1:0.5 2:0.25\n-1 3:4\n";
    for bytes in [text.to_vec(), gzip(text), bzip2(text)] {
        let rows = three_ways(&bytes, |path| {
            read_libsvm(path, &Opening::default(), &LibsvmOptions::default()).unwrap()
        });
        assert_eq!((rows.labels, rows.values, rows.dim), (vec![1.0, -1.0], vec![0.5, 0.25, 4.0], 3));
    }
    let options = CsvOptions { header: false, ..CsvOptions::default() };
    let text = b"1234567890.5,2,3\n1,2,3\n";
    for bytes in [text.to_vec(), gzip(text), bzip2(text)] {
        let table = three_ways(&bytes, |path| read_csv(path, &Opening::default(), &options).unwrap());
        assert_eq!(table.column(0), [1234567890.5, 1.0]);
    }
    // Shorter than what tells a packing, and longer than any buffer.
    for repeats in [0, 1, 200_000] {
        let text = b"1 1:1\n".repeat(repeats);
        let rows = three_ways(&text, |path| {
            let read = read_libsvm(path, &Opening::default(), &LibsvmOptions::default());
            read.map_err(|error| error.problem.to_string())
        });
        assert_eq!(rows.map_or(0, |rows| rows.rows()), repeats);
    }
}

#[test]
fn arrays_are_read_from_a_pipe_as_from_a_file() {
    let idx = [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6];
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }";
    let npy =
        [b"\x93NUMPY\x01\x00".as_slice(), &[header.len() as u8, 0], header.as_bytes(), &idx[12..]].concat();
    for pack in [<[u8]>::to_vec, gzip, bzip2] {
        let (idx, npy) = (pack(&idx), pack(&npy));
        let idx = three_ways(&idx, |path| read_idx(path, &Opening::default()).unwrap().values);
        let npy = three_ways(&npy, |path| read_npy(path, &Opening::default()).unwrap().values);
        assert_eq!((idx, npy), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }
}

#[test]
fn a_zip_archive_from_a_pipe_is_refused_with_what_to_do() {
    let bytes = zip(b"1 1:1\n");
    let read = |path: &Path| read_libsvm(path, &Opening::default(), &LibsvmOptions::default());
    for error in [named_pipe(&bytes, read).unwrap_err(), descriptor(&bytes, read).unwrap_err()] {
        let text = error.to_string();
        assert!(
            text.contains("comes through a pipe") && text.contains("`unzip -p ARCHIVE MEMBER`"),
            "{text}"
        );
    }
}

#[test]
fn standard_input_is_a_stream_like_any_other() {
    // A child of this very test, with a pipe as its standard input.
    const MARK: &str = "LAO_TEST_READS_STANDARD_INPUT";
    if std::env::var_os(MARK).is_some() {
        let rows =
            read_libsvm(Path::new("/dev/stdin"), &Opening::default(), &LibsvmOptions::default()).unwrap();
        assert_eq!((rows.labels, rows.values), (vec![1.0, -1.0], vec![0.5, 0.25, 4.0]));
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "pipes::standard_input_is_a_stream_like_any_other"])
        .env(MARK, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"1 1:0.5 2:0.25\n-1 3:4\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn a_packed_pipe_is_limited_by_what_has_been_read_of_it() {
    // The length of a pipe is not known, so the ratio is that of the bytes so far.
    let limits = Limits { max_bytes: 1 << 40, max_ratio: 50, free_bytes: 1 << 16 };
    let opening = Opening { limits, ..Opening::default() };
    let lines: String =
        (0..60_000u64).map(|i| format!("{} 1:{}\n", i % 2, i.wrapping_mul(i) % 7919)).collect();
    let read = |path: &Path| read_libsvm(path, &opening, &LibsvmOptions::default());
    assert_eq!(named_pipe(&gzip(lines.as_bytes()), read).unwrap().rows(), 60_000);
    let bomb = gzip(&vec![b' '; 1 << 22]);
    let text = named_pipe(&bomb, read).unwrap_err().to_string();
    assert!(text.contains("archive bomb") && text.contains("ratio 50"), "{text}");
}

#[test]
fn a_plain_pipe_that_does_not_end_is_stopped() {
    let limits = Limits { max_bytes: 1 << 20, ..Limits::default() };
    let opening = Opening { limits, ..Opening::default() };
    let endless = std::io::repeat(b'\n');
    let parts = open_reader(endless, "endless", &opening).unwrap();
    let part = parts.into_iter().next().unwrap();
    let mut reader = LibsvmReader::new(part.reader(), "endless", LibsvmOptions::default());
    let error = reader.next_row().unwrap_err();
    assert!(
        matches!(error.problem, ReadProblem::Archive(ArchiveFault::TooLong { max_bytes: 1_048_576 })),
        "{error}"
    );
    let device = open(Path::new("/dev/zero"), &opening).unwrap().into_iter().next().unwrap();
    let error = std::io::copy(&mut device.reader(), &mut std::io::sink()).unwrap_err();
    assert!(error.to_string().contains("more than 1048576 bytes"), "{error}");
}
