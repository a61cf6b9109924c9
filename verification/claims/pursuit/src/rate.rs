//! The error after the support is found: that of least squares.
//!
//! *Why.* Once the support is right, Pursuit is least squares on it, from almost all examples: those before
//! an attribute was watched lack. With `m` examples lost of `n`, its excess risk is about `n/(n - m)` times
//! that of least squares with full information. The search takes about 350 examples on independent
//! attributes (`pursuit-identification`), so that from 4,000 to 20,000 examples the exponent is -1.05; on
//! the chain it takes about a thousand, so that from 20,000 to 45,000 the exponent is -1.04. The margin
//! adds .15 to this.
//!
//! *The exponent.* Least squares on s + 1 coefficients (one is the intercept) has the excess risk `sigma^2
//! (s + 1)/n` up to a relative error of order `(s + 1)/n`, with the same law of the factor for every n, so
//! that the mean slope of its logarithm is -1 to three digits. It is a control: what is judged is -1 plus
//! the difference of the slopes of both on the same examples, which has the mean of Pursuit's own slope and
//! a fraction of its spread.

use crate::setup::faulty::{Deaf, noisier};
use crate::setup::{Law, Point, Scene, follow_in_views};
use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::ExplorationParams;
use lao_algorithms::pursuit::PursuitParams;
use lao_kernels::{SparseVector, solve_positive};
use lao_observation::{BlockBuf, Learner, Source as _};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{
    Axis, Context, Direction, Figure, Series, ShownTrials, Style, Trial, View,
};
use lao_verification_engine::judge::ratio;
use lao_verification_engine::judge::slope::{Exponent, fit, judge_slopes};
use lao_verification_engine::plots::means;

const DIM: usize = 60;
const STAR: usize = 5;
const BUDGET: usize = 12;
/// How many times the excess risk of least squares is allowed.
const FACTOR: f64 = 1.5;
/// The exponent may differ by what the search adds, .05, and by .15.
const MARGIN: f64 = 0.2;
/// How many numbers of examples both are compared at.
const MARKS: u32 = 5;

const STOPS_EARLY: Mutant =
    Mutant::refuted("stops_early", "learns nothing after a quarter of the first number of examples");
const CONSTANT_STEP: Mutant =
    Mutant::refuted("constant_step", "steps of constant size and batches of constant size (Exploration)");
const NOISE_ADDED: Mutant =
    Mutant::refuted("noise_added", "labels are told with more noise, of standard deviation 2");

#[derive(Clone, Copy)]
enum Arm {
    Sound,
    StopsEarly,
    ConstantStep,
    NoiseAdded,
}

/// The excess risks of Pursuit at the marks, in each view.
fn run(
    scene: &Scene,
    marks: &[u64],
    arm: Arm,
    views: &[View],
    trial: &Trial,
) -> anyhow::Result<Vec<Vec<f64>>> {
    let truth = scene.examples(&trial.seed)?;
    let learner = PursuitParams::within(DIM, BUDGET).build()?;
    let mut learner: Box<dyn Learner> = match arm {
        Arm::Sound | Arm::NoiseAdded => Box::new(learner),
        Arm::StopsEarly => Box::new(Deaf::after(marks[0] / 4, learner)),
        Arm::ConstantStep => {
            let batch = BatchSizes::Constant(100);
            let (dim, sparsity, budget, step_size) = (DIM, STAR, BUDGET, 0.1);
            let params = ExplorationParams {
                dim,
                sparsity,
                budget,
                step_size,
                batch,
                updates: None,
                start: None,
                money: None,
            };
            Box::new(params.build()?)
        }
    };
    let noise = if matches!(arm, Arm::NoiseAdded) { 2.0 } else { 0.0 };
    let source = noisier(scene.examples(&trial.seed)?, noise, &trial.seed);
    let shown = follow_in_views(source, &mut *learner, BUDGET, (&truth, marks), views, &trial.seed)?;
    Ok(shown.iter().map(|points| points.iter().map(Point::excess).collect()).collect())
}

/// The excess risk, at the marks, of least squares with intercept on the true support.
fn least_squares(scene: &Scene, marks: &[u64], trial: &Trial) -> anyhow::Result<Vec<f64>> {
    let mut source = scene.examples(&trial.seed)?;
    let support = source.theta_star().indices().to_vec();
    let n = support.len() + 1;
    let (mut products, mut labels, mut block) = (vec![0.0; n * n], vec![0.0; n], BlockBuf::new());
    let (mut seen, mut excess) = (0, Vec::new());
    for &mark in marks {
        while seen < mark {
            block.reset(support.len(), (mark - seen).min(512) as usize);
            seen += source.observe(&support, &mut block)? as u64;
            let view = block.view(&support);
            let ones = vec![1.0; view.rows()];
            let column = |c: usize| if c + 1 == n { &ones[..] } else { view.column(c) };
            for i in 0..n {
                let dot = |other: &[f64]| column(i).iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
                labels[i] += dot(view.labels());
                (0..=i).for_each(|j| products[i * n + j] += dot(column(j)));
            }
        }
        (0..n).for_each(|i| (0..i).for_each(|j| products[j * n + i] = products[i * n + j]));
        let mut solution = labels.clone();
        solve_positive(&mut products.clone(), &mut solution);
        let intercept = solution.pop().unwrap_or(0.0);
        let theta = SparseVector::new(DIM, support.clone(), solution)?;
        excess.push(source.gap(theta.view()) + intercept * intercept);
    }
    Ok(excess)
}

