//! From findings to verdicts.
//!
//! A claim is an intersection of its cells: it is *supported* when every cell is supported at the claim's
//! level, and *refuted* when one cell is refuted at that level divided by the number of cells. Over the
//! claims of a run the two families are sorted by Holm's step-down; the family is the number of claims
//! planned, not the number run.

use crate::claim::{Claim, Expected, Must};
use crate::context::ArmRecord;
use crate::judge::Decision;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a run says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum Verdict {
    /// The opposite was rejected in every cell, and every mutant was noticed.
    Holds,
    /// The claim was rejected.
    Refuted,
    /// Neither was rejected within the sizes of the tier. No evidence for or against.
    Inconclusive,
    /// The hypotheses cannot be met, or the bound says nothing.
    Vacuous,
    /// A mutant was not noticed: the check proves nothing.
    Untested,
    /// The experiment broke.
    Error,
    /// The experiment did not run; the record says why.
    NotRun,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "HOLDS",
            Verdict::Refuted => "REFUTED",
            Verdict::Inconclusive => "INCONCLUSIVE",
            Verdict::Vacuous => "VACUOUS",
            Verdict::Untested => "UNTESTED",
            Verdict::Error => "ERROR",
            Verdict::NotRun => "NOT-RUN",
        })
    }
}

/// The two p-values of one arm: anytime-valid where its judges are sequential, so Holm's procedure applies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Of "the claim holds": the smallest over cells, times the number of cells.
    pub p_refute: f64,
    /// Of "the claim fails": the largest over cells.
    pub p_support: f64,
}

/// What one arm shows, at a level; `Err` says what broke.
pub fn decide(arm: &ArmRecord, alpha: f64) -> Result<Decision, String> {
    if let Some(error) = &arm.error {
        return Err(error.clone());
    }
    if arm.cells.is_empty() {
        return Err("the experiment judged nothing".into());
    }
    let split = arm.split.max(arm.cells.len()) as f64;
    let (mut supported, mut refuted) = (true, false);
    for cell in &arm.cells {
        if let Decision::Broken(why) = cell.finding.decide(alpha) {
            return Err(format!("cell {}: {why}", cell.name));
        }
        supported &= cell.finding.p_support <= alpha;
        refuted |= cell.finding.p_refute <= alpha / split;
    }
    match (supported, refuted) {
        (true, true) => Err("both the claim and its opposite were rejected".into()),
        (true, false) => Ok(Decision::Supported),
        (false, true) => Ok(Decision::Refuted),
        (false, false) => Ok(Decision::Undecided),
    }
}

/// The p-values of an arm. An arm that broke has no evidence either way.
pub fn evidence(arm: &ArmRecord) -> Evidence {
    let cells = arm.cells.len().max(arm.split).max(1) as f64;
    let p_refute = arm.cells.iter().map(|cell| cell.finding.p_refute).fold(1.0, f64::min);
    let p_support = arm.cells.iter().map(|cell| cell.finding.p_support).fold(0.0, f64::max);
    let p_support = if arm.cells.is_empty() { 1.0 } else { p_support };
    Evidence { p_refute: (p_refute * cells).min(1.0), p_support }
}

/// Whether a mutant's arm got what it must.
pub fn noticed(must: Must, arm: &ArmRecord, alpha: f64) -> bool {
    match (must, decide(arm, alpha)) {
        (Must::BeRefuted, Ok(decision)) => decision == Decision::Refuted,
        (Must::NotHold, Ok(decision)) => decision != Decision::Supported,
        (Must::Hold, Ok(decision)) => decision == Decision::Supported,
        (_, Err(_)) => false,
    }
}

/// The verdict on a claim from its honest arm and its mutants (noticed or not), at the level that Holm's
/// procedure gave it in each family.
pub fn verdict(claim: &Claim, honest: &ArmRecord, all_noticed: bool, rejected: (bool, bool)) -> Verdict {
    if honest.not_run.is_some() {
        return Verdict::NotRun;
    }
    if honest.error.is_some() || honest.cells.is_empty() {
        return Verdict::Error;
    }
    if honest.cells.iter().any(|cell| matches!(cell.finding.decide(0.0), Decision::Broken(_))) {
        return Verdict::Error;
    }
    match rejected {
        (true, true) => Verdict::Error,
        _ if !all_noticed => Verdict::Untested,
        (true, false) => Verdict::Refuted,
        (false, true) if claim.standing.expected == Expected::Vacuous => Verdict::Vacuous,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Inconclusive,
    }
}

/// Whether a verdict is the one that the claim expects.
pub fn as_expected(claim: &Claim, verdict: Verdict) -> bool {
    matches!(
        (claim.standing.expected, verdict),
        (Expected::Holds, Verdict::Holds)
            | (Expected::Refuted, Verdict::Refuted)
            | (Expected::Vacuous, Verdict::Vacuous)
            | (Expected::NotRun(_), Verdict::NotRun)
    )
}
