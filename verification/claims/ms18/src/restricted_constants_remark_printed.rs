//! Section 2.3, Remark, as printed: off by a factor 2, and with the wrong quantifier.
//!
//! *Printed.* Assumptions 2 and 3 are equivalent to `u' Sigma u <= L_s |u|^2` and `u' Sigma u >= mu_s |u|^2`
//! for all 2s-sparse u, for all s in `[d]`; this is weaker than restricted isometry.
//!
//! *Why not.* The sharp constants are twice as large ([derivation](super::restricted_constants_remark)). It
//! matters: with L the printed constant, `eta = 1/(4L)` is `1/(2 L_s)`, which condition 2 of Proposition A.1
//! excludes. And centered signs in 16 attributes have restricted isometry at s = 4 but no positive `mu_s` at
//! s = 16.

use super::restricted_constants_remark::{Reading, judge};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;

const CONTROL: [Fault<bool>; 1] =
    [Fault::held("corrected_form", "twice the eigenvalues, at the s in use", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let corrected = cx.arm(false, &CONTROL);
    let (factor, instances) = (if corrected { 2.0 } else { 1.0 }, cx.size("instances")?);
    judge(cx, Reading { factor, orders: 2, all_s: !corrected }, instances)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-restricted-constants-remark-printed",
    place: "Section 2.3, Remark",
    sentence: "For least squares the restricted smoothness and strong convexity constants are the extreme \
               eigenvalues of Sigma over supports of size 2s, for all s up to d.",
    formula: r"\forall s \in [d]: \quad \sup_{\|\theta\|_0 \le 2s} \frac{\theta^\top \Sigma
               \theta}{\|\theta\|^2} \le L_s, \qquad \inf_{\|\theta\|_0 \le 2s} \frac{\theta^\top \Sigma
               \theta}{\|\theta\|^2} \ge \mu_s > 0",
    design: "Random populations of 4 to 10 attributes with all supports enumerated, extremal eigenvectors \
             split into two s-sparse vectors, the step size that follows, and 16 centered signs.",
    standing: Standing::printed(&[1, 2]),
    mutants: &mutants(&CONTROL),
    experiment,
};
