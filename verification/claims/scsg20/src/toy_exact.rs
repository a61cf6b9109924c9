//! The whole algorithm where its law is known exactly.
//!
//! *Statement.* On the [toy](crate::setup::toy), for both options and every epoch,
//! `E D^(j+1) = m2 E D^j + (1 - 2 m1 + m2) V` and `E<X^(j+1) - x*, u> = m1 E<X^j - x*, u>`. Nothing is
//! bounded and nothing is loose, so this is the sharpest test of an implementation that the paper's setting
//! allows.

use crate::setup::runs::{each_round, option_one, option_two};
use crate::setup::toy::Toy;
use lao_algorithms::thresholding::{EpochLength, ScsgParams, Shape, Solver};
use lao_finite_sum::{FiniteSum, Predictor};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Figure, Series, Trial};
use lao_verification_engine::instance::norm2;
use lao_verification_engine::instance::quadratics::{Quadratics, Shared, predictor};
use lao_verification_engine::judge::{FindingKind, slope};
use lao_verification_engine::mutants::{FaultyDraws, PlainScsg, StepFault, WrongLength, WrongSubset};

const N: usize = 100;
const STAR: [f64; 4] = [1.0, -1.0, 0.5, 2.0];
const VARIANCE: f64 = 4.0;
const ROUNDS: u64 = 5;

/// (eta, B, b, option I), and the shares of the runs that the spread of D needs from x* and from zero; the
/// settings that show most faults first.
type Setting = (f64, usize, usize, bool, [f64; 2]);
const SETTINGS: [Setting; 8] = [
    (0.3, 50, 5, true, [0.8, 1.0]),
    (0.3, 50, 5, false, [0.5, 0.2]),
    (0.3, 100, 10, true, [0.0, 1.0]),
    (0.3, 10, 10, true, [1.7, 1.2]),
    // From x*, long epochs in some runs make D vary more.
    (1.0 / 64.0, 50, 5, true, [2.0, 0.6]),
    (1.0 / 64.0, 50, 1, true, [0.9, 1.0]),
    (1.0 / 64.0, 100, 2, true, [0.0, 0.9]),
    (1.0 / 64.0, 10, 10, false, [0.5, 0.2]),
];

/// How many times as many runs a start elsewhere gets where epochs are long.
const ELSEWHERE: f64 = 3.0;

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Step(StepFault),
    HalfGradient,
    OptionOneForTwo,
    Length(WrongLength),
    Subset(WrongSubset),
    /// Shows on components of different curvatures only.
    InsideBatch,
    /// Begins at -4 x*, where it should begin at zero.
    Elsewhere,
}

/// In an order in which the first three refute nearly all cells, so that the arms of the others end early.
const FAULTS: [Fault<Wrong>; 11] = [
    Fault::refuted("inside_batch", "draws mini-batches inside the batch", Wrong::InsideBatch),
    Fault::refuted("begins_elsewhere", "begins at -4 x* in place of zero", Wrong::Elsewhere),
    Fault::refuted(
        "stale_snapshot",
        "keeps the snapshot gradient of the epoch before",
        Wrong::Step(StepFault::StaleSnapshot),
    ),
    Fault::refuted(
        "no_correction",
        "forgets the mini-batch gradient at the snapshot",
        Wrong::Step(StepFault::NoCorrection),
    ),
    Fault::refuted(
        "same_batch",
        "takes the first B components in every epoch",
        Wrong::Subset(WrongSubset::First),
    ),
    Fault::refuted("half_gradient", "forgets the factor 2 of the gradient", Wrong::HalfGradient),
    Fault::refuted("one_step_more", "makes N + 1 steps", Wrong::Length(WrongLength::FromOne)),
    Fault::refuted(
        "batch_with_replacement",
        "draws the batch with replacement",
        Wrong::Subset(WrongSubset::WithReplacement),
    ),
    Fault::refuted("one_step_fewer", "makes N - 1 steps", Wrong::Length(WrongLength::OneLess)),
    Fault::refuted("option_one_for_two", "draws a geometric length in option II", Wrong::OptionOneForTwo),
    Fault::refuted(
        "no_control_variate",
        "steps along the mini-batch gradient",
        Wrong::Step(StepFault::NoControlVariate),
    ),
];

