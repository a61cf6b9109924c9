//! Tables stored row after row.

use super::passes::{Passes, permutation};
use super::{MemoryError, check_labels, check_shape};
use crate::contract::{check_gradient, check_observe};
use lao_kernels::{Element, ROW_TILE, first_not_finite, row_gather_dot, row_gather_gradient};
use lao_observation::{BlockBuf, GradientAsk, Scratch, Seed, Source, SourceError};
use std::ops::Range;
use std::sync::Arc;

/// A table stored row after row: value (row i, attribute j) at `i * dim + j`.
///
/// ```
/// use lao_datasets::memory::Rows;
/// use lao_observation::Source;
///
/// // Three examples of two attributes: the values of the first example, of the second, of the third.
/// let rows = Rows::new(2, vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0], vec![0.5, 1.5, 2.5])?;
/// assert_eq!((rows.rows(), rows.dim()), (3, 2));
/// # Ok::<(), lao_datasets::memory::MemoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rows<T> {
    dim: usize,
    values: Arc<Vec<T>>,
    labels: Arc<Vec<f64>>,
    passes: Passes,
}

impl<T: Element> Rows<T> {
    /// Returns a table of `dim` attributes and one row per label. A table without rows is allowed, and is dry
    /// from the start.
    ///
    /// # Errors
    /// Fails when the shape does not fit, or a number is not finite.
    pub fn new(dim: usize, values: Vec<T>, labels: Vec<f64>) -> Result<Rows<T>, MemoryError> {
        let rows = labels.len();
        check_shape(dim, values.len(), rows)?;
        check_labels(&labels)?;
        if let Some(at) = first_not_finite(&values) {
            let (row, attribute, value) = (at / dim, at % dim, values[at].to_f64());
            return Err(MemoryError::Value { row, attribute, value });
        }
        Ok(Rows { dim, values: Arc::new(values), labels: Arc::new(labels), passes: Passes::new(rows) })
    }

    /// Returns the same rows in a random order, which is drawn from `seed`, at the start of the stream.
    pub fn shuffled(&self, seed: &Seed) -> Rows<T> {
        let order = permutation(self.rows(), seed);
        Rows {
            dim: self.dim,
            values: Arc::new(order.iter().flat_map(|&i| self.stored(i..i + 1)).copied().collect()),
            labels: Arc::new(order.iter().map(|&i| self.labels[i]).collect()),
            passes: self.passes.rewound(),
        }
    }

    /// Returns the source that passes over the rows `passes` times before it is dry.
    pub fn with_passes(mut self, passes: u64) -> Rows<T> {
        self.passes = self.passes.with_passes(passes);
        self
    }

    /// Returns the number of stored rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    fn stored(&self, rows: Range<usize>) -> &[T] {
        &self.values[rows.start * self.dim..rows.end * self.dim]
    }
}

impl<T: Element> Source for Rows<T> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        check_observe(attributes, self.dim, block, self.position())?;
        let rows = self.passes.upcoming(block.capacity());
        if let (1, Some(single)) = (rows.len(), block.single_mut()) {
            let row = self.stored(rows.clone());
            single.iter_mut().zip(attributes).for_each(|(value, &j)| *value = row[j as usize].to_f64());
            block.labels_mut()[0] = self.labels[rows.start];
            block.set_rows(1);
            self.passes.advance(1);
            return Ok(1);
        }
        // Pass over few rows at a time, so that their cache lines are still in the cache for the next
        // attribute.
        for tile in rows.clone().step_by(ROW_TILE) {
            let end = rows.end.min(tile + ROW_TILE);
            let stored = self.stored(tile..end);
            for (c, &j) in attributes.iter().enumerate() {
                let out = &mut block.column_mut(c)[tile - rows.start..end - rows.start];
                for (out, row) in out.iter_mut().zip(stored.chunks_exact(self.dim)) {
                    *out = row[j as usize].to_f64();
                }
            }
        }
        block.labels_mut()[..rows.len()].copy_from_slice(&self.labels[rows.clone()]);
        block.set_rows(rows.len());
        self.passes.advance(rows.len());
        Ok(rows.len())
    }

    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        _: &mut Scratch,
    ) -> Result<usize, SourceError> {
        self.observe(draws, block)
    }

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        check_gradient(&ask, self.dim, self.position())?;
        let (tile, support, weights) = (&mut scratch.residual, ask.theta.indices(), ask.theta.values());
        let mut served = 0;
        while served < ask.examples {
            let rows = self.passes.upcoming((ask.examples - served).min(ROW_TILE as u64) as usize);
            if rows.is_empty() {
                break;
            }
            tile.resize(rows.len(), 0.0);
            let stored = self.stored(rows.clone());
            row_gather_dot(stored, self.dim, support, weights, &self.labels[rows.clone()], tile);
            tile.iter_mut().for_each(|r| *r *= 2.0);
            row_gather_gradient(stored, self.dim, ask.attributes, tile, sum);
            self.passes.advance(rows.len());
            served += rows.len() as u64;
        }
        Ok(served)
    }

    fn position(&self) -> u64 {
        self.passes.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.passes.seek(position)
    }

    fn value_bytes(&self) -> u64 {
        size_of::<T>() as u64
    }
}
