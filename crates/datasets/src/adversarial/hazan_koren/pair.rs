//! Two attributes that are always equal.

use super::{Population, check};
use crate::synthetic::words::fill_signs;
use crate::synthetic::{DesignError, Words, check_dim};
use lao_kernels::{SparseVector, SparseView};
use std::f64::consts::FRAC_1_SQRT_2;

const NAME: &str = "Pair";

/// `x = s (1, 1, 0, ..)/sqrt 2` and `y = label s` for a fair sign s:
/// `L(w) = ((w_0 + w_1)/sqrt 2 - label)^2 / 2`, which vanishes at `w* = label (1, 1, 0, ..)/sqrt 2`, of norm
/// `|label|`.
///
/// A learner that observes one attribute j with probability proportional to `w_j^2` and forgets the weight
/// `|w|^2/w_j` estimates half of `w'x`, and converges to twice `w*`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    dim: usize,
    label: f64,
}

impl Pair {
    /// Returns the population with labels `+-label` and `dim` attributes of which the first two matter.
    ///
    /// # Errors
    /// Fails when there are fewer than two attributes or the label is not finite.
    pub fn new(dim: usize, label: f64) -> Result<Pair, DesignError> {
        let dim = check_dim(NAME, dim, dim >= 2, "2 to 2^32 attributes")?;
        Ok(Pair { dim, label: check(NAME, "label", label, label.is_finite(), "finite")? })
    }

    /// `height s`, row by row.
    fn signs(&self, words: &Words, first_row: u64, height: f64, out: &mut [f64]) {
        let signs = words.stream(0, 0);
        fill_signs(first_row, out, |row| signs.word(row));
        out.iter_mut().for_each(|x| *x *= height);
    }
}

impl Population for Pair {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, first_row: u64, attribute: u32, out: &mut [f64]) {
        if attribute < 2 {
            self.signs(words, first_row, FRAC_1_SQRT_2, out);
        } else {
            out.fill(0.0);
        }
    }

    fn labels(&self, words: &Words, first_row: u64, out: &mut [f64]) {
        self.signs(words, first_row, self.label, out);
    }

    fn minimizer(&self) -> SparseVector {
        let mut star = SparseVector::zeros(self.dim);
        (0..2).for_each(|j| star.push(j, self.label * FRAC_1_SQRT_2));
        star.prune_zeros();
        star
    }

    fn least_risk(&self) -> f64 {
        0.0
    }

    fn excess_risk(&self, w: SparseView<'_>) -> f64 {
        0.5 * ((w.get(0) + w.get(1)) * FRAC_1_SQRT_2 - self.label).powi(2)
    }
}
