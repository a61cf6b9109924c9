//! Corollary 4.5 as printed: its last term has the wrong dimension.
//!
//! *Printed.* `n = O~( .. + (kappa R^2/mu) min{ kappa^2 s/(mu r_min^2), d s/(s'-s) } sigma^2/eps )`.
//!
//! *Counterexample.* Measure the coefficients in another unit: `theta* -> l theta*`, `sigma -> l sigma`,
//! `eps -> l^2 eps` changes labels and nothing else, so no method needs more or fewer examples. The printed
//! term shrinks like `l^{-2}`; for large l it falls below `s* sigma^2/eps`, which full information needs at
//! least. The source is the last line of the proof of Theorem 4.4, where
//! `log(gap_0/(r^2 mu)) + log(gap_0 (s'-s)/(a^2 d eps))` becomes the logarithm of a product with one `gap_0`
//! left out.

use super::cor45_dimension::{Last, grid, units};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::PropertyTally;

const CONTROL: [Fault<Last>; 1] =
    [Fault::held("corrected_form", "kappa^2 s gap_0/(mu r_min^2)", Last::Corrected)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let last = cx.arm(Last::Printed, &CONTROL);
    cx.split(2);
    units(cx, last);
    let mut tally = PropertyTally::new();
    for cell in grid().filter(|cell| cell.sigma > 0.0) {
        for l in [1.0, 1e3, 1e6] {
            let cell = cell.rescaled(l);
            // In the unit of a single example: s* sigma^2 R^2/(mu eps) / 1000, s* = 2.
            let least = 2.0 * (cell.sigma * cell.bound).powi(2) / (cell.mu * cell.eps) / 1e3;
            tally.check(least, cell.terms(last)[2]);
        }
    }
    cx.judge("the last term is not below a thousandth of s* sigma^2/eps", tally.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-cor45-dimension-printed",
    place: "Corollary 4.5 and Table 1, as printed",
    sentence: "The last term of Hybrid's sample complexity is (kappa R^2/mu) min{kappa^2 s/(mu r_min^2), d \
               s/(s'-s)} sigma^2/eps.",
    formula: r"n = \tilde{O}\left( \cdots + \frac{\kappa_s R_\infty^2}{\mu_s} \left( \frac{\kappa_s^2
               s}{\mu_s r_{\min}^2} \wedge \frac{d s}{s'-s} \right) \frac{\sigma^2}{\varepsilon} \right)",
    design: "The printed terms and the literal counts on the grid of ms18-cor45-dimension in three units: \
             are they free of the unit, and is the printed last term, once the noise decides, at least a \
             thousandth of s* sigma^2/eps?",
    standing: Standing::printed(&[26, 27]),
    mutants: &mutants(&CONTROL),
    experiment,
};
