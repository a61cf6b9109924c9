//! Splits CSV into rows and fields, strictly and with bounded memory.
//!
//! *Source*: RFC 4180. A field that begins with a quote ends with one, a quote inside it is written twice,
//! and it may hold delimiters and line ends. Elsewhere a quote is a character like any other. Lines end in
//! LF, CR LF or CR.
//!
//! *Why not the crate `csv`*: that crate accepts any bytes as some rows. It takes a quote that is never
//! closed for the rest of the file, and text behind a closing quote for a part of the field (the test
//! `readers::what_the_csv_crate_accepts_is_refused`), where a strict reader must name the line. Its record
//! grows with the row, so that a stream without line ends exhausts the memory; this one stops at the
//! [limits](super::limits) (the test `endless::a_csv_line_without_an_end_is_refused`). On well-formed text
//! both give the same fields (the test `readers::csv_agrees_with_the_csv_crate`).

use super::error::{At, FormatError, ReadProblem};
use super::limits::{LONGEST_FIELD, LONGEST_LINE, MOST_FIELDS};
use super::text::Text;
use memchr::memchr3_iter;
use std::io::{self, Read};
use std::ops::Range;

const BUFFER: usize = 1 << 17;
const QUOTE: u8 = b'"';

/// The rows of CSV, which are read one at a time into buffers that are kept.
///
/// ```
/// use lao_datasets::format::Records;
///
/// let text = b"name,note\nage,\"in years, not months\"\n";
/// let mut rows = Records::new(&text[..], b',');
/// while rows.read("notes.csv")? && rows.field(0) != b"age" {}
/// assert_eq!((rows.line(), rows.width(), rows.field(1)), (2, 2, &b"in years, not months"[..]));
///
/// let mut rows = Records::new(&b"name,note\nage,\"in years\n"[..], b',');
/// assert!(rows.read("notes.csv")?);
/// let refused = rows.read("notes.csv").unwrap_err().to_string();
/// assert!(refused.starts_with("notes.csv, line 2: "), "{refused}");
/// # Ok::<(), lao_datasets::format::FormatError>(())
/// ```
#[derive(Debug)]
pub struct Records<R> {
    input: Text<R>,
    delimiter: u8,
    buffer: Vec<u8>,
    /// `buffer[at..end]` is still to be split.
    at: usize,
    end: usize,
    /// The line of the next byte.
    next_line: u64,
    /// Whether the byte before the next one is a CR, whose LF does not begin another line.
    after_cr: bool,
    text: Vec<u8>,
    /// The place of each field in `text`.
    fields: Vec<Range<usize>>,
    /// The place in `text` at which the next field begins.
    start: usize,
    line: u64,
    /// The number of bytes that were split.
    offset: u64,
}

/// The place of the next byte in its row.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Before the first byte of a row.
    Row,
    /// Before the first byte of a field.
    Field,
    /// In a field without quotes.
    Plain,
    /// Between quotes.
    Quoted,
    /// Behind a quote that closes a field, unless another one follows.
    Closed,
}

impl<R: Read> Records<R> {
    /// Reads rows of fields that `delimiter` separates: a byte that is neither a quote nor a line end.
    pub fn new(input: R, delimiter: u8) -> Self {
        Self {
            input: Text::new(input),
            delimiter,
            buffer: vec![0; BUFFER],
            at: 0,
            end: 0,
            next_line: 1,
            after_cr: false,
            text: Vec::new(),
            fields: Vec::new(),
            start: 0,
            line: 1,
            offset: 0,
        }
    }

    /// Returns the number of fields of the row that was read last.
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// Returns field `j` of that row, without the quotes and blanks around it. Panics if there is none, as
    /// indexing does.
    pub fn field(&self, j: usize) -> &[u8] {
        self.text[self.fields[j].clone()].trim_ascii()
    }

