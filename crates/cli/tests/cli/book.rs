//! Runs the commands of the book and compares what they print.
//!
//! A block of a console has commands, which begin with `$ `, and what they print to either stream. The
//! commands of a chapter run one after the other in a folder of its own, which has the files of the project's
//! folder `data`, and the scripts of the book. `cargo xtask report` (LAO_BLESS=1) writes what is
//! printed into the chapters. The commands of the project's README run, too; what they print is not in the
//! README.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the folder `data` that the book uses.
const FILES: [&str; 4] = ["digits.csv.gz", "diabetes.csv.gz", "prices.csv", "panel.txt"];

/// Returns the files of the book that have this extension.
fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lao/book/src");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == extension)).collect();
    files.sort();
    files
}

/// Runs a command whose streams are one.
fn output(folder: &Path, command: &str) -> std::process::Output {
    let binary = assert_cmd::cargo::cargo_bin("lao");
    let places = [binary.parent().unwrap().to_str().unwrap(), &std::env::var("PATH").unwrap()].join(":");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]).current_dir(folder).env("PATH", places);
    shell.output().unwrap()
}

/// Returns what a command prints to both streams.
fn run(folder: &Path, command: &str) -> String {
    String::from_utf8(output(folder, command).stdout).unwrap()
}

/// Copies the files that the commands use.
fn copy_data(folder: &Path) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    for file in FILES {
        std::fs::copy(data.join(file), folder.join(file)).unwrap();
    }
}

/// Returns a chapter with what its commands print now.
fn run_chapter(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy_data(folder.path());
    for script in files("sh") {
        std::fs::copy(&script, folder.path().join(script.file_name().unwrap())).unwrap();
    }
    let (mut out, mut inside) = (String::new(), false);
    for line in text.lines() {
        let fence = line.starts_with("```");
        match line.strip_prefix("$ ") {
            Some(command) if inside => {
                writeln!(out, "{line}").unwrap();
                out += &run(folder.path(), command);
            }
            _ if inside && !fence => {}
            _ => writeln!(out, "{line}").unwrap(),
        }
        inside = if fence { !inside && line == "```console" } else { inside };
    }
    out
}

#[test]
fn commands_print_what_the_book_shows() {
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    let mut commands = 0;
    for path in files("md") {
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("$ python3") && !has_python {
            eprintln!("skipped: {} needs python3", path.display());
            continue;
        }
        commands += text.matches("\n$ lao ").count();
        let now = run_chapter(&text);
        if std::env::var_os("LAO_BLESS").is_some() {
            std::fs::write(&path, now).unwrap();
        } else {
            assert_eq!(text, now, "{} (`cargo xtask report` renews it)", path.display());
        }
    }
    assert!(commands >= 20, "the book has its commands");
}

#[test]
fn the_commands_of_the_readme_succeed() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    copy_data(&data);
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("$ lao ")).collect();
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let output = output(folder.path(), &format!("lao {command}"));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "lao {command}\n{said}");
    }
}
