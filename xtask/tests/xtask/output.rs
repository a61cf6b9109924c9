//! Tests with a standard output or standard error that is closed, full or absent: no verb panics, and no
//! result is lost.

#![cfg(unix)]

use crate::common::{CHEAP, NOT_RUN, json, program, text, xtask};
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Stdio};

/// A fault of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The reader has closed the stream.
    Closed,
    /// The stream is full, like `/dev/full`.
    Full,
}

impl Fault {
    fn stream(self) -> Stdio {
        match self {
            Fault::Closed => {
                let (reader, writer) = std::io::pipe().unwrap();
                drop(reader);
                writer.into()
            }
            Fault::Full => OpenOptions::new().write(true).open("/dev/full").unwrap().into(),
        }
    }
}

/// Returns the faults that this system can produce.
fn faults() -> impl Iterator<Item = Fault> {
    [Fault::Closed, Fault::Full]
        .into_iter()
        .filter(|f| *f == Fault::Closed || Path::new("/dev/full").exists())
}

/// Every verb with its exit status in an empty folder.
const VERBS: &[(i32, &[&str])] = &[
    (0, &["verify", CHEAP]),
    (0, &["verify", CHEAP, "--format", "json"]),
    (6, &["verify", NOT_RUN]),
    (0, &["verify", "--list"]),
    (0, &["verify", "--explain", CHEAP]),
    (2, &["verify", "--explain", "nope"]),
    (2, &["verify", "nope"]),
    (2, &["verify", "--compare", "missing.json"]),
    (0, &["seeds", CHEAP, "--count", "1"]),
    (2, &["seeds", "nope"]),
    (0, &["bench", "--list"]),
    (2, &["bench", "nope"]),
    (0, &["data", "list"]),
    (0, &["data", "list", "digits"]),
    (2, &["data", "fetch", "nope"]),
    (0, &["data", "check", "diabetes"]),
    (2, &["report"]),
    (2, &["report", "--check"]),
    (0, &["--help"]),
    (0, &["verify", "--help"]),
    (0, &["--version"]),
    (2, &["--nonsense"]),
    (2, &[]),
];

/// Returns an empty folder.
fn world() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The small data sets that are shipped; there is no cache with others.
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data");

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = xtask(folder, arguments);
    command.env("LAO_DATA", DATA).env("XDG_CACHE_HOME", "/nonexistent").stdin(Stdio::null());
    command
}

#[test]
fn standard_error_that_fails_changes_nothing() {
    for &(status, arguments) in VERBS {
        let sound = command(world().path(), arguments).output().unwrap();
        assert_eq!(sound.status.code(), Some(status), "{arguments:?}: {}", text(&sound.stderr));
        for fault in faults() {
            let folder = world();
            let found = command(folder.path(), arguments).stderr(fault.stream()).output().unwrap();
            assert_eq!(found.status.code(), Some(status), "{arguments:?}, standard error {fault:?}");
            assert_eq!(text(&found.stdout), text(&sound.stdout), "{arguments:?}, standard error {fault:?}");
        }
    }
}

#[test]
fn standard_output_without_a_reader_leaves_the_status_and_a_full_one_is_an_error() {
    for &(status, arguments) in VERBS {
        let sound = command(world().path(), arguments).output().unwrap();
        for fault in faults() {
            let folder = world();
            let found = command(folder.path(), arguments).stdout(fault.stream()).output().unwrap();
            let lost = fault == Fault::Full && !sound.stdout.is_empty();
            let expected = if lost { 2 } else { status };
            let said = text(&found.stderr);
            assert_eq!(
                found.status.code(),
                Some(expected),
                "{arguments:?}, standard output {fault:?}: {said}"
            );
            assert_eq!(said.contains("cannot print to standard output"), lost, "{arguments:?}: {said}");
        }
    }
}

#[test]
fn both_streams_may_fail_at_once_or_be_absent() {
    for &(status, arguments) in VERBS {
        let folder = world();
        let mut closed = command(folder.path(), arguments);
        closed.stdout(Fault::Closed.stream()).stderr(Fault::Closed.stream());
        assert_eq!(closed.status().unwrap().code(), Some(status), "{arguments:?}, both closed");

        // A shell closes the descriptors themselves.
        let folder = world();
        let mut absent = Command::new("sh");
        let (program, arguments) = program(arguments);
        absent.args(["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", program]).args(arguments);
        absent.current_dir(folder.path()).env("LAO_DATA", DATA).env("XDG_CACHE_HOME", "/nonexistent");
        assert_eq!(absent.status().unwrap().code(), Some(status), "{arguments:?}, both absent");
    }
}

#[test]
fn evidence_and_report_are_complete_whatever_becomes_of_the_words() {
    for fault in faults() {
        for format in ["human", "json"] {
            let folder = world();
            let mut command = command(folder.path(), &["verify", CHEAP, "--format", format]);
            let status = command.stdout(fault.stream()).stderr(fault.stream()).status().unwrap();
            assert_eq!(status.code(), Some(if fault == Fault::Full { 2 } else { 0 }));
            let out = folder.path().join("target/lao/verify");
            assert_eq!(json(&out.join("run.json"))["finished"], true);
            assert_eq!(json(&out.join("evidence.json"))["claims"][0]["id"], CHEAP);
            assert!(std::fs::read_to_string(out.join("index.html")).unwrap().contains(CHEAP));
        }
    }
}

#[test]
fn a_bench_is_recorded_and_listed_whatever_becomes_of_the_words() {
    for fault in faults() {
        let folder = world();
        let mut command = command(folder.path(), &["bench", "ms18-fig1", "--tier", "check", "--out", "out"]);
        let status = command.stderr(fault.stream()).stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(0), "{fault:?}");
        let out = folder.path().join("out");
        assert!(out.join("ms18-fig1/records.json").is_file());
        assert!(std::fs::read_to_string(out.join("index.html")).unwrap().contains("ms18-fig1"));
    }
}
