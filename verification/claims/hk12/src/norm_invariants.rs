//! The iterates of AERR and AELR stay in their balls.
//!
//! *Why.* A projection, and an average of points of a convex set; `w = B (z+ - z-)/(|z+|_1 + |z-|_1)` with
//! `z+-` positive. On a computer `z+- = exp(+-u)` with `|u|` growing by up to 1 in a step, so the
//! exponentials must not be formed as they stand, and the strict inequality may be lost to rounding once
//! `|u|` is beyond 17.

use crate::setup::problem::Problem;
use crate::setup::rounds;
use crate::setup::steps::aelr_along;
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
use lao_observation::{Budget, Learner, Seed};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{norm2, sup_norm, tally};
use lao_verification_engine::judge::{PropertyTally, exact};
use rand::RngExt;

fn one_norm(w: &[f64]) -> f64 {
    w.iter().map(|w| w.abs()).sum()
}

/// What AELR makes of its exponents.
type Read = fn(&[f64], f64) -> Vec<f64>;

/// Exponentials as they stand.
fn overflowing(u: &[f64], radius: f64) -> Vec<f64> {
    let total: f64 = u.iter().map(|u| u.exp() + (-u).exp()).sum();
    u.iter().map(|u| radius * (u.exp() - (-u).exp()) / total).collect()
}

/// Divided by the sum at the start.
fn unnormalized(u: &[f64], radius: f64) -> Vec<f64> {
    let total = 2.0 * u.len() as f64;
    u.iter().map(|u| radius * (u.exp() - (-u).exp()) / total).collect()
}

/// The norms of one run of each method over B.
fn runs(arm: Arm, seed: &Seed, tallies: &mut [PropertyTally; 5]) -> anyhow::Result<()> {
    let Arm { too_large, last, .. } = arm;
    let [ridge, ridge_output, lasso, inside, lasso_output] = tallies;
    let rng = &mut seed.child("setting").rng();
    let (dim, draws) = ([4, 10, 30][rng.random_range(0..3)], rng.random_range(1..4));
    let (radius, examples) = ([0.2, 1.0, 5.0][rng.random_range(0..3)], 200);
    let factor = 10f64.powf(rng.random_range(-1.0..2.0));
    let budget = Budget::PerExample(draws + 1);

    let problem = Problem::sphere(dim, radius);
    let params = AerrParams::from_theorem(Horizon { dim, draws, radius: too_large * radius, examples });
    let learner = AerrParams { step_size: factor * params.step_size, ..params }.build()?;
    let mut end = Vec::new();
    let output = problem.learn_watched(learner, budget, examples, seed, |learner| {
        end = learner.iterate();
        ridge.check(norm2(&end).sqrt() / radius, 1.0);
    })?;
    let output = if last { Some(end) } else { output };
    ridge_output.check(output.map_or(f64::INFINITY, |w| norm2(&w).sqrt() / radius), 1.0);

    let problem = if rng.random() { Problem::axis(dim, radius) } else { Problem::signs(dim, radius)? };
    let params = AelrParams::from_theorem(Horizon { dim, draws, radius: too_large * radius, examples });
    let learner = AelrParams { step_size: factor * params.step_size, ..params }.build()?;
    let output = problem.learn_watched(learner, budget, examples, seed, |learner| {
        let norm = one_norm(&learner.iterate()) / radius;
        lasso.check(norm, 1.0);
        // Where the difference is above rounding, it is there. Every step changes u by at most 1.
        if learner.updates() <= 16 {
            inside.check(if norm < 1.0 { 0.0 } else { f64::INFINITY }, 0.0);
        }
    })?;
    lasso_output.check(output.map_or(f64::INFINITY, |w| one_norm(&w) / radius), 1.0);
    Ok(())
}

