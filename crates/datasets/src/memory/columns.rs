//! Tables stored column after column.

use super::passes::{Passes, permutation};
use super::{MemoryError, check_labels, check_shape};
use crate::contract::{check_gradient, check_observe};
use crate::format::DenseTable;
use lao_kernels::{Element, TILE, first_not_finite, gradient_block, residual};
use lao_observation::{BlockBuf, GradientAsk, Scratch, Seed, Source, SourceError};
use std::ops::Range;
use std::sync::Arc;

/// A table stored column after column: value (row i, attribute j) at `j * rows + i`. A gradient ask reads the
/// slices of the observed columns where they lie, without copying.
///
/// ```
/// use lao_datasets::memory::Columns;
/// use lao_observation::{Seed, Source};
///
/// // Three examples of two attributes: the values of the first attribute, then those of the second.
/// let columns = Columns::new(2, vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0], vec![0.5, 1.5, 2.5])?;
/// assert_eq!((columns.rows(), columns.dim()), (3, 2));
/// let source = columns.shuffled(&Seed::root(7).child("order")).with_passes(20); // 60 examples
/// assert_eq!(source.position(), 0);
/// # Ok::<(), lao_datasets::memory::MemoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Columns<T> {
    dim: usize,
    values: Arc<Vec<T>>,
    labels: Arc<Vec<f64>>,
    passes: Passes,
}

impl<T: Element> Columns<T> {
    /// Returns a table of `dim` attributes and one row per label. A table without rows is allowed, and is dry
    /// from the start.
    ///
    /// # Errors
    /// Fails when the shape does not fit, or a number is not finite.
    pub fn new(dim: usize, values: Vec<T>, labels: Vec<f64>) -> Result<Columns<T>, MemoryError> {
        let rows = labels.len();
        check_shape(dim, values.len(), rows)?;
        check_labels(&labels)?;
        if let Some(at) = first_not_finite(&values) {
            let (row, attribute, value) = (at % rows, at / rows, values[at].to_f64());
            return Err(MemoryError::Value { row, attribute, value });
        }
        Ok(Columns { dim, values: Arc::new(values), labels: Arc::new(labels), passes: Passes::new(rows) })
    }

    /// Returns the same rows in a random order, which is drawn from `seed`, at the start of the stream.
    pub fn shuffled(&self, seed: &Seed) -> Columns<T> {
        let order = permutation(self.rows(), seed);
        let columns = self.values.chunks_exact(self.rows().max(1));
        Columns {
            dim: self.dim,
            values: Arc::new(columns.flat_map(|column| order.iter().map(|&i| column[i])).collect()),
            labels: Arc::new(order.iter().map(|&i| self.labels[i]).collect()),
            passes: self.passes.rewound(),
        }
    }

    /// Returns the source that passes over the rows `passes` times before it is dry.
    pub fn with_passes(mut self, passes: u64) -> Columns<T> {
        self.passes = self.passes.with_passes(passes);
        self
    }

    /// Returns the number of stored rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Returns attribute `j` of the stored `rows`; both were checked against the shape.
    fn column(&self, j: u32, rows: &Range<usize>) -> &[T] {
        let start = j as usize * self.labels.len();
        &self.values[start + rows.start..start + rows.end]
    }
}

impl Columns<f64> {
    /// Returns the same table with values in single precision, which take half the memory. Labels stay as
    /// they are.
    ///
    /// # Errors
    /// Fails when a value exceeds the range of single precision.
    pub fn to_single(&self) -> Result<Columns<f32>, MemoryError> {
        let values = self.values.iter().map(|&value| value as f32).collect();
        let mut single = Columns::new(self.dim, values, self.labels.to_vec())?;
        single.passes = self.passes;
        Ok(single)
    }
}

impl TryFrom<&DenseTable> for Columns<f64> {
    type Error = MemoryError;

    fn try_from(table: &DenseTable) -> Result<Columns<f64>, MemoryError> {
        Columns::new(table.columns(), table.values().to_vec(), table.labels.clone())
    }
}

impl<T: Element> Source for Columns<T> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        check_observe(attributes, self.dim, block, self.position())?;
        let rows = self.passes.upcoming(block.capacity());
        for (c, &j) in attributes.iter().enumerate() {
            for (out, value) in block.column_mut(c).iter_mut().zip(self.column(j, &rows)) {
                *out = value.to_f64();
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
        let tile = &mut scratch.residual;
        let mut served = 0;
        while served < ask.examples {
            let rows = self.passes.upcoming((ask.examples - served).min(TILE as u64) as usize);
            if rows.is_empty() {
                break;
            }
            tile.resize(rows.len(), 0.0);
            let support = ask.theta.iter().map(|(j, weight)| (self.column(j, &rows), weight));
            residual(support, &self.labels[rows.clone()], tile);
            // Doubling is exact, so that the factor 2 of the gradient can be applied here.
            tile.iter_mut().for_each(|r| *r *= 2.0);
            gradient_block(ask.attributes.iter().map(|&j| self.column(j, &rows)), tile, sum);
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
