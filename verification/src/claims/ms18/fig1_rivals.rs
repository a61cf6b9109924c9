//! Figure 1, the rivals: RDA and the Dantzig selector.
//!
//! *Statement.* On the data of Figure 1 both RDA (Algorithm 1 of Ito et al. 2017) and the Dantzig method of Kale et al. 2017
//! end with a larger test error than Exploration; RDA is ahead at first.
//!
//! *Not run.* Neither method is built yet. The comparison comes with them: tuned on a grid of the same size, sign test over
//! pairs, smaller dimensions (d = 100, s* = 5, s' = 10) in the quick tier.

use crate::claim::{Claim, Expected, Form, Mutant, Regime};
use crate::context::Context;

const REASON: &str = "RDA and the Dantzig selector are not built yet";

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.not_run(REASON)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-fig1-rivals",
    place: "Section 6, Figure 1: RDA and Dantzig",
    sentence: "On the synthetic data of Figure 1 Exploration has a smaller test error than RDA and than Dantzig.",
    formula: r"\mathrm{MSE}(\theta_{\mathrm{Exploration}}) < \min\left\{ \mathrm{MSE}(\theta_{\mathrm{RDA}}), \mathrm{MSE}(\theta_{\mathrm{Dantzig}}) \right\}",
    design: "As for Hybrid and Exploration, with rivals tuned on grids of the same size.",
    form: Form::Sound,
    regime: Regime::Practical,
    expected: Expected::NotRun(REASON),
    open: false,
    errata: &[30],
    mutants: &[Mutant::refuted("labels_swapped", "calls each rival Exploration and Exploration the rival")],
    experiment,
};
