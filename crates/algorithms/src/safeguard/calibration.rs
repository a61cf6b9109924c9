//! A test of an estimate on examples of its own, and the factor that makes it best.

use super::NAME;
use lao_kernels::SparseVector;
use lao_observation::Rng;
use lao_observation::stored::Damaged;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

/// Standard errors beyond which a mean is believed to have its sign.
const SURE: f64 = 3.0;
/// The largest factor.
const MOST: f64 = 100.0;
/// Examples before a verdict.
const LEAST: f64 = 20.0;

/// A snapshot of an estimate, in standardized units, and sums over the examples that tested it.
///
/// With the prediction p of a label v, both in deviations from the mean, the factor c of least
/// `E (c p - v)^2` is `E p v / E p^2`. An estimate with more attributes than the budget is tested on
/// attributes drawn by weight: their mean predicts without bias, and products of different draws estimate
/// `p^2` without bias.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Calibration {
    pub weights: SparseVector,
    /// The sums of the magnitudes of the weights up to each; empty if the whole estimate can be observed.
    cumulative: Vec<f64>,
    /// The attributes drawn for the current example, one entry per draw; empty if all are observed.
    drawn: Vec<u32>,
    examples: f64,
    /// The sums of `p^2`, its square, `p v`, `(p v)^2`, `v^2`, `p^2 - 2 p v` and its square.
    square: f64,
    square_square: f64,
    product: f64,
    product_square: f64,
    label_square: f64,
    excess: f64,
    excess_square: f64,
}

/// What a test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The estimate times this factor has this mean squared error, in variances of the label.
    Good { factor: f64, risk: f64, error: f64 },
    /// The estimate is worse than the mean of the labels.
    Worse,
    /// Neither is sure.
    Unsure,
}

impl Calibration {
    /// Begins to test `weights`, if `budget` attributes of an example may be observed.
    pub fn begin(&mut self, weights: SparseVector, budget: usize) {
        let mut cumulative = std::mem::take(&mut self.cumulative);
        cumulative.clear();
        if weights.len() > budget {
            let mut sum = 0.0;
            cumulative.extend(weights.values().iter().map(|w| {
                sum += w.abs();
                sum
            }));
        }
        *self = Calibration { weights, cumulative, ..Calibration::default() };
    }

    /// Writes the attributes to observe of the next example, ascending, to `into`.
    pub fn draw(&mut self, budget: usize, rng: &mut Rng, into: &mut Vec<u32>) {
        into.clear();
        self.drawn.clear();
        let Some(&all) = self.cumulative.last() else {
            return into.extend_from_slice(self.weights.indices());
        };
        for _ in 0..budget {
            let at = rng.random::<f64>() * all;
            let place = self.cumulative.partition_point(|&sum| sum <= at).min(self.cumulative.len() - 1);
            self.drawn.push(self.weights.indices()[place]);
        }
        into.extend_from_slice(&self.drawn);
        into.sort_unstable();
        into.dedup();
    }

    /// Takes in an example: the attributes observed, ascending, their standardized values, and the label.
    pub fn absorb(&mut self, attributes: &[u32], value: impl Fn(usize) -> f64, label: f64) {
        let of = |j: u32| attributes.binary_search(&j).map_or(0.0, &value);
        let (predicted, square) = match self.cumulative.last() {
            None => {
                let p: f64 = self.weights.view().iter().map(|(j, w)| w * of(j)).sum();
                (p, p * p)
            }
            Some(&all) => {
                // Each draw has probability |w_j| / all.
                let draw = |&j: &u32| all * self.weights.view().get(j).signum() * of(j);
                let m = self.drawn.len().max(1) as f64;
                let sum: f64 = self.drawn.iter().map(draw).sum();
                let squares: f64 = self.drawn.iter().map(draw).map(|p| p * p).sum();
                let square = if m > 1.0 { (sum * sum - squares) / (m * (m - 1.0)) } else { sum * sum };
                (sum / m, square)
            }
        };
        let (product, excess) = (predicted * label, square - 2.0 * predicted * label);
        self.examples += 1.0;
        self.square += square;
        self.square_square += square * square;
        self.product += product;
        self.product_square += product * product;
        self.label_square += label * label;
        self.excess += excess;
        self.excess_square += excess * excess;
    }

