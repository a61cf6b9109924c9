//! Algorithm 2: explore in rounds 1, 4, 9, ...; in between, observe the attributes that exploration found,
//! and learn their weights.
//!
//! *Source*: Ito et al. 2017, Section 5.1 and Theorem 6. **A reconstruction**: the paper's pseudo-code is in
//! a supplement that is not available. Section 5.1 fixes the exploration rounds, the two gradient sums, the
//! average `wbar_s`, and that `S_t` follows from this average. The choices that Section 5.1 leaves open are
//! marked \[R\] below.
//!
//! *Setting*: as [`rda1`](super::rda1), but `k' >= 2` attributes suffice, whatever the sparsity `k <= k'` of
//! the target.
//!
//! *Notation*: `k'` -> `budget`, `lambda_s` -> `explore`, `lambda~_t` -> `exploit`; `h^` is
//! [`Rda2::gradient_sum`], `w_s` is [`Rda2::explorer`], `wbar_s` is [`Rda2::average`], `w~_t` is
//! [`Rda2::iterate`], `S_t` between the squares is [`Rda2::chosen`].
//!
//! *Update*: in round `t`
//!
//! ```text
//! if t = s^2:  w_s = -h^ / max(lambda_s, ||h^||/R)      lambda_s = 8 sqrt(s)/C, C = k'(k'-1)/(d(d-1))  [R]
//!              wbar_s = (w_1 + ... + w_s)/s
//!              S = a uniform set of k' attributes       (k_1 = 0) [R]
//! else:        S = the k' largest |wbar_s,i|            (the same set until the next square)
//! w~ = -h~ / max(lambda~_t, ||h~||/R)                   lambda~_t = 8 sqrt(t) [R];  predict w~_S' x_S
//! h~ <- h~ + 2 (w~_S' x_S - y) x_S
//! if t = s^2:  h^ <- h^ + 2 X w_s - 2 y z               as in Algorithm 1
//! ```
//!
//! The reasons for the choices are:
//! - `lambda_s = 8 sqrt(s)/C` gives the paper's constant 4096 in the third term of Theorem 6, by the pathwise
//!   regret of dual averaging with `||g^|| <= 4/C`;
//! - `k_1 = 0`, since the bounds contain `C_{d,k',0}`; the text allows any `k_1` up to `k' - 2`;
//! - `lambda~_t = 8 sqrt(t)` gives the term `8 sqrt(T+1)` with `||D g~|| <= 4`;
//! - `S_t` is random at the squares themselves. The text has it constant from one square to the next, but
//!   then no pair of unchosen attributes would ever be observed;
//! - `h~` is computed from `w~`. The text says `w`, but means the vector that predicted.
//!
//! *Departures*: beside \[R\], `S` has the `k'` largest entries, where Section 5.2 says the `k` largest: the
//! method has no input `k`, and the two agree for `k' = k`. The ball has a radius `R`, which is 1 in the
//! paper. The estimate, [`coefficients`](lao_observation::Learner::coefficients), is `w~` on the `k'`
//! attributes chosen. A round costs O(k'), and a square round O(d) more, which is O(k' + d/sqrt(t)) per
//! example on average.
//!
//! *Reference*: [`Rda3Reference::rda2`](super::reference::Rda3Reference::rda2).
//!
//! *Claims*: `ito17-thm6-decomposition`, `ito17-alg2-consistency`, `ito17-thm6-bound`,
//! `ito17-alg23-exponent`, `ito17-instance-b-not-a`, `ito17-table2`, `ito17-table3`.

use super::dual_average::Regularization;
use super::gram::Observe;
use super::square_rounds::{Averaging, SquareRounds};
use super::{Rda3Params, require_common, require_pairs};
use crate::params::{ParamError, derived, number, require};
use crate::task::Task;
use serde::{Deserialize, Serialize};

const NAME: &str = "RDA2";

/// Parameters of [`Rda2`].
///
/// ```
/// use lao_algorithms::{Task, ito::Rda2Params};
///
/// let task = Task { dim: 100, sparsity: 4, budget: 10, ..Task::default() };
/// let learner = Rda2Params::practical(&task)?.build()?;
/// assert!(learner.explores(), "round 1 is a square");
/// assert_eq!(Rda2Params::practical(&task)?.explore.power, 0.5);
///
/// let refused = Rda2Params::practical(&Task { budget: 1, ..task })?.build().unwrap_err();
/// assert_eq!(refused.field, "budget");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rda2Params {
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
}

impl Rda2Params {
    /// Returns the parameters of Theorem 6, as reconstructed: `lambda_s = 8 sqrt(s)/C` and
    /// `lambda~_t = 8 sqrt(t)`, over the unit ball. The task's radius and speed are not used.
    pub fn from_theorem(task: &Task) -> Self {
        let Task { dim, budget, .. } = *task;
        let explore = Regularization::sqrt(8.0 / Observe { dim, budget, kept: 0 }.floor());
        Rda2Params { dim, budget, explore, exploit: Regularization::sqrt(8.0), radius: 1.0 }
    }

    /// Returns practical parameters for attributes of variance about 1: the theorem's `lambda_s` and half of
    /// its `lambda~_t`, both divided by the task's speed.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        Ok(Self::standardized(task))
    }

    /// Returns [`practical`](Self::practical) parameters for a task whose speed was checked.
    pub(super) fn standardized(task: &Task) -> Self {
        let Task { dim, budget, speed, .. } = *task;
        let slower = 1.0 / speed;
        let explore = slower * 8.0 / Observe { dim, budget, kept: 0 }.floor();
        let [explore, exploit] =
            [explore, 0.5 * slower * 8.0].map(|scale| Regularization::sqrt(derived(scale, &[speed])));
        Rda2Params { dim, budget, explore, exploit, radius: task.radius() }
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Rda2, ParamError> {
        let Rda2Params { dim, budget, explore, exploit, radius } = self;
        require_common(NAME, dim, budget, radius)?;
        require_pairs(NAME, dim, budget)?;
        explore.check(NAME, "explore")?;
        exploit.check(NAME, "exploit")?;
        Ok(SquareRounds::new(Rda3Params { dim, budget, explore, exploit, radius, penalty: 0.0 }))
    }
}

/// The learner of Algorithm 2, as reconstructed.
pub type Rda2 = SquareRounds<Rda2Params>;

impl Averaging for Rda2Params {
    const METHOD: &'static str = NAME;
    const DECAY: f64 = 0.0;

    fn require_penalty(penalty: f64) -> Result<(), ParamError> {
        require(penalty == 0.0, NAME, "penalty", number(penalty), "0, since the method has no l1 term")
    }
}
