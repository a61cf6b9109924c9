//! Hybrid: stages of a few Exploration updates, each followed by Exploitation on the support found.
//!
//! *Source*: Murata & Suzuki 2018, Algorithm 3.
//!
//! *Setting*: as [`exploration`](super::exploration). A learner cannot check whether the support is right,
//! and the number of updates until it is depends on the smallest coefficient, which is unknown. Alternating
//! adapts to this number.
//!
//! *Notation*: `T_k^-` -> `explore_updates`, `T_k` -> `exploit_updates`, `B_{t,k}^-` -> `explore_batch`,
//! `B_{t,k}` -> `exploit_batch`, `K` -> `stages`.
//!
//! *Update*: for `k = 1..K`: `theta~_k^- = Exploration(theta~_{k-1}, T_k^- updates)`,
//! `theta~_k = Exploitation(theta~_k^-, T_k updates)`.
//!
//! *Departures*: as in Theorem 4.4, batch sizes and numbers of updates depend on the stage `k` only, not on
//! `t`. Where attributes have prices, Exploration departs from the paper as its module says; Exploitation
//! observes the support alone, which the money pays.
//!
//! *Reference*: [`HybridReference`](super::reference::HybridReference).
//!
//! *Claims*: `ms18-thm44-*`, `ms18-cor45-*`, `ms18-fig1`.

use super::theory::{Problem, StageGuarantee};
use super::{Exploitation, ExploitationParams, Exploration, ExplorationParams};
use crate::money::Money;
use crate::params::{ParamError, require, require_shape};
use crate::schedule::BatchSizes;
use crate::state;
use crate::task::Task;
use lao_kernels::{HardThreshold, SparseVector, SparseView, Threshold};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "Hybrid";

/// Parameters of [`Hybrid`].
///
/// ```
/// use lao_algorithms::{Task, murata_suzuki::HybridParams};
/// use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
/// use lao_kernels::SparseVector;
/// use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
///
/// let target = SparseVector::new(40, vec![7, 30], vec![1.0, -1.0])?;
/// let source = Virtual::new(Rademacher::new(40)?, target, Noise::Gaussian(0.1), &Seed::root(1))?;
/// let task = Task { dim: 40, sparsity: 2, budget: 10, ..Task::default() };
/// let mut learner = HybridParams::practical(&task)?.build()?;
/// let mut session = Session::new(source, Budget::PerExample(10), &Seed::root(2));
/// session.run(&mut learner, SessionLimit::after_examples(5000), |_, _| {})?;
/// assert_eq!(learner.coefficients().indices(), &[7, 30]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `s`, non-zeros kept by every Exploration update; `1 <= s < s'`.
    pub sparsity: usize,
    /// `s'`, attributes observed per example; `s < s' <= d`.
    pub budget: usize,
    /// `eta`, the step size of both stages.
    pub step_size: f64,
    /// `T_k^-`, Exploration updates per stage; 3 in the theorem.
    pub explore_updates: u64,
    /// `B_{t,k}^-`, examples per gradient block in stage `k`.
    pub explore_batch: BatchSizes,
    /// `T_k`, Exploitation updates per stage; with 0 the method is Exploration.
    pub exploit_updates: u64,
    /// `B_{t,k}`, examples per Exploitation update in stage `k`.
    pub exploit_batch: BatchSizes,
    /// `K`, the number of stages. With `None` the learner goes on as long as there are examples.
    pub stages: Option<u64>,
    /// `theta~_0`; `None` is zero.
    pub start: Option<SparseVector>,
    /// What an example may cost, beside `budget`; `None` if all attributes cost the same. It must pay any
    /// support of `sparsity` attributes with any other attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

