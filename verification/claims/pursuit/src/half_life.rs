//! Coefficients that change: with a half-life the old ones are forgotten.
//!
//! *Targets.* They were set before the first run. After four half-lives an old example has a sixteenth of the
//! weight of a new one, and the weights add up to those of 577 examples, which least squares on the true
//! support needs for an excess risk of about .01. Without a half-life 4,000 old examples outweigh 1,600 new
//! ones, and the excess risk is that of coefficients which lie between the old and the new ones, about 5.
//!
//! *Where nothing changes.* Least squares on k attributes with the weights w has the excess risk `k sigma^2
//! sum w^2/(sum w)^2`, up to a part of order `k/sum w`. For weights that halve with every h examples `sum w`
//! is `h/log 2`, and `sum w^2` is `h/(2 log 2)`: the excess risk is `k sigma^2 log 2/(2 h)`. It is read once
//! in four half-lives, so that one reading has a sixteenth in common with the next. The bounds were set
//! before the first run; they leave a tenth for attributes that are added and dropped.

use crate::setup::faulty::Deaf;
use crate::setup::{Examples, LEARNS_A_QUARTER, Law, Point, Scene, follow_in_views};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{BlockBuf, Source, SourceError};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial, View};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::judge_sample;
use std::f64::consts::LN_2;

const DIM: usize = 60;
const BUDGET: usize = 12;
const HALF_LIFE: f64 = 400.0;
/// Examples before the change.
const BEFORE: u64 = 4000;
/// Four half-lives after the change.
const AFTER: u64 = 1600;
const MEDIAN: f64 = 0.05;
/// Attributes with an effect.
const STAR: usize = 5;
/// The examples after which coefficients that do not change are read.
const STEADY: [u64; 5] = [2000, 3600, 5200, 6800, 8400];
/// The mean excess risk then, in those of least squares.
const AS_PREDICTED: (f64, f64) = (0.9, 1.1);

/// Examples of two scenes: those of the second follow when `BEFORE` examples, or a few more, have come.
struct Turning {
    first: Examples,
    second: Examples,
}

impl Source for Turning {
    fn dim(&self) -> usize {
        DIM
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let now = if self.first.position() < BEFORE { &mut self.first } else { &mut self.second };
        now.observe(attributes, block)
    }

    fn position(&self) -> u64 {
        self.first.position() + self.second.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        Err(SourceError::Seek { position, end: self.position() })
    }
}

const FORGETS_NOTHING: Mutant =
    Mutant::refuted("forgets_nothing", "the learner is built without a half-life");
const A_FIFTH_TOO_SOON: Mutant =
    Mutant::refuted("a_fifth_too_soon", "the learner is built with four fifths of the half-life");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let most = cx.size("most")?;
    let part = if cx.commits(&A_FIFTH_TOO_SOON) { 0.8 } else { 1.0 };
    let half_life = (!cx.commits(&FORGETS_NOTHING)).then_some(part * HALF_LIFE);
    let learns_a_quarter = cx.commits(&LEARNS_A_QUARTER);
    let params = PursuitParams { half_life, ..PursuitParams::within(DIM, BUDGET) };
    let scene = Scene { law: Law::Independent, dim: DIM, star: STAR, noise: 1.0 };
    cx.split(2);
    let cell = "nothing changes: mean excess risk over that of least squares with these weights";
    let shown = cx.shown_trials(cell, cx.size("runs")?, |trial, views| {
        let (truth, source) = (scene.examples(&trial.seed)?, scene.examples(&trial.seed)?);
        let last = STEADY[STEADY.len() - 1];
        let deaf_after = if learns_a_quarter { last / 4 } else { last };
        let mut learner = Deaf::after(deaf_after, params.clone().build()?);
        let points = follow_in_views(source, &mut learner, BUDGET, (&truth, &STEADY), views, &trial.seed)?;
        let predicted = STAR as f64 * LN_2 / (2.0 * HALF_LIFE);
        let mean = |points: &Vec<Point>| {
            points.iter().map(|point| point.gap).sum::<f64>() / STEADY.len() as f64 / predicted
        };
        Ok(points.iter().map(mean).collect())
    })?;
    cx.judge(cell, judge_sample(&shown, AS_PREDICTED, cx.alpha(), FindingKind::Mean));
    cx.settled()?;
    let gap = |trial: &Trial, views: &[View]| -> anyhow::Result<Vec<f64>> {
        let examples = |what: &str| scene.examples(&trial.seed.child(what));
        let (truth, source) = (examples("after")?, examples("after")?);
        let source = Turning { first: examples("before")?, second: source };
        let all = BEFORE + AFTER;
        let deaf_after = if learns_a_quarter { all / 4 } else { all };
        let mut learner = Deaf::after(deaf_after, params.clone().build()?);
        let points = follow_in_views(source, &mut learner, BUDGET, (&truth, &[all]), views, &trial.seed)?;
        Ok(points.iter().map(|points| points[0].gap).collect())
    };
    let cell = format!("four half-lives after a change: excess risk above {MEDIAN}");
    let shown = cx.shown_one_by_one(&cell)?;
    cx.prob(&cell, 0.5, most, |trial| Ok(shown.of(trial, |views| gap(trial, views))? <= MEDIAN))?;
    cx.settled()?;
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-half-life",
    place: "Coefficients that change",
    sentence: "With a half-life h, the median of the excess risk of Pursuit is at most .05 four half-lives \
               after all coefficients have moved to other attributes; where they do not change, its mean is \
               that of least squares on the true attributes with weights that halve with every h examples, \
               within a tenth.",
    formula: r"P(R(\theta_{n + 4h}) > 0.05) < \tfrac12 \quad \text{if } \theta_* \text{ changes at } n,
               \qquad E R(\theta_n) = \frac{s_* \sigma^2 \log 2}{2 h} \text{ within a tenth, if not}",
    design: "d = 60, s' = 12, h = 400, independent normal attributes, noise of variance 1. Five coefficients \
             are 1 or -1; after 4,000 examples, or up to a block more, they are at other random places. \
             Where nothing changes, the excess risk is read five times from 2,000 to 8,400 examples.",
    standing: Standing::ours().practical().learns(),
    mutants: &[LEARNS_A_QUARTER, FORGETS_NOTHING, A_FIFTH_TOO_SOON],
    experiment,
};
