//! Exploration: mini-batch gradient steps that explore all coordinates equally, with hard thresholding after
//! each step.
//!
//! *Source*: Murata & Suzuki 2018, Algorithm 1.
//!
//! *Setting*: stochastic sparse linear regression, squared loss `(theta' x - y)^2`; at most `s'` attributes
//! of each example are observed, in training and in prediction.
//!
//! *Notation*: `s` -> `sparsity`, `s'` -> `budget`, `eta` -> `step_size`, `B_t` -> `batch`, `T` -> `updates`,
//! `theta_0` -> `start`; `d' = ceil(d/(s'-s))` blocks `J_i` of `s' - s` attributes (the last block may be
//! narrower).
//!
//! *Update*: for each block `i`, take `B_t` fresh examples and observe `J_i` and `S = supp(theta)`; then
//!
//! ```text
//! g|J_i  = (1/B_t) sum_b 2 (theta|S' x_b|S - y_b) x_b|J_i
//! theta <- H_s(theta - eta g)
//! ```
//!
//! *Departures*: none without prices. As line 1 of the algorithm says, `theta_0` is thresholded first. `H_s`
//! may return fewer than `s` non-zeros.
//!
//! The paper counts attributes. Where they have prices (`money`), a block is one of at most `s' - s`
//! attributes that the money pays together with `S`; a panel of `S` is not paid again. Blocks are packed when
//! an update begins, expensive attributes with cheap ones, and `d'` is their number. The estimate `g` stays
//! unbiased, since every block is observed with all of `S`; the theorems hold with this `d'` in the count of
//! examples. If all prices are equal, blocks and bits are those of a count. `H_s` keeps the `s` largest
//! coordinates, whatever they cost, so that the money must pay any `S` and one attribute more.
//!
//! *Reference*: [`ExplorationReference`](super::reference::ExplorationReference).
//!
//! *Claims*: `ms18-grad-unbiased`, `ms18-attribute-budget`, `ms18-cost-memory`, `ms18-prop-a1-*`,
//! `ms18-thm41-*`, `ms18-cor42-*`, `ms18-consistency-remark`.

use super::theory::{Guarantee, Problem};
use super::{diverged, threshold_sparse};
use crate::blocks::Blocks;
use crate::money::Money;
use crate::params::{ParamError, require, require_shape, require_step};
use crate::schedule::BatchSizes;
use crate::state;
use crate::task::Task;
use lao_kernels::{HardThreshold, NotFinite, SparseVector, SparseView, Threshold};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "Exploration";

/// Parameters of [`Exploration`].
///
/// ```
/// use lao_algorithms::{Task, murata_suzuki::ExplorationParams};
/// use lao_observation::Learner;
///
/// let task = Task { dim: 500, sparsity: 4, budget: 20, ..Task::default() };
/// let learner = ExplorationParams::practical(&task)?.build()?;
/// // 32 blocks of 16 attributes, 40 examples each.
/// assert_eq!(learner.examples_to_next_update(), Some(32 * 40));
///
/// let refused = ExplorationParams::practical(&Task { budget: 4, ..task })?.build().unwrap_err();
/// assert!(refused.allowed.contains("above the sparsity"));
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplorationParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `s`, non-zeros kept by every update; `1 <= s < s'`. The theorem asks for `s >= (1024 kappa^2 + 1) s*`;
    /// in practice `s` between `s*` and `3 s*` works.
    pub sparsity: usize,
    /// `s'`, attributes observed per example; `s < s' <= d`.
    pub budget: usize,
    /// `eta`, the step size; the theorem sets `1/(4 L_s)`.
    pub step_size: f64,
    /// `B_t`, the number of examples per gradient block. An update takes `d' B_t` examples; a run with fewer
    /// learns nothing.
    pub batch: BatchSizes,
    /// `T`, the number of updates, which may be 0. With `None` the learner updates as long as there are
    /// examples.
    pub updates: Option<u64>,
    /// `theta_0`; `None` is zero.
    pub start: Option<SparseVector>,
    /// What an example may cost, beside `budget`; `None` if all attributes cost the same. It must pay any
    /// support of `sparsity` attributes with any other attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

