//! How a table is read: its layout, which columns, and what stands for a missing value.

use super::{MOST_WORDS, some_of};
use crate::error::{Error, nearest};
use lao_datasets::format::{Records, parse_number};
use serde::{Deserialize, Serialize};

/// What stands for a missing value.
pub(super) const MISSING: [&[u8]; 10] =
    [b"", b"NA", b"N/A", b"na", b"nan", b"NaN", b"?", b"null", b"NULL", b"None"];

/// Returns the fields that stand for a missing value by themselves.
pub(crate) fn marks() -> impl Iterator<Item = &'static str> {
    MISSING.iter().filter_map(|mark| std::str::from_utf8(mark).ok())
}

/// Returns whether a field stands for a missing value by itself: it is empty, or one of the marks that
/// [`ReadOptions::missing`] lists.
///
/// ```
/// assert!(lao::is_missing("NA") && lao::is_missing(" ? ") && !lao::is_missing("0"));
/// ```
pub fn is_missing(field: &str) -> bool {
    MISSING.contains(&field.trim().as_bytes())
}

/// Whether the first line of a table holds names.
///
/// ```
/// use lao::{Frame, Header, ReadOptions};
///
/// let options = ReadOptions { header: Header::No, ..ReadOptions::default() };
/// let frame = Frame::parse(b"61,140\n47,118\n", "patients.csv", &options)?;
/// assert_eq!(frame.names().collect::<Vec<_>>(), ["c1", "c2"]);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Header {
    /// It does, unless all its fields are numbers, and none is the corner of a table whose rows have names.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not; columns are called `c1`, `c2`, ...
    No,
}

impl Header {
    pub(crate) fn is_auto(&self) -> bool {
        *self == Header::Auto
    }
}

/// How a table is read.
///
/// ```
/// use lao::{Frame, ReadOptions};
///
/// let options = ReadOptions { missing: vec!["age=-999".into()], ..ReadOptions::default() };
/// let frame = Frame::parse(b"age;pressure\n61;140,5\n-999;118\n", "patients.csv", &options)?;
/// assert_eq!(frame.summary()[0].missing, 1);
///
/// // Most fields of `crp` are numbers, so that the others are missing; a note says so.
/// let frame = Frame::parse(b"crp,age\n12,61\n<5,47\n8,50\n", "patients.csv", &ReadOptions::default())?;
/// assert_eq!(frame.summary()[0].missing, 1);
/// assert!(frame.notes()[0].contains("`<5` in line 3"));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether the first line holds names.
    pub header: Header,
    /// The names of the columns of a table whose first line has none; empty if it has names, or none are
    /// known.
    pub names: Vec<String>,
    /// What separates fields; `None` is a comma, a semicolon, a tabulator or a bar, whichever fits the lines.
    pub separator: Option<u8>,
    /// What begins the decimals of a number beside a point; `None` is a comma where semicolons separate
    /// fields.
    pub decimal: Option<u8>,
    /// The encoding of the text, by its name on the web, such as `windows-1252`; `None` is UTF-8, or UTF-16
    /// if the text begins with its mark.
    pub encoding: Option<String>,
    /// The columns that are read; the others are neither parsed nor stored.
    pub columns: Pick,
    /// What stands for a missing value, beside an empty field, `NA`, `N/A`, `na`, `nan`, `NaN`, `?`, `null`,
    /// `NULL` and `None`: a field, such as `-999`, or a field of one column, such as `signal=100`.
    pub missing: Vec<String>,
    /// Whether nothing but an empty field and those of `missing` stands for a missing value.
    pub missing_only: bool,
    /// The columns that hold words, even if most of their fields are numbers.
    pub words: Vec<String>,
    /// The columns that hold numbers, even if most of their fields are words: those are missing.
    pub numbers: Vec<String>,
    /// The member of a zip archive, or a pattern in which `*` stands for any text.
    pub member: Option<String>,
}

/// Which columns of a table are read.
///
/// ```
/// use lao::{Frame, Pick, ReadOptions};
///
/// let options = ReadOptions { columns: Pick::Without(vec!["patient".into()]), ..ReadOptions::default() };
/// let frame = Frame::parse(b"patient,age\n1,61\n2,47\n", "patients.csv", &options)?;
/// assert_eq!(frame.names().collect::<Vec<_>>(), ["age"]);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// All of them.
    #[default]
    All,
    /// Those of these names that the table has.
    Only(Vec<String>),
    /// All but those of these names.
    Without(Vec<String>),
}

/// What was chosen when a table was read. What was guessed is guessed anew for another table.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// use lao::{Pick, ReadOptions};
///
/// // let table = "diabetes.csv.gz";
/// let options = ReadOptions { columns: Pick::Without(vec!["sex".into()]), ..ReadOptions::default() };
/// let model = lao::Fit::within(5).run(&lao::read_with(table, &options)?.target("progression")?)?.model;
/// assert_eq!(model.origin.reading.without, ["sex"]);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The columns that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// What stood for a missing value, as in [`ReadOptions::missing`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// As in [`ReadOptions::missing_only`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing_only: bool,
    /// Whether the first line held names.
    #[serde(default, skip_serializing_if = "Header::is_auto")]
    pub header: Header,
    /// The names that were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// What separated fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<u8>,
    /// What began decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<u8>,
    /// The encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// As in [`ReadOptions::words`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// As in [`ReadOptions::numbers`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<String>,
}

