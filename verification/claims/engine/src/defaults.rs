//! The claims that the practical defaults of every method and solver of the registries learn.
//!
//! *Statement*: with practical parameters and nothing chosen but the sparsity and the budget, an online
//! method ends below half the excess risk of the start in most of its runs, and a solver at less than half
//! the start's distance from the truth.
//!
//! *Design*: twelve independent attributes of variance 1/3, labels `x_1 - 2 x_6` with noise of standard
//! deviation .3, and every online method of the registry; 200 normal rows of 40 columns with four signs as
//! truth and noise of standard deviation .1, and every solver. Replicates are geometric means over a few
//! runs, so that a method that is slower by a fifth is told from noise. A new method is tracked by being a
//! row of its registry.
//!
//! *Mutant*: labels turned around, so that whatever learns learns the opposite.

use anyhow::Context as _;
use lao_algorithms::registry::{METHODS, Method};
use lao_algorithms::thresholding::{SOLVERS, Shape, Solver, SolverLimit, SolverRow, SolverTask, solve};
use lao_algorithms::{AnyLearner, Task};
use lao_datasets::synthetic::{Noise, UniformAttributes, Virtual};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, Predictor};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{Learner as _, Seed, Session, SessionLimit, Source};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Trial, View, still};
use lao_verification_engine::judge::prob;
use lao_verification_engine::plots;
use rand_distr::{Distribution as _, StandardNormal};

/// The share of the start's error below which a run succeeds.
const HALF: f64 = 0.5;

/// The methods with a spread so small that a change by a fifth is found in new draws, and one that fails in
/// a few percent of its runs: they have more replicates than the others.
const MANY: [&str; 4] = ["aelr", "aer", "online-lasso", "uniform"];

const FAULTS: [Fault<f64>; 1] =
    [Fault::refuted("labels_turned_around", "is told the labels with the opposite sign", -1.0)];

/// Judges and tracks one method or solver from the errors of its runs in each view, as shares of the start's.
fn track(
    cx: &mut Context<'_>,
    name: &str,
    (what, replicates): (&str, u64),
    errors: impl Fn(&Trial, &[View]) -> anyhow::Result<Vec<f64>> + Sync,
) -> anyhow::Result<Vec<f64>> {
    let runs = cx.size("runs")?;
    let errors = cx.shown_trials(name, replicates * runs, errors)?;
    let failures = errors.iter().filter(|error| error.is_nan() || **error >= HALF).count() as u64;
    cx.judge(name, prob::fixed(0.5, cx.alpha(), failures, errors.len() as u64));
    let mean = |runs: &[f64]| (runs.iter().map(|error| error.ln()).sum::<f64>() / runs.len() as f64).exp();
    let rates: Vec<f64> = errors.chunks(runs as usize).map(mean).collect();
    cx.rate(&format!("{what}, {name}"), Direction::Larger, rates.clone());
    Ok(rates)
}

/// Draws the replicates of all methods.
fn draw(cx: &mut Context<'_>, what: &str, rates: &[(&str, Vec<f64>)]) {
    let samples: Vec<(&str, &[f64])> = rates.iter().map(|(name, rates)| (*name, &rates[..])).collect();
    let caption = format!("The {what} with the practical parameters of each, over replicates.");
    cx.figure(plots::spread(&caption, Axis::log(what), &samples));
}

fn learners(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(METHODS.len());
    let (sign, examples) = (cx.arm(1.0, &FAULTS), cx.size("examples")?);
    let (many, few) = (cx.size("replicates")?, cx.size("few_replicates")?);
    let (what, mut rates) = ("share of the excess risk left", Vec::new());
    for method in METHODS {
        let replicates = if MANY.contains(&method.name) { many } else { few };
        let found = track(cx, method.name, (what, replicates), |trial, views| {
            excess(method, sign, examples, trial, views)
                .with_context(|| format!("{} on the problem of the defaults", method.name))
        })?;
        rates.push((method.name, found));
        cx.settled()?;
    }
    draw(cx, what, &rates);
    Ok(())
}

/// What a learner of a method starts with.
pub(super) struct Begun {
    pub learner: AnyLearner,
    pub session: Session<Box<dyn Source>>,
}

/// The coefficients of the problem of the online methods.
const TRUTH: [(u32, f64); 2] = [(1, 1.0), (6, -2.0)];
const DIM: usize = 12;

/// Begins to learn the problem of the online methods, whose labels are told with this sign.
pub(super) fn begin(method: &Method, sign: f64, examples: u64, seed: &Seed) -> anyhow::Result<Begun> {
    let (indices, told) = TRUTH.iter().map(|(j, w)| (*j, sign * w)).unzip();
    let target = SparseVector::new(DIM, indices, told)?;
    let source =
        Virtual::new(UniformAttributes::new(DIM)?, target, Noise::Gaussian(0.3), &seed.child("data"))?;
    let budget = method.accuracy.budget.max(6);
    // A method that does not explore learns the coefficients of the support that it is given.
    let support = SparseVector::new(DIM, vec![1, 6], vec![1e-3, 1e-3])?;
    let start = (!method.explores).then_some(support);
    let task = Task { dim: DIM, sparsity: 2, budget, radius: Some(3.0), examples, start, ..Task::default() };
    let source: Box<dyn Source> = Box::new(source);
    let session = Session::new(source, (method.budget)(&task), &seed.child("algorithm"));
    Ok(Begun { learner: method.build(&task)?, session })
}

