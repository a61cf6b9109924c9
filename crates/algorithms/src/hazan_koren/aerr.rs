//! AERR: stochastic gradient descent on the l2 ball from k + 1 attributes per example.
//!
//! *Source*: Hazan & Koren 2012, Algorithm 1.
//!
//! *Setting*: examples with `|x|_2 <= 1` and `|y| <= B`, loss `(w.x - y)^2 / 2`; competes with the best predictor of l2
//! norm at most `B` (Ridge).
//!
//! *Notation*: `k` -> `draws`, `B` -> `radius`, `eta` -> `step_size`, `w_1` -> `start`; `w_t` is
//! [`iterate`](Aerr::iterate), the output `w-bar = (w_1 + .. + w_m)/m` is `coefficients()`.
//!
//! *Update*: observe `k` uniform draws `i_1 .. i_k`, with replacement, and one `j` drawn with probability
//! `w_j^2 / |w|_2^2`, of one example, then
//!
//! ```text
//! x~  = (d/k) sum_r x[i_r] e_{i_r}
//! phi = |w|_2^2 x_j / w_j - y
//! v   = w - eta phi x~
//! w  <- v min(1, B / |v|_2)
//! ```
//!
//! *Departures*: at `w = 0`, where the law of `j` is undefined, `phi = -y`, which is unbiased, and the attribute looked
//! at in its place is the first of the uniform draws; so `w_1 = 0` is allowed, and the default.
//!
//! *Reference*: [`AerrReference`](super::reference::AerrReference).
//!
//! *Claims*: `hk12-lem32-ogd`, `hk12-lem33-unbiased`, `hk12-lem33-second-moment`, `hk12-thm31-risk`.

use super::scaled::Scaled;
use super::{Horizon, Look, Prediction, TwoSampleDraws, require_shape};
use crate::params::{ParamError, derived, require};
use crate::state;
use crate::task::Task;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::{attributes::weighted_with_replacement, inner_product::l2_law};
use lao_observation::sample::uniform_draws;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

const NAME: &str = "AERR";

/// Parameters of [`Aerr`].
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
    /// What is predicted online; does not change what is learned.
    #[serde(default)]
    pub prediction: Prediction,
}

impl AerrParams {
    /// The step size of Theorem 3.1, `eta = sqrt(k/(2 d m))` for `m = examples` with `|x|_2 <= 1`: the expected excess
    /// loss is at most `4 B^2 sqrt(2d/(km))` when `k <= d + 1`.
    pub fn from_theorem(horizon: Horizon) -> Self {
        let Horizon { dim, draws, radius, examples } = horizon;
        let step_size = (draws as f64 / (2.0 * dim as f64 * examples.max(1) as f64)).sqrt();
        AerrParams { dim, draws, radius, step_size, start: None, prediction: Prediction::default() }
    }

    /// For standardized attributes, whose examples have `|x|_2^2` near `d`: the theorem's step size in that unit, or,
    /// when there are so many examples that it is larger, half of the largest one that contracts, `2k/(d^2 (d+k))`.
    /// The task's speed is a factor of both. One attribute of the budget is the one drawn by weight.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed, or its budget is below 2 or above `d`.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        let horizon = Horizon::of(task, NAME, 1)?;
        let step_size = standardized_step_size(horizon, task.speed);
        Ok(AerrParams { step_size, start: task.start.clone(), ..Self::from_theorem(horizon) })
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Aerr, ParamError> {
        let AerrParams { dim, draws, radius, step_size, start, prediction } = self;
        require_shape(NAME, dim, draws, radius, step_size)?;
        let start = start.unwrap_or_else(|| SparseVector::zeros(dim));
        require(start.dim() == dim, NAME, "start", start.dim(), format_args!("a vector of dimension {dim}"))?;
        let norm = start.view().norm_squared().sqrt();
        let allowed = format_args!("an l2 norm of at most B = {radius}").to_string();
        require(
            norm <= radius * (1.0 + 1e-12),
            NAME,
            "start",
            format_args!("a vector of norm {norm}"),
            allowed,
        )?;
        let look = Look::new(dim, prediction == Prediction::Observed);
        let iterate = Scaled::new(&start, radius);
        Ok(Aerr { draws, step_size, prediction, iterate, look, done: 0, average: OnceCell::new() })
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
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Aerr {
    draws: usize,
    step_size: f64,
    prediction: Prediction,
    iterate: Scaled,
    look: Look,
    done: u64,
    #[serde(skip)]
    average: OnceCell<SparseVector>,
}

lao_observation::stored!(Aerr);

impl Validate for Aerr {
    fn validate(&self) -> Result<(), Damaged> {
        let Aerr { draws, step_size, prediction, iterate, look, done, .. } = self;
        require_shape(NAME, iterate.dim(), *draws, iterate.radius(), *step_size)
            .map_err(ParamError::damaged)?;
        state::count(NAME, "the number of updates", *done)?;
        iterate.check(NAME, *done)?;
        look.check(NAME, iterate.dim(), *prediction == Prediction::Observed, (*draws, 1))
    }
}

impl Aerr {
    /// `w_t`, all d coordinates, at a cost of O(d).
    pub fn iterate(&self) -> Vec<f64> {
        self.iterate.to_dense()
    }

    /// As [`ask`](Learner::ask), with these draws instead of random ones. While any other number of them than
    /// `k` is awaited, a stored state cannot be read.
    pub fn ask_for(&mut self, draws: &TwoSampleDraws, ask: &mut Ask) {
        let (uniform, weighted) = self.look.draws();
        uniform.extend_from_slice(&draws.uniform);
        weighted.push(draws.weighted);
        self.look.fill_given(ask);
    }

    /// What was drawn for the example asked for last.
    pub fn drawn(&self) -> TwoSampleDraws {
        let (uniform, weighted) = self.look.drawn();
        TwoSampleDraws { uniform: uniform.to_vec(), weighted: weighted.first().copied().unwrap_or_default() }
    }

    /// `w.x` from the attribute drawn by weight; 0 when its weight is 0.
    fn inner_product(&self, weighted: Row<'_>) -> f64 {
        let (Some(&j), Some(&value)) = (weighted.attributes.first(), weighted.values.first()) else {
            return 0.0;
        };
        match self.iterate.get(j) {
            0.0 => 0.0,
            coefficient => l2_law(self.iterate.norm_squared(), coefficient, value),
        }
    }
}

impl Learner for Aerr {
    fn dim(&self) -> usize {
        self.iterate.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.look.pending() {
            return self.look.fill_given(ask);
        }
        let (uniform, weighted) = self.look.draws();
        uniform_draws(self.iterate.dim(), self.draws, rng, uniform);
        weighted.push(self.iterate.draw(rng).unwrap_or(uniform[0]));
        self.look.fill(ask);
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        match self.prediction {
            Prediction::Unbiased => self.inner_product(self.look.split(seen).1),
            Prediction::Observed => self.look.observed_part(seen, |j| self.iterate.get(j)),
        }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let seen = self.look.answer(told)?;
        let phi = self.inner_product(seen.weighted) - seen.label;
        let step = self.step_size * phi;
        let direction = weighted_with_replacement(seen.uniform, self.draws, self.iterate.dim());
        self.iterate.step(
            seen.uniform.attributes,
            direction.map(|(_, value)| step * value),
            self.done + 1,
        )?;
        self.done += 1;
        self.average.take();
        self.look.done();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.average.get_or_init(|| self.iterate.average(self.done)).view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}
