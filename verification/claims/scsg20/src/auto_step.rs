//! Step sizes and mini-batches that SCSG-HT chooses at each snapshot; and why steps of the component's L
//! leave the first support as it is.
//!
//! *Statement.* With 8 k* attributes, the regime of Theorem 1, the squared error shrinks in every epoch. With
//! steps of 1/L, where L is the largest squared norm of a row, the support of the first epoch stays: an
//! attribute enters only if `eta |g_j|` exceeds the least coefficient that is kept.
//!
//! *Mutants.* Without the second term of b, single rows blow the iterate up; with k* attributes, it comes to
//! a stand with a wrong support where columns are correlated.

use crate::setup::runs::{each_round, option_two, squared_error};
use lao_algorithms::thresholding::{AutoParams, EpochLength, Shape, Solver, SolverTask};
use lao_finite_sum::FiniteSum;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, Trial, View, still};
use lao_verification_engine::instance::quadratics::predictor;
use lao_verification_engine::instance::regression::{Regression, spread_signs};
use lao_verification_engine::judge::prob;

/// k*.
const STAR: usize = 10;
const EPOCHS: u64 = 10;
/// The first B as a part of n, and its growth: those of the registry.
const BATCHES: [f64; 2] = [0.25, 1.5];
/// The factor of an epoch, at most, in the mean over the epochs of a run.
const FACTOR: f64 = 0.9;
/// What a factor counts with at most: that of a run that has blown up.
const LARGEST: f64 = 10.0;

/// n, d and the correlation of neighbors.
const DESIGNS: [(usize, usize, f64); 3] = [(400, 1000, 0.0), (1000, 200, 0.5), (1000, 400, 0.9)];

/// The design of the frozen support.
const WIDE: (usize, usize, f64) = (400, 2000, 0.0);
/// The squared error from which a run has ended far away; it begins with 10.
const FAR: f64 = 1.0;
/// The factor of an epoch from which it has gained nothing.
const NOTHING: f64 = 0.95;

/// What is wrong with the solver.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    ComponentSteps,
    OwnSteps,
    NoSecondTerm,
    NoInflation,
}

const FAULTS: [Fault<Wrong>; 4] = [
    Fault::refuted("component_steps", "steps of 1/L, L of a component, as its own", Wrong::ComponentSteps),
    Fault::refuted("own_steps", "its own steps as those of 1/L", Wrong::OwnSteps),
    Fault::refuted("no_second_term", "a mini-batch that bounds the noise alone", Wrong::NoSecondTerm),
    Fault::refuted("no_inflation", "k* attributes in the place of 8 k*", Wrong::NoInflation),
];

/// SCSG-HT II with parameters of its own.
fn own(sum: &FiniteSum, sparsity: usize, fault: Option<Wrong>) -> anyhow::Result<Box<dyn Solver>> {
    let shape = Shape::of(sum);
    let task = SolverTask { sparsity, ..SolverTask::default() };
    let mut params = AutoParams { wanted: STAR, ..AutoParams::of_part(shape, &task, BATCHES) };
    if fault == Some(Wrong::NoSecondTerm) {
        (params.rule.stability, params.rule.steps) = (0.0, f64::INFINITY);
    }
    Ok(Box::new(params.scsg(shape, EpochLength::Ratio)?))
}

/// The same with steps of 1/L on single components.
fn of_component(sum: &FiniteSum, sparsity: usize) -> anyhow::Result<Box<dyn Solver>> {
    let step_size = 1.0 / sum.component_smoothness();
    Ok(Box::new(option_two(sparsity, step_size, sum.len() / 4, 1).build(Shape::of(sum))?))
}

fn data((components, dim, correlation): (usize, usize, f64), noise: f64) -> Regression {
    Regression { components, correlation, star: spread_signs(dim, STAR), noise, twice: false }
}

fn contraction(cx: &mut Context<'_>, fault: Option<Wrong>) -> anyhow::Result<()> {
    let runs = cx.size("runs")?;
    let mut series = Vec::new();
    for design in DESIGNS {
        let (n, dim, correlation) = design;
        let cell = format!("{n} x {dim}, correlation {correlation}");
        let run = |trial: &Trial, views: &[View]| {
            let mut sum = data(design, 0.0).draw(&trial.seed.child("data"))?;
            let sparsity = if fault == Some(Wrong::NoInflation) { STAR } else { 8 * STAR };
            let mut solver = own(&sum, sparsity, fault)?;
            let (begin, star) = (solver.coefficients().clone(), predictor(&spread_signs(dim, STAR)));
            let mut curves = vec![vec![STAR as f64]; views.len()];
            if let Some(view) = still(views) {
                curves[0].push(squared_error(view, &begin, &begin, &star));
                return Ok(curves);
            }
            let seed = trial.seed.child("algorithm");
            let stayed = each_round(&mut sum, solver.as_mut(), &seed, EPOCHS, |x, _| {
                for (view, curve) in views.iter().zip(&mut curves) {
                    curve.push(squared_error(*view, &begin, x, &star));
                }
                false
            })?;
            if !stayed {
                curves.iter_mut().for_each(|curve| curve.push(f64::INFINITY));
            }
            Ok(curves)
        };
        // The steps in the frozen support are other ones.
        let curves = match fault {
            Some(Wrong::ComponentSteps | Wrong::OwnSteps) => cx.sound_trials(&cell, runs, run)?,
            _ => cx.shown_trials(&cell, runs, run)?,
        };
        let factor = |curve: &Vec<f64>| {
            let whole = curve[curve.len() - 1] / curve[0];
            whole.powf(1.0 / (curve.len() - 1) as f64).min(LARGEST)
        };
        let stands = |curve: &Vec<f64>| curve.windows(2).any(|pair| pair[1] >= NOTHING * pair[0]);
        let slow = curves.iter().filter(|curve| stands(curve) || factor(curve) > FACTOR).count() as u64;
        cx.judge(
            &format!("{cell}: a run that stands still or is slow"),
            prob::fixed(0.2, cx.alpha(), slow, runs),
        );
        cx.settled()?;
        let factors = curves.iter().map(factor).collect();
        cx.rate(&format!("factor of an epoch, {cell}"), Direction::Larger, factors);
        let mean = |at: usize| curves.iter().map(|curve| curve[at]).sum::<f64>() / runs as f64;
        if cx.honest() {
            let points = (0..=EPOCHS as usize).map(|at| [at as f64, mean(at)]).collect();
            series.push(Series::line(&cell, points));
        }
    }
    cx.figure(Figure {
        caption: "Mean squared error after each epoch.".into(),
        x: Axis::linear("epochs"),
        y: Axis::log("D"),
        series,
    });
    Ok(())
}

