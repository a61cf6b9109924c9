//! Theorem 2.1: one attribute among many agrees with the label a little too often.

use super::{Population, check, check_attribute, distance_squared};
use crate::synthetic::words::{chance, fill_signs, flip_signs};
use crate::synthetic::{DesignError, Words};
use lao_kernels::{SparseVector, SparseView};

const NAME: &str = "Planted";

/// y is `+-label` with equal probability, the attributes are fair signs; attribute `j = place` has the sign
/// of y with probability `(1+p)/2`, `p = advantage`, the others are independent of y.
///
/// `L(w) - L(w*) = |w - p label e_j|^2 / 2`; the zero predictor's excess is `p^2/2` at label 1, the `2 eps`
/// of the theorem, so that `p < 1/2` is its `eps < 1/16`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planted {
    dim: usize,
    place: u32,
    advantage: f64,
    label: f64,
}

/// The numbers that determine a [`Planted`] population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlantedParams {
    /// The number of attributes.
    pub dim: usize,
    /// The attribute that agrees with the label a little too often.
    pub place: u32,
    /// The advantage p.
    pub advantage: f64,
    /// The size of the labels.
    pub label: f64,
}

impl PlantedParams {
    /// Returns the population.
    ///
    /// # Errors
    /// Fails when the place does not exist, p is outside [0, 1], or the label is negative or not finite.
    pub fn build(self) -> Result<Planted, DesignError> {
        let PlantedParams { dim, place, advantage, label } = self;
        check_attribute(NAME, "place", place, dim)?;
        check(NAME, "advantage", advantage, (0.0..=1.0).contains(&advantage), "between 0 and 1")?;
        check(NAME, "label", label, label >= 0.0 && label.is_finite(), "finite and not negative")?;
        Ok(Planted { dim, place, advantage, label })
    }
}

impl Planted {
    /// Returns the Kullback-Leibler divergence, in nats, between the law of one observation of attribute j
    /// given y and that of any other attribute; about `p^2/2`.
    pub fn information_per_observation(&self) -> f64 {
        let p = self.advantage;
        let term = |share: f64, log: f64| if share > 0.0 { share * log } else { 0.0 };
        term(0.5 * (1.0 + p), p.ln_1p()) + term(0.5 * (1.0 - p), (-p).ln_1p())
    }
}

impl Population for Planted {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, first_row: u64, attribute: u32, out: &mut [f64]) {
        if attribute == self.place {
            let signs = words.stream(1, 0);
            fill_signs(first_row, out, |row| signs.word(row));
            flip_signs(words.stream(2, 0), chance(0.5 * (1.0 + self.advantage)), first_row, out);
        } else {
            let signs = words.stream(0, attribute);
            fill_signs(first_row, out, |row| signs.word(row));
        }
    }

    fn labels(&self, words: &Words, first_row: u64, out: &mut [f64]) {
        let signs = words.stream(1, 0);
        fill_signs(first_row, out, |row| signs.word(row));
        out.iter_mut().for_each(|y| *y *= self.label);
    }

    fn minimizer(&self) -> SparseVector {
        single(self.dim, self.place, self.advantage * self.label)
    }

    fn least_risk(&self) -> f64 {
        0.5 * self.label * self.label * (1.0 - self.advantage * self.advantage)
    }

    fn excess_risk(&self, w: SparseView<'_>) -> f64 {
        0.5 * distance_squared(w, self.place, self.advantage * self.label)
    }
}

/// Returns `height e_j`.
pub(super) fn single(dim: usize, j: u32, height: f64) -> SparseVector {
    let mut w = SparseVector::zeros(dim);
    w.push(j, height);
    w.prune_zeros();
    w
}
