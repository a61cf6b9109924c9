//! The level, at any time and for any labels: no attribute is added before its e-process allows it.
//!
//! *Why.* `lao_algorithms::pursuit` has the theorem and its proof. For a set N of attributes that is
//! independent of the labels and of all other attributes, the e-process of each attribute is a
//! supermartingale that starts at 1, so that it ever reaches `d/level` with probability at most `level/d`. No
//! variance is estimated: the law of the labels may be Cauchy's, have a variance that falls, or be chosen by
//! an adversary who has seen all earlier blocks.
//!
//! *One block.* Given the values of an attribute without their order, all orders are equally likely, and the
//! expectation of `exp(l sum D - l^2 sum (D^2 + 2 C)/6)` over them is at most 1, for all values, errors and
//! l. All 120 orders of five values are enumerated.
//!
//! *What the e-process is there for.* Beside it an addition asks that a standardized sum exceeds its
//! boundary, and its variance is estimated. The cell of falling noise spoils this estimate, so that the
//! e-process alone keeps the level; its mutant shows that nothing else does.

use crate::setup::faulty::echo;
use crate::setup::null::{FALLING, Falling, Null, judge_by_recent_errors};
use crate::setup::{LEVEL_OF_NINE_TENTHS, Law, REPEATS, Scene, adds, adds_with, ever};
use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_kernels::panel_steps;
use lao_observation::{BlockBuf, Rng, Seed, Source, SourceError};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::tally;
use lao_verification_engine::judge::PropertyTally;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const DIM: usize = 60;
const BUDGET: usize = 12;
const LEVEL: f64 = 0.05;

/// Values of a block whose orders are enumerated.
const VALUES: usize = 5;
/// The numbers l, of both signs: so many, from the first to the last by equal factors.
const MULTIPLIERS: i32 = 30;
const FIRST: f64 = 0.01;
const LAST: f64 = 100.0;

/// Examples of the design with an adversary, and of the one in which five attributes have an effect.
const AGAINST: u64 = 10_000;
const STUDIED: u64 = 2000;
const STAR: usize = 5;
/// The standard deviation of the adversary's labels before and after a standardized sum exceeds `HOPE`.
const LOUD: f64 = 10.0;
const QUIET: f64 = 0.1;
const HOPE: f64 = 2.5;

const LEAKS: Mutant =
    Mutant::refuted("labels_leak_an_attribute", "one attribute without effect has one on the label");

const WITHOUT: Mutant =
    Mutant::refuted("without_e_processes", "attributes are added whatever their e-processes are");

const HALF: Mutant =
    Mutant::refuted("half_of_the_variance", "each block adds half as much to the variance of an e-process");

const STEPS_ALONE: Mutant = Mutant::refuted(
    "squares_of_steps_alone",
    "a block adds to the variance of an e-process the squares of its steps, but not what they should be",
);

/// What is added to `V` for steps D and their expected squares C.
#[derive(Clone, Copy, PartialEq)]
enum Variance {
    Sound,
    Half,
    StepsAlone,
}

/// Returns all orders of the numbers below `n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..=last).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

/// Draws five numbers of some shape, with a deviation of about 1.
fn numbers(rng: &mut Rng) -> [f64; VALUES] {
    let shape = rng.random_range(0..4);
    let one = rng.random_range(0..VALUES);
    std::array::from_fn(|i| {
        let (z, w): (f64, f64) = (StandardNormal.sample(rng), StandardNormal.sample(rng));
        match shape {
            0 => z,
            1 => z / w,
            2 => f64::from(u8::from(i == one)),
            _ => f64::from(rng.random_range(-2..=2)),
        }
    })
}

