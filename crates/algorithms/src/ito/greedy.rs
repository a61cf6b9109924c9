//! Greedy choice: observe the `k'` attributes with the largest weights, and no others.
//!
//! *Source*: Ito et al. 2017, Section 6, baseline (i).
//!
//! *Setting*: as [`rda1`](super::rda1).
//!
//! *Notation*: as [`rda1`](super::rda1), with `U_t = S_t`.
//!
//! *Update*: set `w = -h / max(lambda_t, ||h||/R)`; predict `w_S' x_S` from the `k'` largest `|w_i|`; then
//! `h_i <- h_i + 2 x_i (w_S' x_S - y)` for `i` in `S`.
//!
//! Nothing outside `S` ever gets a weight, so from `w = 0` the first `k'` attributes are chosen for good.
//!
//! *Departures*: the paper says only that `w_t` is "computed as in Algorithm 1". The estimate of Algorithm 1
//! divides by the probabilities of observing, which are 0 or 1 here; our reading is the gradient restricted
//! to the observed attributes.
//!
//! *Reference*: [`Rda1Reference::greedy`](super::reference::Rda1Reference::greedy).
//!
//! *Claims*: `ito17-greedy-linear`, `ito17-table2`, `ito17-table3`, `ito17-fig1`, `ito17-fig2`.

use super::dual_average::Regularization;
use super::gram::Observe;
use super::require_common;
use super::rounds::{Choice, DualAveragingRounds};
use crate::params::{ParamError, derived, require};
use crate::task::Task;
use serde::{Deserialize, Serialize};

const NAME: &str = "greedy";

/// Parameters of [`Greedy`].
///
/// ```
/// use lao_algorithms::{Task, ito::GreedyParams};
///
/// let task = Task { dim: 100, sparsity: 4, budget: 10, ..Task::default() };
/// let learner = GreedyParams::practical(&task)?.build()?;
/// // All weights are 0, so the first k' attributes are chosen.
/// assert_eq!(learner.largest(), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
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
    /// Returns practical parameters for attributes of variance about 1: `lambda_t = 4 sqrt(t)/speed`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, budget, speed, .. } = *task;
        let regularization = Regularization::sqrt(derived(4.0 / speed, &[speed]));
        Ok(GreedyParams { dim, budget, regularization, radius: task.radius() })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Greedy, ParamError> {
        let GreedyParams { dim, budget, regularization, radius } = self;
        require_common(NAME, dim, budget, radius)?;
        regularization.check(NAME, "regularization")?;
        let law = Observe { dim, budget, kept: budget };
        Ok(DualAveragingRounds::new(law, regularization, radius))
    }
}

/// The learner of greedy choice, which never explores.
pub type Greedy = DualAveragingRounds<GreedyParams>;

impl Choice for GreedyParams {
    const METHOD: &'static str = NAME;

    /// Refuses `k_1` other than `k'`: all observed attributes are those with the largest weights.
    fn require(law: Observe) -> Result<(), ParamError> {
        let Observe { budget, kept, .. } = law;
        require(kept == budget, NAME, "kept", kept, format_args!("k' = {budget}"))
    }
}
