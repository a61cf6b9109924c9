//! Tables as people keep them: CSV with or without a header, words, gaps.

use crate::error::{Error, nearest};
use crate::examples::Examples;
use lao_datasets::format::{Opening, open, open_reader};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

mod fields;
mod plain;

use fields::Fields;
pub(crate) use fields::column_of_gap;
pub use fields::{Header, Pick, ReadOptions, Reading};
use plain::{PART, Plain};

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

/// A column in short.
///
/// ```
/// use lao::{ColumnKind, Frame, ReadOptions};
///
/// let text = b"age,smoker\n61,yes\n?,no\n47,no\n";
/// let frame = Frame::parse(text, "patients.csv", &ReadOptions::default())?;
/// let summary = frame.summary();
/// assert_eq!((summary[0].name, summary[0].missing), ("age", 1));
/// assert_eq!(summary[0].kind, ColumnKind::Numbers { low: 47.0, high: 61.0, mean: 54.0 });
/// # Ok::<(), lao::Error>(())
/// ```
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
///
/// ```
/// use lao::{ColumnKind, Frame, ReadOptions};
///
/// let frame = Frame::parse(b"smoker,age\nyes,61\nno,61\n", "patients.csv", &ReadOptions::default())?;
/// let summary = frame.summary();
/// assert_eq!(summary[0].kind, ColumnKind::Words(&["no".into(), "yes".into()]));
/// assert!(summary[1].kind.is_constant(), "nothing can be learned from it");
/// # Ok::<(), lao::Error>(())
/// ```
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
        Values::TooManyWords(_) => (0, ColumnKind::Text),
    };
    ColumnSummary { name: &column.name, missing, kind }
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
        let mut records = records(text, separator);
        let mut record = csv::ByteRecord::new();
        if !records.read_byte_record(&mut record).map_err(|error| unread(name, &error))? {
            return Err(fail(1, "the table is empty; give a header and rows".into()));
        }
        let first: Vec<&[u8]> = record.iter().map(trimmed).collect();
        let bare = Fields::all(separator, first.len());
        let numbers = first.iter().all(|field| bare.number(field).is_some() || bare.is_missing(0, field));
        let header = match options.header {
            Header::Auto => !numbers,
            Header::Yes => true,
            Header::No => false,
        };
        let start = if header { records.position().byte() as usize } else { 0 };
        let (before, rest) = text.split_at(start.min(text.len()));
        let plain = Plain::new(rest, separator, part);
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
        self.columns.par_iter().map(summary).collect()
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

/// Returns that a record cannot be read.
fn unread(name: &str, error: &csv::Error) -> Error {
    let line = error.position().map_or(0, csv::Position::line);
    Error::Table { file: name.to_owned(), line, reason: error.to_string() }
}

/// Returns the line in which a record begins. The record's own position may be that of the line ends before
/// it: of empty lines, or of the second half of `\r\n`.
pub(crate) fn line_of(text: &[u8], record: Option<&csv::Position>) -> u64 {
    let start = record.map_or(0, |place| place.byte() as usize);
    let (before, rest) = text.split_at(start.min(text.len()));
    let empty = rest.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r');
    1 + before.iter().chain(empty).filter(|&&byte| byte == b'\n').count() as u64
}

/// Returns the number of rows and the columns, which are read on one thread; `skip` records are not rows.
fn columns_of(text: &[u8], fields: &Fields, skip: usize, name: &str) -> Result<(usize, Vec<Values>), Error> {
    // The first reading finds numbers, and which columns have words instead.
    // A column is allocated once: a record needs a line, and lines are soon counted.
    let lines = text.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() + 1;
    let places: Vec<usize> = fields.places().collect();
    let mut columns: Vec<Option<Vec<f64>>> = places.iter().map(|_| Some(Vec::with_capacity(lines))).collect();
    let mut records = records(text, fields.separator);
    let mut record = csv::ByteRecord::new();
    let mut read = 0;
    while records.read_byte_record(&mut record).map_err(|error| unread(name, &error))? {
        read += 1;
        if read <= skip {
            continue;
        }
        if record.len() != fields.width() {
            let line = line_of(text, record.position());
            let (found, width) = (record.len(), fields.width());
            let reason = format!(
                "{found} fields, but the first line has {width}; quote fields that contain the separator"
            );
            return Err(Error::Table { file: name.to_owned(), line, reason });
        }
        for (&place, column) in places.iter().zip(&mut columns) {
            if let Some(numbers) = column {
                let field = record.get(place).map_or(&b""[..], trimmed);
                match fields.number(field) {
                    Some(value) => numbers.push(value),
                    None if fields.is_missing(place, field) => numbers.push(f64::NAN),
                    None => *column = None,
                }
            }
        }
    }
    let worded = worded(&places, &columns);
    let words = words_of(text, fields, skip, &worded);
    Ok((read - skip.min(read), merged(columns, words)))
}

