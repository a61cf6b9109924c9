//! Theorem 1, corrected.
//!
//! *Statement.* Every f_z convex and L-smooth on sparse differences, f restricted rho-strongly convex, x* any
//! k*-sparse vector, `sigma_*^2 = S(x*)` the variance of the components' gradients there,
//! `eta <= 1/(16 L kappa)`, `alpha <= b/B`, `alpha/(1+alpha) <= eta rho/4`, B = n or `B >= 36 kappa^2`,
//! option I. Then with `R = (b/B - alpha)/(1 + alpha)` and `th = 1 - (eta rho/2)/(R + eta rho)`
//!
//! ```text
//! E D after j epochs <= th^j D_0 + (8/rho^2) ((1 + eta rho) G + (1 + 2 eta rho) (n-B)/(n-1) sigma_*^2/B)
//! ```
//!
//! *Proof.* Inequality (5) with its cross term; `2 eta |<e, x - x*>| <= (eta rho/2) D + (2 eta/rho) |e|^2`;
//! `2 eta |<g*, x - x*>| <= (eta rho/4) D + (4 eta/rho) G`; the corrected second moment and Lemma 2;
//! `<grad f(x) - g*, x - x*> >= rho D`; `2 L^2 eta^2 <= eta rho/8`, and
//! `(4 L^2/B)(eta/rho)(1 + 2 eta rho) <= eta rho/8` for `B >= 36 kappa^2`. Neither G nor the noise is
//! multiplied by eta.

use crate::setup::diagonal::{Diagonal, Moments, distance};
use crate::setup::runs::{each_round, mean_below, near, option_one, shown, squared_error};
use lao_algorithms::thresholding::theory::{Epoch, expansion, sharp_expansion};
use lao_algorithms::thresholding::{Shape, Solver};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{
    Axis, Context, Direction, Figure, Series, ShownTrials, Trial, View, still,
};
use lao_verification_engine::instance::quadratics::{Quadratics, Shared, predictor};
use lao_verification_engine::instance::{minus, norm2};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::mutants::{PlainScsg, StepFault};

pub(super) const ROUNDS: usize = 8;
/// Epochs of the runs.
const RUN: usize = 4;
pub(super) const N: usize = 400;
/// L; curvatures are drawn below it.
pub(super) const SMOOTHNESS: f64 = 2.0;
/// The share by which a mean may miss its exact value: eight standard errors of the mean of 800 runs of the
/// variable that varies most, whose coefficient of variation is 1.4.
pub(super) const MARGIN: f64 = 0.4;

/// A problem and a pair (B, b).
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub name: &'static str,
    /// The gradient at x*.
    pub gradient: [f64; 4],
    pub star: [f64; 4],
    pub start: [f64; 4],
    pub sparsity: usize,
    pub batch: usize,
    pub mini_batch: usize,
    /// Epochs at which the mean is compared with its exact value: those where 800 runs can tell. None where
    /// thresholding is active, and no exact value is known.
    pub marks: &'static [usize],
    /// The share of the runs of the setting with the largest spread that this one needs.
    pub share: f64,
}

const ZERO: [f64; 4] = [0.0; 4];
const FLAT: [f64; 4] = ZERO;
const NEAR: [f64; 4] = [2e-3, -1e-3, 0.0, 0.0];
const FAR: [f64; 4] = [4.0, -2.0, 0.0, 0.0];
const SLOPED: [f64; 4] = [0.5, -0.3, 0.2, 0.1];

/// k = 2 of 4, x* = 0. With B = n the last two coordinates never leave zero, so that the exact value is
/// known.
const THRESHOLDED: Setting = Setting {
    name: "k = 2, B = n, b = 20",
    gradient: FLAT,
    star: ZERO,
    start: NEAR,
    sparsity: 2,
    batch: N,
    mini_batch: 20,
    marks: &[1, 2, 4],
    share: 1.0,
};

