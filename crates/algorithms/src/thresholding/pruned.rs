//! Pruning: a solver is run with more attributes than are wanted, and those are dropped that the others can
//! best do without.
//!
//! *Source*: of this project. It is a variant of the solvers that it is applied to; none of their papers has
//! it. It takes them into the regime of their theorems, in which the sparsity is a multiple of that of the
//! comparator: `k >= (4 (B/b)^2 + 1) k*` in Liang et al. 2020, `k >= 32 kappa^2 k*` in Jain, Tewari & Kar
//! 2014.
//!
//! *Notation*: `k` -> the sparsity wanted, `k'` -> that of the solver, the smallest of a multiple of k, of d
//! and of n/4, but k at least.
//!
//! *Update*: after each round of the solver, from its iterate,
//!
//! ```text
//! S <- supp x;  K <- G_SS^-1, b <- K c_S    G, c of the quadratic model at x; of f for least squares
//! until |S| = k:  drop the i of S with the least b_i^2 / K_ii, which is what it explains beside the others
//! u <- argmin { f(u) : supp u in S }     by damped Newton steps where the loss is not quadratic
//! if the solver is random and supp u is that of the round before:  start again from x = u
//! ```
//!
//! Otherwise the solver goes on from x. What is returned is the u with the least f so far. *Why the restart*:
//! where the k' attributes of x hardly change any more, an attribute whose neighbors stand for it may stay
//! out for ever; from u, all but k attributes compete anew.
//!
//! *Cost*: to prune costs 2n IFO calls for least squares; for other losses 3n, and n for each Newton step and
//! each trial of its length, one output after the other. Each f(u) costs n more once there are two to be
//! compared. A restart costs O(d).

use super::auto::Choice;
use super::exchange::{Exchange, ExchangeParams};
use super::{Shape, SolveError, Solver, SolverProgress, SolverTask};
use crate::params::ParamError;
use lao_finite_sum::{FiniteSum, Meter, Predictor};
use lao_kernels::SparseVector;
use lao_observation::Rng;

/// The part of its square that an attribute must have beyond the others.
const INDEPENDENT: f64 = 1e-10;

/// Rounds on end without a lower f, after which a solver that starts again rests.
const RESTS: u64 = 30;

/// Drops attributes by the least sacrifice until at most `size` are left. `gram` is the Gram matrix, row by
/// row up to the diagonal, and `right` the right side. Returns the places of those left, and the
/// coefficients.
pub(super) fn backward(gram: &[f64], right: &[f64], size: usize) -> Vec<(usize, f64)> {
    let all = right.len();
    // K and b, one attribute after the other, by Gauss-Jordan steps in place; attributes that depend on those
    // before them are left out.
    let mut k = vec![0.0; all * all];
    for a in 0..all {
        for b in 0..=a {
            (k[a * all + b], k[b * all + a]) = (gram[a * all + b], gram[a * all + b]);
        }
    }
    let (mut b, mut kept) = (right.to_vec(), Vec::new());
    for pivot in 0..all {
        let own = k[pivot * all + pivot];
        if !(own > INDEPENDENT * gram[pivot * all + pivot] && own.is_finite()) {
            continue;
        }
        let mut row = k[pivot * all..][..all].to_vec();
        row.iter_mut().for_each(|value| *value /= own);
        let step = b[pivot] / own;
        for a in (0..all).filter(|a| *a != pivot) {
            let weight = k[a * all + pivot];
            let entries = &mut k[a * all..][..all];
            entries.iter_mut().zip(&row).for_each(|(entry, value)| *entry -= weight * value);
            entries[pivot] = -weight / own;
            b[a] -= weight * step;
        }
        row[pivot] = 1.0 / own;
        k[pivot * all..][..all].copy_from_slice(&row);
        b[pivot] = step;
        kept.push(pivot);
    }
    while kept.len() > size {
        let loss = |a: usize| b[a] * b[a] / k[a * all + a];
        let Some(at) = (0..kept.len()).min_by(|x, y| loss(kept[*x]).total_cmp(&loss(kept[*y]))) else {
            break;
        };
        let dropped = kept.remove(at);
        let row = k[dropped * all..][..all].to_vec();
        for &a in &kept {
            let weight = k[a * all + dropped] / row[dropped];
            k[a * all..][..all].iter_mut().zip(&row).for_each(|(entry, value)| *entry -= weight * value);
            b[a] -= weight * b[dropped];
        }
    }
    kept.into_iter().map(|a| (a, b[a])).collect()
}

/// A function that returns the solver of a task with the sparsity k', given k as well.
type Build = fn(Shape, &SolverTask, usize) -> Result<Box<dyn Solver>, ParamError>;

/// A solver whose iterate is pruned after each round.
pub struct Pruned {
    shape: Shape,
    build: Build,
    /// The task of the solver, of which each restart changes the start.
    task: SolverTask,
    wanted: usize,
    restarts: bool,
    solver: Box<dyn Solver>,
    choice: Option<Choice>,
    pruning: Exchange,
    u: Predictor,
    /// The u of the least f so far.
    best: Predictor,
    /// This f, once there is another one to be compared with.
    least: Option<f64>,
    /// The rounds before it was found.
    best_after: u64,
    /// The supports of the iterate that was pruned last.
    supports: Vec<Vec<u32>>,
    stage: Stage,
    rounds: u64,
}

/// What the next step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A step of the solver.
    Solve,
    /// A part of the pruning. The solver has settled, or will go on.
    Prune { has_settled: bool },
    /// The comparison of what was pruned with the best so far.
    Compare { has_settled: bool },
    /// Nothing is left to do.
    Settled,
}

