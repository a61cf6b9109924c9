//! The naive method with shrinking steps can lock onto a wrong support.
//!
//! *Statement.* Section 3.1: for the one-example method "convergence is not ensured if a decreasing learning
//! rate is used". That it can fail is checkable, that it always does would be false: on benign problems it
//! converges.
//!
//! *Instance.* d = 2, s = s* = 1, s' = 2, correlation rho = .15, `theta* = (1, 0)`, `theta_0 = (0, rho)`, the
//! best vector on the wrong support; noise +-.5; `eta_t = .005/sqrt(t)`. A step moves coordinate 1 by at most
//! `.005 * 7.2/sqrt(t)`, less than the .15 of coordinate 2, so thresholding erases it at every update and
//! nothing accumulates: the gap stays near `1 - rho^2 = .9775`. The same steps without thresholding get
//! there, and so does Exploration, whose batches make the step large (`2 eta (1 - rho^2) = (1-rho)/4 > rho`).
//!
//! *Also.* At rho = .5, s = 1, even the exact gradient keeps `theta_0`: s of order `kappa^2 s*` cannot be
//! dropped.

use crate::setup::practical::Population;
use crate::setup::shown::shown;
use lao_algorithms::murata_suzuki::{ExplorationParams, NaiveParams};
use lao_algorithms::{BatchSizes, StepSizes};
use lao_datasets::synthetic::{CorrelatedPairs, Noise, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner, Seed, SessionLimit, Source};
use lao_verification_engine::claim::{Claim, Mutant, Passable, Standing};
use lao_verification_engine::context::{Context, Trial, View, still};
use lao_verification_engine::judge::exact;
use lao_verification_engine::mutants::{Cripple, Keep};
use lao_verification_engine::probe;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const RHO: f64 = 0.15;

/// Probability of locking that is certified.
const LOCKED: f64 = 0.94;

fn unit(attribute: u32, value: f64) -> SparseVector {
    let mut vector = SparseVector::zeros(2);
    vector.push(attribute, value);
    vector
}

fn problem(rho: f64, data: &Seed) -> anyhow::Result<Virtual<CorrelatedPairs>> {
    Ok(Virtual::new(CorrelatedPairs::new(2, rho)?, unit(0, 1.0), Noise::Signs(0.5), data)?)
}

/// The gap at the end of a run, as each view shows it; infinite after divergence.
fn gaps<S: Source, L: Learner>(
    source: S,
    problem: &Virtual<CorrelatedPairs>,
    learner: &mut L,
    (views, seed): (&[View], &Seed),
) -> anyhow::Result<Vec<f64>> {
    let start = learner.coefficients().to_owned_vector();
    if let Some(view) = still(views) {
        return Ok(vec![problem.gap(shown(view, start.view(), start.view()).view())]);
    }
    let finished =
        probe::run(source, learner, Budget::PerExample(2), seed, SessionLimit::never(), |_, _| {})?;
    let end = |view: &View| {
        let estimate = shown(*view, start.view(), learner.coefficients());
        finished.as_ref().map_or(f64::INFINITY, |_| problem.gap(estimate.view()))
    };
    Ok(views.iter().map(end).collect())
}

/// The gaps at the end of a cell's runs by trial, as the sound learner shows them, and as one that goes a
/// hundredth of the way does. The arms without a fault in these runs share them.
type Known = Mutex<BTreeMap<u64, [f64; 2]>>;

/// Judges whether the gap at the end of a run `holds`, with probability [`LOCKED`]. `faulty`: the arm's fault
/// reaches the runs.
fn cell(
    cx: &mut Context<'_>,
    (name, faulty): (&str, bool),
    holds: fn(f64) -> bool,
    run: impl Fn(&Trial, &[View]) -> anyhow::Result<Vec<f64>> + Sync,
) -> anyhow::Result<()> {
    const BOTH: [View; 2] = [None, Some(Cripple::GoesOneHundredth)];
    let (most, view) = (cx.size("trials")?, cx.cripple());
    if faulty || view.is_some_and(Cripple::stands_still) {
        return cx.prob(name, 1.0 - LOCKED, most, |trial| Ok(run(trial, &[view])?.into_iter().all(holds)));
    }
    let known = cx.shared(name, || Ok(Known::default()))?;
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    cx.prob(name, 1.0 - LOCKED, most, |trial| {
        let before = lock().get(&trial.number).copied();
        let gaps = match before {
            Some(gaps) => gaps,
            None => {
                let gaps = run(trial, &BOTH)?;
                let gaps = [gaps[0], gaps[1]];
                lock().insert(trial.number, gaps);
                gaps
            }
        };
        Ok(holds(gaps[usize::from(view.is_some())]))
    })
}

