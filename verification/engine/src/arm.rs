//! Runs the arms of a claim: the honest one, one per mutant, and those of the crippled learners.

use crate::claim::{Claim, Must};
use crate::context::{Arm, ArmKind, ArmSettings, Context, NO_LEARNER, NotRun, RunCanceled, Settled, message};
use crate::mutants::Cripple;
use crate::record::ArmRecord;
use crate::shared::Shared;
use crate::verdict::noticed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

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
    /// A mutant that must be refuted is first tried at the sizes that the plan gives to mutants: what is
    /// refuted by a part of the trials is refuted by all of them. It runs at the sizes of the honest arm if
    /// it was not refuted, and if a cell is left that no mutant has refuted.
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
        let mut open = must_be_refuted(claim, &arms.honest, settings.alpha);
        let few = settings.sizes.of_mutants();
        let of_few = shared.copy();
        let mut tried = Vec::new();
        for mutant in claim.mutants {
            let kind = ArmKind::Mutant(mutant.name);
            let refuted = match &few {
                Some(sizes) if mutant.must == Must::BeRefuted => {
                    let settings = ArmSettings { sizes, ..settings };
                    let arm = run_arm(claim, kind, &open, &of_few, settings)?;
                    let noticed = noticed(mutant.must, &arm, settings.alpha);
                    noticed.then_some(arm)
                }
                _ => None,
            };
            tried.push(refuted.is_some());
            let arm = match refuted {
                Some(arm) => arm,
                None => run_arm(claim, kind, &open, &shared, settings)?,
            };
            if mutant.must == Must::BeRefuted {
                close(&mut open, &arm, settings.alpha);
            }
            arms.mutants.push(arm);
        }
        for (place, tried) in tried.into_iter().enumerate() {
            if tried && !open.is_empty() {
                // The arm's record is replaced: what it alone has refuted is open again.
                open = must_be_refuted(claim, &arms.honest, settings.alpha);
                let all = || claim.mutants.iter().zip(&arms.mutants).enumerate();
                let others =
                    all().filter(|(other, (mutant, _))| *other != place && mutant.must == Must::BeRefuted);
                others.for_each(|(_, (_, arm))| close(&mut open, arm, settings.alpha));
                let kind = ArmKind::Mutant(claim.mutants[place].name);
                arms.mutants[place] = run_arm(claim, kind, &open, &shared, settings)?;
                close(&mut open, &arms.mutants[place], settings.alpha);
            }
        }
        if claim.standing.learns {
            for cripple in Cripple::ALL {
                let arm = run_arm(claim, ArmKind::Crippled(cripple), &nothing, &shared, settings)?;
                // An experiment that fails with a learner that learns nothing does not say that it notices
                // one.
                if let (Some(error), None) = (&arm.error, &arms.honest.error) {
                    let named = format!("with the learner {}: {error}", cripple.name());
                    arms.honest.error = Some(if error == NO_LEARNER { error.clone() } else { named });
                }
                arms.crippled.push(arm);
            }
        }
        Ok(arms)
    }
}

/// Returns the cells of the honest arm that a mutant must refute: those that it does not refute itself, and
/// that are not beyond all mutants.
fn must_be_refuted(claim: &Claim, honest: &ArmRecord, alpha: f64) -> BTreeSet<String> {
    let refuted: BTreeSet<&str> = honest.refuted_cells(alpha).collect();
    let beyond = |name: &str| claim.standing.beyond.iter().any(|beyond| name.starts_with(beyond.cells));
    let names = honest.cells.iter().map(|cell| cell.name.as_str());
    names.filter(|name| !refuted.contains(name) && !beyond(name)).map(String::from).collect()
}

/// Removes the cells that the arm refutes.
fn close(open: &mut BTreeSet<String>, arm: &ArmRecord, alpha: f64) {
    arm.refuted_cells(alpha).for_each(|name| {
        open.remove(name);
    });
}

