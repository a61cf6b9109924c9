//! The parameters of Pursuit.

use super::{NAME, Pursuit};
use crate::params::{ParamError, number, require, require_dim, require_shape};
use crate::state;
use crate::task::Task;
use serde::{Deserialize, Serialize};

/// Parameters of [`Pursuit`].
///
/// ```
/// use lao_algorithms::pursuit::PursuitParams;
/// use lao_observation::Learner;
///
/// let learner = PursuitParams::within(500, 20).build()?;
/// assert_eq!(learner.examples_to_next_update(), Some(10));
///
/// let refused = PursuitParams { level: 2.0, ..PursuitParams::within(500, 20) }.build().unwrap_err();
/// assert_eq!(refused.field, "level");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PursuitParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `s'`, attributes observed per example; `1 <= s' <= d`.
    pub budget: usize,
    /// The probability with which any attribute without effect is ever added, at most; in (0, 1).
    #[serde(default = "default_level")]
    pub level: f64,
    /// The largest number of attributes of the predictor. `None` is four fifths of the budget, so that a
    /// fifth is left to look for others, and `d` if the budget is `d`.
    #[serde(default)]
    pub longest: Option<usize>,
    /// Attributes that the predictor always has, ascending.
    #[serde(default)]
    pub always: Vec<u32>,
    /// Attributes that are never observed, ascending.
    #[serde(default)]
    pub never: Vec<u32>,
}

fn default_level() -> f64 {
    0.05
}

impl PursuitParams {
    /// Returns the parameters for `dim` attributes of which `budget` may be observed per example.
    pub fn within(dim: usize, budget: usize) -> Self {
        PursuitParams {
            dim,
            budget,
            level: default_level(),
            longest: None,
            always: Vec::new(),
            never: Vec::new(),
        }
    }

    /// Returns the parameters for a task: its sparsity is the largest number of attributes of the predictor;
    /// radius, speed and start are not used.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or the budget does not exceed the sparsity.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        require_shape(NAME, task.dim, task.sparsity, task.budget)?;
        Ok(PursuitParams { longest: Some(task.sparsity), ..Self::within(task.dim, task.budget) })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Pursuit, ParamError> {
        self.check()?;
        Ok(Pursuit::begin(self))
    }

    pub(super) fn check(&self) -> Result<(), ParamError> {
        let PursuitParams { dim, budget, level, longest, always, never } = self;
        require_dim(NAME, 1, *dim)?;
        let allowed = format_args!("s' must lie in 1..={dim}");
        require((1..=*dim).contains(budget), NAME, "budget", budget, allowed)?;
        let fits = dim.checked_mul(*budget).is_some_and(|pairs| pairs <= 1 << 27);
        require(fits, NAME, "budget", budget, "d s' must not exceed 2^27, which takes 2 GiB of memory")?;
        let inside = *level > 0.0 && *level < 1.0;
        require(inside, NAME, "level", number(*level), "a probability between 0 and 1, both excluded")?;
        let longest = longest.unwrap_or(1);
        require(longest >= 1, NAME, "longest", longest, "at least 1 attribute")?;
        for (field, list) in [("always", always), ("never", never)] {
            let count = list.len();
            let allowed = format_args!("attributes below {dim} in ascending order, each once");
            require(state::is_set(list, *dim), NAME, field, format_args!("{count} attributes"), allowed)?;
        }
        let most = format_args!("fewer than all {dim} attributes");
        require(never.len() < *dim, NAME, "never", format_args!("{} attributes", never.len()), most)?;
        let room = format_args!("at most {}, the longest support", self.longest());
        require(always.len() <= self.longest(), NAME, "always", always.len(), room)?;
        let both = always.iter().find(|j| never.binary_search(j).is_ok());
        let both = both.map_or(String::new(), |j| format!("attribute {j}"));
        require(both.is_empty(), NAME, "never", both, "an attribute cannot be in `always` as well")
    }

    /// Returns the largest number of attributes of the predictor.
    pub(super) fn longest(&self) -> usize {
        let reserve = if self.budget < self.dim { (self.budget / 5).max(1) } else { 0 };
        let room = (self.budget - reserve.min(self.budget)).max(1);
        self.longest.map_or(room, |longest| longest.min(room))
    }
}