fn solver(
    cx: &Context<'_>,
    toy: &Toy,
    start: Option<Predictor>,
    sum: &FiniteSum,
) -> anyhow::Result<Box<dyn Solver>> {
    let Toy { batch, mini_batch, step_size, geometric, .. } = *toy;
    let mut params = match geometric {
        true => option_one(4, step_size, batch, mini_batch),
        false => option_two(4, step_size, batch, mini_batch),
    };
    params.start = start;
    let (mut length, mut subset) = (None, None);
    match cx.fault(&FAULTS) {
        Some(Wrong::Step(fault)) => return Ok(Box::new(PlainScsg::new(params, sum, fault))),
        Some(Wrong::HalfGradient) => params.step_size *= 0.5,
        Some(Wrong::OptionOneForTwo) => params.length = EpochLength::Geometric,
        Some(Wrong::Length(wrong)) => length = Some(wrong),
        Some(Wrong::Subset(wrong)) => subset = Some(wrong),
        Some(Wrong::Elsewhere) if params.start.is_none() => {
            params.start = Some(predictor(&STAR.map(|x| -4.0 * x)));
        }
        Some(Wrong::InsideBatch | Wrong::Elsewhere) | None => {}
    }
    Ok(Box::new(params.build_with(Shape::of(sum), FaultyDraws::new(N, length, subset))?))
}

/// D and the share of x* that is still missing, after every epoch, per run.
fn runs(
    cx: &Context<'_>,
    cell: &str,
    toy: &Toy,
    instance: &Shared,
    (start, share): (Option<&Predictor>, f64),
) -> anyhow::Result<Vec<[Vec<f64>; 2]>> {
    let count = (share * cx.size("runs")? as f64).ceil() as u64;
    cx.all_trials(cell, count, |trial: &Trial| {
        let (mut sum, star) = (instance.sum(), predictor(&STAR));
        let mut solver = solver(cx, toy, start.cloned(), &sum)?;
        let mut curves = [Vec::new(), Vec::new()];
        each_round(&mut sum, solver.as_mut(), &trial.seed.child("algorithm"), ROUNDS, |x, _| {
            curves[0].push(x.distance_squared(&star));
            curves[1].push(1.0 - x.coefficients[0].view().dot_dense(&STAR) / norm2(&STAR));
            false
        })?;
        anyhow::ensure!(curves[0].len() == ROUNDS as usize, "a step diverged");
        Ok(curves)
    })
}

