//! Section 1: how many subsets the exhaustive algorithm enumerates.
//!
//! *Statement.* The paper says that the algorithm of Foster et al. (2016) "enumerates all d choose k'
//! possibilities". Its experts are the supports of comparators, the k-subsets; the `k'` attributes of an
//! example are a drawn support and a random set beside it. So there are d choose k: 15,504 for (d, k, k') =
//! (20, 5, 7), not 77,520. (As reconstructed here, from the comparators that its regret is against; the
//! original was not at hand.) Either number is exponential in general, which is what the paper argues from.

use lao_algorithms::Task;
use lao_algorithms::baselines::FkkParams;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::exact_all;

/// `n` over `k`.
fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product::<f64>().round()
}

fn judge(cx: &mut Context<'_>, of_the_budget: bool) -> anyhow::Result<()> {
    let mut counts = Vec::new();
    for (dim, k, budget) in [(6, 1, 3), (8, 2, 4), (10, 2, 4), (12, 3, 6), (20, 5, 7)] {
        let experts =
            FkkParams::from_theorem(&Task { dim, sparsity: k, budget, examples: 5000, ..Task::default() })
                .build()?
                .count();
        counts.push((experts as f64, binomial(dim, if of_the_budget { budget } else { k })));
    }
    cx.judge("experts of the production algorithm", exact_all(counts, 0.0));
    if cx.honest() {
        cx.note("5-subsets of 20 attributes", binomial(20, 5));
        cx.note("7-subsets of 20 attributes", binomial(20, 7));
    }
    Ok(())
}

const FAULTS: [Fault<bool>; 1] =
    [Fault::refuted("subsets_of_the_budget", "counts subsets of k' attributes", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    judge(cx, cx.arm(false, &FAULTS))
}

const CONTROL: [Fault<bool>; 1] = [Fault::held("corrected_form", "counts subsets of k attributes", false)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    judge(cx, cx.arm(true, &CONTROL))
}

/// With the size of the comparator.
pub const CLAIM: Claim = Claim {
    id: "ito17-fkk-subsets",
    place: "Section 1, on Foster et al.",
    sentence: "The exhaustive algorithm keeps a weight vector for each of the d choose k supports.",
    formula: r"N = \binom{d}{k}",
    design: "The number of experts of the production algorithm and the number it states before it is built, \
             against the binomial coefficients, at five shapes up to (d, k, k') = (20, 5, 7).",
    standing: Standing::corrected(&[24]),
    mutants: &mutants(&FAULTS),
    experiment,
};

/// With the size of the budget, as printed.
pub const PRINTED: Claim = Claim {
    id: "ito17-fkk-subsets-printed",
    sentence: "The exhaustive algorithm enumerates all d choose k' sets of attributes.",
    formula: r"N = \binom{d}{k'}",
    standing: Standing::printed(&[24]),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
    ..CLAIM
};
