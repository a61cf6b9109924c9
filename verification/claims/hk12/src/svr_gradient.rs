//! Section 4.2: the gradient of the smoothed loss of one example.
//!
//! *Why.* The eps of the inner derivative and that in front of rho cancel, so x is not divided.

use lao_algorithms::hazan_koren::loss::{smoothed, smoothed_derivative};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, sparse_normal};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;

const DIM: usize = 4;

const MULTIPLIES_BY_SCALED_X: Mutant = Mutant::refuted("multiplies_by_scaled_x", "x' in place of x");
const LABELS_NOT_SCALED: Mutant =
    Mutant::refuted("labels_not_scaled", "w.x' against y +- delta, not divided by eps");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let (scales_x, plain_labels) = (cx.commits(&MULTIPLIES_BY_SCALED_X), cx.commits(&LABELS_NOT_SCALED));
    let instances = cx.all_trials("instances", cx.size("instances")?, |trial| {
        let rng = &mut trial.seed.child("data").rng();
        let (w, x) = (sparse_normal(rng, DIM, 3), sparse_normal(rng, DIM, DIM));
        let (y, delta, eps) =
            (rng.random_range(-1.0..1.0), rng.random_range(0.0..1.0), rng.random_range(0.3..2.0));
        let scale = if plain_labels { 1.0 } else { eps };
        let inner = dot(&w, &x) / eps;
        let slope = 0.5 * (libm::erf(inner - (y + delta) / scale) + libm::erf(inner - (y - delta) / scale));
        let formula = x.iter().map(|x| slope * x / if scales_x { eps } else { 1.0 });
        let secant = |i: usize| {
            let at = |step: f64| {
                let mut w = w.clone();
                w[i] += step;
                smoothed(dot(&w, &x) - y, delta, eps)
            };
            (at(1e-5) - at(-1e-5)) / 2e-5
        };
        let closed = smoothed_derivative(dot(&w, &x) - y, delta, eps);
        Ok(formula.enumerate().map(|(i, g)| [(g, secant(i)), (g, closed * x[i])]).collect::<Vec<_>>())
    })?;
    let pairs = |kind: usize| instances.iter().flatten().map(move |pair| pair[kind]);
    cx.judge("against differences of the loss", exact_all(pairs(0), 1e-6));
    cx.judge("against the production derivative", exact_all(pairs(1), 1e-12));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-svr-gradient",
    place: "Section 4.2, before Theorem 4.4",
    sentence: "The gradient of the smoothed loss is half the sum of two error functions, at the scaled \
               example and the two shifted and scaled labels, times the example itself.",
    formula: r"\nabla \ell^\varepsilon(w) = \frac12 \left[ \rho'(w \cdot x' - y^+) + \rho'(w \cdot x' -
               y^-) \right] x, \quad x' = \frac{x}{\varepsilon}, \; y^\pm = \frac{y \pm
               \delta}{\varepsilon}",
    design: "Random w, x, y, delta, eps in four dimensions: the formula against central differences of the \
             production loss in every coordinate, and against the production derivative.",
    standing: Standing::sound(),
    mutants: &[MULTIPLIES_BY_SCALED_X, LABELS_NOT_SCALED],
    experiment,
};