impl Pruned {
    /// Returns the solver that `build` makes for `factor` times the sparsity of `task`, pruned to it. `build`
    /// is also given the sparsity that is wanted.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn new(shape: Shape, task: &SolverTask, factor: usize, build: Build) -> Result<Pruned, ParamError> {
        let wanted = task.sparsity;
        let sparsity = wanted.saturating_mul(factor).min(shape.dim).min(shape.components / 4).max(wanted);
        let mut pruning = ExchangeParams::practical(task).build(shape)?;
        let task = SolverTask { sparsity, ..task.clone() };
        Ok(Pruned {
            shape,
            build,
            solver: build(shape, &task, wanted)?,
            task,
            wanted,
            restarts: false,
            choice: None,
            u: pruning.coefficients().clone(),
            best: pruning.coefficients().clone(),
            least: None,
            best_after: 0,
            pruning,
            supports: Vec::new(),
            stage: Stage::Solve,
            rounds: 0,
        })
    }

    /// Lets the solver, which must be random, start again from u whenever the support of u is that of the
    /// round before.
    #[must_use]
    pub fn restarting(self) -> Pruned {
        Pruned { restarts: true, ..self }
    }

    fn solve(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError> {
        let before = self.solver.rounds();
        let progress = self.solver.step(sum, rng)?;
        let has_settled = progress == SolverProgress::Settled;
        if !has_settled && self.solver.rounds() == before {
            return Ok(SolverProgress::Evaluated);
        }
        let x = self.solver.coefficients();
        let is_same = self.supports.len() == x.coefficients.len()
            && self.supports.iter().zip(&x.coefficients).all(|(old, x)| old == x.indices());
        // Least squares on a support does not depend on the iterate.
        if is_same && sum.loss().squares().is_some() {
            if self.restarts {
                self.restart();
            }
            return Ok(self.end_round(has_settled));
        }
        self.supports.resize_with(x.coefficients.len(), Vec::new);
        for (support, x) in self.supports.iter_mut().zip(&x.coefficients) {
            support.clear();
            support.extend_from_slice(x.indices());
        }
        self.pruning.begin_pruning(x);
        self.stage = Stage::Prune { has_settled };
        Ok(SolverProgress::Evaluated)
    }

    fn prune(
        &mut self,
        sum: &mut FiniteSum,
        rng: &mut Rng,
        has_settled: bool,
    ) -> Result<SolverProgress, SolveError> {
        if let Err(error) = self.pruning.step(sum, rng) {
            self.supports.clear();
            self.stage = Stage::Solve;
            return Err(error);
        }
        if !self.pruning.is_settled() {
            return Ok(SolverProgress::Evaluated);
        }
        if self.rounds == 0 {
            self.u.copy_from(self.pruning.coefficients());
            self.best.copy_from(&self.u);
            return Ok(self.end_round(has_settled));
        }
        self.stage = Stage::Compare { has_settled };
        Ok(SolverProgress::Evaluated)
    }

    /// Returns the number of IFO calls of a comparison.
    fn calls_to_compare(&self) -> u64 {
        (1 + u64::from(self.least.is_none())) * self.shape.components as u64
    }

    /// Keeps u if it has the least f so far, and sees whether its support is a new one.
    fn compare(&mut self, sum: &mut FiniteSum, has_settled: bool) -> Result<SolverProgress, SolveError> {
        sum.add_cost(Meter { calls: self.calls_to_compare(), thresholds: 0 });
        let least = self.least.map_or_else(|| sum.objective(&self.best), Ok)?;
        let u = self.pruning.coefficients();
        let is_same = |(u, old): (&SparseVector, &SparseVector)| u.indices() == old.indices();
        let is_same = u.coefficients.iter().zip(&self.u.coefficients).all(is_same);
        self.u.copy_from(u);
        let value = sum.objective(&self.u)?;
        if value < least {
            self.best.copy_from(&self.u);
            self.best_after = self.rounds;
        }
        self.least = Some(value.min(least));
        if self.restarts && is_same {
            self.restart();
        }
        Ok(self.end_round(has_settled))
    }

    /// Starts again from the pruned predictor.
    fn restart(&mut self) {
        self.task.start = Some(self.u.clone());
        self.choice = self.choice();
        // What was built once, from another start, is not refused.
        if let Ok(solver) = (self.build)(self.shape, &self.task, self.wanted) {
            self.solver = solver;
        }
        self.supports.clear();
    }

    fn end_round(&mut self, has_settled: bool) -> SolverProgress {
        self.rounds += 1;
        self.stage = if has_settled { Stage::Settled } else { Stage::Solve };
        SolverProgress::Moved
    }
}

impl Solver for Pruned {
    fn next_calls(&self, sum: &FiniteSum) -> u64 {
        match self.stage {
            Stage::Solve => self.solver.next_calls(sum),
            Stage::Prune { .. } => self.pruning.next_calls(sum),
            Stage::Compare { .. } => self.calls_to_compare(),
            Stage::Settled => 0,
        }
    }

    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError> {
        self.shape.require(sum)?;
        match self.stage {
            Stage::Solve => self.solve(sum, rng),
            Stage::Prune { has_settled } => self.prune(sum, rng, has_settled),
            Stage::Compare { has_settled } => self.compare(sum, has_settled),
            Stage::Settled => Ok(SolverProgress::Settled),
        }
    }

    fn coefficients(&mut self) -> &Predictor {
        &self.best
    }

    fn choice(&self) -> Option<Choice> {
        self.solver.choice().or(self.choice)
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn rests(&self) -> bool {
        !self.restarts || self.rounds - self.best_after > RESTS
    }
}