/// Runs one arm of a claim. `open` names the cells that no mutant has refuted yet, `shared` is for all arms.
fn run_arm(
    claim: &Claim,
    kind: ArmKind,
    open: &BTreeSet<String>,
    shared: &Shared,
    settings: ArmSettings<'_>,
) -> Result<ArmRecord, RunCanceled> {
    let Claim { id, mutants, standing, .. } = *claim;
    let arm = Arm { id, mutants, learns: standing.learns, kind, open, shared };
    let mut context = Context::new(arm, settings);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Standing;
    use crate::context::{Trial, View};
    use crate::fault::{Fault, mutants};
    use crate::judge::exact;
    use crate::sizes::Sizes;
    use lao_observation::Seed;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    /// Whether a fault reaches the trials.
    const FAULTS: [Fault<bool>; 2] =
        [Fault::refuted("reaches", "another number", true), Fault::refuted("says", "another word", false)];

    static RUNS: AtomicU64 = AtomicU64::new(0);

    fn learning(cx: &mut Context<'_>) -> anyhow::Result<()> {
        let fault = cx.fault(&FAULTS);
        let at = if fault == Some(true) { 3.0 } else { 1.0 };
        let trial = |trial: &Trial, views: &[View]| {
            RUNS.fetch_add(1, Ordering::Relaxed);
            let now = at + trial.number as f64;
            Ok(views.iter().map(|view| view.map_or(now, |cripple| cripple.value(0.5, now))).collect())
        };
        let shown = match fault {
            Some(false) => cx.sound_trials("runs", 2, trial)?,
            _ => cx.shown_trials("runs", 2, trial)?,
        };
        cx.judge("sum", exact(shown.iter().sum(), 0.0, 0.0));
        Ok(())
    }

    fn arms(experiment: fn(&mut Context<'_>) -> anyhow::Result<()>) -> ClaimArms {
        arms_at(&Sizes::default(), experiment)
    }

    fn arms_at(sizes: &Sizes, experiment: fn(&mut Context<'_>) -> anyhow::Result<()>) -> ClaimArms {
        arms_of(sizes, 0.01, experiment)
    }

    fn arms_of(
        sizes: &Sizes,
        alpha: f64,
        experiment: fn(&mut Context<'_>) -> anyhow::Result<()>,
    ) -> ClaimArms {
        let claim = Claim {
            id: "planted",
            place: "",
            sentence: "",
            formula: "",
            design: "",
            standing: Standing::sound().practical().learns(),
            mutants: const { &mutants(&FAULTS) },
            experiment,
        };
        let (seed, canceled) = (Seed::root(1), AtomicBool::new(false));
        let settings = ArmSettings { sizes, alpha, seed: &seed, canceled: &canceled, tick: &|| {} };
        ClaimArms::run(&claim, settings).unwrap()
    }

    #[test]
    fn arms_without_a_fault_in_their_runs_share_them() {
        let arms = arms(learning);
        let sum = |arm: &ArmRecord| arm.cells[0].finding.estimate;
        assert_eq!((sum(&arms.honest), arms.honest.error), (3.0, None));
        assert_eq!(arms.mutants.iter().map(sum).collect::<Vec<_>>(), [7.0, 3.0]);
        // What is zero, what began at .5 twice, and that and a hundredth of the way from there.
        let hundredth = 0.5 + 0.01 * (1.0 - 0.5) + (0.5 + 0.01 * (2.0 - 0.5));
        assert_eq!(arms.crippled.iter().map(sum).collect::<Vec<_>>(), [0.0, 1.0, hundredth]);
        // Two trials each: of the honest arm, of the fault that reaches them, of learners that stand still.
        assert_eq!(RUNS.load(Ordering::Relaxed), 8);
    }

    #[test]
    fn mutants_are_tried_at_their_sizes_and_run_again_for_cells_that_are_left() {
        static SEEN: Mutex<Vec<(Option<bool>, u64)>> = Mutex::new(Vec::new());
        let sizes = Sizes::from_iter([("runs".to_owned(), 8)]).with_mutants_at("runs", 2);
        let arms = arms_at(&sizes, |cx| {
            let (fault, runs) = (cx.fault(&FAULTS), cx.size("runs")?);
            SEEN.lock().unwrap().push((fault, runs));
            let off = |is_refuted: bool| exact(f64::from(u8::from(is_refuted)), 0.0, 0.0);
            cx.judge("refuted by the first alone", off(fault == Some(true)));
            cx.settled()?;
            cx.judge("refuted by a part of the runs", off(fault.is_some()));
            cx.settled()?;
            cx.judge("refuted by all runs of the second", off(fault == Some(false) && runs == 8));
            Ok(())
        });
        // The first mutant runs again because the last cell is open. It does not close the cell, but refutes
        // anew what it alone has refuted; so the second runs again.
        let seen = [(None, 8), (Some(true), 2), (Some(false), 2), (Some(true), 8), (Some(false), 8)];
        // Crippled learners come after these.
        assert_eq!(SEEN.lock().unwrap()[..5], seen);
        let refuted: Vec<Vec<&str>> =
            arms.mutants.iter().map(|arm| arm.refuted_cells(0.01).collect()).collect();
        assert_eq!(refuted[0], ["refuted by the first alone", "refuted by a part of the runs"]);
        assert_eq!(refuted[1], ["refuted by a part of the runs", "refuted by all runs of the second"]);
    }

    #[test]
    fn a_mutant_that_a_part_of_the_runs_does_not_refute_has_all_of_them() {
        let sizes = Sizes::from_iter([("runs".to_owned(), 8)]).with_mutants_at("runs", 2);
        let arms = arms_at(&sizes, |cx| {
            let is_refuted = cx.fault(&FAULTS) == Some(true) || (!cx.honest() && cx.size("runs")? == 8);
            cx.judge("cell", exact(f64::from(u8::from(is_refuted)), 0.0, 0.0));
            Ok(())
        });
        assert!(arms.mutants.iter().all(|arm| arm.refuted_cells(0.01).count() == 1));
    }

    #[test]
    fn a_sequential_judge_shows_the_runs_of_the_honest_arm_to_the_learner_that_goes_a_hundredth() {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let arms = arms(|cx| {
            let shown = cx.shown_one_by_one("runs")?;
            // The honest arm stops after the first trial.
            let most = if cx.honest() { 1 } else { 2 };
            let at = if cx.fault(&FAULTS).is_some() { 3.0 } else { 1.0 };
            let found = cx.all_trials("runs", most, |trial| {
                shown.of(trial, |views| {
                    RUNS.fetch_add(1, Ordering::Relaxed);
                    Ok(views.iter().map(|view| view.map_or(at, |cripple| cripple.value(0.5, at))).collect())
                })
            })?;
            cx.judge("sum", exact(found.iter().sum(), 0.0, 0.0));
            Ok(())
        });
        let sum = |arm: &ArmRecord| arm.cells[0].finding.estimate;
        assert_eq!((sum(&arms.honest), arms.honest.error), (1.0, None));
        assert_eq!(arms.mutants.iter().map(sum).collect::<Vec<_>>(), [6.0, 6.0]);
        let hundredth = 0.5 + 0.01 * (1.0 - 0.5);
        assert_eq!(arms.crippled.iter().map(sum).collect::<Vec<_>>(), [0.0, 1.0, hundredth + hundredth]);
        // One, two of each mutant, two of each learner that stands still, and one that is not kept.
        assert_eq!(RUNS.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn support_ends_a_cell_at_the_level_of_the_claim_and_a_mutant_is_given_up_before() {
        const LEVEL: f64 = 1e-5;
        let arms = arms_of(&Sizes::default(), LEVEL, |cx| {
            let fault = cx.fault(&FAULTS);
            cx.split(1000);
            cx.prob("never fails", 0.1, 1000, |_| Ok(true))?;
            cx.prob("fails with a fault", 0.1, 1000, |_| Ok(fault.is_none()))?;
            cx.mean_within("nothing", (0.5, 1.0), 1000, |_| Ok(0.0))
        });
        for cell in &arms.honest.cells {
            // A block earlier it was not enough.
            let p = cell.finding.p_support;
            assert!(p <= LEVEL && p > LEVEL / 1000.0, "{}: {p}", cell.name);
        }
        for arm in &arms.mutants {
            let [given_up, refuted, of_mean] = [0, 1, 2].map(|at| &arm.cells[at].finding);
            for finding in [given_up, of_mean] {
                assert!(finding.p_support <= 0.01 && finding.p_support > LEVEL, "{finding:?}");
            }
            assert!(refuted.p_refute <= LEVEL / 1000.0, "{refuted:?}");
        }
    }

    #[test]
    fn shared_trials_are_one_for_each_cell_and_have_a_result_for_each_view() {
        let twice = arms(|cx| {
            cx.shown_trials("runs", 1, |_, views| Ok(vec![1.0; views.len()]))?;
            cx.shown_trials("runs", 1, |_, views| Ok(vec![2.0; views.len()])).map(|_| ())
        });
        let error = twice.honest.error.unwrap();
        assert!(error.contains("cell runs: the experiment asks twice for its shared trials"), "{error}");
        let short = arms(|cx| cx.shown_trials("runs", 1, |_, _| Ok(vec![1.0])).map(|_| ()));
        let error = short.honest.error.unwrap();
        assert!(
            error.contains("trial 0")
                && error.contains("returned 1 results: return one for each of the 2 views"),
            "{error}"
        );
    }
}