/// Returns the places of the columns that have words.
fn worded(places: &[usize], columns: &[Option<Vec<f64>>]) -> Vec<usize> {
    places.iter().zip(columns).filter(|(_, column)| column.is_none()).map(|(&place, _)| place).collect()
}

/// Returns the first field of a column that is neither a number nor missing.
fn first_word(text: &[u8], fields: &Fields, skip: usize, column: usize) -> Option<FirstWord> {
    let mut records = records(text, fields.separator);
    let mut record = csv::ByteRecord::new();
    let mut read = 0;
    while records.read_byte_record(&mut record).ok()? {
        read += 1;
        let field = trimmed(record.get(column)?);
        if read > skip && fields.number(field).is_none() && !fields.is_missing(column, field) {
            let word = String::from_utf8_lossy(field).into_owned();
            return Some(FirstWord { line: line_of(text, record.position()), word });
        }
    }
    None
}

/// Returns all columns: those of numbers, and for each `None` the next of `words`.
fn merged(columns: Vec<Option<Vec<f64>>>, words: Vec<Option<Words>>) -> Vec<Values> {
    let many = Values::TooManyWords(None);
    let mut words = words.into_iter().map(|words| words.map_or(many.clone(), Words::sorted));
    let mut next = || words.next().unwrap_or(many.clone());
    columns.into_iter().map(|numbers| numbers.map_or_else(&mut next, Values::Numbers)).collect()
}

/// The words of a column.
#[derive(Clone, Default)]
struct Words {
    /// Each word with its place of first appearance.
    found: HashMap<Vec<u8>, u32>,
    /// The place of each row's word.
    places: Vec<u32>,
}

impl Words {
    /// Adds a row, whose field is `None` if it is missing; returns whether there are not too many words.
    fn add(&mut self, field: Option<&[u8]>) -> bool {
        let Some(field) = field else {
            self.places.push(NO_WORD);
            return true;
        };
        let fresh = self.found.len() as u32;
        let place = match self.found.get(field) {
            Some(&place) => place,
            None => *self.found.entry(field.to_vec()).or_insert(fresh),
        };
        self.places.push(place);
        self.found.len() <= MOST_WORDS
    }

    /// Adds the rows of `other`; returns whether there are not too many words.
    fn append(&mut self, other: Words) -> bool {
        let mut new = vec![0; other.found.len()];
        for (word, old) in other.found {
            let fresh = self.found.len() as u32;
            new[old as usize] = *self.found.entry(word).or_insert(fresh);
        }
        self.places.extend(other.places.into_iter().map(|old| *new.get(old as usize).unwrap_or(&NO_WORD)));
        self.found.len() <= MOST_WORDS
    }

    /// Returns the words in alphabetical order.
    fn sorted(self) -> Values {
        let mut words: Vec<(Vec<u8>, u32)> = self.found.into_iter().collect();
        words.sort_unstable();
        let mut new = vec![0; words.len()];
        (0..).zip(&words).for_each(|(place, (_, old))| new[*old as usize] = place);
        let places = self.places.into_iter();
        let places = places.map(|old| new.get(old as usize).copied().unwrap_or(NO_WORD)).collect();
        let words = words.into_iter().map(|(word, _)| String::from_utf8_lossy(&word).into_owned()).collect();
        Values::Words { words, places }
    }
}

