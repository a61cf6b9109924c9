//! Footnote 3: the maximum that turns the second terms of Theorems 6 and 7 into `d^16/k'^16`.
//!
//! *Why.* `log T - a T^b` is concave in `log T`, with derivative `1 - a b T^b`.
//!
//! *What follows.* With `C = k'(k'-1)/(d(d-1))`, Theorem 6 has `a` of order `C^2` and `b = 1/4`, Theorem 7
//! `a` of order C and, for the root of `T^(1/4)`, `b = 1/8`: either gives `C^-8`, that is `(d/k')^16`. The
//! third terms are of order `C^-4` only. What `d^16/k'^16` hides are further powers (errata 27 and 28): up to
//! constants the maximum is `(C |w*_i| sigma_d)^-8` in Theorem 6, which with `sigma_d^2 <= 1/d` is
//! `d^20/k'^16` at best, and `(k/(C |w*_i|^2 phi_0^2))^8` in Theorem 7, with a power `k^8`.

use lao_verification_engine::claim::{Claim, Mutant, Shown, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{exact, exact_all};

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
    "takes the roots of the theorems for those of T, not of its fourth root",
);

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
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
    // The a of Theorem 7 is C |w|^2 phi_0^2/(5832 k), that of Theorem 6 C^2 |w|^2 sigma_d^2/18432.
    let doubled = |f: &dyn Fn(f64) -> f64| (f(2.0) - f(1.0)) / 2.0_f64.ln();
    let of_k = doubled(&|k| stated(1e-3 / (5832.0 * k), root));
    let of_sigma = doubled(&|inverse| stated(1e-3 / (18_432.0 * inverse * inverse), 2.0 * root));
    cx.judge("power of k in Theorem 7", exact(of_k, 8.0, 1e-9));
    cx.judge("power of 1/sigma_d in Theorem 6", exact(of_sigma, 8.0, 1e-9));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-footnote3",
    place: "Footnote 3",
    sentence: "The maximum of T exp(-a T^b) over T is (ab)^(-1/b) exp(-1/b), which makes the second terms of \
               Theorems 6 and 7 of order C^-8, times sigma_d^-8 in Theorem 6 and k^8 in Theorem 7.",
    formula: r"\max_{T>0} T \exp(-\alpha T^\beta) = (\alpha\beta)^{-1/\beta} \exp(-1/\beta)",
    design: "Golden-section search in log T over five values of each constant; the powers of C by halving \
             it.",
    standing: Standing::sound().with_errata(&[27, 28]).showing(&[
        Shown { erratum: 27, cell: "power of k in Theorem 7" },
        Shown { erratum: 28, cell: "power of 1/sigma_d in Theorem 6" },
    ]),
    mutants: &[NO_EXPONENTIAL_FACTOR, ROOT_OF_THE_ROUNDS],
    experiment,
};
