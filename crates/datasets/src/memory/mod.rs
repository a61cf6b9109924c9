//! Tables in memory as streams of examples.
//!
//! | source | storage | an attribute of consecutive examples is |
//! |---|---|---|
//! | [`Columns`] | column after column, `f32` or `f64` | contiguous: gradients run at memory bandwidth |
//! | [`Rows`] | row after row, `f32` or `f64` | `dim` values apart: each value is in another cache line |
//! | [`SparseRowsSource`] | compressed rows | searched for in its row |
//!
//! Rows come in stored order; `shuffled` returns a table whose stored rows are permuted. A source is dry
//! after one pass, or after as many as `with_passes` says. Clones share the data, so that many runs over one
//! table take no further memory.

mod arrays;
mod columns;
mod examples;
mod passes;
mod rows;
mod sparse;

pub use arrays::ArrayError;
pub use columns::Columns;
pub use examples::{By, ExamplesError};
pub use rows::Rows;
pub use sparse::SparseRowsSource;

use thiserror::Error;

/// The reason why parts are not a table.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MemoryError {
    /// The number of attributes is out of range.
    #[error("a table of {dim} attributes is not allowed; give 1 to 2^32")]
    Dimension {
        /// The number of attributes.
        dim: usize,
    },
    /// The number of values is not that of labels times attributes.
    #[error("{values} values do not make up {rows} rows of {dim} attributes: give one label for each row")]
    Shape {
        /// Number of values.
        values: usize,
        /// Number of labels.
        rows: usize,
        /// Number of attributes.
        dim: usize,
    },
    /// A value is NaN or infinite.
    #[error("attribute {attribute} of row {row} is {value}, not a finite number; impute or drop it before")]
    Value {
        /// The row, from 0.
        row: usize,
        /// The attribute, from 0.
        attribute: usize,
        /// The value.
        value: f64,
    },
    /// A label is NaN or infinite.
    #[error("the label of row {row} is {value}, not a finite number; drop the row before")]
    Label {
        /// The row, from 0.
        row: usize,
        /// The label.
        value: f64,
    },
    /// Row boundaries of compressed rows do not ascend from 0 to the number of entries, one more than rows.
    #[error(
        "row boundary {place} of the compressed rows is {found}; boundaries must ascend from 0 to the \
         {entries} entries, one more than rows"
    )]
    Boundary {
        /// Which boundary, from 0.
        place: usize,
        /// Its value.
        found: usize,
        /// Number of entries.
        entries: usize,
    },
    /// The entries of a compressed row are out of order or out of range.
    #[error(
        "row {row} holds attribute {attribute} out of order or not below {dim}: attributes of a row must \
         ascend strictly"
    )]
    Entry {
        /// The row, from 0.
        row: usize,
        /// The attribute.
        attribute: u32,
        /// The number of attributes.
        dim: usize,
    },
}

fn check_dim(dim: usize) -> Result<(), MemoryError> {
    if (1..=1 << 32).contains(&dim) { Ok(()) } else { Err(MemoryError::Dimension { dim }) }
}

fn check_shape(dim: usize, values: usize, rows: usize) -> Result<(), MemoryError> {
    check_dim(dim)?;
    if rows.checked_mul(dim) == Some(values) { Ok(()) } else { Err(MemoryError::Shape { values, rows, dim }) }
}

fn check_labels(labels: &[f64]) -> Result<(), MemoryError> {
    match labels.iter().position(|label| !label.is_finite()) {
        None => Ok(()),
        Some(row) => Err(MemoryError::Label { row, value: labels[row] }),
    }
}
