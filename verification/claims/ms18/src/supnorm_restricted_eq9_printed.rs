//! Supplement B, display (9), as printed: false.
//!
//! *Printed.* With probability at least `1 - 2 delta`, `|g_S - grad_S|^2 <= [4 s(s+s*) R^4
//! log(2s/delta)|v|^2 + 4 sigma^2 s R^2 log(s/delta)]/B`.
//!
//! *Counterexample.* At `theta = theta*` with identical sign attributes and normal noise all s errors are the
//! same `(2 sigma/sqrt(B)) Z`, Z standard normal, so the bound fails exactly when `Z^2 > log(s/delta)`: with
//! probability `2 Q(sqrt(log(s/delta)))`, Q the upper tail. That is .0319 for s = 1, delta = .01, where .02
//! is allowed. (For independent attributes and s >= 2 the sum of s squares is concentrated enough that the
//! printed form happens to hold.)
//!
//! *Control.* The same two judges must accept the corrected bound, `16` and `log(2s/delta)` in both terms:
//! the event is then `Z^2 > 4 log(2s/delta)`.

use super::supnorm_restricted_eq9::exploitation_gradient;
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{PropertyTally, prob};
use lao_verification_engine::special::normal_sf;

/// `s` and `delta` of the exact counterexamples.
const CASES: [(f64, f64); 6] =
    [(1.0, 0.01), (1.0, 0.001), (2.0, 0.01), (4.0, 0.001), (16.0, 1e-4), (64.0, 1e-6)];

const CONTROL: [Fault<bool>; 1] =
    [Fault::held("corrected_form", "16 in place of 4, log(2s/delta) in both terms", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    const DELTA: f64 = 0.001;
    const PER_TRIAL: u64 = 500;
    let corrected = cx.arm(false, &CONTROL);
    // The squared normal that the bound allows.
    let allowed = |s: f64, delta: f64| {
        if corrected { 4.0 * (2.0 * s / delta).ln() } else { (s / delta).ln() }
    };
    let mut exact = PropertyTally::new();
    for (s, delta) in CASES {
        let failure = 2.0 * normal_sf(allowed(s, delta).sqrt());
        exact.check(failure, 2.0 * delta);
        cx.note(
            &format!("s = {s}, delta = {delta}: failure probability over 2 delta"),
            failure / (2.0 * delta),
        );
    }
    cx.split(2);
    cx.judge("identical attributes, normal noise, by formula", exact.finish());

    let theta = SparseVector::new(1, vec![0], vec![1.0])?;
    let draws = cx.size("draws")?;
    let failures = cx.all_trials("s = 1", draws.div_ceil(PER_TRIAL), |trial| {
        let seed = trial.seed.child("data");
        let mut source = Virtual::new(Rademacher::new(1)?, theta.clone(), Noise::Gaussian(1.0), &seed)?;
        let mut failures = 0;
        for _ in 0..PER_TRIAL {
            let (g, back) = exploitation_gradient(source, &theta, 1)?;
            source = back;
            // One example: g = -2 xi x, and the bound is 4 times what the squared normal may be.
            failures += u64::from(g[0] * g[0] > 4.0 * allowed(1.0, DELTA));
        }
        Ok(failures)
    })?;
    let n = failures.len() as u64 * PER_TRIAL;
    cx.judge(
        "s = 1, delta = .001, frequency",
        prob::fixed(2.0 * DELTA, cx.alpha(), failures.iter().sum(), n),
    );
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-supnorm-restricted-eq9-printed",
    place: "Supplement B, display (9), as printed",
    sentence: "On a fixed support the squared error of a batch gradient exceeds [4 s(s+s*) R^4 log(2s/delta) \
               |v|^2 + 4 sigma^2 s R^2 log(s/delta)]/B with probability at most 2 delta.",
    formula: r"P\left( \|g_t|_S - \nabla_S \mathcal{L}(\theta_{t-1})\|^2 \le \frac{4 s(s+s_*) R_\infty^4
               \log(2s/\delta) \|\theta_{t-1} - \theta_*\|^2 + 4 \sigma^2 s R_\infty^2
               \log(s/\delta)}{B} \right) \ge 1 - 2\delta",
    design: "The failure probabilities by formula, and, for s = 1 and delta = .001, their frequency in the \
             gradients of the production Exploitation (.0086 expected, .002 allowed).",
    standing: Standing::printed(&[18]).literal(),
    mutants: &mutants(&CONTROL),
    experiment,
};
