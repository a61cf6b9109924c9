//! Supplement A.1, display (3): descent of one update for any gradient estimate.
//!
//! *Why.* Smoothness gives `<g, D> - <e, D> + (L/2)|D|^2`; Young's inequality
//! `-<e, D> <= |D|^2/(4 eta) + eta |e_S|^2` on `S = S_t u S_{t-1}` of at most 2s members; the rest is an
//! identity.

use lao_kernels::HardThreshold;
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    StepInstance, dot, in_units, norm2, norm2_on, strain, sup_norm, tally,
};
use rand::RngExt;

const DROPS_ERROR_TERM: Mutant = Mutant::refuted("drops_error_term", "without 2 s eta |e|_inf^2");
const ERROR_BY_MEAN_SQUARE: Mutant = Mutant::refuted("error_by_mean_square", "|e|^2/d in place of |e|_inf^2");
const SMOOTHNESS_WITHOUT_FACTOR_TWO: Mutant =
    Mutant::refuted("smoothness_without_factor_two", "L = max u' Sigma u");

/// Both sides less `<g, D>`, so that they are sums of squares where the inequality is close.
fn sides(cx: &Context<'_>, instance: &StepInstance) -> anyhow::Result<(f64, f64)> {
    let StepInstance { eta, g, .. } = instance;
    let stepped = instance.step(HardThreshold::default())?;
    let smoothness =
        instance.smoothness() * if cx.commits(&SMOOTHNESS_WITHOUT_FACTOR_TWO) { 0.5 } else { 1.0 };
    let q = 0.25 / eta + smoothness / 2.0;
    let all = stepped.after_set | instance.before_set | instance.star_set;
    let moved: Vec<f64> = stepped.difference.iter().zip(g).map(|(d, g)| d + eta * g).collect();
    let squares = norm2_on(&moved, all) - eta * eta * norm2_on(g, all);
    let (error, along) = (instance.error(), dot(g, &stepped.difference));
    let size = if cx.commits(&DROPS_ERROR_TERM) {
        0.0
    } else if cx.commits(&ERROR_BY_MEAN_SQUARE) {
        norm2(&error) / instance.dim() as f64
    } else {
        sup_norm(&error).powi(2)
    };
    let bound = q * squares + (0.5 - eta * smoothness) * along + 2.0 * instance.sparsity as f64 * eta * size;
    let scale = q * (norm2(&stepped.difference) + eta * eta * norm2(g)) + eta * norm2(&error);
    Ok(in_units(scale, instance.rise(&stepped) - along, bound - along))
}

/// The nearly extremal family: s old members dropped for s new ones.
fn exchanged(rng: &mut Rng) -> StepInstance {
    let sparsity = rng.random_range(5..=12);
    let eta_l = [0.02, 0.1, 0.25, 0.4][rng.random_range(0..4)];
    let mut instance = StepInstance::aligned(2 * sparsity, 1, sparsity, eta_l, 1.0, 0.5 / (eta_l / 2.0));
    for g in &mut instance.g[sparsity..] {
        *g = 0.5 / instance.eta;
    }
    instance
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (n, rounds) = (cx.size("instances")?, cx.size("rounds")? as usize);
    let [all] = tally(cx, "instances", n, |trial, [tally]| {
        let (mut rng, mut search) = (trial.seed.child("data").rng(), trial.seed.child("algorithm").rng());
        let mut instance = StepInstance::random(&mut rng, &[0.02, 0.1, 0.25, 0.4]);
        let height = |i: &StepInstance| sides(cx, i).map_or(f64::NAN, |(lhs, rhs)| strain(lhs, rhs));
        match trial.number % 16 {
            0 => instance = exchanged(&mut rng),
            1 => instance.climb(rounds, &mut search, height),
            // An error in one coordinate alone, in a problem so wide that its mean square is small.
            2 => {
                instance = StepInstance::aligned(64, 1, 5, 0.1, 0.0, 0.0);
                instance.g[rng.random_range(0..64)] = 1.0;
            }
            _ => {}
        }
        let (lhs, rhs) = sides(cx, &instance)?;
        tally.check(lhs, rhs);
        Ok(())
    })?;
    cx.judge("updates by any vector", all.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-descent-eq3",
    place: "Supplement A.1, display (3)",
    sentence: "Whatever vector is used for the gradient, an update changes the loss by at most a term in the \
               step, a term in the vector along the step, and 2 s eta times the squared sup norm of the \
               vector's error.",
    formula: r"\mathcal{L}(\theta_t) - \mathcal{L}(\theta_{t-1}) \le \left( \frac{1}{4\eta} +
               \frac{L_s}{2} \right) \left( \| D + \eta g_t|_{\tilde S_t} \|^2 - \eta^2 \| g_t|_{\tilde
               S_t} \|^2 \right) + \left( \frac12 - \eta L_s \right) \langle g_t, D \rangle + 2 s \eta
               \| g_t - \nabla \mathcal{L}(\theta_{t-1}) \|_\infty^2",
    design: "Any vector g, random populations of 7 to 14 attributes, hill climbing, and a nearly extremal \
             family on Sigma = (L/2) I: the s old members S_{t-1} all dropped for s new ones, e = \
             theta_{t-1}/(2 eta) on the old ones (equality in Young) and of the same size on the new ones. \
             The step is the production learner's. Tightness is that of both sides less <g, D>.",
    standing: Standing::sound(),
    mutants: &[DROPS_ERROR_TERM, ERROR_BY_MEAN_SQUARE, SMOOTHNESS_WITHOUT_FACTOR_TWO],
    experiment,
};
