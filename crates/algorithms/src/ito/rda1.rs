//! Algorithm 1: observe the `k_1` attributes with the largest weights, and a random set of others, which
//! keeps the gradient unbiased.
//!
//! *Source*: Ito et al. 2017, Section 4 (Algorithm 1, equations 5 and 6, Theorem 2).
//!
//! *Setting*: of each example, the learner chooses `k'` attributes, observes them, predicts the label from
//! them and is then told the label. The theorem assumes `||x|| <= 1`, `|y| <= 1`, independent attributes (a
//! regular `E x x'`) and a target with at most `k_1` non-zeros.
//!
//! *Notation*: `k'` -> `budget`, `k_1` -> `kept`, `lambda_t` -> `regularization`; `U_t` is [`Rda1::largest`],
//! `h` is [`Rda1::gradient_sum`], `w_t` is [`Rda1::iterate`].
//!
//! *Update*: in round `t`
//!
//! ```text
//! w = -h / max(lambda_t, ||h||/R)
//! U = the k_1 largest |w_i|, V = k'-k_1 others at random, S = U and V;  predict w_S' x_S
//! h <- h + 2 X w - 2 y z          X_ij = x_i x_j / p_ij and z_i = x_i / p_i where observed, else 0
//! ```
//!
//! where the probabilities `p` are those given `U` ([`gram`](super::gram)). Among equal `|w_i|` the smallest
//! index wins; in round 1 all are equal.
//!
//! *Departures*: the ball has a radius `R`, which is 1 in the paper. [`Rda1Params::from_theorem`] takes
//! `lambda_t = 8 sqrt(t/C)`: the theorem prints `8 sqrt(t)/C` and its proof `8 sqrt(C t)`, but the derivation
//! of the bound needs `8 sqrt(t/C)`.
//!
//! *Reference*: [`Rda1Reference`](super::reference::Rda1Reference).
//!
//! *Claims*: `ito17-observe-probabilities`, `ito17-unbiased`, `ito17-lem5-second-moment`, `ito17-thm2-first`,
//! `ito17-thm2-lambda`, `ito17-alg1-exponent`, `ito17-alg1-d-rate`, `ito17-runtime`.

use super::dual_average::Regularization;
use super::gram::Observe;
use super::require_common;
use super::rounds::{Choice, DualAveragingRounds};
use crate::params::{ParamError, derived, require};
use crate::task::Task;
use serde::{Deserialize, Serialize};

const NAME: &str = "RDA1";

/// Parameters of [`Rda1`].
///
/// ```
/// use lao_algorithms::{Task, ito::Rda1Params};
/// use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
/// use lao_kernels::SparseVector;
/// use lao_observation::{Budget, Seed, Session, SessionLimit};
///
/// let target = SparseVector::new(20, vec![7], vec![1.0])?;
/// let source = Virtual::new(Rademacher::new(20)?, target, Noise::Gaussian(0.1), &Seed::root(1))?;
/// let task = Task { dim: 20, sparsity: 1, budget: 5, ..Task::default() };
/// let mut learner = Rda1Params::practical(&task)?.build()?;
/// let mut session = Session::new(source, Budget::PerExample(5), &Seed::root(2)).online();
/// session.run(&mut learner, SessionLimit::after_examples(5000), |_, _| {})?;
/// assert_eq!(learner.largest(), &[7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rda1Params {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k'`, attributes observed per example; `k_1 + 2 <= k' <= d`, or `k' = d`.
    pub budget: usize,
    /// `k_1`, the number of attributes observed because their weights are largest.
    pub kept: usize,
    /// `lambda_t`.
    pub regularization: Regularization,
    /// `R`, bound on the Euclidean norm of the weights.
    pub radius: f64,
}

impl Rda1Params {
    /// Returns the parameters of Theorem 2: `lambda_t = 8 sqrt(t/C)` with `C = q (q-1)/(d (d-1))` and
    /// `q = k' - k_1`, over the unit ball. `k_1` is the task's sparsity; the task's radius and speed are not
    /// used.
    pub fn from_theorem(task: &Task) -> Self {
        let Task { dim, budget, sparsity: kept, .. } = *task;
        let scale = 8.0 / Observe { dim, budget, kept }.floor().sqrt();
        Rda1Params { dim, budget, kept, regularization: Regularization::sqrt(scale), radius: 1.0 }
    }

    /// Returns practical parameters for attributes of variance about 1: an eighth of the theorem's
    /// `lambda_t`, divided by the task's speed. `k_1` is the task's sparsity.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, budget, sparsity: kept, .. } = *task;
        let regularization = standardized(Observe { dim, budget, kept }, task);
        Ok(Rda1Params { dim, budget, kept, regularization, radius: task.radius() })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Rda1, ParamError> {
        let Rda1Params { dim, budget, kept, regularization, radius } = self;
        require_common(NAME, dim, budget, radius)?;
        let law = Observe { dim, budget, kept };
        Self::require(law)?;
        regularization.check(NAME, "regularization")?;
        Ok(DualAveragingRounds::new(law, regularization, radius))
    }
}

/// Returns `lambda_t = sqrt(t/C)/speed`.
pub(super) fn standardized(law: Observe, task: &Task) -> Regularization {
    Regularization::sqrt(derived(1.0 / (task.speed * law.floor().sqrt()), &[task.speed]))
}

/// The learner of Algorithm 1.
pub type Rda1 = DualAveragingRounds<Rda1Params>;

impl Choice for Rda1Params {
    const METHOD: &'static str = NAME;

    /// Refuses sizes with which two attributes outside `U_t` are never observed together.
    fn require(law: Observe) -> Result<(), ParamError> {
        let Observe { dim, budget, kept } = law;
        let allowed = format_args!(
            "at least k_1 + 2 = {}, or d = {dim}; otherwise two attributes outside the {kept} largest are \
             never observed together",
            kept.saturating_add(2)
        )
        .to_string();
        require(kept <= budget && law.sees_every_pair(), NAME, "budget", budget, allowed)
    }
}
