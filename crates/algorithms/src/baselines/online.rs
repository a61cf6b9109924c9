//! Online Ridge and Lasso with full information, which methods under limited observation are measured
//! against.
//!
//! *Source*: Zinkevich 2003 (projected gradient steps on the l2 ball) and Kivinen & Warmuth 1997 (EG+-,
//! multiplicative steps on the l1 ball). Both are the full-information methods in Figures 1 and 2 of Hazan &
//! Koren 2012: they are AERR and AELR with exact gradients.
//!
//! *Setting*: all attributes of every example, loss `(w' x - y)^2 / 2`, predictors of l2 norm (Ridge) or l1
//! norm (Lasso) at most `B`.
//!
//! *Notation*: `B` -> `radius`, `eta` -> `step_size`, `g = (w' x - y) x`.
//!
//! *Update*:
//!
//! ```text
//! Ridge:  w <- P(w - eta g),   P the projection on |w|_2 <= B
//! Lasso:  u <- u - eta g,      w = B sinh(u) / |cosh(u)|_1
//! ```
//!
//! *Departures*: the estimate is the current `w`, not the average of all iterates.
//!
//! *Reference*: [`OnlineReference`](super::reference::OnlineReference).
//!
//! *Claims*: `hk12-fig1`, `hk12-fig2`, `hk12-table1-lasso`.

use crate::bug::cannot_fail;
use crate::params::{ParamError, derived, require_dim, require_scale, require_step};
use crate::state;
use crate::task::Task;
use lao_kernels::{SparseVector, SparseView, project_l2_ball};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// The ball that predictors come from, which decides how steps are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ball {
    /// `|w|_2 <= B`: projected gradient steps.
    Ridge,
    /// `|w|_1 <= B`: multiplicative steps.
    Lasso,
}

/// Parameters of [`Online`].
///
/// ```
/// use lao_algorithms::{Task, baselines::OnlineParams};
/// use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
/// use lao_kernels::SparseVector;
/// use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
///
/// let target = SparseVector::new(10, vec![3], vec![1.0])?;
/// let source = Virtual::new(Rademacher::new(10)?, target, Noise::Gaussian(0.1), &Seed::root(1))?;
/// let task = Task { dim: 10, sparsity: 1, budget: 10, ..Task::default() };
/// let mut learner = OnlineParams::ridge(&task)?.build()?;
/// let mut session = Session::new(source, Budget::Unlimited, &Seed::root(2));
/// session.run(&mut learner, SessionLimit::after_examples(2000), |_, _| {})?;
/// assert!((learner.coefficients().get(3) - 1.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlineParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// Ridge or Lasso.
    pub ball: Ball,
    /// `B > 0`, in units of label per unit of attribute.
    pub radius: f64,
    /// `eta > 0`.
    pub step_size: f64,
}

impl OnlineParams {
    /// Returns the parameters whose step size balances the two terms of the regret bound for `m = examples`.
    /// For Ridge, with `|x|_2 <= 1` and `|y| <= B`, gradients are at most `2B`, so `eta = 1/sqrt(m)`; for
    /// Lasso, with `|x|_inf <= 1`, `eta = sqrt(log(2d)/m)/(2B)`. `m = 0` counts as 1.
    pub fn from_theorem(ball: Ball, task: &Task) -> Self {
        let (dim, radius, m) = (task.dim, task.radius(), task.examples.max(1) as f64);
        let step_size = match ball {
            Ball::Ridge => 1.0 / m.sqrt(),
            Ball::Lasso => derived(((2.0 * dim as f64).ln() / m).sqrt() / (2.0 * radius), &[radius]),
        };
        OnlineParams { dim, ball, radius, step_size }
    }

    /// Returns practical parameters of Ridge for standardized attributes, whose examples have
    /// `|x|_2^2` near `d`: `eta = speed/(4 d)`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn ridge(task: &Task) -> Result<Self, ParamError> {
        Self::practical(Ball::Ridge, 1.0, task)
    }

    /// Returns practical parameters of Lasso for standardized attributes: `eta = speed/(4 B d)`.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn lasso(task: &Task) -> Result<Self, ParamError> {
        Self::practical(Ball::Lasso, task.radius(), task)
    }

    fn practical(ball: Ball, unit: f64, task: &Task) -> Result<Self, ParamError> {
        let (dim, radius, step_size) = (task.dim, task.radius(), task.step_size());
        let params = OnlineParams {
            dim,
            ball,
            radius,
            step_size: derived(step_size / (unit * dim as f64), &[step_size, unit]),
        };
        task.check(params.name())?;
        Ok(params)
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Online, ParamError> {
        self.gate()?;
        let zeros = || vec![0.0; self.dim];
        Ok(Online { w: zeros(), u: zeros(), step: zeros(), done: 0, sparse: OnceCell::new(), params: self })
    }

    fn name(&self) -> &'static str {
        match self.ball {
            Ball::Ridge => "online Ridge",
            Ball::Lasso => "online Lasso",
        }
    }

    /// Refuses parameters that are not allowed, when a learner is built and when its state is read.
    fn gate(&self) -> Result<(), ParamError> {
        let name = self.name();
        require_dim(name, 1, self.dim)?;
        require_scale(name, "radius", self.radius)?;
        require_step(name, self.step_size)
    }
}

