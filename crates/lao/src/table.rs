//! Tables whose values lie elsewhere, such as in the memory of another language.

use lao_observation::SourceError;
use std::fmt;
use std::ops::ControlFlow;

/// A table of numbers that is read where it lies, column by column and row by row. A run reads the attributes
/// that the learner asks for, of the rows whose turn it is, and nothing else.
///
/// ```
/// use lao::observation::SourceError;
/// use lao::{Examples, Fit, Label, Table, TableParts};
/// use std::{ops::ControlFlow, sync::Arc};
///
/// /// Attribute j of row i is the j-th digit of i.
/// #[derive(Debug)]
/// struct Digits;
///
/// impl Table for Digits {
///     fn dim(&self) -> usize {
///         3
///     }
///     fn read(
///         &self,
///         attributes: &[u32],
///         rows: &[u32],
///         into: &mut [f64],
///     ) -> Result<ControlFlow<()>, SourceError> {
///         for (column, &j) in into.chunks_exact_mut(rows.len()).zip(attributes) {
///             column.iter_mut().zip(rows).for_each(|(x, i)| *x = f64::from(i / 10u32.pow(j) % 10));
///         }
///         Ok(ControlFlow::Continue(()))
///     }
/// }
///
/// let examples = Examples::from_table(TableParts {
///     table: Arc::new(Digits),
///     name: "digits".into(),
///     names: ["ones", "tens", "hundreds"].map(String::from).into(),
///     target: "y".into(),
///     label: Label::Number,
///     labels: (0..1000).map(|i| 3.0 * f64::from(i / 10 % 10) + f64::from(i * 7 % 5)).collect(),
///     rows: (0..1000).collect(),
/// })?;
/// assert_eq!(Fit::within(1).run(&examples)?.model.columns(), ["tens"]);
/// # Ok::<(), lao::Error>(())
/// ```
pub trait Table: fmt::Debug + Send + Sync {
    /// Returns the number of attributes.
    fn dim(&self) -> usize;

    /// Writes the values of `attributes` in `rows` to `into`: for each attribute the values of all rows, in
    /// the order of `rows`, and NaN where a value is missing. Rows come in any order.
    ///
    /// A break ends the stream of examples here. What the call wrote is not used, and the run returns what it
    /// learned so far.
    ///
    /// # Errors
    /// When the values cannot be read.
    fn read(
        &self,
        attributes: &[u32],
        rows: &[u32],
        into: &mut [f64],
    ) -> Result<ControlFlow<()>, SourceError>;
}

/// Columns in memory.
impl Table for Vec<Vec<f64>> {
    fn dim(&self) -> usize {
        self.len()
    }

    fn read(
        &self,
        attributes: &[u32],
        rows: &[u32],
        into: &mut [f64],
    ) -> Result<ControlFlow<()>, SourceError> {
        for (&j, column) in attributes.iter().zip(into.chunks_exact_mut(rows.len().max(1))) {
            let values = &self[j as usize];
            column.iter_mut().zip(rows).for_each(|(x, &row)| *x = values[row as usize]);
        }
        Ok(ControlFlow::Continue(()))
    }
}
