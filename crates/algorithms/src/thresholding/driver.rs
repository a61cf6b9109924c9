//! The one driver of all solvers: budget, stopping, trace; and the sparsity path.

use super::{SolveError, Solver, SolverProgress};
use crate::params::ParamError;
use lao_finite_sum::{FiniteSum, Meter, Predictor};
use lao_observation::{Rng, Seed};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// When a run ends, if the solver does not settle before. Give at least one limit for methods that never
/// settle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverLimit {
    /// IFO calls: no step is begun that would go beyond, not even in the middle of an epoch.
    pub calls: Option<u64>,
    /// Rounds of the solver.
    pub rounds: Option<u64>,
    /// Ends once a round moved the iterate by at most this share of its norm.
    pub change: Option<f64>,
}

impl SolverLimit {
    /// After so many IFO calls.
    pub fn after_calls(calls: u64) -> SolverLimit {
        SolverLimit { calls: Some(calls), ..SolverLimit::default() }
    }
    /// After so many rounds.
    pub fn after_rounds(rounds: u64) -> SolverLimit {
        SolverLimit { rounds: Some(rounds), ..SolverLimit::default() }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverEnd {
    /// The next step would exceed the IFO calls allowed.
    Calls,
    /// The rounds are done.
    Rounds,
    /// A round changed too little.
    Change,
    /// The solver reached a fixed point.
    Settled,
}

/// A point of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Rounds completed.
    pub rounds: u64,
    /// What was spent.
    pub meter: Meter,
    /// `f(x)`.
    pub objective: f64,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Why it ended.
    pub outcome: SolverEnd,
    /// The last iterate.
    pub predictor: Predictor,
    /// The start, and every completed round, where the run was [traced](solve_traced); scoring is not
    /// metered.
    pub trace: Vec<Point>,
}

/// Runs a solver. All draws descend from `seed`.
///
/// # Errors
/// When a step diverges or the sum has another shape than the solver.
pub fn solve<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    seed: &Seed,
    stop: SolverLimit,
) -> Result<Run, SolveError> {
    drive(sum, solver, &mut generator(seed), stop, Trace::No)
}

/// Runs a solver as [`solve`] does, and scores the start and the iterate after every round.
///
/// # Errors
/// As [`solve`].
pub fn solve_traced<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    seed: &Seed,
    stop: SolverLimit,
) -> Result<Run, SolveError> {
    drive(sum, solver, &mut generator(seed), stop, Trace::Yes)
}

/// Resumes a solver with draws from `rng`, from where it stands. A run that was stopped and resumed with the
/// same generator has the same bits as a run that was never stopped. Limits count from here.
///
/// # Errors
/// As [`solve`].
pub fn resume<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    rng: &mut Rng,
    stop: SolverLimit,
) -> Result<Run, SolveError> {
    drive(sum, solver, rng, stop, Trace::No)
}

fn generator(seed: &Seed) -> Rng {
    seed.child("solver").rng()
}

/// Whether a run keeps its trace.
#[derive(Clone, Copy, PartialEq)]
enum Trace {
    Yes,
    No,
}

fn drive<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    rng: &mut Rng,
    stop: SolverLimit,
    kept: Trace,
) -> Result<Run, SolveError> {
    let (start, first) = (sum.meter().calls, solver.rounds());
    let (mut rounds, mut trace, mut thresholds) = (first, Vec::new(), sum.meter().thresholds);
    let mut before = solver.coefficients().clone();
    let score = |sum: &mut FiniteSum, at: &Predictor, rounds| {
        let meter = sum.meter();
        Ok::<_, SolveError>(Point { rounds, meter, objective: sum.objective(at)? })
    };
    if kept == Trace::Yes {
        trace.push(score(sum, &before, rounds)?);
    }
    let outcome = loop {
        if stop.rounds.is_some_and(|limit| rounds - first >= limit) {
            break SolverEnd::Rounds;
        }
        let spent = sum.meter().calls - start;
        if stop.calls.is_some_and(|limit| spent.saturating_add(solver.next_calls(sum)) > limit) {
            break SolverEnd::Calls;
        }
        if solver.step(sum, rng)? == SolverProgress::Settled {
            break SolverEnd::Settled;
        }
        if solver.rounds() == rounds {
            continue;
        }
        rounds = solver.rounds();
        if kept == Trace::Yes {
            let point = score(sum, solver.coefficients(), rounds)?;
            trace.push(point);
        }
        if let Some(change) = stop.change {
            let after = solver.coefficients();
            let moved = after.distance_squared(&before);
            // An epoch without steps says nothing.
            let stepped = sum.meter().thresholds > std::mem::replace(&mut thresholds, sum.meter().thresholds);
            if stepped && moved <= change * change * after.norm_squared() {
                break SolverEnd::Change;
            }
            before.copy_from(after);
        }
    };
    Ok(Run { outcome, predictor: solver.coefficients().clone(), trace })
}

/// One sparsity of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// `k`.
    pub sparsity: usize,
    /// How the run went.
    pub run: Run,
    /// `f` at its end.
    pub objective: f64,
}

/// Why a path ended early.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PathError {
    /// A solver refused its parameters.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// A run failed.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// Solves for each sparsity in turn, started at the last one's answer. `build` makes the solver for a
/// sparsity and a start.
///
/// # Errors
/// When `build` refuses or a run fails.
pub fn path<S: Solver>(
    sum: &mut FiniteSum,
    sparsities: &[usize],
    mut build: impl FnMut(usize, Option<Predictor>) -> Result<S, ParamError>,
    seed: &Seed,
    stop: SolverLimit,
) -> Result<Vec<PathPoint>, PathError> {
    let mut points: Vec<PathPoint> = Vec::with_capacity(sparsities.len());
    for &sparsity in sparsities {
        let start = points.last().map(|point| point.run.predictor.clone());
        let mut solver = build(sparsity, start)?;
        let run = solve(sum, &mut solver, &seed.trial(sparsity as u64), stop)?;
        let objective = sum.objective(&run.predictor).map_err(SolveError::from)?;
        points.push(PathPoint { sparsity, run, objective });
    }
    Ok(points)
}
