//! The claim that every judge keeps its level.
//!
//! *Statement*: at the boundary of a null that is true, a judge at level `alpha` rejects with probability at
//! most `alpha`. All error probabilities of the suite rest on this.
//!
//! *Design*: each engine (both sides of the proportion and mean judges, slopes, geometric rates,
//! unbiasedness, samplers, pairs, ratios, comparisons) runs many times at the boundary of its null, on the
//! laws that are hardest for it: skewed, heavy-tailed and spiky ones. The frequency of rejection must stay
//! below the level plus four standard errors of the simulation.
//!
//! *Mutant*: the fixed-size exact binomial test, repeated after every block of trials until it rejects. The
//! sequential judges exist to avoid this mistake.

use crate::claim::{Claim, Fault, Standing, mutants};
use crate::context::{BLOCK, Context};
use crate::judge::calibration::{self, Crossings};
use crate::judge::{PropertyTally, prob};
use rand::RngExt as _;

const LEVEL: f64 = 0.01;

const FAULTS: [Fault<bool>; 1] = [Fault::refuted(
    "peeks_at_every_look",
    "repeats a fixed-size test after every block until it rejects",
    true,
)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (shares, scale) = (cx.size("shares")?, cx.size("hundreds")?);
    let peeks = cx.arm(false, &FAULTS);
    // The shares of the simulation run in parallel, each with its own seed.
    let counted = cx.all_trials("boundary", shares, |trial| {
        let mut rng = trial.seed.rng();
        let mut uniform = move || rng.random::<f64>();
        if peeks {
            return Ok(vec![peeking(100 * scale, &mut uniform)]);
        }
        Ok(calibration::battery(scale, &mut uniform))
    })?;
    let mut all: Vec<Crossings> = Vec::new();
    for share in counted {
        for (i, part) in share.into_iter().enumerate() {
            match all.get_mut(i) {
                Some(sum) => {
                    sum.runs += part.runs;
                    sum.crossings += part.crossings;
                }
                None => all.push(part),
            }
        }
    }
    for crossings in all {
        let mut tally = PropertyTally::new();
        tally.check(crossings.frequency(), crossings.alpha + 4.0 * crossings.se());
        cx.judge(&crossings.name, tally.finish());
    }
    Ok(())
}

/// Runs the exact test of `P(failure) <= 0.1` at the boundary, repeated after every block of 16 trials up to
/// 1600.
fn peeking(runs: u64, uniform: &mut dyn FnMut() -> f64) -> Crossings {
    let delta = 0.1;
    let mut crossings = 0;
    for _ in 0..runs {
        let (mut failures, mut n) = (0, 0);
        for _ in 0..100 {
            failures += (0..BLOCK).filter(|_| uniform() < delta).count() as u64;
            n += BLOCK as u64;
            if prob::fixed(delta, LEVEL, failures, n).p_refute <= LEVEL {
                crossings += 1;
                break;
            }
        }
    }
    Crossings { name: "exact binomial at every look".into(), alpha: LEVEL, runs, crossings }
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "engine-level",
    place: "the suite's own judges",
    sentence: "Each judge rejects a true null at its boundary at most as often as its level allows.",
    formula: r"P_{H_0}(\text{reject at level } \alpha) \le \alpha",
    design: "Simulation of every engine at the boundary of each of its nulls, on skewed, heavy-tailed and \
             spiky laws.",
    standing: Standing::sound().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
