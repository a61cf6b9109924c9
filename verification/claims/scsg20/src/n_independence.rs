//! "The IFO complexity does not depend on n": Corollary 1.2, in practice.
//!
//! *Statement.* For `n > 1/eps` the number of IFO calls that SCSG-HT needs for eps does not grow with n,
//! while methods that look at all components pay n.

use crate::setup::runs::{calls_to, option_one};
use lao_algorithms::thresholding::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, Shape, Solver, SvrgParams,
};
use lao_finite_sum::{FiniteSum, Predictor};
use lao_observation::Seed;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, Trial};
use lao_verification_engine::instance::quadratics::{Shared, predictor};
use lao_verification_engine::instance::regression::{Regression, spread_signs};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::judge::slope::{self, Exponent, fit, judge_slopes};

const SIZES: [usize; 5] = [1000, 2000, 4000, 8000, 16_000];
const ACCURACIES: [f64; 6] = [0.1, 0.05, 0.02, 0.01, 0.005, 0.003];
const K: usize = 10;
const STEP: f64 = 0.005;
const MINI: usize = 4;

fn scsg(sum: &FiniteSum, batch: usize) -> anyhow::Result<Box<dyn Solver>> {
    Ok(Box::new(option_one(K, STEP, batch, MINI).build(Shape::of(sum))?))
}

fn gd(sum: &FiniteSum) -> anyhow::Result<Box<dyn Solver>> {
    let params = GdParams { sparsity: K, step: GdStep::Fixed(0.2), refit: false, start: None };
    Ok(Box::new(params.build(Shape::of(sum))?))
}

fn svrg(sum: &FiniteSum) -> anyhow::Result<Box<dyn Solver>> {
    let steps = (sum.len() / MINI) as u64;
    let params = SvrgParams { sparsity: K, step_size: STEP, mini_batch: MINI, steps, start: None };
    Ok(Box::new(params.build(Shape::of(sum))?))
}

fn hsg(sum: &FiniteSum) -> anyhow::Result<Box<dyn Solver>> {
    let params = HsgParams { sparsity: K, step_size: 0.05, first: 20.0, growth: 1.1, start: None };
    Ok(Box::new(params.build(Shape::of(sum))?))
}

fn data(components: usize, seed: &Seed) -> anyhow::Result<FiniteSum> {
    Regression { components, correlation: 0.0, star: spread_signs(50, 4), noise: 0.2, twice: false }
        .draw(seed)
}

/// Calls at one size: SCSG-HT, and, where wanted, SVRG-HT, GD-HT, HSG-HT.
fn at_size(n: usize, full_batch: bool, rivals: bool, seed: &Seed) -> anyhow::Result<[f64; 4]> {
    let (shared, star) = (data(n, &seed.child("data"))?, predictor(&spread_signs(50, 4)));
    let mut calls = [f64::INFINITY; 4];
    let most = 400 * n as u64;
    for (i, calls) in calls.iter_mut().enumerate().take(if rivals { 4 } else { 1 }) {
        let mut sum = shared.clone();
        let mut solver = match i {
            0 => scsg(&sum, if full_batch { n } else { 100 })?,
            1 => svrg(&sum)?,
            2 => gd(&sum)?,
            _ => hsg(&sum)?,
        };
        let seed = seed.child("algorithm").trial(i as u64);
        *calls = calls_to(&mut sum, solver.as_mut(), &seed, (&star, 0.02), i > 1, most)?;
    }
    Ok(calls)
}

