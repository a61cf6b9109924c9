//! The constants of the theorems of Murata & Suzuki 2018, as printed and as corrected.
//!
//! All theorems use `eta = 1/(4 L_s)` unless another step size is set; here `q = 1/(4 eta) + L_s/2` and
//! `a = 1/(32 kappa_s)`. Batch sizes are real numbers, which
//! [`BatchSizes::round_up`](crate::BatchSizes::round_up) rounds up. The errors in print, and the reasons for
//! the corrections, stand in the claims `ms18-prop-a1-constants`, `ms18-thm41-literal`, `ms18-thm43-special`,
//! `ms18-thm43-general` and `ms18-thm44-recursion`.

use lao_observation::Constants;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The form of a statement: as printed, or as corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As the paper prints it.
    Printed,
    /// As its proof supports it.
    Corrected,
}

/// The guarantee of Theorems 4.1 and 4.3: with probability at least `1 - delta`, after `updates` updates the
/// gap is at most `(1-a)^T (gap_0 + slack)`, `a = 1/(32 kappa)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// `T`.
    pub updates: u64,
    /// The number added to the first gap, in units of the squared label.
    pub slack: f64,
    /// The probability of failure.
    pub delta: f64,
}

/// The guarantee of Theorem 4.4: with probability at least `1 - delta`, after `stages` stages the gap is at
/// most `2 (1-a)^K gap_0`, `a = 1/(32 kappa)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageGuarantee {
    /// `K`.
    pub stages: u64,
    /// The first gap, or an upper bound of it, in units of the squared label.
    pub gap_0: f64,
    /// The probability of failure.
    pub delta: f64,
}

/// A problem as the theorems see it: known constants, a sparsity and a step size.
///
/// ```
/// use lao_algorithms::murata_suzuki::{ExplorationParams, Guarantee, Problem};
/// use lao_observation::Constants;
///
/// let constants = Constants { smoothness: 2.0, convexity: 2.0, bound: 1.0, noise: 0.1, sparsity: 1 };
/// let (sparsity, step_size) = (Problem::required_sparsity(&constants), Problem::theorem_step(&constants));
/// assert_eq!((sparsity, step_size), (1025, 0.125));
///
/// let problem = Problem { constants, dim: 5000, sparsity, step_size };
/// let guarantee = Guarantee { updates: 10, slack: 0.01, delta: 0.05 };
/// assert!(ExplorationParams::from_theorem(&problem, 2000, guarantee).build().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// `L_s, mu_s, R_inf, sigma, s*`.
    pub constants: Constants,
    /// `d`.
    pub dim: usize,
    /// `s`.
    pub sparsity: usize,
    /// `eta`.
    pub step_size: f64,
}

impl Problem {
    /// Returns the theorems' step size, `1/(4 L_s)`.
    pub fn theorem_step(constants: &Constants) -> f64 {
        1.0 / (4.0 * constants.smoothness)
    }

    /// Returns the sparsity that Proposition A.1 requires at `eta = 1/(4 L_s)`,
    /// `ceil((1024 kappa^2 + 1) s*)`.
    pub fn required_sparsity(constants: &Constants) -> usize {
        let kappa = constants.condition();
        // If the product is a whole number up to rounding, rounding must not raise it by one.
        let exact = (1024.0 * kappa * kappa + 1.0) * constants.sparsity as f64;
        (exact * (1.0 - 4.0 * f64::EPSILON)).ceil() as usize
    }

    /// Returns `a = 1/(32 kappa_s)`, the guaranteed relative decrease of the gap per update.
    pub fn rate(&self) -> f64 {
        1.0 / (32.0 * self.constants.condition())
    }

    /// Returns `alpha` of Proposition A.1, `(1/2)(1 - 2 s*/(s+s*)) mu_s (1/4 + eta L_s/2) eta`; it is at
    /// least [`rate`](Self::rate) where the proposition applies.
    pub fn alpha_a1(&self) -> f64 {
        let (s, star) = (self.sparsity as f64, self.star());
        let eta = self.step_size;
        let curvature = self.constants.convexity * (0.25 + eta * self.constants.smoothness / 2.0) * eta;
        0.5 * (1.0 - 2.0 * star / (s + star)) * curvature
    }

    /// Returns the batch size of Proposition A.1 at confidence `delta`.
    ///
    /// The printed form lacks the factor `R_inf^4`, which the proof has.
    pub fn batch_a1(&self, delta: f64, form: Form) -> f64 {
        let (s, star, eta) = (self.sparsity as f64, self.star(), self.step_size);
        let smoothness = self.constants.smoothness;
        let q = 1.0 / (4.0 * eta) + smoothness / 2.0;
        let power = match form {
            Form::Printed => 1.0,
            Form::Corrected => self.constants.bound.powi(4),
        };
        let log = (2.0 * self.dim as f64 / delta).ln();
        4.0 * s / star * (s + star).powi(2) * (2.5 + eta * smoothness) * power * eta * log / q
    }