/// Reads the columns that have words; `None` stands for too many of them.
fn words_of(text: &[u8], fields: &Fields, skip: usize, columns: &[usize]) -> Vec<Option<Words>> {
    let mut found = vec![Some(Words::default()); columns.len()];
    if columns.is_empty() {
        return found;
    }
    let mut records = records(text, fields.separator);
    let mut record = csv::ByteRecord::new();
    let mut row = 0;
    // The first reading has shown that there are no errors.
    while records.read_byte_record(&mut record).unwrap_or(false) {
        row += 1;
        if row <= skip {
            continue;
        }
        for (&c, words) in columns.iter().zip(&mut found) {
            let field = record.get(c).map_or(&b""[..], trimmed);
            let known = (!fields.is_missing(c, field)).then_some(field);
            if words.as_mut().is_some_and(|words| !words.add(known)) {
                *words = None;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A cell of the twin: a number, no value, or a word.
    type Cell = Result<Option<f64>, String>;

    /// Returns the columns as the `csv` crate alone reads them, row by row, or the place of a ragged row, or
    /// of the line ends before it.
    fn twin(text: &str, separator: u8, skip: usize) -> Result<Vec<Vec<Cell>>, usize> {
        let (mut columns, mut width) = (Vec::new(), None);
        for (row, record) in
            records(text.as_bytes(), separator).byte_records().map(Result::unwrap).enumerate()
        {
            let width = *width.get_or_insert(record.len());
            columns.resize(width, Vec::new());
            if row < skip {
                continue;
            }
            if record.len() != width {
                return Err(record.position().unwrap().byte() as usize);
            }
            for (field, column) in record.iter().zip(&mut columns) {
                let field = std::str::from_utf8(field).unwrap().trim_ascii();
                let numeric = !field.starts_with(char::is_alphabetic);
                let number = field.parse().ok().filter(|x: &f64| numeric && x.is_finite());
                let missing = fields::MISSING.contains(&field.as_bytes());
                column.push(if missing { Ok(None) } else { number.map(Some).ok_or(field.to_owned()) });
            }
        }
        Ok(columns)
    }

    /// Returns whether a column holds what the twin has read, to the bit.
    fn agree(values: &Values, cells: &[Cell]) -> bool {
        let mut words: Vec<&String> = cells.iter().filter_map(|cell| cell.as_ref().err()).collect();
        if words.is_empty() {
            let bits = |cell: &Cell| cell.as_ref().unwrap().unwrap_or(f64::NAN).to_bits();
            return matches!(values, Values::Numbers(numbers)
                if numbers.iter().map(|x| x.to_bits()).eq(cells.iter().map(bits)));
        }
        // In a column of words, numbers are words, too: only gaps and words are compared here.
        words.sort_unstable();
        words.dedup();
        match values {
            Values::Words { words: found, places } => {
                let word = |&place: &u32| found.get(place as usize);
                let same = |(word, cell): (Option<&String>, &Cell)| match cell {
                    Ok(None) => word.is_none(),
                    Ok(Some(number)) => word.is_some_and(|word| word.parse() == Ok(*number)),
                    Err(other) => word == Some(other),
                };
                places.len() == cells.len()
                    && found.is_sorted()
                    && words.iter().all(|word| found.contains(word))
                    && places.iter().map(word).zip(cells).all(same)
            }
            Values::TooManyWords(first) => {
                let first = first.as_ref().map(|first| &first.word);
                cells.len() > MOST_WORDS && first == cells.iter().find_map(|cell| cell.as_ref().err())
            }
            Values::Numbers(_) => false,
        }
    }

    fn check(text: &str, header: Header, separator: Option<u8>, part: usize) {
        let read = Frame::parse_parts(
            text.as_bytes(),
            "t",
            &ReadOptions { header, separator, ..ReadOptions::default() },
            part,
        );
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let separator = separator.unwrap_or_else(|| separator_of(body.as_bytes()));
        match read {
            Ok(frame) => {
                let named =
                    header == Header::Yes || frame.names().zip(1..).any(|(name, c)| name != format!("c{c}"));
                let cells = twin(body, separator, usize::from(named)).unwrap();
                assert_eq!((frame.columns.len(), frame.rows), (cells.len(), cells[0].len()));
                assert_eq!(frame.hash, format!("{:064x}", Digits(&Sha256::digest(body))));
                for (column, cells) in frame.columns.iter().zip(&cells) {
                    assert!(agree(&column.values, cells), "{:?} {cells:?}", column.values);
                }
            }
            Err(Error::Table { line, reason, .. }) if reason.contains("fields, but") => {
                let start = twin(body, separator, 0).unwrap_err();
                let row = body[start..].trim_start_matches(['\r', '\n']);
                let before = body.strip_suffix(row).unwrap();
                assert_eq!(line, 1 + before.matches('\n').count() as u64, "{body:?}");
            }
            Err(Error::Table { line, reason, .. }) if reason.contains("value 0") => {
                let before = body.split('\0').next().unwrap();
                assert_eq!(line, 1 + before.matches('\n').count() as u64);
            }
            Err(Error::Table { reason, .. }) => {
                let known = ["empty", "both called", "no rows"].iter().any(|part| reason.contains(part));
                assert!(known && !body.contains('\0'), "{reason}");
            }
            Err(error) => panic!("{error}"),
        }
    }

    struct Digits<'a>(&'a [u8]);

    impl std::fmt::LowerHex for Digits<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        }
    }

    /// Fields as they occur, and as they should not.
    fn fields() -> impl Strategy<Value = String> {
        const ODD: [&str; 27] = [
            "",
            "NA",
            "?",
            "nan",
            "inf",
            "1e5",
            "-1E-3",
            "1e999",
            "+7",
            "-",
            ".",
            "-.5",
            "5.",
            "1.2.3",
            " 4 ",
            "\t2",
            "a",
            "b c",
            "ä",
            "\"q\"",
            "\"x,\ny\"",
            "\"1\"",
            "1\"",
            "-0",
            "12345678901234567890",
            "9007199254740993",
            "0.1234567890123456789",
        ];
        prop_oneof![
            4 => (-999i32..999).prop_map(|x| x.to_string()),
            4 => (-9999i32..9999).prop_map(|x| (f64::from(x) / 128.0).to_string()),
            3 => proptest::sample::select(&ODD[..]).prop_map(str::to_owned),
        ]
    }

    /// Separators as they occur, and bytes that mean something else in a table.
    fn separators() -> impl Strategy<Value = Option<u8>> {
        prop_oneof![
            1 => Just(None),
            4 => proptest::sample::select(&b",;\t| :"[..]).prop_map(Some),
            2 => proptest::sample::select(&b"10-+.eEnNa?\"\r\n"[..]).prop_map(Some),
        ]
    }

    fn ends() -> impl Strategy<Value = &'static str> {
        proptest::sample::select(&["\n", "\n", "\r\n", "\r", "\n\n"][..])
    }

    /// Parts of a text, in any order.
    fn pieces() -> impl Strategy<Value = &'static str> {
        const PIECES: [&str; 15] =
            ["1", "2.5", ",", ",", "\n", "\n", "\r", "\"", " ", "a", "NA", "-", ";", "\0", "\u{feff}"];
        proptest::sample::select(&PIECES[..])
    }

    fn headers() -> impl Strategy<Value = Header> {
        proptest::sample::select(&[Header::Auto, Header::Yes, Header::No][..])
    }

    proptest! {
        #[test]
        fn tables_are_what_the_csv_crate_reads_whatever_the_parts(
            width in 1..5usize,
            fields in proptest::collection::vec(fields(), 0..240),
            ends in proptest::collection::vec(ends(), 60),
            (names, last, ragged) in (any::<bool>(), any::<bool>(), 0..400usize),
            header in headers(),
            separator in separators(),
            part in 0..200usize,
        ) {
            let between = separator.map_or(",".into(), |byte| char::from(byte).to_string());
            let mut text = String::new();
            if names {
                text = (0..width).map(|c| format!("n{c}")).collect::<Vec<_>>().join(&between) + "\n";
            }
            for (row, end) in fields.chunks_exact(width).zip(ends.iter().cycle()) {
                text += &row.join(&between);
                text += end;
            }
            if last { text.truncate(text.trim_end().len()) }
            // At one place there may be a separator too many.
            if text.is_char_boundary(ragged) { text.insert_str(ragged, &between) }
            check(&text, header, separator, part);
        }

        #[test]
        fn any_text_is_read_as_the_csv_crate_reads_it(
            pieces in proptest::collection::vec(pieces(), 0..40),
            header in headers(),
            part in 0..12usize,
        ) {
            check(&pieces.concat(), header, Some(b','), part);
        }

        #[test]
        fn short_decimals_have_the_bits_of_the_standard_library(
            text in "[-+]?[0-9]{0,21}([.][0-9]{0,21})?",
            double in any::<f64>(),
            digits in 0..=1u64 << 54,
            point in 0..20usize,
        ) {
            let mut decimal = digits.to_string();
            decimal.insert(decimal.len().saturating_sub(point), '.');
            let (long, scientific, short) =
                (double.to_string(), format!("{double:e}"), format!("{:.3}", double % 1e6));
            for text in [text, decimal, long, scientific, short] {
                let read = plain::value(text.as_bytes());
                let told = text.parse().ok().filter(|x: &f64| x.is_finite());
                prop_assert_eq!(read.map(f64::to_bits), told.map(f64::to_bits), "{}", text);
            }
        }
    }

    #[test]
    fn a_separator_that_a_number_contains_separates_numbers() {
        for separator in *b"0123456789+-.eE" {
            let [one, two] = if b"56".contains(&separator) { ["2", "3"] } else { ["5", "6"] };
            let row = format!("{one}{}{two}\n", char::from(separator));
            check(&row.repeat(3), Header::No, Some(separator), 0);
            let options =
                ReadOptions { header: Header::No, separator: Some(separator), ..ReadOptions::default() };
            let frame = Frame::parse(row.as_bytes(), "t", &options).unwrap();
            assert_eq!(frame.columns.len(), 2, "{row}");
            let ragged = Frame::parse(format!("{one}\n{row}").as_bytes(), "t", &options);
            assert!(matches!(ragged, Err(Error::Table { line: 2, .. })), "{row}");
        }
    }

    #[test]
    fn empty_lines_count_as_lines() {
        for (text, ragged) in
            [("a,b\n1,2\n\n\n3\n", 5), ("a,b\r\n\r\n1,2\r\n3,4,5\r\n", 4), ("a,b\n\"1\n\n\",2\n3\n", 5)]
        {
            let error = Frame::parse(text.as_bytes(), "t", &ReadOptions::default()).unwrap_err();
            assert!(matches!(error, Error::Table { line, .. } if line == ragged), "{error}");
        }
    }

    #[test]
    fn a_word_late_in_the_table_makes_a_column_of_words_and_many_words_none() {
        let mut text = String::from("a,b,c\n");
        (0..5000).for_each(|i| text += &format!("{i},{},{}\n", i % 7, if i < 4990 { "2" } else { "x" }));
        let frame = Frame::parse_parts(text.as_bytes(), "t", &ReadOptions::default(), 0).unwrap();
        let [Values::Numbers(a), Values::Numbers(_), Values::Words { words, places }] =
            [0, 1, 2].map(|c| &frame.columns[c].values)
        else {
            panic!("{frame:?}")
        };
        assert_eq!((a[4321], &words[..]), (4321.0, &["2".to_owned(), "x".to_owned()][..]));
        assert_eq!(places.iter().sum::<u32>(), 10);
        let text = text.replace('\n', "x\n");
        let frame = Frame::parse_parts(text.replace(",2x", ",2").as_bytes(), "t", &ReadOptions::default(), 0);
        assert!(matches!(frame.unwrap().columns[0].values, Values::Numbers(_)));
        let text: String = (0..5000).map(|i| format!("w{i},1\n")).collect();
        let frame = Frame::parse_parts(text.as_bytes(), "t", &ReadOptions::default(), 0).unwrap();
        let Values::TooManyWords(Some(first)) = &frame.columns[0].values else { panic!("{frame:?}") };
        assert_eq!((first.line, &first.word[..]), (2, "w1"), "the first line has the names");
    }
}
