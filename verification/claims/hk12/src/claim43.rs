//! Claim 4.3: the derivative of rho is the error function, with its power series.
//!
//! *Why.* `(x erf x)' = erf x + x erf' x`, and `x erf' x = (2/sqrt(pi)) x e^(-x^2)` cancels the derivative of
//! `e^(-x^2)/sqrt(pi)`. Integrate the series of `e^(-x^2)`.

use lao_algorithms::hazan_koren::gen_est::erf_coefficient;
use lao_algorithms::hazan_koren::loss::{ln_erf_coefficient, rho, smoothed, smoothed_derivative};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::exact_all;

const DIVISOR_LOST: Mutant = Mutant::refuted("divisor_lost", "coefficients without the divisor 2n+1");
const INDEX_SHIFTED: Mutant = Mutant::refuted("index_shifted", "takes a_(n+1) for a_n");
const SMOOTHING_FORGOTTEN: Mutant =
    Mutant::refuted("smoothing_forgotten", "the derivative of the smoothed loss with eps = 1");
const SIGN_LOST: Mutant = Mutant::refuted("sign_lost", "coefficients without the factor (-1)^n");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let (integrand, unsigned) = (cx.commits(&DIVISOR_LOST), cx.commits(&SIGN_LOST));
    let (shift, plain) = (u32::from(cx.commits(&INDEX_SHIFTED)), cx.commits(&SMOOTHING_FORGOTTEN));
    let coefficient = |n: u32| match erf_coefficient(n + shift) {
        a if integrand => f64::from(n) * a,
        a if unsigned => a.abs(),
        a => a,
    };
    // The terms of odd order alternate and first grow: in pairs, smallest first, nothing is lost at |x| <= 2.
    let series =
        |x: f64| (0..60).rev().map(|m| coefficient(2 * m + 1) * x.powi(2 * m as i32 + 1)).sum::<f64>();
    let grid = || (-200..=200).map(|i| f64::from(i) * 0.01);
    let secant = |f: &dyn Fn(f64) -> f64, x: f64| (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;

    cx.judge("60 terms are erf", exact_all(grid().map(|x| (series(x), libm::erf(x))), 1e-12));
    cx.judge("60 terms are the slope of rho", exact_all(grid().map(|x| (series(x), secant(&rho, x))), 1e-9));
    let slopes = grid().flat_map(|z| {
        [(0.0, 1.0), (0.3, 0.5), (1.0, 0.4)].map(|(delta, eps)| {
            let slope = smoothed_derivative(z, delta, if plain { 1.0 } else { eps });
            (slope, secant(&|z| smoothed(z, delta, eps), z))
        })
    });
    cx.judge("slope of the smoothed loss", exact_all(slopes, 1e-8));
    let logs = (0..150).map(|n| (coefficient(2 * n + 1).abs().ln(), ln_erf_coefficient(2 * n + 1)));
    cx.judge("coefficients and their logarithms", exact_all(logs, 1e-12));
    cx.judge("no even terms", exact_all((0..50).map(|n| (coefficient(2 * n), 0.0)), 0.0));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-claim43",
    place: "Claim 4.3, display (7)",
    sentence: "The derivative of rho is the error function, whose series has the coefficients of display \
               (7).",
    formula: r"\rho'(x) = \operatorname{erf}(x) = \sum_{n=0}^\infty a_{2n+1} x^{2n+1}, \quad a_{2n+1} =
               \frac{2}{\sqrt{\pi}} \frac{(-1)^n}{n! (2n+1)}",
    design: "Sixty terms of the series with the coefficients that production GenEst uses, for |x| up to 2, \
             against the error function and against central differences of the production rho; the \
             coefficients against their logarithms, which exact moments use.",
    standing: Standing::sound(),
    mutants: &[DIVISOR_LOST, SIGN_LOST, INDEX_SHIFTED, SMOOTHING_FORGOTTEN],
    experiment,
};
