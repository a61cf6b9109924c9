//! Helpers that the tests of the commands share.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A claim that takes almost no time.
pub const CHEAP: &str = "ms18-lemma-a2";
/// A claim that takes little time and has one tracked rate.
pub const RATED: &str = "ms18-consistency-remark";
/// A claim that needs data that are not shipped.
pub const NOT_RUN: &str = "ms18-real-mnist35";

/// Returns the program that does what the first argument says, and the arguments that it takes.
pub fn program<'a>(arguments: &'a [&'a str]) -> (&'static str, &'a [&'a str]) {
    match arguments {
        ["bench", rest @ ..] => (env!("CARGO_BIN_EXE_lao-bench"), rest),
        all => (env!("CARGO_BIN_EXE_xtask"), all),
    }
}

/// Returns the command, to be run in a folder.
pub fn xtask(folder: &Path, arguments: &[&str]) -> Command {
    let (program, arguments) = program(arguments);
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments);
    command
}

/// Returns the command's output, run in a folder.
pub fn output(folder: &Path, arguments: &[&str]) -> Output {
    xtask(folder, arguments).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the command and checks its exit status; returns what it printed on standard output and on standard
/// error.
#[track_caller]
pub fn exits(status: i32, folder: &Path, arguments: &[&str]) -> [String; 2] {
    let output = output(folder, arguments);
    let [out, err] = [text(&output.stdout), text(&output.stderr)];
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {out}{err}");
    assert!(!err.contains("panicked"), "{arguments:?}: {err}");
    [out, err]
}

/// Checks that the command is refused with a message that has these parts.
#[track_caller]
pub fn refused(folder: &Path, arguments: &[&str], says: &[&str]) {
    let [_, message] = exits(2, folder, arguments);
    for part in says {
        assert!(message.contains(part), "{arguments:?} should say `{part}`, but says: {message}");
    }
}

/// Returns every file below a folder with its content.
pub fn snapshot(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(snapshot(&entry.path())),
            false => found.push((entry.path(), std::fs::read(entry.path()).unwrap())),
        }
    }
    found.sort();
    found
}

/// Writes files with the content `mine` into a folder.
pub fn write_mine(root: &Path, names: &[&str]) {
    for name in names {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "mine").unwrap();
    }
}

/// Returns a file of results as JSON.
pub fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
