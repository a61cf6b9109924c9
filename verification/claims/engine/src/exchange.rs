//! What the solver `exchange` is the default for: designs in which neighbors stand for the true attributes.
//!
//! *Statement*: it ends with a training loss within 1 % of that of least squares on the true attributes.
//!
//! *Design*: 300 normal rows of 1,500 columns, of which neighbors have correlation .95, ten signs as truth at
//! random places, noise .5, the sparsity of the truth.
//!
//! *Mutants*: the first look alone, whose candidates have the largest products with the label; and steps
//! along the gradient with a refit, HTP, in its place.

use lao_algorithms::thresholding::registry::solver;
use lao_algorithms::thresholding::{Shape, SolverLimit, SolverTask, solve};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, NormalEquations, Predictor};
use lao_kernels::{SparseVector, solve_positive};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Context, Trial, View, still};
use lao_verification_engine::judge::prob;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

const ROWS: usize = 300;
const DIM: usize = 1500;
const STAR: usize = 10;
const CORRELATION: f64 = 0.95;
const NOISE: f64 = 0.5;

/// The ratio to the loss of the true attributes that counts as reached, and the largest one that is told.
const GOAL: f64 = 1.01;
const LARGEST: f64 = 1000.0;

/// What is wrong with the solver.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    OneLook,
    Htp,
}

const FAULTS: [Fault<Wrong>; 2] = [
    Fault::refuted("one_look", "ends after the first look at the columns", Wrong::OneLook),
    Fault::refuted("htp", "makes gradient steps with refits", Wrong::Htp),
];

fn least_squares(sum: &FiniteSum, support: &[u32]) -> anyhow::Result<SparseVector> {
    let mut equations = NormalEquations::default();
    sum.normal_equations(support, &mut equations)?;
    let NormalEquations { gram, right, .. } = &mut equations;
    solve_positive(gram, right);
    Ok(SparseVector::new(sum.dim(), support.to_vec(), right.clone())?)
}

/// Returns the loss in each view, as a multiple of that of least squares on the true attributes.
fn ratios(fault: Option<Wrong>, trial: &Trial, views: &[View]) -> anyhow::Result<Vec<f64>> {
    let mut rng = trial.seed.child("data").rng();
    let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
    let mut columns: Vec<f64> = Vec::with_capacity(ROWS * DIM);
    for at in 0..ROWS * DIM {
        let new: f64 = StandardNormal.sample(&mut rng);
        columns.push(if at < ROWS { new } else { CORRELATION * columns[at - ROWS] + fresh * new });
    }
    let places = (0..STAR).map(|a| a * DIM / STAR + rng.random_range(0..DIM / STAR));
    let support: Vec<u32> = places.map(|j| j as u32).collect();
    let mut labels: Vec<f64> = (0..ROWS)
        .map(|_| NOISE * <StandardNormal as rand_distr::Distribution<f64>>::sample(&StandardNormal, &mut rng))
        .collect();
    for (a, j) in support.iter().enumerate() {
        let sign = if a.is_multiple_of(2) { 1.0 } else { -1.0 };
        let column = &columns[*j as usize * ROWS..][..ROWS];
        labels.iter_mut().zip(column).for_each(|(label, x)| *label += sign * x);
    }
    let design = DesignMatrix::columns(ROWS, DIM, columns)?;
    let mut sum = FiniteSum::new(design, Loss::least_squares(labels)?)?;
    let of = |x: SparseVector| Predictor { coefficients: vec![x], intercepts: vec![0.0] };
    let best = of(least_squares(&sum, &support)?);
    let best = sum.objective(&best)?;
    let found = match still(views) {
        Some(_) => SparseVector::zeros(DIM),
        None => {
            let name = if fault == Some(Wrong::Htp) { "htp" } else { "exchange" };
            let row = solver(name).ok_or_else(|| anyhow::anyhow!("there is no solver {name}"))?;
            let task = SolverTask { sparsity: STAR, ..SolverTask::default() };
            let mut solver = (row.build)(Shape::of(&sum), &task)?;
            let rounds = if fault == Some(Wrong::OneLook) { 1 } else { 100 };
            let limit = SolverLimit::after_rounds(rounds);
            let run = solve(&mut sum, &mut *solver, &trial.seed.child("algorithm"), limit)?;
            run.predictor.coefficients.into_iter().next().unwrap_or_else(|| SparseVector::zeros(DIM))
        }
    };
    let shown = views.iter().map(|view| {
        let mut estimate = found.view().to_dense();
        if let Some(cripple) = view {
            cripple.estimate(&[], &mut estimate);
        }
        Ok((sum.objective(&of(SparseVector::from_dense(&estimate)))? / best).min(LARGEST))
    });
    shown.collect()
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (fault, runs) = (cx.fault(&FAULTS), cx.size("runs")?);
    let cell = "a run ends above 1.01 of the loss of the true attributes";
    let ratios = cx.shown_trials(cell, runs, |trial, views| ratios(fault, trial, views))?;
    let above = ratios.iter().filter(|ratio| **ratio > GOAL).count() as u64;
    cx.judge(cell, prob::fixed(0.25, cx.alpha(), above, runs));
    cx.settled()?;
    cx.note("part of the runs that end above it", above as f64 / runs as f64);
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "engine-exchange",
    place: "the solver `exchange`",
    sentence: "Where neighbors stand for the true attributes, exchange ends with the loss of the true ones.",
    formula: r"P\left( f(x) \le 1.01 \min_{\mathrm{supp}\, u \subseteq S^*} f(u) \right) \ge \frac{3}{4}",
    design: "Normal rows, 300 of 1,500 columns whose neighbors have correlation .95, ten signs as truth at \
             random places, noise .5; the sparsity of the truth, and nothing else, is told.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