impl ExplorationParams {
    /// Returns practical parameters: batches that grow by 15 % per update, so that the error keeps falling.
    /// The first update needs `10 s ceil(d/(s' - s))` examples.
    ///
    /// `step_size` is `speed/4`. Only the speed depends on the scale of the data: it is 1 for standardized,
    /// weakly correlated attributes, and in inverse proportion to the largest eigenvalue of the covariance of
    /// any `2s` attributes.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check_speed(NAME)?;
        Ok(ExplorationParams {
            dim: task.dim,
            sparsity: task.sparsity,
            budget: task.budget,
            step_size: task.step_size(),
            batch: BatchSizes::Geometric { first: 10.0 * task.sparsity as f64, growth: 1.15 },
            updates: None,
            start: task.start.clone(),
            money: task.money.clone(),
        })
    }

    /// Returns the corrected constants of Theorem 4.1 for this guarantee.
    pub fn from_theorem(problem: &Problem, budget: usize, guarantee: Guarantee) -> Self {
        let batch = problem.batch_theorem_41(guarantee);
        ExplorationParams {
            dim: problem.dim,
            sparsity: problem.sparsity,
            budget,
            step_size: problem.step_size,
            batch: BatchSizes::Constant(BatchSizes::round_up(batch)),
            updates: Some(guarantee.updates),
            start: None,
            money: None,
        }
    }

    /// Builds the learner with hard thresholding.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Exploration, ParamError> {
        self.build_with(HardThreshold::default())
    }

    /// Builds the learner with another thresholding operator.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<T: Threshold>(self, mut threshold: T) -> Result<Exploration<T>, ParamError> {
        let ExplorationParams { dim, sparsity, budget, step_size, batch, updates, start, money } = self;
        if let Some(money) = &money {
            money.check_supports(NAME, dim, sparsity)?;
        }
        gate(dim, sparsity, budget, step_size, &batch)?;
        let start = start.unwrap_or_else(|| SparseVector::zeros(dim));
        require(start.dim() == dim, NAME, "start", start.dim(), format_args!("a vector of dimension {dim}"))?;
        let (mut theta, mut next) = (SparseVector::zeros(dim), SparseVector::zeros(dim));
        if let Err(at) = threshold_sparse(start.view(), sparsity, &mut threshold, &mut next, &mut theta) {
            require(false, NAME, "start", at.value, "a vector of finite numbers")?;
        }
        let blocks = money.map(|money| Blocks::new(money, budget - sparsity, theta.indices()));
        Ok(Exploration {
            sparsity,
            block_width: budget - sparsity,
            blocks,
            step_size,
            batch,
            updates,
            theta,
            gradient: vec![0.0; dim],
            block_start: 0,
            seen_in_block: 0,
            done: 0,
            threshold,
            next,
        })
    }
}

/// Refuses parameters that are not allowed, when a learner is built and when its state is read.
fn gate(
    dim: usize,
    sparsity: usize,
    budget: usize,
    step_size: f64,
    batch: &BatchSizes,
) -> Result<(), ParamError> {
    require_shape(NAME, dim, sparsity, budget)?;
    require_step(NAME, step_size)?;
    batch.check(NAME, "batch")
}

/// The learner of Algorithm 1. An example costs O(s'), and an update one O(d) selection; the learner keeps
/// O(d) memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", bound = "T: Default")]
pub struct Exploration<T = HardThreshold> {
    sparsity: usize,
    /// `s' - s`, the number of attributes per block.
    block_width: usize,
    /// The blocks, where attributes have prices; otherwise they are ranges of `block_width` attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<Blocks>,
    step_size: f64,
    batch: BatchSizes,
    /// `T`.
    updates: Option<u64>,
    theta: SparseVector,
    /// The gradient sums of the current update, block after block.
    gradient: Vec<f64>,
    /// The place of the first attribute of the current block; see `attribute`.
    block_start: usize,
    /// The number of examples of the current block so far.
    seen_in_block: u64,
    /// The number of updates made.
    done: u64,
    #[serde(skip)]
    threshold: T,
    #[serde(skip)]
    next: SparseVector,
}

