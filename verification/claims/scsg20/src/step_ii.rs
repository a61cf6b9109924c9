//! Step (ii) of the last part of the proof: the value at the snapshot.
//!
//! *Why.* `f(x) - f(x*) <= <g*, x - x*> + (L/2)|x - x*|^2`, and Young. Sharp: equality for isotropic f at
//! `x = x* + g*/L`.

use super::step_i::Pair;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{SmallSum, minus, norm2, predictor, tally};
use lao_verification_engine::judge::PropertyTally;

const PER_TRIAL: u64 = 100;

fn check(pair: &Pair, (distance_share, share): (f64, f64), tally: &mut PropertyTally) -> anyhow::Result<()> {
    let mut sum = pair.small.production()?;
    let gap = sum.objective(&predictor(&pair.x))? - sum.objective(&predictor(&pair.star))?;
    let l = pair.small.constants()?.1;
    let rhs = share * pair.residual() / (2.0 * l) + distance_share * l * norm2(&minus(&pair.x, &pair.star));
    tally.check(gap, rhs);
    Ok(())
}

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    half_smoothness: f64,
    less_residual: f64,
}

const SOUND: Arm = Arm { half_smoothness: 1.0, less_residual: 1.0 };

const FAULTS: [Fault<Arm>; 2] = [
    Fault::refuted("half_smoothness", "L/2 in place of L", Arm { half_smoothness: 0.5, ..SOUND }),
    Fault::refuted("less_residual", "0.9 G in place of G", Arm { less_residual: 0.9, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let shares = (cx.arm(SOUND, &FAULTS).half_smoothness, cx.arm(SOUND, &FAULTS).less_residual);
    let n = cx.size("instances")?.div_ceil(PER_TRIAL);
    let [any] = tally(cx, "instances", n, |trial, [any]| {
        let rng = &mut trial.seed.child("data").rng();
        (0..PER_TRIAL).try_for_each(|number| check(&Pair::random(rng, number, false), shares, any))
    })?;
    // f = |x - c|^2/2: g* = x* - c.
    let (star, mut tight) = (vec![1.0, -1.0], PropertyTally::new());
    let small = SmallSum::around(&[vec![0.0, 2.0]]);
    let x = star.iter().zip(&small.gradient(&star)).map(|(star, g)| star + g).collect();
    check(&Pair { small, star, x }, shares, &mut tight)?;
    cx.judge("any x*", any.finish());
    cx.judge("isotropic f, a step uphill from x*", tight.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-step-ii",
    place: "Proof sketch, step (ii)",
    sentence: "For any x*, f(x) - f(x*) is at most G/(2 L) + L |x - x*|^2.",
    formula: r"f(\tilde{x}) - f(x^*) \le \tfrac{1}{2 L} \|\pi_I \nabla f(x^*)\|^2 + L \|\tilde{x} - x^*\|^2",
    design: "Random sums and points; the equality. Production values.",
    standing: Standing::sound(),
    mutants: &mutants(&FAULTS),
    experiment,
};