    pub fn verdict(&self) -> Verdict {
        let n = self.examples;
        if n < LEAST {
            return Verdict::Unsure;
        }
        let error = |sum: f64, squares: f64| ((squares / n - (sum / n) * (sum / n)).max(0.0) / n).sqrt();
        let (square, product) = (self.square / n, self.product / n);
        let doubt = error(self.product, self.product_square);
        let factor = product / square;
        let sure = product > SURE * doubt && square > SURE * error(self.square, self.square_square);
        if sure && factor <= MOST {
            let risk = self.label_square / n - factor * product;
            return Verdict::Good { factor, risk, error: 2.0 * factor * doubt };
        }
        if self.excess / n > SURE * error(self.excess, self.excess_square) {
            Verdict::Worse
        } else {
            Verdict::Unsure
        }
    }

    pub fn validate(&self, dim: usize, budget: usize) -> Result<(), Damaged> {
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        let Calibration { weights, cumulative, drawn, .. } = self;
        damaged(weights.dim() == dim || weights.dim() == 0, "what it tests has another dimension")?;
        let draws = if weights.len() > budget { weights.len() } else { 0 };
        damaged(cumulative.len() == draws, "the weights to draw by do not fit the budget")?;
        let ascending = cumulative.is_sorted() && cumulative.first().is_none_or(|&first| first >= 0.0);
        damaged(ascending, "the sums of magnitudes do not ascend")?;
        damaged(drawn.len() <= budget, "it drew more attributes than the budget")?;
        let of_weights = drawn.iter().all(|j| weights.indices().binary_search(j).is_ok());
        damaged(of_weights, "it drew an attribute that has no weight")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;

    /// Tests weights 1, 2, .., 6 on labels that are `truth` times their prediction, and noise.
    fn verdict(truth: f64, budget: usize, examples: usize) -> Verdict {
        let mut rng = Seed::root(3).rng();
        let mut calibration = Calibration::default();
        let weights: Vec<f64> = (1..=6).map(f64::from).collect();
        calibration.begin(SparseVector::new(6, (0..6).collect(), weights.clone()).unwrap(), budget);
        let mut asked = Vec::new();
        for _ in 0..examples {
            calibration.draw(budget, &mut rng, &mut asked);
            assert!(asked.len() <= budget && asked.is_sorted());
            let x: Vec<f64> = (0..6).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect();
            let predicted: f64 = x.iter().zip(&weights).map(|(x, w)| x * w).sum();
            let label = truth * predicted + rng.random::<f64>() - 0.5;
            calibration.absorb(&asked, |at| x[asked[at] as usize], label);
        }
        calibration.validate(6, budget).unwrap();
        calibration.verdict()
    }

    #[test]
    fn the_factor_is_found_with_all_attributes_and_with_some() {
        for (budget, examples) in [(6, 400), (3, 20_000)] {
            let Verdict::Good { factor, risk, .. } = verdict(0.2, budget, examples) else {
                panic!("{:?}", verdict(0.2, budget, examples))
            };
            assert!((factor - 0.2).abs() < 0.02, "{budget}: {factor}");
            assert!((risk - 1.0 / 12.0).abs() < 0.2, "{budget}: {risk}");
        }
    }

    #[test]
    fn estimates_of_the_wrong_sign_are_worse_than_none() {
        assert_eq!(verdict(-1.0, 6, 400), Verdict::Worse);
        assert_eq!(verdict(-1.0, 3, 2000), Verdict::Worse);
        assert_eq!(verdict(1.0, 6, 10), Verdict::Unsure);
    }
}
