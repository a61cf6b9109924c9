//! Preparing a table: what is learned is learned from training rows only, and kept in a value that serialises.
//!
//! ```
//! use lao_datasets::catalog::Catalog;
//! use lao_datasets::preprocess::Standardizer;
//! use lao_observation::Seed;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let digits = Catalog::from_env()?.load("digits")?;
//! let (train, test) = digits.into_train_test(&Seed::root(42).child("split"))?;
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

pub use columns::{Clip, constant_columns, duplicate_columns};
pub use labels::{Centering, log1p_labels, two_classes};
pub use rows::normalize_rows;
pub use split::{Split, split_by_group, split_random};
pub use standardize::Standardizer;

/// Why a table could not be prepared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PreprocessError {
    /// A parameter is out of its range.
    #[error("{field} is {value}, but must be {allowed}")]
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
    /// There is too little to work with.
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
    #[error("label {value} of row {row} is outside the domain: {domain}")]
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
