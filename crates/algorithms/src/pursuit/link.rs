//! The probability of a class from a predicted label: a logistic function of it, fitted to the predictions
//! that were made before an example was learned from.

use super::NAME;
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// The part of what was learned that an example leaves: predictions of long ago, by other coefficients, fade.
const MEMORY: f64 = 0.999;
/// The largest change of a number by one example.
const LARGEST_STEP: f64 = 0.5;

/// `P(y = +1) = 1 / (1 + exp(-(offset + slope p)))` for the predicted label p, fitted by one Newton step for
/// each example.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    offset: f64,
    slope: f64,
    /// The second derivatives of the logarithmic loss: in the offset, in both, in the slope.
    curvature: [f64; 3],
}

impl Default for Link {
    /// Least squares on labels +1 and -1 has the slope 2 where classes overlap widely.
    fn default() -> Self {
        Link { offset: 0.0, slope: 2.0, curvature: [1.0, 0.0, 1.0] }
    }
}

impl Link {
    /// Returns the probability of the class +1.
    pub fn probability(&self, predicted: f64) -> f64 {
        1.0 / (1.0 + (-(self.offset + self.slope * predicted)).exp())
    }

    /// Returns the offset and the slope.
    pub fn line(&self) -> [f64; 2] {
        [self.offset, self.slope]
    }

    /// Makes a Newton step for an example of class +1 or -1.
    pub fn learn(&mut self, predicted: f64, positive: bool) {
        let p = self.probability(predicted);
        // A prediction far from all labels would move the line by itself.
        let x = predicted.clamp(-10.0, 10.0);
        let weight = (p * (1.0 - p)).max(1e-3);
        for (sum, now) in self.curvature.iter_mut().zip([weight, weight * x, weight * x * x]) {
            *sum = MEMORY * *sum + now;
        }
        let [a, b, c] = self.curvature;
        let error = f64::from(u8::from(positive)) - p;
        // The small addition keeps the matrix away from a singular one when all predictions are equal.
        let (a, c) = (a + 1e-3, c + 1e-3);
        let determinant = a * c - b * b;
        let steps = [error * (c - b * x) / determinant, error * (a * x - b) / determinant];
        if steps.iter().all(|step| step.is_finite()) {
            self.offset = (self.offset + steps[0].clamp(-LARGEST_STEP, LARGEST_STEP)).clamp(-50.0, 50.0);
            self.slope = (self.slope + steps[1].clamp(-LARGEST_STEP, LARGEST_STEP)).clamp(0.0, 50.0);
        }
    }

    pub fn validate(&self) -> Result<(), Damaged> {
        let [a, _, c] = self.curvature;
        let allowed = a >= 0.0 && c >= 0.0 && self.offset.abs() <= 50.0 && (0.0..=50.0).contains(&self.slope);
        Damaged::unless(allowed, NAME, || "the link has a number out of its range")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;
    use rand::RngExt as _;

    #[test]
    fn probabilities_are_calibrated() {
        let mut rng = Seed::root(1).rng();
        for (offset, slope) in [(0.0, 1.0), (-1.0, 3.0), (0.5, 6.0)] {
            let truth = Link { offset, slope, ..Link::default() };
            let mut link = Link::default();
            for _ in 0..20_000 {
                let predicted = rng.random_range(-1.0..1.0);
                link.learn(predicted, rng.random::<f64>() < truth.probability(predicted));
            }
            for predicted in [-0.8, -0.3, 0.0, 0.4, 0.9] {
                let (found, wanted) = (link.probability(predicted), truth.probability(predicted));
                // The memory of 1,000 examples leaves a standard error of about 0.02.
                assert!((found - wanted).abs() < 0.08, "{offset} {slope} at {predicted}: {found}, {wanted}");
            }
        }
    }

    #[test]
    fn no_prediction_leaves_the_finite_numbers() {
        let mut link = Link::default();
        for predicted in [1e300, -1e300, 0.0, f64::MAX] {
            (0..100).for_each(|i| link.learn(predicted, i % 3 == 0));
            link.validate().unwrap();
            assert!((0.0..=1.0).contains(&link.probability(predicted)));
        }
    }
}
