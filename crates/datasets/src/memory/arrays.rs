//! Arrays of binary files as examples of a finite sum, and as streams, without a table between them.

use super::{By, MemoryError, Rows};
use crate::format::{Array, FormatError};
use lao_finite_sum::{DesignMatrix, FiniteSumError};
use thiserror::Error;

/// The reason why an array cannot be examples.
#[derive(Debug, Error)]
pub enum ArrayError {
    /// The array makes no table, or the labels do not fit.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The array, changed since it was read, makes no examples of a finite sum.
    #[error(transparent)]
    Examples(#[from] FiniteSumError),
    /// The array or its labels, changed since they were read, make no stream.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Array {
    /// Returns the rows as the examples of a finite sum, like [`into_table`](Self::into_table) and
    /// [`examples`](crate::format::Table::examples) together, but without a copy of the numbers. No number
    /// moves if `by` is the array's own order: rows in C order, columns in Fortran order.
    ///
    /// ```
    /// use lao_datasets::format::csv::Column;
    /// use lao_datasets::format::npy::read_npy_from;
    /// use lao_datasets::memory::By;
    ///
    /// let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }";
    /// let length = [header.len() as u8, 0];
    /// let file = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &[1, 2, 3, 4, 5, 6]];
    /// let mut array = read_npy_from(&file.concat()[..], "counts.npy")?;
    /// let labels = array.take_labels(&Column::Index(2))?;
    /// assert_eq!((&array.values[..], &labels.values[..]), (&[1.0, 2.0, 4.0, 5.0][..], &[3.0, 6.0][..]));
    /// let examples = array.into_examples(By::Rows)?;
    /// # let loss = lao_finite_sum::Loss::least_squares(labels.values)?;
    /// # assert_eq!(lao_finite_sum::FiniteSum::new(examples, loss)?.dim(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails when the array is not a table, or its values were changed since it was read and a number is not
    /// finite.
    pub fn into_examples(self, by: By) -> Result<DesignMatrix<f64>, ArrayError> {
        let (rows, dim, values) = self.laid_out(by == By::Rows)?;
        Ok(match by {
            By::Rows => DesignMatrix::rows(rows, dim, values)?,
            By::Columns => DesignMatrix::columns(rows, dim, values)?,
        })
    }

    /// Returns the rows as a stream of examples with these labels, one per row. No number moves if the array
    /// is in C order.
    ///
    /// # Errors
    /// Fails when the array is not a table, the number of labels is not that of rows, or the values were
    /// changed since they were read and a number is not finite.
    pub fn into_rows(self, labels: Array) -> Result<Rows<f64>, ArrayError> {
        self.require_labels(&labels)?;
        let (_, dim, values) = self.laid_out(true)?;
        Ok(Rows::new(dim, values, labels.values)?)
    }
}
