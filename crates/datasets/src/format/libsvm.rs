//! LibSVM text: `label index:value index:value ...`, one row per line, indices from 1 and ascending.
//!
//! *Source*: C.-C. Chang and C.-J. Lin, LIBSVM's README. A `#` starts a comment, as in SVMlight. Indices are given out
//! counted from 0.

use super::archive::{Opening, open};
use super::error::{At, FormatError, Problem, shown};
use super::number;
use super::table::{SparseRow, SparseRows, require_rows};
use std::io::Read;
use std::path::Path;

const CHUNK: usize = 1 << 18;
const LONGEST_LINE: usize = 1 << 28;

/// Reads rows one at a time into buffers that it keeps.
pub struct LibsvmReader<R> {
    name: String,
    input: R,
    dim: Option<u32>,
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
    /// A reader of `input`, called `name` in messages. Indices above `dim`, where given, are an error.
    pub fn new(input: R, name: &str, dim: Option<u32>) -> Self {
        Self {
            name: name.to_owned(),
            input,
            dim,
            buffer: Vec::new(),
            start: 0,
            complete: 0,
            end: 0,
            ended: false,
            line: 0,
            indices: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The next row, or `None` at the end.
    pub fn next_row(&mut self) -> Result<Option<SparseRow<'_>>, FormatError> {
        if self.start == self.complete && !self.fill()? {
            return Ok(None);
        }
        self.line += 1;
        self.indices.clear();
        self.values.clear();
        let text = &self.buffer[self.start..self.complete];
        let dim = self.dim.unwrap_or(u32::MAX);
        match parse_line(text, dim, &mut self.indices, &mut self.values) {
            Ok((label, length)) => {
                self.start += length;
                Ok(Some(SparseRow { label, indices: &self.indices, values: &self.values }))
            }
            Err(problem) => Err(FormatError::new(&self.name, At::Line(self.line), problem)),
        }
    }

    /// Reads on until at least one whole line is in the buffer; false at the end of the file.
    fn fill(&mut self) -> Result<bool, FormatError> {
        self.buffer.copy_within(self.complete..self.end, 0);
        self.end -= self.complete;
        (self.start, self.complete) = (0, 0);
        while !self.ended {
            if self.buffer.len() < self.end + CHUNK {
                let room = (self.end + CHUNK).max(2 * self.buffer.len()).max(CHUNK + 1);
                self.buffer.resize(room, 0);
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
            if self.end > LONGEST_LINE {
                let problem = Problem::LineTooLong { limit: LONGEST_LINE };
                return Err(FormatError::new(&self.name, At::Line(self.line + 1), problem));
            }
        }
        Ok(false)
    }
}

/// Parses the line at the start of `text`, which ends in a newline somewhere; returns its label and length.
fn parse_line(
    text: &[u8],
    dim: u32,
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> Result<(f64, usize), Problem> {
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
    let mut previous = 0u32;
    loop {
        at = skip_blanks(text, at);
        match text.get(at) {
            None => return Ok((label, text.len())),
            Some(b'\n') => return Ok((label, at + 1)),
            Some(b'#') => {
                let rest = &text[at..];
                let newline = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len() - 1);
                return Ok((label, at + newline + 1));
            }
            Some(_) => {}
        }
        let (index, colon) = parse_index(text, at, dim)?;
        let (value, length) = number::scan(&text[colon..]);
        let (value, end) = match value {
            Some(value) if ends_token(text, colon + length) => (value, colon + length),
            _ => slow_value(text, at, colon, index)?,
        };
        if index <= previous {
            return Err(Problem::IndexOrder { index, previous });
        }
        previous = index;
        indices.push(index - 1);
        values.push(value);
        at = end;
    }
}

/// The index at `at` and the position after its colon.
#[inline]
fn parse_index(text: &[u8], at: usize, dim: u32) -> Result<(u32, usize), Problem> {
    let mut index = 0u64;
    let mut end = at;
    while let Some(digit) = text.get(end).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        index = index.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    if end == at || text.get(end) != Some(&b':') {
        return Err(Problem::Entry { value: shown(token(text, at)) });
    }
    // More digits than any u32 has may have wrapped around.
    let too_long = end - at > 10;
    match u32::try_from(index) {
        _ if too_long => Err(Problem::IndexRange { index: shown(&text[at..end]), dim }),
        Ok(0) => Err(Problem::IndexZero { value: shown(token(text, at)) }),
        Ok(index) if index <= dim => Ok((index, end + 1)),
        _ => Err(Problem::IndexRange { index: shown(&text[at..end]), dim }),
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
fn slow_label(token: &[u8]) -> Result<f64, Problem> {
    let field = || "the label".to_owned();
    match number::parse_std(token) {
        Some(label) if label.is_finite() => Ok(label),
        Some(_) => Err(Problem::NotFinite { field: field(), value: shown(token) }),
        None if token.is_empty() || token.contains(&b':') || token.starts_with(b"#") => {
            Err(Problem::LabelMissing { value: shown(token) })
        }
        None => Err(Problem::NotANumber { field: field(), value: shown(token) }),
    }
}

fn slow_value(text: &[u8], at: usize, colon: usize, index: u32) -> Result<(f64, usize), Problem> {
    let token = token(text, colon);
    let field = || format!("the value of index {index}");
    match number::parse_std(token) {
        Some(value) if value.is_finite() => Ok((value, colon + token.len())),
        Some(_) => Err(Problem::NotFinite { field: field(), value: shown(token) }),
        None if token.is_empty() => Err(Problem::Entry { value: shown(&text[at..colon]) }),
        None => Err(Problem::NotANumber { field: field(), value: shown(token) }),
    }
}

/// A LibSVM file in memory. With `dim`, larger indices are an error; without, the largest index sets the dimension.
pub fn read_libsvm(path: &Path, opening: &Opening, dim: Option<u32>) -> Result<SparseRows, FormatError> {
    let mut rows = SparseRows::new(dim.map_or(0, |d| d as usize));
    for part in open(path, opening)? {
        let mut reader = LibsvmReader::new(part.reader()?, &part.name, dim);
        while let Some(row) = reader.next_row()? {
            rows.push(row);
        }
    }
    require_rows(rows.rows(), &path.display().to_string())?;
    Ok(rows)
}
