//! Runs the arms of a claim: the honest one, one per mutant, and those of the crippled learners.

use crate::claim::{Claim, Must};
use crate::context::{ArmKind, ArmRecord, Context, NO_LEARNER, NotRun, RunCanceled, Settled, message};
use crate::mutants::Cripple;
use crate::shared::Shared;
use crate::sizes::Sizes;
use lao_observation::Seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// What all arms of a claim share.
#[derive(Clone, Copy)]
pub struct ArmSettings<'a> {
    /// The sizes of the claim's experiment.
    pub sizes: &'a Sizes,
    /// The level at which the claim is judged.
    pub alpha: f64,
    /// The root seed of the suite.
    pub seed: &'a Seed,
    /// Set from outside to stop the run.
    pub canceled: &'a AtomicBool,
    /// Called whenever something inside an arm is finished.
    pub tick: &'a (dyn Fn() + Sync),
}

/// What the arms of a claim found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimArms {
    /// The claim as stated, on production code.
    pub honest: ArmRecord,
    /// One arm per mutant, in the claim's order; none if the honest arm did not run.
    pub mutants: Vec<ArmRecord>,
    /// One arm per crippled learner, in the order of [`Cripple::ALL`], if the claim is about learning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crippled: Vec<ArmRecord>,
}

impl ClaimArms {
    /// Runs all arms of a claim.
    ///
    /// The arms of mutants run in the claim's order. The arm of a mutant may end early, once a cell is
    /// refuted in it and every cell that no earlier mutant has refuted is judged: see [`Context::settled`].
    ///
    /// # Errors
    /// [`RunCanceled`].
    pub fn run(claim: &Claim, settings: ArmSettings<'_>) -> Result<Self, RunCanceled> {
        let nothing = BTreeSet::new();
        let shared = Shared::default();
        let honest = run_arm(claim, ArmKind::Honest, &nothing, &shared, settings)?;
        let mut arms = ClaimArms { honest, ..ClaimArms::default() };
        if arms.honest.not_run.is_some() {
            return Ok(arms);
        }
        let mut open: BTreeSet<String> = arms.honest.cells.iter().map(|cell| cell.name.clone()).collect();
        for mutant in claim.mutants {
            let arm = run_arm(claim, ArmKind::Mutant(mutant.name), &open, &shared, settings)?;
            if mutant.must == Must::BeRefuted {
                arm.refuted_cells(settings.alpha).for_each(|name| {
                    open.remove(name);
                });
            }
            arms.mutants.push(arm);
        }
        if claim.standing.learns {
            for cripple in Cripple::ALL {
                let arm = run_arm(claim, ArmKind::Crippled(cripple), &nothing, &shared, settings)?;
                if arm.error.as_deref() == Some(NO_LEARNER) {
                    arms.honest.error = arms.honest.error.or(arm.error.clone());
                }
                arms.crippled.push(arm);
            }
        }
        Ok(arms)
    }
}

/// Runs one arm of a claim. `open` names the cells that no mutant has refuted yet, `shared` is for all arms.
fn run_arm(
    claim: &Claim,
    kind: ArmKind,
    open: &BTreeSet<String>,
    shared: &Shared,
    settings: ArmSettings<'_>,
) -> Result<ArmRecord, RunCanceled> {
    let mut context = Context::new(claim, kind, open, shared, settings);
    let outcome = catch_unwind(AssertUnwindSafe(|| (claim.experiment)(&mut context)));
    let mut record = context.into_record();
    if settings.canceled.load(Ordering::Relaxed) {
        return Err(RunCanceled);
    }
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(error)) if error.is::<Settled>() => {}
        Ok(Err(error)) => match error.downcast_ref::<NotRun>() {
            Some(NotRun(reason)) => record.not_run = Some(reason.clone()),
            None => record.error = Some(format!("{error:#}")),
        },
        Err(panic) => record.error = Some(format!("panicked: {}", message(panic.as_ref()))),
    }
    if record.error.is_none() {
        record.error = fault_of_rates(&record, kind);
    }
    Ok(record)
}

/// Returns why the tracked rates of an arm are no evidence: a replicate is no number, or a claim about a rate
/// shows it in no figure.
fn fault_of_rates(record: &ArmRecord, kind: ArmKind) -> Option<String> {
    let not_finite = record.rates.iter().find(|rate| rate.replicates.iter().any(|x| !x.is_finite()));
    let unseen = record
        .rates
        .first()
        .filter(|_| kind == ArmKind::Honest && record.not_run.is_none() && record.figures.is_empty());
    match (not_finite, unseen) {
        (Some(rate), _) => Some(format!("rate `{}` has a replicate that is not finite", rate.name)),
        (None, Some(rate)) => Some(format!("rate `{}` is tracked, but the claim draws no figure", rate.name)),
        (None, None) => None,
    }
}
