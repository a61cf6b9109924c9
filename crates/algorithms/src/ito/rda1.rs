//! Algorithm 1: look at the `k_1` largest weights, and at a random set beside them that keeps the gradient unbiased.
//!
//! *Source*: Ito et al. 2017, Section 4 (Algorithm 1, equations 5 and 6, Theorem 2).
//!
//! *Setting*: one example after the other; `k'` of its attributes are chosen, seen, and the label predicted from them before
//! it is told. For the theorem: `||x|| <= 1`, `|y| <= 1`, independent attributes (no singular `E x x'`), a target with at
//! most `k_1` non-zeros.
//!
//! *Notation*: `k'` -> `budget`, `k_1` -> `kept`, `lambda_t` -> `regularization`; `U_t` is [`Rda1::largest`], `h` is
//! [`Rda1::gradient_sum`], `w_t` is [`Rda1::iterate`].
//!
//! *Update*: in round `t`
//!
//! ```text
//! w = -h / max(lambda_t, ||h||/R)
//! U = the k_1 largest |w_i|, V = k'-k_1 others at random, S = U and V;  predict w_S' x_S
//! h <- h + 2 X w - 2 y z          X_ij = x_i x_j / p_ij and z_i = x_i / p_i where observed, else 0
//! ```
//!
//! with the probabilities `p` given `U` ([`gram`](lao_observation::estimate::gram)). Ties among `|w_i|` go to the smallest
//! index; in round 1 all are ties.
//!
//! *Departures*: the ball has a radius `R`, 1 in the paper. [`Rda1Params::from_theorem`] takes `lambda_t = 8 sqrt(t/C)`:
//! the theorem prints `8 sqrt(t)/C` and its proof `8 sqrt(C t)`, but only the former gives its bound.
//!
//! *Reference*: [`Rda1Reference`](super::reference::Rda1Reference).
//!
//! *Claims*: `ito17-observe-probabilities`, `ito17-unbiased`, `ito17-lem5-second-moment`, `ito17-thm2-first`,
//! `ito17-thm2-lambda`, `ito17-alg1-exponent`, `ito17-alg1-d-rate`, `ito17-runtime`.

use super::core::Core;
use super::dual_average::Regularization;
use super::require_common;
use crate::params::{ParamError, derived, require};
use crate::task::Task;
use lao_kernels::SparseView;
use lao_observation::estimate::gram::Observe;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "RDA1";

/// Parameters of [`Rda1`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rda1Params {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k'`, attributes observed per example; `k_1 + 2 <= k' <= d`, or `k' = d`.
    pub budget: usize,
    /// `k_1`, attributes observed because their weights are largest.
    pub kept: usize,
    /// `lambda_t`.
    pub regularization: Regularization,
    /// `R`, bound on the Euclidean norm of the weights.
    pub radius: f64,
}

impl Rda1Params {
    /// Theorem 2: `lambda_t = 8 sqrt(t/C)` with `C = q (q-1)/(d (d-1))`, `q = k' - k_1`, over the unit ball. `k_1` is the
    /// task's sparsity; its radius and speed do not count.
    pub fn from_theorem(task: &Task) -> Self {
        let Task { dim, budget, sparsity: kept, .. } = *task;
        let scale = 8.0 / Observe { dim, budget, kept }.floor().sqrt();
        Rda1Params { dim, budget, kept, regularization: Regularization::sqrt(scale), radius: 1.0 }
    }

    /// For attributes of variance about 1: an eighth of the theorem's `lambda_t`, divided by the task's speed. `k_1` is
    /// its sparsity.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, budget, sparsity: kept, .. } = *task;
        let regularization = standardized(Observe { dim, budget, kept }, task);
        Ok(Rda1Params { dim, budget, kept, regularization, radius: task.radius() })
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Rda1, ParamError> {
        let Rda1Params { dim, budget, kept, regularization, radius } = self;
        require_common(NAME, dim, budget, radius)?;
        require_kept(dim, budget, kept)?;
        regularization.check(NAME, "regularization")?;
        Ok(Rda1(Core::new(dim, budget, kept, regularization, radius)))
    }
}

/// Returns `lambda_t = sqrt(t/C)/speed`.
pub(super) fn standardized(law: Observe, task: &Task) -> Regularization {
    Regularization::sqrt(derived(1.0 / (task.speed * law.floor().sqrt()), &[task.speed]))
}

/// Refuses to keep so many of the attributes observed that two others are never seen together.
fn require_kept(dim: usize, budget: usize, kept: usize) -> Result<(), ParamError> {
    require(
        kept <= budget && Observe { dim, budget, kept }.sees_every_pair(),
        NAME,
        "budget",
        budget,
        format_args!(
            "k' must be at least k_1 + 2 = {}, or d = {dim}: two attributes outside the {kept} largest are never \
             seen together otherwise",
            kept.saturating_add(2)
        ),
    )
}

/// The learner of Algorithm 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", transparent)]
pub struct Rda1(Core);

lao_observation::stored!(Rda1);

impl Validate for Rda1 {
    fn validate(&self) -> Result<(), Damaged> {
        let (budget, kept) = self.0.sizes();
        require_kept(self.0.dim(), budget, kept).map_err(ParamError::damaged)
    }
}

impl Rda1 {
    /// Takes up with `h` instead of 0, and so with any `w_t` of the ball.
    ///
    /// # Errors
    /// [`ParamError`] when `sum` is not `d` finite numbers.
    pub fn with_gradient_sum(self, sum: &[f64]) -> Result<Self, ParamError> {
        Ok(Rda1(self.0.with_gradient_sum(NAME, sum)?))
    }

    /// As [`Learner::ask`], with `drawn` for `V_t`: `k' - k_1` attributes outside [`largest`](Self::largest).
    pub fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        self.0.ask_for(drawn, ask);
    }

    /// The law that the observed set is drawn from.
    pub fn law(&self) -> Observe {
        self.0.law()
    }

    /// `U_t`, sorted.
    pub fn largest(&self) -> &[u32] {
        self.0.largest()
    }

    /// `w_t`.
    pub fn iterate(&self) -> Vec<f64> {
        self.0.average().weights()
    }

    /// `h`, the sum of all gradient estimates.
    pub fn gradient_sum(&self) -> Vec<f64> {
        self.0.average().sum().to_vec()
    }
}

impl Learner for Rda1 {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.0.ask(rng, ask);
    }
    fn predict(&self, seen: Row<'_>) -> f64 {
        self.0.predict(seen)
    }
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        self.0.tell(told)
    }
    fn coefficients(&self) -> SparseView<'_> {
        self.0.coefficients()
    }
    fn updates(&self) -> u64 {
        self.0.average().rounds()
    }
}
