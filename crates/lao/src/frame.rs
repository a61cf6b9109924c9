//! Tables as people keep them: CSV with or without a header, words, gaps.

use crate::error::Error;
use crate::examples::Examples;
use lao_datasets::format::{Opening, Records, open, open_reader};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

mod fields;
mod notes;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod plain;
mod quoted;
mod summary;
mod text;
mod words;

pub(crate) use fields::Fields;
use fields::no_column;
pub use fields::{Header, Pick, ReadOptions, Reading, is_missing};
pub(crate) use fields::{column_of_gap, marks, number, separator_of};
use plain::{PART, Plain};
use quoted::{columns_of, first_word};
pub use summary::{ColumnKind, ColumnSummary};
use text::Text;
use words::Read;

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
    /// The names of all columns of the file.
    header: Vec<String>,
    notes: Vec<String>,
}

/// What a table is made of, once its fields are read.
struct Made {
    name: String,
    hash: String,
    /// The names of all columns of the file.
    names: Vec<String>,
    rows: usize,
    /// Those that are read.
    columns: Vec<Read>,
    notes: Vec<String>,
    is_arff: bool,
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
    /// Neither numbers nor words, and why none are read.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet files have such columns"))]
    Others(&'static str),
}

/// The first field of a column that is neither a number nor missing.
#[derive(Clone, Debug)]
pub(crate) struct FirstWord {
    /// Such as `line 3`.
    pub at: String,
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

    /// Returns the word of each row, if the column has words.
    #[cfg(feature = "parquet")]
    pub fn texts(&self) -> Vec<Option<&str>> {
        let (words, places) = self.words().unwrap_or_default();
        places.iter().map(|place| words.get(*place as usize).map(String::as_str)).collect()
    }
}

/// Reads a CSV file, which may be packed, or a Parquet file, or a folder of them; `-` is standard input.
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
    #[cfg(feature = "parquet")]
    if let Some(files) = parquet::open(path)? {
        return Frame::of_parquet(&files, options);
    }
    let opening = Opening { member: options.member.clone(), ..Opening::default() };
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
        let fail = |line, reason: String| Error::Table { file: name.to_owned(), line, reason };
        let original = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let decoded = text::decoded(text, options.encoding.as_deref(), name)?;
        let Text { bytes, separator: named, names: of_file, is_arff, mut notes } =
            text::opened(decoded, name)?;
        let guessed = named.is_none() && options.separator.is_none();
        let separator = options.separator.or(named).unwrap_or_else(|| separator_of(&bytes));
        if b"\"\r\n".contains(&separator) {
            let (value, allowed) =
                (format!("{:?}", char::from(separator)), "neither a quote nor a line end".into());
            return Err(Error::Choice { what: "separator", value, allowed });
        }
        let bytes = one_column(bytes, separator, options.missing_only);
        let text = &bytes[..];
        let mut record = Records::new(text, separator);
        if !record.read(name)? {
            return Err(fail(1, "the table is empty; give a header and rows".into()));
        }
        let first: Vec<Vec<u8>> = record.fields().map(<[u8]>::to_vec).collect();
        let bare = Fields::all(separator, first.len());
        let numbers = first.iter().all(|field| bare.number(field).is_some() || bare.is_missing(0, field));
        let given = if options.names.is_empty() { of_file } else { options.names.clone() };
        let second = second_row(&text[(record.offset() as usize).min(text.len())..], separator);
        let is_quoted = text.trim_ascii_start().starts_with(b"\"\"");
        let has_corner = numbers && has_corner(&first, &second, &bare, is_quoted);
        let header = match options.header {
            Header::Auto => given.is_empty() && (!numbers || has_corner),
            Header::Yes => true,
            Header::No => false,
        };
        if !header && given.is_empty() && options.header == Header::Auto {
            notes.push(format!(
                "the first line has no names but numbers, so that it is a row, and columns are called c1 \
                 to c{} (--header yes takes it as names, --names gives others)",
                first.len()
            ));
        }
        if header && has_corner && options.header == Header::Auto {
            notes.push(
                "the first line lacks its first field, so that its numbers are names (--header no takes it \
                 as a row)"
                    .into(),
            );
        }
        let is_number = |name: &&Vec<u8>| !is_empty(name) && bare.number(name).is_some();
        if header
            && !numbers
            && options.header == Header::Auto
            && let Some(name) = first.iter().find(is_number)
        {
            notes.push(format!(
                "the first line is taken as names, though `{}` is a number (--header no takes it as a row)",
                String::from_utf8_lossy(name)
            ));
        }
        if guessed && separator != b',' && first.len() > 1 {
            let what =
                if separator == b'\t' { "tabulators".into() } else { format!("`{}`", char::from(separator)) };
            let comma = if separator == b';' { ", and a comma may begin decimals" } else { "" };
            notes.push(format!("fields are separated by {what}{comma}"));
        }
        let start = if header { record.offset() as usize } else { 0 };
        let (before, rest) = text.split_at(start.min(text.len()));
        // In a table of one column, a line of blanks is no row, which needs a look at each.
        let plain = (first.len() > 1).then(|| Plain::new(rest, separator, part)).flatten();
        // A plain text has no byte of value 0.
        let suspect = if plain.is_some() { before } else { text };
        if let Some(at) = suspect.iter().position(|&byte| byte == 0) {
            let line = 1 + text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
            let way_out = "a byte of value 0: this is not a text, or one in UTF-16 (--encoding utf-16le); \
                           save the table as UTF-8 CSV";
            return Err(fail(line, way_out.into()));
        }
        let names = if header {
            notes::names(&first, &second, &mut notes)
        } else if given.is_empty() {
            (1..=first.len()).map(|c| format!("c{c}")).collect()
        } else if given.len() == first.len() {
            given
        } else {
            let reason = format!("{} fields, but there are {} names", first.len(), given.len());
            return Err(fail(record.line(), reason));
        };
        let skip = usize::from(header);
        let fields = Fields::new(options, &names, separator, name)?;
        let (hash, columns) = rayon::join(
            || Sha256::digest(original).iter().map(|byte| format!("{byte:02x}")).collect(),
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
        let made = Made { name: name.to_owned(), hash, names, rows, columns, notes, is_arff };
        let first_word = |place| first_word(text, &fields, skip, place);
        let occurs = |gap: &[u8]| memchr::memmem::find(text, gap).is_some();
        Ok(Frame::assembled(made, &fields, options, &first_word, &occurs))
    }

