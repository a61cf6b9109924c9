//! Greedy choice: look at the `k'` largest weights and at nothing else.
//!
//! *Source*: Ito et al. 2017, Section 6, baseline (i).
//!
//! *Setting*: as [`rda1`](super::rda1).
//!
//! *Notation*: as [`rda1`](super::rda1), with `U_t = S_t`.
//!
//! *Update*: `w = -h / max(lambda_t, ||h||/R)`; predict `w_S' x_S` from the `k'` largest `|w_i|`; then `h_i <- h_i + 2 x_i
//! (w_S' x_S - y)` for `i` in `S`.
//!
//! Nothing outside `S` ever gets a weight, so from `w = 0` the first `k'` attributes are chosen for good.
//!
//! *Departures*: the paper says only that `w_t` is "computed as in Algorithm 1". Its estimate divides by the probabilities of
//! observing, which are 0 or 1 here; read as above, it is the gradient restricted to what is observed.
//!
//! *Reference*: [`Rda1Reference::greedy`](super::reference::Rda1Reference::greedy).
//!
//! *Claims*: `ito17-table2`, `ito17-table3`, `ito17-fig1`, `ito17-fig2`.

use super::core::Core;
use super::dual_average::Regularization;
use super::require_common;
use crate::params::{ParamError, derived};
use crate::task::Task;
use lao_kernels::SparseView;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "greedy";

/// Parameters of [`Greedy`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GreedyParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k'`, attributes observed per example.
    pub budget: usize,
    /// `lambda_t`.
    pub regularization: Regularization,
    /// `R`, bound on the Euclidean norm of the weights.
    pub radius: f64,
}

impl GreedyParams {
    /// For attributes of variance about 1: `lambda_t = 4 sqrt(t)/speed`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, budget, speed, .. } = *task;
        let regularization = Regularization::sqrt(derived(4.0 / speed, &[speed]));
        Ok(GreedyParams { dim, budget, regularization, radius: task.radius() })
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Greedy, ParamError> {
        let GreedyParams { dim, budget, regularization, radius } = self;
        require_common(NAME, dim, budget, radius)?;
        regularization.check(NAME, "regularization")?;
        Ok(Greedy(Core::new(dim, budget, budget, regularization, radius)))
    }
}

/// The learner that exploits only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", transparent)]
pub struct Greedy(Core);

lao_observation::stored!(Greedy);

impl Validate for Greedy {
    fn validate(&self) -> Result<(), Damaged> {
        let (budget, kept) = self.0.sizes();
        Damaged::unless(kept == budget, NAME, || "it does not keep all attributes that it observes")
    }
}

impl Greedy {
    /// Takes up with `h` instead of 0, and so with any `w_t` of the ball.
    ///
    /// # Errors
    /// [`ParamError`] when `sum` is not `d` finite numbers.
    pub fn with_gradient_sum(self, sum: &[f64]) -> Result<Self, ParamError> {
        Ok(Greedy(self.0.with_gradient_sum(NAME, sum)?))
    }

    /// `S_t`, sorted.
    pub fn largest(&self) -> &[u32] {
        self.0.largest()
    }

    /// `w_t`.
    pub fn iterate(&self) -> Vec<f64> {
        self.0.average().weights()
    }

    /// `h`, the sum of all gradients.
    pub fn gradient_sum(&self) -> Vec<f64> {
        self.0.average().sum().to_vec()
    }
}

impl Learner for Greedy {
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