/// Returns the excess risk of an estimate, as a share of that of zero.
pub(super) fn share_of_risk(theta: SparseView<'_>, view: View) -> f64 {
    let mut estimate = theta.to_dense();
    if let Some(cripple) = view {
        cripple.estimate(&[], &mut estimate);
    }
    // Attributes of one variance: the share of the excess risk is that of the squared distance.
    let mut distance: f64 = estimate.iter().map(|w| w * w).sum();
    distance += TRUTH.iter().map(|(j, w)| w * w - 2.0 * w * estimate[*j as usize]).sum::<f64>();
    distance / TRUTH.iter().map(|(_, w)| w * w).sum::<f64>()
}

/// Returns the excess risk after `examples` examples in each view, as a share of that of zero.
fn excess(
    method: &Method,
    sign: f64,
    examples: u64,
    trial: &Trial,
    views: &[View],
) -> anyhow::Result<Vec<f64>> {
    let Begun { mut learner, mut session } = begin(method, sign, examples, &trial.seed)?;
    if still(views).is_none() {
        session.run(&mut learner, SessionLimit::after_examples(examples), |_, _| {})?;
    }
    Ok(views.iter().map(|view| share_of_risk(learner.coefficients(), *view)).collect())
}

fn solvers(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(SOLVERS.len());
    let (sign, passes) = (cx.arm(1.0, &FAULTS), cx.size("passes")?);
    let replicates = cx.size("replicates")?;
    let (what, mut rates) = ("share of the squared distance left", Vec::new());
    for row in SOLVERS {
        let found = track(cx, row.name, (what, replicates), |trial, views| {
            distances(row, sign, passes, trial, views)
        })?;
        rates.push((row.name, found));
        cx.settled()?;
    }
    draw(cx, what, &rates);
    Ok(())
}

/// The problem of the solvers.
const ROWS: usize = 200;
const COLUMNS: usize = 40;
const STEP: usize = 10;

fn truth(j: usize) -> f64 {
    if j.is_multiple_of(STEP) { 1.0 - 2.0 * ((j / STEP) % 2) as f64 } else { 0.0 }
}

/// Returns the finite sum of the problem, whose labels are told with this sign, and a solver for it.
pub(super) fn begin_solver(
    row: &SolverRow,
    sign: f64,
    seed: &Seed,
) -> anyhow::Result<(FiniteSum, Box<dyn Solver>)> {
    let mut rng = seed.child("data").rng();
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let values: Vec<f64> = (0..ROWS * COLUMNS).map(|_| normal()).collect();
    let label = |row: &[f64]| -> f64 { row.iter().enumerate().map(|(j, x)| truth(j) * x).sum() };
    let labels = values.chunks(COLUMNS).map(|row| sign * (label(row) + 0.1 * normal())).collect();
    let sum = FiniteSum::new(DesignMatrix::rows(ROWS, COLUMNS, values)?, Loss::least_squares(labels)?)?;
    let task = SolverTask { sparsity: COLUMNS / STEP, ..SolverTask::default() };
    let solver = (row.build)(Shape::of(&sum), &task)?;
    Ok((sum, solver))
}

/// Returns the squared distance of a predictor from the truth, as a share of the start's.
pub(super) fn share_of_distance(predictor: &Predictor, view: View) -> f64 {
    let mut estimate = predictor.coefficients[0].view().to_dense();
    if let Some(cripple) = view {
        cripple.estimate(&[], &mut estimate);
    }
    let distance: f64 = estimate.iter().enumerate().map(|(j, x)| (x - truth(j)).powi(2)).sum();
    distance / (COLUMNS / STEP) as f64
}

/// Returns the squared distance from the truth after so many passes in each view, as a share of the start's.
fn distances(
    row: &SolverRow,
    sign: f64,
    passes: u64,
    trial: &Trial,
    views: &[View],
) -> anyhow::Result<Vec<f64>> {
    if still(views).is_some() {
        // All solvers begin at zero, and what stays there needs no data.
        return Ok(vec![1.0; views.len()]);
    }
    let (mut sum, mut solver) = begin_solver(row, sign, &trial.seed)?;
    let limit = SolverLimit::after_calls(passes * ROWS as u64);
    let run = solve(&mut sum, &mut *solver, &trial.seed.child("algorithm"), limit)?;
    Ok(views.iter().map(|view| share_of_distance(&run.predictor, *view)).collect())
}

/// The claim about the online methods.
pub const LEARNERS: Claim = Claim {
    id: "engine-defaults-learners",
    place: "the registry of methods",
    sentence: "With practical parameters, every online method of the registry ends below half the excess \
               risk of predicting zero in most runs.",
    formula: r"P\left( \frac{L(w) - L(w_*)}{L(0) - L(w_*)} < \frac{1}{2} \right) \ge \frac{1}{2}",
    design: "Twelve independent attributes of variance 1/3, labels x_1 - 2 x_6 with noise .3, two attributes \
             in the predictor, six observed (or as many as the method needs). The share of the excess risk \
             that is left is tracked for each method.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment: learners,
};

/// The claim about the solvers.
pub const SOLVERS_CLAIM: Claim = Claim {
    id: "engine-defaults-solvers",
    place: "the registry of solvers",
    sentence: "With practical parameters, every solver of the registry ends at less than half the start's \
               squared distance from the truth in most runs.",
    formula: r"P\left( \frac{\|x - x^*\|^2}{\|x^*\|^2} < \frac{1}{2} \right) \ge \frac{1}{2}",
    design: "Normal rows, 200 of 40 columns, four signs as truth, noise .1, and the sparsity of the truth; \
             each solver chooses its own steps. The share of the squared distance that is left is tracked \
             for each solver.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment: solvers,
};