    /// Assembles a table whose fields are read. `first_word` finds the first field of a column that is
    /// neither a number nor missing, and `occurs` looks for a text among the fields.
    fn assembled(
        made: Made,
        fields: &Fields,
        options: &ReadOptions,
        first_word: &dyn Fn(usize) -> Option<FirstWord>,
        occurs: &dyn Fn(&[u8]) -> bool,
    ) -> Self {
        let Made { name, hash, names, rows, columns, mut notes, is_arff } = made;
        let (mut gaps_found, mut marks, mut odd_fields) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Vec::new();
        for (place, Read { mut values, odd, mark }) in fields.places().zip(columns) {
            let column = &names[place];
            match &mut values {
                Values::Numbers(numbers) => {
                    gaps_found.append(&mut fields.blank(place, numbers));
                    if odd > 0 {
                        let first = first_word(place);
                        odd_fields.push(notes::Odd { column, fields: odd, rows: numbers.len(), first });
                    }
                }
                Values::TooManyWords(first) => *first = first_word(place),
                Values::Others(_) => {}
                Values::Words { .. } => marks.extend(mark.map(|mark| (column.as_str(), mark))),
            }
            all.push(Column { name: column.clone(), values });
        }
        notes.extend(notes::odd(&odd_fields));
        notes.extend(notes::marks(&marks, is_arff));
        notes.extend(notes::gaps_that_never_occur(fields, &gaps_found, occurs));
        notes.extend(all.par_iter().filter_map(notes::suspect).collect::<Vec<_>>());
        let notes = notes.into_iter().map(crate::escape::line).collect();
        Frame { name, rows, columns: all, hash, reading: Reading::of(options), header: names, notes }
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

    /// Returns what was guessed and noticed when the table was read, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns what is in each column.
    pub fn summary(&self) -> Vec<ColumnSummary<'_>> {
        self.columns.par_iter().map(ColumnSummary::of).collect()
    }

