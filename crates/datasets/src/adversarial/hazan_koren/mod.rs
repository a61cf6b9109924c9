//! Hazan & Koren (2012): instances on which learning is as slow as their theorems allow, with exact
//! population risks.
//!
//! | instance | x | y | best predictor |
//! |---|---|---|---|
//! | [`SignedRows`] | `r_i e_i`, i uniform in a set T of K | `label` | `r_i` times one level on T |
//! | [`Planted`] | fair signs; `x_j` is as y with probability `(1+p)/2` | `+-label` | `p label e_j` |
//! | [`Pair`] | `s (1, 1, 0, ..)/sqrt 2`, s a fair sign | `label s` | `label (1, 1, 0, ..)/sqrt 2` |
//! | [`Rare`] | non-zero with probability e: `x_j` is then 1, the others fair signs | `label` | `label e_j` |
//!
//! *Source*: `SignedRows` is the construction of Appendix B (proof of Theorem 2.2). That of Theorem 2.1 is
//! quoted from Cesa-Bianchi, Shalev-Shwartz & Shamir (2010) and not printed; `Planted` is a reconstruction:
//! it has the excess risk and the range of accuracies that the theorem speaks of. `Pair` and `Rare` are ours:
//! on the first a forgotten importance weight shows as a wrong limit, on the second most examples say
//! nothing.
//!
//! Risks are those of the paper's Section 2, `E (w'x - y)^2 / 2`. Its Appendix B drops the factor 1/2:
//! [`Population::squared_error`].

mod pair;
mod planted;
mod rare;
mod signed_rows;

pub use pair::Pair;
pub use planted::{Planted, PlantedParams};
pub use rare::{Rare, RareParams};
pub use signed_rows::SignedRows;

use crate::contract::check_observe;
use crate::synthetic::{DesignError, Words, check_dim};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{BlockBuf, Cursor, Scratch, Seed, Source, SourceError};
use std::fmt::Debug;

/// A joint law of `(x, y)` whose risk is known exactly.
pub trait Population: Debug + Send + Sync {
    /// Returns `d`.
    fn dim(&self) -> usize;

    /// Writes `attribute` of the rows `first_row ..` to `out`: a pure function of words, row and attribute.
    fn fill(&self, words: &Words, first_row: u64, attribute: u32, out: &mut [f64]);

    /// Writes these attributes (in any order, perhaps repeated) of the rows `first_row ..` to the first
    /// `rows` rows of the block, which has a column for each: what [`fill`](Self::fill) writes, attribute by
    /// attribute.
    fn fill_all(&self, words: &Words, first_row: u64, attributes: &[u32], rows: usize, block: &mut BlockBuf) {
        for (c, &attribute) in attributes.iter().enumerate() {
            self.fill(words, first_row, attribute, &mut block.column_mut(c)[..rows]);
        }
    }

    /// Writes the labels of the rows `first_row ..` to `out`.
    fn labels(&self, words: &Words, first_row: u64, out: &mut [f64]);

    /// Returns `w*`, the predictor of least risk in the ball that the instance was made for, or of all
    /// predictors if there is no ball.
    fn minimizer(&self) -> SparseVector;

    /// Returns `L(w*)`.
    fn least_risk(&self) -> f64;

    /// Returns `L(w) - L(w*)`, computed without cancellation; negative only outside the ball.
    fn excess_risk(&self, w: SparseView<'_>) -> f64;

    /// Returns `L(w) = E (w'x - y)^2 / 2`.
    fn risk(&self, w: SparseView<'_>) -> f64 {
        self.least_risk() + self.excess_risk(w)
    }

    /// Returns `E (w'x - y)^2`, the loss of Appendix B.
    fn squared_error(&self, w: SparseView<'_>) -> f64 {
        2.0 * self.risk(w)
    }
}

impl<P: Population + ?Sized> Population for Box<P> {
    fn dim(&self) -> usize {
        (**self).dim()
    }
    fn fill(&self, words: &Words, first_row: u64, attribute: u32, out: &mut [f64]) {
        (**self).fill(words, first_row, attribute, out);
    }
    fn fill_all(&self, words: &Words, first_row: u64, attributes: &[u32], rows: usize, block: &mut BlockBuf) {
        (**self).fill_all(words, first_row, attributes, rows, block);
    }
    fn labels(&self, words: &Words, first_row: u64, out: &mut [f64]) {
        (**self).labels(words, first_row, out);
    }
    fn minimizer(&self) -> SparseVector {
        (**self).minimizer()
    }
    fn least_risk(&self) -> f64 {
        (**self).least_risk()
    }
    fn excess_risk(&self, w: SparseView<'_>) -> f64 {
        (**self).excess_risk(w)
    }
}

/// The stream of independent examples from a population. It is a pure function of the seed, whatever is
/// observed. To observe k attributes costs O(k).
#[derive(Clone, Debug)]
pub struct PopulationStream<P> {
    population: P,
    words: Words,
    cursor: Cursor,
}

impl<P: Population> PopulationStream<P> {
    /// Returns an endless stream.
    pub fn new(population: P, seed: &Seed) -> PopulationStream<P> {
        let words = Words::new(&seed.child("examples"));
        PopulationStream { population, words, cursor: Cursor::endless() }
    }

    /// Returns the same stream, which ends after `length` examples.
    pub fn with_length(mut self, length: u64) -> PopulationStream<P> {
        self.cursor = self.cursor.with_length(length);
        self
    }

    /// Returns the law of the examples.
    pub fn population(&self) -> &P {
        &self.population
    }
}

impl<P: Population> Source for PopulationStream<P> {
    fn dim(&self) -> usize {
        self.population.dim()
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        check_observe(attributes, self.dim(), block, self.position())?;
        let (first, rows) = (self.position(), self.cursor.upcoming(block.capacity()));
        self.population.fill_all(&self.words, first, attributes, rows, block);
        self.population.labels(&self.words, first, &mut block.labels_mut()[..rows]);
        block.set_rows(rows);
        self.cursor.advance(rows);
        Ok(rows)
    }

    // A value is computed where it is asked for, so draws need not be sorted first.
    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        _: &mut Scratch,
    ) -> Result<usize, SourceError> {
        self.observe(draws, block)
    }

    fn position(&self) -> u64 {
        self.cursor.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.cursor.seek(position)
    }
}

/// Checks an attribute's number.
fn check_attribute(
    instance: &'static str,
    field: &'static str,
    attribute: u32,
    dim: usize,
) -> Result<u32, DesignError> {
    let dim = check_dim(instance, dim, true, "1 to 2^32 attributes")?;
    check(instance, field, f64::from(attribute), (attribute as usize) < dim, "below the dimension")?;
    Ok(attribute)
}

/// Returns `value` if it `suits`.
fn check(
    design: &'static str,
    field: &'static str,
    value: f64,
    suits: bool,
    allowed: &'static str,
) -> Result<f64, DesignError> {
    if suits { Ok(value) } else { Err(DesignError::Parameter { design, field, value, allowed }) }
}

/// Returns `|w - height e_j|^2`.
fn distance_squared(w: SparseView<'_>, j: u32, height: f64) -> f64 {
    let rest = if w.get(j) == 0.0 { height * height } else { 0.0 };
    rest + w.iter().map(|(i, x)| if i == j { (x - height).powi(2) } else { x * x }).sum::<f64>()
}
