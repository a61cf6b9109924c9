//! A test that follows CONTRIBUTING.md to the letter in a copy of the repository.
//!
//! The test inserts each block of code at the place that the block's first line names, and copies the
//! templates that the page names. It then builds all at once, on all cores, and runs the page's commands. The
//! first line is a comment `PATH, below: TEXT`, which means below the first line of the file that contains
//! the text. With `$` at the end of the text, it means below the first line that ends with the text.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that the copy builds without optimization: lao-algorithms, which the page changes, and what depends
/// on it. Their build takes longer than what is run of them.
const BUILT_FAST: [&str; 4] = ["lao", "lao-algorithms", "lao-claims-ms18", "lao-verification-engine"];

/// Beginnings of the names of the variables that cargo sets for a test.
const OF_THIS_TEST: [&str; 6] =
    ["CARGO_BIN_", "CARGO_CRATE_", "CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_PRIMARY_", "CARGO_TARGET_TMPDIR"];

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

/// Copies the files of a checkout, without results. The copies are as old as the files, so that cargo finds
/// the crates that do not change built.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (name, kind) = (entry.file_name(), entry.file_type().unwrap());
        if kind.is_dir() && name != ".git" && name != "target" {
            copy(&entry.path(), &to.join(name));
        } else if kind.is_file() {
            let to = to.join(name);
            fs::copy(entry.path(), &to).unwrap();
            let modified = entry.metadata().unwrap().modified().unwrap();
            File::options().append(true).open(&to).unwrap().set_modified(modified).unwrap();
        }
    }
}

/// Runs `command`, which must succeed.
fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns cargo for the copy at `root`; `target` holds the build of this test.
fn cargo(root: &Path, target: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    // The variables that describe this test would reach the build scripts of the copy.
    for (name, _) in std::env::vars().filter(|(name, _)| OF_THIS_TEST.iter().any(|of| name.starts_with(of))) {
        cargo.env_remove(name);
    }
    // Crates that do not change are taken from the build of this test. Those that change are built in another
    // way, so that they do not replace the checkout's own. The copy's programs stay in the copy for the same
    // reason.
    for package in BUILT_FAST {
        cargo.arg("--config").arg(format!("profile.dev.package.{package}.opt-level=0"));
    }
    cargo.env("CARGO_BUILD_BUILD_DIR", target).env("CARGO_TARGET_DIR", root.join("target"));
    cargo.current_dir(root);
    cargo
}

/// Builds all that the commands of the page run, on all cores.
fn build(root: &Path, target: &Path) {
    // The page adds a claim of one paper: those of the others need not be built.
    let features = "--features=xtask/bench,xtask/ms18";
    let packages = ["--package=lao-algorithms", "--package=xtask", "--test=algorithms", "--bins"];
    done(cargo(root, target).args(["test", "--no-run", "--no-default-features", features]).args(packages));
}

/// Runs one command of the page in the copy at `root`; `target` holds the build of this test.
fn run(command: &str, root: &Path, target: &Path) {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["cargo", "xtask", ref words @ ..] => {
            let build = ["build", "--package=xtask", "--no-default-features", "--features=bench,ms18"];
            done(cargo(root, target).args(build));
            let (program, words) =
                words.strip_prefix(&["bench"]).map_or(("xtask", words), |words| ("lao-bench", words));
            done(Command::new(root.join("target/debug").join(program)).args(words).current_dir(root));
        }
        ["cargo", ref words @ ..] => done(cargo(root, target).args(words)),
        _ => panic!("{command} is neither cp nor cargo"),
    }
}

#[test]
fn what_the_page_says_works_to_the_letter() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let page = fs::read_to_string(home.join("CONTRIBUTING.md")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let root: PathBuf = scratch.path().canonicalize().unwrap();
    copy(&home, &root);
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let mut commands = Vec::new();
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
                for command in list {
                    match command.split_whitespace().collect::<Vec<_>>()[..] {
                        ["cp", from, to] => {
                            assert!(!root.join(to).exists(), "{to} is there");
                            fs::copy(root.join(from), root.join(to)).unwrap();
                        }
                        _ => commands.push(command),
                    }
                }
            }
        }
    }
    build(&root, &target);
    commands.iter().for_each(|command| run(command, &root, &target));
    assert!(commands.len() >= 4, "a method, a claim and a scenario take more than {commands:?}");
}
