//! Uniform choice: observe a random set of `k'` attributes.
//!
//! *Source*: Ito et al. 2017, Section 6, baseline (ii).
//!
//! *Setting*: as [`rda1`](super::rda1).
//!
//! *Notation*: as [`rda1`](super::rda1), with `k_1 = 0`.
//!
//! *Update*: that of [`rda1`](super::rda1) with `p_i = k'/d` and `p_ij = k'(k'-1)/(d(d-1))`; the prediction
//! is `w_S' x_S` on the random set `S`.
//!
//! The weights converge, and yet the regret grows linearly: the set that predicts misses most of the target.
//!
//! *Departures*: the paper does not say how the weights are found; they are those of Algorithm 1.
//!
//! *Reference*: [`Rda1Reference::uniform`](super::reference::Rda1Reference::uniform).
//!
//! *Claims*: `ito17-table2`, `ito17-table3`, `ito17-fig1`, `ito17-fig2`.

use super::dual_average::Regularization;
use super::gram::Observe;
use super::rda1::standardized;
use super::rounds::{Choice, DualAveragingRounds};
use super::{require_common, require_pairs};
use crate::params::{ParamError, require};
use crate::task::Task;
use serde::{Deserialize, Serialize};

const NAME: &str = "uniform";

/// Parameters of [`Uniform`].
///
/// ```
/// use lao_algorithms::{Task, ito::UniformParams};
///
/// let task = Task { dim: 100, sparsity: 4, budget: 10, ..Task::default() };
/// let law = UniformParams::practical(&task)?.build()?.law();
/// assert_eq!((law.kept, law.drawn()), (0, 10));
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
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
    /// Returns the parameters of [`Rda1Params::practical`](super::Rda1Params::practical) with `k_1 = 0`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, budget, .. } = *task;
        let regularization = standardized(Observe { dim, budget, kept: 0 }, task);
        Ok(UniformParams { dim, budget, regularization, radius: task.radius() })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Uniform, ParamError> {
        let UniformParams { dim, budget, regularization, radius } = self;
        require_common(NAME, dim, budget, radius)?;
        let law = Observe { dim, budget, kept: 0 };
        Self::require(law)?;
        regularization.check(NAME, "regularization")?;
        Ok(DualAveragingRounds::new(law, regularization, radius))
    }
}

/// The learner of uniform choice, which only explores.
pub type Uniform = DualAveragingRounds<UniformParams>;

impl Choice for UniformParams {
    const METHOD: &'static str = NAME;

    /// Refuses `k_1` other than 0, and sizes with which a pair of attributes is never observed together.
    fn require(law: Observe) -> Result<(), ParamError> {
        require_pairs(NAME, law.dim, law.budget)?;
        require(law.kept == 0, NAME, "kept", law.kept, "0")
    }
}
