//! Naive: one example per update, with a random block of attributes and hard thresholding after each step.
//!
//! *Source*: Murata & Suzuki 2018, Section 3.1 (the method that Exploration improves on).
//!
//! *Setting*: as [`exploration`](super::exploration).
//!
//! *Notation*: `s` -> `sparsity`, `s'` -> `budget`, `eta_t` -> `step_size`; `J` is a uniform set of `s' - s`
//! attributes.
//!
//! *Update*: observe `supp(theta)` and `J` of one example, then
//!
//! ```text
//! g = 2 (theta' x - y) (d/(s'-s)) x|J
//! theta <- H_s(theta - eta_t g)
//! ```
//!
//! Thresholding sets to zero whatever small steps have gathered outside the support, so that shrinking steps
//! can lock the support. Convergence is not ensured.
//!
//! *Departures*: none. `theta - eta_t g` has at most `s'` non-zeros, so an update costs O(s' log s'), not
//! O(d).
//!
//! *Reference*: [`NaiveReference`](super::reference::NaiveReference).
//!
//! *Claims*: `ms18-grad-unbiased`, `ms18-naive-nonconvergence`.

use super::{diverged, threshold_sparse};
use crate::params::{ParamError, derived, require, require_shape};
use crate::schedule::StepSizes;
use crate::state;
use crate::task::Task;
use lao_kernels::{HardThreshold, SparseVector, SparseView, Threshold, merge_into};
use lao_observation::estimate::attributes::weighted;
use lao_observation::sample::SubsetSampler;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "Naive";

/// Parameters of [`Naive`].
///
/// ```
/// use lao_algorithms::{StepSizes, Task, murata_suzuki::NaiveParams};
///
/// let task = Task { dim: 500, sparsity: 4, budget: 20, ..Task::default() };
/// let params = NaiveParams::practical(&task)?;
/// assert!(params.step_size.size(1_000_000) < params.step_size.size(1));
///
/// let refused = NaiveParams { step_size: StepSizes::Constant(-1.0), ..params }.build().unwrap_err();
/// assert_eq!(refused.field, "step_size");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NaiveParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `s`, non-zeros kept; `1 <= s < s'`.
    pub sparsity: usize,
    /// `s'`, attributes observed per example; `s < s' <= d`.
    pub budget: usize,
    /// `eta_t`, the step size of example `t`.
    pub step_size: StepSizes,
    /// `theta_0`; `None` is zero.
    pub start: Option<SparseVector>,
}

impl NaiveParams {
    /// Returns practical parameters: `eta_t = 10 speed/(1500 d/(s'-s) + t)`, which hardly changes in the
    /// first passes over the blocks and shrinks later. See
    /// [`ExplorationParams::practical`](super::ExplorationParams::practical) for the speed.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let Task { dim, sparsity, budget, speed, .. } = *task;
        let blocks = dim as f64 / budget.saturating_sub(sparsity).max(1) as f64;
        let step_size = StepSizes::Inverse { c: derived(10.0 * speed, &[speed]), offset: 1500.0 * blocks };
        Ok(NaiveParams { dim, sparsity, budget, step_size, start: task.start.clone() })
    }

    /// Builds the learner with hard thresholding.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Naive, ParamError> {
        self.build_with(HardThreshold::default())
    }

    /// Builds the learner with another thresholding operator.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<T: Threshold>(self, mut threshold: T) -> Result<Naive<T>, ParamError> {
        let NaiveParams { dim, sparsity, budget, step_size, start } = self;
        gate(dim, sparsity, budget, &step_size)?;
        let start = start.unwrap_or_else(|| SparseVector::zeros(dim));
        require(start.dim() == dim, NAME, "start", start.dim(), format_args!("a vector of dimension {dim}"))?;
        let (mut theta, mut places) = (SparseVector::zeros(dim), SparseVector::zeros(dim));
        if let Err(at) = threshold_sparse(start.view(), sparsity, &mut threshold, &mut places, &mut theta) {
            require(false, NAME, "start", at.value, "a vector of finite numbers")?;
        }
        Ok(Naive {
            sparsity,
            width: budget - sparsity,
            step_size,
            theta,
            sampler: SubsetSampler::new(dim),
            drawn: Vec::with_capacity(budget - sparsity),
            pending: false,
            done: 0,
            threshold,
            step: SparseVector::zeros(dim),
            places,
        })
    }
}

