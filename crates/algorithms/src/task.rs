//! What a user knows before the first example.

use crate::params::{ParamError, number, require};
use lao_kernels::SparseVector;
use serde::{Deserialize, Serialize};

/// What a user knows before the first example: enough for the practical parameters of every method.
///
/// The three sizes have no default that works and must be given; the other fields have defaults. A method
/// uses the fields that it needs and ignores the rest.
///
/// ```
/// use lao_algorithms::{Task, murata_suzuki::HybridParams};
///
/// let task = Task { dim: 500, sparsity: 4, budget: 20, ..Task::default() };
/// let learner = HybridParams::practical(&task)?.build()?;
///
/// let refused = HybridParams::practical(&Task { speed: -1.0, ..task }).unwrap_err();
/// assert!(refused.to_string().starts_with("Hybrid: speed = -1 is not allowed"));
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// `d`, the number of attributes of an example.
    pub dim: usize,
    /// The number of non-zeros that the predictor may have.
    pub sparsity: usize,
    /// The number of attributes that may be observed per example.
    pub budget: usize,
    /// Upper bound on the norm of the predictors, in units of label per unit of attribute; the method decides
    /// whether it is the l1 or the l2 norm. `None` stands for the sparsity, in the same units.
    pub radius: Option<f64>,
    /// The number of examples that the step sizes of the methods with a fixed horizon are tuned for; 100,000
    /// by default.
    pub examples: u64,
    /// Factor of the method's own step size, a number from 1e-300 to 1e300. The default, 1, is meant for
    /// standardized, weakly correlated attributes; correlated ones need less, and a
    /// [safeguard](crate::safeguard) finds how much less.
    pub speed: f64,
    /// The first iterate. Without one, methods start at zero; Exploitation then refines the first `sparsity`
    /// attributes.
    pub start: Option<SparseVector>,
}

impl Default for Task {
    fn default() -> Self {
        Task { dim: 0, sparsity: 0, budget: 0, radius: None, examples: 100_000, speed: 1.0, start: None }
    }
}

impl Task {
    /// Returns the bound on the norm of the predictors.
    pub fn radius(&self) -> f64 {
        self.radius.unwrap_or(self.sparsity as f64)
    }

    /// Refuses a speed that no method can take. The other fields are checked with the parameters that they
    /// become.
    pub(crate) fn check(&self, method: &'static str) -> Result<(), ParamError> {
        let allowed = "a number from 1e-300 to 1e300; 1 is the method's own choice";
        require((1e-300..=1e300).contains(&self.speed), method, "speed", number(self.speed), allowed)
    }

    /// Returns the step size of the methods whose own choice is 1/4.
    pub(crate) fn step_size(&self) -> f64 {
        0.25 * self.speed
    }
}