impl Reading {
    pub(crate) fn of(options: &ReadOptions) -> Self {
        let without = match &options.columns {
            Pick::Without(some) => some.clone(),
            _ => Vec::new(),
        };
        let options = options.clone();
        Reading {
            without,
            missing: options.missing,
            missing_only: options.missing_only,
            header: options.header,
            names: options.names,
            separator: options.separator,
            decimal: options.decimal,
            encoding: options.encoding,
            words: options.words,
            numbers: options.numbers,
        }
    }

    /// Returns the options that read another table in the same way.
    pub fn options(&self) -> ReadOptions {
        let reading = self.clone();
        ReadOptions {
            header: reading.header,
            names: reading.names,
            separator: reading.separator,
            decimal: reading.decimal,
            encoding: reading.encoding,
            columns: if reading.without.is_empty() { Pick::All } else { Pick::Without(reading.without) },
            missing: reading.missing,
            missing_only: reading.missing_only,
            words: reading.words,
            numbers: reading.numbers,
            member: None,
        }
    }

    /// Returns whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the column and the field of a gap of one column, see [`ReadOptions::missing`].
pub(crate) fn column_of_gap(gap: &str) -> Option<(&str, &str)> {
    gap.split_once('=')
}

/// Says that a table has no such column.
pub(super) fn no_column(wanted: &str, names: &[String], file: &str) -> Error {
    let names = || names.iter().map(String::as_str);
    let (near, columns) = (nearest(wanted, names()), some_of(names()));
    Error::NoColumn { file: file.to_owned(), wanted: wanted.into(), near, columns }
}

/// What the fields of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers, if most of them are.
    Guessed,
    Numbers,
    Words,
}

/// How the fields of a table are read.
#[derive(Debug)]
pub(crate) struct Fields {
    pub separator: u8,
    decimal: u8,
    /// Whether each column is read.
    pub wanted: Vec<bool>,
    kinds: Vec<Kind>,
    /// What stands for a missing value: a field, and the column if it is of one column only.
    gaps: Vec<(Vec<u8>, Option<usize>)>,
    /// Whether the marks that are known to all stand for a missing value.
    marks: bool,
}

impl Fields {
    /// Returns what is read of columns with these names.
    pub fn new(options: &ReadOptions, names: &[String], separator: u8, file: &str) -> Result<Self, Error> {
        let absent = |wanted: &str| no_column(wanted, names, file);
        let wanted = match &options.columns {
            Pick::All => vec![true; names.len()],
            Pick::Only(some) => names.iter().map(|name| some.contains(name)).collect(),
            Pick::Without(some) => {
                if let Some(wanted) = some.iter().find(|name| !names.contains(name)) {
                    return Err(absent(wanted));
                }
                names.iter().map(|name| !some.contains(name)).collect()
            }
        };
        let mut gaps = Vec::new();
        for gap in &options.missing {
            match column_of_gap(gap) {
                Some((column, field)) => {
                    let place = names.iter().position(|name| name == column);
                    gaps.push((field.into(), Some(place.ok_or_else(|| absent(column))?)));
                }
                None => gaps.push((gap.as_str().into(), None)),
            }
        }
        let optional = matches!(options.columns, Pick::Only(_));
        let mut kinds = vec![Kind::Guessed; names.len()];
        for (list, kind) in [(&options.words, Kind::Words), (&options.numbers, Kind::Numbers)] {
            for name in list {
                match names.iter().position(|other| other == name) {
                    Some(place) => kinds[place] = kind,
                    None if optional => {}
                    None => return Err(absent(name)),
                }
            }
        }
        let decimal = options.decimal.unwrap_or(if separator == b';' { b',' } else { b'.' });
        Ok(Fields { separator, decimal, wanted, kinds, gaps, marks: !options.missing_only })
    }

    /// Returns that all of `width` columns are read, and no field stands for a missing value beside those
    /// that always do.
    pub fn all(separator: u8, width: usize) -> Self {
        let decimal = if separator == b';' { b',' } else { b'.' };
        let (wanted, kinds) = (vec![true; width], vec![Kind::Guessed; width]);
        Fields { separator, decimal, wanted, kinds, gaps: Vec::new(), marks: true }
    }

    /// Returns the number of columns of the table.
    pub fn width(&self) -> usize {
        self.wanted.len()
    }