    /// Returns `c_t` of Proposition A.1: the noise term of the gap is `c_t / B_t`.
    ///
    /// The paper prints `4 sigma^2 s (5/2 + eta L) eta log(d/delta)`; the corrected form is
    /// `16 sigma^2 s (5/2 + eta L) R^2 eta log(2d/delta)`.
    pub fn noise_a1(&self, delta: f64, form: Form) -> f64 {
        let (s, eta, d) = (self.sparsity as f64, self.step_size, self.dim as f64);
        let shared = self.variance() * s * (2.5 + eta * self.constants.smoothness) * eta;
        match form {
            Form::Printed => 4.0 * shared * (d / delta).ln(),
            Form::Corrected => 16.0 * shared * self.constants.bound.powi(2) * (2.0 * d / delta).ln(),
        }
    }

    /// Returns the corrected batch size of Theorem 4.1, which ensures this guarantee.
    pub fn batch_theorem_41(&self, guarantee: Guarantee) -> f64 {
        let Guarantee { updates, slack, delta } = guarantee;
        let per_update = delta / (2.0 * updates.max(1) as f64);
        let target = slack * (1.0 - self.rate()).powf(updates as f64);
        let noise = self.noise_a1(per_update, Form::Corrected) * updates as f64 / target;
        self.batch_a1(per_update, Form::Corrected).max(noise)
    }

    /// Returns the corrected batch size of Theorem 4.3 when `supp(theta*)` lies in `supp(theta_0)`, which
    /// ensures this guarantee. The paper prints 32 in the place of `128 (2 - eta L)`.
    pub fn batch_theorem_43_identified(&self, guarantee: Guarantee) -> f64 {
        let Guarantee { updates, slack, delta } = guarantee;
        let (s, star, t) = (self.sparsity as f64, self.star(), updates.max(1) as f64);
        let Constants { smoothness, convexity, bound, .. } = self.constants;
        let eta_l = self.step_size * smoothness;
        let log = (2.0 * s / (delta / (2.0 * t))).ln();
        let signal = 128.0 * (2.0 - eta_l) / (1.0 - eta_l) * s * (s + star) * bound.powi(4) * log
            / (convexity * convexity);
        let noise = 8.0 * self.variance() * s * bound.powi(2) * self.step_size * (2.0 - eta_l) * log;
        signal.max(noise * t / (slack * (1.0 - self.rate()).powf(updates as f64)))
    }

    /// Returns the repaired batch size of Theorem 4.3 for any start, which ensures
    /// `gap_T <= (gap_0 + slack)/(1-a)` with probability at least `1 - delta`, for every step size up to
    /// `1/L`.
    ///
    /// The descent inequality (8) gives `gap_t <= gap_{t-1} + (eta/2) |e_S|^2` for `eta L <= 1`. With the
    /// corrected inequality (9), `|e_S|^2 <= A |v|^2 + N`, and `|v|^2 <= (2/mu) gap`, the gap grows by at
    /// most a factor `1 + eta A/mu` and a term `eta N/2` per update. The growth of `T` updates is below
    /// `1/(1-a)` if `T eta A/mu <= a = mu/(32 L)`. As `A = 16 s(s+s*) R^4 log/B`, this needs `512 eta L`
    /// where the theorem's step size has 128.
    pub fn batch_theorem_43_general(&self, guarantee: Guarantee) -> f64 {
        let Guarantee { updates, slack, delta } = guarantee;
        let (s, star, t) = (self.sparsity as f64, self.star(), updates.max(1) as f64);
        let Constants { smoothness, convexity, bound, .. } = self.constants;
        let log = (2.0 * s / (delta / (2.0 * t))).ln();
        let eta_l = self.step_size * smoothness;
        let signal = 512.0 * eta_l * t * s * (s + star) * bound.powi(4) * log / (convexity * convexity);
        let noise = 8.0 * self.variance() * s * bound.powi(2) * self.step_size * t * log / slack;
        signal.max(noise)
    }

    /// Returns `T~` of Theorem 4.4, the number of Exploitation updates per stage, with
    /// `Theta(kappa^2) := kappa^2`.
    pub fn hybrid_exploit_updates(&self, budget: usize) -> u64 {
        let width = budget.saturating_sub(self.sparsity).max(1) as f64;
        let ratio = self.dim as f64 / (self.constants.condition().powi(2) * width);
        (ratio.max(1.0).ln() / -(-self.rate()).ln_1p()).ceil() as u64
    }