/// k = d = 4, x* of squared norm 64, from zero: a solver that answers zero, or its start, is beyond the
/// bound.
const FREE: Setting = Setting {
    name: "k = d, B = 160, b = 16",
    gradient: FLAT,
    star: [4.0, -4.0, 4.0, -4.0],
    start: ZERO,
    sparsity: 4,
    batch: 160,
    mini_batch: 16,
    marks: &[1, 2, 4],
    share: 0.5,
};

pub(super) const SETTINGS: [Setting; 8] = [
    THRESHOLDED,
    Setting { name: "k = 2, B = b = n", mini_batch: N, ..THRESHOLDED },
    Setting {
        name: "k = 2, B = 160, b = 16",
        batch: 160,
        mini_batch: 16,
        start: FAR,
        marks: &[],
        share: 0.4,
        ..THRESHOLDED
    },
    FREE,
    Setting { name: "k = d, B = b = 160", mini_batch: 160, share: 0.9, ..FREE },
    Setting { name: "k = d, B = 160, b = 4", mini_batch: 4, marks: &[1], share: 0.6, ..FREE },
    Setting {
        name: "k = d, G = .39, B = n, b = 20",
        gradient: SLOPED,
        batch: N,
        mini_batch: 20,
        share: 1.0,
        ..FREE
    },
    Setting { name: "k = d, G = .39, B = 160, b = 16", gradient: SLOPED, ..FREE },
];

impl Setting {
    /// The runs that this setting needs, of so many.
    pub fn runs(&self, of: u64) -> u64 {
        (self.share * of as f64).ceil() as u64
    }

    pub fn instance(&self, cx: &Context<'_>) -> Quadratics {
        let seed = cx.seed("instance").child("data");
        let mut instance = Quadratics::random(&self.gradient, N, (0.5, SMOOTHNESS), 1.0, &seed);
        for (q, h) in instance.linear.iter_mut().zip(&instance.curvatures) {
            q.iter_mut().zip(h).zip(&self.star).for_each(|((q, h), star)| *q -= h * star);
        }
        instance
    }

    /// The constants, with the largest step size. alpha is the least with which Lemma 3 holds: 0, since x* is
    /// zero or nothing is thresholded.
    pub fn constants(&self, instance: &Quadratics) -> Epoch {
        let rho = instance.strong_convexity();
        let k_star = self.star.iter().filter(|x| **x != 0.0).count();
        Epoch {
            step_size: rho / (16.0 * SMOOTHNESS * SMOOTHNESS),
            smoothness: SMOOTHNESS,
            convexity: rho,
            ratio: self.mini_batch as f64 / self.batch as f64,
            alpha: sharp_expansion(k_star, self.sparsity, self.star.len()),
        }
    }

    /// G and the variance of a batch gradient at x*.
    pub fn residuals(&self, instance: &Quadratics) -> (f64, f64) {
        let (n, batch) = (N as f64, self.batch as f64);
        (norm2(&self.gradient), (n - batch) / ((n - 1.0) * batch) * instance.variance(&self.star))
    }

    /// `D_0`.
    pub fn distance(&self) -> f64 {
        norm2(&minus(&self.start, &self.star))
    }

    /// The exact moments after every epoch at the constants' step size.
    pub fn moments(&self, instance: &Quadratics) -> Vec<Moments> {
        let (batch, mini_batch) = (self.batch, self.mini_batch);
        let step_size = self.constants(instance).step_size;
        Diagonal { instance, batch, mini_batch, step_size }.moments(&self.start, ROUNDS)
    }

    /// Fails where a hypothesis of the corrected theorem is not met.
    pub fn check(&self, instance: &Quadratics) -> anyhow::Result<()> {
        let constants = self.constants(instance);
        let decay = constants.step_size * constants.convexity;
        let kappa = SMOOTHNESS / constants.convexity;
        let batch = self.batch == N || self.batch as f64 >= 36.0 * kappa * kappa;
        let alpha =
            constants.alpha <= constants.ratio && constants.alpha / (1.0 + constants.alpha) <= 0.25 * decay;
        anyhow::ensure!(batch && alpha, "{}: a hypothesis of the corrected theorem is not met", self.name);
        Ok(())
    }
}

