//! Supplement, Lemma A.3, as printed: with `S_t = supp(theta_t)`.
//!
//! *Statement.* There is a set `R` within `S_{t-1} \ S_t` of size `|S_t \ (S_{t-1} u S*)|`, "since
//! `|S_t| = |S_{t-1}|`".
//!
//! *Why not.* From `theta_0 = 0` the first update has `S_0` empty and `|S_1| = s`: `R` would need up to s
//! members of the empty set. The same happens whenever thresholding finds fewer than s non-zeros.

use super::lemma_a3::{Reading, judge};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;

const CONTROL: [Fault<bool>; 1] = [Fault::held("corrected_form", "index sets padded to s members", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let padded = cx.arm(false, &CONTROL);
    let runs = cx.size("runs")?;
    judge(cx, Reading { padded, forgets_old: false }, runs)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-lemma-a3-printed",
    place: "Supplement A.1, Lemma A.3",
    sentence: "The supports of consecutive iterates have equal size, so the dropped coordinates make room \
               for those added outside the true support.",
    formula: r"S_t = \operatorname{supp}(\theta_t) \Rightarrow \exists R \subset S_{t-1} \setminus S_t :
               |R| = |S_t \setminus (S_{t-1} \cup S_*)|",
    design: "All triples of subsets of six coordinates, and the supports of production runs of Exploration \
             from zero.",
    standing: Standing::printed(&[9]),
    mutants: &mutants(&CONTROL),
    experiment,
};
