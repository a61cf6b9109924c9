//! The number of examples is proportional to the number of blocks, d/(s'-s).

use crate::setup::practical::{Path, Practical};
use lao_algorithms::BatchSizes;
use lao_verification_engine::claim::{Claim, Mutant, Passable, Standing};
use lao_verification_engine::context::{Context, Direction, Trial, View};
use lao_verification_engine::judge::{exact_all, prob, ratio};
use lao_verification_engine::mutants::{GradientFault, Sabotage};
use lao_verification_engine::plots;

const WIDTHS: [usize; 4] = [96, 8, 32, 500];
const DIM: usize = 512;
const BATCH: u64 = 256;
const UPDATES: u64 = 15;

fn setting(width: usize) -> Practical {
    Practical::signs(DIM, 4, 12, width)
}

const REPLAYS_ONE_BATCH: Mutant = Mutant::refuted(
    "replays_one_batch",
    "looks at one batch through all blocks, beyond the budget of its examples",
);
const SPLITS_ONE_BATCH: Mutant =
    Mutant::refuted("splits_one_batch", "gives every block only B/d' different examples");
const DROPS_RAGGED_BLOCK: Mutant =
    Mutant::refuted("drops_ragged_block", "never fills the last block when s'-s does not divide d");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (replicates, of_96) = (cx.size("replicates")?, cx.size("of_96")?);
    let (replays, splits, ragged) =
        (cx.commits(&REPLAYS_ONE_BATCH), cx.commits(&SPLITS_ONE_BATCH), cx.commits(&DROPS_RAGGED_BLOCK));
    let mut counts = Vec::new();
    let mut gaps: Vec<Vec<f64>> = Vec::new();
    for width in WIDTHS {
        let practical = setting(width);
        let sabotage = if replays {
            GradientFault::ReplaysBatch.into()
        } else if splits {
            GradientFault::Repeats(practical.blocks()).into()
        } else if ragged && !DIM.is_multiple_of(width) {
            GradientFault::DropsFrom((DIM - DIM % width) as u32).into()
        } else {
            Sabotage::default()
        };
        let run = |trial: &Trial, views: &[View]| {
            let params = practical.exploration(BatchSizes::Constant(BATCH), UPDATES);
            practical.explore_in_views(trial, params, &sabotage, views)
        };
        let cell = format!("blocks of {width}");
        // Every ratio has the runs with blocks of 96 below, which cost little. Counts need few runs.
        let replicates = if replays {
            4
        } else if width == WIDTHS[0] {
            of_96
        } else {
            replicates
        };
        // Where no block is ragged, none is dropped.
        let paths = match sabotage.fault {
            None => cx.sound_trials(&cell, replicates, run)?,
            Some(_) => cx.shown_trials(&cell, replicates, run)?,
        };
        let expected = (practical.blocks() * UPDATES * BATCH) as f64;
        for path in paths.iter() {
            counts.push((path.ledger.examples as f64, expected));
            // A source that repeats examples within a batch is caught by its variance, not here.
            counts.push((if splits { expected } else { path.fresh as f64 }, expected));
        }
        gaps.push(paths.iter().map(Path::last_gap).collect());
    }
    cx.split(WIDTHS.len() + 1);
    cx.judge("n = d' T B different examples", exact_all(counts, 1e-12));
    if replays {
        // The gaps stay as they are, which is why the mutant is worth a cell of its own.
        return Ok(());
    }
    let alpha = cx.alpha() / (WIDTHS.len() + 1) as f64;
    // The level beside the ratios: the floor is about .44 sigma^2 s/B.
    let failures = gaps[0].iter().filter(|gap| **gap > 12.0 / BATCH as f64).count() as u64;
    let finding = prob::fixed(0.25, cx.alpha(), failures, of_96);
    cx.judge(&format!("gap with blocks of {} above sigma^2 s/B", WIDTHS[0]), finding);
    for (gaps_of, width) in gaps.iter().zip(WIDTHS).skip(1) {
        let finding = ratio::independent(gaps_of, &gaps[0], (1.0 / 1.25, 1.25), alpha);
        cx.judge(&format!("gap with blocks of {width} over gap with blocks of {}", WIDTHS[0]), finding);
    }
    if cx.honest() {
        let widths = WIDTHS.map(|width| width as f64);
        let rows: Vec<Vec<f64>> =
            (0..replicates.min(of_96) as usize).map(|r| gaps.iter().map(|gaps| gaps[r]).collect()).collect();
        cx.figure(plots::growth(
            "Gap after 15 updates against the width of the blocks, which it must not depend on.",
            ("attributes per block", &widths),
            ("gap", &rows),
            0.0,
        ));
        let floor = gaps[0].iter().map(|gap| (gap * BATCH as f64 / 12.0).ln()).collect();
        cx.rate("log of gap B/(sigma^2 s) after 15 updates", Direction::Larger, floor);
    }
    Ok(())
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "over gap with blocks of",
    why: "gaps that stay where they were have the ratio 1, too; the cells on their level are for this",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-cor42-blocks",
    place: "Corollary 4.2",
    sentence: "The number of examples is proportional to d/(s'-s): at a fixed batch size the accuracy does \
               not depend on s'-s, and an update costs ceil(d/(s'-s)) batches of fresh examples.",
    formula: r"n = \left\lceil \frac{d}{s'-s} \right\rceil T B",
    design: "Random Hadamard rows, d = 512, s* = 4, s = 12, B = 256, T = 15; blocks of 8, 32, 96 and 500 \
             attributes (the last two leave ragged last blocks). The mean gaps must agree within a factor \
             1.25, and be below sigma^2 s/B with probability 3/4, and the session's count of examples must \
             be d' T B, all of them different.",
    standing: Standing::sound().practical().learns().passable(&PASSABLE),
    mutants: &[REPLAYS_ONE_BATCH, SPLITS_ONE_BATCH, DROPS_RAGGED_BLOCK],
    experiment,
};
