//! Splits CSV into rows and fields, strictly and with bounded memory.
//!
//! *Source*: RFC 4180. A field that begins with a quote ends with one, a quote inside it is written twice,
//! and it may hold delimiters and line ends. Elsewhere a quote is a character like any other. Lines end in
//! LF, CR LF or CR.

use super::error::{At, FormatError, ReadProblem};
use super::limits::{LONGEST_FIELD, LONGEST_LINE, MOST_FIELDS};
use super::text::Text;
use std::io::{self, Read};

const BUFFER: usize = 1 << 17;
const QUOTE: u8 = b'"';

/// The rows of a stream, one at a time, in buffers that are kept.
pub(crate) struct Records<R> {
    input: Text<R>,
    delimiter: u8,
    buffer: Vec<u8>,
    /// `buffer[at..end]` is still to be split.
    at: usize,
    end: usize,
    /// The line on which the next byte stands.
    next_line: u64,
    /// Whether the byte before the next one is a CR, whose LF does not begin another line.
    after_cr: bool,
    text: Vec<u8>,
    /// Where each field ends in `text`.
    ends: Vec<usize>,
    line: u64,
}

/// Where in a row the next byte stands.
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
    pub(crate) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input: Text::new(input),
            delimiter,
            buffer: vec![0; BUFFER],
            at: 0,
            end: 0,
            next_line: 1,
            after_cr: false,
            text: Vec::new(),
            ends: Vec::new(),
            line: 1,
        }
    }

    /// Returns the number of fields of the row that was read last.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns field `j` of that row, without the quotes and blanks around it. Panics if there is none, as
    /// indexing does.
    pub(crate) fn field(&self, j: usize) -> &[u8] {
        let start = j.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text[start..self.ends[j]].trim_ascii()
    }

    /// Returns all fields of that row.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|j| self.field(j))
    }

    /// Tells whether the row holds a byte that no text has.
    pub(crate) fn holds_nul(&self) -> bool {
        self.text.contains(&0)
    }

    /// Returns the line on which that row begins.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Reads the next row that is not blank; false at the end. `name` is the stream's, for messages.
    pub(crate) fn read(&mut self, name: &str) -> Result<bool, FormatError> {
        // Bytes since the last row, which the limit is on.
        let mut passed = 0;
        loop {
            self.text.clear();
            self.ends.clear();
            self.line = self.next_line;
            let found = self.split(&mut passed);
            let found = found.map_err(|stop| match stop {
                Stop::ReadProblem(problem) => FormatError::new(name, At::Line(self.line), problem),
                Stop::Io(e) => FormatError::io(name, At::Line(self.next_line), e),
            })?;
            let blank = self.len() == 1 && self.field(0).is_empty();
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
                let field = self.ends.len();
                return match place {
                    Place::Row => Ok(false),
                    Place::Quoted => Err(Stop::ReadProblem(ReadProblem::OpenQuote { field })),
                    _ => self.end_field().map(|()| true),
                };
            }
            let fresh = &self.buffer[self.at..self.end];
            // Text up to the next byte that means something here.
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
            self.at += taken;
            *passed += taken;
            if *passed > LONGEST_LINE {
                return Err(Stop::ReadProblem(ReadProblem::LineTooLong { limit: LONGEST_LINE }));
            }
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
                // Only behind a closing quote does anything else come to be looked at.
                _ => {
                    let (field, value) = (self.ends.len(), char::from(byte));
                    return Err(Stop::ReadProblem(ReadProblem::AfterQuote { field, value }));
                }
            };
        }
    }

    fn end_field(&mut self) -> Result<(), Stop> {
        if self.ends.len() == MOST_FIELDS {
            return Err(Stop::ReadProblem(ReadProblem::TooManyFields { limit: MOST_FIELDS }));
        }
        self.ends.push(self.text.len());
        Ok(())
    }

    fn check_field(&self) -> Result<(), Stop> {
        let length = self.text.len() - self.ends.last().copied().unwrap_or(0);
        if length <= LONGEST_FIELD {
            return Ok(());
        }
        let (field, limit) = (self.ends.len(), LONGEST_FIELD);
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

/// Why a row could not be split off.
enum Stop {
    ReadProblem(ReadProblem),
    Io(io::Error),
}
