//! What the claims of consistency of Algorithms 2 and 3 share.
//!
//! *Statement.* `wbar_s` converges to `w*`, and `sum_t P(i not in S_t) = O(sqrt T)` for every relevant
//! feature i.
//!
//! *Why.* By convexity and Lemma 4 the excess risk of `wbar_s` is at most `O(sqrt s)/s`, so that
//! `E |wbar_s - w*|^2 = O(s^(-1/2))`, which is `O(T^(-1/4))`. The rounds 1, 4, 9, ... leave a feature out
//! with probability `1 - k'/d`; they are `sqrt T` in number. All other rounds without it belong to the
//! burn-in, once the entries of `wbar_s` keep their order.
//!
//! *Design.* d = 10, k = 2, k' = 4, signs over `sqrt 10`, `w* = (.5, -.4)` on the features 6 and 9, so that
//! ties at the start do not help, noise +-.1; `|y| <= 1`. `lambda_s = 3 sqrt s`, fixed on other seeds so that
//! the burn-in is short of 10,000 rounds. Per run and mark: the rounds so far without a relevant feature, and
//! `|wbar_s - w*|^2`. Means over blocks of five runs give one slope each, over the marks beyond the burn-in.
//! The exponent -1/4 of the distance is approached from above, since `w_s` shrinks by
//! `lambda_s/(lambda_s + 2 s/d)`, which is .6 after 100 exploring rounds: judged is that it is below -1/10.
//! At the last round, if it does not explore, both features are in the set but for a small probability, and
//! have at least an eighth of their weight in `wbar_s`. The number of rounds without a feature is a matter of
//! what is asked for, which a crippled estimate leaves as it is: that cell says nothing about learning.

use super::regret::{drawn, judge_exponent, marks, mean_at, shown};
use super::watched::{self, Exploration, Silenced, Watched};
use lao_algorithms::ito::GreedyParams;
use lao_algorithms::ito::{Rda2, Rda3, Regularization};
use lao_datasets::memory::Rows;
use lao_datasets::synthetic::{Noise, Rademacher, Scaled, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner, Session, SessionLimit};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, View};
use lao_verification_engine::judge::prob;

pub(crate) const DIM: usize = 10;
pub(crate) const BUDGET: usize = 4;
const FEATURES: [u32; 2] = [6, 9];
const WEIGHTS: [f64; 2] = [0.5, -0.4];

/// `lambda_s` and `lambda~_t`.
pub(crate) const EXPLORE: f64 = 3.0;
pub(crate) const EXPLOIT: f64 = 1.0;

/// A learner with an average of what exploring found.
pub(crate) trait Averages: Learner {
    /// `wbar_s`.
    fn wbar(&self) -> Vec<f64>;
}

impl Averages for Rda2 {
    fn wbar(&self) -> Vec<f64> {
        self.average()
    }
}

impl Averages for Rda3 {
    fn wbar(&self) -> Vec<f64> {
        self.average()
    }
}

impl Averages for lao_algorithms::ito::Greedy {
    fn wbar(&self) -> Vec<f64> {
        self.iterate()
    }
}

/// One run: at every mark, the rounds so far without a relevant feature (both together) and
/// `|wbar_s - w*|^2`; and whether the last round was without one, or `wbar_s` has less
/// than an eighth of its weight.
#[derive(Clone)]
struct Run {
    absent: Vec<f64>,
    error: Vec<f64>,
    incomplete: bool,
}

