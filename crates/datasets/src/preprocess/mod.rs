//! Preprocessing of tables. Every step learns from training rows only, and is a value that can be stored.
//!
//! ```
//! use lao_datasets::catalog::Catalog;
//! use lao_datasets::preprocess::{Standardizer, SplitTable};
//! use lao_observation::Seed;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let digits = Catalog::from_env()?.load("digits")?;
//! let SplitTable { train, test } = digits.into_train_test(&Seed::root(42).child("split"))?;
//! let (train, test) = (train.dense().unwrap(), test.dense().unwrap());
//! let standardizer = Standardizer::fit(train)?;
//! let (train, test) = (standardizer.apply(train)?, standardizer.apply(test)?);
//! assert_eq!(train.columns(), test.columns());
//! # Ok(())
//! # }
//! ```

mod columns;
mod labels;
mod rows;
mod split;
mod standardize;

pub use columns::{Clip, DuplicateColumn, constant_columns, duplicate_columns};
pub use labels::{Centering, log1p_labels, two_classes};
pub use rows::normalize_rows;
pub use split::{Split, SplitTable, split_by_group, split_random};
pub use standardize::Standardizer;

/// The reason why a table could not be preprocessed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PreprocessError {
    /// A parameter is out of its range.
    #[error("{field} is {}, but must be {allowed}", Shown(*.value))]
    Parameter {
        /// The parameter.
        field: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// The table has other columns than the one that was learned from.
    #[error(
        "the table has {found} columns, but the step was fitted on {expected}; apply it to the same columns"
    )]
    Columns {
        /// Columns when fitted.
        expected: usize,
        /// Columns now.
        found: usize,
    },
    /// The table has another column in one place than the one that was learned from.
    #[error(
        "column {column} is `{found}`, but the step was fitted on `{expected}` there; give the table the \
         same columns in the same order"
    )]
    ColumnName {
        /// The first column that differs, from 0.
        column: usize,
        /// Its name when fitted.
        expected: String,
        /// Its name now.
        found: String,
    },
    /// A table whose names are not one per column.
    #[error("the table has {names} names for {columns} columns; give one name per column, or none at all")]
    Names {
        /// Number of names.
        names: usize,
        /// Number of columns.
        columns: usize,
    },
    /// The table has another number of rows than the one that was split.
    #[error(
        "the table has {found} rows, but the split is one of {expected} rows; apply it to the table it was \
         made for"
    )]
    Rows {
        /// Rows when split.
        expected: usize,
        /// Rows now.
        found: usize,
    },
    /// A stored step has a field that the step cannot have.
    #[error("the stored {what} is damaged: `{field}` {problem}; fit or draw it again")]
    Stored {
        /// The step.
        what: &'static str,
        /// The field.
        field: &'static str,
        /// What is wrong with the field.
        problem: String,
    },
    /// Labels whose mean is not finite.
    #[error("the mean of the labels is {mean}, which is not finite; remove such labels, or rescale them")]
    LabelMean {
        /// The mean.
        mean: f64,
    },
    /// There are too few rows, groups or the like.
    #[error("{what}: {found}, but at least {needed} are needed")]
    TooFew {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// A label is outside the domain of a transformation.
    #[error("label {} of row {row} is outside the domain: {domain}", Shown(*.value))]
    Label {
        /// The row, from 0.
        row: usize,
        /// The label.
        value: f64,
        /// Where labels must lie.
        domain: &'static str,
    },
    /// A column's mean or scale overflows.
    #[error("column {column} holds values so large that its mean or scale is not finite; rescale the column")]
    Overflow {
        /// The column, from 0.
        column: usize,
    },
}

/// A number as it appears in a message: very large and very small ones with an exponent, not with 300 digits.
struct Shown(f64);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(value) = self;
        let readable = *value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
        if readable { write!(f, "{value}") } else { write!(f, "{value:e}") }
    }
}

/// Returns the first of `0..a.len() + b.len()` that does not stand in exactly one of the two lists, both of
/// which must ascend.
fn not_a_partition(a: &[usize], b: &[usize]) -> Option<usize> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    (0..a.len() + b.len()).find(|j| a.next_if_eq(&j).is_some() == b.next_if_eq(&j).is_some())
}
