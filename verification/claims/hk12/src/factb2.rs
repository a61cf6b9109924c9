//! Fact B.2: how many entries of a hidden-sign array one must read.
//!
//! *As printed* the position is drawn from \[r\].
//!
//! *Sharper.* After reading n distinct entries the best probability is `1/2 + n/(2d)`: all answers are 0
//! until the hit, so that adapting is useless, and without a hit the sign is still fair. It reaches 2/3
//! exactly from `n = d/3` on.

use lao_datasets::adversarial::hazan_koren::{PopulationStream, SignedRows};
use lao_kernels::SparseVector;
use lao_observation::{BlockBuf, Source};
use lao_verification_engine::claim::{Claim, Mutant, Shown, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{PropertyTally, exact_all};

/// Share of all arrays whose sign a reader of `entries` tells, who takes it for + when he has not seen it.
fn share_told(cx: &Context<'_>, dim: usize, entries: usize, guesses: bool) -> anyhow::Result<f64> {
    let read: Vec<u32> = (0..entries as u32).collect();
    let (mut told, mut block) = (0u32, BlockBuf::new());
    for place in 0..dim as u32 {
        for sign in [1.0, -1.0] {
            let population = SignedRows::new(SparseVector::new(dim, vec![place], vec![sign])?)?;
            block.reset(read.len(), 1);
            PopulationStream::new(population, &cx.seed("arrays")).observe(&read, &mut block)?;
            let seen = (0..entries).map(|c| block.view(&read).column(c)[0]).find(|value| *value != 0.0);
            let answer = seen.or(guesses.then_some(1.0));
            told += u32::from(answer == Some(sign));
        }
    }
    Ok(f64::from(told) / (2 * dim) as f64)
}

/// The best probability over adaptive readers who may read `left` more after `cleared` zeros, and who answer
/// right with probability `guess` when they have not seen the sign.
fn best(dim: usize, cleared: usize, left: usize, guess: f64) -> f64 {
    if left == 0 || cleared == dim {
        return guess;
    }
    let hit = 1.0 / (dim - cleared) as f64;
    hit + (1.0 - hit) * best(dim, cleared + 1, left - 1, guess)
}

const A_QUARTER_SUFFICES: Mutant =
    Mutant::refuted("a_quarter_suffices", "a quarter of the entries in place of a third");
const DOES_NOT_GUESS: Mutant = Mutant::refuted("does_not_guess", "says nothing unless it has seen the sign");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(3);
    let guesses = !cx.commits(&DOES_NOT_GUESS);
    let enough = |dim: usize| {
        if cx.commits(&A_QUARTER_SUFFICES) { dim.div_ceil(4) } else { dim.div_ceil(3) }
    };
    let (mut formula, mut adaptive) = (Vec::new(), Vec::new());
    let mut threshold = PropertyTally::new();
    for dim in 1..=12 {
        for entries in 0..=dim {
            let (told, n) = (share_told(cx, dim, entries, guesses)?, entries as f64);
            let value = 0.5 + n / (2.0 * dim as f64);
            formula.push((told, value));
            let guess = if guesses { 0.5 } else { 0.0 };
            adaptive.push((best(dim, 0, entries, guess), value));
            if entries >= enough(dim) {
                threshold.check(2.0 / 3.0, told);
            } else {
                // Strictly below, by at least the step of the grid of values.
                threshold.check(told, 2.0 / 3.0 - 1e-3);
            }
        }
    }
    cx.judge("share of arrays told", exact_all(formula, 1e-12));
    cx.judge("best adaptive reader", exact_all(adaptive, 1e-12));
    cx.judge("2/3 from d/3 entries on, not before", threshold.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-factb2",
    place: "Appendix B.1, Fact B.2",
    sentence: "To tell a sign hidden at a random place among d zeros with probability 2/3 one must read a \
               third of the entries, and no less will do.",
    formula: r"\max P(\text{told}) = \frac12 + \frac{n}{2d} \ge \frac23 \iff n \ge \frac{d}{3}",
    design: "The array is one example of the production instance with one row. All 2d arrays are read by the \
             reader for every n, d up to 12. A dynamic program over all adaptive readers gives the same best \
             value.",
    standing: Standing::corrected(&[20]).showing(&[Shown { erratum: 20, cell: "share of arrays told" }]),
    mutants: &[A_QUARTER_SUFFICES, DOES_NOT_GUESS],
    experiment,
};
