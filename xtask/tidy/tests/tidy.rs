//! The rules that every text file of the repository keeps. Each test names the file and the line of a
//! violation.

use std::fs;
use std::path::{Path, PathBuf};

/// The width of a line in columns, which `rustfmt.toml` sets for code.
const WIDTH: usize = 110;

/// Folders whose texts are not ours: the output of tools, and the inputs of the readers' tests.
const FOREIGN: [&str; 4] = [".git", "target", "corpus", "node_modules"];

/// A file with its path from the root and its text.
struct Text {
    name: String,
    text: String,
}

impl Text {
    fn is(&self, extensions: &[&str]) -> bool {
        let extension = Path::new(&self.name).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    }

    /// Returns the lines with their numbers.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(number, line)| (number + 1, line))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all files of source code, scripts, settings and pages.
fn texts() -> Vec<Text> {
    fn visit(folder: &Path, prefix: &str, into: &mut Vec<Text>) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let file = entry.file_name().into_string().unwrap();
            let name = format!("{prefix}{file}");
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !FOREIGN.contains(&file.as_str()) {
                visit(&entry.path(), &format!("{name}/"), into);
            } else if kind.is_file() {
                let file = Text { name, text: String::new() };
                if file.is(&["rs", "md", "toml", "py", "sh", "yml"]) || file.name == ".ci/run" {
                    into.push(Text { text: fs::read_to_string(entry.path()).unwrap(), ..file });
                }
            }
        }
    }
    let mut texts = Vec::new();
    visit(&root(), "", &mut texts);
    assert!(texts.len() > 300, "the repository is elsewhere: {} files", texts.len());
    texts
}

/// Fails if anything was found, and lists what was found.
fn none(found: Vec<String>, remedy: &str) {
    assert!(found.is_empty(), "{remedy}:\n{}", found.join("\n"));
}

/// Returns whether a line cannot be wrapped: tables and links of Markdown, addresses, and literal JSON.
fn cannot_be_wrapped(file: &Text, line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['/', '!', '#']).trim_start();
    line.starts_with('|')
        || line.starts_with("r#\"{")
        || line.contains("https://")
        || (file.is(&["md"]) && line.starts_with('['))
}

#[test]
fn lines_have_at_most_110_columns() {
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.name != "ERRATA.md") {
        // What a command printed, in the book, is shown as it was printed.
        let mut printed = false;
        for (number, line) in file.lines() {
            if file.is(&["md"]) && line.starts_with("```") {
                printed = line == "```console";
            }
            let columns = line.chars().count();
            if columns > WIDTH && !printed && !cannot_be_wrapped(file, line) {
                found.push(format!("{}:{number}: {columns} columns", file.name));
            }
        }
    }
    none(found, "wrap comments and strings by hand (rustfmt does the code)");
}

/// Parts of words that only British spelling has.
const BRITISH: [&str; 24] = [
    "analysed",
    "analysing",
    "artefact",
    "behaviour",
    "cancelled",
    "catalogue",
    "centre",
    "colour",
    "favour",
    "judgement",
    "labelled",
    "licence",
    "minimis",
    "modelled",
    "neighbour",
    "normalis",
    "optimis",
    "penalis",
    "programme ",
    "randomis",
    "recognis",
    "regularis",
    "serialis",
    "standardis",
];

/// Names from which seeds descend, with `-` instead of `_`; they keep their spelling.
const NAMES: [&str; 2] = ["theta-star-minimiser", "all-trials(\"minimiser\""];

#[test]
fn spelling_is_american() {
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.name != "xtask/tidy/tests/tidy.rs") {
        for (number, line) in file.lines() {
            let mut line = line.to_lowercase().replace('_', "-");
            NAMES.iter().for_each(|name| line = line.replace(name, ""));
            let word = BRITISH.iter().find(|word| line.contains(**word));
            found.extend(word.map(|word| format!("{}:{number}: {word}", file.name)));
        }
    }
    none(found, "spell the American way");
}

#[test]
fn nothing_is_left_for_later() {
    let marks = ["todo!(", "unimplemented!(", "dbg!(", "#[ignore", concat!("TO", "DO"), concat!("FIX", "ME")];
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.is(&["rs"]) && file.name != "xtask/tidy/tests/tidy.rs") {
        for (number, line) in file.lines() {
            found.extend(
                marks
                    .iter()
                    .filter(|mark| line.contains(*mark))
                    .map(|mark| format!("{}:{number}: {mark}", file.name)),
            );
        }
    }
    none(found, "finish it or leave it out");
}

#[test]
fn files_end_with_one_line_end_and_lines_with_no_blank() {
    let mut found = Vec::new();
    for file in texts() {
        if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
            found.push(format!("{}: its end", file.name));
        }
        let blank = |line: &str| line.ends_with([' ', '\t']);
        found.extend(file.lines().filter(|(_, line)| blank(line)).map(|(n, _)| format!("{}:{n}", file.name)));
    }
    none(found, "cut blanks at ends");
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut found = Vec::new();
    for file in texts().iter().filter(|file| file.is(&["md"])) {
        let folder = root().join(&file.name).parent().unwrap().to_owned();
        for (number, line) in file.lines() {
            for target in line.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next()) {
                let outside = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
                if !outside && !folder.join(target).exists() {
                    found.push(format!("{}:{number}: {target}", file.name));
                }
            }
        }
    }
    none(found, "mend the links");
}
