//! Sections 1 and 2: the losses have a factor 1/2, and the sample sizes of Section 2.3 are the theorems
//! solved for m.
//!
//! *Statement.* `L_D(w) = E (w.x - y)^2/2` for Ridge and Lasso. The bounds `4 B^2 sqrt(2d/(km))` and
//! `4 B^2 sqrt(10 d log(2d)/(km))` are eps at `m = 32 B^4 d/(k eps^2)` and `m = 160 B^4 d log(2d)/(k eps^2)`:
//! the O() of Section 2.3 with their constants.
//!
//! *Why the step sizes fit.* The bounds are `(2B^2/eta + eta G^2 m/2)/m` and
//! `B (log(2d)/eta + 5 eta G^2 m)/m` with `G = 2B sqrt(2d/k)`, at the eta that balances the two terms: those
//! of the production parameters.

use lao_algorithms::hazan_koren::loss::half_square;
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
use lao_datasets::adversarial::hazan_koren::{Population, SignedRows};
use lao_kernels::SparseVector;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::sparse_normal;
use lao_verification_engine::judge::exact_all;
use rand::RngExt;

const SQUARE_WITHOUT_HALF: Mutant = Mutant::refuted("square_without_half", "the risk without its factor 1/2");
const STEP_SIZE_OF_ONE_DRAW: Mutant =
    Mutant::refuted("step_size_of_one_draw", "AERR's step size for one draw, whatever k");
const STEP_SIZE_AS_PRINTED: Mutant =
    Mutant::refuted("step_size_as_printed", "1/(4B^2) in the step size of AELR");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(3);
    let half = if cx.commits(&SQUARE_WITHOUT_HALF) { 2.0 } else { 1.0 };
    let risks = cx.all_trials("risks", cx.size("instances")?, |trial| {
        let rng = &mut trial.seed.child("algorithm").rng();
        let (dim, rows) = (9, rng.random_range(1..=9));
        let population = SignedRows::random(dim, rows, &trial.seed.child("data"))?;
        let w = sparse_normal(rng, dim, 5);
        let loss = |(i, sign): (u32, f64)| half_square(w[i as usize] * sign - 1.0);
        let mean = population.signs().iter().map(loss).sum::<f64>() / rows as f64;
        Ok((half * population.risk(SparseVector::from_dense(&w).view()), mean))
    })?;
    cx.judge("risk is the mean of half squares", exact_all(risks, 1e-12));

    let (mut ridge, mut lasso) = (Vec::new(), Vec::new());
    for (d, k) in [(2, 1), (10, 3), (784, 4), (784, 785)] {
        for radius in [0.2, 1.0, 5.0] {
            for eps in [0.3, 0.01] {
                let (df, kf) = (d as f64, k as f64);
                let square = 4.0 * radius * radius * 2.0 * df / kf;
                let m = (32.0 * f64::powi(radius, 4) * df / (kf * eps * eps)).ceil().max(1.0);
                let draws = if cx.commits(&STEP_SIZE_OF_ONE_DRAW) { 1 } else { k };
                let eta =
                    AerrParams::from_theorem(Horizon { dim: d, draws, radius, examples: m as u64 }).step_size;
                let bound = 4.0 * radius * radius * (2.0 * df / (kf * m)).sqrt();
                let two_terms = 2.0 * radius * radius / (eta * m) + 0.5 * eta * square;
                // In units of eps. The rounding of m is all that is left of the first difference.
                ridge.push((two_terms / bound, 1.0));
                ridge.push((2.0 * radius * radius / (eta * m) / bound, 0.5));

                let log = (2.0 * df).ln();
                let m = (160.0 * f64::powi(radius, 4) * df * log / (kf * eps * eps)).ceil().max(1.0);
                let mut eta =
                    AelrParams::from_theorem(Horizon { dim: d, draws: k, radius, examples: m as u64 })
                        .step_size;
                if cx.commits(&STEP_SIZE_AS_PRINTED) {
                    eta /= radius;
                }
                let bound = 4.0 * radius * radius * (10.0 * df * log / (kf * m)).sqrt();
                let two_terms = radius * (log / (eta * m) + 5.0 * eta * square);
                lasso.push((two_terms / bound, 1.0));
                lasso.push((radius * log / (eta * m) / bound, 0.5));
            }
        }
    }
    cx.judge("Ridge: the step size balances the bound", exact_all(ridge, 1e-12));
    cx.judge("Lasso: the step size balances the bound", exact_all(lasso, 1e-12));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-regularity",
    place: "Sections 1, 2.1 and 2.3",
    sentence: "The square loss has a factor 1/2, and the step sizes of the two theorems balance the two \
               terms of their bounds, whose solution for m gives the sample sizes of Section 2.3.",
    formula: r"L_{\mathcal{D}}(w) = E\left[ \tfrac12 (w \cdot x - y)^2 \right], \quad m = \frac{32 B^4
               d}{k \varepsilon^2}, \; m = \frac{160 B^4 d \log(2d)}{k \varepsilon^2}",
    design: "The exact risk of a production population against the mean loss over its finite law; both step \
             sizes over a grid of d from 2 to 784, B from 0.2 to 5, k and m.",
    standing: Standing::corrected(&[6]),
    mutants: &[SQUARE_WITHOUT_HALF, STEP_SIZE_OF_ONE_DRAW, STEP_SIZE_AS_PRINTED],
    experiment,
};