/// Refuses parameters that are not allowed, when a learner is built and when its state is read.
fn gate(dim: usize, sparsity: usize, budget: usize, step_size: &StepSizes) -> Result<(), ParamError> {
    require_shape(NAME, dim, sparsity, budget)?;
    step_size.check(NAME)
}

/// The learner of Section 3.1. An example costs O(s' log s'); the learner keeps O(d) memory, the sampler's
/// permutation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", bound = "T: Default")]
pub struct Naive<T = HardThreshold> {
    sparsity: usize,
    width: usize,
    step_size: StepSizes,
    theta: SparseVector,
    sampler: SubsetSampler,
    /// `J` of the example asked for.
    drawn: Vec<u32>,
    /// Whether `drawn` still waits for its example.
    pending: bool,
    done: u64,
    #[serde(skip)]
    threshold: T,
    #[serde(skip)]
    step: SparseVector,
    #[serde(skip)]
    places: SparseVector,
}

lao_observation::stored!(Naive<T: Default>);

impl<T> Validate for Naive<T> {
    fn validate(&self) -> Result<(), Damaged> {
        let Naive { sparsity, width, step_size, theta, sampler, drawn, pending, .. } = self;
        let dim = theta.dim();
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        gate(dim, *sparsity, sparsity.saturating_add(*width), step_size).map_err(ParamError::damaged)?;
        damaged(theta.len() <= *sparsity, "the estimate has more non-zeros than the sparsity")?;
        state::length(NAME, "the sampler", sampler.dim(), dim)?;
        state::count(NAME, "the number of updates", self.done)?;
        damaged(state::is_set(drawn, dim), "the attributes drawn are no set of attributes")?;
        damaged(
            !pending || drawn.len() == *width,
            "the attributes drawn are not as many as explored at a time",
        )
    }
}

/// Returns the estimate `g = 2 (theta' x - y) (d/|J|) x|J` as pairs of index and value. If `J` is uniform,
/// the expectation of `g` is `2 E (theta' x - y) x`.
pub fn gradient_estimate<'a>(
    theta: SparseView<'_>,
    seen: Row<'a>,
    label: f64,
    drawn: &'a [u32],
) -> impl Iterator<Item = (u32, f64)> + 'a {
    let residual = seen.dot(theta) - label;
    weighted(seen, drawn, theta.dim()).map(move |(j, value)| (j, 2.0 * residual * value))
}

impl<T> Naive<T> {
    /// Returns `J` of the example asked for last, sorted.
    pub fn drawn(&self) -> &[u32] {
        &self.drawn
    }
}

impl<T: Threshold> Learner for Naive<T> {
    fn dim(&self) -> usize {
        self.theta.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.drawn.clear();
            self.sampler.draw(self.width, rng, &mut self.drawn);
            self.pending = true;
        }
        merge_into(self.theta.indices(), &self.drawn, ask.values(1));
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if !self.pending || !state::is_union(seen.attributes, self.theta.indices(), &self.drawn) {
            return Err(told.other_attributes());
        }
        let eta = self.step_size.size(self.done + 1);
        self.step.reset(self.theta.dim());
        let mut old = self.theta.view().iter().peekable();
        for (j, g) in gradient_estimate(self.theta.view(), seen, label, &self.drawn) {
            while let Some((i, value)) = old.next_if(|&(i, _)| i < j) {
                self.step.push(i, value);
            }
            let value = old.next_if(|&(i, _)| i == j).map_or(0.0, |(_, value)| value);
            self.step.push(j, value - eta * g);
        }
        for (i, value) in old {
            self.step.push(i, value);
        }
        let Naive { threshold, step, places, theta, .. } = self;
        threshold_sparse(step.view(), self.sparsity, threshold, places, theta)
            .map_err(|at| diverged(self.done + 1, at, Some(self.step.indices())))?;
        self.pending = false;
        self.done += 1;
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}
