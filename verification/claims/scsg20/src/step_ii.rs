//! Step (ii) of the last part of the proof: the value at the snapshot.
//!
//! *Statement.* For f that is L-smooth and any x*, `f(x) - f(x*) <= G/(2 L) + L |x - x*|^2` with `G = |pi_I g*|^2` on
//! `I = supp(x) u supp(x*)`.
//!
//! *Why.* `f(x) - f(x*) <= <g*, x - x*> + (L/2)|x - x*|^2`, and Young. Sharp: equality for isotropic f at `x = x* + g*/L`.
//!
//! *Design.* Random sums and points; the equality. Production values. *Mutants.* L/2 for L; .9 G.

use super::step_i::Pair;
use lao_verification_engine::claim::{Claim, Expected, Form, Mutant, Regime};
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

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let shares =
        (if cx.is("half_smoothness") { 0.5 } else { 1.0 }, if cx.is("less_residual") { 0.9 } else { 1.0 });
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
    design: "Production values of random sums of up to 6 components at random points around any x*; an isotropic sum at x* + g*/L, where it is an equality.",
    form: Form::Sound,
    regime: Regime::Deterministic,
    expected: Expected::Holds,
    open: false,
    errata: &[],
    mutants: &[
        Mutant::refuted("half_smoothness", "L/2 in place of L"),
        Mutant::refuted("less_residual", "0.9 G in place of G"),
    ],
    experiment,
};
