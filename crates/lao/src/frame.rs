//! Tables as people keep them: CSV with or without a header, words, gaps.

use crate::error::{Error, nearest};
use crate::examples::Examples;
use lao_datasets::format::{Opening, open, open_reader};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// What stands for a missing value.
const MISSING: [&[u8]; 10] = [b"", b"NA", b"N/A", b"na", b"nan", b"NaN", b"?", b"null", b"NULL", b"None"];
/// The largest number of different words in a column that is used.
const MOST_WORDS: usize = 50;
/// A row without this word.
const NO_WORD: u32 = u32::MAX;

/// Whether the first line of a table holds names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does, unless all its fields are numbers.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not; columns are called `c1`, `c2`, ...
    No,
}

/// How a table is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Whether the first line holds names.
    pub header: Header,
    /// What separates fields; `None` is a comma, a semicolon or a tabulator, whichever the first line has
    /// most of.
    pub separator: Option<u8>,
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
    /// More different words than can be used.
    TooManyWords,
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

/// A column in short.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSummary<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number of rows without a value.
    pub missing: usize,
    /// What it holds.
    pub kind: ColumnKind<'a>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnKind<'a> {
    /// Numbers.
    Numbers {
        /// The smallest one; infinite if there is none.
        low: f64,
        /// The largest one.
        high: f64,
        /// Their mean.
        mean: f64,
    },
    /// Words, in alphabetical order.
    Words(&'a [String]),
    /// More different words than can be used.
    Text,
}

impl ColumnKind<'_> {
    /// Returns whether there are fewer than two different values, so that nothing can be learned from them.
    pub fn is_constant(&self) -> bool {
        match self {
            ColumnKind::Numbers { low, high, .. } => low >= high,
            ColumnKind::Words(words) => words.len() < 2,
            ColumnKind::Text => false,
        }
    }
}

fn summary(column: &Column) -> ColumnSummary<'_> {
    let (missing, kind) = match &column.values {
        Values::Numbers(numbers) => {
            let (mut known, mut low, mut high, mut mean) = (0usize, f64::INFINITY, f64::NEG_INFINITY, 0.0);
            for &x in numbers.iter().filter(|x| !x.is_nan()) {
                known += 1;
                mean += (x - mean) / known as f64;
                (low, high) = (low.min(x), high.max(x));
            }
            (numbers.len() - known, ColumnKind::Numbers { low, high, mean })
        }
        Values::Words { words, places } => {
            let missing = places.iter().filter(|&&place| place as usize >= words.len()).count();
            (missing, ColumnKind::Words(words))
        }
        Values::TooManyWords => (0, ColumnKind::Text),
    };
    ColumnSummary { name: &column.name, missing, kind }
}

/// Reads a CSV file, which may be packed; `-` is standard input.
///
/// # Errors
/// When the file cannot be read, or a row has another number of fields than the first.
pub fn read(path: impl AsRef<Path>) -> Result<Frame, Error> {
    read_with(path, &ReadOptions::default())
}

