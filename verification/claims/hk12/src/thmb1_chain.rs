//! Appendix B.2: the last step of the proof of Theorem B.1.
//!
//! *As printed.* With `delta = 10^-5` and any eps: `L(w*) + delta eps <= 1 - 2(1-delta) eps`, the remaining
//! weight outside T is delta, so at most `100 delta K` other coordinates are as large as `eps/10`.
//!
//! *What holds.* `L(w*) = (1-eps)^2`, so the first says `eps^2 <= delta eps`: `eps <= delta`, that is `d` at
//! least `10^10`. Lemma B.5 leaves `1 - (1-delta)^2 <= 2 delta` outside T, hence `200 delta K` coordinates.
//! The theorem stands with "for eps below an absolute constant".

use lao_datasets::adversarial::hazan_koren::{Population, SignedRows};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{PropertyTally, exact_all};

/// What is asserted.
#[derive(Clone, Copy)]
struct Chain {
    /// Largest `eps/delta`.
    reach: f64,
    /// Weight outside T over delta.
    weight: f64,
    /// Large coordinates outside T over `delta K`.
    count: f64,
}

const CORRECT: Chain = Chain { reach: 1.0, weight: 2.0, count: 200.0 };

const FAULTS: [Fault<Chain>; 3] = [
    Fault::refuted("accuracy_above_delta", "eps up to 2 delta", Chain { reach: 2.0, ..CORRECT }),
    Fault::refuted("remaining_weight_delta", "weight delta outside T", Chain { weight: 1.0, ..CORRECT }),
    Fault::refuted("hundred_delta_k", "100 delta K coordinates", Chain { count: 100.0, ..CORRECT }),
];

fn judge(cx: &mut Context<'_>, chain: Chain) {
    let (mut step, mut weight, mut count) =
        (PropertyTally::new(), PropertyTally::new(), PropertyTally::new());
    for delta in [1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.3] {
        for share in [0.01, 0.1, 0.5, 0.9, 1.0] {
            let eps: f64 = share * chain.reach * delta;
            if eps > 0.5 {
                continue;
            }
            // Less 1 on both sides, over eps: eps - 2 + delta <= -2 + 2 delta. In units of delta.
            step.check(eps / delta + 1.0, 2.0);
            let outside = 1.0 - (1.0 - delta) * (1.0 - delta);
            weight.check(outside / delta, chain.weight);
            // Coordinates of size eps/10 that this weight pays for, over delta K = delta/eps^2.
            count.check(outside / (0.01 * eps * eps) / (delta / (eps * eps)), chain.count);
        }
    }
    cx.judge("L(w*) + delta eps <= 1 - 2(1-delta) eps", step.finish());
    cx.judge("weight outside T", weight.finish());
    cx.judge("large coordinates outside T", count.finish());
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    judge(cx, cx.arm(CORRECT, &FAULTS));
    // The step once with the production loss.
    let (eps, mut losses) = (0.1, Vec::new());
    let population = SignedRows::random(300, 100, &cx.seed("rows"))?;
    let least = population.squared_error(population.minimizer().view());
    losses.push((least - 1.0, eps * (eps - 2.0)));
    cx.judge("L(w*) of the production instance", exact_all(losses, 1e-12));
    Ok(())
}

/// The claim, corrected.
pub const CLAIM: Claim = Claim {
    id: "hk12-thmb1-chain",
    place: "Appendix B.2, end of the proof of Theorem B.1",
    sentence: "For eps <= delta, a delta eps-approximate predictor satisfies the hypothesis of Lemma B.5, \
               leaves weight at most 2 delta outside T, and has at most 200 delta K coordinates of size \
               eps/10 there.",
    formula: r"\varepsilon \le \delta \Rightarrow L(w^*) + \delta\varepsilon \le 1 -
               2(1-\delta)\varepsilon, \quad 1 - (1-\delta)^2 \le 2\delta, \quad \frac{100 \cdot
               2\delta}{\varepsilon^2} = 200 \delta K",
    design: "A grid of delta from 10^-5 to 0.3 and eps up to delta, and the vector with as many coordinates \
             eps/10 outside T as the weight allows; losses by the production instance.",
    standing: Standing::corrected(&[23, 24]),
    mutants: &mutants(&FAULTS),
    experiment,
};

const CONTROL: [Fault<Chain>; 1] =
    [Fault::held("corrected_form", "eps <= delta, 2 delta, 200 delta K", CORRECT)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(3);
    let printed = Chain { reach: 1e4, weight: 1.0, count: 100.0 };
    judge(cx, cx.arm(printed, &CONTROL));
    Ok(())
}

/// The claim, as printed.
pub const PRINTED: Claim = Claim {
    id: "hk12-thmb1-chain-printed",
    place: "Appendix B.2, end of the proof of Theorem B.1",
    sentence: "With delta = 10^-5 and any eps, a delta eps-approximate predictor satisfies the hypothesis of \
               Lemma B.5, leaves weight delta outside T, and has at most 100 delta K large coordinates \
               there.",
    formula: r"L(w^*) + \delta\varepsilon \le 1 - 2(1-\delta)\varepsilon, \quad \delta \cdot
               \frac{100}{\varepsilon^2} = 100 \delta K",
    design: "The grid of the corrected form, eps up to 10^4 delta (at delta = 10^-5, up to 0.1). The first \
             step says eps <= delta; with it, 2 delta and 200 the same judge accepts.",
    standing: Standing::printed(&[23, 24]),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
};