const FAULTS: [Fault<bool>; 1] = [Fault::refuted("full_batch", "SCSG-HT with B = n", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (full_batch, rivals) = (cx.arm(false, &FAULTS), cx.honest());
    cx.split(5);
    let tables = cx.all_trials("calls against n", cx.size("replicates")?, |trial: &Trial| {
        let at = |(i, n): (usize, &usize)| at_size(*n, full_batch, rivals, &trial.seed.trial(i as u64));
        SIZES.iter().enumerate().map(at).collect::<anyhow::Result<Vec<_>>>()
    })?;
    let mut series = Vec::new();
    let methods = [("SCSG-HT", 0.0, 0), ("SVRG-HT", 1.0, 1), ("GD-HT", 1.0, 1), ("HSG-HT", 0.0, 0)];
    for (i, (name, exponent, from)) in methods.into_iter().enumerate().take(if rivals { 4 } else { 1 }) {
        let x: Vec<f64> = SIZES[from..].iter().map(|n| *n as f64).collect();
        let calls: Vec<Vec<f64>> =
            tables.iter().map(|table| table[from..].iter().map(|row| row[i]).collect()).collect();
        let slopes: Vec<f64> =
            fit(&x, &calls, None).map_err(anyhow::Error::msg)?.iter().map(|fit| fit.slope).collect();
        let mean = |at: usize| calls.iter().map(|row| row[at]).sum::<f64>() / calls.len() as f64;
        series.push(Series::line(name, x.iter().enumerate().map(|(at, n)| [*n, mean(at)]).collect()));
        cx.rate(&format!("exponent of {name}'s calls in n"), Direction::Larger, slopes.clone());
        if i < 3 {
            let finding = judge_slopes(&slopes, Exponent::Within(exponent, exponent), 0.15, cx.alpha());
            cx.judge(&format!("{name}: exponent of calls in n"), finding);
        }
        cx.settled()?;
    }
    cx.figure(Figure {
        caption: "IFO calls until the squared error is .02.".into(),
        x: Axis::log("n"),
        y: Axis::log("calls"),
        series,
    });
    accuracies(cx)
}

fn accuracies(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let star: Predictor = predictor(&spread_signs(50, 4));
    let shared = Shared::new(data(60_000, &cx.seed("large instance").child("data"))?);
    let x: Vec<f64> = ACCURACIES.iter().map(|eps| 1.0 / eps).collect();
    let calls = cx.all_trials("calls against 1/eps", cx.size("replicates")?, |trial: &Trial| {
        let at = |(i, eps): (usize, &f64)| {
            let mut sum = shared.sum();
            let params = ScsgParams {
                length: EpochLength::Geometric,
                ..option_one(K, STEP, (9.0 / eps).ceil() as usize, MINI)
            };
            let mut solver = params.build(Shape::of(&sum))?;
            let seed = trial.seed.trial(i as u64).child("algorithm");
            calls_to(&mut sum, &mut solver, &seed, (&star, *eps), false, 10_000_000)
        };
        ACCURACIES.iter().enumerate().map(at).collect::<anyhow::Result<Vec<f64>>>()
    })?;
    let slopes: Vec<f64> =
        fit(&x, &calls, None).map_err(anyhow::Error::msg)?.iter().map(|fit| fit.slope).collect();
    let finding = judge_slopes(&slopes, Exponent::AtMost(1.0), 0.15, cx.alpha());
    cx.judge("SCSG-HT: exponent of calls in 1/eps", finding);
    cx.rate("exponent of SCSG-HT's calls in 1/eps", Direction::Larger, slopes);
    let calls = ACCURACIES.iter().map(|eps| {
        let mut sum = shared.sum();
        let mut solver = gd(&sum)?;
        calls_to(&mut sum, solver.as_mut(), &Seed::root(0), (&star, *eps), true, 100_000_000)
    });
    let calls = calls.collect::<anyhow::Result<Vec<f64>>>()?;
    let mut logarithmic = PropertyTally::new();
    let exponent = slope::fit(&x, &[calls], None).map_err(anyhow::Error::msg)?[0].slope;
    logarithmic.check(exponent, 0.35);
    cx.judge("GD-HT: exponent of calls in 1/eps, at most .35", logarithmic.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-n-independence",
    place: "Corollary 1.2 and abstract",
    sentence: "The number of IFO calls that SCSG-HT needs for a fixed accuracy does not grow with n; those \
               of SVRG-HT and GD-HT are proportional to n.",
    formula: r"\mathrm{IFO}_{\mathrm{SCSG}} = O(n^0), \qquad \mathrm{IFO}_{\mathrm{SVRG}},
               \mathrm{IFO}_{\mathrm{GD}} = \Theta(n)",
    design: "Least squares on isotropic normal rows, d = 50, k = 10, k* = 4, noise .2; calls until |x - \
             x*|^2 <= .02, looked at after epochs and interpolated between them. (a) n from 1000 to 16,000: \
             SCSG-HT with B = 100, b = 4, eta = .005; SVRG-HT with the same b and n/b steps; GD-HT with eta \
             = .2; HSG-HT reported. Exponents in n: 0 +- .15 for SCSG-HT, 1 +- .15 for SVRG-HT and GD-HT \
             from n = 2000 on. (b) One instance of n = 60,000, B = ceil(9/eps), eps from .1 to .003: the \
             printed 1/eps is an upper bound, so the exponent in 1/eps is at most 1.15, and GD-HT's, a \
             logarithm, at most .35.",
    standing: Standing::sound().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