    /// Returns all fields of that row.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.width()).map(|j| self.field(j))
    }

    /// Returns whether the row has a byte that no text has.
    pub(crate) fn holds_nul(&self) -> bool {
        self.text.contains(&0)
    }

    /// Returns the line on which that row begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of bytes up to the end of that row, without the LF of a CR LF and without a mark of
    /// UTF-8 at the beginning.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the next row that is not blank; false at the end. `name` is the stream's, for messages.
    ///
    /// # Errors
    /// When the stream cannot be read or is no text, a quote is not closed, text follows a closing quote, or
    /// a row exceeds the [limits](super::limits); the error names the line.
    pub fn read(&mut self, name: &str) -> Result<bool, FormatError> {
        // The number of bytes since the last row, which is limited.
        let mut passed = 0;
        loop {
            self.text.clear();
            self.fields.clear();
            self.start = 0;
            self.line = self.next_line;
            let found = self.split(&mut passed);
            let found = found.map_err(|stop| match stop {
                Stop::ReadProblem(problem) => FormatError::new(name, At::Line(self.line), problem),
                Stop::Io(e) => FormatError::io(name, At::Line(self.next_line), e),
            })?;
            let blank = self.width() == 1 && self.field(0).is_empty();
            if !(found && blank) {
                return Ok(found);
            }
        }
    }

    /// Splits one row off the stream; false at the end.
    fn split(&mut self, passed: &mut usize) -> Result<bool, Stop> {
        let mut place = Place::Row;
        loop {
            if self.at == self.end && !self.fill()? {
                let field = self.fields.len();
                return match place {
                    Place::Row => Ok(false),
                    Place::Quoted => Err(Stop::ReadProblem(ReadProblem::OpenQuote { field })),
                    _ => self.end_field().map(|()| true),
                };
            }
            if matches!(place, Place::Row | Place::Field) && self.split_plain(passed)? {
                place = Place::Field;
                continue;
            }
            let fresh = &self.buffer[self.at..self.end];
            // The text up to the next byte that has a meaning here.
            let plain = match place {
                Place::Closed => Some(0),
                Place::Row | Place::Field if fresh[0] == QUOTE => Some(0),
                Place::Quoted => fresh.iter().position(|b| [QUOTE, b'\n', b'\r'].contains(b)),
                _ => fresh.iter().position(|b| [self.delimiter, b'\n', b'\r'].contains(b)),
            };
            let plain = plain.unwrap_or(fresh.len());
            self.text.extend_from_slice(&fresh[..plain]);
            let byte = fresh.get(plain).copied();
            let taken = plain + usize::from(byte.is_some());
            self.take(taken, passed)?;
            self.check_field()?;
            if plain > 0 {
                self.after_cr = false;
                if matches!(place, Place::Row | Place::Field) {
                    place = Place::Plain;
                }
            }
            let Some(byte) = byte else { continue };
            let ends_line = matches!(byte, b'\n' | b'\r');
            if ends_line && !(byte == b'\n' && self.after_cr) {
                self.next_line += 1;
            }
            self.after_cr = byte == b'\r';
            place = match place {
                Place::Row if ends_line => {
                    self.line = self.next_line;
                    Place::Row
                }
                Place::Row | Place::Field if byte == QUOTE => Place::Quoted,
                Place::Quoted if byte == QUOTE => Place::Closed,
                Place::Closed if byte == QUOTE => {
                    self.text.push(QUOTE);
                    Place::Quoted
                }
                Place::Quoted => {
                    self.text.push(byte);
                    Place::Quoted
                }
                _ if byte == self.delimiter => {
                    self.end_field()?;
                    Place::Field
                }
                _ if ends_line => {
                    self.end_field()?;
                    return Ok(true);
                }
                _ if byte.is_ascii_whitespace() => Place::Closed,
                // Another byte is possible only behind a closing quote.
                _ => {
                    let (field, value) = (self.fields.len(), char::from(byte));
                    return Err(Stop::ReadProblem(ReadProblem::AfterQuote { field, value }));
                }
            };
        }
    }

    /// Splits off the fields without quotes that end with a delimiter, up to the first byte that means
    /// something else. Returns whether there was such a field. The next byte begins a field.
    fn split_plain(&mut self, passed: &mut usize) -> Result<bool, Stop> {
        let fresh = &self.buffer[self.at..self.end];
        let offset = self.text.len();
        let (mut taken, mut known) = (0, self.fields.len());
        for place in memchr3_iter(self.delimiter, b'\n', b'\r', fresh) {
            let goes_on = fresh[place] == self.delimiter && fresh[taken] != QUOTE;
            if !goes_on || known == MOST_FIELDS || place - taken > LONGEST_FIELD {
                break;
            }
            self.fields.push(offset + taken..offset + place);
            (taken, known) = (place + 1, known + 1);
        }
        self.text.extend_from_slice(&fresh[..taken]);
        self.start = self.text.len();
        self.take(taken, passed)?;
        self.after_cr &= taken == 0;
        Ok(taken > 0)
    }

    /// Counts bytes as split.
    fn take(&mut self, count: usize, passed: &mut usize) -> Result<(), Stop> {
        self.at += count;
        self.offset += count as u64;
        *passed += count;
        if *passed > LONGEST_LINE {
            return Err(Stop::ReadProblem(ReadProblem::LineTooLong { limit: LONGEST_LINE }));
        }
        Ok(())
    }

    fn end_field(&mut self) -> Result<(), Stop> {
        if self.fields.len() == MOST_FIELDS {
            return Err(Stop::ReadProblem(ReadProblem::TooManyFields { limit: MOST_FIELDS }));
        }
        self.fields.push(self.start..self.text.len());
        self.start = self.text.len();
        Ok(())
    }

    /// Refuses a field that has become too long.
    fn check_field(&self) -> Result<(), Stop> {
        if self.text.len() - self.start <= LONGEST_FIELD {
            return Ok(());
        }
        let (field, limit) = (self.fields.len(), LONGEST_FIELD);
        Err(Stop::ReadProblem(ReadProblem::FieldTooLong { field, limit }))
    }

    /// Reads on; false at the end of the stream.
    fn fill(&mut self) -> Result<bool, Stop> {
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(count) => {
                    (self.at, self.end) = (0, count);
                    return Ok(count > 0);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Stop::Io(e)),
            }
        }
    }
}

/// The reason why a row could not be split off.
enum Stop {
    ReadProblem(ReadProblem),
    Io(io::Error),
}
