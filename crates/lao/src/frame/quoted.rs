//! Tables with quotes, read on one thread.

use super::words::{Numbers, Read, Words, merged, worded};
use super::{Fields, FirstWord};
use crate::error::Error;
use lao_datasets::format::Records;

/// Returns the number of rows and the columns; `skip` records are not rows.
pub(super) fn columns_of(
    text: &[u8],
    fields: &Fields,
    skip: usize,
    name: &str,
) -> Result<(usize, Vec<Read>), Error> {
    // The first reading finds numbers, and which columns have words instead.
    // A column is allocated once: a record needs a line, and lines are soon counted.
    let lines = text.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() + 1;
    let places: Vec<usize> = fields.places().collect();
    let empty = || Numbers { values: Vec::with_capacity(lines), odd: 0 };
    let mut columns: Vec<Numbers> = places.iter().map(|_| empty()).collect();
    let mut record = Records::new(text, fields.separator);
    let mut read = 0;
    while record.read(name)? {
        read += 1;
        if read <= skip {
            continue;
        }
        if record.width() != fields.width() {
            let (line, found, width) = (record.line(), record.width(), fields.width());
            let reason = format!(
                "{found} fields, but the first line has {width}; quote fields that contain the separator"
            );
            return Err(Error::Table { file: name.to_owned(), line, reason });
        }
        for (&place, column) in places.iter().zip(&mut columns) {
            let field = record.field(place);
            let value = fields.number_in(place, field);
            column.odd += usize::from(value.is_none() && !fields.is_missing(place, field));
            column.values.push(value.unwrap_or(f64::NAN));
        }
    }
    let worded = worded(fields, &columns);
    let words = words_of(text, fields, skip, &worded);
    Ok((read - skip.min(read), merged(fields, columns, &worded, words)))
}

/// Returns the first field of a column that is neither a number nor missing.
pub(super) fn first_word(text: &[u8], fields: &Fields, skip: usize, column: usize) -> Option<FirstWord> {
    let mut record = Records::new(text, fields.separator);
    let mut read = 0;
    while record.read("").ok()? {
        read += 1;
        if record.width() <= column {
            return None;
        }
        let field = record.field(column);
        if read > skip && fields.number_in(column, field).is_none() && !fields.is_missing(column, field) {
            let word = String::from_utf8_lossy(field).into_owned();
            return Some(FirstWord { at: format!("line {}", record.line()), word });
        }
    }
    None
}

/// Reads the columns that have words; `None` stands for too many of them.
fn words_of(text: &[u8], fields: &Fields, skip: usize, columns: &[usize]) -> Vec<Option<Words>> {
    let mut found: Vec<Option<Words>> =
        columns.iter().map(|&c| Some(Words::at_most(fields.most_words(c)))).collect();
    if columns.is_empty() {
        return found;
    }
    let mut record = Records::new(text, fields.separator);
    let mut row = 0;
    // The first reading has shown that there are no errors.
    while record.read("").unwrap_or(false) {
        row += 1;
        if row <= skip {
            continue;
        }
        for (&c, words) in columns.iter().zip(&mut found) {
            let field = record.field(c);
            let missing = fields.is_missing(c, field);
            if words.as_mut().is_some_and(|words| !words.add(field, missing)) {
                *words = None;
            }
        }
    }
    found
}