/// AELR sent along one gradient and back: the norm, whether all was finite, and the ends.
fn there_and_back(steps: u64, arm: Arm) -> anyhow::Result<(PropertyTally, f64, f64)> {
    let (mut learner, mut norms) = (
        AelrParams {
            step_size: 0.5,
            ..AelrParams::from_theorem(Horizon { dim: 3, draws: 3, radius: 2.0, examples: 1 })
        }
        .build()?,
        PropertyTally::new(),
    );
    let (mut u, mut far) = ([0.0; 3], 0.0);
    for t in 0..2 * steps {
        let direction = if t < steps { -1.0 } else { 1.0 };
        // Beyond the clip; a third of it; nothing.
        let g = [4.0 * direction, -2.0 / 3.0 * direction, 0.0];
        let w = match arm.read {
            None => {
                aelr_along(&mut learner, &g)?;
                learner.iterate()
            }
            Some(read) => {
                let step = |u: f64, g: f64| (u - 0.5 * g.clamp(-2.0, 2.0)).clamp(-arm.limit, arm.limit);
                u.iter_mut().zip(g).for_each(|(u, g)| *u = step(*u, g));
                read(&u, 2.0)
            }
        };
        let norm = one_norm(&w) / 2.0;
        norms.check(if norm.is_finite() { norm } else { f64::INFINITY }, 1.0);
        if t + 1 == steps {
            far = w[0] / 2.0;
        }
        if t + 1 == 2 * steps {
            return Ok((norms, far, sup_norm(&w) / 2.0));
        }
    }
    Ok((norms, far, 0.0))
}

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    /// The learners' radius over B.
    too_large: f64,
    /// Takes the last iterate of AERR for its output.
    last: bool,
    read: Option<Read>,
    /// The largest exponent, where `read` is written out.
    limit: f64,
}

const SOUND: Arm = Arm { too_large: 1.0, last: false, read: None, limit: f64::INFINITY };

const FAULTS: [Fault<Arm>; 5] = [
    Fault::refuted("ball_too_large", "learners with a ball of 1.5 B", Arm { too_large: 1.5, ..SOUND }),
    Fault::refuted(
        "exponentials_overflow",
        "forms exp(u) without taking out the largest",
        Arm { read: Some(overflowing), ..SOUND },
    ),
    Fault::refuted(
        "normalizes_once",
        "divides by 2d, the sum of the weights at the start",
        Arm { read: Some(unnormalized), ..SOUND },
    ),
    Fault::refuted(
        "last_iterate_of_a_large_ball",
        "learners with a ball of 1.5 B, and AERR's last iterate as its output",
        Arm { too_large: 1.5, last: true, ..SOUND },
    ),
    Fault::refuted(
        "exponents_saturate",
        "keeps exponents within [-5, 5]",
        Arm { read: Some(rounds::predictor), limit: 5.0, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(8);
    let arm = cx.arm(SOUND, &FAULTS);
    let all = tally(cx, "runs", cx.size("runs")?, |trial, tallies| runs(arm, &trial.seed, tallies))?;
    let names = [
        "AERR: iterates",
        "AERR: output",
        "AELR: iterates",
        "AELR: strictly inside while rounding allows",
        "AELR: output",
    ];
    for (name, tally) in names.iter().zip(all) {
        cx.judge(name, tally.finish());
    }
    let first =
        AelrParams::from_theorem(Horizon { dim: 5, draws: 2, radius: 1.0, examples: 10 }).build()?.iterate();
    anyhow::ensure!(one_norm(&first) == 0.0, "AELR starts at {first:?}");
    let (norms, far, near) = there_and_back(cx.size("steps")?, arm)?;
    cx.judge("AELR far out: finite, within the ball", norms.finish());
    if far.is_finite() && near.is_finite() {
        cx.judge("AELR far out: at the vertex", exact(far, 1.0, 1e-12));
        cx.judge("AELR back at 0", exact(near, 0.0, 1e-6));
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-norm-invariants",
    place: "Sections 3.1 and 3.2, Algorithms 1 and 2",
    sentence: "All iterates of AERR and its output have l2 norm at most B, those of AELR l1 norm below B, \
               however long the run.",
    formula: r"\|w_t\|_2, \|\bar{w}\|_2 \le B \text{ (AERR)}, \qquad \|w_t\|_1, \|\bar{w}\|_1 < B \text{
               (AELR)}",
    design: "Production learners through the session on populations at step sizes from a tenth of the \
             theorem's to 100 times it. Then AELR sent 10^5 to 10^6 clipped steps in one direction and back: \
             finite all the way, near the vertex at the far end, near 0 after the return.",
    standing: Standing::sound().with_errata(&[7]),
    mutants: &mutants(&FAULTS),
    experiment,
};
