//! Linear convergence where nothing is left at x*: noise at x*, but full snapshot gradients.
//!
//! *Mutants.* Without the control variate D stays at a floor; with steps eta/t it falls like a power.

use crate::setup::runs::{each_round, option_one, squared_error};
use lao_algorithms::thresholding::{Shape, Solver};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, Trial, View, still};
use lao_verification_engine::instance::norm2;
use lao_verification_engine::instance::quadratics::predictor;
use lao_verification_engine::instance::regression::{Regression, spread_signs};
use lao_verification_engine::judge::{geom, prob};
use lao_verification_engine::mutants::{PlainScsg, StepFault};

const N: usize = 400;
/// Twice what an isotropic problem would take.
const ROUNDS: u64 = 120;

const STEP: f64 = 0.002;

/// What is wrong with the solver.
#[derive(Clone, Copy)]
enum Wrong {
    TooShort,
    Step(StepFault),
}

const FAULTS: [Fault<Wrong>; 3] = [
    Fault::refuted("step_too_short", "an eighth of the step size", Wrong::TooShort),
    Fault::refuted(
        "no_control_variate",
        "steps along the mini-batch gradient",
        Wrong::Step(StepFault::NoControlVariate),
    ),
    Fault::refuted(
        "decaying_step",
        "divides the step size by the number of the step",
        Wrong::Step(StepFault::DecayingStep),
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(3);
    let star = spread_signs(100, 5);
    let start = norm2(&star);
    let (fault, runs) = (cx.fault(&FAULTS), cx.size("runs")?);
    let curves = cx.shown_trials("runs", runs, |trial: &Trial, views: &[View]| {
        let all = Regression { components: N, correlation: 0.0, star: star.clone(), noise: 0.3, twice: true };
        let mut sum = all.draw(&trial.seed.child("data"))?;
        let step = if matches!(fault, Some(Wrong::TooShort)) { STEP / 8.0 } else { STEP };
        let params = option_one(20, step, N, 4);
        let mut solver: Box<dyn Solver> = match fault {
            Some(Wrong::Step(fault)) => Box::new(PlainScsg::new(params, &sum, fault)),
            Some(Wrong::TooShort) | None => Box::new(params.build(Shape::of(&sum))?),
        };
        let (star, mut curves) = (predictor(&star), vec![vec![[0.0, start]]; views.len()]);
        let begin = solver.coefficients().clone();
        if let Some(view) = still(views) {
            curves[0].push([1.0, squared_error(view, &begin, &begin, &star)]);
            return Ok(curves);
        }
        let arrived = |curve: &Vec<[f64; 2]>| curve[curve.len() - 1][1] <= 1e-10 * start;
        each_round(&mut sum, solver.as_mut(), &trial.seed.child("algorithm"), ROUNDS, |x, meter| {
            for (view, curve) in views.iter().zip(&mut curves).filter(|(_, curve)| !arrived(curve)) {
                curve.push([meter.thresholds as f64, squared_error(*view, &begin, x, &star)]);
            }
            // What a crippled learner says stays near its start.
            arrived(&curves[0])
        })?;
        Ok(curves)
    })?;
    let crossed = |curve: &&Vec<[f64; 2]>| curve.iter().any(|[_, d]| *d <= 1e-10 * start);
    let missed = runs - curves.iter().filter(crossed).count() as u64;
    cx.judge("probability of not getting to 1e-10", prob::fixed(0.25, cx.alpha(), missed, runs));
    cx.settled()?;
    let (mut slopes, mut ratios) = (Vec::new(), Vec::new());
    for curve in curves.iter() {
        let time: Vec<f64> = curve.iter().map(|[t, _]| *t).collect();
        let gaps: Vec<f64> = curve.iter().map(|[_, d]| *d).collect();
        let window = geom::gap_window(&gaps, start);
        slopes.push(window.and_then(|window| geom::log_slope(&time, &gaps, window)));
        ratios.push(window.and_then(|window| geom::half_ratio(&time, &gaps, window)));
    }
    // The Hessian of f on k + k* columns of n/2 normal rows is at least 2 (1 - sqrt(2 (k + k*)/n))^2.
    let convexity = 2.0 * (1.0 - (2.0 * 25.0 / N as f64).sqrt()).powi(2);
    let finding = geom::rate(&slopes, (-2.0 * STEP * convexity).exp(), cx.alpha());
    cx.judge("log D falls by 2 eta rho a step", finding);
    cx.judge("slope of the second half over that of the first", geom::is_geometric(&ratios, cx.alpha()));
    cx.rate("slope of log D per step", Direction::Larger, slopes.into_iter().flatten().collect());
    let shown = curves.iter().take(5).enumerate();
    let mut series: Vec<Series> =
        shown.map(|(i, curve)| Series::line(&format!("run {}", i + 1), curve.clone())).collect();
    // The rate that is judged, from where the runs begin.
    let longest = series.iter().flat_map(|run| run.points.last()).map(|[t, _]| *t).fold(0.0, f64::max);
    let start = series.first().and_then(|run| run.points.first()).map_or(1.0, |[_, d]| *d);
    let at = |part: f64| {
        let t = longest * part;
        [t, start * (-2.0 * STEP * convexity * t).exp()]
    };
    series.push(Series::bound("promised rate", (0..=20).map(|i| at(f64::from(i) / 20.0)).collect()));
    cx.figure(Figure {
        caption: "Squared error against steps, five runs, and the rate that is promised.".into(),
        x: Axis::linear("steps"),
        y: Axis::log("D"),
        series,
    });
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-linear-rate",
    place: "Theorem 1, B = n",
    sentence: "With full snapshot gradients and a vanishing gradient at x* the squared error shrinks \
               geometrically over eight powers of ten.",
    formula: r"\log \|x_t - x^*\|^2 \approx -c\, t",
    design: "Least squares with each row twice and opposite noise (so sigma_* is not zero), n = 400, d = \
             100, k = 20, k* = 5, noise .3, b = 4, eta = .002, option I. Time is counted in steps, which \
             takes the chance of the epochs' lengths out. Every run must get from D_0 to 1e-10 D_0; between \
             1e-2 and 1e-10 the log of D falls by at least 2 eta rho a step, with rho = 2 (1 - \
             sqrt(50/400))^2 the strong convexity on 25 columns of 200 normal rows, and in the second half \
             as fast as in the first, within the judge's factor 1.4.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