lao_observation::stored!(Exploration<T: Default>);

impl<T> Validate for Exploration<T> {
    fn validate(&self) -> Result<(), Damaged> {
        let Exploration { sparsity, block_width, step_size, batch, updates, theta, gradient, .. } = self;
        let (dim, start, seen) = (gradient.len(), self.block_start, self.seen_in_block);
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        gate(dim, *sparsity, sparsity.saturating_add(*block_width), *step_size, batch)
            .map_err(ParamError::damaged)?;
        damaged(theta.dim() == dim, "the estimate has another dimension than the gradient sums")?;
        damaged(theta.len() <= *sparsity, "the estimate has more non-zeros than the sparsity")?;
        let begins = match &self.blocks {
            Some(blocks) => {
                blocks.money().check_supports(NAME, dim, *sparsity).map_err(ParamError::damaged)?;
                let fit = blocks.fit(*block_width, theta.indices());
                damaged(fit, "the blocks are packed beside another support")?;
                blocks.begin_at(start)
            }
            None => start.is_multiple_of(*block_width),
        };
        damaged(start < dim && begins, "the current block does not begin at a block")?;
        state::count(NAME, "the number of updates", self.done)?;
        damaged(updates.is_none_or(|updates| self.done <= updates), "more updates are done than wanted")?;
        damaged(seen < self.batch_size(), "the block has more examples than its batch size")?;
        damaged(!self.finished() || (seen, start) == (0, 0), "it is finished in the middle of an update")?;
        let begun = if seen > 0 { self.block_end() } else { start };
        let rest = (begun..dim).all(|place| gradient[self.attribute(place) as usize] == 0.0);
        damaged(rest, "coordinates that were not explored have gradient sums")?;
        let mut explored: Vec<u32> = (0..begun).map(|place| self.attribute(place)).collect();
        explored.sort_unstable();
        let outgrown = self.outgrown(explored.into_iter(), &[]);
        Damaged::unless(outgrown.is_none(), NAME, || "an estimate and its gradient sum overflow together")
    }
}

impl<T> Exploration<T> {
    pub(super) fn finished(&self) -> bool {
        self.updates.is_some_and(|updates| self.done >= updates)
    }

    /// Returns whether the current batch size is `batch` and `updates` updates are wanted, as Hybrid needs.
    pub(super) fn has(&self, batch: u64, updates: u64) -> bool {
        (&self.batch, self.updates) == (&BatchSizes::Constant(batch), Some(updates))
    }

    pub(super) fn step_size(&self) -> f64 {
        self.step_size
    }

    pub(super) fn theta(&self) -> &SparseVector {
        &self.theta
    }

    /// Returns `B_t` of the current update.
    fn batch_size(&self) -> u64 {
        self.batch.size(self.done + 1)
    }

    fn block_end(&self) -> usize {
        match &self.blocks {
            Some(blocks) => blocks.end(self.block_start),
            None => (self.block_start + self.block_width).min(self.gradient.len()),
        }
    }

    /// Returns the attribute at a place of the list of all attributes, block after block.
    fn attribute(&self, place: usize) -> u32 {
        self.blocks.as_ref().map_or(place as u32, |blocks| blocks.attributes()[place])
    }

    /// Returns the attributes of the current block, `J_i`.
    fn block(&self) -> impl ExactSizeIterator<Item = u32> {
        (self.block_start..self.block_end()).map(|place| self.attribute(place))
    }

    /// Packs the blocks beside the support of a new estimate.
    fn pack(&mut self) {
        if let Some(blocks) = &mut self.blocks {
            blocks.pack(self.theta.indices());
        }
    }

    /// Returns the number of examples that the current block still needs.
    fn examples_left(&self) -> u64 {
        if self.finished() { 0 } else { self.batch_size() - self.seen_in_block }
    }

    /// Returns `-eta/B_t`, which multiplies the gradient sums of a whole batch.
    fn scale(&self) -> f64 {
        -self.step_size / self.batch_size() as f64
    }

