//! Supplement A.1, display (6): what one update gains, for any gradient estimate.
//!
//! *Statement.* For `eta < 1/(2L)` with `1/4 - eta L/2 - r (1/4 + eta L/2) >= 0`, `r = 2 s*/(s+s*)`, and
//! `v = theta_{t-1} - theta*`: `gap_t - gap_{t-1} <= 2 r q |v|^2 - (1/2)(1 - r)(1/4 + eta L/2)
//! eta |grad_{S_{t-1} u S*}|^2 + s (5/2 + eta L) eta |e|_inf^2`.
//!
//! *Why.* (3), the inner product, the thresholding step, and two more applications of Young's inequality; all
//! were derived again and are right. This is the sharpest check of Proposition A.1: it is exact for every
//! vector g.
//!
//! *Mutants.* `5/2` set to 0; the sup norm replaced by the root mean square; entries kept by lot; a step
//! eight times too long for the bound (2/L; at four times, 1/L, the bound still holds: `2 - 2x^2 <= 2.75` in
//! the aligned family); the wrong sign. Within 14 attributes `2 r q |v|^2` covers the first two and the last:
//! they show in the wide families.

use lao_kernels::HardThreshold;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    StepInstance, in_units, minus, norm2, norm2_on, strain, sup_norm, tally,
};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::mutants::KeepsByLot;

const DROPS_FIVE_HALVES: Mutant =
    Mutant::refuted("drops_five_halves", "the error term with eta L in place of 5/2 + eta L");
const ERROR_BY_MEAN_SQUARE: Mutant = Mutant::refuted("error_by_mean_square", "|e|^2/d in place of |e|_inf^2");
const KEEPS_BY_LOT: Mutant = Mutant::refuted("keeps_by_lot", "thresholding keeps s entries by lot");
const EIGHTFOLD_STEP: Mutant =
    Mutant::refuted("eightfold_step", "the step is eight times eta, the bound is not");
const STEPS_UPHILL: Mutant = Mutant::refuted("steps_uphill", "the step has the wrong sign");

fn sides(cx: &Context<'_>, instance: &StepInstance) -> anyhow::Result<(f64, f64)> {
    let StepInstance { eta, .. } = *instance;
    let stepped = if cx.commits(&KEEPS_BY_LOT) {
        instance.step(KeepsByLot::new(instance.dim(), &cx.seed("lot")))?
    } else if cx.commits(&STEPS_UPHILL) {
        let mut uphill = instance.clone();
        uphill.g.iter_mut().for_each(|g| *g = -*g);
        uphill.step(HardThreshold::default())?
    } else if cx.commits(&EIGHTFOLD_STEP) {
        instance.step_of(8.0 * eta, HardThreshold::default())?
    } else {
        instance.step(HardThreshold::default())?
    };
    let (s, star, eta_l) =
        (instance.sparsity as f64, instance.star_size() as f64, eta * instance.smoothness());
    let r = 2.0 * star / (s + star);
    let gradient = instance.gradient();
    let error = minus(&instance.g, &gradient);
    let sup2 = sup_norm(&error).powi(2);
    let size = if cx.commits(&ERROR_BY_MEAN_SQUARE) { norm2(&error) / instance.dim() as f64 } else { sup2 };
    let share = if cx.commits(&DROPS_FIVE_HALVES) { 0.0 } else { 2.5 };
    let lost = 2.0 * r * instance.q() * instance.distance2();
    let seen = norm2_on(&gradient, instance.before_set | instance.star_set);
    let gained = 0.5 * (1.0 - r) * (0.25 + eta_l / 2.0) * eta * seen;
    let noise = s * (share + eta_l) * eta * size;
    Ok(in_units(lost + gained + s * eta * sup2, instance.rise(&stepped), lost - gained + noise))
}