const RATE_TOO_FAST: Mutant = Mutant::refuted("rate_too_fast", "claims 1 - 3 eta rho/(R + 3 eta rho)");
const NO_CONTROL_VARIATE: Mutant =
    Mutant::refuted("no_control_variate", "steps along the mini-batch gradient");
const STEP_TOO_LONG: Mutant = Mutant::refuted("step_too_long", "a step size 16 times as large");
const STEP_TOO_SHORT: Mutant = Mutant::refuted("step_too_short", "a hundredth of the step size");
const KEEPS_ONE_MORE: Mutant = Mutant::refuted("keeps_one_more", "keeps k + 1 entries");
const THRESHOLDS_FIRST: Mutant =
    Mutant::refuted("thresholds_first", "thresholds before the step, and not after it");
/// The factor of a step that is too short.
const SHORT: f64 = 0.01;

/// D after every epoch of a run, and the most non-zeros of an iterate.
type Curve = (Vec<f64>, usize);

fn curves(cx: &Context<'_>, setting: &Setting, instance: &Quadratics) -> anyhow::Result<ShownTrials<Curve>> {
    let (shared, mut step_size) = (Shared::new(instance.sum()?), setting.constants(instance).step_size);
    if cx.commits(&STEP_TOO_LONG) {
        step_size *= 16.0;
    } else if cx.commits(&STEP_TOO_SHORT) {
        step_size *= SHORT;
    }
    let mut runs = setting.runs(cx.size("runs")?);
    if cx.commits(&STEP_TOO_SHORT) && setting.marks.is_empty() {
        // Betting takes 352 runs to refute the loosest bound.
        runs = runs.max(640);
    }
    let run = |trial: &Trial, views: &[View]| {
        let mut sum = shared.sum();
        let kept = setting.sparsity + usize::from(cx.commits(&KEEPS_ONE_MORE) && setting.sparsity < 4);
        let mut params = option_one(kept, step_size, setting.batch, setting.mini_batch);
        let start = predictor(&setting.start);
        params.start = Some(start.clone());
        let mut solver: Box<dyn Solver> = if cx.commits(&NO_CONTROL_VARIATE) {
            Box::new(PlainScsg::new(params, &sum, StepFault::NoControlVariate))
        } else if cx.commits(&THRESHOLDS_FIRST) {
            Box::new(PlainScsg::new(params, &sum, StepFault::ThresholdsFirst))
        } else {
            Box::new(params.build(Shape::of(&sum))?)
        };
        let (star, mut curves, mut most) = (predictor(&setting.star), vec![Vec::new(); views.len()], 0);
        let seed = trial.seed.child("algorithm");
        if let Some(view) = still(views) {
            let still = shown(view, &start, &start);
            return Ok(vec![(vec![still.distance_squared(&star); RUN], still.coefficients[0].len())]);
        }
        each_round(&mut sum, solver.as_mut(), &seed, RUN as u64, |x, _| {
            for (view, curve) in views.iter().zip(&mut curves) {
                curve.push(squared_error(*view, &start, x, &star));
            }
            most = most.max(x.coefficients[0].len());
            false
        })?;
        curves.iter_mut().for_each(|curve| curve.resize(RUN, f64::INFINITY));
        Ok(curves.into_iter().map(|curve| (curve, most)).collect())
    };
    // A wrong bound changes no run.
    if cx.commits(&RATE_TOO_FAST) {
        return cx.sound_trials(setting.name, runs, run);
    }
    cx.shown_trials(setting.name, runs, run)
}

/// Cells of a setting: the exact curve or, without one, a bound per epoch of [`BOUNDED`]; the comparisons
/// with the exact value; and the non-zeros, where there is a constraint.
fn cells(setting: &Setting) -> usize {
    let bounds = if setting.marks.is_empty() { BOUNDED.len() } else { 1 };
    bounds + setting.marks.len() + usize::from(setting.sparsity < 4)
}