impl HybridParams {
    /// Returns practical parameters: each stage has one Exploration update and three Exploitation updates,
    /// with five times the batch size; both batch sizes grow by half per stage. See
    /// [`ExplorationParams::practical`] for the step size. The first update needs `4 s ceil(d/(s' - s))`
    /// examples.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check_speed(NAME)?;
        let first = 4.0 * task.sparsity as f64;
        Ok(HybridParams {
            dim: task.dim,
            sparsity: task.sparsity,
            budget: task.budget,
            step_size: task.step_size(),
            explore_updates: 1,
            explore_batch: BatchSizes::Geometric { first, growth: 1.5 },
            exploit_updates: 3,
            exploit_batch: BatchSizes::Geometric { first: 5.0 * first, growth: 1.5 },
            stages: None,
            start: task.start.clone(),
            money: task.money.clone(),
        })
    }

    /// Returns the corrected constants of Theorem 4.4 for this guarantee. Batch sizes are listed stage by
    /// stage, so at most 2^20 stages are returned.
    pub fn from_theorem(problem: &Problem, budget: usize, guarantee: StageGuarantee) -> Self {
        let stages = guarantee.stages.min(1 << 20);
        let refine = problem.hybrid_exploit_updates(budget);
        let sizes = |of: &dyn Fn(u64) -> f64| {
            BatchSizes::Listed((1..=stages.max(1)).map(|k| BatchSizes::round_up(of(k))).collect())
        };
        HybridParams {
            dim: problem.dim,
            sparsity: problem.sparsity,
            budget,
            step_size: problem.step_size,
            explore_updates: 3,
            explore_batch: sizes(&|k| problem.hybrid_explore_batch(k, guarantee)),
            exploit_updates: refine,
            exploit_batch: sizes(&|k| problem.hybrid_exploit_batch(k, refine, guarantee)),
            stages: Some(stages),
            start: None,
            money: None,
        }
    }

    /// Builds the learner with hard thresholding.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Hybrid, ParamError> {
        self.build_with(HardThreshold::default())
    }

    /// Builds the learner with another thresholding operator.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<T: Threshold>(self, threshold: T) -> Result<Hybrid<T>, ParamError> {
        let HybridParams { explore_updates, exploit_updates, explore_batch, exploit_batch, stages, .. } =
            self;
        if let Some(money) = &self.money {
            money.check_supports(NAME, self.dim, self.sparsity)?;
        }
        require_shape(NAME, self.dim, self.sparsity, self.budget)?;
        gate(explore_updates, &explore_batch, &exploit_batch)?;
        let explore = ExplorationParams {
            dim: self.dim,
            sparsity: self.sparsity,
            budget: self.budget,
            step_size: self.step_size,
            batch: BatchSizes::Constant(explore_batch.size(1)),
            updates: Some(if stages == Some(0) { 0 } else { explore_updates }),
            start: self.start,
            money: self.money,
        };
        let explore = explore.build_with(threshold).map_err(|error| ParamError { method: NAME, ..error })?;
        let exploit = ExploitationParams {
            start: explore.coefficients().to_owned_vector(),
            budget: self.budget,
            step_size: self.step_size,
            batch: BatchSizes::Constant(1),
            updates: Some(0),
        };
        let exploit = exploit.build().map_err(|error| ParamError { method: NAME, ..error })?;
        Ok(Hybrid {
            explore_updates,
            explore_batch,
            exploit_updates,
            exploit_batch,
            stages,
            stage: 1,
            exploiting: false,
            before: 0,
            explore,
            exploit,
        })
    }
}

/// Refuses parameters that are not allowed, when a learner is built and when its state is read.
fn gate(
    explore_updates: u64,
    explore_batch: &BatchSizes,
    exploit_batch: &BatchSizes,
) -> Result<(), ParamError> {
    let allowed = "at least 1, an update per stage";
    require(explore_updates >= 1, NAME, "explore_updates", explore_updates, allowed)?;
    explore_batch.check(NAME, "explore_batch")?;
    exploit_batch.check(NAME, "exploit_batch")
}

/// The learner of Algorithm 3. Its cost and memory are those of [`Exploration`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", bound = "T: Default")]
pub struct Hybrid<T = HardThreshold> {
    explore_updates: u64,
    explore_batch: BatchSizes,
    exploit_updates: u64,
    exploit_batch: BatchSizes,
    stages: Option<u64>,
    /// `k`, counted from 1; it is above `stages` when the learner is finished.
    stage: u64,
    exploiting: bool,
    /// The number of updates completed before the current half-stage.
    before: u64,
    explore: Exploration<T>,
    exploit: Exploitation,
}

lao_observation::stored!(Hybrid<T: Default>);