    /// Returns the places of the columns that are read.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.wanted.iter().enumerate().filter(|(_, wanted)| **wanted).map(|(c, _)| c)
    }

    /// Returns whether a column has words, of whose fields so many are numbers and so many are neither
    /// numbers nor missing.
    pub fn has_words(&self, column: usize, numbers: usize, odd: usize) -> bool {
        match self.kinds[column] {
            Kind::Guessed => odd > numbers,
            Kind::Numbers => false,
            Kind::Words => true,
        }
    }

    /// Returns the place of a column of `file`, whose columns have these names.
    ///
    /// # Errors
    /// [`Error::NoColumn`], which names a similar one.
    #[cfg(feature = "parquet")]
    pub fn place(&self, wanted: &str, names: &[String], file: &str) -> Result<usize, Error> {
        let found = self.places().find(|place| names[*place] == wanted);
        found.ok_or_else(|| no_column(wanted, names, file))
    }

    /// Returns whether a column was chosen to hold words.
    #[cfg(feature = "parquet")]
    pub fn must_be_words(&self, column: usize) -> bool {
        self.kinds[column] == Kind::Words
    }

    /// Returns how many different words a column may have.
    pub fn most_words(&self, column: usize) -> usize {
        if self.kinds[column] == Kind::Words { usize::MAX } else { MOST_WORDS }
    }

    /// Returns whether a field of a column stands for a missing value.
    pub fn is_missing(&self, column: usize, field: &[u8]) -> bool {
        let of =
            |(gap, only): &(Vec<u8>, Option<usize>)| gap == field && only.is_none_or(|only| only == column);
        field.is_empty() || self.marks && MISSING.contains(&field) || self.gaps.iter().any(of)
    }

    /// Returns the finite number that a field of a column is. Where the column must have numbers, true and
    /// false are 1 and 0.
    pub fn number_in(&self, column: usize, field: &[u8]) -> Option<f64> {
        let truth = || match field {
            b"True" | b"true" | b"TRUE" => Some(1.0),
            b"False" | b"false" | b"FALSE" => Some(0.0),
            _ => None,
        };
        self.number(field).or_else(|| (self.kinds[column] == Kind::Numbers).then(truth).flatten())
    }

    /// Returns a finite number.
    pub fn number(&self, field: &[u8]) -> Option<f64> {
        number(field, self.decimal)
    }

    /// Replaces the numbers that stand for a missing value; returns which of the gaps there are.
    pub fn blank(&self, column: usize, numbers: &mut [f64]) -> Vec<usize> {
        let mut found = Vec::new();
        for (at, (gap, only)) in self.gaps.iter().enumerate() {
            if let (Some(gap), true) = (self.number(gap), only.is_none_or(|only| only == column)) {
                let mut any = false;
                numbers.iter_mut().filter(|x| **x == gap).for_each(|x| (*x, any) = (f64::NAN, true));
                found.extend(any.then_some(at));
            }
        }
        found
    }

    /// Returns the gaps that are numbers, by their places, and those that are not.
    pub fn gaps(&self) -> impl Iterator<Item = (usize, &[u8], bool)> {
        let of = |(at, (gap, _)): (usize, &'_ (Vec<u8>, Option<usize>))| (at, self.number(gap).is_some());
        self.gaps.iter().enumerate().map(move |gap| {
            let (at, is_number) = of(gap);
            (at, &gap.1.0[..], is_number)
        })
    }
}

/// Returns the finite number that a field is. Its decimals begin with a point or, if `decimal` is a comma,
/// with a comma; a minus may be the typographer's, and blanks around it may be such as do not break a line.
pub(crate) fn number(field: &[u8], decimal: u8) -> Option<f64> {
    let begins = field.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
    let value = begins.then(|| parse_number(field)).flatten().or_else(|| {
        if let Some(ascii) = in_ascii(field) {
            return number(&ascii, decimal);
        }
        let comma = (decimal == b',').then(|| field.iter().position(|&byte| byte == b','))??;
        let mut point = field.to_vec();
        point[comma] = b'.';
        number(&point, b'.')
    })?;
    value.is_finite().then_some(value)
}

/// Returns a field with an ASCII minus and without the blanks that do not break a line; `None` if it has
/// neither.
fn in_ascii(field: &[u8]) -> Option<Vec<u8>> {
    if field.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(field).ok()?;
    let blank = |c: char| matches!(c, '\u{a0}' | '\u{202f}' | '\u{2007}');
    let plain = text.trim_matches(|c: char| blank(c) || c.is_ascii_whitespace()).replace('\u{2212}', "-");
    (plain != text).then(|| plain.into_bytes())
}

/// Returns the separator that fits the lines: the one by which most of the first lines have as many fields as
/// the first, and more than one; of those the one with more fields.
pub(crate) fn separator_of(text: &[u8]) -> u8 {
    const LINES: usize = 64;
    let end =
        text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(LINES).map_or(text.len(), |at| at.0);
    let head = &text[..end];
    let fit = |separator: u8| {
        let (mut records, mut widths) = (Records::new(head, separator), Vec::new());
        while records.read("").unwrap_or(false) {
            widths.push(records.width());
        }
        let first = widths.first().copied().unwrap_or(0);
        let same = widths.iter().filter(|width| **width == first).count();
        if first > 1 { (1000 * same / widths.len(), first) } else { (0, 0) }
    };
    [b',', b';', b'\t', b'|'].into_iter().rev().max_by_key(|&separator| fit(separator)).unwrap_or(b',')
}