const BOUNDED: [usize; 3] = [1, 2, 4];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let literal = cx.size("literal_runs")?;
    let cells = SETTINGS.iter().map(cells).sum::<usize>() + if literal > 0 { 2 } else { 0 };
    cx.split(cells);
    let mut series = Vec::new();
    for setting in SETTINGS {
        let instance = setting.instance(cx);
        setting.check(&instance)?;
        let (constants, (residual, variance)) = (setting.constants(&instance), setting.residuals(&instance));
        let (start, floor) = (setting.distance(), constants.corrected_floor(residual, variance));
        let decay = 3.0 * constants.step_size * constants.convexity;
        let too_fast = 1.0 - decay / (constants.excess_ratio() + decay);
        let rate = if cx.commits(&RATE_TOO_FAST) { too_fast } else { constants.corrected_theta() };
        let bound = |j: usize| rate.powi(j as i32) * start + floor;
        let exact: Vec<f64> =
            setting.moments(&instance).iter().map(|at| distance(at, &setting.star)).collect();
        let curves = curves(cx, &setting, &instance)?;
        let at = |j: usize| curves.iter().map(|(curve, _)| curve[j - 1]).collect::<Vec<f64>>();
        if setting.marks.is_empty() {
            for j in BOUNDED {
                let finding = mean_below((bound(j), None), (cx.alpha(), cells), &at(j));
                cx.judge(&format!("{}: E D after epoch {j}", setting.name), finding);
            }
        } else {
            let mut below = PropertyTally::new();
            (1..=ROUNDS).for_each(|j| _ = below.check(exact[j - 1], bound(j)));
            cx.judge(&format!("{}: exact E D below the bound", setting.name), below.finish());
        }
        for &j in setting.marks {
            let finding = near(&at(j), (start, exact[j - 1]), MARGIN, cx.alpha());
            cx.judge(&format!("{}: E D against its exact value, epoch {j}", setting.name), finding);
        }
        if setting.sparsity < 4 {
            let mut sparse = PropertyTally::new();
            curves.iter().for_each(|(_, most)| _ = sparse.check(*most as f64, setting.sparsity as f64));
            cx.judge(&format!("{}: at most k non-zeros after every epoch", setting.name), sparse.finish());
        }
        cx.settled()?;
        if cx.honest() {
            cx.note(&format!("{}: th", setting.name), rate);
            cx.note(&format!("{}: bound over D_0 after eight epochs", setting.name), bound(ROUNDS) / start);
            let last: Vec<f64> = at(RUN).iter().map(|d| d / start).collect();
            cx.rate(&format!("D/D_0 after four epochs, {}", setting.name), Direction::Larger, last);
        }
        let mean = |j: usize| at(j).iter().sum::<f64>() / curves.len() as f64;
        series.push(Series::line(setting.name, (1..=RUN).map(|j| [j as f64, mean(j)]).collect()));
        let bounds = (1..=ROUNDS).map(|j| [j as f64, bound(j)]).collect();
        series.push(Series::bound(&format!("bound, {}", setting.name), bounds));
    }
    if literal > 0 {
        smallest_legal(cx, literal, cells)?;
    }
    cx.figure(Figure {
        caption: "Mean squared error against epochs, with the corrected bound.".into(),
        x: Axis::linear("epoch"),
        y: Axis::log("E D"),
        series,
    });
    Ok(())
}

