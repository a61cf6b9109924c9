//! A test that follows CONTRIBUTING.md to the letter in a copy of the repository.
//!
//! The test inserts each block of code at the place that the block's first line names, and runs each block of
//! shell commands. The first line is a comment `PATH, below: TEXT`, which means below the first line of the
//! file that contains the text. With `$` at the end of the text, it means below the first line that ends with
//! the text.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that the copy builds without optimization: their build takes longer than what is run of them.
const BUILT_FAST: [&str; 10] = [
    "lao-claims-hk12",
    "lao-claims-ito17",
    "lao-claims-ms18",
    "lao-claims-pursuit",
    "lao-claims-scsg20",
    "lao-verification",
    "lao-verification-engine",
    "lao-bench-suite",
    "lao-fetch",
    "xtask",
];

/// A step that CONTRIBUTING.md asks for.
#[derive(Debug)]
enum Instruction {
    /// Insert lines into a file, below the first line that contains `line`.
    Below { path: String, line: String, text: String },
    /// Run commands at the root.
    Commands(Vec<String>),
}

fn instructions(page: &str) -> Vec<Instruction> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(fence) = lines.next() {
        let Some(language) = fence.strip_prefix("```").filter(|language| !language.is_empty()) else {
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let (first, rest) = body.split_first().expect("a block of code is empty");
        let text = rest.iter().map(|line| format!("{line}\n")).collect();
        let place = first.trim_start_matches(['/', '#', ' ']);
        found.push(if language == "sh" {
            Instruction::Commands(body.into_iter().map(str::to_owned).collect())
        } else if let Some((path, line)) = place.split_once(", below: ") {
            Instruction::Below { path: path.into(), line: line.into(), text }
        } else {
            panic!("a block of code does not say where it goes: {first}")
        });
    }
    found
}

/// Copies the files of a checkout, without results.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (name, kind) = (entry.file_name(), entry.file_type().unwrap());
        if kind.is_dir() && name != ".git" && name != "target" {
            copy(&entry.path(), &to.join(name));
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

/// Runs one command of the page in the copy at `root`; `target` holds the build of this test.
fn run(command: &str, root: &Path, target: &Path) {
    if let Some(("cp", names)) = command.split_once(' ') {
        let (from, to) = names.split_once(' ').unwrap();
        assert!(!root.join(to).exists(), "{to} is there");
        fs::copy(root.join(from), root.join(to)).unwrap();
        return;
    }
    // The verbs are built in the profile of the tests.
    let verb = |program: &str| format!("cargo run --quiet --package xtask --bin {program} --");
    let words =
        command.replace("cargo xtask bench", &verb("lao-bench")).replace("cargo xtask", &verb("xtask"));
    let mut words = words.split_whitespace();
    assert_eq!(words.next(), Some("cargo"), "{command}");
    let mut cargo = Command::new(env!("CARGO"));
    // The variables that cargo sets for this test would reach the build scripts of the copy.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_") && name != "CARGO_HOME") {
        cargo.env_remove(name);
    }
    // Dependencies are taken from the build of this test. The copy's own programs stay in the copy, since
    // they would otherwise replace the programs that other tests run.
    for package in BUILT_FAST {
        cargo.arg("--config").arg(format!("profile.dev.package.{package}.opt-level=0"));
    }
    cargo.args(words).current_dir(root);
    cargo.env("CARGO_BUILD_BUILD_DIR", target).env("CARGO_TARGET_DIR", root.join("target"));
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "{command}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn what_the_page_says_works_to_the_letter() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let page = fs::read_to_string(home.join("CONTRIBUTING.md")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let root: PathBuf = scratch.path().canonicalize().unwrap();
    copy(&home, &root);
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let mut commands = 0;
    for instruction in instructions(&page) {
        match instruction {
            Instruction::Below { path, line, text } => {
                let file = root.join(&path);
                let old = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}"));
                let is_it = |found: &&str| match line.strip_suffix('$') {
                    Some(line) => found.trim_end().ends_with(line),
                    None => found.contains(&line),
                };
                let found = old.split_inclusive('\n').find(is_it);
                let found = found.unwrap_or_else(|| panic!("{path} has no line with {line}"));
                let end = found.as_ptr() as usize - old.as_ptr() as usize + found.len();
                fs::write(&file, format!("{}{text}{}", &old[..end], &old[end..])).unwrap();
            }
            Instruction::Commands(list) => {
                list.iter().for_each(|command| run(command, &root, &target));
                commands += list.len();
            }
        }
    }
    assert!(commands >= 7, "a method, a claim and a scenario take more than {commands} commands");
}