    /// Returns what was chosen when the table was read.
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Returns a column by its name.
    ///
    /// # Errors
    /// [`Error::NoColumn`], which names a similar one.
    pub(crate) fn column(&self, wanted: &str) -> Result<&Column, Error> {
        let found = self.columns.iter().find(|column| column.name == wanted);
        found.ok_or_else(|| no_column(wanted, &self.header, &self.name))
    }

    /// Returns the fields of a column as text: words as they are written, numbers in their shortest form, and
    /// an empty text where one is missing.
    ///
    /// # Errors
    /// When there is no such column, or it has too many words; [`ReadOptions::words`] reads them all.
    pub fn texts(&self, column: &str) -> Result<Vec<String>, Error> {
        match &self.column(column)?.values {
            Values::Numbers(numbers) => {
                Ok(numbers.iter().map(|x| if x.is_nan() { String::new() } else { x.to_string() }).collect())
            }
            Values::Words { words, places } => {
                let word = |place: &u32| words.get(*place as usize).cloned().unwrap_or_default();
                Ok(places.iter().map(word).collect())
            }
            Values::TooManyWords(_) => {
                let reason = "it has too many different words; read it as words".into();
                Err(Error::Column { column: column.into(), reason })
            }
            Values::Others(why) => Err(Error::Column { column: column.into(), reason: (*why).into() }),
        }
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

/// Returns the fields of the first row of a text without header.
fn second_row(rest: &[u8], separator: u8) -> Vec<Vec<u8>> {
    let mut record = Records::new(rest, separator);
    match record.read("") {
        Ok(true) => record.fields().map(<[u8]>::to_vec).collect(),
        _ => Vec::new(),
    }
}

fn is_empty(field: &[u8]) -> bool {
    field.trim_ascii().is_empty()
}

/// Returns whether a first line of numbers is one of names, since its first field is empty, as programs write
/// it that give the rows names: the field is quoted, as R does, or the second line has a word there, or 0, as
/// pandas counts.
fn has_corner(first: &[Vec<u8>], second: &[Vec<u8>], bare: &Fields, is_quoted: bool) -> bool {
    let [corner, names @ ..] = first else { return false };
    if !is_empty(corner) || names.is_empty() || names.iter().any(|name| is_empty(name)) {
        return false;
    }
    let Some(of_row) = second.first().filter(|_| second.len() == first.len()) else { return false };
    let is_word = !is_empty(of_row) && bare.number(of_row).is_none() && !bare.is_missing(0, of_row);
    is_word || of_row.as_slice() == b"0" || is_quoted
}

/// In a table of one column, an empty line is a row without a value; elsewhere it is no row.
fn one_column(text: Cow<'_, [u8]>, separator: u8, missing_only: bool) -> Cow<'_, [u8]> {
    let lines = || text.split_inclusive(|&byte| byte == b'\n');
    let is_blank = |line: &[u8]| line.ends_with(b"\n") && line.trim_ascii().is_empty();
    let mut filled = lines().skip_while(|line| line.trim_ascii().is_empty());
    let one = filled.next().is_some_and(|line| !line.contains(&separator));
    if !one || !filled.any(is_blank) || text.contains(&b'"') || text.contains(&separator) {
        return text;
    }
    let begins = lines().take_while(|line| line.trim_ascii().is_empty()).count();
    let mark: &[u8] = if missing_only { b"\"\"\n" } else { b"NA\n" };
    let row = |(i, line)| if i > begins && is_blank(line) { mark } else { line };
    Cow::Owned(lines().enumerate().flat_map(row).copied().collect())
}

#[cfg(test)]
mod tests;
