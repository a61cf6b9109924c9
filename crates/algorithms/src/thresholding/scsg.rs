//! SCSG-HT: variance-reduced hard thresholding with a batch gradient at the snapshot and epochs of random
//! length.
//!
//! *Source*: Liang, Tong, Zhu & Bi 2020, Algorithm 1, whose indices are made consistent here.
//!
//! *Setting*: a finite sum at full information; any loss of [`FiniteSum`].
//!
//! *Notation*: `k` -> `sparsity`, `eta` -> `step_size`, `B` -> `batch`, `b` -> `mini_batch`, `N` -> the
//! epoch's length, `X` (printed x-tilde) -> the snapshot, `mu` -> the snapshot gradient.
//!
//! *Update*: an epoch from `x_0 = X` is
//!
//! ```text
//! I uniform of size B without replacement; mu = grad f_I(X)
//! N ~ Geom(B/(B+b)) on 0, 1, .. (option I), or N = B/b rounded down (option II)
//! N times: I_t uniform of size b;  x <- H_k(x - eta (grad f_{I_t}(x) - grad f_{I_t}(X) + mu))
//! X <- x
//! ```
//!
//! An epoch costs B + 2 b N IFO calls and N thresholdings. `N = 0` is legal and leaves the snapshot as it
//! was. For a batch of all n components no indices are drawn. With B = n and option II, every bit is that of
//! SVRG-HT with `m = n/b`.
//!
//! A step costs O(k + nnz of the mini-batch), not O(d), by the invariant of
//! [`LazyThresholdIterate`](lao_kernels::LazyThresholdIterate), whose docs prove it. The invariant applies
//! because, with the slopes c of the mini-batch, the step is
//! `H_k((1 - eta lambda) x - eta mu - (eta/b) sum c_z z)`, where mu is fixed for the epoch and lacks its l2
//! term. The l2 terms of both gradients at the snapshot cancel, and `lambda x` is left.
//!
//! *Departures*: the start is zero unless another one is given; the paper starts at random.
//!
//! *Reference*: [`ScsgReference`](super::reference::ScsgReference).
//!
//! *Claims*: the `scsg20` entries of the suite.

use super::auto::{Choice, Rule, Sizes};
use super::iterate::{Iterate, Snapshot};
use super::{
    Shape, SolveError, Solver, SolverProgress, SolverTask, require_batch, require_sparsity, require_start,
};
use crate::params::{ParamError, require, require_step};
use lao_finite_sum::{Batch, FiniteSum, Gradient, Predictor};
use lao_observation::Rng;
use lao_observation::sample::SubsetSampler;
use rand::RngExt;
use serde::{Deserialize, Serialize};

const NAME: &str = "SCSG-HT";

/// The number of inner steps of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EpochLength {
    /// Option I: `P(N = j) = (1 - g) g^j`, j = 0, 1, .., with `g = B/(B+b)`, so that `E N = B/b`.
    Geometric,
    /// Option II: `N = B/b`, rounded down.
    Ratio,
    /// `N` is this number, at least 1.
    Steps(u64),
}

/// Parameters of [`Scsg`].
///
/// ```
/// use lao_algorithms::thresholding::{EpochLength, ScsgParams, Shape, SolverLimit, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let length = EpochLength::Ratio;
/// let params = ScsgParams { sparsity: 1, step_size: 0.5, batch: 2, mini_batch: 1, length, start: None };
/// let mut solver = params.build(Shape::of(&sum))?;
/// solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(1))?;
/// // B + 2 b N calls for N = B/b steps.
/// assert_eq!((sum.meter().calls, sum.meter().thresholds), (6, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScsgParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`; at most `1/(32 L kappa)` in the theorem, `0.1/L` to `1/L` in practice, where L is that of a
    /// component.
    pub step_size: f64,
    /// `B`, the number of components of a snapshot gradient, from 1 to n.
    pub batch: usize,
    /// `b`, the number of components of a step, from 1 to n.
    pub mini_batch: usize,
    /// `N`, the number of inner steps of an epoch, or its law.
    pub length: EpochLength,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
}

