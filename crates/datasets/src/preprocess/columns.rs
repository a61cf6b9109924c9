//! Constant columns, duplicate columns, and clipping of values to a range.

use super::PreprocessError;
use crate::format::DenseTable;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

pub(super) fn constant(column: &[f64]) -> bool {
    column.windows(2).all(|pair| pair[0] == pair[1])
}

/// Returns the columns that have one value in all rows.
pub fn constant_columns(table: &DenseTable) -> Vec<usize> {
    (0..table.columns()).filter(|&j| constant(table.column(j))).collect()
}

/// A column that equals an earlier one in every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateColumn {
    /// The column.
    pub column: usize,
    /// The first column that it equals.
    pub original: usize,
}

/// Returns the columns that equal an earlier one in every row.
pub fn duplicate_columns(table: &DenseTable) -> Vec<DuplicateColumn> {
    let mut first = HashMap::new();
    let mut repeats = Vec::new();
    for j in 0..table.columns() {
        // Adding 0 turns -0 into 0, to which it is equal.
        let key: Vec<u64> = table.column(j).iter().map(|value| (value + 0.0).to_bits()).collect();
        let original = *first.entry(key).or_insert(j);
        if original != j {
            repeats.push(DuplicateColumn { column: j, original });
        }
    }
    repeats
}

/// Clips values to a range, for instance to bound the attributes of standardized data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(remote = "Self")]
pub struct Clip {
    low: f64,
    high: f64,
}

/// A range as it is read, before it is known to be one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    low: f64,
    high: f64,
}

lao_observation::stored!(Clip, from Stored);

impl TryFrom<Stored> for Clip {
    type Error = PreprocessError;

    fn try_from(stored: Stored) -> Result<Self, PreprocessError> {
        Self::new(stored.low, stored.high)
    }
}

impl Clip {
    /// Returns the range `low..=high`, both finite, `low < high`.
    pub fn new(low: f64, high: f64) -> Result<Self, PreprocessError> {
        let fail = |field, value, allowed| Err(PreprocessError::Parameter { field, value, allowed });
        match (low.is_finite(), high.is_finite()) {
            (false, _) => fail("low", low, "finite"),
            (_, false) => fail("high", high, "finite"),
            _ if low >= high => fail("low", low, "below high"),
            _ => Ok(Self { low, high }),
        }
    }

    /// Clips the values in place, and returns how many values changed.
    pub fn apply(&self, values: &mut [f64]) -> usize {
        let mut changed = 0;
        for value in values {
            let cut = value.clamp(self.low, self.high);
            changed += usize::from(cut != *value);
            *value = cut;
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_repeats_are_found() {
        let table =
            DenseTable::from_columns(4, vec![1.0, 0.0, 5.0, 5.0, 1.0, -0.0, 5.0, 5.0], vec![0.0, 0.0])
                .unwrap();
        assert_eq!(constant_columns(&table), [1, 3]);
        let duplicates = [(2, 0), (3, 1)].map(|(column, original)| DuplicateColumn { column, original });
        assert_eq!(duplicate_columns(&table), duplicates);
    }

    #[test]
    fn clipping_counts_what_it_changes() {
        let mut values = [-3.0, 0.5, 2.0, 1.0];
        assert_eq!(Clip::new(-1.0, 1.0).unwrap().apply(&mut values), 2);
        assert_eq!(values, [-1.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn a_range_must_be_finite_and_ascending() {
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(Clip::new(low, high).is_err(), "{low}..{high}");
        }
        let text = Clip::new(1e300, 1.0).unwrap_err().to_string();
        assert_eq!(text, "low is 1e300, but must be below high");
    }

    #[test]
    fn a_stored_range_is_checked_when_it_is_read() {
        let clip = Clip::new(-1.0, 2.5).unwrap();
        assert_eq!(serde_json::from_str::<Clip>(&serde_json::to_string(&clip).unwrap()).unwrap(), clip);
        for text in [r#"{"low":2,"high":1}"#, r#"{"low":1,"high":1}"#, r#"{"low":0,"high":null}"#] {
            assert!(serde_json::from_str::<Clip>(text).is_err(), "{text}");
        }
    }
}