/// The experiment for one of the algorithms.
pub(crate) fn experiment<L: Averages>(
    cx: &mut Context<'_>,
    name: &str,
    learner: impl Fn() -> anyhow::Result<L> + Sync,
) -> anyhow::Result<()> {
    let (last, first) = (cx.size("rounds")?, cx.size("burnt_in")?);
    let fault = cx.fault(&watched::FAULTS);
    let after = if fault == Some(Exploration::Frozen) { 100 } else { u64::MAX };
    let greedy = fault == Some(Exploration::Greedy);
    let runs = cx.size(if greedy { "greedy_runs" } else { "runs" })?;
    let marks = marks(256, last, 2 * (last / 256).ilog2() as usize + 1);
    let all = shown(cx, "runs", runs, |trial, views| {
        let design = Scaled::new(Rademacher::new(DIM)?, 1.0 / (DIM as f64).sqrt())?;
        let star = SparseVector::new(DIM, FEATURES.to_vec(), WEIGHTS.to_vec())?;
        let inner = Virtual::new(design, star, Noise::Signs(0.1), &trial.seed.child("data"))?;
        let source = drawn(&mut Silenced { inner, after }, last as usize + 1)?;
        let seed = trial.seed.child("algorithm");
        if greedy {
            let regularization = Regularization::sqrt(EXPLOIT);
            let greedy = GreedyParams { dim: DIM, budget: BUDGET, regularization, radius: 1.0 };
            run(greedy.build()?, views, Session::new(source, Budget::PerExample(BUDGET), &seed), &marks)
        } else {
            run(learner()?, views, Session::new(source, Budget::PerExample(BUDGET), &seed), &marks)
        }
    })?;

    cx.split(3);
    let from = marks.partition_point(|&mark| mark < first);
    let grid: Vec<f64> = marks.iter().map(|&mark| mark as f64).collect();
    let absent: Vec<Vec<f64>> = all.iter().map(|run| run.absent.clone()).collect();
    let error: Vec<Vec<f64>> = all.iter().map(|run| run.error.clone()).collect();
    for (what, values, most, margin) in
        [("rounds without a relevant feature", &absent, 0.5, 0.1), ("|wbar - w*|^2", &error, -0.1, 0.0)]
    {
        let cell = format!("exponent of {what}");
        if let Some(slopes) = judge_exponent(cx, &cell, (most, margin), &grid[from..], values) {
            cx.rate(&format!("exponent of {what}, {name}"), Direction::Larger, slopes);
        }
    }
    let share = cx.size("percent")? as f64 / 100.0;
    let incomplete = all.iter().filter(|run| run.incomplete).count() as u64;
    let finding = prob::fixed(share, cx.alpha(), incomplete, runs);
    cx.judge(
        &format!("a relevant feature is missing or faint in the end with probability at most {share}"),
        finding,
    );

    let points = |values: &[Vec<f64>]| {
        grid.iter().enumerate().map(|(i, &mark)| [mark, mean_at(values, i)]).collect::<Vec<[f64; 2]>>()
    };
    let root = grid.iter().map(|mark| [*mark, 2.0 * (1.0 - BUDGET as f64 / DIM as f64) * mark.sqrt()]);
    let (counted, erred) = (points(&absent), points(&error));
    cx.figure(Figure {
        caption: format!(
            "{name}: rounds without a relevant feature, and the part of the exploring rounds in them."
        ),
        x: Axis::log("rounds"),
        y: Axis::log("mean number, both features together"),
        series: vec![Series::line(name, counted), Series::bound("exploring rounds", root.collect())],
    });
    cx.figure(Figure {
        caption: format!("{name}: squared distance of the averaged weights from w*."),
        x: Axis::log("rounds"),
        y: Axis::log("mean of |wbar - w*|^2"),
        series: vec![Series::line(name, erred)],
    });
    Ok(())
}

fn run<L: Averages>(
    learner: L,
    views: &[View],
    mut session: Session<Rows<f64>>,
    marks: &[u64],
) -> anyhow::Result<Vec<Run>> {
    let seen = |mut wbar: Vec<f64>, view: &View| {
        if let Some(cripple) = view {
            cripple.estimate(&[], &mut wbar);
        }
        wbar
    };
    let mut learner = Watched::new(learner, &FEATURES);
    let (mut absent, mut wbars) = (Vec::new(), Vec::new());
    for &mark in marks {
        session.run(&mut learner, SessionLimit::after_examples(mark), |_, _| {})?;
        absent.push(learner.absent.iter().sum::<u64>() as f64);
        wbars.push(learner.inner.wbar());
    }
    // One round more, so that the last one does not explore.
    session.run(&mut learner, SessionLimit::after_examples(session.ledger().examples + 1), |_, _| {})?;
    let (last, missing) = (learner.inner.wbar(), learner.missing.contains(&true));
    let in_view = |view: &View| {
        let distance = |wbar: &Vec<f64>| {
            let mut distance = seen(wbar.clone(), view);
            FEATURES.iter().zip(WEIGHTS).for_each(|(&j, weight)| distance[j as usize] -= weight);
            distance.iter().map(|x| x * x).sum()
        };
        let found = seen(last.clone(), view);
        let faint = FEATURES.iter().zip(WEIGHTS).any(|(&j, weight)| found[j as usize] / weight < 0.125);
        let error = wbars.iter().map(distance).collect();
        Run { absent: absent.clone(), error, incomplete: faint || missing }
    };
    Ok(views.iter().map(in_view).collect())
}