impl ScsgParams {
    /// Returns practical parameters for a step size: option II, with single-component steps and a snapshot
    /// gradient over a tenth of the components.
    pub fn practical(shape: Shape, task: &SolverTask, step_size: f64) -> Self {
        let SolverTask { sparsity, start, .. } = task.clone();
        let batch = shape.components.div_ceil(10);
        ScsgParams { sparsity, step_size, batch, mini_batch: 1, length: EpochLength::Ratio, start }
    }

    /// Builds the solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Scsg, ParamError> {
        let draws = UniformDraws::new(shape.components);
        self.build_with(shape, draws)
    }

    /// Builds the solver with another source of draws.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<D: BatchLaw>(self, shape: Shape, draws: D) -> Result<Scsg<D>, ParamError> {
        self.build_as(NAME, shape, draws)
    }

    pub(super) fn build_as<D: BatchLaw>(
        self,
        name: &'static str,
        shape: Shape,
        draws: D,
    ) -> Result<Scsg<D>, ParamError> {
        let ScsgParams { sparsity, step_size, batch, mini_batch, length, start } = self;
        require_sparsity(name, sparsity)?;
        require_step(name, step_size)?;
        require_batch(name, "batch", batch, shape.components)?;
        require_batch(name, "mini_batch", mini_batch, shape.components)?;
        if length == EpochLength::Ratio {
            let allowed =
                format_args!("at most B = {batch}, since otherwise no epoch has a step").to_string();
            require(mini_batch <= batch, name, "mini_batch", mini_batch, allowed)?;
        }
        require(length != EpochLength::Steps(0), name, "length", 0, "at least 1 step")?;
        let start = require_start(name, start, shape)?;
        Ok(Scsg {
            shape,
            step_size,
            batch,
            mini_batch,
            length,
            iterate: Iterate::new(shape, sparsity, &start),
            snapshot: Snapshot::new(shape),
            snapshot_gradient: Gradient::zeros(shape.dim, shape.outputs),
            drawn: Vec::with_capacity(batch.max(mini_batch)),
            draws,
            auto: None,
            left: 0,
            rounds: 0,
        })
    }
}

/// The source of the random subsets and epoch lengths, which tests can replace.
pub trait BatchLaw {
    /// Appends a uniform subset of `size` of the `components`.
    fn subset(&mut self, components: usize, size: usize, rng: &mut Rng, into: &mut Vec<u32>);
    /// Returns the number of steps of the next epoch.
    fn length(&mut self, length: EpochLength, batch: usize, mini_batch: usize, rng: &mut Rng) -> u64;
}

/// Uniform subsets without replacement, and the epoch lengths of [`EpochLength`].
#[derive(Clone, Debug)]
pub struct UniformDraws(SubsetSampler);

impl UniformDraws {
    /// Returns the draws for sums of so many components.
    pub fn new(components: usize) -> Self {
        UniformDraws(SubsetSampler::new(components))
    }
}

impl BatchLaw for UniformDraws {
    fn subset(&mut self, components: usize, size: usize, rng: &mut Rng, into: &mut Vec<u32>) {
        if size == 1 {
            into.push(rng.random_range(0..components.max(1)) as u32);
        } else {
            self.0.draw(size, rng, into);
        }
    }

    fn length(&mut self, length: EpochLength, batch: usize, mini_batch: usize, rng: &mut Rng) -> u64 {
        match length {
            EpochLength::Geometric => {
                // N is drawn by inversion, N = floor(ln U / ln g) for U in (0, 1]; 1 - (a number in [0, 1))
                // is never zero.
                let u: f64 = 1.0 - rng.random::<f64>();
                (u.ln() / -(mini_batch as f64 / batch as f64).ln_1p()).floor() as u64
            }
            EpochLength::Ratio => (batch / mini_batch.max(1)) as u64,
            EpochLength::Steps(steps) => steps,
        }
    }
}

