//! AER: strongly convex stochastic gradient descent on the l1 ball, with half of the budget for the residual.
//!
//! *Source*: Cesa-Bianchi, Shalev-Shwartz & Shamir 2010, *Efficient Learning with Partially Observed
//! Attributes*, as far as Section 5 of Hazan & Koren 2012 needs it. AERR and AELR improve on this method.
//!
//! *Setting*: examples with `|x|_inf <= 1`, squared loss plus `(lambda/2) |w|_2^2`, predictors of l1 norm at
//! most `B`.
//!
//! *Notation*: `k_u` -> `uniform`, `k_w` -> `weighted`, `lambda` -> `regularization`, `B` -> `radius`;
//! `w_t` is [`iterate`](Aer::iterate); the output, the average of the iterates, is `coefficients()`.
//!
//! *Update*: of the t-th example, observe `k_u` uniform draws `i`, with replacement, and `k_w` draws `j` with
//! probability `|w_j| / |w|_1`; then
//!
//! ```text
//! x~ = (d/k_u) sum x_i e_i
//! y^ = (|w|_1/k_w) sum sign(w_j) x_j
//! w <- P((1 - 1/t) w - 2 (y^ - y) x~ / (lambda t)),   P the projection on |w|_1 <= B
//! ```
//!
//! *Departures*: the split of the budget, the projection and the choice of iterates to average are
//! parameters, since Hazan & Koren do not state them. At `w = 0`, where the law of `j` is undefined,
//! `y^ = 0`, and the first uniform draw is observed in the place of `j`.
//!
//! *Reference*: [`AerReference`](super::reference::AerReference).
//!
//! *Claims*: `hk12-fig1`, `hk12-fig2`.

use super::l1_ball_iterate::L1BallIterate;
use crate::draws::{DrawCounts, Horizon, PendingExample, Prediction, require_draws};
use crate::params::{ParamError, derived, require_dim, require_scale};
use crate::state;
use crate::task::Task;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::{attributes::weighted_with_replacement, inner_product::l1_law};
use lao_observation::sample::uniform_draws;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

const NAME: &str = "AER";

/// Parameters of [`Aer`].
///
/// ```
/// use lao_algorithms::{Task, baselines::AerParams};
///
/// let task = Task { dim: 500, sparsity: 4, budget: 20, ..Task::default() };
/// let params = AerParams::practical(&task)?;
/// assert_eq!((params.uniform, params.weighted), (10, 10));
///
/// let refused = AerParams { regularization: 0.0, ..params }.build().unwrap_err();
/// assert_eq!(refused.field, "regularization");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AerParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `k_u`, uniform draws per example, for the direction, from 1 to 16 d.
    pub uniform: usize,
    /// `k_w`, draws by weight per example, for the residual, from 1 to 16 d.
    pub weighted: usize,
    /// `lambda`, from 1e-150 to 1e150.
    pub regularization: f64,
    /// `B`, the largest l1 norm of a predictor, from 1e-150 to 1e150. Without it, iterates are not projected.
    pub radius: Option<f64>,
    /// The number of first iterates that the average leaves out.
    pub burn_in: u64,
    /// How labels are predicted online; the choice does not change what is learned.
    #[serde(default)]
    pub prediction: Prediction,
}

/// The draws of one example of [`Aer`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AerDraws {
    /// Uniform, with replacement, in any order.
    pub uniform: Vec<u32>,
    /// By weight, with replacement, in any order. Any attributes when `w = 0`.
    pub weighted: Vec<u32>,
}

impl AerParams {
    /// Returns practical parameters for standardized attributes: half of the budget for each estimate (the
    /// smaller half for the direction), all iterates averaged, and
    /// `lambda = sqrt((1 + log m) d (d + k_u)/(k_u m))`, which balances the two terms of the regret for
    /// `m = examples`. The task's speed divides `lambda`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or its budget is below 2 or above `d`.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        let Horizon { dim, draws, radius, examples } = Horizon::of(task, NAME, 1)?;
        let budget = draws + 1;
        let uniform = budget / 2;
        let (d, k, m) = (dim as f64, uniform.max(1) as f64, examples.max(1) as f64);
        let balanced = ((1.0 + m.ln()) * d * (d + k) / (k * m)).sqrt();
        Ok(AerParams {
            dim,
            uniform,
            weighted: budget - uniform,
            regularization: derived(balanced / task.speed, &[task.speed]),
            radius: Some(radius),
            burn_in: 0,
            prediction: Prediction::default(),
        })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Aer, ParamError> {
        let AerParams { dim, uniform, weighted, regularization, radius, burn_in, prediction } = self;
        gate(dim, uniform, weighted, regularization, radius)?;
        let pending = PendingExample::new(dim, prediction);
        let iterate = L1BallIterate::new(dim, radius);
        let average = OnceCell::new();
        Ok(Aer { uniform, weighted, regularization, burn_in, prediction, iterate, pending, done: 0, average })
    }
}

