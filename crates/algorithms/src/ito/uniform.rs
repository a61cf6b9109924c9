//! Uniform choice: look at a random set of `k'` attributes.
//!
//! *Source*: Ito et al. 2017, Section 6, baseline (ii).
//!
//! *Setting*: as [`rda1`](super::rda1).
//!
//! *Notation*: as [`rda1`](super::rda1), with `k_1 = 0`.
//!
//! *Update*: that of [`rda1`](super::rda1) with `p_i = k'/d` and `p_ij = k'(k'-1)/(d(d-1))`; the prediction is `w_S' x_S` on
//! the random set `S`.
//!
//! It learns, and yet its regret grows linearly: the set that it predicts from misses most of the target.
//!
//! *Departures*: the paper does not say how the weights are found; they are those of Algorithm 1.
//!
//! *Reference*: [`Rda1Reference::uniform`](super::reference::Rda1Reference::uniform).
//!
//! *Claims*: `ito17-table2`, `ito17-table3`, `ito17-fig1`, `ito17-fig2`.

use super::core::Core;
use super::dual_average::Regularization;
use super::rda1::standardized;
use super::{require_common, require_pairs};
use crate::params::ParamError;
use crate::task::Task;
use lao_kernels::SparseView;
use lao_observation::estimate::gram::Observe;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "uniform";

/// Parameters of [`Uniform`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniformParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k'`, attributes observed per example; `2 <= k' <= d`.
    pub budget: usize,
    /// `lambda_t`.
    pub regularization: Regularization,
    /// `R`, bound on the Euclidean norm of the weights.
    pub radius: f64,
}

impl UniformParams {
    /// As [`Rda1Params::practical`](super::Rda1Params::practical) with `k_1 = 0`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, budget, .. } = *task;
        let regularization = standardized(Observe { dim, budget, kept: 0 }, task);
        Ok(UniformParams { dim, budget, regularization, radius: task.radius() })
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Uniform, ParamError> {
        let UniformParams { dim, budget, regularization, radius } = self;
        require_common(NAME, dim, budget, radius)?;
        require_pairs(NAME, dim, budget)?;
        regularization.check(NAME, "regularization")?;
        Ok(Uniform(Core::new(dim, budget, 0, regularization, radius)))
    }
}

/// The learner that explores only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", transparent)]
pub struct Uniform(Core);

lao_observation::stored!(Uniform);

impl Validate for Uniform {
    fn validate(&self) -> Result<(), Damaged> {
        let (budget, kept) = self.0.sizes();
        require_pairs(NAME, self.0.dim(), budget).map_err(ParamError::damaged)?;
        Damaged::unless(kept == 0, NAME, || "it keeps attributes, but draws all of them")
    }
}

impl Uniform {
    /// Takes up with `h` instead of 0, and so with any `w_t` of the ball.
    ///
    /// # Errors
    /// [`ParamError`] when `sum` is not `d` finite numbers.
    pub fn with_gradient_sum(self, sum: &[f64]) -> Result<Self, ParamError> {
        Ok(Uniform(self.0.with_gradient_sum(NAME, sum)?))
    }

    /// As [`Learner::ask`], with `drawn` for `S_t`: `k'` attributes.
    pub fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        self.0.ask_for(drawn, ask);
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

impl Learner for Uniform {
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