/// The slope of each curve on the log scales.
fn slopes(at: &[f64], curves: &[Vec<f64>]) -> anyhow::Result<Vec<f64>> {
    Ok(fit(at, curves, None).map_err(anyhow::Error::msg)?.iter().map(|fit| fit.slope).collect())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (first, last) = (cx.size("first")? as f64, cx.size("last")? as f64);
    let mark = |k: u32| first * (last / first).powf(f64::from(k) / f64::from(MARKS - 1));
    let marks: Vec<u64> = (0..MARKS).map(|k| mark(k).round() as u64).collect();
    let arm = if cx.commits(&STOPS_EARLY) {
        Arm::StopsEarly
    } else if cx.commits(&CONSTANT_STEP) {
        Arm::ConstantStep
    } else if cx.commits(&NOISE_ADDED) {
        Arm::NoiseAdded
    } else {
        Arm::Sound
    };
    // On the chain the search takes more examples: its rate is judged at the numbers of the full tier alone.
    let all = cx.size("all_cells")? > 0;
    cx.split(if all { 6 } else { 4 });
    let at: Vec<f64> = marks.iter().map(|&n| n as f64).collect();
    for (name, law) in [("independent", Law::Independent), ("chain of correlation .5", Law::Chain(0.5))] {
        let runs = cx.size(if law == Law::Independent { "runs" } else { "runs_on_the_chain" })?;
        let scene = Scene { law, dim: DIM, star: STAR, noise: 1.0 };
        let ours = cx.shown_trials(name, runs, |trial, views| run(&scene, &marks, arm, views, trial))?;
        // The same in all arms.
        let theirs = || cx.all_trials(name, runs, |trial| least_squares(&scene, &marks, trial));
        let theirs = ShownTrials::first(cx.shared(&format!("least squares, {name}"), theirs)?, runs);
        let rate = all || law == Law::Independent;
        for (place, k) in [("first", 0), ("last", marks.len() - 1)] {
            if k == 0 && !rate {
                continue;
            }
            let of = |curves: &[Vec<f64>]| curves.iter().map(|curve| curve[k]).collect::<Vec<f64>>();
            let finding = ratio::paired(&of(&ours), &of(&theirs), (0.0, FACTOR), cx.alpha());
            cx.judge(&format!("{name}: times least squares at the {place} number of examples"), finding);
        }
        if rate {
            let (ours, theirs) = (slopes(&at, &ours)?, slopes(&at, &theirs)?);
            let controlled: Vec<f64> =
                ours.iter().zip(&theirs).map(|(own, known)| own - known - 1.0).collect();
            let finding = judge_slopes(&controlled, Exponent::Within(-1.0, -1.0), MARGIN, cx.alpha());
            cx.judge(&format!("{name}: exponent"), finding);
        }
        cx.settled()?;
        if cx.honest() {
            let ratios = ours.iter().zip(&*theirs).map(|(ours, theirs)| ours[0] / theirs[0]).collect();
            cx.rate(&format!("excess risk over least squares, {name}"), Direction::Larger, ratios);
            let own = slopes(&at, &ours)?;
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            cx.note(&format!("{name}: exponent without the control"), mean);
            let known = means("least squares on the true support, full information", &at, &theirs);
            cx.figure(Figure {
                caption: format!("The excess risk of Pursuit beside least squares: {name}."),
                x: Axis::log("examples"),
                y: Axis::log("excess risk"),
                series: vec![means("Pursuit", &at, &ours), Series { style: Style::Bound, ..known }],
            });
        }
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-rate",
    place: "After the support is found",
    sentence: "After the support is found, the excess risk of Pursuit falls like 1/n, and is at most 1.5 \
               times that of least squares on the true support with full information from the same \
               examples.",
    formula: r"R(\theta_n) \propto n^{-1}, \qquad \exp E \ln \frac{R(\theta_n)}{R(\theta^{LS}_n)} \le 1.5",
    design: "d = 60, s* = 5, s' = 12, coefficients of 1 and -1 in noise of variance 1. Independent normal \
             attributes, and a chain in which neighbors have correlation .5. The quick tier goes from \
             4,000 to 20,000 examples, where it judges on the chain only the last ratio; the full tier \
             goes from 20,000 to 45,000. R is the exact excess risk of the predictor with its intercept; \
             least squares sees every attribute of the true support, and the same examples. The ratio is a \
             geometric mean. The exponent is corrected by that of least squares on the same examples, \
             which is known to be -1.",
    standing: Standing::ours().practical().learns(),
    mutants: &[STOPS_EARLY, CONSTANT_STEP, NOISE_ADDED],
    experiment,
};
