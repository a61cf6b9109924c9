//! A predictor on which most examples carry no information.

use super::planted::single;
use super::{Population, check, check_attribute, distance_squared};
use crate::synthetic::words::{chance, mix_signs};
use crate::synthetic::{DesignError, Words};
use lao_kernels::{SparseVector, SparseView};

const NAME: &str = "Rare";

/// Every attribute is non-zero with probability `e = frequency`, independently: attribute `j = place` is then
/// 1, the others are fair signs; `y = label`. So `L(w) - L(w*) = (e/2) |w - label e_j|^2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rare {
    dim: usize,
    place: u32,
    frequency: f64,
    label: f64,
}

/// The numbers that determine a [`Rare`] population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RareParams {
    /// The number of attributes.
    pub dim: usize,
    /// The attribute that predicts.
    pub place: u32,
    /// The probability e with which an attribute is not zero.
    pub frequency: f64,
    /// The label.
    pub label: f64,
}

impl RareParams {
    /// Returns the population.
    ///
    /// # Errors
    /// Fails when the place does not exist, the frequency is outside [0, 1], or the label is not finite.
    pub fn build(self) -> Result<Rare, DesignError> {
        let RareParams { dim, place, frequency, label } = self;
        check_attribute(NAME, "place", place, dim)?;
        check(NAME, "frequency", frequency, (0.0..=1.0).contains(&frequency), "between 0 and 1")?;
        check(NAME, "label", label, label.is_finite(), "finite")?;
        Ok(Rare { dim, place, frequency, label })
    }
}

impl Population for Rare {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, first_row: u64, attribute: u32, out: &mut [f64]) {
        out.fill(0.0);
        let (coin, signs) = (words.stream(0, attribute), words.stream(1, attribute));
        mix_signs(coin, chance(self.frequency), first_row, out, |row| signs.word(row));
        if attribute == self.place {
            out.iter_mut().for_each(|x| *x = x.abs());
        }
    }

    fn labels(&self, _words: &Words, _first_row: u64, out: &mut [f64]) {
        out.fill(self.label);
    }

    fn minimizer(&self) -> SparseVector {
        single(self.dim, self.place, self.label)
    }

    fn least_risk(&self) -> f64 {
        0.5 * (1.0 - self.frequency) * self.label * self.label
    }

    fn excess_risk(&self, w: SparseView<'_>) -> f64 {
        0.5 * self.frequency * distance_squared(w, self.place, self.label)
    }
}