/// The solver of Algorithm 1. It keeps O(n + c d) memory for c outputs.
#[derive(Clone, Debug)]
pub struct Scsg<D = UniformDraws> {
    shape: Shape,
    step_size: f64,
    batch: usize,
    mini_batch: usize,
    length: EpochLength,
    iterate: Iterate,
    snapshot: Snapshot,
    snapshot_gradient: Gradient,
    drawn: Vec<u32>,
    draws: D,
    auto: Option<Box<Auto>>,
    /// The number of inner steps left in this epoch.
    left: u64,
    rounds: u64,
}

/// What a solver needs that [chooses](super::auto) its own parameters.
#[derive(Clone, Debug)]
struct Auto {
    rule: Rule,
    choice: Option<Choice>,
    sizes: Sizes,
    /// Whether the next step is the first of its epoch.
    is_first: bool,
}

impl<D: BatchLaw> Scsg<D> {
    /// Returns the solver that chooses step size and mini-batch for itself, with snapshots of these sizes.
    pub(super) fn automatic(mut self, rule: Rule, sizes: Sizes) -> Self {
        self.batch = sizes.peek(self.shape.components);
        self.auto = Some(Box::new(Auto { rule, choice: None, sizes, is_first: false }));
        self
    }

    /// Computes `mu = grad f_I(X)`, and draws the number `N` of steps that use it.
    fn take_snapshot(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<(), SolveError> {
        let batch = if self.batch == self.shape.components {
            Batch::All
        } else {
            self.drawn.clear();
            self.draws.subset(self.shape.components, self.batch, rng, &mut self.drawn);
            Batch::Components(&self.drawn)
        };
        let at = self.iterate.coefficients();
        sum.gradient(batch, at, &mut self.snapshot_gradient)?;
        let size = self.batch;
        if let Some(auto) = &mut self.auto {
            let choice = auto.rule.choose(sum, batch, at, &self.snapshot_gradient)?;
            (self.step_size, self.mini_batch) = (choice.step_size, choice.mini_batch);
            (auto.choice, auto.is_first) = (Some(choice), true);
            auto.sizes.advance(self.shape.components);
            self.batch = auto.sizes.peek(self.shape.components);
        }
        self.snapshot.set(sum, at)?;
        self.iterate.begin(self.step_size, &self.snapshot_gradient)?;
        self.left = self.draws.length(self.length, size, self.mini_batch, rng);
        Ok(())
    }
}

impl<D: BatchLaw> Solver for Scsg<D> {
    fn next_calls(&self, _: &FiniteSum) -> u64 {
        let batch = self.batch as u64;
        match &self.auto {
            None if self.left == 0 => batch,
            Some(_) if self.left == 0 => batch + Rule::calls(self.batch),
            Some(auto) if auto.is_first => 0,
            _ => 2 * self.mini_batch as u64,
        }
    }

    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError> {
        self.shape.require(sum)?;
        if self.left == 0 {
            self.take_snapshot(sum, rng)?;
            if self.left == 0 {
                self.rounds += 1;
            }
            return Ok(SolverProgress::Evaluated);
        }
        // x <- H_k(x - eta (grad f_{I_t}(x) - grad f_{I_t}(X) + mu))
        self.drawn.clear();
        // At the snapshot both gradients of a mini-batch are the same.
        if !self.auto.as_mut().is_some_and(|auto| std::mem::take(&mut auto.is_first)) {
            self.draws.subset(self.shape.components, self.mini_batch, rng, &mut self.drawn);
        }
        self.iterate.step(sum, &self.drawn, self.step_size, Some(&self.snapshot))?;
        self.left -= 1;
        self.rounds += u64::from(self.left == 0);
        Ok(SolverProgress::Moved)
    }

    fn coefficients(&mut self) -> &Predictor {
        self.iterate.coefficients()
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn choice(&self) -> Option<Choice> {
        self.auto.as_ref().and_then(|auto| auto.choice)
    }
}
