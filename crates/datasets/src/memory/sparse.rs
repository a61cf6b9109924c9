//! Tables stored as compressed rows.

use super::passes::{Passes, permutation};
use super::{MemoryError, check_dim, check_labels};
use crate::contract::check_observe;
use crate::format::SparseRows;
use lao_observation::{BlockBuf, Seed, Source, SourceError};
use std::sync::Arc;

/// A table whose rows hold their non-zero attributes; an attribute that is not stored is 0.
///
/// The observation of k attributes of a row with m entries takes time O(min(k, m) log max(k, m)).
#[derive(Clone, Debug)]
pub struct SparseRowsSource {
    table: Arc<SparseRows>,
    passes: Passes,
}

impl SparseRowsSource {
    /// Returns the table of compressed rows. A table without rows is allowed, and is dry from the start.
    ///
    /// # Errors
    /// Fails when the parts do not fit together, or a number is not finite.
    pub fn new(table: SparseRows) -> Result<SparseRowsSource, MemoryError> {
        check(&table)?;
        let passes = Passes::new(table.labels.len());
        Ok(SparseRowsSource { table: Arc::new(table), passes })
    }

    /// Returns the same rows in a random order, which is drawn from `seed`, at the start of the stream.
    pub fn shuffled(&self, seed: &Seed) -> SparseRowsSource {
        let table = self.table.select_rows(&permutation(self.rows(), seed));
        SparseRowsSource { table: Arc::new(table), passes: self.passes.rewound() }
    }

    /// Returns the source that passes over the rows `passes` times before it is dry.
    pub fn with_passes(mut self, passes: u64) -> SparseRowsSource {
        self.passes = self.passes.with_passes(passes);
        self
    }

    /// Returns the number of stored rows.
    pub fn rows(&self) -> usize {
        self.table.labels.len()
    }
}

impl TryFrom<SparseRows> for SparseRowsSource {
    type Error = MemoryError;

    fn try_from(table: SparseRows) -> Result<SparseRowsSource, MemoryError> {
        SparseRowsSource::new(table)
    }
}

fn check(table: &SparseRows) -> Result<(), MemoryError> {
    let SparseRows { starts, indices, values, labels, dim } = table;
    check_dim(*dim)?;
    check_labels(labels)?;
    let entries = indices.len();
    if values.len() != entries {
        return Err(MemoryError::Shape { values: values.len(), rows: labels.len(), dim: *dim });
    }
    let boundary = |place: usize| MemoryError::Boundary {
        place,
        found: starts.get(place).copied().unwrap_or(0),
        entries,
    };
    if starts.len() != labels.len() + 1 || starts[0] != 0 {
        return Err(boundary(0));
    }
    for (row, bounds) in starts.windows(2).enumerate() {
        if bounds[0] > bounds[1] || bounds[1] > entries {
            return Err(boundary(row + 1));
        }
        let mut lowest = 0;
        for at in bounds[0]..bounds[1] {
            let attribute = indices[at];
            if (attribute as usize) < lowest || attribute as usize >= *dim {
                return Err(MemoryError::Entry { row, attribute, dim: *dim });
            }
            if !values[at].is_finite() {
                return Err(MemoryError::Value { row, attribute: attribute as usize, value: values[at] });
            }
            lowest = attribute as usize + 1;
        }
    }
    if starts[labels.len()] != entries {
        return Err(boundary(labels.len()));
    }
    Ok(())
}

/// Calls `found(place in a, place in b)` for each number that is in both of two ascending lists.
fn intersect(a: &[u32], b: &[u32], mut found: impl FnMut(usize, usize)) {
    let swap = a.len() > b.len();
    let (few, many) = if swap { (b, a) } else { (a, b) };
    let mut at = 0;
    for (place, item) in few.iter().enumerate() {
        at += many[at..].partition_point(|other| other < item);
        if many.get(at) == Some(item) {
            if swap { found(at, place) } else { found(place, at) }
        }
    }
}

impl Source for SparseRowsSource {
    fn dim(&self) -> usize {
        self.table.dim
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        check_observe(attributes, self.dim(), block, self.position())?;
        let rows = self.passes.upcoming(block.capacity());
        for c in 0..attributes.len() {
            block.column_mut(c)[..rows.len()].fill(0.0);
        }
        for (place, i) in rows.clone().enumerate() {
            let entries = self.table.starts[i]..self.table.starts[i + 1];
            let values = &self.table.values[entries.clone()];
            intersect(attributes, &self.table.indices[entries], |c, entry| {
                block.column_mut(c)[place] = values[entry];
            });
        }
        block.labels_mut()[..rows.len()].copy_from_slice(&self.table.labels[rows.clone()]);
        block.set_rows(rows.len());
        self.passes.advance(rows.len());
        Ok(rows.len())
    }

    fn position(&self) -> u64 {
        self.passes.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.passes.seek(position)
    }
}
