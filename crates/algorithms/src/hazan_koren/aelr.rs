//! AELR: multiplicative steps on the l1 ball from k + 1 attributes per example.
//!
//! *Source*: Hazan & Koren 2012, Algorithm 2 (exponentiated gradient with positive and negative weights, EG+-).
//!
//! *Setting*: examples with `|x|_inf <= 1` and `|y| <= B`, loss `(w.x - y)^2 / 2`; competes with the best predictor of l1
//! norm at most `B` (Lasso).
//!
//! *Notation*: `k` -> `draws`, `B` -> `radius`, `eta` -> `step_size`; `w_t` is [`iterate`](Aelr::iterate), the output
//! `w-bar = (w_1 + .. + w_m)/m` is `coefficients()`.
//!
//! *Update*: observe `k` uniform draws `i_1 .. i_k`, with replacement, and one `j` drawn with probability `|w_j| / |w|_1`,
//! of one example, then
//!
//! ```text
//! x~   = (d/k) sum_r x[i_r] e_{i_r}
//! phi  = |w|_1 sign(w_j) x_j - y
//! g    = clip(phi x~, 1/eta), coordinate by coordinate
//! z+- <- z+- exp(-+ eta g)
//! w   <- B (z+ - z-) / (|z+|_1 + |z-|_1)
//! ```
//!
//! Both `z` start at 1 and their updates are opposite, so `z+- = exp(+-u)` with one vector `u <- u - eta g`, and
//! `w = B sinh(u) / |cosh(u)|_1`.
//!
//! *Departures*: `w_1 = 0`, where the law of `j` is undefined: there `phi = -y`, which is unbiased, and the attribute
//! looked at in its place is the first of the uniform draws.
//!
//! *Reference*: [`AelrReference`](super::reference::AelrReference).
//!
//! *Claims*: `hk12-lema1-mw`, `hk12-lem36-clipped-regret`, `hk12-lem37-clip-transfer`, `hk12-lem38-unbiased`,
//! `hk12-lem38-second-moment`, `hk12-thm34-risk`.

use super::multiplicative::Multiplicative;
use super::{Horizon, Look, Prediction, TwoSampleDraws, require_shape};
use crate::params::{ParamError, derived};
use crate::state;
use crate::task::Task;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::{attributes::weighted_with_replacement, inner_product::l1_law};
use lao_observation::sample::uniform_draws;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

const NAME: &str = "AELR";

/// Parameters of [`Aelr`].
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
    /// What is predicted online; does not change what is learned.
    #[serde(default)]
    pub prediction: Prediction,
}

impl AelrParams {
    /// The step size of Theorem 3.4, corrected: `eta = (1/(4B)) sqrt(2 k log(2d)/(5 m d))` for `m = examples` with
    /// `|x|_inf <= 1` (printed with `4B^2` in the place of `4B`). The expected excess loss is at most
    /// `4 B^2 sqrt(10 d log(2d)/(km))` when `k <= d + 1`.
    pub fn from_theorem(horizon: Horizon) -> Self {
        let Horizon { dim, draws, radius, examples } = horizon;
        let (d, k, m) = (dim as f64, draws as f64, examples.max(1) as f64);
        let balanced = (2.0 * k * (2.0 * d).ln() / (5.0 * m * d)).sqrt() / (4.0 * radius);
        let step_size = derived(balanced, &[radius]);
        AelrParams { dim, draws, radius, step_size, prediction: Prediction::default() }
    }

    /// For standardized attributes: `eta = (1/B) sqrt(k log(2d)/(m (d + k - 1)))`, which balances the two terms of the
    /// regret at a squared residual of `B^2` instead of the theorem's worst case `4 B^2`, and counts no price of
    /// clipping. The task's speed is a factor of it. One attribute of the budget is the one drawn by weight.
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

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Aelr, ParamError> {
        let AelrParams { dim, draws, radius, step_size, prediction } = self;
        require_shape(NAME, dim, draws, radius, step_size)?;
        let look = Look::new(dim, prediction == Prediction::Observed);
        let (iterate, average) = (Multiplicative::new(dim, radius), OnceCell::new());
        Ok(Aelr { draws, step_size, prediction, iterate, look, done: 0, average })
    }
}

/// The learner of Algorithm 2. Costs O(k log d) per example, amortized; keeps O(d) memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Aelr {
    draws: usize,
    step_size: f64,
    prediction: Prediction,
    iterate: Multiplicative,
    look: Look,
    done: u64,
    #[serde(skip)]
    average: OnceCell<SparseVector>,
}

lao_observation::stored!(Aelr);

impl Validate for Aelr {
    fn validate(&self) -> Result<(), Damaged> {
        let Aelr { draws, step_size, prediction, iterate, look, done, .. } = self;
        require_shape(NAME, iterate.dim(), *draws, iterate.radius(), *step_size)
            .map_err(ParamError::damaged)?;
        state::count(NAME, "the number of updates", *done)?;
        iterate.check(NAME, *done)?;
        look.check(NAME, iterate.dim(), *prediction == Prediction::Observed, (*draws, 1))
    }
}

impl Aelr {
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
            coefficient => l1_law(self.iterate.norm(), coefficient, value),
        }
    }
}

impl Learner for Aelr {
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
        let direction = weighted_with_replacement(seen.uniform, self.draws, self.iterate.dim());
        let gradient = direction.map(|(_, value)| phi * value);
        self.iterate.step(seen.uniform.attributes, gradient, self.step_size, self.done + 1)?;
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