/// As [`read`], with options.
///
/// # Errors
/// As [`read`].
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
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let fail = |line, reason: String| Error::Table { file: name.to_owned(), line, reason };
        if let Some(at) = text.iter().position(|&byte| byte == 0) {
            let line = 1 + text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
            return Err(fail(
                line,
                "a byte of value 0: this is not a text; save the table as UTF-8 CSV".into(),
            ));
        }
        let separator = options.separator.unwrap_or_else(|| separator_of(text));
        let mut records = records(text, separator);
        let mut record = csv::ByteRecord::new();
        let mut read = |record: &mut csv::ByteRecord| -> Result<bool, Error> {
            let told = records.read_byte_record(record);
            told.map_err(|error| fail(error.position().map_or(0, csv::Position::line), error.to_string()))
        };
        if !read(&mut record)? {
            return Err(fail(1, "the table is empty; give a header and rows".into()));
        }
        let width = record.len();
        let first: Vec<&[u8]> = record.iter().map(trimmed).collect();
        let numbers = first.iter().all(|field| number(field).is_some() || is_missing(field));
        let header = match options.header {
            Header::Auto => !numbers,
            Header::Yes => true,
            Header::No => false,
        };
        let names = if header {
            names(&first).map_err(|reason| fail(1, reason))?
        } else {
            (1..=width).map(|c| format!("c{c}")).collect()
        };

        // The first reading finds numbers, and which columns have words instead.
        // A column is allocated once: a record needs a line, and lines are soon counted.
        let lines = text.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let mut columns: Vec<Option<Vec<f64>>> =
            (0..width).map(|_| Some(Vec::with_capacity(lines))).collect();
        let mut rows = 0;
        let mut more = !header || read(&mut record)?;
        while more {
            if record.len() != width {
                let line = record.position().map_or(0, csv::Position::line);
                let found = record.len();
                return Err(fail(
                    line,
                    format!(
                        "{found} fields, but the first line has {width}; quote fields that contain the \
                         separator"
                    ),
                ));
            }
            for (field, column) in record.iter().zip(&mut columns) {
                if let Some(numbers) = column {
                    let field = trimmed(field);
                    match number(field) {
                        Some(value) => numbers.push(value),
                        None if is_missing(field) => numbers.push(f64::NAN),
                        None => *column = None,
                    }
                }
            }
            rows += 1;
            more = read(&mut record)?;
        }
        if rows == 0 {
            return Err(fail(2, "there are names but no rows".into()));
        }
        let worded: Vec<usize> = (0..width).filter(|&c| columns[c].is_none()).collect();
        let mut words = words_of(text, separator, usize::from(header), &worded).into_iter();
        let columns = columns.into_iter().zip(names).map(|(numbers, name)| {
            let values =
                numbers.map_or_else(|| words.next().unwrap_or(Values::TooManyWords), Values::Numbers);
            Column { name, values }
        });
        let hash = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Frame { name: name.to_owned(), rows, columns: columns.collect(), hash })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the names of the columns, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
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
        self.columns.iter().map(summary).collect()
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
            let mut columns: Vec<String> = self.names().take(12).map(str::to_owned).collect();
            if self.columns.len() > columns.len() {
                columns.push("...".into());
            }
            let near = nearest(wanted, self.names());
            Error::NoColumn { file: self.name.clone(), wanted: wanted.into(), near, columns }
        })
    }

    /// Makes examples of the rows: `target` is the label, all other columns are attributes.
    ///
    /// # Errors
    /// When there is no such column, or it holds neither numbers nor two words.
    pub fn target(self, target: &str) -> Result<Examples, Error> {
        Examples::new(self, target)
    }
}

/// Returns a reader of the records of a text.
fn records(text: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(text)
}

/// Returns the separator that the first line has most of.
fn separator_of(text: &[u8]) -> u8 {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}

fn trimmed(field: &[u8]) -> &[u8] {
    field.trim_ascii()
}

pub(crate) fn is_missing(field: &[u8]) -> bool {
    MISSING.contains(&field)
}

/// Returns a finite number.
fn number(field: &[u8]) -> Option<f64> {
    let begins = field.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
    let value: f64 = begins.then(|| std::str::from_utf8(field).ok()?.parse().ok()).flatten()?;
    value.is_finite().then_some(value)
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

/// The words of a column, each with its place of first appearance, and the place of each row's word.
type Words = (HashMap<Vec<u8>, u32>, Vec<u32>);

/// Reads the columns that have words.
fn words_of(text: &[u8], separator: u8, skip: usize, columns: &[usize]) -> Vec<Values> {
    if columns.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Option<Words>> = vec![Some(Default::default()); columns.len()];
    let mut records = records(text, separator);
    let mut record = csv::ByteRecord::new();
    let mut row = 0;
    // The first reading has shown that there are no errors.
    while records.read_byte_record(&mut record).unwrap_or(false) {
        row += 1;
        if row <= skip {
            continue;
        }
        for (&c, column) in columns.iter().zip(&mut found) {
            let Some((words, places)) = column else { continue };
            let field = record.get(c).map_or(&b""[..], trimmed);
            if is_missing(field) {
                places.push(NO_WORD);
                continue;
            }
            let fresh = words.len() as u32;
            let place = match words.get(field) {
                Some(&place) => place,
                None => *words.entry(field.to_vec()).or_insert(fresh),
            };
            places.push(place);
            if words.len() > MOST_WORDS {
                *column = None;
            }
        }
    }
    let sorted = |(words, places): Words| {
        let mut words: Vec<(Vec<u8>, u32)> = words.into_iter().collect();
        words.sort_unstable();
        let mut new = vec![0; words.len()];
        (0..).zip(&words).for_each(|(place, (_, old))| new[*old as usize] = place);
        let places =
            places.into_iter().map(|old| new.get(old as usize).copied().unwrap_or(NO_WORD)).collect();
        let words = words.into_iter().map(|(word, _)| String::from_utf8_lossy(&word).into_owned()).collect();
        Values::Words { words, places }
    };
    found.into_iter().map(|column| column.map_or(Values::TooManyWords, sorted)).collect()
}
