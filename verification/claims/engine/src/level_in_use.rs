//! The claim that every judge keeps its level at the levels at which claims are judged.
//!
//! *Statement*: as for [`level`](super::level), at the smallest levels in use: 8e-6, that of one claim, and
//! for the engines that refute 5e-7, that of a cell of a claim with sixteen cells.
//!
//! *Design*: approximations that are good at level .01 may be wrong by a factor at 1e-5, and counting
//! rejections would take a hundred million runs. So probabilities are summed or followed from look to look
//! where counts decide, and sampled from laws under which rejections are common elsewhere
//! ([`rare`]). A simulated probability must be below the level, up to four standard errors.
//!
//! *Mutant*: every engine at a hundred times its level.

use anyhow::Context as _;
use lao_verification_engine::claim::{Beyond, Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{PropertyTally, rare};
use rand::RngExt as _;

/// The levels, and whether engines that support claims are run at them.
const LEVELS: [(f64, bool); 2] = [(8e-6, true), (5e-7, false)];

const FAULTS: [Fault<f64>; 1] = [Fault::refuted(
    "rejects_at_a_hundred_times_its_level",
    "every engine rejects at a hundred times the level that it promises",
    100.0,
)];

const HEAVY_TAIL: &str = "rests on Ville's inequality for every law with this mean, and rejects so far below \
                          its level where the tail is heavy that a hundred times the level need not be \
                          exceeded either";

/// Engines that are far below their level, as the inequalities on which they rest make them.
const BEYOND: &[Beyond] = &[
    Beyond { cells: "betting-e refute, Pareto", why: HEAVY_TAIL },
    Beyond { cells: "betting-e refute, Spikes", why: HEAVY_TAIL },
    Beyond {
        cells: "beta-binomial-e refute, delta 0.05",
        why: "rests on Ville's inequality, and rejects rare failures so far below its level that a \
              hundred times the level need not be exceeded within the cap either",
    },
    Beyond {
        cells: "hall-t support, Spikes",
        why: "its guards refuse nearly all samples of this law, so the test is silent at every level",
    },
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (runs, times) = (cx.size("runs")?, cx.arm(1.0, &FAULTS));
    let events = rare::events();
    let mut cells: Vec<_> = LEVELS
        .into_iter()
        .flat_map(|(alpha, supports)| events.iter().map(move |event| (alpha, supports, event)))
        .filter(|(_, supports, event)| *supports || event.name.contains(" refute"))
        .collect();
    cx.split(cells.len());
    if !cx.honest() {
        // What no mutant can refute need not be simulated: the laws that show an engine at its level are too
        // far from the null to show it at a hundred times the level.
        cells.retain(|(_, _, event)| BEYOND.iter().all(|beyond| !event.name.starts_with(beyond.cells)));
    }
    let found = cx.all_trials("cells", cells.len() as u64, |trial| {
        let (alpha, _, event) = cells.get(trial.number as usize).context("no such cell")?;
        let mut rng = trial.seed.rng();
        Ok((event.measure)(times * alpha, runs, &mut move || rng.random::<f64>()))
    })?;
    for ((alpha, _, event), found) in cells.iter().zip(found) {
        let name = format!("{} at {alpha:e}", event.name);
        let level = event.sides * alpha;
        // A simulation that is too coarse to tell twice the level from the level says nothing.
        anyhow::ensure!(
            4.0 * found.se <= found.probability.max(times * level),
            "{name}: {} has a standard error of {}: simulate more runs",
            found.probability,
            found.se
        );
        let mut tally = PropertyTally::new();
        tally.check(found.probability, level + 4.0 * found.se);
        cx.judge(&name, tally.finish());
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "engine-level-in-use",
    place: "the suite's own judges",
    sentence: "Each judge rejects a true null at its boundary at most as often as its level allows, at the \
               levels at which claims are judged.",
    formula: r"P_{H_0}(\text{reject at level } \alpha) \le \alpha, \qquad \alpha \in \{8 \cdot 10^{-6}, 5
               \cdot 10^{-7}\}",
    design: "Every engine at the boundary of each of its nulls: exact sums over counts, the exact law of the \
             sequential test of a probability from look to look, and importance sampling on skewed and \
             heavy-tailed laws.",
    standing: Standing::sound().practical().beyond_mutants(BEYOND),
    mutants: &mutants(&FAULTS),
    experiment,
};
