//! With about half of the attributes per example the cost hardly depends on the dimension.
//!
//! *Statement.* The second remark on Corollary 4.2: for `s' - s` of order d, `n = O~(s*^2 + s* sigma^2/eps)`,
//! near the minimax `s* sigma^2 log(d/s*)/eps` of full information. (It says "Algorithm 4.2" and means
//! Algorithm 1.)
//!
//! *Tightness.* The report gives the examples in units of the minimax order.

use super::cor42_remark_partial::{Cost, judge};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::slope::Exponent;

const BLOCKS_OF_SIXTEEN: Mutant =
    Mutant::refuted("blocks_of_sixteen", "observes 16 attributes per block whatever d is");
const BATCHES_GROW_LIKE_ROOT_D: Mutant =
    Mutant::refuted("batches_grow_like_root_d", "lets the batch grow like the square root of d");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let cost = Cost {
        share: (!cx.commits(&BLOCKS_OF_SIXTEEN)).then_some(2),
        growing: cx.commits(&BATCHES_GROW_LIKE_ROOT_D),
        fault: None,
    };
    let sizes = (cx.size("largest_dim")?, cx.size("replicates")?);
    judge(cx, &cost, Exponent::AtMost(0.0), sizes)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-cor42-remark-full",
    place: "Corollary 4.2, second remark",
    sentence: "With s' - s of the order of d, the number of examples does not grow with d, but for \
               logarithms.",
    formula: r"s' - s = \Theta(d) \;\Rightarrow\; n = \tilde{O}\left( s_*^2 + s_*
               \frac{\sigma^2}{\varepsilon} \right)",
    design: "As ms18-cor42-remark-partial with s'-s = d/2, so d' = 2: the exponent in d of the examples \
             until eps is reached, divided by log(2dT/delta), is at most .15. Since s >= 1 and s' <= d, d' \
             is never less than 2: \"full information\" costs at least twice a full gradient.",
    standing: Standing::sound().with_errata(&[31]).practical().learns(),
    mutants: &[BLOCKS_OF_SIXTEEN, BATCHES_GROW_LIKE_ROOT_D],
    experiment,
};