/// Sizes of the gradient in units of the error's, denser where the error term is most needed.
const LEVELS: [f64; 16] =
    [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.28, 0.31, 0.34, 0.37, 0.4, 0.5, 0.7, 1.0, 2.0, 10.0];

/// Instances on `Sigma = (L/2) I`: `theta_{t-1}` constant on its s members, and an error that is zero, or
/// constant there along or against the gradient, from far below to far above it; and an error in one
/// coordinate at `theta*`.
fn families(tally: &mut PropertyTally, cx: &Context<'_>) -> anyhow::Result<()> {
    for (dim, sparsity) in [(64, 20), (64, 40), (64, 60), (128, 5)] {
        for eta_l in [0.02, 0.1, 0.25] {
            let mut spike = StepInstance::aligned(dim, 1, sparsity, eta_l, 0.0, 0.0);
            spike.g[dim - 1] = 1.0;
            let mut instances = vec![spike, StepInstance::aligned(dim, 1, sparsity, eta_l, 1.0, 0.0)];
            for level in LEVELS {
                // The gradient on Sigma = I is twice the level.
                for error in [2.0 / level, -2.0 / level] {
                    instances.push(StepInstance::aligned(dim, 1, sparsity, eta_l, 1.0, error));
                }
            }
            for instance in &instances {
                let (lhs, rhs) = sides(cx, instance)?;
                tally.check(lhs, rhs);
            }
        }
    }
    Ok(())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let (n, rounds) = (cx.size("instances")?, cx.size("rounds")? as usize);
    let [all] = tally(cx, "instances", n, |trial, [tally]| {
        let (mut rng, mut search) = (trial.seed.child("data").rng(), trial.seed.child("algorithm").rng());
        let mut instance = StepInstance::random(&mut rng, &[0.02, 0.1, 0.25]);
        if trial.number % 16 == 1 {
            instance
                .climb(rounds, &mut search, |i| sides(cx, i).map_or(f64::NAN, |(lhs, rhs)| strain(lhs, rhs)));
        }
        let (lhs, rhs) = sides(cx, &instance)?;
        tally.check(lhs, rhs);
        Ok(())
    })?;
    cx.judge("updates by any vector", all.finish());
    let mut analytic = PropertyTally::new();
    families(&mut analytic, cx)?;
    cx.judge("analytic families in up to 128 attributes", analytic.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-descent-eq6",
    place: "Supplement A.1, display (6)",
    sentence: "Whatever vector is used for the gradient, an update changes the loss by at most a multiple of \
               the squared distance to the true parameter, minus a multiple of the squared gradient, plus \
               s(5/2 + eta L) eta times the squared sup norm of the vector's error.",
    formula: r"\mathcal{L}(\theta_t) - \mathcal{L}(\theta_{t-1}) \le \frac{4 s_*}{s + s_*} \left(
               \frac{1}{4\eta} + \frac{L_s}{2} \right) \|\theta_{t-1} - \theta_*\|^2 - \frac12 \left( 1
               - \frac{2 s_*}{s + s_*} \right) \left( \frac14 + \frac{\eta L_s}{2} \right) \eta \|
               \nabla_{S_{t-1} \cup S_*} \mathcal{L}(\theta_{t-1}) \|^2 + s \left( \frac52 + \eta L_s
               \right) \eta \| g_t - \nabla \mathcal{L}(\theta_{t-1}) \|_\infty^2",
    design: "Random populations of 7 to 14 attributes with hill climbing, and analytic families on Sigma = \
             (L/2) I in up to 128 attributes (s* = 1, s up to 60), where r is small enough for the terms to \
             be told apart: error along or against the gradient on all members, or in one coordinate alone. \
             The step is the production learner's.",
    standing: Standing::sound(),
    mutants: &[DROPS_FIVE_HALVES, ERROR_BY_MEAN_SQUARE, KEEPS_BY_LOT, EIGHTFOLD_STEP, STEPS_UPHILL],
    experiment,
};
