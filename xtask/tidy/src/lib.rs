//! The rules that every text file of the repository keeps, and what the tests of the rules share with
//! `cargo tidy --fix`, which wraps comments and pages.

use std::fs;
use std::path::{Path, PathBuf};

/// The width of a line in columns, which `rustfmt.toml` sets for code.
pub const WIDTH: usize = 110;

/// Folders whose texts are not ours: the output of tools, and the inputs of the readers' tests.
const FOREIGN: [&str; 5] = [".git", "target", "corpus", "gallery", "node_modules"];

/// A file with its path from the root and its text.
pub struct Text {
    /// The path from the root, with `/`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Text {
    /// Returns whether the name ends in one of these extensions.
    #[must_use]
    pub fn is(&self, extensions: &[&str]) -> bool {
        let extension = Path::new(&self.name).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    }

    /// Returns the lines with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(number, line)| (number + 1, line))
    }
}

/// Returns the root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all files of source code, scripts, settings and pages.
///
/// # Panics
/// Panics when a file cannot be read.
#[must_use]
pub fn texts() -> Vec<Text> {
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

/// Returns whether a line cannot be wrapped: tables and links of Markdown, addresses, and literal JSON.
#[must_use]
pub fn cannot_be_wrapped(file: &Text, line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['/', '!', '#']).trim_start();
    line.starts_with('|')
        || line.starts_with("r#\"{")
        || line.contains("https://")
        || (file.is(&["md"]) && line.starts_with('['))
}

/// The mark of a list's entry that a text begins with, such as `- ` or `2. `, or nothing.
fn entry(text: &str) -> &str {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = text.strip_prefix(['-', '*']).or_else(|| digits.strip_prefix('.').filter(|_| digits != text));
    let rest = rest.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(text);
    &text[..text.len() - rest.len()]
}

impl Text {
    /// Splits a line into what stands before its words (blanks and the sign of a comment) and the words, or
    /// returns nothing where the line is code.
    fn parts<'a>(&self, line: &'a str) -> Option<(&'a str, &'a str)> {
        let text = line.trim_start();
        let sign = if self.is(&["rs"]) {
            ["///", "//!", "//"].into_iter().find(|sign| text.starts_with(sign))?
        } else if self.is(&["md"]) {
            ""
        } else {
            text.starts_with("# ").then_some("#")?
        };
        let words = text[sign.len()..].trim_start();
        Some(line.split_at(line.len() - words.len()))
    }

    /// Returns the text with comments, and paragraphs of Markdown, wrapped where a line is too long. The
    /// lines of a paragraph above the first that is too long stay as they are.
    #[must_use]
    pub fn wrapped(&self) -> String {
        let (mut lines, mut fenced) = (self.text.lines().peekable(), false);
        let mut wrapped = String::with_capacity(self.text.len());
        while let Some(line) = lines.next() {
            let parts = self.parts(line);
            fenced ^= parts.is_some_and(|(_, words)| words.starts_with("```"));
            let is_long = line.chars().count() > WIDTH && !fenced && !cannot_be_wrapped(self, line);
            let Some((start, words)) = parts.filter(|(_, words)| is_long && !words.starts_with('#')) else {
                wrapped += line;
                wrapped.push('\n');
                continue;
            };
            let mark = entry(words);
            let next = format!("{start}{}", " ".repeat(mark.len()));
            let mut all: Vec<&str> = words[mark.len()..].split_whitespace().collect();
            let is_same = |line: &&str| {
                let same = |(start, words): &(&str, &str)| {
                    *start == next
                        && !words.is_empty()
                        && entry(words).is_empty()
                        && !words.starts_with(['|', '#', '<', '`', '['])
                };
                self.parts(line).is_some_and(|parts| same(&parts))
            };
            while let Some(line) = lines.next_if(is_same) {
                all.extend(self.parts(line).into_iter().flat_map(|(_, words)| words.split_whitespace()));
            }
            let mut row = format!("{start}{mark}");
            let mut is_empty = true;
            for word in all {
                if !is_empty && row.chars().count() + 1 + word.chars().count() > WIDTH {
                    wrapped += &row;
                    wrapped.push('\n');
                    (row, is_empty) = (next.clone(), true);
                }
                row += if is_empty { "" } else { " " };
                row += word;
                is_empty = false;
            }
            wrapped += &row;
            wrapped.push('\n');
        }
        wrapped
    }
}
