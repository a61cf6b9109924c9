//! Algorithm 3: Algorithm 2 with an l1 term in the exploration, for attributes that depend on one another.
//!
//! *Source*: Ito et al. 2017, Section 5.2 and Theorem 7. **A reconstruction**: the paper's pseudo-code is in
//! a supplement that is not available. Section 5.2 says that `w_s` gets an "l1-regularization" and that
//! `wbar_s` is "a weighted average"; the choices that it leaves open are marked \[R\] below, and those of
//! [`rda2`](super::rda2) apply, too.
//!
//! *Setting*: as [`rda2`](super::rda2), with the compatibility condition in place of independent attributes.
//!
//! *Notation*: as [`rda2`](super::rda2); `rho_0` -> `penalty`.
//!
//! *Update*: that of [`rda2`](super::rda2), but in the rounds `t = s^2`
//!
//! ```text
//! u = sign(h^) max(|h^| - Lambda_s, 0)
//! Lambda_s = rho_1 + ... + rho_{s-1}, rho_j = rho_0 j^(-1/4)  [R]
//! w_s = -u / max(lambda_s, ||u||/R)
//!     = argmin h^' w + Lambda_s ||w||_1 + (lambda_s/2) ||w||^2 over the ball
//! wbar_s = sum of rho_j w_j / sum of rho_j, j = 1..s  [R]
//! ```
//!
//! The sum of the penalties is of order `s^(3/4)`, between the noise of `h^`, of order `sqrt s`, and its
//! drift, of order `s`. The average has the weights `rho_j`, so that the regret of the penalized objective,
//! divided by the sum of the weights, gives a bound for `wbar_s`.
//!
//! *Departures*: those of [`rda2`](super::rda2).
//!
//! *Reference*: [`Rda3Reference`](super::reference::Rda3Reference).
//!
//! *Claims*: `ito17-thm6-decomposition`, `ito17-alg3-consistency`, `ito17-thm7-bound`,
//! `ito17-alg23-exponent`, `ito17-instance-b-not-a`, `ito17-table2`, `ito17-table3`.

use super::dual_average::Regularization;
use super::square_rounds::{Averaging, SquareRounds};
use super::{Rda2Params, require_common, require_pairs};
use crate::params::{ParamError, number, require};
use crate::task::Task;
use serde::{Deserialize, Serialize};

const NAME: &str = "RDA3";

/// Parameters of [`Rda3`].
///
/// ```
/// use lao_algorithms::{Task, ito::{Rda2Params, Rda3Params}};
///
/// let task = Task { dim: 100, sparsity: 4, budget: 10, ..Task::default() };
/// let params = Rda3Params::practical(&task)?;
/// assert_eq!(params.penalty, 0.5);
/// assert_eq!(params.explore, Rda2Params::practical(&task)?.explore);
/// assert!(params.build()?.explores(), "round 1 is a square");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rda3Params {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k'`, attributes observed per example; `2 <= k' <= d`.
    pub budget: usize,
    /// `lambda_s` of the exploration rounds, counted `s = 1, 2, ...`.
    pub explore: Regularization,
    /// `lambda~_t` of the predictions.
    pub exploit: Regularization,
    /// `R`, bound on the Euclidean norm of the weights.
    pub radius: f64,
    /// `rho_0`, the weight of the l1 term, 0 or from 1e-150 to 1e150. With 0 the method is Algorithm 2 with a
    /// weighted average.
    pub penalty: f64,
}

impl Rda3Params {
    /// Returns the parameters of [`Rda2Params::from_theorem`] with `rho_0 = penalty`, which no theorem gives.
    pub fn from_theorem(task: &Task, penalty: f64) -> Self {
        Self::beside(Rda2Params::from_theorem(task), penalty)
    }

    /// Returns the parameters of [`Rda2Params::practical`] with `rho_0 = 1/2`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        Ok(Self::beside(Rda2Params::standardized(task), 0.5))
    }

    fn beside(Rda2Params { dim, budget, explore, exploit, radius }: Rda2Params, penalty: f64) -> Self {
        Rda3Params { dim, budget, explore, exploit, radius, penalty }
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Rda3, ParamError> {
        let Rda3Params { dim, budget, explore, exploit, radius, penalty } = self;
        require_common(NAME, dim, budget, radius)?;
        require_pairs(NAME, dim, budget)?;
        explore.check(NAME, "explore")?;
        exploit.check(NAME, "exploit")?;
        Self::require_penalty(penalty)?;
        Ok(SquareRounds::new(self))
    }
}

/// The learner of Algorithm 3, as reconstructed.
pub type Rda3 = SquareRounds<Rda3Params>;

impl Averaging for Rda3Params {
    const METHOD: &'static str = NAME;
    /// The power of `rho_s`.
    const DECAY: f64 = 0.25;

    fn require_penalty(penalty: f64) -> Result<(), ParamError> {
        let ok = penalty == 0.0 || (1e-150..=1e150).contains(&penalty);
        require(ok, NAME, "penalty", number(penalty), "0, or a number from 1e-150 to 1e150")
    }
}
