//! LibSVM text: `label index:value index:value ...`, one row per line, indices ascending from 1.
//!
//! *Source*: C.-C. Chang and C.-J. Lin, LIBSVM's README; T. Joachims, SVMlight. As in SVMlight, a `#` starts
//! a comment, on a line of its own or behind a row, and blank lines are passed over. A `qid:N` right behind
//! the label, which groups rows for ranking, is checked and left out. Files that count indices from 0 are
//! read with [`LibsvmOptions::zero_based`]; the comment with which scikit-learn's `dump_svmlight_file` says
//! from where it counts must agree with that option. Indices are given out counted from 0.

use super::archive::{Opening, Part, open};
use super::error::{At, FormatError, ReadProblem, shown};
use super::limits::LONGEST_LINE;
use super::number;
use super::table::{SparseRow, SparseRows, require_rows};
use super::text::Text;
use serde::Deserialize;
use std::io::Read;
use std::path::Path;

const CHUNK: usize = 1 << 18;

/// The options of LibSVM text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LibsvmOptions {
    /// Number of attributes; an index beyond it is an error. Without it, the largest index of the file sets
    /// the dimension, so a test file is read with the dimension of its training file.
    pub dim: Option<u32>,
    /// Whether the file counts its indices from 0 and not, as LibSVM does, from 1. Default false.
    pub zero_based: bool,
}

/// The indices that a file may use: from `first` on, `dim` of them.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    first: u32,
    dim: u32,
}