impl<T> Validate for Hybrid<T> {
    /// Checks that the parts fit one another. Each part was checked by itself when it was read.
    fn validate(&self) -> Result<(), Damaged> {
        let Hybrid { explore, exploit, stage, exploiting, explore_updates, exploit_updates, .. } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        gate(*explore_updates, &self.explore_batch, &self.exploit_batch).map_err(ParamError::damaged)?;
        let (start, refined) = (explore.theta(), exploit.coefficients());
        damaged(start.dim() == refined.dim(), "its halves have different dimensions")?;
        damaged(explore.step_size() == exploit.step_size(), "its halves have different step sizes")?;
        state::count(NAME, "the stage", *stage)?;
        state::count(NAME, "the number of updates", self.before)?;
        let over = self.stages.is_some_and(|stages| *stage > stages);
        let beyond = self.stages.is_some_and(|stages| *stage > stages.saturating_add(1));
        damaged(*stage >= 1 && !beyond, "there is no such stage")?;
        let explores = if over { 0 } else { *explore_updates };
        let fits = explore.has(self.explore_batch.size(*stage), explores);
        damaged(fits, "Exploration has a batch size or a number of updates of another stage")?;
        let done = u128::from(*stage - 1) * (u128::from(*explore_updates) + u128::from(*exploit_updates));
        let within = if *exploiting { u128::from(*explore_updates) } else { 0 };
        damaged(
            u128::from(self.before) == done + within,
            "the updates do not add up to those of the stages",
        )?;
        if !*exploiting {
            return damaged(over || !explore.finished(), "Exploration is over, but its stage is not");
        }
        damaged(!over && explore.finished(), "Exploitation has begun before Exploration is over")?;
        let fits = exploit.has(self.exploit_batch.size(*stage), *exploit_updates);
        damaged(fits, "Exploitation has a batch size or a number of updates of another stage")?;
        damaged(!exploit.finished(), "Exploitation is over, but its stage is not")?;
        damaged(start.indices() == refined.indices(), "Exploitation is on another support than was found")
    }
}

impl<T: Threshold> Hybrid<T> {
    /// Returns the current stage `k`, counted from 1.
    pub fn stage(&self) -> u64 {
        self.stage
    }

    /// Returns whether the current half-stage is Exploitation.
    pub fn is_exploiting(&self) -> bool {
        self.exploiting
    }

    /// Returns the learner of the current half-stage.
    fn half(&self) -> &dyn Learner {
        if self.exploiting { &self.exploit } else { &self.explore }
    }

    /// Begins the next half-stage if the current one is over.
    fn advance(&mut self) -> Result<(), LearnError> {
        let is_over = if self.exploiting { self.exploit.finished() } else { self.explore.finished() };
        if !is_over {
            return Ok(());
        }
        self.before += self.half().updates();
        if !self.exploiting && self.exploit_updates > 0 {
            self.begin_exploitation();
            return Ok(());
        }
        self.begin_stage()
    }

    /// Begins `Exploitation(theta~_k^-, T_k updates)` of the current stage `k`.
    fn begin_exploitation(&mut self) {
        let batch = BatchSizes::Constant(self.exploit_batch.size(self.stage));
        self.exploit.restart(self.explore.coefficients(), batch, self.exploit_updates);
        self.exploiting = true;
    }

    /// Begins `Exploration(theta~_{k-1}, T_k^- updates)` of the next stage `k`.
    fn begin_stage(&mut self) -> Result<(), LearnError> {
        self.stage += 1;
        let over = self.stages.is_some_and(|stages| self.stage > stages);
        let updates = if over { 0 } else { self.explore_updates };
        let batch = BatchSizes::Constant(self.explore_batch.size(self.stage));
        if std::mem::take(&mut self.exploiting) {
            return self.explore.restart(self.exploit.coefficients(), batch, updates);
        }
        self.explore.resume(batch, updates);
        Ok(())
    }
}

impl<T: Threshold> Learner for Hybrid<T> {
    fn dim(&self) -> usize {
        self.explore.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.exploiting { self.exploit.ask(rng, ask) } else { self.explore.ask(rng, ask) }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let told = if self.exploiting { self.exploit.tell(told) } else { self.explore.tell(told) };
        told.map_err(|error| match error {
            LearnError::Diverged { update, attribute, value } => {
                LearnError::Diverged { update: self.before + update, attribute, value }
            }
            other => other,
        })?;
        self.advance()
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.half().coefficients()
    }

    fn examples_to_next_update(&self) -> Option<u64> {
        self.half().examples_to_next_update()
    }

    fn updates(&self) -> u64 {
        self.before + self.half().updates()
    }
}
