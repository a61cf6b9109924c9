//! Tables without quotes: their text is cut at line ends, and the parts are parsed on several threads.
//!
//! What is read equals what [`quoted`](super::quoted) reads on one thread, for any number of threads and any
//! cut: without quotes, each line end closes a record, empty lines are no records, and each separator closes
//! a field. Departures for speed, with numbers repeated at the code:
//! 1. The records of each part are counted first, so that each part knows its rows and writes into its own
//!    pieces of the columns, which are allocated once.
//! 2. Decimals of few digits need one exact division instead of the full algorithm, and nobody looks for the
//!    end of their field beforehand.
//! 3. A few rows are parsed into a block in row order, and the block is then copied column by column: the
//!    pieces of the columns lie far apart, and often compete for the same places of the cache.

use super::words::{Numbers, Read, Words, merged, worded};
use super::{Fields, trimmed};
use lao_datasets::format::scan_number;
use rayon::prelude::*;

/// The least number of bytes in a part; fewer are not worth a thread.
pub(super) const PART: usize = 1 << 18;
/// The largest number of parts: each holds a piece of each column.
const MOST_PARTS: usize = 32;
/// The number of rows in a block.
const BLOCK: usize = 16;

/// The text of rows without quotes.
pub(super) struct Plain<'a> {
    parts: Vec<Part<'a>>,
}

/// Whole lines of a text, and how many of them are rows.
struct Part<'a> {
    text: &'a [u8],
    rows: usize,
}

/// A row that has too few or too many fields.
pub(super) struct Ragged;

impl<'a> Plain<'a> {
    /// Cuts a text into parts of about `size` bytes or more; returns `None` if the text is not plain, because
    /// there are quotes, bytes of value 0, a mark of UTF-8, or because the separator is one that a number, a
    /// quote or a line end may contain.
    pub fn new(text: &'a [u8], separator: u8, size: usize) -> Option<Self> {
        // None of these is in a number, quotes a field, or ends a line.
        if !b",;\t| :".contains(&separator) || text.starts_with(b"\xef\xbb\xbf") {
            return None;
        }
        let parts = cut(text, size.max(text.len() / MOST_PARTS)).into_par_iter();
        let parts: Option<_> = parts.map(|text| Some(Part { text, rows: count(text)? })).collect();
        Some(Plain { parts: parts? })
    }

    /// Returns the number of rows, and the columns that are read.
    pub fn columns(&self, fields: &Fields) -> Result<(usize, Vec<Read>), Ragged> {
        let columns = self.numbers(fields)?;
        let worded = worded(fields, &columns);
        let words = self.words(fields, &worded);
        Ok((self.rows(), merged(fields, columns, &worded, words)))
    }

    /// Returns the number of rows.
    fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows).sum()
    }

    /// Returns the columns that are read, as numbers.
    fn numbers(&self, fields: &Fields) -> Result<Vec<Numbers>, Ragged> {
        let width = fields.places().count();
        // Zeros that the system gives cost no memory before they are overwritten.
        let mut columns: Vec<Vec<f64>> = (0..width).map(|_| vec![0.0; self.rows()]).collect();
        let mut pieces: Vec<Vec<&mut [f64]>> = self.parts.iter().map(|_| Vec::with_capacity(width)).collect();
        for column in &mut columns {
            let mut rest = &mut column[..];
            for (part, pieces) in self.parts.iter().zip(&mut pieces) {
                let (piece, others) = rest.split_at_mut(part.rows);
                pieces.push(piece);
                rest = others;
            }
        }
        let parts = self.parts.par_iter().zip(pieces);
        let odd = parts.map(|(part, pieces)| part.numbers(fields, pieces));
        let odd = odd.try_reduce(
            || vec![0; width],
            |mut one, two| {
                one.iter_mut().zip(two).for_each(|(one, two)| *one += two);
                Ok(one)
            },
        )?;
        Ok(columns.into_iter().zip(odd).map(|(values, odd)| Numbers { values, odd }).collect())
    }

    /// Returns the words of some columns, given by their places in ascending order; `None` stands for too
    /// many words.
    fn words(&self, fields: &Fields, columns: &[usize]) -> Vec<Option<Words>> {
        let mut all = empty(fields, columns);
        if columns.is_empty() {
            return all;
        }
        let parts: Vec<_> = self.parts.par_iter().map(|part| part.words(fields, columns)).collect();
        for part in parts {
            for (all, found) in all.iter_mut().zip(part) {
                if !all.as_mut().zip(found).is_some_and(|(all, found)| all.append(found)) {
                    *all = None;
                }
            }
        }
        all
    }
}

