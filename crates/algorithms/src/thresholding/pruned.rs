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
//! ```
//!
//! The solver goes on from x; u is what is returned. To prune costs 2n IFO calls for least squares, and for
//! other losses 3n, and n for each Newton step and each trial of its length, one output after the other.

use super::auto::Choice;
use super::exchange::{Exchange, ExchangeParams};
use super::{Shape, SolveError, Solver, SolverProgress, SolverTask};
use crate::params::ParamError;
use lao_finite_sum::{FiniteSum, Predictor};
use lao_observation::Rng;

/// The part of its square that an attribute must have beyond the others.
const INDEPENDENT: f64 = 1e-10;

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

/// A solver whose iterate is pruned after each round.
pub struct Pruned {
    shape: Shape,
    solver: Box<dyn Solver>,
    pruning: Exchange,
    /// u.
    x: Predictor,
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
    /// Nothing is left to do.
    Settled,
}

impl Pruned {
    /// Returns the solver that `build` makes for `factor` times the sparsity of `task`, pruned to it. `build`
    /// is also given the sparsity that is wanted.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn new(
        shape: Shape,
        task: &SolverTask,
        factor: usize,
        build: impl FnOnce(Shape, &SolverTask, usize) -> Result<Box<dyn Solver>, ParamError>,
    ) -> Result<Pruned, ParamError> {
        let sparsity = task.sparsity;
        let most = sparsity.saturating_mul(factor).min(shape.dim).min(shape.components / 4).max(sparsity);
        let mut pruning = ExchangeParams::practical(task).build(shape)?;
        Ok(Pruned {
            shape,
            solver: build(shape, &SolverTask { sparsity: most, ..task.clone() }, sparsity)?,
            x: pruning.coefficients().clone(),
            pruning,
            supports: Vec::new(),
            stage: Stage::Solve,
            rounds: 0,
        })
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
        self.x.copy_from(self.pruning.coefficients());
        Ok(self.end_round(has_settled))
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
            Stage::Settled => 0,
        }
    }

    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError> {
        self.shape.require(sum)?;
        match self.stage {
            Stage::Solve => self.solve(sum, rng),
            Stage::Prune { has_settled } => self.prune(sum, rng, has_settled),
            Stage::Settled => Ok(SolverProgress::Settled),
        }
    }

    fn coefficients(&mut self) -> &Predictor {
        &self.x
    }

    fn choice(&self) -> Option<Choice> {
        self.solver.choice()
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }
}