/// Points with curvatures 1/5 and 9/5, far apart: the mean after eight steps is
/// `X + (1 - (1-eta)^8) (x* - X)`, whatever B, but only if mini-batches are drawn from all components.
fn two_curvatures(cx: &mut Context<'_>, margin: f64) -> anyhow::Result<()> {
    let (n, steps, eta) = (20, 8, 0.5);
    let even = |z: usize| z.is_multiple_of(2);
    let curvatures = (0..n).map(|z| vec![if even(z) { 0.2 } else { 1.8 }]).collect();
    let linear = (0..n).map(|z| vec![if even(z) { 0.2 } else { -3.6 }]).collect();
    let shared = Shared::new(Quadratics { curvatures, linear }.sum()?);
    let subset = (cx.fault(&FAULTS) == Some(Wrong::InsideBatch)).then_some(WrongSubset::InsideBatch);
    let runs = 7 * cx.size("runs")?;
    let ends = cx.all_trials("two curvatures", runs, |trial: &Trial| {
        let mut sum = shared.sum();
        let params = ScsgParams { length: EpochLength::Steps(steps), ..option_one(1, eta, 2, 1) };
        let mut solver = params.build_with(Shape::of(&sum), FaultyDraws::new(n, None, subset))?;
        let mut end = f64::INFINITY;
        each_round(&mut sum, &mut solver, &trial.seed.child("algorithm"), 1, |x, _| {
            end = x.coefficients[0].view().get(0);
            false
        })?;
        Ok(end)
    })?;
    let exact = 1.7 * (1.0 - f64::powi(1.0 - eta, steps as i32));
    let errors: Vec<f64> = ends.iter().map(|end| end - exact).collect();
    let finding = slope::judge_sample(&errors, (-margin, margin), cx.alpha(), FindingKind::Equal);
    cx.judge("two curvatures, B = 2, b = 1, eight steps: mean of x, less its value", finding);
    Ok(())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let permille = |cx: &Context<'_>, key| anyhow::Ok(cx.size(key)? as f64 / 1000.0);
    let (of_start, of_noise) = (permille(cx, "permille_of_start")?, permille(cx, "permille_of_noise")?);
    let mut instance = Quadratics::around(&STAR, N, VARIANCE, &cx.seed("instance").child("data"));
    // Sorted by one coordinate, so that fixed batches are far off.
    instance.linear.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let (instance, start) = (Shared::new(instance.sum()?), norm2(&STAR));
    // From x* all epochs but the first; from zero every epoch.
    let noisy = SETTINGS.iter().filter(|setting| setting.1 < N).count();
    let (rounds, settings) = (ROUNDS as usize, SETTINGS.len());
    cx.split(1 + noisy * (rounds - 1) + 2 * settings * rounds);
    // Of the faults, the one that has no other cell.
    if matches!(cx.fault(&FAULTS), None | Some(Wrong::InsideBatch)) {
        two_curvatures(cx, 2.0 * of_start)?;
    }
    cx.settled()?;
    if cx.fault(&FAULTS) == Some(Wrong::InsideBatch) {
        // With equal curvatures the fault changes no law: the other cells are those of the honest arm.
        return Ok(());
    }
    let mut series = Vec::new();
    for (step_size, batch, mini_batch, geometric, shares) in SETTINGS {
        let toy = Toy { components: N, batch, mini_batch, step_size, geometric };
        let option = if geometric { "I" } else { "II" };
        let name = format!("option {option}, B = {batch}, b = {mini_batch}, eta = {step_size}");
        let alpha = cx.alpha();
        // A start elsewhere changes nothing where the start is x*.
        if batch < N && cx.fault(&FAULTS) != Some(Wrong::Elsewhere) {
            let cell = format!("{name}, from x*");
            let curves = runs(cx, &cell, &toy, &instance, (Some(&predictor(&STAR)), shares[0]))?;
            let mut points = Vec::new();
            for j in 1..ROUNDS as usize {
                let exact = toy.distance(0.0, VARIANCE, j as u32 + 1);
                let ratios: Vec<f64> = curves.iter().map(|[d, _]| d[j] / exact).collect();
                points.push([j as f64 + 1.0, ratios.iter().sum::<f64>() / ratios.len() as f64]);
                let finding =
                    slope::judge_sample(&ratios, (1.0 - of_noise, 1.0 + of_noise), alpha, FindingKind::Equal);
                cx.judge(&format!("{cell}: D over its mean, epoch {}", j + 1), finding);
            }
            series.push(Series::line(&name, points));
        }
        cx.settled()?;
        let cell = format!("{name}, from zero");
        // What a start elsewhere leaves after long epochs takes more runs to see than other faults.
        let long = cx.fault(&FAULTS) == Some(Wrong::Elsewhere) && batch >= 50 * mini_batch;
        let share = if long { ELSEWHERE * shares[1] } else { shares[1] };
        let curves = runs(cx, &cell, &toy, &instance, (None, share))?;
        for j in 0..ROUNDS as usize {
            let exact = toy.distance(start, VARIANCE, j as u32 + 1);
            let errors: Vec<f64> = curves.iter().map(|[d, _]| (d[j] - exact) / start).collect();
            let finding = slope::judge_sample(&errors, (-of_start, of_start), alpha, FindingKind::Equal);
            cx.judge(&format!("{cell}: D less its mean, epoch {}", j + 1), finding);
            let exact = toy.moment(1).powi(j as i32 + 1);
            let errors: Vec<f64> = curves.iter().map(|[_, missing]| missing[j] - exact).collect();
            let finding = slope::judge_sample(&errors, (-of_start, of_start), alpha, FindingKind::Equal);
            cx.judge(&format!("{cell}: along x*, epoch {}", j + 1), finding);
        }
        cx.settled()?;
    }
    cx.figure(Figure {
        caption: "Started at x*: mean squared distance over its closed form, per epoch.".into(),
        x: Axis::linear("epoch"),
        y: Axis::linear("ratio"),
        series,
    });
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-toy-exact",
    place: "Algorithm 1",
    sentence: "On squared distances to points, mean and mean squared error of SCSG-HT follow a linear \
               recursion, epoch by epoch.",
    formula: r"\mathbb{E} D^{(j+1)} = m_2\, \mathbb{E} D^{(j)} + (1 - 2 m_1 + m_2) \tfrac{n-B}{(n-1)B}
               \sigma^2, \quad m_p = \mathbb{E} (1-\eta)^{pN}",
    design: "n = 100, d = k = 4, x* of squared norm 6.25, sigma^2 = 4; two step sizes, four pairs (B, b), \
             options I and II, the production solver on one instance, five epochs. In option I the rare \
             epochs without a step dominate what is left of a distant start, and no ratio to E D has a mean \
             that can be estimated. So there are two starts: from zero, D and the mean along x* are compared \
             in units of the start; from x* itself all of D is noise, and compared in units of its closed \
             form, from the second epoch on. t tests that the means lie within a margin. Equal curvatures \
             hide where mini-batches come from, so there is one more cell, with two curvatures, B = 2, b = 1 \
             and one epoch of eight steps: its mean is known, too.",
    standing: Standing::sound().literal(),
    mutants: &mutants(&FAULTS),
    experiment,
};