impl Part<'_> {
    /// Writes the rows into their pieces of the columns; returns how many fields of each column are neither
    /// numbers nor missing.
    fn numbers(&self, fields: &Fields, mut pieces: Vec<&mut [f64]>) -> Result<Vec<usize>, Ragged> {
        let (text, width, separator) = (self.text, pieces.len(), fields.separator);
        let mut odd = vec![0; width];
        let mut block = Vec::with_capacity(width * BLOCK);
        let (mut at, mut row) = (0, 0);
        while row < self.rows {
            // 3.
            let rows = BLOCK.min(self.rows - row);
            for _ in 0..rows {
                while is_end(byte(text, at)) && at < text.len() {
                    at += 1;
                }
                let mut odd = odd.iter_mut();
                for (c, wanted) in fields.wanted.iter().enumerate() {
                    let end = match wanted.then(|| odd.next()).flatten() {
                        Some(odd) => {
                            let (value, end) = field(text, at, c, fields, odd);
                            block.push(value);
                            end
                        }
                        None => end_of_field(text, at, separator),
                    };
                    if (byte(text, end) == separator) != (c + 1 < fields.width()) {
                        return Err(Ragged);
                    }
                    at = end + 1;
                }
            }
            for (c, piece) in pieces.iter_mut().enumerate() {
                let values = block.iter().skip(c).step_by(width);
                piece[row..row + rows].iter_mut().zip(values).for_each(|(to, from)| *to = *from);
            }
            block.clear();
            row += rows;
        }
        Ok(odd)
    }

    /// Returns the words of some columns.
    fn words(&self, fields: &Fields, columns: &[usize]) -> Vec<Option<Words>> {
        let mut all = empty(fields, columns);
        let lines = self.text.split(|&byte| is_end(byte)).filter(|line| !line.is_empty());
        for line in lines {
            let mut cells = line.split(|&byte| byte == fields.separator);
            let mut passed = 0;
            for (&c, words) in columns.iter().zip(&mut all) {
                let field = cells.nth(c - passed).map_or(&b""[..], trimmed);
                passed = c + 1;
                let missing = fields.is_missing(c, field);
                if words.as_mut().is_some_and(|words| !words.add(field, missing)) {
                    *words = None;
                }
            }
        }
        all
    }
}

/// Returns columns of words without rows.
fn empty(fields: &Fields, columns: &[usize]) -> Vec<Option<Words>> {
    columns.iter().map(|&c| Some(Words::at_most(fields.most_words(c)))).collect()
}

/// Returns the value of the field that begins at a place, NaN if it is missing or a word, and the place where
/// the field ends; counts the words.
#[inline]
fn field(text: &[u8], start: usize, column: usize, fields: &Fields, odd: &mut usize) -> (f64, usize) {
    let (value, length) = text.get(start..).map_or((None, 0), scan_number);
    // 2. `scan_number` also reads a sign + and an exponent, as the standard library does.
    let end = start + length;
    match value {
        Some(value) if byte(text, end) == fields.separator || is_end(byte(text, end)) => (value, end),
        _ => {
            let end = end_of_field(text, end, fields.separator);
            let field = text.get(start..end).map_or(&b""[..], trimmed);
            let value = fields.number_in(column, field);
            *odd += usize::from(value.is_none() && !fields.is_missing(column, field));
            (value.unwrap_or(f64::NAN), end)
        }
    }
}

/// Returns the place at which the field that contains a place ends.
#[inline]
fn end_of_field(text: &[u8], within: usize, separator: u8) -> usize {
    let closed = |&end: &usize| byte(text, end) == separator || is_end(byte(text, end));
    (within..).find(closed).unwrap_or(text.len())
}

/// Returns the byte at a place; the text is followed by a line end.
#[inline]
fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(b'\n')
}

#[inline]
fn is_end(byte: u8) -> bool {
    (byte == b'\n') | (byte == b'\r')
}

/// Cuts a text behind line ends into parts of at least `size` bytes, but for the last one.
fn cut(text: &[u8], size: usize) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(end) = rest.iter().skip(size).position(|&byte| is_end(byte)) {
        let (part, others) = rest.split_at(size + end + 1);
        parts.push(part);
        rest = others;
    }
    parts.push(rest);
    parts
}

/// Returns the number of lines that are not empty, or `None` if there is a quote or a byte of value 0.
fn count(text: &[u8]) -> Option<usize> {
    let is_odd = |byte| (byte == b'"') | (byte == 0);
    let Some((&first, others)) = text.split_first() else { return Some(0) };
    let (mut odd, mut rows) = (is_odd(first), usize::from(!is_end(first)));
    // 1. A row begins where a line end is followed by something else. Sums of a byte are quick, and the sum
    // of 128 of them needs no more.
    for (here, before) in others.chunks(128).zip(text.chunks(128)) {
        let mut begins = 0;
        for (&here, &before) in here.iter().zip(before) {
            begins += u8::from(is_end(before) & !is_end(here));
            odd |= is_odd(here);
        }
        rows += usize::from(begins);
    }
    (!odd).then_some(rows)
}

/// Returns the value of a text that is one field, as a part reads it.
#[cfg(test)]
pub(super) fn value(text: &[u8]) -> Option<f64> {
    let mut odd = 0;
    let (value, end) = field(text, 0, 0, &Fields::all(b',', 1), &mut odd);
    (end == text.len() && !value.is_nan()).then_some(value)
}
