//! Examples that are read together, as the rows of a page, have the same looks.
//!
//! *Why.* A page costs as much for one row as for all, so that all examples of a page have the looks of one.
//! With looks of their own, the examples until the support is found follow a law (`pursuit-support-law`).
//! With pages of b examples they cannot be fewer than the pages of one round through all attributes.
//!
//! *Derived.* After b = 256 looks an attribute with an effect of the size of the noise has `z = sqrt(b/6)` at
//! least, 6.5, and is added. So one round through the d attributes is enough. As long as nothing is found it
//! takes d/s' pages; with k attributes in the support, and a third of the rest of the budget for those that
//! are watched, `d / ((2/3) (s' - k))`: 2.6 d/s' with all five. The bound has 3 d/s' pages, and the examples
//! of the law beside them. It was fixed before the first run, as were the other two, which are those of
//! `pursuit-false-inclusion` and of `pursuit-coverage`.
//!
//! *Balance.* One round is enough only since no attribute is looked at twice before all others have been: a
//! learner whose looks stay for four pages needs four times as many.

use crate::setup::{Law, Point, Scene};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Budget, Learner as _, Session};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::judge::slope::judge_sample;
use lao_verification_engine::judge::{FindingKind, prob};

const DIM: usize = 240;
const BUDGET: usize = 12;
const STAR: usize = 5;
/// The examples of a page.
const PAGE: u64 = 256;
/// The factor of the law, and the rounds of pages.
const FACTOR: u64 = 10;
const ROUNDS: u64 = 3;
/// The law `10 (s* + sigma^2/r^2) d/s'`, and three rounds of pages.
const ENOUGH: u64 = (FACTOR * (STAR as u64 + 1) + ROUNDS * PAGE) * (DIM / BUDGET) as u64;
/// The probability that an attribute without effect is ever added.
const LEVEL: f64 = 0.05;
/// The part of the intervals that hold the coefficient.
const COVERAGE: (f64, f64) = (0.93, 0.975);

const FOUR_PAGES: Mutant =
    Mutant::refuted("looks_stay_for_four_pages", "the looks of a page stay for three more");
const LEAKS: Mutant =
    Mutant::refuted("labels_leak_an_attribute", "one attribute more has an effect on the label");
const HALF_THE_ERROR: Mutant = Mutant::refuted("half_the_error", "a standard error is half of what it is");

/// What a run shows after enough examples.
#[derive(Clone, Copy, Debug)]
struct Shown {
    is_right: bool,
    /// Whether an attribute without effect was ever in the support.
    erred: bool,
    /// The part of the intervals that hold the coefficient; `None` without intervals.
    held: Option<f64>,
}

/// The instance, with so many attributes that have an effect.
fn scene(star: usize) -> Scene {
    Scene { law: Law::Independent, dim: DIM, star, noise: 1.0 }
}

