//! AERR: stochastic gradient descent on the l2 ball from k + 1 attributes per example.
//!
//! *Source*: Hazan & Koren 2012, Algorithm 1.
//!
//! *Setting*: examples with `|x|_2 <= 1` and `|y| <= B`, loss `(w.x - y)^2 / 2`; competes with the best
//! predictor of l2 norm at most `B` (Ridge).
//!
//! *Notation*: `k` -> `draws`, `B` -> `radius`, `eta` -> `step_size`, `w_1` -> `start`; `w_t` is
//! [`iterate`](Aerr::iterate); the output `w-bar = (w_1 + .. + w_m)/m` is `coefficients()`.
//!
//! *Update*: of one example, observe `k` uniform draws `i_1 .. i_k`, with replacement, and one `j` drawn with
//! probability `w_j^2 / |w|_2^2`; then
//!
//! ```text
//! x~  = (d/k) sum_r x[i_r] e_{i_r}
//! phi = |w|_2^2 x_j / w_j - y
//! v   = w - eta phi x~
//! w  <- v min(1, B / |v|_2)
//! ```
//!
//! *Departures*: at `w = 0`, where the law of `j` is undefined, `phi = -y`, which is unbiased, and the first
//! uniform draw is observed in the place of `j`. So `w_1 = 0` is allowed; it is the default.
//!
//! *Draws by size*: [`drawing_by`](TwoSample::drawing_by) draws `i_r` in proportion to the size of
//! attributes.
//!
//! *Reference*: [`AerrReference`](super::reference::AerrReference).
//!
//! *Claims*: `hk12-lem32-ogd`, `hk12-lem33-unbiased`, `hk12-lem33-second-moment`, `hk12-thm31-risk`,
//! `hk12-draws-by-size`.

use super::l2_ball_iterate::L2BallIterate;
use super::two_sample::{Iterate, Step, TwoSample, TwoSampleMethod};
use crate::draws::{Horizon, Prediction, require_shape};
use crate::params::{ParamError, derived, require};
use crate::task::Task;
use lao_kernels::SparseVector;
use lao_observation::estimate::{attributes::weighted_with_replacement, inner_product::l2_law};
use lao_observation::{LearnError, Row};
use serde::{Deserialize, Serialize};

const NAME: &str = "AERR";

/// Parameters of [`Aerr`].
///
/// ```
/// use lao_algorithms::{Task, hazan_koren::AerrParams};
/// use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
/// use lao_kernels::SparseVector;
/// use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
///
/// let target = SparseVector::new(20, vec![3], vec![1.0])?;
/// let source = Virtual::new(Rademacher::new(20)?, target, Noise::Gaussian(0.1), &Seed::root(1))?;
/// let task = Task { dim: 20, sparsity: 1, budget: 5, examples: 20_000, ..Task::default() };
/// let mut learner = AerrParams::practical(&task)?.build()?;
/// let mut session = Session::new(source, Budget::PerExample(5), &Seed::root(2));
/// session.run(&mut learner, SessionLimit::after_examples(20_000), |_, _| {})?;
/// // The average still contains the first iterates, which are near 0.
/// assert!(learner.coefficients().get(3) > 0.4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AerrParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k`, uniform draws per example, from 1 to 16 d; k + 1 attributes are observed.
    pub draws: usize,
    /// `B`, the largest l2 norm of a predictor, from 1e-150 to 1e150.
    pub radius: f64,
    /// `eta`, from 1e-150 to 1e150.
    pub step_size: f64,
    /// `w_1`, of l2 norm at most `B`; `None` is zero.
    pub start: Option<SparseVector>,
    /// How labels are predicted online; the choice does not change what is learned.
    #[serde(default)]
    pub prediction: Prediction,
}

impl AerrParams {
    /// Returns the parameters of Theorem 3.1, whose step size is `eta = sqrt(k/(2 d m))` for `m = examples`
    /// with `|x|_2 <= 1`. The expected excess loss is then at most `4 B^2 sqrt(2d/(km))` when `k <= d + 1`.
    pub fn from_theorem(horizon: Horizon) -> Self {
        let Horizon { dim, draws, radius, examples } = horizon;
        let step_size = (draws as f64 / (2.0 * dim as f64 * examples.max(1) as f64)).sqrt();
        AerrParams { dim, draws, radius, step_size, start: None, prediction: Prediction::default() }
    }

    /// Returns practical parameters for standardized attributes, whose examples have `|x|_2^2` near `d`: the
    /// theorem's step size in that unit, but at least a quarter of the largest step size that contracts,
    /// `2k/(d^2 (d+k))`: where there are many examples, the theorem's is shorter than it need be. The task's
    /// speed is a factor of both. Of the budget, one attribute is drawn by weight and the others uniformly.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or its budget is below 2 or above `d`.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        let horizon = Horizon::of(task, NAME, 1)?;
        let step_size = standardized_step_size(horizon, task.speed);
        Ok(AerrParams { step_size, start: task.start.clone(), ..Self::from_theorem(horizon) })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Aerr, ParamError> {
        let AerrParams { dim, draws, radius, step_size, start, prediction } = self;
        require_shape(NAME, dim, draws, radius, step_size)?;
        let start = start.unwrap_or_else(|| SparseVector::zeros(dim));
        require(start.dim() == dim, NAME, "start", start.dim(), format_args!("a vector of dimension {dim}"))?;
        let norm = start.view().norm_squared().sqrt();
        let allowed = format_args!("a vector of l2 norm at most B = {radius}").to_string();
        require(
            norm <= radius * (1.0 + 1e-12),
            NAME,
            "start",
            format_args!("a vector of norm {norm}"),
            allowed,
        )?;
        Ok(TwoSample::at(L2BallIterate::new(&start, radius), draws, step_size, prediction))
    }
}

/// Returns the step size of [`AerrParams::practical`].
pub(super) fn standardized_step_size(horizon: Horizon, speed: f64) -> f64 {
    let (d, k) = (horizon.dim as f64, horizon.draws as f64);
    let theorem = AerrParams::from_theorem(horizon).step_size;
    let balanced = (theorem / d).max(0.5 * k / (d * d * (d + k)));
    derived(speed * balanced, &[speed])
}

/// The learner of Algorithm 1. Costs O(k log d) per example, amortized; keeps O(d) memory.
pub type Aerr = TwoSample<L2BallIterate>;

impl TwoSampleMethod for L2BallIterate {
    const METHOD: &'static str = NAME;

    /// Returns `|w|_2^2 x_j / w_j`.
    fn inner_product(&self, w_j: f64, x_j: f64) -> f64 {
        l2_law(self.norm_squared(), w_j, x_j)
    }

    /// Makes the step `v = w - eta phi x~`, `w <- v min(1, B / |v|_2)`.
    fn descend(&mut self, uniform: Row<'_>, phi: f64, step: Step) -> Result<(), LearnError> {
        let length = step.size * phi;
        let direction = weighted_with_replacement(uniform, step.draws, self.dim());
        self.step(uniform.attributes, direction.map(|(_, value)| length * value), step.update)
    }
}
