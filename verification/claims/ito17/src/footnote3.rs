//! Footnote 3: the maximum that turns the second terms of Theorems 6 and 7 into `d^16/k'^16`.
//!
//! *Why.* `log T - a T^b` is concave in `log T`, with derivative `1 - a b T^b`.
//!
//! *What follows.* With `C = k'(k'-1)/(d(d-1))`, Theorem 6 has `a` of order `C^2` and `b = 1/4`, Theorem 7
//! `a` of order C and, for the root of `T^(1/4)`, `b = 1/8`: either gives `C^-8`, that is `(d/k')^16`. The
//! third terms are of order `C^-4` only. What the order hides are powers of `1/|w*_i|`, `1/sigma_d` and
//! `1/phi_0`, none below 1.

use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::exact_all;

/// Logarithm of the maximum, as stated.
fn stated(a: f64, b: f64) -> f64 {
    (-(a * b).ln() - 1.0) / b
}

/// The largest value of a concave function between two points.
fn golden_section(f: impl Fn(f64) -> f64, mut lo: f64, mut hi: f64) -> f64 {
    let share = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..200 {
        let (left, right) = (hi - share * (hi - lo), lo + share * (hi - lo));
        if f(left) < f(right) { lo = left } else { hi = right }
    }
    f(0.5 * (lo + hi))
}

const NO_EXPONENTIAL_FACTOR: Mutant = Mutant::refuted("no_exponential_factor", "leaves out exp(-1/b)");
const ROOT_OF_THE_ROUNDS: Mutant = Mutant::refuted(
    "root_of_the_rounds",
    "takes the root in Theorem 7 for that of T, not of its fourth root",
);

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let no_exponential = cx.commits(&NO_EXPONENTIAL_FACTOR);
    let mut maxima = Vec::new();
    for a in [1e-6, 1e-3, 0.1, 1.0, 30.0] {
        for b in [0.125, 0.25, 0.5, 1.0, 2.0] {
            let top = -f64::ln(a * b) / b;
            let found = golden_section(|u| u - a * (b * u).exp(), top - 40.0, top + 5.0 / b);
            maxima.push((found, stated(a, b) + if no_exponential { 1.0 / b } else { 0.0 }));
        }
    }
    cx.judge("logarithm of the maximum", exact_all(maxima, 1e-9));

    let root = if cx.commits(&ROOT_OF_THE_ROUNDS) { 0.5 } else { 0.125 };
    let mut powers = Vec::new();
    for c in [1.0, 0.1, 1e-4] {
        let power = |f: &dyn Fn(f64) -> f64| (f(c / 2.0) - f(c)) / 2.0_f64.ln();
        powers.push((power(&|c| stated(c * c / 18_432.0, 0.25)), 8.0));
        powers.push((power(&|c| stated(c / 5832.0, root)), 8.0));
    }
    cx.judge("powers of 1/C in Theorems 6 and 7", exact_all(powers, 1e-9));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-footnote3",
    place: "Footnote 3",
    sentence: "The maximum of T exp(-a T^b) over T is (ab)^(-1/b) exp(-1/b), which makes the second terms of \
               Theorems 6 and 7 of order C^-8 at most.",
    formula: r"\max_{T>0} T \exp(-\alpha T^\beta) = (\alpha\beta)^{-1/\beta} \exp(-1/\beta)",
    design: "Golden-section search in log T over five values of each constant; the powers of C by halving \
             it.",
    standing: Standing::sound(),
    mutants: &[NO_EXPONENTIAL_FACTOR, ROOT_OF_THE_ROUNDS],
    experiment,
};