    /// Returns `k-check` of Theorem 4.4, the number of stages after which the support is identified.
    /// `smallest` is `r_min`.
    pub fn hybrid_identification_stage(&self, gap_0: f64, smallest: f64) -> u64 {
        let ratio = 4.0 * gap_0 / (smallest * smallest * self.constants.convexity);
        (ratio.max(1.0).ln() / -(-self.rate()).ln_1p()).ceil() as u64
    }

    /// Returns `delta_k = 3 delta/(pi^2 k^2)`, whose sum over stages and both halves is `delta`. The paper
    /// prints `delta` in the denominator.
    pub fn hybrid_delta(stage: u64, delta: f64) -> f64 {
        3.0 * delta / (PI * stage as f64).powi(2)
    }

    /// Returns `D_k^- = (a/2)(1-a)^{k-2} gap_0`, the slack of stage `k`'s Exploration.
    pub fn hybrid_explore_slack(&self, stage: u64, gap_0: f64) -> f64 {
        let a = self.rate();
        a / 2.0 * (1.0 - a).powf(stage as f64 - 2.0) * gap_0
    }

    /// Returns `D_k = (a/2)(1-a)^k gap_0`, the slack of stage `k`'s Exploitation.
    pub fn hybrid_exploit_slack(&self, stage: u64, gap_0: f64) -> f64 {
        let a = self.rate();
        a / 2.0 * (1.0 - a).powf(stage as f64) * gap_0
    }

    /// Returns `B_k^-`, the batch size of stage `k`'s three Exploration updates under this guarantee.
    pub fn hybrid_explore_batch(&self, stage: u64, guarantee: StageGuarantee) -> f64 {
        let StageGuarantee { gap_0, delta, .. } = guarantee;
        let slack = self.hybrid_explore_slack(stage, gap_0);
        self.batch_theorem_41(Guarantee { updates: 3, slack, delta: Self::hybrid_delta(stage, delta) })
    }

    /// Returns `B_k`, the batch size of stage `k`'s `updates` Exploitation updates under this guarantee. It
    /// covers both cases of Theorem 4.3.
    pub fn hybrid_exploit_batch(&self, stage: u64, updates: u64, guarantee: StageGuarantee) -> f64 {
        let StageGuarantee { gap_0, delta, .. } = guarantee;
        let (slack, delta) = (self.hybrid_exploit_slack(stage, gap_0), Self::hybrid_delta(stage, delta));
        let guarantee = Guarantee { updates, slack, delta };
        self.batch_theorem_43_identified(guarantee).max(self.batch_theorem_43_general(guarantee))
    }

    fn star(&self) -> f64 {
        self.constants.sparsity.max(1) as f64
    }

    fn variance(&self) -> f64 {
        self.constants.noise.powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isotropic(star: usize, dim: usize, sparsity: usize, noise: f64) -> Problem {
        let constants = Constants { smoothness: 2.0, convexity: 2.0, bound: 1.0, noise, sparsity: star };
        Problem { constants, dim, sparsity, step_size: Problem::theorem_step(&constants) }
    }

    #[test]
    fn literal_constants_at_d_2048_are_those_of_the_hand_calculation() {
        let problem = isotropic(1, 2048, 1025, 1.0);
        assert_eq!(Problem::required_sparsity(&problem.constants), 1025);
        assert!((problem.batch_a1(0.05, Form::Corrected) / 5.6e9 - 1.0).abs() < 0.01);
        assert!((problem.alpha_a1() / problem.rate() - 1.497).abs() < 0.001);
        assert_eq!(problem.hybrid_exploit_updates(1537), 44);
    }

    #[test]
    fn exploitation_batches_are_those_of_the_hand_calculation() {
        let problem = isotropic(1, 64, 2, 0.0);
        let guarantee = Guarantee { updates: 32, slack: 1.0, delta: 0.1 };
        assert!((problem.batch_theorem_43_identified(guarantee) / 3517.0 - 1.0).abs() < 0.01);
        assert!((problem.batch_theorem_43_general(guarantee) / 4.8e4 - 1.0).abs() < 0.02);
    }

    #[test]
    fn failure_probabilities_of_all_stages_sum_to_delta() {
        let total: f64 = (1..200_000).map(|k| 2.0 * Problem::hybrid_delta(k, 0.1)).sum();
        assert!((total - 0.1).abs() < 1e-5, "{total}");
    }
}
