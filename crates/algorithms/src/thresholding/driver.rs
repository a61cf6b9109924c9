//! The driver of all solvers, which handles budget, stopping and trace, and the sparsity path.

use super::{SolveError, Solver, SolverProgress};
use crate::params::ParamError;
use lao_finite_sum::{FiniteSum, Meter, Predictor};
use lao_observation::{Rng, Seed};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The limits of a run, which ends at the first one reached, or earlier if the solver settles. Methods that
/// never settle need at least one limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverLimit {
    /// The largest number of IFO calls. No step is begun that would exceed it, not even in the middle of an
    /// epoch.
    pub calls: Option<u64>,
    /// The largest number of rounds of the solver.
    pub rounds: Option<u64>,
    /// The run ends after a round that moved the iterate, intercepts included, by at most this share of the
    /// norm of its coefficients.
    pub change: Option<f64>,
}

impl SolverLimit {
    /// Returns the limit of so many IFO calls.
    pub fn after_calls(calls: u64) -> SolverLimit {
        SolverLimit { calls: Some(calls), ..SolverLimit::default() }
    }
    /// Returns the limit of so many rounds.
    pub fn after_rounds(rounds: u64) -> SolverLimit {
        SolverLimit { rounds: Some(rounds), ..SolverLimit::default() }
    }
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverEnd {
    /// The next step would exceed the limit of IFO calls.
    Calls,
    /// The limit of rounds was reached.
    Rounds,
    /// A round moved the iterate by too little.
    Change,
    /// The solver reached a fixed point.
    Settled,
    /// The caller of [`resume_until`] stopped the run.
    Stopped,
}

/// A point of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The number of rounds completed.
    pub rounds: u64,
    /// The operations spent.
    pub meter: Meter,
    /// `f(x)` at the iterate.
    pub objective: f64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The reason why the run ended.
    pub outcome: SolverEnd,
    /// The last iterate.
    pub predictor: Predictor,
    /// The start and every completed round, if the run was [traced](solve_traced). Scoring is not metered.
    pub trace: Vec<Point>,
}

/// Runs a solver until a limit is reached or the solver settles. All draws descend from `seed`.
///
/// ```
/// use lao_algorithms::thresholding::{GdParams, Shape, SolverEnd, SolverLimit, SolverTask, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let task = SolverTask { sparsity: 1, ..SolverTask::default() };
/// let mut solver = GdParams::practical(&task).build(Shape::of(&sum))?;
/// let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(20))?;
/// assert_eq!(run.outcome, SolverEnd::Settled);
/// assert!((run.predictor.coefficients[0].view().get(0) - 3.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SolveError`] when a step diverges or the sum has another shape than the solver.
pub fn solve<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    seed: &Seed,
    stop: SolverLimit,
) -> Result<Run, SolveError> {
    drive(sum, solver, &mut generator(seed), stop, Trace::No, &mut || false)
}

/// Runs a solver as [`solve`] does, and scores the start and the iterate after every round.
///
/// ```
/// use lao_algorithms::thresholding::{GdParams, Shape, SolverLimit, SolverTask, solve_traced};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let task = SolverTask { sparsity: 1, ..SolverTask::default() };
/// let mut solver = GdParams::practical(&task).build(Shape::of(&sum))?;
/// let run = solve_traced(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(20))?;
/// assert!(run.trace.windows(2).all(|pair| pair[1].objective <= pair[0].objective));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`solve`].
pub fn solve_traced<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    seed: &Seed,
    stop: SolverLimit,
) -> Result<Run, SolveError> {
    drive(sum, solver, &mut generator(seed), stop, Trace::Yes, &mut || false)
}

/// Resumes a solver from its current iterate, with draws from `rng`. A run that was stopped and resumed with
/// the same generator has the same bits as a run that was never stopped. Limits count from here.
///
/// ```
/// use lao_algorithms::thresholding::{ScsgParams, Shape, SolverLimit, SolverTask, resume};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let (shape, task) = (Shape::of(&sum), SolverTask { sparsity: 1, ..SolverTask::default() });
/// let mut once = ScsgParams::practical(shape, &task, 0.2).build(shape)?;
/// let mut twice = once.clone();
/// let end = resume(&mut sum, &mut once, &mut Seed::root(1).rng(), SolverLimit::after_rounds(4))?;
/// let mut rng = Seed::root(1).rng();
/// resume(&mut sum, &mut twice, &mut rng, SolverLimit::after_rounds(2))?;
/// let resumed = resume(&mut sum, &mut twice, &mut rng, SolverLimit::after_rounds(2))?;
/// assert_eq!(resumed.predictor, end.predictor);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`solve`].
pub fn resume<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    rng: &mut Rng,
    stop: SolverLimit,
) -> Result<Run, SolveError> {
    resume_until(sum, solver, rng, stop, || false)
}

/// Resumes a solver as [`resume`] does, and ends before the next step once `is_stopped` returns true, also in
/// the middle of an epoch. It is asked before every step.
///
/// # Errors
/// As [`solve`].
pub fn resume_until<S: Solver + ?Sized>(
    sum: &mut FiniteSum,
    solver: &mut S,
    rng: &mut Rng,
    stop: SolverLimit,
    mut is_stopped: impl FnMut() -> bool,
) -> Result<Run, SolveError> {
    drive(sum, solver, rng, stop, Trace::No, &mut is_stopped)
}

fn generator(seed: &Seed) -> Rng {
    seed.child("solver").rng()
}

/// Whether a run keeps a trace.
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
    is_stopped: &mut dyn FnMut() -> bool,
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
        if is_stopped() {
            break SolverEnd::Stopped;
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
            let rests = solver.rests();
            let after = solver.coefficients();
            let moved = after.distance_squared(&before);
            // An epoch without steps does not count as a round that changed nothing.
            let stepped = sum.meter().thresholds > std::mem::replace(&mut thresholds, sum.meter().thresholds);
            if stepped && moved <= change * change * after.norm_squared() && rests {
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
    /// The run for this sparsity.
    pub run: Run,
    /// `f` at the end of the run.
    pub objective: f64,
}

/// The reason why a path ended early.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PathError {
    /// A solver refused its parameters.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// A run failed.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// Solves for each sparsity in turn, started at the answer of the one before. `build` makes the solver for a
/// sparsity and a start.
///
/// ```
/// use lao_algorithms::thresholding::{GdParams, Shape, SolverLimit, SolverTask, path};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let shape = Shape::of(&sum);
/// let task = |sparsity, start| SolverTask { sparsity, start, ..SolverTask::default() };
/// let build = |sparsity, start| GdParams::practical(&task(sparsity, start)).build(shape);
/// let points = path(&mut sum, &[1, 2], build, &Seed::root(1), SolverLimit::after_rounds(20))?;
/// assert!(points[1].objective < points[0].objective);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`PathError`] when `build` refuses its parameters or a run fails.
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