/// Returns `exp(l sum D - l^2 V/2)`, meant over all orders of the values, for each l.
fn expected(x: [f64; VALUES], r: [f64; VALUES], variance: Variance, multipliers: &[f64]) -> Vec<f64> {
    let mean = |r: &[f64]| r.iter().sum::<f64>() / r.len().max(1) as f64;
    let steps: [[f64; 2]; VALUES] = std::array::from_fn(|i| {
        let ahead = if i + 1 < VALUES { r[i] - mean(&r[i + 1..]) } else { 0.0 };
        [ahead, 1.0 / (VALUES - i) as f64]
    });
    let mut sums = vec![0.0; multipliers.len()];
    let orders = orders(VALUES);
    for order in &orders {
        let panel: [[f64; 4]; VALUES] = std::array::from_fn(|i| [x[order[i]], 0.0, 0.0, 0.0]);
        let [sum, both, _] = panel_steps(&panel, &steps).map(|lanes| lanes[0]);
        let squares = || {
            let step = |i: usize| {
                let rest: Vec<f64> = order[i..].iter().map(|&k| x[k]).collect();
                (x[order[i]] - mean(&rest)) * steps[i][0]
            };
            (0..VALUES).map(|i| step(i).powi(2)).sum::<f64>()
        };
        let v = match variance {
            Variance::Sound => both / 3.0,
            Variance::Half => both / 6.0,
            Variance::StepsAlone => squares() / 3.0,
        };
        for (total, l) in sums.iter_mut().zip(multipliers) {
            *total += (l * sum - l * l * v / 2.0).exp();
        }
    }
    sums.iter().map(|sum| sum / orders.len() as f64).collect()
}

fn enumerate(trial: &Trial, variance: Variance, tally: &mut PropertyTally) {
    let mut rng = trial.seed.rng();
    let (x, r) = (numbers(&mut rng), numbers(&mut rng));
    let size = |at: i32| FIRST * (LAST / FIRST).powf(f64::from(at) / f64::from(MULTIPLIERS - 1));
    let multipliers: Vec<f64> = (0..MULTIPLIERS).flat_map(|at| [size(at), -size(at)]).collect();
    for mean in expected(x, r, variance, &multipliers) {
        tally.check(mean, 1.0);
    }
}

/// Labels that are loud until the learner hopes to have found something, and quiet then.
struct Adversary {
    inner: Box<dyn Source>,
    hopes: Arc<AtomicBool>,
}

impl Source for Adversary {
    lao_verification_engine::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = self.inner.observe(attributes, block)?;
        let deviation = if self.hopes.load(Ordering::Relaxed) { QUIET } else { LOUD };
        block.labels_mut()[..rows].iter_mut().for_each(|y| *y *= deviation);
        Ok(rows)
    }
}

