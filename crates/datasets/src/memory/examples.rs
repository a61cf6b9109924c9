//! Rows of a dataset as the examples of a finite sum.

use crate::format::Table;
use lao_finite_sum::{DesignMatrix, FiniteSumError};
use lao_kernels::{Compressed, CompressedError, Element};
use thiserror::Error;

/// The layout of examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Row after row, for steps on few components.
    Rows,
    /// Column after column, for whole gradients. Sparse tables keep their rows beside the columns.
    Columns,
}

/// The reason why rows cannot be the examples of a finite sum.
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
    /// Fails when a number is not finite, or sparse rows have been made to contradict themselves.
    pub fn examples(&self, by: By) -> Result<DesignMatrix<f64>, ExamplesError> {
        self.laid_out(by, |value| value)
    }

    /// Returns the same examples in single precision, in which numbers are rounded. They take half the
    /// memory, and half the time where the memory limits the speed.
    ///
    /// # Errors
    /// Fails in the cases of [`examples`](Self::examples), and when a number is too large for single
    /// precision.
    pub fn single_examples(&self, by: By) -> Result<DesignMatrix<f32>, ExamplesError> {
        self.laid_out(by, |value| value as f32)
    }

    fn laid_out<T: Element>(
        &self,
        by: By,
        convert: impl Fn(f64) -> T,
    ) -> Result<DesignMatrix<T>, ExamplesError> {
        let (n, dim) = (self.rows(), self.dim());
        match self {
            Table::Dense(table) => {
                let columns = table.values();
                Ok(match by {
                    By::Columns => {
                        DesignMatrix::columns(n, dim, columns.iter().map(|&v| convert(v)).collect())?
                    }
                    By::Rows => DesignMatrix::rows(n, dim, rows_of_columns(columns, n, dim, convert))?,
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

/// Returns column-major values row after row: `out[i * dim + j]` is the value at `j * n + i`. The naive loop,
/// over whole rows, misses the cache and the page table for every number. This one transposes one square
/// block after the other, so small that all its cache lines and pages stay in the caches.
fn rows_of_columns<T: Element>(columns: &[f64], n: usize, dim: usize, convert: impl Fn(f64) -> T) -> Vec<T> {
    const SIDE: usize = 32;
    let mut out = vec![convert(0.0); columns.len()];
    for first in (0..n).step_by(SIDE) {
        for left in (0..dim).step_by(SIDE) {
            let right = dim.min(left + SIDE);
            for i in first..n.min(first + SIDE) {
                let row = &mut out[i * dim..][left..right];
                row.iter_mut().zip(left..).for_each(|(to, j)| *to = convert(columns[j * n + i]));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_are_turned_as_the_definition_does(n in 0usize..100, dim in 0usize..100) {
            let columns: Vec<f64> = (0..n * dim).map(|at| at as f64).collect();
            let rows = rows_of_columns(&columns, n, dim, |value| value as f32);
            for i in 0..n {
                for j in 0..dim {
                    prop_assert_eq!(rows[i * dim + j], (j * n + i) as f32);
                }
            }
        }
    }
}
