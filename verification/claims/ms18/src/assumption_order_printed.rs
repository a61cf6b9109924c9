//! Remark 2.3 as printed: with "for all s in \[d\]" Assumption 3 is not weaker than restricted isometry.
//!
//! *Printed.* Assumption 3 asks for a `mu_s > 0` for every s in \[d\]; the remark says that this is weaker
//! than restricted isometry, and Section 5 that it is much weaker than linear independence of the features.
//!
//! *Counterexample.* From `2s >= d` on the restriction is void, so the assumption forces `Sigma > 0`: it
//! *implies* linear independence. Centered signs in 16 dimensions have restricted isometry of order 8, all
//! their 8-sparse eigenvalues lying in [1/2, 1], but `Sigma = I - 11'/16` is singular.

use lao_datasets::synthetic::{Centered, Design};
use lao_kernels::RestrictedSpectrum;
use lao_verification_engine::claim::{Beyond, Claim, Fault, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{PropertyTally, exact_all};

const DIM: usize = 16;
/// "Positive": rounding leaves 1e-15 of a zero eigenvalue.
const POSITIVE: f64 = 1e-6;

const CONTROL: [Fault<usize>; 1] = [Fault::held("corrected_form", "for the s in use, here at most 4", 4)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let design = Centered::new(DIM)?;
    let in_use = cx.arm(DIM, &CONTROL);
    let mut tally = PropertyTally::new();
    for s in 1..=in_use {
        tally.check(POSITIVE, design.restricted((2 * s).min(DIM)).smallest);
    }
    let covariance = design.covariance()?;
    let mut pairs = Vec::new();
    for order in [2, 4, 8, 16] {
        let spectrum = RestrictedSpectrum::of(&covariance, DIM, order)?;
        let stated = design.restricted(order);
        pairs.extend([(spectrum.smallest, stated.smallest), (spectrum.largest, stated.largest)]);
    }
    cx.split(2);
    cx.judge("mu_s is positive", tally.finish());
    cx.judge("the stated eigenvalues are those of the covariance", exact_all(pairs, 1e-12));
    cx.note("isometry constant of order 8, in the best unit", {
        let eight = design.restricted(8);
        (eight.largest - eight.smallest) / (eight.largest + eight.smallest)
    });
    Ok(())
}

/// As printed.
pub const PRINTED: Claim = Claim {
    id: "ms18-assumption-order-printed",
    place: "Section 2.3, Assumption 3 and the remark, with their quantifier",
    sentence: "A population with restricted isometry of order 8 has, for every s in [d], a positive constant \
               of restricted strong convexity.",
    formula: r"\forall s \in [d], \; \exists \mu_s > 0: \; \inf_{\|u\|_0 \le 2s} \frac{u^\top \Sigma
               u}{\|u\|^2} \ge \frac{\mu_s}{2}",
    design: "The smallest 2s-sparse eigenvalue for every s, by the design's formula, and by enumeration at \
             orders 2, 4, 8 and 16.",
    standing: Standing::printed(&[2])
        .beyond_mutants(&[Beyond {
            cells: "the stated eigenvalues",
            why: "the mutants of ms18-assumption-order refute it on the same design",
        }])
        .violated(&VIOLATIONS)
        .showing(&SHOWN),
    mutants: &mutants(&CONTROL),
    experiment,
};

/// The smallest eigenvalue is 0.
const VIOLATIONS: [Violation; 1] =
    [Violation { cell: "mu_s is positive", at_least: f64::INFINITY, at_most: f64::INFINITY }];

/// Which erratum each cell shows alone.
const SHOWN: [Shown; 1] = [Shown { erratum: 2, cell: "mu_s is positive" }];
