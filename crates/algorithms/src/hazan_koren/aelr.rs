//! AELR: multiplicative steps on the l1 ball from k + 1 attributes per example.
//!
//! *Source*: Hazan & Koren 2012, Algorithm 2 (exponentiated gradient with positive and negative weights,
//! EG+-).
//!
//! *Setting*: examples with `|x|_inf <= 1` and `|y| <= B`, loss `(w.x - y)^2 / 2`; competes with the best
//! predictor of l1 norm at most `B` (Lasso).
//!
//! *Notation*: `k` -> `draws`, `B` -> `radius`, `eta` -> `step_size`; `w_t` is [`iterate`](Aelr::iterate);
//! the output `w-bar = (w_1 + .. + w_m)/m` is `coefficients()`.
//!
//! *Update*: of one example, observe `k` uniform draws `i_1 .. i_k`, with replacement, and one `j` drawn with
//! probability `|w_j| / |w|_1`; then
//!
//! ```text
//! x~   = (d/k) sum_r x[i_r] e_{i_r}
//! phi  = |w|_1 sign(w_j) x_j - y
//! g    = clip(phi x~, 1/eta), coordinate by coordinate
//! z+- <- z+- exp(-+ eta g)
//! w   <- B (z+ - z-) / (|z+|_1 + |z-|_1)
//! ```
//!
//! Both `z` start at 1 and their updates are opposite, so `z+- = exp(+-u)` with one vector `u <- u - eta g`,
//! and `w = B sinh(u) / |cosh(u)|_1`.
//!
//! *Departures*: at `w_1 = 0`, where the law of `j` is undefined, `phi = -y`, which is unbiased, and the
//! first uniform draw is observed in the place of `j`.
//!
//! *Draws by size*: [`drawing_by`](TwoSample::drawing_by) draws `i_r` in proportion to the size of
//! attributes.
//!
//! *Reference*: [`AelrReference`](super::reference::AelrReference).
//!
//! *Claims*: `hk12-lema1-mw`, `hk12-lem36-clipped-regret`, `hk12-lem37-clip-transfer`, `hk12-lem38-unbiased`,
//! `hk12-lem38-second-moment`, `hk12-thm34-risk`, `hk12-draws-by-size`.

use super::eg_iterate::EgIterate;
use super::two_sample::{Iterate, Step, TwoSample, TwoSampleMethod};
use crate::draws::{Horizon, Prediction, require_shape};
use crate::params::{ParamError, derived};
use crate::task::Task;
use lao_observation::estimate::{attributes::weighted_with_replacement, inner_product::l1_law};
use lao_observation::{LearnError, Row};
use serde::{Deserialize, Serialize};

const NAME: &str = "AELR";

/// Parameters of [`Aelr`].
///
/// ```
/// use lao_algorithms::hazan_koren::{AelrParams, Horizon};
/// use lao_observation::Learner;
///
/// let horizon = Horizon { dim: 500, draws: 4, radius: 2.0, examples: 100_000 };
/// let params = AelrParams::from_theorem(horizon);
/// assert!(params.step_size < AelrParams::from_theorem(Horizon { examples: 1000, ..horizon }).step_size);
/// assert!(params.build()?.coefficients().is_empty());
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AelrParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k`, uniform draws per example, from 1 to 16 d; k + 1 attributes are observed.
    pub draws: usize,
    /// `B`, the largest l1 norm of a predictor, from 1e-150 to 1e150.
    pub radius: f64,
    /// `eta`, from 1e-150 to 1e150; gradients are clipped at `1/eta`.
    pub step_size: f64,
    /// How labels are predicted online; the choice does not change what is learned.
    #[serde(default)]
    pub prediction: Prediction,
}

impl AelrParams {
    /// Returns the parameters of Theorem 3.4, whose corrected step size is
    /// `eta = (1/(4B)) sqrt(2 k log(2d)/(5 m d))` for `m = examples` with `|x|_inf <= 1`. The paper prints
    /// `4B^2` in the place of `4B`. The expected excess loss is then at most `4 B^2 sqrt(10 d log(2d)/(km))`
    /// when `k <= d + 1`.
    pub fn from_theorem(horizon: Horizon) -> Self {
        let Horizon { dim, draws, radius, examples } = horizon;
        let (d, k, m) = (dim as f64, draws as f64, examples.max(1) as f64);
        let balanced = (2.0 * k * (2.0 * d).ln() / (5.0 * m * d)).sqrt() / (4.0 * radius);
        let step_size = derived(balanced, &[radius]);
        AelrParams { dim, draws, radius, step_size, prediction: Prediction::default() }
    }

    /// Returns practical parameters for standardized attributes:
    /// `eta = (1/B) sqrt(k log(2d)/(m (d + k - 1)))`, times the task's speed. This step size balances the two
    /// terms of the regret at a squared residual of `B^2`, where the theorem has the worst case `4 B^2`, and
    /// leaves out the term that clipping adds. Of the budget, one attribute is drawn by weight and the others
    /// uniformly.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or its budget is below 2 or above `d`.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        let horizon = Horizon::of(task, NAME, 1)?;
        let Horizon { dim, draws, radius, examples } = horizon;
        let (d, k, m) = (dim as f64, draws as f64, examples.max(1) as f64);
        let balanced = (k * (2.0 * d).ln() / (m * (d + k - 1.0))).sqrt() / radius;
        let step_size = derived(task.speed * balanced, &[task.speed, radius]);
        Ok(AelrParams { step_size, ..Self::from_theorem(horizon) })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Aelr, ParamError> {
        let AelrParams { dim, draws, radius, step_size, prediction } = self;
        require_shape(NAME, dim, draws, radius, step_size)?;
        Ok(TwoSample::at(EgIterate::new(dim, radius), draws, step_size, prediction))
    }
}

/// The learner of Algorithm 2. Costs O(k log d) per example, amortized; keeps O(d) memory.
pub type Aelr = TwoSample<EgIterate>;

impl TwoSampleMethod for EgIterate {
    const METHOD: &'static str = NAME;

    /// Returns `|w|_1 sign(w_j) x_j`.
    fn inner_product(&self, w_j: f64, x_j: f64) -> f64 {
        l1_law(self.norm(), w_j, x_j)
    }

    /// Makes the step `z+- <- z+- exp(-+ eta clip(phi x~, 1/eta))`.
    fn descend(&mut self, uniform: Row<'_>, phi: f64, step: Step) -> Result<(), LearnError> {
        let direction = weighted_with_replacement(uniform, step.draws, self.dim());
        let gradient = direction.map(|(_, value)| phi * value);
        self.step(uniform.attributes, gradient, step.size, step.update)
    }
}