fn naive(
    trial: &Trial,
    steps: u64,
    step_size: StepSizes,
    start: SparseVector,
    (keep, views): (Keep, &[View]),
) -> anyhow::Result<Vec<f64>> {
    let problem = problem(RHO, &trial.seed.child("data"))?;
    let params = NaiveParams { dim: 2, sparsity: 1, budget: 2, step_size, start: Some(start) };
    let source = problem.clone().with_length(steps);
    gaps(source, &problem, &mut params.build_with(keep)?, (views, &trial.seed.child("algorithm")))
}

fn exploration(
    (rho, slower): (f64, f64),
    constants: &Virtual<CorrelatedPairs>,
    updates: u64,
) -> ExplorationParams {
    ExplorationParams {
        dim: 2,
        sparsity: 1,
        budget: 2,
        step_size: slower / (4.0 * constants.constants(1).smoothness),
        batch: BatchSizes::Constant(400),
        updates: Some(updates),
        start: Some(unit(1, rho)),
        money: None,
    }
}

const CONSTANT_LARGE_STEP: Mutant =
    Mutant::refuted("constant_large_step", "steps by .1 always, which is enough to change the support");
const NO_THRESHOLD: Mutant = Mutant::refuted("no_threshold", "never thresholds");
const A_HUNDREDTH_OF_EVERY_STEP: Mutant =
    Mutant::refuted("a_hundredth_of_every_step", "steps of both methods a hundredth as long");
const STARTS_ON_THE_RIGHT_SUPPORT: Mutant =
    Mutant::refuted("starts_on_the_right_support", "starts where theta* lives");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let steps = cx.size("steps")?;
    let slow = cx.commits(&A_HUNDREDTH_OF_EVERY_STEP);
    let slower = if slow { 0.01 } else { 1.0 };
    let shrinking = StepSizes::InverseSqrt(0.005 * slower);
    let step_size = if cx.commits(&CONSTANT_LARGE_STEP) { StepSizes::Constant(0.1) } else { shrinking };
    let keep = if cx.commits(&NO_THRESHOLD) { Keep::All } else { Keep::default() };
    let start = if cx.commits(&STARTS_ON_THE_RIGHT_SUPPORT) { unit(0, RHO) } else { unit(1, RHO) };
    let sound = cx.honest() || cx.cripple().is_some();
    cx.split(4);
    // With tiny steps the naive method stays where it is all the more.
    if !slow {
        cell(
            cx,
            ("naive method: the gap stays above .9", !sound),
            |gap| gap > 0.9,
            |trial, views| naive(trial, steps, step_size, start.clone(), (keep.clone(), views)),
        )?;
        cx.settled()?;
    }
    cell(
        cx,
        ("the same steps without threshold: below .05", slow),
        |gap| gap < 0.05,
        |trial, views| naive(trial, steps, shrinking, unit(1, RHO), (Keep::All, views)),
    )?;
    cx.settled()?;
    cell(
        cx,
        ("Exploration, B = 400, 40 updates: below .01", !sound),
        |gap| gap < 0.01,
        |trial, views| {
            let problem = problem(RHO, &trial.seed.child("data"))?;
            let mut learner = exploration((RHO, slower), &problem, 40).build_with(keep.clone())?;
            gaps(problem.clone(), &problem, &mut learner, (views, &trial.seed.child("algorithm")))
        },
    )?;
    cx.settled()?;

    let stuck = problem(0.5, &Seed::root(0))?;
    let mut learner = exploration((0.5, slower), &stuck, 100).build_with(keep)?;
    let views = [cx.cripple()];
    let end = gaps(Population::new(stuck.clone()), &stuck, &mut learner, (&views, &Seed::root(0)))?;
    cx.judge("rho = .5: the exact gradient never leaves the wrong support", exact(end[0], 0.75, 1e-12));
    Ok(())
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "naive method: the gap stays",
    why: "the statement is that the naive method does not learn; the other two cells are about methods that \
          do",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-naive-nonconvergence",
    place: "Section 3.1",
    sentence: "The naive method with a decreasing step size need not converge: there is a problem on which \
               it stays on the wrong support, where Exploration succeeds.",
    formula: r"\mathcal{L}(\theta_T) - \mathcal{L}(\theta_*) \approx 1 - \rho^2 \quad \text{for } \eta_t
               = c/\sqrt{t},\ \theta_0 = (0, \rho)",
    design: "Two attributes with correlation .15, s = s* = 1, steps .005/sqrt(t). The gap stays above .9 \
             with probability .94; without threshold it falls below .05, with Exploration below .01. A \
             learner that does nothing passes the first cell, which is about a method that does not learn, \
             and fails the other two.",
    standing: Standing::sound().practical().learns().passable(&PASSABLE),
    mutants: &[NO_THRESHOLD, A_HUNDREDTH_OF_EVERY_STEP, CONSTANT_LARGE_STEP, STARTS_ON_THE_RIGHT_SUPPORT],
    experiment,
};
