//! The level of significance with a half-life.
//!
//! *Why.* A boundary that a sum without effect crosses with a probability of at most `level/d`, however long
//! it grows, is crossed sooner or later by sums that forget. The claim says how often within ten half-lives;
//! this span and its level were set before the first run.

use crate::setup::faulty::echo;
use crate::setup::{LEVEL_OF_NINE_TENTHS, Law, REPEATS, Scene, adds};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::Source;
use lao_verification_engine::claim::{Claim, Standing};
use lao_verification_engine::context::Context;

const DIM: usize = 60;
const BUDGET: usize = 12;
const HALF_LIFE: f64 = 400.0;
/// Ten half-lives.
const EXAMPLES: u64 = 4000;
const LEVEL: f64 = 0.05;

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (most, repeats) = (cx.size("most")?, cx.commits(&REPEATS));
    let level = if cx.commits(&LEVEL_OF_NINE_TENTHS) { 0.9 } else { LEVEL };
    let params = PursuitParams { level, half_life: Some(HALF_LIFE), ..PursuitParams::within(DIM, BUDGET) };
    let designs = [("independent", Law::Independent), ("chain of correlation .8", Law::Chain(0.8))];
    cx.split(designs.len());
    for (name, law) in designs {
        let cell = format!("{name}, ten half-lives: an attribute is added");
        cx.prob(&cell, LEVEL, most, |trial| {
            let source = Scene { law, dim: DIM, star: 0, noise: 1.0 }.examples(&trial.seed)?;
            let source: Box<dyn Source> = if repeats { Box::new(echo(source)) } else { Box::new(source) };
            Ok(!adds(source, params.clone(), EXAMPLES, &trial.seed)?)
        })?;
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-half-life-level",
    place: "Level of significance, coefficients that change",
    sentence: "With a half-life, and if no attribute has an effect on the label, Pursuit adds one within ten \
               half-lives with probability at most .05.",
    formula: r"P(\exists t \le 10 h: S_t \ne \emptyset) \le 0.05 \quad \text{if } y \text{ and } x \text{ are
               independent}",
    design: "d = 60, s' = 12, h = 400: 4,000 examples, after each of which the support must be empty. Labels \
             are normal and do not depend on the attributes, which are independent and normal, or a normal \
             chain in which neighbors have correlation .8. A learner that adds nothing would pass: \
             `pursuit-half-life` shows that this one does not.",
    standing: Standing::ours().practical(),
    mutants: &[REPEATS, LEVEL_OF_NINE_TENTHS],
    experiment,
};
