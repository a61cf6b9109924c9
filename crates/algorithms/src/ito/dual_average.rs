//! Dual averaging over a ball:
//! `w_t = argmin_{||w|| <= R} h' w + (lambda_t/2) ||w||^2 = -h / max(lambda_t, ||h||/R)`, where `h` is the
//! sum of the gradients so far (equation 5; the paper calls it their average, but means the sum).

use crate::bug::always;
use crate::params::{ParamError, SCALES, number, require};
use crate::state;
use lao_kernels::dot_column;
use lao_observation::LearnError;
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// The largest entry of a gradient sum. The squares of 2^32 such numbers still have a finite sum.
const LARGEST: f64 = 1e149;

/// The strength of the regularization in round `t`: `lambda_t = scale * t^power`.
///
/// ```
/// use lao_algorithms::ito::Regularization;
///
/// assert_eq!(Regularization::sqrt(2.0).at(9), 6.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regularization {
    /// `lambda_1`, from 1e-150 to 1e150.
    pub scale: f64,
    /// A number in `0..=1`, so that the sequence does not decrease; 1/2 in the theorems.
    pub power: f64,
}

impl Regularization {
    /// Returns the sequence `lambda_t = scale * sqrt(t)`.
    pub fn sqrt(scale: f64) -> Self {
        Regularization { scale, power: 0.5 }
    }

    /// Returns `lambda_t` for `t >= 1`.
    pub fn at(&self, t: u64) -> f64 {
        let t = t as f64;
        self.scale * if self.power == 0.5 { t.sqrt() } else { t.powf(self.power) }
    }

    pub(super) fn check(&self, method: &'static str, field: &'static str) -> Result<(), ParamError> {
        let Regularization { scale, power } = *self;
        let ok = (1e-150..=1e150).contains(&scale);
        let allowed = format_args!("{SCALES}; `practical` divides by the speed").to_string();
        require(ok, method, field, format_args!("scale {}", number(scale)), allowed)?;
        let ok = (0.0..=1.0).contains(&power);
        require(
            ok,
            method,
            field,
            format_args!("power {}", number(power)),
            "a power in 0..=1; 1/2 in the theorems",
        )
    }
}

/// `h`, its norm, and the factor that turns it into `w_t`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct DualAverage {
    regularization: Regularization,
    radius: f64,
    rounds: u64,
    sum: Vec<f64>,
    /// `||h||^2`, updated as entries change.
    square: f64,
    /// `-1 / max(lambda_t, ||h||/R)` for the coming round. The number is finite and not zero, since scale,
    /// radius and `h` are bounded.
    #[serde(skip)]
    factor: f64,
    /// The number of entries changed since `square` was last recomputed.
    drift: usize,
    /// The new values of changed entries, before `h` receives them.
    #[serde(skip)]
    fresh: Vec<f64>,
}

/// The stored part of a [`DualAverage`]; the rest follows from it.
#[derive(Deserialize)]
struct Stored {
    regularization: Regularization,
    radius: f64,
    rounds: u64,
    sum: Vec<f64>,
    square: f64,
    drift: usize,
}

/// The name of stored sums in messages.
const STORED: &str = "dual average";

impl TryFrom<Stored> for DualAverage {
    type Error = Damaged;

    fn try_from(stored: Stored) -> Result<Self, Damaged> {
        let Stored { regularization, radius, rounds, sum, square, drift } = stored;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, STORED, || reason);
        super::require_common(STORED, sum.len(), 1, radius).map_err(ParamError::damaged)?;
        regularization.check(STORED, "regularization").map_err(ParamError::damaged)?;
        state::count(STORED, "the number of rounds", rounds)?;
        damaged(sum.iter().all(|h| small(*h)), "an entry of the gradient sum is 1e149 or larger")?;
        damaged(drift < sum.len(), "more entries have changed than there are")?;
        // The rounding error of `square` depends on the largest numbers since it was last recomputed, which
        // are not stored. So `square` can be compared only right after it was recomputed; otherwise it can
        // only be bounded.
        let fits = if drift == 0 {
            square == dot_column(&sum, &sum)
        } else {
            square.abs() <= LARGEST * LARGEST * 4.0 * sum.len() as f64
        };
        damaged(fits, "the squared norm is not that of the gradient sum")?;
        let mut average = DualAverage {
            regularization,
            radius,
            rounds,
            sum,
            square,
            factor: 0.0,
            drift,
            fresh: Vec::new(),
        };
        average.update_scale();
        Ok(average)
    }
}

impl DualAverage {
    pub(super) fn new(dim: usize, regularization: Regularization, radius: f64) -> Self {
        let (sum, fresh) = (vec![0.0; dim], Vec::new());
        let mut average =
            DualAverage { regularization, radius, rounds: 0, sum, square: 0.0, factor: 0.0, drift: 0, fresh };
        average.update_scale();
        average
    }

    /// Resumes from another gradient sum `h`, that is from an arbitrary `w_t` in the ball.
    pub(super) fn set_sum(&mut self, sum: &[f64]) {
        self.sum.clear();
        self.sum.extend_from_slice(sum);
        self.recompute_square();
        self.update_scale();
    }

    pub(super) fn dim(&self) -> usize {
        self.sum.len()
    }

    pub(super) fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns the number of rounds that are over.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    pub(super) fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// Returns `w_t` at one attribute.
    pub(super) fn weight(&self, attribute: u32) -> f64 {
        self.factor * self.sum[attribute as usize]
    }

    /// Returns `w_t`.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.sum.iter().map(|h| self.factor * h).collect()
    }

    /// Sets `into` to `w_t` at these attributes.
    pub(super) fn weights_at(&self, attributes: &[u32], into: &mut Vec<f64>) {
        into.clear();
        into.extend(attributes.iter().map(|&j| self.factor * self.sum[j as usize]));
    }

    /// Adds to `h` a gradient `g` with these entries, and ends the round.
    pub(super) fn add(&mut self, attributes: &[u32], gradient: &[f64]) -> Result<(), LearnError> {
        let DualAverage { sum, fresh, .. } = self;
        fresh.clear();
        fresh.extend(attributes.iter().zip(gradient).map(|(&j, g)| sum[j as usize] + g));
        if !fresh.iter().fold(true, |all, h| all & small(*h)) {
            let at = always(fresh.iter().position(|h| !small(*h)), "an entry was found to be too large");
            let (attribute, value) = (attributes[at] as usize, fresh[at]);
            return Err(LearnError::Diverged { update: self.rounds + 1, attribute, value });
        }
        // With two sums, an addition need not wait for the one before.
        let mut more = [0.0; 2];
        for (&j, &fresh) in attributes.iter().zip(&*fresh) {
            let old = std::mem::replace(&mut sum[j as usize], fresh);
            more = [more[1], more[0] + (fresh - old) * (fresh + old)];
        }
        self.square += more[0] + more[1];
        self.drift += attributes.len();
        if self.drift >= self.sum.len() {
            self.recompute_square();
        }
        self.rounds += 1;
        self.update_scale();
        Ok(())
    }

    fn recompute_square(&mut self) {
        self.square = dot_column(&self.sum, &self.sum);
        self.drift = 0;
    }

    fn update_scale(&mut self) {
        let lambda = self.regularization.at(self.rounds + 1);
        self.factor = -1.0 / lambda.max(self.square.max(0.0).sqrt() / self.radius);
    }
}

/// Returns whether a number can be an entry of `h`; NaN cannot.
pub(super) fn small(h: f64) -> bool {
    h.abs() < LARGEST
}
