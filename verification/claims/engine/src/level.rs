//! The claim that every judge keeps its level.
//!
//! *Statement*: at the boundary of a null that is true, a judge at level `alpha` rejects with probability at
//! most `alpha`. All error probabilities of the suite rest on this.
//!
//! *Design*: each engine (both sides of the proportion and mean judges, slopes, geometric rates,
//! unbiasedness, samplers, pairs, ratios, comparisons) runs many times at the boundary of its null, on the
//! laws that are hardest for it: skewed, heavy-tailed and spiky ones. The number of rejections must not
//! be one that a binomial law with the level exceeds with probability 3e-5 only.
//!
//! *Mutants*: every engine at twenty times its level; and the fixed-size exact binomial test, repeated after
//! every block of trials until it rejects, a mistake that the sequential judges exist to avoid.

use lao_verification_engine::claim::{Beyond, Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{BLOCK, Context};
use lao_verification_engine::judge::calibration::{self, CalibrationLevels, Crossings};
use lao_verification_engine::judge::{PropertyTally, prob};
use rand::RngExt as _;

/// Above the levels of claims, where counting rejections is cheap; for those see `level_in_use`.
const LEVEL: f64 = 0.01;

/// The number of engines, sides and laws.
const JUDGED: usize = 34;

/// How the judges break their level.
#[derive(Clone, Copy, PartialEq)]
enum Break {
    Nothing,
    /// A fixed-size test is repeated at every look.
    Peeks,
    /// All engines reject at this many times the level that they promise.
    Inflates(f64),
}

const FAULTS: [Fault<Break>; 2] = [
    Fault::refuted(
        "rejects_at_twenty_times_its_level",
        "every engine rejects at twenty times the level that it promises",
        Break::Inflates(20.0),
    ),
    Fault::refuted(
        "peeks_at_every_look",
        "repeats a fixed-size test after every block until it rejects",
        Break::Peeks,
    ),
];

/// Engines that are far below their level, as the inequalities on which they rest make them.
const BEYOND: &[Beyond] = &[
    Beyond {
        cells: "betting-e",
        why: "rests on Ville's inequality for every law with this mean, and rejects so far below its level \
              on these laws that twenty times the level is not exceeded either",
    },
    Beyond {
        cells: "beta-binomial-e refute, delta 0.05",
        why: "rests on Ville's inequality, and rejects rare failures so far below its level that twenty \
              times the level is not exceeded within the cap either",
    },
    Beyond { cells: "beta-binomial-e refute, delta 0.1", why: "as at delta 0.05" },
    Beyond {
        cells: "hall-t support",
        why: "made at a twenty-fifth of its level, which heavy tails need at the levels of claims: there, in \
              `engine-level-in-use`, a mutant refutes it",
    },
    Beyond {
        cells: "hedged-capital interval",
        why: "a confidence sequence for all times at once: after 500 trials it has spent a small part of its \
              level",
    },
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (shares, percent) = (cx.size("shares")?, cx.size("percent")?);
    let breaks = cx.arm(Break::Nothing, &FAULTS);
    // The shares of the simulation run in parallel, each with its own seed.
    let of = |runs: u64| (runs * percent).div_ceil(100 * shares);
    let counted = cx.all_trials("boundary", shares, |trial| {
        let mut rng = trial.seed.rng();
        let mut uniform = move || rng.random::<f64>();
        let honest = CalibrationLevels { one_sided: LEVEL, interval: 0.05 };
        Ok(match breaks {
            Break::Nothing => calibration::battery_at(honest, &|needed| of(needed.kept), &mut uniform),
            Break::Peeks => vec![peeking(of(400), &mut uniform)],
            Break::Inflates(times) => {
                let levels = CalibrationLevels { one_sided: times * LEVEL, interval: 0.9 };
                let mut all = calibration::battery_at(levels, &|needed| of(needed.broken), &mut uniform);
                let promised = |alpha: f64| if alpha == levels.interval { 0.05 } else { alpha / times };
                all.iter_mut().for_each(|crossings| crossings.alpha = promised(crossings.alpha));
                all
            }
        })
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
    cx.split(JUDGED);
    for crossings in all {
        let mut tally = PropertyTally::new();
        tally.check(crossings.frequency(), crossings.largest_frequency());
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
            if prob::fixed_p_refute(delta, failures, n) <= LEVEL {
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
    standing: Standing::sound().practical().beyond_mutants(BEYOND),
    mutants: &mutants(&FAULTS),
    experiment,
};
