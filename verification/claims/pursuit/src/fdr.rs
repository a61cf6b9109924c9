//! The false discovery rate, in the place of the level.
//!
//! *Statement.* With `fdr = q` the expected share of attributes without effect among all that are ever added
//! is at most q; and where many attributes have an effect, more of them are found than with the level.
//!
//! *Why.* The e-Benjamini-Hochberg procedure ([`Pursuit`](lao_algorithms::pursuit)). The k-th addition needs
//! an e-process of `d/(k q)` where the level needs `d/level`: at `d = 100`, `q = .1` and 20 additions 50 for
//! 2,000, so that the last ones need about half of the examples. The share is far below q, since Ville's
//! inequality is not sharp, and both conditions of an addition have to be met.
//!
//! *Designs.* Attributes are independent, so that each one without effect has nothing to do with all others.

use crate::setup::faulty::echo;
use crate::setup::{Law, REPEATS, Scene, ever};
use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_observation::Source;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::judge_sample;
use std::collections::BTreeSet;

const DIM: usize = 100;
const BUDGET: usize = 40;
/// `q`.
const SHARE: f64 = 0.1;
/// Numbers of attributes with an effect.
const EFFECTS: [usize; 2] = [20, 5];
const EXAMPLES: u64 = 1500;
/// The standard deviation of the noise; effects are 1 and -1.
const NOISE: f64 = 5.0;

/// The number of attributes that were ever added, and of those among them that have an effect. Attributes
/// that leak count as having none.
fn added(
    trial: &Trial,
    params: &PursuitParams,
    (star, leaks): (usize, usize),
    repeats: bool,
) -> anyhow::Result<(usize, usize)> {
    let examples =
        Scene { law: Law::Independent, dim: DIM, star: star + leaks, noise: NOISE }.examples(&trial.seed)?;
    let target: BTreeSet<u32> = examples.theta_star().indices().iter().copied().take(star).collect();
    let source: Box<dyn Source> = if repeats { Box::new(echo(examples)) } else { Box::new(examples) };
    let mut added = BTreeSet::new();
    let note = |learner: &mut Pursuit| {
        added.extend(learner.support().iter().copied());
        Ok(())
    };
    ever(source, params.clone(), EXAMPLES, &trial.seed, note, |_| false)?;
    Ok((added.len(), added.intersection(&target).count()))
}

const LEAKS: Mutant =
    Mutant::refuted("labels_leak_attributes", "five attributes more have an effect on the label");
const TINY_LEVEL: Mutant =
    Mutant::refuted("level_of_a_millionth", "a level of a millionth in the place of the share");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (most, pairs) = (cx.size("most")?, cx.size("pairs")?);
    let repeats = cx.commits(&REPEATS);
    let leaks = if cx.commits(&LEAKS) { 5 } else { 0 };
    let level = PursuitParams::within(DIM, BUDGET);
    let by_share = match cx.commits(&TINY_LEVEL) {
        true => PursuitParams { level: 1e-6, ..level.clone() },
        false => PursuitParams { fdr: Some(SHARE), ..level.clone() },
    };
    cx.split(EFFECTS.len() + 1);
    for star in EFFECTS {
        let cell = format!("{star} of 100 with an effect: share without one among the added");
        cx.mean_within(&cell, (SHARE, 1.0), most, |trial| {
            let (all, right) = added(trial, &by_share, (star, leaks), repeats)?;
            Ok((all - right) as f64 / all.max(1) as f64)
        })?;
        cx.settled()?;
    }
    let found = cx.all_trials("pairs", pairs, |trial| {
        let [shared, level] = [&by_share, &level].map(|params| added(trial, params, (EFFECTS[0], 0), false));
        Ok([shared?.1 as f64, level?.1 as f64])
    })?;
    let logs: Vec<f64> = found.iter().map(|[shared, level]| ((shared + 1.0) / (level + 1.0)).ln()).collect();
    let finding = judge_sample(&logs, (1.1_f64.ln(), f64::INFINITY), cx.alpha(), FindingKind::Mean);
    cx.judge("20 of 100 with an effect: a tenth more are found than with the level", finding);
    if cx.honest() {
        let mean = |at: usize| found.iter().map(|pair| pair[at]).sum::<f64>() / pairs as f64;
        cx.note("found of 20, with the share", mean(0));
        cx.note("found of 20, with the level", mean(1));
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-fdr",
    place: "False discovery rate",
    sentence: "With a false discovery rate of .1 in the place of the level, the expected share of attributes \
               without effect among those that Pursuit ever adds is at most .1; and of twenty small effects \
               it finds a tenth more by the time.",
    formula: r"\mathbb{E} \frac{|\bigcup_t S_t \setminus S_*|}{|\bigcup_t S_t| \vee 1} \le q",
    design: "d = 100 independent normal attributes, s' = 40; 20 of them, or 5, have effects of 1 and -1 in \
             noise of standard deviation 5; 1,500 examples; the share among all attributes that were in the \
             support after any update. What is found with a level of .05 on the same examples stands beside \
             it. Examples that are told twice have more evidence than they are worth, and refute the share.",
    standing: Standing::ours().practical(),
    mutants: &[TINY_LEVEL, LEAKS, REPEATS],
    experiment,
};
