//! From what claims stored to the record with their verdicts.

use super::{RunOptions, Stored};
use crate::claim::{Claim, Expected, Must};
use crate::context::{ArmRecord, Cell};
use crate::judge::{Decision, holm};
use crate::plan::{Plan, Sizes};
use crate::record::{ClaimRecord, CrippledRecord, MutantRecord, RunInfo, RunRecord, SCHEMA, Tightness};
use crate::verdict::{self, HolmRejects, Verdict};
use lao_verification_engine::arm::ClaimArms;
use lao_verification_engine::mutants::Cripple;
use std::collections::BTreeMap;

/// Returns whether a claim's evidence has an error probability. What is enumerated or computed has none.
fn is_tested(honest: &ArmRecord) -> bool {
    honest.cells.iter().any(|cell| !cell.finding.kind.is_computed())
}

/// Applies Holm's procedure to the claims that ran, and returns the record with a verdict for each claim.
pub(super) fn assemble(
    options: &RunOptions,
    plan: &Plan,
    info: RunInfo,
    stored: Vec<Stored>,
    alpha: f64,
) -> RunRecord {
    let evidence: Vec<_> = stored.iter().map(|stored| verdict::evidence(&stored.arms.honest)).collect();
    let tested: Vec<usize> = (0..evidence.len()).filter(|&i| is_tested(&stored[i].arms.honest)).collect();
    let family = plan.suite.family.max(tested.len());
    // Where there is no error probability, p is 0 or 1 and takes no part in Holm's procedure.
    let sorted = |p: Vec<f64>| {
        let mut rejected: Vec<bool> = p.iter().map(|&p| p <= alpha).collect();
        let among: Vec<f64> = tested.iter().map(|&i| p[i]).collect();
        let decisions = holm::step_down(&among, family, plan.suite.alpha);
        tested.iter().zip(decisions).for_each(|(&i, decision)| rejected[i] = decision);
        rejected
    };
    let refuted = sorted(evidence.iter().map(|e| e.p_refute).collect());
    let supported = sorted(evidence.iter().map(|e| e.p_support).collect());
    let claims = options.claims.iter().zip(stored).enumerate().map(|(i, (claim, stored))| {
        let cells = verdict::cells(claim, &stored.arms, alpha);
        let rejected = HolmRejects { holds: refuted[i], fails: supported[i] };
        let verdict = verdict::verdict(claim, &stored.arms, &cells, alpha, rejected);
        let ClaimArms { honest, mutants, crippled } = stored.arms;
        let mutants = mutant_records(claim, mutants, alpha);
        let unpredicted = match verdict {
            Verdict::Refuted => verdict::unpredicted(claim, &honest, &cells),
            _ => Vec::new(),
        };
        let named = Cripple::ALL.iter().map(|cripple| cripple.name().to_string());
        let crippled = named.zip(crippled).map(|(name, arm)| CrippledRecord { name, arm }).collect();
        ClaimRecord {
            id: claim.id.into(),
            place: claim.place.into(),
            sentence: claim.sentence.into(),
            form: claim.standing.form,
            regime: claim.standing.regime,
            expected: expected_name(claim.standing.expected).into(),
            verdict,
            as_expected: verdict::as_expected(claim, &honest, &cells, verdict),
            alpha,
            evidence: evidence[i],
            tightness: Tightness::of(&honest),
            sizes: recorded(&plan.sizes(claim.id, options.tier)),
            cells,
            unpredicted,
            honest,
            mutants,
            crippled,
        }
    });
    RunRecord { schema: SCHEMA.into(), run: info, claims: claims.collect() }
}

/// Returns the sizes as a record lists them: those of mutants, where they are other ones, have names of their
/// own.
fn recorded(sizes: &Sizes) -> BTreeMap<String, u64> {
    let mut all: BTreeMap<String, u64> = sizes.iter().map(|(key, size)| (key.into(), size)).collect();
    let of_mutants = sizes.of_mutants().unwrap_or_default();
    let other = of_mutants.iter().filter(|(key, size)| sizes.get(key) != Some(*size));
    all.extend(other.map(|(key, size)| (format!("{key} (mutants first)"), size)));
    all
}

/// Returns how far the cell that decides about a mutant lies beyond the point at which it decides.
fn room(must: Must, arm: &ArmRecord, alpha: f64) -> Option<f64> {
    let level = arm.refuting_level(alpha);
    let room = |cell: &Cell| match must {
        Must::BeRefuted => {
            let finding = &cell.finding;
            (finding.p_refute <= level).then(|| finding.evidence_ratio(finding.p_refute, level))
        }
        Must::Hold => Some(cell.finding.evidence_ratio(cell.finding.p_support, alpha)),
        Must::StayUndecided => None,
    };
    let rooms = arm.cells.iter().filter_map(room);
    let decides = if must == Must::Hold { f64::min } else { f64::max };
    rooms.reduce(decides).filter(|room| room.is_finite())
}

fn mutant_records(claim: &Claim, arms: Vec<ArmRecord>, alpha: f64) -> Vec<MutantRecord> {
    let pairs = claim.mutants.iter().zip(arms);
    pairs
        .map(|(mutant, arm)| MutantRecord {
            name: mutant.name.into(),
            fault: mutant.fault.into(),
            must: mutant.must,
            room: room(mutant.must, &arm, alpha),
            noticed: verdict::noticed(mutant.must, &arm, alpha),
            said: match verdict::decide(&arm, alpha) {
                Ok(Decision::Supported) => "SUPPORTED".into(),
                Ok(Decision::Refuted) => "REFUTED".into(),
                Ok(Decision::Undecided) => "UNDECIDED".into(),
                Ok(Decision::Broken(why)) | Err(why) => format!("BROKEN: {why}"),
            },
            arm,
        })
        .collect()
}

fn expected_name(expected: Expected) -> &'static str {
    match expected {
        Expected::Holds => "HOLDS",
        Expected::Refuted => "REFUTED",
        Expected::Vacuous => "VACUOUS",
        Expected::NotRun(_) => "NOT-RUN",
    }
}

/// Returns whether a claim passes at the level `alpha`, for the progress of the run. The final verdict needs
/// Holm's procedure over all claims.
pub(super) fn passed(claim: &Claim, stored: &Stored, alpha: f64) -> bool {
    let mutants = claim.mutants.iter().zip(&stored.arms.mutants);
    let noticed = mutants.clone().all(|(mutant, arm)| verdict::noticed(mutant.must, arm, alpha));
    let honest = verdict::decide(&stored.arms.honest, alpha);
    match claim.standing.expected {
        Expected::Holds | Expected::Vacuous => noticed && honest == Ok(Decision::Supported),
        Expected::Refuted => noticed && honest == Ok(Decision::Refuted),
        Expected::NotRun(_) => stored.arms.honest.not_run.is_some(),
    }
}
