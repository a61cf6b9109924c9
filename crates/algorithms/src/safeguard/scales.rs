//! Location and scale of raw columns, learned as one goes.

use super::NAME;
use crate::state;
use lao_kernels::sum;
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// Standard deviations from the mean beyond which a value counts as if it lay there.
pub(super) const WITHIN: f64 = 4.0;
/// Observations of a column before any of its values is doubted.
const LEAST_SEEN: u64 = 20;

/// The mean and the standard deviation of every column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Scales {
    seen: Vec<u64>,
    mean: Vec<f64>,
    /// The sum of squared deviations from the mean.
    square: Vec<f64>,
}

impl Scales {
    pub fn new(columns: usize) -> Self {
        Scales { seen: vec![0; columns], mean: vec![0.0; columns], square: vec![0.0; columns] }
    }

    /// Takes in values of column `j`.
    pub fn absorb(&mut self, j: usize, values: &[f64]) {
        self.seen[j] += values.len() as u64;
        let before = self.mean[j];
        let change = (sum(values) - values.len() as f64 * before) / self.seen[j] as f64;
        let after = before + change;
        self.mean[j] = after;
        self.square[j] += values.iter().map(|x| (x - before) * (x - after)).sum::<f64>();
    }

    pub fn mean(&self, j: usize) -> f64 {
        self.mean[j]
    }

    /// Returns the standard deviation of column `j`; 0 for a constant one.
    pub fn deviation(&self, j: usize) -> f64 {
        let variance = self.square[j] / self.seen[j].max(1) as f64;
        let rounding = 1e-12 * self.mean[j];
        if variance > rounding * rounding { variance.sqrt() } else { 0.0 }
    }

    /// Returns the range beyond which values of column `j` are not believed.
    pub fn range(&self, j: usize) -> (f64, f64) {
        let (mean, width) = (self.mean[j], WITHIN * self.deviation(j));
        let known = self.seen[j] >= LEAST_SEEN && (mean - width) < (mean + width);
        if known { (mean - width, mean + width) } else { (f64::MIN, f64::MAX) }
    }

    /// Turns values of column `j` into standard deviations from the mean; those of a constant column into 0.
    pub fn standardize(&self, j: usize, values: &mut [f64]) {
        let (mean, deviation) = (self.mean[j], self.deviation(j));
        if deviation == 0.0 {
            return values.fill(0.0);
        }
        values.iter_mut().for_each(|x| *x = (*x - mean) / deviation);
    }

    pub fn validate(&self, columns: usize) -> Result<(), Damaged> {
        for found in [self.seen.len(), self.mean.len(), self.square.len()] {
            state::length(NAME, "a list of locations and scales", found, columns)?;
        }
        self.seen.iter().try_for_each(|&n| state::count(NAME, "a number of observations", n))?;
        let small = self.mean.iter().all(|m| m.abs() <= super::LARGEST);
        Damaged::unless(small, NAME, || "a mean is larger than every value that may be told")?;
        let allowed = self.square.iter().all(|&s| s >= 0.0);
        Damaged::unless(allowed, NAME, || "a sum of squares is negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_the_moments_of_the_whole() {
        let values = [3.0, 5.0, 1e3, -2.0, 0.5, 4.0];
        let mut scales = Scales::new(1);
        scales.absorb(0, &values[..1]);
        scales.absorb(0, &values[1..4]);
        scales.absorb(0, &values[4..]);
        let mean = values.iter().sum::<f64>() / 6.0;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 6.0;
        assert!((scales.mean(0) - mean).abs() < 1e-12 * mean);
        assert!((scales.deviation(0) - variance.sqrt()).abs() < 1e-12 * mean);
        // Too few observations to doubt a value.
        assert_eq!(scales.range(0), (f64::MIN, f64::MAX));
        (0..5).for_each(|_| scales.absorb(0, &values));
        assert!(scales.range(0).1 < 4.1 * variance.sqrt() + mean);
    }

    #[test]
    fn a_constant_column_tells_nothing() {
        let mut scales = Scales::new(1);
        (0..10).for_each(|_| scales.absorb(0, &[0.1, 0.1, 0.1]));
        let mut values = [0.1, 7.0];
        scales.standardize(0, &mut values);
        assert_eq!((scales.deviation(0), values), (0.0, [0.0, 0.0]));
    }
}
