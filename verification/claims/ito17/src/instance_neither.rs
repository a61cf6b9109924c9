//! Where neither (a) nor (b) holds: no algorithm of the paper finds the features.
//!
//! *Instance.* `x_2 = x_0` exactly, `x_1` independent; `w* = (.8, .35, 0)`, k = 2. The vector `(1, 0, -1)`
//! has `Vv = 0` and as much mass outside `S*` as inside, so `phi_0 = 0`.
//!
//! *What happens.* By symmetry the twins share the weight: dual averaging goes to `(.4, .35, .4)`, with the
//! l1 term to slightly less. The two largest weights are those of the twins; feature 1 is missed by
//! Algorithms 1, 2 and 3 alike. "Almost same features", which the paper gives as the reason for Algorithm 3,
//! harm when a relevant one has a twin, and then the l1 norm does not help; twins outside `S*` leave
//! `phi_0^2 = 1/4`, and harm nobody.

use crate::setup::population::{Last, Population};
use lao_datasets::adversarial::ito;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{PropertyTally, exact_all};

const LAST_FOR_THE_AVERAGE: Mutant =
    Mutant::refuted("last_for_the_average", "takes the last weights of production for their average");
const TWINS_DO_NOT_MATTER: Mutant =
    Mutant::refuted("twins_do_not_matter", "copies a feature outside the support");
const SECOND_FEATURE_HEAVIER: Mutant =
    Mutant::refuted("second_feature_heavier", "gives feature 1 more than half the weight of the other");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let instance = if cx.commits(&TWINS_DO_NOT_MATTER) { ito::twins_outside()? } else { ito::neither()? };
    let mut population = Population::new(instance)?;
    if cx.commits(&SECOND_FEATURE_HEAVIER) {
        population.w_star[1] = 0.45;
    }
    let mut missed = PropertyTally::new();
    for rounds in [3000, 30_000] {
        for penalty in [0.0, 0.02, 0.1] {
            let (w, average) = population.rda(0.1, penalty).after(rounds);
            missed.check(average[1], average[0].min(average[2]));
            missed.check(w[1], w[0].min(w[2]));
        }
    }
    cx.judge("Algorithms 1, 2 and 3 prefer the twin to feature 1", missed.finish());
    let last = Last(cx.commits(&LAST_FOR_THE_AVERAGE));
    let beside = [population.production(0.1, 0.0, last)?, population.production(0.1, 0.1, last)?].concat();
    cx.judge("production told the population's gradients", exact_all(beside, 1e-9));
    let (_, plain) = population.rda(0.1, 0.0).after(30_000);
    let limits = plain.iter().copied().zip([0.4, 0.35, 0.4, 0.0]);
    cx.judge("limit without the l1 term", exact_all(limits, 1e-3));
    let mut compatibility = PropertyTally::new();
    compatibility.check(population.instance.compatibility(1e-8)?.upper, 1e-7);
    compatibility.check(0.25 - 1e-7, ito::twins_outside()?.compatibility(1e-8)?.lower);
    cx.judge("phi_0 = 0 with a relevant twin, 1/2 otherwise", compatibility.finish());
    if cx.honest() {
        let (_, penalized) = population.rda(0.1, 0.02).after(30_000);
        cx.note("weight of either twin with the l1 term", penalized[0]);
        cx.note("weight of feature 1 with the l1 term", penalized[1]);
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-instance-neither",
    place: "Section 5.2, the case for Algorithm 3",
    sentence: "With an exact copy of a relevant feature, Algorithms 1, 2 and 3 all choose the copy before a \
               feature of smaller weight.",
    formula: r"x_2 = x_0, \; w^* = (0.8, 0.35, 0): \quad \phi_0 = 0, \quad \bar{w}_s \to (0.4, 0.35, 0.4)",
    design: "The population recursion to s = 30000 with lambda_s = .1 sqrt s and rho_0 = 0, .02, .1, \
             production beside it; certified compatibility of this instance and of the harmless one.",
    standing: Standing::sound(),
    mutants: &[LAST_FOR_THE_AVERAGE, TWINS_DO_NOT_MATTER, SECOND_FEATURE_HEAVIER],
    experiment,
};
