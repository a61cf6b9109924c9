//! How a table is read: its layout, which columns, and what stands for a missing value.

use super::some_of;
use crate::error::{Error, nearest};
use lao_datasets::format::parse_number;
use serde::{Deserialize, Serialize};

/// What stands for a missing value.
pub(super) const MISSING: [&[u8]; 10] =
    [b"", b"NA", b"N/A", b"na", b"nan", b"NaN", b"?", b"null", b"NULL", b"None"];

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
///
/// ```
/// use lao::{Frame, ReadOptions};
///
/// let options = ReadOptions { missing: vec!["age=-999".into()], ..ReadOptions::default() };
/// let frame = Frame::parse(b"age;pressure\n61;140,5\n-999;118\n", "patients.csv", &options)?;
/// assert_eq!(frame.summary()[0].missing, 1);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether the first line holds names.
    pub header: Header,
    /// What separates fields; `None` is a comma, a semicolon or a tabulator, whichever the first line has
    /// most of.
    pub separator: Option<u8>,
    /// The columns that are read; the others are neither parsed nor stored.
    pub columns: Pick,
    /// What stands for a missing value, beside an empty field, `NA`, `N/A`, `na`, `nan`, `NaN`, `?`, `null`,
    /// `NULL` and `None`: a field, such as `-999`, or a field of one column, such as `signal=100`.
    pub missing: Vec<String>,
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

/// What was chosen when a table was read, beside its layout.
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
}

impl Reading {
    /// Returns whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the column and the field of a gap of one column, see [`ReadOptions::missing`].
pub(crate) fn column_of_gap(gap: &str) -> Option<(&str, &str)> {
    gap.split_once('=')
}

/// How the fields of a table are read.
pub(super) struct Fields {
    pub separator: u8,
    /// Whether each column is read.
    pub wanted: Vec<bool>,
    /// What stands for a missing value: a field, and the column if it is of one column only.
    gaps: Vec<(Vec<u8>, Option<usize>)>,
}

impl Fields {
    /// Returns what is read of columns with these names.
    pub fn new(options: &ReadOptions, names: &[String], separator: u8, file: &str) -> Result<Self, Error> {
        let absent = |wanted: &str| {
            let near = nearest(wanted, names.iter().map(String::as_str));
            let columns = some_of(names.iter().map(String::as_str));
            Error::NoColumn { file: file.to_owned(), wanted: wanted.into(), near, columns }
        };
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
        Ok(Fields { separator, wanted, gaps })
    }

    /// Returns that all of `width` columns are read, and no field stands for a missing value beside those
    /// that always do.
    pub fn all(separator: u8, width: usize) -> Self {
        Fields { separator, wanted: vec![true; width], gaps: Vec::new() }
    }

    /// Returns the number of columns of the table.
    pub fn width(&self) -> usize {
        self.wanted.len()
    }

    /// Returns the places of the columns that are read.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.wanted.iter().enumerate().filter(|(_, wanted)| **wanted).map(|(c, _)| c)
    }

    /// Returns whether a field of a column stands for a missing value.
    pub fn is_missing(&self, column: usize, field: &[u8]) -> bool {
        let of =
            |(gap, only): &(Vec<u8>, Option<usize>)| gap == field && only.is_none_or(|only| only == column);
        is_missing(field) || self.gaps.iter().any(of)
    }

    /// Returns a finite number.
    pub fn number(&self, field: &[u8]) -> Option<f64> {
        number(field, self.separator)
    }

    /// Replaces the numbers that stand for a missing value.
    pub fn blank(&self, column: usize, numbers: &mut [f64]) {
        for (gap, only) in &self.gaps {
            if let (Some(gap), true) = (self.number(gap), only.is_none_or(|only| only == column)) {
                numbers.iter_mut().filter(|x| **x == gap).for_each(|x| *x = f64::NAN);
            }
        }
    }
}

fn is_missing(field: &[u8]) -> bool {
    MISSING.contains(&field)
}

/// Returns the finite number that a field is, whose decimals a comma may begin where semicolons separate
/// fields.
pub(crate) fn number(field: &[u8], separator: u8) -> Option<f64> {
    let begins = field.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
    let value = begins.then(|| parse_number(field)).flatten().or_else(|| {
        let comma = (separator == b';').then(|| field.iter().position(|&byte| byte == b','))??;
        let mut point = field.to_vec();
        point[comma] = b'.';
        number(&point, b',')
    })?;
    value.is_finite().then_some(value)
}

/// Returns the separator that the first line has most of.
pub(crate) fn separator_of(text: &[u8]) -> u8 {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}
