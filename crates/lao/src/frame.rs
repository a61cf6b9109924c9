//! Tables as people keep them: CSV with or without a header, words, gaps.

use crate::error::{Error, nearest};
use crate::examples::Examples;
use lao_datasets::format::{Opening, Records, open, open_reader};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

mod fields;
mod plain;
mod quoted;
mod summary;
mod words;

use fields::Fields;
pub use fields::{Header, Pick, ReadOptions, Reading};
pub(crate) use fields::{column_of_gap, number, separator_of};
use plain::{PART, Plain};
use quoted::{columns_of, first_word};
pub use summary::{ColumnKind, ColumnSummary};

/// The largest number of different words in a column that is used.
const MOST_WORDS: usize = 50;
/// A row without this word.
const NO_WORD: u32 = u32::MAX;

/// Returns the first of some names, for a message.
fn some_of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut some: Vec<String> = names.clone().take(12).map(str::to_owned).collect();
    if names.count() > some.len() {
        some.push("...".into());
    }
    some
}

/// A table with named columns of numbers or words, and gaps.
///
/// ```
/// let text = "age,smoker,pressure\n61,yes,140\n?,no,121\n47,no,118\n";
/// let frame = lao::Frame::parse(text.as_bytes(), "patients", &lao::ReadOptions::default())?;
/// assert_eq!((frame.rows(), frame.names().collect::<Vec<_>>()), (3, vec!["age", "smoker", "pressure"]));
/// let examples = frame.target("pressure")?;
/// assert_eq!(examples.names(), ["age", "smoker=yes"]);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frame {
    name: String,
    rows: usize,
    columns: Vec<Column>,
    hash: String,
    reading: Reading,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub name: String,
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// NaN where a number is missing.
    Numbers(Vec<f64>),
    /// The words in alphabetical order, and the place of each row's word among them.
    Words { words: Vec<String>, places: Vec<u32> },
    /// More different words than can be used, and the first of them.
    TooManyWords(Option<FirstWord>),
}

/// The first field of a column that is neither a number nor missing.
#[derive(Clone, Debug)]
pub(crate) struct FirstWord {
    pub line: u64,
    pub word: String,
}

impl Values {
    /// Returns the words, if the column has words.
    pub fn words(&self) -> Option<(&[String], &[u32])> {
        match self {
            Values::Words { words, places } => Some((words, places)),
            _ => None,
        }
    }
}

/// Reads a CSV file, which may be packed; `-` is standard input.
///
/// # Errors
/// When the file cannot be read, or a row has another number of fields than the first.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// // let table = "diabetes.csv.gz";
/// let frame = lao::read(table)?;
/// assert_eq!((frame.rows(), frame.names().count()), (442, 11));
/// # Ok::<(), lao::Error>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<Frame, Error> {
    read_with(path, &ReadOptions::default())
}

/// As [`read`], with options.
///
/// # Errors
/// As [`read`].
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// use lao::{Pick, ReadOptions};
///
/// // let table = "diabetes.csv.gz";
/// let some = Pick::Only(vec!["bmi".into(), "progression".into()]);
/// let frame = lao::read_with(table, &ReadOptions { columns: some, ..ReadOptions::default() })?;
/// assert_eq!(frame.names().collect::<Vec<_>>(), ["bmi", "progression"]);
/// # Ok::<(), lao::Error>(())
/// ```
pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Frame, Error> {
    let path = path.as_ref();
    let opening = Opening::default();
    let (name, parts) = if path == Path::new("-") {
        ("standard input".to_owned(), open_reader(std::io::stdin(), "standard input", &opening)?)
    } else {
        (path.display().to_string(), open(path, &opening)?)
    };
    let mut text = Vec::new();
    for part in parts {
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        part.reader().read_to_end(&mut text).map_err(failed)?;
    }
    Frame::parse(&text, &name, options)
}

impl Frame {
    /// Parses the text of a table, called `name` in messages.
    ///
    /// # Errors
    /// When there is no row, or a row has another number of fields than the first.
    pub fn parse(text: &[u8], name: &str, options: &ReadOptions) -> Result<Self, Error> {
        Frame::parse_parts(text, name, options, PART)
    }