/// k* = 1 with every constant of the theorem: kappa = 1.1, `k = (4 (64 kappa^2 - 1)^2 + 1) k*`.
///
/// *Support.* The law of the squared error D is too skewed for Hall's test: an epoch without a step, which
/// has a probability of 1/77, leaves all of D. But D never exceeds `D_0 = 1`, so betting needs no assumption
/// about the tail. At the start only the first coordinate is wrong. As B = n, the others stay zero up to
/// rounding, and thresholding removes one of them. If the error of the first coordinate is E at the start of
/// an epoch, a step changes an error e to `(1 - eta h) e + eta (h - mean h) E` with curvatures h in [1, 1.1].
/// As `|h - mean h| <= .1 <= h`, the error never exceeds |E|.
fn smallest_legal(cx: &mut Context<'_>, runs: u64, cells: usize) -> anyhow::Result<()> {
    let (k, dim, n) = (23_375, 23_376, 76);
    let seed = cx.seed("smallest legal problem").child("data");
    let mut instance = Quadratics::random(&vec![0.0; dim], n, (1.0, 1.1), 0.01, &seed);
    for (h, q) in instance.curvatures.iter().zip(&mut instance.linear) {
        // Moves the minimizer to the first unit vector.
        q[0] -= h[0];
    }
    // With this start the step in the first coordinate is what remains of the gradient.
    let first = instance.mean_gradient(&star(dim));
    for q in &mut instance.linear {
        q.iter_mut().zip(&first).for_each(|(q, g)| *q -= g);
    }
    let alpha = expansion(1, k);
    let constants = Epoch {
        step_size: 1.0 / (16.0 * 1.1 * 1.1),
        smoothness: 1.1,
        convexity: 1.0,
        ratio: 1.0 / n as f64,
        alpha,
    };
    let decay = constants.step_size * constants.convexity;
    anyhow::ensure!(alpha <= constants.ratio && alpha / (1.0 + alpha) <= 0.25 * decay);
    let shared = Shared::new(instance.sum()?);
    let rounds = 2;
    let step_size = constants.step_size * if cx.commits(&STEP_TOO_SHORT) { SHORT } else { 1.0 };
    let (cell, cripple) = ("k* = 1, k = 23,375", cx.cripple());
    let curves = cx.all_trials(cell, runs, |trial: &Trial| {
        let mut sum = shared.sum();
        let mut solver = option_one(k, step_size, n, 1).build(Shape::of(&sum))?;
        let seed = trial.seed.child("algorithm");
        crate::setup::runs::distances(&mut sum, &mut solver, (cripple, &seed), &star(dim), rounds)
    })?;
    for j in 1..=rounds as usize {
        let values: Vec<f64> = curves.iter().map(|curve| curve[j - 1]).collect();
        let bound = constants.corrected_theta().powi(j as i32);
        let finding = mean_below((bound, Some(1.0)), (cx.alpha(), cells), &values);
        cx.judge(&format!("{cell}: E D after epoch {j}"), finding);
    }
    cx.note(&format!("{cell}: th"), constants.corrected_theta());
    Ok(())
}

fn star(dim: usize) -> Vec<f64> {
    let mut star = vec![0.0; dim];
    star[0] = 1.0;
    star
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-thm1-corrected",
    place: "Theorem 1, corrected",
    sentence: "The mean squared error shrinks by th an epoch, down to a floor of order (G + \
               sigma_*^2/B)/rho^2 that does not depend on eta.",
    formula: r"\mathbb{E} \|X^{(j)} - x^*\|^2 \le \theta_c^{j} D_0 + \frac{8}{\rho^2} \left[(1 +
               \eta\rho) G + (1 + 2\eta\rho) \tfrac{n-B}{n-1} \tfrac{\sigma_*^2}{B}\right], \quad
               \theta_c = 1 - \frac{\eta\rho/2}{R + \eta\rho}",
    design: "Random diagonal quadratics, n = 400, d = 4. Where nothing is thresholded (k = d, x* of squared \
             norm 64, started at zero; or x* = 0 and B = n) the exact E D of every epoch is known: it must \
             lie below the bound in all of eight epochs, and the mean of production runs must agree with it \
             within 40 % of what has gone, or is left, of D_0. So (B, b) = (160, 16), (160, 160), (160, 4), \
             and (400, 20), (160, 16) with a gradient at x* of squared norm .39. One pair is judged where \
             thresholding is active (k = 2, x* = 0, B = 160, b = 16, Hall's test); a solver that answers \
             zero meets that bound, as zero is x*. With k = 2 never more than k non-zeros. The full tier \
             adds the smallest legal problem with k* = 1 at kappa = 1.1: k = 23,375, d = 23,376, n = B = 76, \
             b = 1. Its squared error is at most D_0 in every run, so support comes from betting.",
    standing: Standing::corrected(&[1, 2, 4, 6, 8, 9]).literal().learns(),
    mutants: &[
        STEP_TOO_SHORT,
        RATE_TOO_FAST,
        KEEPS_ONE_MORE,
        STEP_TOO_LONG,
        NO_CONTROL_VARIATE,
        THRESHOLDS_FIRST,
    ],
    experiment,
};
