//! Supplement A.1, the display after (3): the step goes along the vector.
//!
//! *Why.* On `S_t` the step is `-eta g`; dropped coordinates moved by `-theta_{t-1}`, and what thresholding
//! dropped is no larger than what it took in, as many coordinates (sets padded to s members: erratum 9).
//! Sharp: from `theta_{t-1} = 0` on its own set, ties in `|g|` everywhere.

use lao_kernels::HardThreshold;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{StepInstance, dot, in_units, norm2, norm2_on, strain, tally};
use lao_verification_engine::mutants::KeepsByLot;

const KEEPS_BY_LOT: Mutant = Mutant::refuted("keeps_by_lot", "thresholding keeps s entries by lot");
const STEPS_UPHILL: Mutant = Mutant::refuted("steps_uphill", "the step has the wrong sign");
const QUARTER_STEP: Mutant =
    Mutant::refuted("quarter_step", "the step is a quarter of eta, the bound is not");

fn sides(cx: &Context<'_>, instance: &StepInstance) -> anyhow::Result<(f64, f64)> {
    let StepInstance { eta, g, .. } = instance;
    let stepped = if cx.commits(&KEEPS_BY_LOT) {
        instance.step(KeepsByLot::new(instance.dim(), &cx.seed("lot")))?
    } else if cx.commits(&STEPS_UPHILL) {
        let mut uphill = instance.clone();
        uphill.g.iter_mut().for_each(|g| *g = -*g);
        uphill.step(HardThreshold::default())?
    } else if cx.commits(&QUARTER_STEP) {
        instance.step_of(eta / 4.0, HardThreshold::default())?
    } else {
        instance.step(HardThreshold::default())?
    };
    let both = stepped.after_set | instance.before_set;
    let scale = eta * norm2(g) + norm2(&stepped.difference) / eta;
    Ok(in_units(scale, eta / 2.0 * norm2_on(g, both), -dot(g, &stepped.difference)))
}

/// From zero, every coordinate of the vector of the same size: thresholding has only ties.
fn tied(mut instance: StepInstance) -> StepInstance {
    instance.before.fill(0.0);
    // The padded set lies where ties are lost, so that all of it is exchanged if there is room.
    let (s, dim) = (instance.sparsity, instance.dim());
    instance.before_set = ((1 << s) - 1) << (dim - s);
    instance.g.iter_mut().enumerate().for_each(|(j, g)| *g = if j % 2 == 0 { 1.0 } else { -1.0 });
    instance
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (n, rounds) = (cx.size("instances")?, cx.size("rounds")? as usize);
    let [all] = tally(cx, "instances", n, |trial, [tally]| {
        let (mut rng, mut search) = (trial.seed.child("data").rng(), trial.seed.child("algorithm").rng());
        let mut instance = StepInstance::random(&mut rng, &[0.02, 0.1, 0.25, 0.4]);
        let height = |i: &StepInstance| sides(cx, i).map_or(f64::NAN, |(lhs, rhs)| strain(lhs, rhs));
        match trial.number % 16 {
            0 => instance = tied(instance),
            1 => instance.climb(rounds, &mut search, height),
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
    id: "ms18-inner-product",
    place: "Supplement A.1, the display after (3)",
    sentence: "The step of an update has an inner product with its vector of at most minus eta/2 times the \
               vector's squared norm on the old and new index sets.",
    formula: r"\langle g_t, \theta_t - \theta_{t-1} \rangle \le -\frac{\eta}{2} \| g_t|_{S_t \cup
               S_{t-1}} \|^2",
    design: "(eta/2) |g|^2 <= -<g, D> for any vector g: random populations of 7 to 14 attributes, hill \
             climbing, and a start at zero with ties only, which gives equality; index sets padded to s \
             members. The step is the production learner's.",
    standing: Standing::sound().with_errata(&[9]),
    mutants: &[KEEPS_BY_LOT, STEPS_UPHILL, QUARTER_STEP],
    experiment,
};
