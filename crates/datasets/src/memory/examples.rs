//! Rows of a dataset as the examples of a finite sum.

use crate::format::Table;
use lao_finite_sum::{DesignMatrix, FiniteSumError};
use lao_kernels::{Compressed, CompressedError, Element};
use thiserror::Error;

/// How examples are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Row after row: for steps on few components.
    Rows,
    /// Column after column: for whole gradients. Sparse tables keep their rows beside the columns.
    Columns,
}

/// Rows that cannot be the examples of a finite sum.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum ExamplesError {
    /// Parts of sparse rows that do not fit together.
    #[error(transparent)]
    Compressed(#[from] CompressedError),
    /// A dense table with numbers that are not finite, or too large a shape.
    #[error(transparent)]
    Dense(#[from] FiniteSumError),
}

impl Table {
    /// Returns a copy in double precision, as the examples of a finite sum; the labels stay here.
    ///
    /// # Errors
    /// When a number is not finite, or sparse rows have been made to contradict themselves.
    pub fn examples(&self, by: By) -> Result<DesignMatrix<f64>, ExamplesError> {
        self.laid_out(by, |value| value)
    }

    /// Returns the same in single precision: half the memory, and the time that memory takes. Numbers are
    /// rounded.
    ///
    /// # Errors
    /// As [`examples`](Self::examples), and when a number is too large for single precision.
    pub fn single_examples(&self, by: By) -> Result<DesignMatrix<f32>, ExamplesError> {
        self.laid_out(by, |value| value as f32)
    }

    fn laid_out<T: Element>(&self, by: By, convert: fn(f64) -> T) -> Result<DesignMatrix<T>, ExamplesError> {
        let (n, dim) = (self.rows(), self.dim());
        match self {
            Table::Dense(table) => {
                let columns = table.values();
                Ok(match by {
                    By::Columns => {
                        DesignMatrix::columns(n, dim, columns.iter().map(|&v| convert(v)).collect())?
                    }
                    By::Rows => {
                        let row = |i| columns.iter().skip(i).step_by(n).map(|&v| convert(v));
                        DesignMatrix::rows(n, dim, (0..n).flat_map(row).collect())?
                    }
                })
            }
            Table::Sparse(rows) => {
                let values = rows.values.iter().map(|&v| convert(v)).collect();
                let rows = Compressed::new(dim, rows.starts.clone(), rows.indices.clone(), values)?;
                Ok(match by {
                    By::Rows => DesignMatrix::compressed_rows(rows),
                    By::Columns => DesignMatrix::compressed_columns(rows.transpose()),
                })
            }
        }
    }
}
