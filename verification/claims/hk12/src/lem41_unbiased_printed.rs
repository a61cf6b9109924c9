//! Lemma 4.1, first part, with the hypothesis that is printed: analytic on the real line, series convergent
//! up to 1.
//!
//! *Why not.* `f'(z) = 1/(1 + z^2/4)` is such a function; its series `sum_m (-1)^m (z/2)^(2m)` converges for
//! `|z| < 2` only. At `theta = 3`, without noise, the term of `n = 2m` is `(-1)^m (9/4)^m`: the estimate has
//! no mean at all. The lemma needs `f'` entire, or a radius of convergence above `E |theta~|` and `2B`
//! (erratum 12).

use lao_algorithms::hazan_koren::gen_est::{GenEst, GenEstDraws};
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::exact;

/// Coefficients of `1/(1 + z^2/4)`.
fn coefficient(n: u32) -> f64 {
    match n % 4 {
        0 => 0.5f64.powi(n as i32),
        2 => -(0.5f64.powi(n as i32)),
        _ => 0.0,
    }
}

const CONTROL: [Fault<f64>; 1] =
    [Fault::held("within_the_radius", "theta = 1, within the radius of convergence", 1.0)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let theta = cx.arm(3.0, &CONTROL);
    let estimate = GenEst::new(4);
    let term = |n: u32| {
        let attributes = vec![0; estimate.reads(coefficient, n) as usize];
        let draws = GenEstDraws { factors: n, attributes };
        0.5f64.powi(n as i32 + 1) * estimate.value(coefficient, &draws, |_| theta, 0.0)
    };
    let sum: f64 = (0..=60).rev().map(term).sum();
    cx.note("sum over n <= 60", sum);
    cx.judge("sum over n <= 60", exact(sum, 1.0 / (1.0 + theta * theta / 4.0), 1e-9));
    Ok(())
}

/// The claim.
pub const PRINTED: Claim = Claim {
    id: "hk12-lem41-unbiased-printed",
    place: "Lemma 4.1",
    sentence: "GenEst is unbiased whenever f' is analytic on the real line and its series converges \
               absolutely for |z| <= 1.",
    formula: r"\sum_n |a_n| < \infty \Rightarrow \mathbb{E}\left[2^{n+1} a_n \tilde\theta_1 \cdots
               \tilde\theta_n\right] = f'(\theta) \quad (|\theta| \le 2B)",
    design: "One attribute, so that every factor is theta itself; the production estimator, summed over n <= \
             60 with the probabilities of n, against f'(theta) at theta = 3.",
    // ((9/4)^31 + 1)/(13/4) = 2.5455e10, over 1 + 4/13.
    standing: Standing::printed(&[12])
        .violated(&[Violation { cell: "sum over n <= 60", at_least: 1.946e10, at_most: 1.947e10 }])
        .showing(&[Shown { erratum: 12, cell: "sum over n <= 60" }]),
    mutants: &mutants(&CONTROL),
    experiment,
};
