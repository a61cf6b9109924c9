//! `cargo try NAME` runs the tests and the claims of one file of `crates/algorithms/src`.
//!
//! It is a program of its own, without dependencies, so that it need not be compiled again after the change
//! that it is to try. The claims are those that the file's documentation lists after `*Claims*`; of the
//! suite, only their papers are compiled, in the profile `try`, which compiles little again after a change.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
Run the tests and the claims of one file of crates/algorithms/src.

Usage: cargo try NAME [--tests | --claims]

  NAME      the file without its extension (aerr, scsg, moments), or its folder (pursuit)
  --tests   only the tests of lao-algorithms
  --claims  only the claims that the file's documentation lists after *Claims*, in the quick tier; where it
            lists none, those of all files in its folder

Exit status: 0 all passed; 1 a test failed or a verdict is not as expected; 2 wrong usage.
";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |name: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != name);
        arguments.len() < before
    };
    if flag("--help") || flag("-h") {
        return say(HELP, 0);
    }
    let (tests, claims) = (flag("--tests"), flag("--claims"));
    let [name] = &arguments[..] else { return say(HELP, 2) };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = files(&root.join("crates/algorithms/src"));
    let Some(file) = files.iter().find(|file| is_called(file, name)) else {
        return say(&format!("no file of crates/algorithms/src is called `{name}`\n"), 2);
    };
    let mut passed = true;
    if !claims {
        passed = run(&root, "test", &["--package", "lao-algorithms", "--lib", "--test", "algorithms"]);
    }
    if !tests {
        let claims = claims_of(file, &files);
        // The claims about the suite itself are always compiled.
        let papers: BTreeSet<&str> = claims
            .iter()
            .filter_map(|claim| claim.split('-').next())
            .filter(|paper| *paper != "engine")
            .collect();
        let papers = papers.into_iter().collect::<Vec<_>>().join(",");
        let mut words = vec!["--package", "xtask", "--bin", "xtask", "--no-default-features"];
        words.extend(["--features", &papers]);
        words.extend(["--", "verify", "--out", "target/lao/try"]);
        words.extend(claims.iter().map(String::as_str));
        passed &= run(&root, "run", &words);
    }
    ExitCode::from(u8::from(!passed))
}

/// Returns all files of source code below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    found.sort();
    found
}

/// Returns whether a file has this name, or is the module of a folder with this name.
fn is_called(file: &Path, name: &str) -> bool {
    let stem =
        if file.ends_with("mod.rs") { file.parent().and_then(Path::file_name) } else { file.file_stem() };
    stem.is_some_and(|stem| stem == name)
}

/// Returns the claims, or beginnings of their names, that a file lists, or else all files in its folder.
fn claims_of(file: &Path, files: &[PathBuf]) -> BTreeSet<String> {
    let listed = listed(file);
    if !listed.is_empty() {
        return listed;
    }
    files
        .iter()
        .filter(|other| other.parent() == file.parent())
        .flat_map(|other| self::listed(other))
        .collect()
}

/// Returns what stands between backticks in the paragraph that begins with `*Claims*`.
fn listed(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().skip_while(|line| !line.starts_with("//! *Claims*"));
    let paragraph: Vec<&str> = lines.take_while(|line| line.len() > 3).collect();
    let paragraph = paragraph.join(" ");
    paragraph.split('`').skip(1).step_by(2).map(|id| id.trim_end_matches('*').to_owned()).collect()
}

/// Runs cargo in the profile `try`; returns whether it succeeded.
fn run(root: &Path, command: &str, words: &[&str]) -> bool {
    let words = [&[command, "--profile", "try"], words].concat();
    let _ = writeln!(std::io::stderr(), "$ cargo {}", words.join(" "));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Command::new(cargo).current_dir(root).args(words).status().is_ok_and(|status| status.success())
}

fn say(text: &str, status: u8) -> ExitCode {
    let _ = match status {
        0 => std::io::stdout().write_all(text.as_bytes()),
        _ => std::io::stderr().write_all(text.as_bytes()),
    };
    ExitCode::from(status)
}