/// A reader of rows, one at a time, into buffers that it keeps.
pub struct LibsvmReader<R> {
    name: String,
    input: Text<R>,
    options: LibsvmOptions,
    /// The number of bytes of blank lines and comments since the last row.
    passed: usize,
    buffer: Vec<u8>,
    /// `buffer[start..complete]` holds whole lines, `buffer[complete..end]` the beginning of the next one.
    start: usize,
    complete: usize,
    end: usize,
    ended: bool,
    line: u64,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl<R: Read> LibsvmReader<R> {
    /// Returns a reader of `input`, called `name` in messages.
    pub fn new(input: R, name: &str, options: LibsvmOptions) -> Self {
        Self {
            name: name.to_owned(),
            input: Text::new(input),
            options,
            passed: 0,
            // Zeroed by the system, so that a short input does not pay for a long buffer.
            buffer: vec![0; CHUNK + 1],
            start: 0,
            complete: 0,
            end: 0,
            ended: false,
            line: 0,
            indices: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns the next row, or `None` at the end.
    pub fn next_row(&mut self) -> Result<Option<SparseRow<'_>>, FormatError> {
        let LibsvmOptions { dim, zero_based } = self.options;
        let bounds = Bounds { first: u32::from(!zero_based), dim: dim.unwrap_or(u32::MAX) };
        loop {
            if self.start == self.complete && !self.fill()? {
                return Ok(None);
            }
            self.line += 1;
            let text = &self.buffer[self.start..self.complete];
            if text.len() > LONGEST_LINE - self.passed && line_length(text) > LONGEST_LINE - self.passed {
                return Err(self.fail(ReadProblem::LineTooLong { limit: LONGEST_LINE }));
            }
            let blank = skip_blanks(text, 0);
            if matches!(text.get(blank), None | Some(b'\n' | b'#')) {
                let length = line_length(text);
                check_comment(&text[blank..length], zero_based).map_err(|problem| self.fail(problem))?;
                self.passed += length;
                self.start += length;
                continue;
            }
            self.indices.clear();
            self.values.clear();
            return match parse_line(text, bounds, &mut self.indices, &mut self.values) {
                Ok((label, length)) => {
                    self.passed = 0;
                    self.start += length;
                    Ok(Some(SparseRow { label, indices: &self.indices, values: &self.values }))
                }
                Err(_) if text[..line_length(text)].contains(&0) => Err(self.fail(ReadProblem::NotText)),
                Err(problem) => Err(self.fail(problem)),
            };
        }
    }

    fn fail(&self, problem: ReadProblem) -> FormatError {
        FormatError::new(&self.name, At::Line(self.line), problem)
    }

    /// Reads on until at least one whole line is in the buffer; false at the end of the file.
    fn fill(&mut self) -> Result<bool, FormatError> {
        self.buffer.copy_within(self.complete..self.end, 0);
        self.end -= self.complete;
        (self.start, self.complete) = (0, 0);
        while !self.ended {
            if self.buffer.len() < self.end + CHUNK {
                self.buffer.resize((self.end + CHUNK).max(2 * self.buffer.len()), 0);
            }
            // One byte stays free for the newline that a file's last line may lack.
            let room = self.buffer.len() - 1;
            let fresh = self.end;
            match self.input.read(&mut self.buffer[fresh..room]) {
                Ok(0) => {
                    self.ended = true;
                    if self.end > 0 {
                        self.buffer[self.end] = b'\n';
                        self.end += 1;
                        self.complete = self.end;
                    }
                    return Ok(self.end > 0);
                }
                Ok(count) => self.end += count,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(FormatError::io(&self.name, At::Line(self.line + 1), e)),
            }
            if let Some(newline) = self.buffer[fresh..self.end].iter().rposition(|b| *b == b'\n') {
                self.complete = fresh + newline + 1;
                return Ok(true);
            }
            if self.end > LONGEST_LINE - self.passed {
                self.line += 1;
                return Err(self.fail(ReadProblem::LineTooLong { limit: LONGEST_LINE }));
            }
        }
        Ok(false)
    }
}

/// Returns the length of the line at the start of `text`, its newline included.
fn line_length(text: &[u8]) -> usize {
    text.iter().position(|b| *b == b'\n').map_or(text.len(), |newline| newline + 1)
}

/// `dump_svmlight_file` writes from where it counts; a reader that counts otherwise would shift every
/// attribute.
fn check_comment(comment: &[u8], zero_based: bool) -> Result<(), ReadProblem> {
    match comment.trim_ascii() {
        b"# Column indices are zero-based" if !zero_based => {
            Err(ReadProblem::IndexBase { stated: "zero", remedy: true })
        }
        b"# Column indices are one-based" if zero_based => {
            Err(ReadProblem::IndexBase { stated: "one", remedy: false })
        }
        _ => Ok(()),
    }
}

/// Parses the line at the start of `text`, which ends in a newline somewhere; returns its label and length.
fn parse_line(
    text: &[u8],
    bounds: Bounds,
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> Result<(f64, usize), ReadProblem> {
    let mut at = skip_blanks(text, 0);
    let (value, length) = number::scan(&text[at..]);
    let label = match value {
        Some(label) if ends_token(text, at + length) => {
            at += length;
            label
        }
        _ => {
            let token = token(text, at);
            at += token.len();
            slow_label(token)?
        }
    };
    at = skip_query(text, at);
    // The least index that may come next.
    let mut least = u64::from(bounds.first);
    loop {
        at = skip_blanks(text, at);
        match text.get(at) {
            None => return Ok((label, text.len())),
            Some(b'\n') => return Ok((label, at + 1)),
            Some(b'#') => return Ok((label, at + line_length(&text[at..]))),
            Some(_) => {}
        }
        let (index, colon) = parse_index(text, at, bounds)?;
        let (value, length) = number::scan(&text[colon..]);
        let (value, end) = match value {
            Some(value) if ends_token(text, colon + length) => (value, colon + length),
            _ => slow_value(text, at, colon, index)?,
        };
        if u64::from(index) < least {
            return Err(ReadProblem::IndexOrder { index, previous: (least - 1) as u32 });
        }
        least = u64::from(index) + 1;
        indices.push(index - bounds.first);
        values.push(value);
        at = end;
    }
}

/// Returns where the row goes on behind a `qid:N`, if there is one.
fn skip_query(text: &[u8], at: usize) -> usize {
    let from = skip_blanks(text, at);
    let Some(number) = text[from..].strip_prefix(b"qid:") else { return at };
    let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
    let end = from + b"qid:".len() + digits;
    if digits > 0 && ends_token(text, end) { end } else { at }
}

/// The index at `at` and the position after its colon.
#[inline]
fn parse_index(text: &[u8], at: usize, bounds: Bounds) -> Result<(u32, usize), ReadProblem> {
    let mut index = 0u64;
    let mut end = at;
    while let Some(digit) = text.get(end).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        index = index.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    if end == at || text.get(end) != Some(&b':') {
        return Err(ReadProblem::Entry { value: shown(token(text, at)) });
    }
    let Bounds { first, dim } = bounds;
    let last = i64::from(first) + i64::from(dim) - 1;
    // More digits than any u32 has may have wrapped around.
    let too_long = end - at > 10;
    match u32::try_from(index) {
        Ok(0) if first > 0 && !too_long => Err(ReadProblem::IndexZero { value: shown(token(text, at)) }),
        Ok(index) if i64::from(index) <= last && !too_long => Ok((index, end + 1)),
        _ => Err(ReadProblem::IndexRange { index: shown(&text[at..end]), first, last }),
    }
}

#[inline]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

#[inline]
fn ends_token(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
}

fn token(text: &[u8], at: usize) -> &[u8] {
    let rest = &text[at..];
    let length = (0..rest.len()).find(|&k| ends_token(rest, k)).unwrap_or(rest.len());
    &rest[..length]
}

#[cold]
fn slow_label(token: &[u8]) -> Result<f64, ReadProblem> {
    let field = || "the label".to_owned();
    match number::parse_std(token) {
        Some(label) if label.is_finite() => Ok(label),
        Some(_) => Err(ReadProblem::NotFinite { field: field(), value: shown(token) }),
        None if token.is_empty() || token.contains(&b':') || token.starts_with(b"#") => {
            Err(ReadProblem::LabelMissing { value: shown(token) })
        }
        None => Err(ReadProblem::NotANumber { field: field(), value: shown(token) }),
    }
}

fn slow_value(text: &[u8], at: usize, colon: usize, index: u32) -> Result<(f64, usize), ReadProblem> {
    let token = token(text, colon);
    let field = || format!("the value of index {index}");
    match number::parse_std(token) {
        Some(value) if value.is_finite() => Ok((value, colon + token.len())),
        Some(_) => Err(ReadProblem::NotFinite { field: field(), value: shown(token) }),
        None if token.is_empty() => Err(ReadProblem::Entry { value: shown(&text[at..colon]) }),
        None => Err(ReadProblem::NotANumber { field: field(), value: shown(token) }),
    }
}

/// Returns a LibSVM file in memory. With [`LibsvmOptions::dim`], larger indices are an error; without, the
/// largest index sets the dimension.
pub fn read_libsvm(
    path: &Path,
    opening: &Opening,
    options: &LibsvmOptions,
) -> Result<SparseRows, FormatError> {
    read_parts(open(path, opening)?, &path.display().to_string(), options)
}

/// Returns the same table from open streams; `file` is their source.
pub(crate) fn read_parts(
    parts: Vec<Part>,
    file: &str,
    options: &LibsvmOptions,
) -> Result<SparseRows, FormatError> {
    let mut rows = SparseRows::new(options.dim.map_or(0, |d| d as usize));
    for part in parts {
        let name = part.name.clone();
        let mut reader = LibsvmReader::new(part.reader(), &name, *options);
        while let Some(row) = reader.next_row()? {
            rows.push(row);
        }
    }
    require_rows(rows.rows(), file)?;
    Ok(rows)
}