/// Returns whether the learner ever adds an attribute, if the adversary knows its evidence.
fn adds_against(source: Box<dyn Source>, params: PursuitParams, seed: &Seed) -> anyhow::Result<bool> {
    let hopes = Arc::new(AtomicBool::new(false));
    let source = Box::new(Adversary { inner: source, hopes: Arc::clone(&hopes) });
    adds_with(source, params, AGAINST, seed, |learner: &mut Pursuit| {
        let largest = (0..DIM as u32).filter_map(|j| learner.evidence(j)).map(|known| known.z.abs());
        if largest.fold(0.0, f64::max) > HOPE {
            hopes.store(true, Ordering::Relaxed);
        }
        Ok(())
    })
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (sets, most, examples) = (cx.size("sets")?, cx.size("most")?, cx.size("examples")?);
    let [half, steps_alone] = [&HALF, &STEPS_ALONE].map(|mutant| cx.commits(mutant));
    let (without, leaks, repeats) = (cx.commits(&WITHOUT), cx.commits(&LEAKS), cx.commits(&REPEATS));
    let level = if cx.commits(&LEVEL_OF_NINE_TENTHS) { 0.9 } else { LEVEL };
    let params = || PursuitParams { level, ..PursuitParams::within(DIM, BUDGET) };
    let told = |source: Box<dyn Source>| -> Box<dyn Source> {
        if repeats { Box::new(echo(source)) } else { source }
    };
    cx.split(7);
    let variance = match () {
        () if half => Variance::Half,
        () if steps_alone => Variance::StepsAlone,
        () => Variance::Sound,
    };
    let [orders] = tally(cx, "orders", sets, |trial, [tally]| {
        enumerate(trial, variance, tally);
        Ok(())
    })?;
    cx.judge("all orders of five values", orders.finish());
    cx.settled()?;
    if variance != Variance::Sound {
        // A fault of the variance is tried where it acts.
        return Ok(());
    }
    cx.prob(
        "noise that falls to a thirtieth, and a variance of the last errors alone",
        LEVEL,
        most,
        |trial| {
            let source = Null::Normal(Law::Independent).examples(DIM, leaks, &trial.seed)?;
            let source = told(Box::new(Falling::new(source, &trial.seed)));
            let spoil = |learner: &mut Pursuit| judge_by_recent_errors(learner, !without);
            Ok(!adds_with(source, params(), FALLING, &trial.seed, spoil)?)
        },
    )?;
    cx.settled()?;
    for (cell, null) in [
        ("independent normal attributes", Null::Normal(Law::Independent)),
        ("chain of correlation .8", Null::Normal(Law::Chain(0.8))),
        ("labels of a Cauchy law", Null::Cauchy),
    ] {
        cx.prob(cell, LEVEL, most, |trial| {
            let source = told(null.examples(DIM, leaks, &trial.seed)?);
            Ok(!adds(source, params(), examples, &trial.seed)?)
        })?;
        cx.settled()?;
    }
    cx.prob("an adversary who quiets the labels", LEVEL, most, |trial| {
        let source = told(Null::Normal(Law::Independent).examples(DIM, leaks, &trial.seed)?);
        Ok(!adds_against(source, params(), &trial.seed)?)
    })?;
    cx.settled()?;
    cx.prob("five attributes with an effect", LEVEL, most, |trial| {
        let scene = |star| Scene { law: Law::Independent, dim: DIM, star, noise: 1.0 }.examples(&trial.seed);
        let (truth, source) = (scene(STAR)?, scene(if leaks { STAR + 1 } else { STAR })?);
        let wrong = |support: &[u32]| support.iter().any(|&j| truth.theta_star().get(j) == 0.0);
        Ok(!ever(told(Box::new(source)), params(), STUDIED, &trial.seed, |_| Ok(()), wrong)?)
    })?;
    cx.settled()?;
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-level-progressive",
    place: "Level at any time",
    sentence: "If a set of attributes is independent of the labels and of all other attributes, then the \
               probability that Pursuit ever adds one of them is at most the level, .05, whatever the law of \
               the labels is; and the e-process on which this rests has an expectation of at most 1 over the \
               orders of each block.",
    formula: r"P(\exists t: S_t \cap N \ne \emptyset) \le 0.05, \qquad
               E\, e^{\lambda \sum D_i - \lambda^2 \sum (D_i^2 + 2 C_i)/6} \le 1",
    design: "d = 60, s' = 12. Normal attributes, independent or a chain in which neighbors have \
             correlation .8, 4,000 examples (1,000 in the quick tier); labels of a Cauchy law; labels \
             whose standard deviation falls from 30 to 1 after 1,000 of 20,000 examples, for a learner \
             whose estimate of the variance then rests on the last errors alone; an adversary whose \
             labels have deviation 10 until some standardized sum exceeds 2.5, and .1 then, 10,000 \
             examples; and five attributes with an effect of 1 in noise of variance 1, beside which no \
             other may be added in 2,000 examples. Five values and five errors are normal, of a Cauchy \
             law, a single one, or small integers; all their orders are enumerated for 60 numbers l from \
             .01 to 100 of both signs. A learner that adds nothing would pass: the arm with a label that \
             leaks an attribute shows that this one does not.",
    standing: Standing::ours().practical(),
    // `LEAKS`, which all cells but the first refute, comes before those that few cells refute.
    mutants: &[HALF, STEPS_ALONE, LEAKS, WITHOUT, REPEATS, LEVEL_OF_NINE_TENTHS],
    experiment,
};