    /// As [`Frame::parse`]; `part` is the least number of bytes that a thread parses at once.
    fn parse_parts(text: &[u8], name: &str, options: &ReadOptions, part: usize) -> Result<Self, Error> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let fail = |line, reason: String| Error::Table { file: name.to_owned(), line, reason };
        let separator = options.separator.unwrap_or_else(|| separator_of(text));
        if b"\"\r\n".contains(&separator) {
            let (value, allowed) =
                (format!("{:?}", char::from(separator)), "neither a quote nor a line end".into());
            return Err(Error::Choice { what: "separator", value, allowed });
        }
        let mut record = Records::new(text, separator);
        if !record.read(name)? {
            return Err(fail(1, "the table is empty; give a header and rows".into()));
        }
        let first: Vec<&[u8]> = record.fields().collect();
        let bare = Fields::all(separator, first.len());
        let numbers = first.iter().all(|field| bare.number(field).is_some() || bare.is_missing(0, field));
        let header = match options.header {
            Header::Auto => !numbers,
            Header::Yes => true,
            Header::No => false,
        };
        let start = if header { record.offset() as usize } else { 0 };
        let (before, rest) = text.split_at(start.min(text.len()));
        // In a table of one column, a line of blanks is no row, which needs a look at each.
        let plain = (first.len() > 1).then(|| Plain::new(rest, separator, part)).flatten();
        // A plain text has no byte of value 0.
        let suspect = if plain.is_some() { before } else { text };
        if let Some(at) = suspect.iter().position(|&byte| byte == 0) {
            let line = 1 + text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
            return Err(fail(
                line,
                "a byte of value 0: this is not a text; save the table as UTF-8 CSV".into(),
            ));
        }
        let names = if header {
            names(&first).map_err(|reason| fail(1, reason))?
        } else {
            (1..=first.len()).map(|c| format!("c{c}")).collect()
        };
        let skip = usize::from(header);
        let fields = Fields::new(options, &names, separator, name)?;
        let (hash, columns) = rayon::join(
            || Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect(),
            || match plain.and_then(|plain| plain.columns(&fields).ok()) {
                Some(columns) => Ok(columns),
                // There are quotes, or a row that this reading finds and names.
                None => columns_of(text, &fields, skip, name),
            },
        );
        let (rows, columns) = columns?;
        if rows == 0 {
            return Err(fail(2, "there are names but no rows".into()));
        }
        let column = |(place, mut values): (usize, Values)| {
            match &mut values {
                Values::Numbers(numbers) => fields.blank(place, numbers),
                Values::TooManyWords(first) => *first = first_word(text, &fields, skip, place),
                Values::Words { .. } => {}
            }
            Column { name: names[place].clone(), values }
        };
        let columns = fields.places().zip(columns).map(column).collect();
        let without = match &options.columns {
            Pick::Without(some) => some.clone(),
            _ => Vec::new(),
        };
        let reading = Reading { without, missing: options.missing.clone() };
        Ok(Frame { name: name.to_owned(), rows, columns, hash, reading })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the names of the columns, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Returns the name of the table in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the SHA-256 hash of the table's text, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns what is in each column.
    pub fn summary(&self) -> Vec<ColumnSummary<'_>> {
        self.columns.par_iter().map(ColumnSummary::of).collect()
    }

    /// Returns what was chosen when the table was read.
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    pub(crate) fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Returns a column by its name.
    ///
    /// # Errors
    /// [`Error::NoColumn`], which names a similar one.
    pub(crate) fn column(&self, wanted: &str) -> Result<&Column, Error> {
        self.columns.iter().find(|column| column.name == wanted).ok_or_else(|| {
            let near = nearest(wanted, self.names());
            let columns = some_of(self.names());
            Error::NoColumn { file: self.name.clone(), wanted: wanted.into(), near, columns }
        })
    }

    /// Makes examples of the rows: `target` is the label, all other columns are attributes. Of two classes
    /// the positive one is the greater number, or the later word in alphabetical order.
    ///
    /// # Errors
    /// When there is no such column, or it holds neither numbers nor two words.
    pub fn target(self, target: &str) -> Result<Examples, Error> {
        Examples::new(self, target, None)
    }

    /// As [`target`](Self::target), for a label of two classes, of which `positive` is the positive one.
    ///
    /// # Errors
    /// When there is no such column, or it does not hold two classes, or `positive` is none of them.
    pub fn target_class(self, target: &str, positive: &str) -> Result<Examples, Error> {
        Examples::new(self, target, Some(positive))
    }
}

fn trimmed(field: &[u8]) -> &[u8] {
    field.trim_ascii()
}

/// Returns the names of a header.
fn names(fields: &[&[u8]]) -> Result<Vec<String>, String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut names = Vec::new();
    for (c, field) in fields.iter().enumerate() {
        let name =
            std::str::from_utf8(field).map_err(|_| format!("the name of column {} is no UTF-8", c + 1))?;
        let name = if name.is_empty() { format!("c{}", c + 1) } else { name.to_owned() };
        if let Some(other) = seen.insert(name.clone(), c) {
            return Err(format!("columns {} and {} are both called `{name}`; rename one", other + 1, c + 1));
        }
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