    /// Returns the first of these ascending coordinates that would not be finite if the update were made now,
    /// with `more` added to the gradient sums.
    fn outgrown(&self, attributes: impl Iterator<Item = u32>, more: &[f64]) -> Option<NotFinite> {
        let scale = self.scale();
        let mut theta = self.theta.view().iter().peekable();
        let mut more = more.iter();
        attributes.into_iter().find_map(|j| {
            let sum = self.gradient[j as usize] + more.next().unwrap_or(&0.0);
            while theta.next_if(|&(i, _)| i < j).is_some() {}
            let value = scale * sum + theta.next_if(|&(i, _)| i == j).map_or(0.0, |(_, value)| value);
            (!value.is_finite()).then_some(NotFinite { index: j as usize, value })
        })
    }
}

impl<T: Threshold> Exploration<T> {
    /// Starts over from `theta` for `updates` updates, and keeps the buffers.
    pub(super) fn restart(
        &mut self,
        theta: SparseView<'_>,
        batch: BatchSizes,
        updates: u64,
    ) -> Result<(), LearnError> {
        threshold_sparse(theta, self.sparsity, &mut self.threshold, &mut self.next, &mut self.theta)
            .map_err(|at| diverged(self.done + 1, at, Some(theta.indices())))?;
        self.pack();
        self.resume(batch, updates);
        Ok(())
    }

    /// Resumes from the current estimate for `updates` more updates, and counts them from 0 again.
    pub(super) fn resume(&mut self, batch: BatchSizes, updates: u64) {
        self.batch = batch;
        (self.updates, self.done) = (Some(updates), 0);
    }

    /// Adds `sum_b 2 (theta' x_b - y_b) x_b|J_i` to `g|J_i`.
    fn add_to_gradient(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let part = told.gradient(self.block(), self.examples_left())?;
        // The check comes before any change, so that a sum that is too large does not spoil the examples
        // before it.
        if let Some(at) = self.outgrown(part.attributes.iter().copied(), part.sum) {
            return Err(diverged(self.done + 1, at, None));
        }
        for (&j, sum) in part.attributes.iter().zip(part.sum) {
            self.gradient[j as usize] += sum;
        }
        self.seen_in_block += part.examples;
        Ok(())
    }

    /// Begins the next block of this update, if there is one.
    fn begin_next_block(&mut self) -> bool {
        (self.block_start, self.seen_in_block) = (self.block_end(), 0);
        self.block_start < self.gradient.len()
    }

    /// Makes the step `theta <- H_s(theta - eta g)`, which is computed in the memory of `g`.
    fn gradient_step(&mut self) -> Result<(), LearnError> {
        let scale = self.scale();
        self.gradient.iter_mut().for_each(|g| *g *= scale);
        for (j, value) in self.theta.view().iter() {
            self.gradient[j as usize] += value;
        }
        let kept = self.threshold.keep(&self.gradient, self.sparsity, &mut self.next);
        kept.map_err(|at| diverged(self.done + 1, at, None))?;
        std::mem::swap(&mut self.theta, &mut self.next);
        self.pack();
        self.done += 1;
        Ok(())
    }

    /// Begins a pass over all blocks.
    fn begin_pass(&mut self) {
        self.gradient.fill(0.0);
        (self.block_start, self.seen_in_block) = (0, 0);
    }
}

impl<T: Threshold> Learner for Exploration<T> {
    fn dim(&self) -> usize {
        self.gradient.len()
    }

    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        if self.finished() {
            return ask.nothing();
        }
        ask.gradient(self.theta.view(), self.block(), self.examples_left());
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        self.add_to_gradient(told)?;
        if self.seen_in_block < self.batch_size() || self.begin_next_block() {
            return Ok(());
        }
        let moved = self.gradient_step();
        // The pass begins even after a step that diverged, so that the estimate before this step can still
        // improve.
        self.begin_pass();
        moved
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn updates(&self) -> u64 {
        self.done
    }

    fn examples_to_next_update(&self) -> Option<u64> {
        let blocks = match &self.blocks {
            Some(blocks) => blocks.left(self.block_start),
            None => (self.gradient.len() - self.block_start).div_ceil(self.block_width),
        } as u64;
        (!self.finished()).then(|| blocks.saturating_mul(self.batch_size()) - self.seen_in_block)
    }
}