/// Refuses parameters that are not allowed, when a learner is built and when its state is read.
fn gate(
    dim: usize,
    uniform: usize,
    weighted: usize,
    regularization: f64,
    radius: Option<f64>,
) -> Result<(), ParamError> {
    require_dim(NAME, 1, dim)?;
    require_draws(NAME, "uniform", dim, uniform)?;
    require_draws(NAME, "weighted", dim, weighted)?;
    require_scale(NAME, "regularization", regularization)?;
    radius.map_or(Ok(()), |radius| require_scale(NAME, "radius", radius))
}

/// The learner of Cesa-Bianchi et al. Costs O((k_u + k_w) log d) per example, amortized; keeps O(d) memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Aer {
    uniform: usize,
    weighted: usize,
    regularization: f64,
    burn_in: u64,
    prediction: Prediction,
    iterate: L1BallIterate,
    pending: PendingExample,
    done: u64,
    #[serde(skip)]
    average: OnceCell<SparseVector>,
}

lao_observation::stored!(Aer);

impl Validate for Aer {
    fn validate(&self) -> Result<(), Damaged> {
        let Aer { uniform, weighted, regularization, prediction, iterate, pending, done, .. } = self;
        gate(iterate.dim(), *uniform, *weighted, *regularization, iterate.radius())
            .map_err(ParamError::damaged)?;
        state::count(NAME, "the number of updates", *done)?;
        iterate.check(NAME, *done)?;
        let wanted = DrawCounts { uniform: *uniform, weighted: *weighted };
        pending.check(NAME, iterate.dim(), *prediction, wanted)
    }
}

impl Aer {
    /// Returns `w_t`, all d coordinates, at a cost of O(d).
    pub fn iterate(&self) -> Vec<f64> {
        self.iterate.to_dense()
    }

    /// Asks like [`ask`](Learner::ask), with these draws instead of random ones. A state that is stored while
    /// it awaits other numbers of draws than `k_u` and `k_w` cannot be read.
    pub fn ask_for(&mut self, draws: &AerDraws, ask: &mut Ask) {
        let (uniform, weighted) = self.pending.draws();
        uniform.extend_from_slice(&draws.uniform);
        weighted.extend_from_slice(&draws.weighted);
        self.pending.ask_given(ask);
    }

    /// Returns the draws of the example that was asked for last.
    pub fn drawn(&self) -> AerDraws {
        let (uniform, weighted) = self.pending.drawn();
        AerDraws { uniform: uniform.to_vec(), weighted: weighted.to_vec() }
    }

    /// Returns `y^`, the mean of the estimates of `w.x` from the attributes drawn by weight; 0 when `w = 0`.
    fn inner_product(&self, weighted: Row<'_>) -> f64 {
        let norm = self.iterate.norm();
        let estimate = |(&j, &value)| match self.iterate.get(j) {
            0.0 => 0.0,
            coefficient => l1_law(norm, coefficient, value),
        };
        weighted.attributes.iter().zip(weighted.values).map(estimate).sum::<f64>() / self.weighted as f64
    }
}

impl Learner for Aer {
    fn dim(&self) -> usize {
        self.iterate.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.pending.pending() {
            return self.pending.ask_given(ask);
        }
        let (uniform, weighted) = self.pending.draws();
        uniform_draws(self.iterate.dim(), self.uniform, rng, uniform);
        self.iterate.draw(self.weighted, rng, weighted);
        weighted.resize(self.weighted, uniform[0]);
        self.pending.ask(ask);
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        match self.prediction {
            Prediction::Unbiased => self.inner_product(self.pending.split(seen).1),
            Prediction::Observed => self.pending.observed_part(seen, |j| self.iterate.get(j)),
        }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let seen = self.pending.answer(told)?;
        let residual = self.inner_product(seen.weighted) - seen.label;
        let step = 2.0 * residual / self.regularization;
        let direction = weighted_with_replacement(seen.uniform, self.uniform, self.iterate.dim());
        let change = direction.map(|(_, value)| step * value);
        self.iterate.step(seen.uniform.attributes, change, self.done + 1, self.done >= self.burn_in)?;
        self.done += 1;
        self.average.take();
        self.pending.clear();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.average.get_or_init(|| self.iterate.average(self.done.saturating_sub(self.burn_in))).view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}
