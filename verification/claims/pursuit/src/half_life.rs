//! Coefficients that change: with a half-life the old ones are forgotten.
//!
//! *Targets.* They were set before the first run. After four half-lives an old example has a sixteenth of the
//! weight of a new one, and the weights add up to those of 577 examples, which least squares on the true
//! support needs for an excess risk of about .01. Without a half-life 4,000 old examples outweigh 1,600 new
//! ones, and the excess risk is that of coefficients which lie between the old and the new ones, about 5.

use crate::setup::faulty::Deaf;
use crate::setup::{Examples, LEARNS_A_QUARTER, Law, Scene, follow_in_views};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{BlockBuf, Source, SourceError};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial, View};

const DIM: usize = 60;
const BUDGET: usize = 12;
const HALF_LIFE: f64 = 400.0;
/// Examples before the change.
const BEFORE: u64 = 4000;
/// Four half-lives after the change.
const AFTER: u64 = 1600;
const MEDIAN: f64 = 0.05;

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
fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let most = cx.size("most")?;
    let half_life = (!cx.commits(&FORGETS_NOTHING)).then_some(HALF_LIFE);
    let learns_a_quarter = cx.commits(&LEARNS_A_QUARTER);
    let params = PursuitParams { half_life, ..PursuitParams::within(DIM, BUDGET) };
    let scene = Scene { law: Law::Independent, dim: DIM, star: 5, noise: 1.0 };
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
               after all coefficients have moved to other attributes.",
    formula: r"P(R(\theta_{n + 4h}) > 0.05) < \tfrac12 \quad \text{if } \theta_* \text{ changes at } n",
    design: "d = 60, s' = 12, h = 400, independent normal attributes, noise of variance 1. Five coefficients \
             are 1 or -1; after 4,000 examples, or up to a block more, they are at other random places.",
    standing: Standing::ours().practical().learns(),
    mutants: &[LEARNS_A_QUARTER, FORGETS_NOTHING],
    experiment,
};
