//! SCSG-HT: variance-reduced hard thresholding with a batch gradient at the snapshot and epochs of random
//! length.
//!
//! *Source*: Liang, Tong, Zhu & Bi 2020, Algorithm 1, with consistent indices.
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
//! Costs B + 2 b N IFO calls and N thresholdings an epoch; `N = 0` is legal and leaves the snapshot. A batch
//! of all n components is taken without drawing. With B = n and option II this is SVRG-HT with `m = n/b` bit
//! for bit.
//!
//! A step costs O(k + nnz of the mini-batch), not O(d): see the invariant of
//! [`LazyThresholdIterate`](lao_kernels::LazyThresholdIterate), whose docs prove it. It holds because with
//! the slopes c of the mini-batch the step is `H_k((1 - eta lambda) x - eta mu - (eta/b) sum c_z z)`, mu
//! fixed for the epoch and without its l2 term: those of mu, of the correction and of x cancel to `lambda x`.
//!
//! *Departures*: start at zero unless told otherwise (the paper: random).
//!
//! *Claims*: the `scsg20` entries of the suite.

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

/// How many inner steps an epoch has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EpochLength {
    /// Option I: `P(N = j) = (1 - g) g^j`, j = 0, 1, .., with `g = B/(B+b)`, so that `E N = B/b`.
    Geometric,
    /// Option II: `N = B/b`, rounded down.
    Ratio,
    /// This many, at least 1.
    Steps(u64),
}

/// Parameters of [`Scsg`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScsgParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`; the theorem has at most `1/(32 L kappa)`, practice `0.1/L` to `1/L` with L of a component.
    pub step_size: f64,
    /// `B`, components of a snapshot gradient; 1 to n.
    pub batch: usize,
    /// `b`, components of a step; 1 to n.
    pub mini_batch: usize,
    /// `N`.
    pub length: EpochLength,
    /// Where to start; `None` is zero.
    pub start: Option<Predictor>,
}

impl ScsgParams {
    /// Option II with single-component steps and a snapshot gradient over a tenth of the components.
    pub fn practical(shape: Shape, task: &SolverTask) -> Self {
        let SolverTask { sparsity, step_size, start } = task.clone();
        let batch = shape.components.div_ceil(10);
        ScsgParams { sparsity, step_size, batch, mini_batch: 1, length: EpochLength::Ratio, start }
    }

    /// The solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Scsg, ParamError> {
        let draws = UniformDraws::new(shape.components);
        self.check_with(shape, draws)
    }

    /// The solver with other draws.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn check_with<D: BatchLaw>(self, shape: Shape, draws: D) -> Result<Scsg<D>, ParamError> {
        self.check_as(NAME, shape, draws)
    }

    pub(super) fn check_as<D: BatchLaw>(
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
            let allowed = format_args!("at most B = {batch}, or no epoch has a step").to_string();
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
            left: 0,
            rounds: 0,
        })
    }
}

/// Where the randomness of variance reduction comes from; a seam for the suite.
pub trait BatchLaw {
    /// Appends a uniform subset of `size` of the `components`.
    fn subset(&mut self, components: usize, size: usize, rng: &mut Rng, into: &mut Vec<u32>);
    /// Steps of the next epoch.
    fn length(&mut self, length: EpochLength, batch: usize, mini_batch: usize, rng: &mut Rng) -> u64;
}

/// Uniform subsets without replacement, lengths as [`EpochLength`] says.
#[derive(Clone, Debug)]
pub struct UniformDraws(SubsetSampler);

impl UniformDraws {
    /// For sums of so many components.
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
                // By inversion: N = floor(ln U / ln g) for U in (0, 1]; 1 - (a number in [0, 1)) is never
                // zero.
                let u: f64 = 1.0 - rng.random::<f64>();
                (u.ln() / -(mini_batch as f64 / batch as f64).ln_1p()).floor() as u64
            }
            EpochLength::Ratio => (batch / mini_batch.max(1)) as u64,
            EpochLength::Steps(steps) => steps,
        }
    }
}

/// The solver of Algorithm 1. Keeps O(n + c d) memory for c outputs.
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
    /// Inner steps left in this epoch.
    left: u64,
    rounds: u64,
}

impl<D: BatchLaw> Scsg<D> {
    /// `mu = grad f_I(X)`, and the number `N` of steps with it.
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
        self.snapshot.set(sum, at)?;
        self.iterate.begin(self.step_size, &self.snapshot_gradient)?;
        self.left = self.draws.length(self.length, self.batch, self.mini_batch, rng);
        Ok(())
    }
}

impl<D: BatchLaw> Solver for Scsg<D> {
    fn next_calls(&self, _: &FiniteSum) -> u64 {
        if self.left == 0 { self.batch as u64 } else { 2 * self.mini_batch as u64 }
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
        self.draws.subset(self.shape.components, self.mini_batch, rng, &mut self.drawn);
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
}