/// Ten epochs with steps of either kind on the same data.
fn supports(cx: &mut Context<'_>, fault: Option<Wrong>) -> anyhow::Result<()> {
    let runs = cx.size("support_runs")?;
    let run = |trial: &Trial, views: &[View]| {
        let (mut sum, star) = (data(WIDE, 1.0).draw(&trial.seed.child("data"))?, spread_signs(WIDE.1, STAR));
        let (star, seed) = (predictor(&star), trial.seed.child("algorithm"));
        let mut solver = match fault {
            Some(Wrong::ComponentSteps) => of_component(&sum, STAR)?,
            _ => own(&sum, STAR, None)?,
        };
        let (begin, mut ends) = (solver.coefficients().clone(), vec![0.0; views.len()]);
        if let Some(view) = still(views) {
            return Ok(vec![[squared_error(view, &begin, &begin, &star) >= FAR, false]]);
        }
        each_round(&mut sum, solver.as_mut(), &seed, EPOCHS, |x, _| {
            let at = views.iter().map(|view| squared_error(*view, &begin, x, &star));
            ends.iter_mut().zip(at).for_each(|(end, at)| *end = at);
            false
        })?;
        let mut solver = match fault {
            Some(Wrong::OwnSteps) => own(&sum, STAR, None)?,
            _ => of_component(&sum, STAR)?,
        };
        let (mut last, mut enters_late) = (None, false);
        each_round(&mut sum, solver.as_mut(), &seed, EPOCHS, |x, _| {
            let now = x.coefficients[0].indices().to_vec();
            let before = last.replace(now.clone()).unwrap_or_else(|| now.clone());
            enters_late |= now.iter().any(|j| !before.contains(j));
            false
        })?;
        Ok(ends.into_iter().map(|end| [end >= FAR, enters_late]).collect())
    };
    let cell = "its own steps end far away, or an attribute enters late with those of 1/L";
    let failed: Vec<[bool; 2]> = match fault {
        Some(Wrong::NoSecondTerm | Wrong::NoInflation) => {
            cx.sound_trials(cell, runs, run)?.iter().copied().collect()
        }
        _ => cx.shown_trials(cell, runs, run)?.iter().copied().collect(),
    };
    let count = |which: fn(&[bool; 2]) -> bool| failed.iter().filter(|row| which(row)).count() as u64;
    cx.judge(cell, prob::fixed(0.5, cx.alpha(), count(|row| row[0] || row[1]), runs));
    cx.settled()?;
    cx.note("part of the runs whose own steps end far away", count(|row| row[0]) as f64 / runs as f64);
    cx.note("part of the runs in which an attribute enters late", count(|row| row[1]) as f64 / runs as f64);
    Ok(())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let fault = cx.fault(&FAULTS);
    cx.split(4);
    supports(cx, fault)?;
    contraction(cx, fault)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-auto-step",
    place: "Algorithm 1, with step sizes and mini-batches chosen at each snapshot",
    sentence: "With 8 k* attributes and parameters that it chooses itself, SCSG-HT comes closer to x* in \
               every epoch; with steps of 1/L, L of a component, its first support is its last.",
    formula: r"\|X^{(j+1)} - x^*\|^2 < \|X^{(j)} - x^*\|^2,
               \qquad \eta |g_j| < \min |x_S| \Rightarrow j \notin S^{+}",
    design: "Least squares on normal rows, k* = 10 signs, option II, B from n/4 growing by 1.5 an epoch, ten \
             epochs. (a) Without noise and with k = 80: 400 x 1,000 independent, 1,000 x 200 with \
             neighboring correlation .5 (the paper's design), 1,000 x 400 with .9: at most a fifth of the \
             runs have an epoch in which the squared error does not fall by a twentieth, or a mean factor \
             above .9 an epoch. (b) 400 x 2,000 with noise 1 and k = 10: in at least half of the runs, its \
             own steps end with a squared error below 1, and with steps of 1/L, B = n/4 and b = 1 no \
             attribute enters after the first epoch.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
