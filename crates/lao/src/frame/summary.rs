//! What is in a column, in short.

use super::{Column, Values};

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
    /// Values that are neither numbers nor words, and why none are read.
    Others(&'a str),
}

impl ColumnKind<'_> {
    /// Returns whether there are fewer than two different values, so that nothing can be learned from them.
    pub fn is_constant(&self) -> bool {
        match self {
            ColumnKind::Numbers { low, high, .. } => low >= high,
            ColumnKind::Words(words) => words.len() < 2,
            ColumnKind::Text | ColumnKind::Others(_) => false,
        }
    }
}

impl<'a> ColumnSummary<'a> {
    pub(super) fn of(column: &'a Column) -> Self {
        let (missing, kind) = match &column.values {
            Values::Numbers(numbers) => {
                let (mut known, mut low, mut high, mut mean) =
                    (0usize, f64::INFINITY, f64::NEG_INFINITY, 0.0);
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
            Values::Others(why) => (0, ColumnKind::Others(why)),
        };
        ColumnSummary { name: &column.name, missing, kind }
    }
}