/// The learner of online Ridge or Lasso. An example costs O(d).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Online {
    params: OnlineParams,
    w: Vec<f64>,
    /// `u`, for Lasso; zero for Ridge.
    u: Vec<f64>,
    /// The vector that the current step leads to.
    #[serde(skip)]
    step: Vec<f64>,
    done: u64,
    #[serde(skip)]
    sparse: OnceCell<SparseVector>,
}

lao_observation::stored!(Online);

impl Validate for Online {
    fn validate(&self) -> Result<(), Damaged> {
        let Online { params, w, u, done, .. } = self;
        let (what, radius) = (params.name(), params.radius);
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, what, || reason);
        params.gate().map_err(ParamError::damaged)?;
        state::length(what, "w", w.len(), params.dim)?;
        state::length(what, "u", u.len(), params.dim)?;
        state::count(what, "the number of updates", *done)?;
        // The checks allow for the rounding of one step, since every step recomputes what they compare.
        match params.ball {
            Ball::Ridge => {
                let norm = w.iter().map(|w| (w / radius) * (w / radius)).sum::<f64>();
                damaged(norm <= 1.0 + 1e-6, "the predictor leaves the ball")?;
                damaged(u.iter().all(|u| *u == 0.0), "it has logarithms, which are for Lasso")
            }
            Ball::Lasso => {
                let mut wanted = vec![0.0; u.len()];
                from_logarithms(u, radius, &mut wanted);
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * radius;
                damaged(w.iter().zip(&wanted).all(near), "the predictor is not that of its logarithms")
            }
        }
    }
}

/// Sets `w` to `B sinh(u) / |cosh(u)|_1`.
fn from_logarithms(u: &[f64], radius: f64, w: &mut [f64]) {
    let largest = u.iter().fold(0.0_f64, |largest, u| largest.max(u.abs()));
    let mut total = 0.0;
    for (w, u) in w.iter_mut().zip(u) {
        let (plus, minus) = ((u - largest).exp(), (-u - largest).exp());
        *w = plus - minus;
        total += plus + minus;
    }
    w.iter_mut().for_each(|w| *w *= radius / total);
}

impl Online {
    /// Returns `w_t`, all d coordinates.
    pub fn iterate(&self) -> Vec<f64> {
        self.w.clone()
    }
}

impl Learner for Online {
    fn dim(&self) -> usize {
        self.w.len()
    }

    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        ask.values(1).extend(0..self.w.len() as u32);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if !seen.attributes.iter().copied().eq(0..self.w.len() as u32) {
            return Err(told.other_attributes());
        }
        let OnlineParams { ball, radius, step_size, .. } = self.params;
        let residual = self.w.iter().zip(seen.values).map(|(w, x)| w * x).sum::<f64>() - label;
        let from = match ball {
            Ball::Ridge => &self.w,
            Ball::Lasso => &self.u,
        };
        self.step.resize(self.w.len(), 0.0);
        for ((next, from), x) in self.step.iter_mut().zip(from).zip(seen.values) {
            *next = from - step_size * residual * x;
        }
        if let Some(attribute) = self.step.iter().position(|value| !value.is_finite()) {
            return Err(LearnError::Diverged {
                update: self.done + 1,
                attribute,
                value: self.step[attribute],
            });
        }
        match ball {
            Ball::Ridge => {
                cannot_fail(project_l2_ball(&mut self.step, radius), "the step was found to be finite");
                std::mem::swap(&mut self.w, &mut self.step);
            }
            Ball::Lasso => {
                std::mem::swap(&mut self.u, &mut self.step);
                from_logarithms(&self.u, radius, &mut self.w);
            }
        }
        self.done += 1;
        self.sparse.take();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.sparse.get_or_init(|| SparseVector::from_dense(&self.w)).view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}