fn run(page: u64, leaks: bool, part: f64, trial: &Trial) -> anyhow::Result<Shown> {
    let truth = scene(STAR).examples(&trial.seed)?;
    let source = scene(STAR + usize::from(leaks)).examples(&trial.seed)?;
    let mut learner = PursuitParams { page: Some(page), ..PursuitParams::within(DIM, BUDGET) }.build()?;
    let mut session = Session::new(source, Budget::PerExample(BUDGET), &trial.seed.child("algorithm"));
    let theta = truth.theta_star();
    let (mut updates, mut erred) = (0, false);
    while session.ledger().examples < ENOUGH {
        session.step(&mut learner, ENOUGH - session.ledger().examples)?;
        if learner.updates() > updates {
            updates = learner.updates();
            erred |= learner.support().iter().any(|j| theta.get(*j) == 0.0);
        }
    }
    let holds = |&j: &u32| {
        let estimate = learner.evidence(j)?.estimate?;
        let [low, high] = estimate.interval();
        let half = part * (high - low) / 2.0;
        Some(f64::from(u8::from((estimate.value - theta.get(j)).abs() <= half)))
    };
    let held: Vec<f64> = learner.support().iter().filter_map(holds).collect();
    let share = held.iter().sum::<f64>() / held.len() as f64;
    let is_right = Point::of(&learner, None, &truth).is_right(STAR);
    Ok(Shown { is_right, erred, held: (!held.is_empty()).then_some(share) })
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let page = if cx.commits(&FOUR_PAGES) { 4 * PAGE } else { PAGE };
    let leaks = cx.commits(&LEAKS);
    let part = if cx.commits(&HALF_THE_ERROR) { 0.5 } else { 1.0 };
    let runs = cx.size("runs")?;
    cx.split(3);
    let shown = cx.all_trials("pages of 256 examples", runs, |trial| run(page, leaks, part, trial))?;
    let count = |of: &dyn Fn(&Shown) -> bool| shown.iter().filter(|run| of(run)).count() as u64;
    let not_yet = count(&|run| !run.is_right);
    let cell = "the support is not right after the examples of the law and three rounds of pages";
    cx.judge(cell, prob::fixed(0.5, cx.alpha(), not_yet, runs));
    let erred = count(&|run| run.erred);
    let cell = "an attribute without effect is ever added";
    cx.judge(cell, prob::fixed(LEVEL, cx.alpha(), erred, runs));
    let held: Vec<f64> = shown.iter().filter_map(|run| run.held).collect();
    cx.judge(
        "intervals that hold the coefficient",
        judge_sample(&held, COVERAGE, cx.alpha(), FindingKind::Mean),
    );
    cx.settled()?;
    if cx.honest() {
        // What common looks cost, in examples.
        for (name, page) in [("looks of its own", 1), ("a page of 64", 64), ("a page of 256", PAGE)] {
            let found = |trial: &Trial| examples_until_right(page, trial);
            let mut found = cx.all_trials(&format!("{name}, examples"), cx.size("counted")?, found)?;
            found.sort_by(f64::total_cmp);
            let law = (FACTOR * (STAR as u64 + 1) * (DIM / BUDGET) as u64) as f64;
            let middle = found[found.len() / 2];
            cx.note(&format!("{name}: median number of examples until the support is right"), middle);
            cx.note(&format!("{name}: in those of the law"), middle / law);
        }
    }
    Ok(())
}

/// The examples until the support is right for the first time.
fn examples_until_right(page: u64, trial: &Trial) -> anyhow::Result<f64> {
    let (truth, source) = (scene(STAR).examples(&trial.seed)?, scene(STAR).examples(&trial.seed)?);
    let mut learner = PursuitParams { page: Some(page), ..PursuitParams::within(DIM, BUDGET) }.build()?;
    let mut session = Session::new(source, Budget::PerExample(BUDGET), &trial.seed.child("algorithm"));
    while session.ledger().examples < 2 * ENOUGH && !Point::of(&learner, None, &truth).is_right(STAR) {
        let updates = learner.updates();
        while learner.updates() == updates {
            session.step(&mut learner, u64::MAX)?;
        }
    }
    Ok(session.ledger().examples as f64)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-pages",
    place: "Examples that are read by pages",
    sentence: "Where the examples of a page have the same looks, the support of Pursuit is right, in more \
               than half of the runs, after the examples of the law 10 (s* + sigma^2/r^2) d/s' and three \
               rounds of pages through all attributes; attributes without effect are ever added with \
               probability at most .05, and the 95 % intervals hold the coefficient in 93 to 97.5 % of the \
               cases.",
    formula: r"n = 10 \left( s_* + \frac{\sigma^2}{r^2} \right) \frac{d}{s'} + 3 \frac{d}{s'} b: \quad
               P(S_n \ne S_*) < \tfrac12, \quad P(\exists m: S_m \not\subseteq S_*) \le 0.05, \quad
               P(|b_j - \theta_j| \le t_n s_j) \in [0.93, 0.975]",
    design: "d = 240, s' = 12, five coefficients of 1 or -1, independent normal attributes, noise of \
             variance 1, pages of 256 examples; everything is read after 16,560 examples. Beside it, the \
             examples until the support is right with looks of their own and with pages of 64 and 256.",
    standing: Standing::ours().practical(),
    mutants: &[FOUR_PAGES, LEAKS, HALF_THE_ERROR],
    experiment,
};
