//! Tables whose values lie elsewhere, such as in the memory of another language.

use lao_observation::SourceError;
use serde::{Deserialize, Serialize};
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

    /// Returns the first row of each page, ascending, if rows are read by pages: the values of an attribute
    /// in all rows from one of these to the next cost as much as one of them. A run then takes the examples
    /// page by page, and those of a page have the same looks.
    fn pages(&self) -> Option<&[u32]> {
        None
    }

    /// Returns how many blocks of examples after the current one are worth [expecting](Self::expect): 0
    /// unless the table is slow to answer.
    fn blocks_ahead(&self) -> usize {
        0
    }

    /// Begins to fetch values that are likely to be read next: of some attributes some rows, and so on. What
    /// was expected before is forgotten.
    fn expect(&self, _next: &[(Vec<u32>, Vec<u32>)]) {}

    /// Returns the bytes that were read so far, if these count.
    fn traffic(&self) -> Option<Traffic> {
        None
    }

    /// Returns the bytes of a value of an attribute, on the average of its column, if bytes count.
    fn bytes(&self, _attribute: u32) -> Option<f64> {
        None
    }
}

/// What was read of a table that lies on a disk or behind a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes of the whole table.
    pub of: u64,
    /// Requests: ranges of bytes that were read at once.
    pub requests: u64,
    /// The bytes that may be read at most, if they are limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
}

impl fmt::Display for Traffic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Traffic { bytes, of, requests, most } = *self;
        let share = 100.0 * bytes as f64 / of.max(1) as f64;
        let precision = if share < 10.0 { 1 } else { 0 };
        let [bytes, of] = [bytes, of].map(in_units);
        write!(out, "read {bytes} of {of} ({share:.precision$} %) in {requests} requests")?;
        most.map_or(Ok(()), |most| write!(out, "; {} are allowed", in_units(most)))
    }
}

/// Returns a number of bytes as people write it.
fn in_units(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut units = ["bytes", "kB", "MB", "GB", "TB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    while let (true, Some(larger)) = (size >= 1000.0, units.clone().next()) {
        (size, unit) = (size / 1000.0, larger);
        units.next();
    }
    let precision = if size < 10.0 && unit != "bytes" { 1 } else { 0 };
    format!("{size:.precision$} {unit}")
}

impl Traffic {
    /// Returns whether learning must end, so that enough of what is allowed is left to measure the error.
    pub(crate) fn is_spent(&self) -> bool {
        self.most.is_some_and(|most| self.bytes > most / 5 * 4)
    }

    /// Returns this and what was read `before`.
    pub(crate) fn after(self, before: Option<Traffic>) -> Traffic {
        let before = before.unwrap_or_default();
        Traffic {
            bytes: self.bytes.saturating_add(before.bytes),
            of: self.of,
            requests: self.requests.saturating_add(before.requests),
            most: self.most,
        }
    }
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
