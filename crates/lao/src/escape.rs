//! What a file says is text, wherever it goes: one function for each kind of output.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns whether a character may change what a terminal shows beside it: control characters, and those that
/// change the direction of the text.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The most characters of a name that are shown.
const SHOWN: usize = 200;

/// Returns a name, a word or a path as it can be shown in one line: what would control a terminal is escaped,
/// and what is very long is cut.
///
/// ```
/// assert_eq!(lao::shown("CRP\u{1b}[2J\nmg/l"), r"CRP\u{1b}[2J\nmg/l");
/// assert!(lao::shown(&"x".repeat(1_000_000)).ends_with('…'));
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN && !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::new();
    for c in text.chars().take(SHOWN) {
        if is_hostile(c) { plain.extend(c.escape_debug()) } else { plain.push(c) }
    }
    if text.chars().nth(SHOWN).is_some() {
        plain.push('…');
    }
    Cow::Owned(plain)
}

/// Returns a text as an argument that can be pasted into a shell: in quotes, if it needs them.
pub(crate) fn argument(text: &str) -> Cow<'_, str> {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ',' | '=' | ':' | '/' | '%' | '+');
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// Returns a sentence as one line, in which what would control a terminal is escaped.
pub(crate) fn line(text: String) -> String {
    if !text.chars().any(is_hostile) {
        return text;
    }
    let mut plain = String::new();
    for c in text.chars() {
        if is_hostile(c) { plain.extend(c.escape_debug()) } else { plain.push(c) }
    }
    plain
}

/// Returns a text as a cell or a sentence of Markdown, without HTML.
pub fn markdown(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        match c {
            c if is_hostile(c) => plain.push(' '),
            '<' => plain += "&lt;",
            '>' => plain += "&gt;",
            '&' => plain += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

/// Returns whether a cell of CSV would be run as a formula by a spreadsheet.
pub fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err()
}

/// Returns a text as a Python literal.
pub(crate) fn python_text(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            c if is_hostile(c) => {
                let _ = write!(literal, "\\U{:08x}", u32::from(c));
            }
            c => literal.push(c),
        }
    }
    literal + "\""
}

/// Returns a text for a docstring or a comment, without what would end either.
pub(crate) fn comment(text: &str) -> String {
    let plain: String = text
        .chars()
        .take(SHOWN)
        .map(|c| if is_hostile(c) || c == '"' || c == '\\' { ' ' } else { c })
        .collect();
    plain.replace("*/", "* /").replace("/*", "/ *")
}
