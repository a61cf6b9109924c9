//! The rules that turn the findings of a claim into a verdict.
//!
//! A claim is an intersection of its cells: it is *supported* when every cell is supported at the claim's
//! level, and *refuted* when one cell is refuted at that level divided by the number of cells. Over the
//! claims of a run, Holm's step-down procedure treats the two families of p-values; the size of a family is
//! the number of claims planned, not the number run.

use crate::claim::{Claim, Expected, Must};
use crate::context::ArmRecord;
use crate::judge::Decision;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The result of a run for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum Verdict {
    /// The opposite of the claim was rejected in every cell, and every mutant was noticed.
    Holds,
    /// The claim was rejected.
    Refuted,
    /// Neither the claim nor its opposite was rejected within the sizes of the tier; there is no evidence for
    /// or against.
    Inconclusive,
    /// The hypotheses cannot be met, or the bound says nothing.
    Vacuous,
    /// A mutant was not noticed, so the check proves nothing.
    Untested,
    /// The experiment ended with an error, or its numbers cannot be judged.
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

/// The two p-values of one arm. They are valid at any stopping time where the arm's judges are sequential, so
/// Holm's procedure applies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The p-value of "the claim holds": the smallest over the cells, times the number of cells.
    pub p_refute: f64,
    /// The p-value of "the claim fails": the largest over the cells.
    pub p_support: f64,
}

/// Decides what one arm shows at level `alpha`; `Err` says why the arm cannot be judged.
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

/// Returns the p-values of an arm. Both are 1 for an arm without cells.
pub fn evidence(arm: &ArmRecord) -> Evidence {
    let cells = arm.cells.len().max(arm.split).max(1) as f64;
    let p_refute = arm.cells.iter().map(|cell| cell.finding.p_refute).fold(1.0, f64::min);
    let p_support = arm.cells.iter().map(|cell| cell.finding.p_support).fold(0.0, f64::max);
    let p_support = if arm.cells.is_empty() { 1.0 } else { p_support };
    Evidence { p_refute: (p_refute * cells).min(1.0), p_support }
}

/// Returns whether a mutant's arm reached the verdict that it must.
pub fn noticed(must: Must, arm: &ArmRecord, alpha: f64) -> bool {
    match (must, decide(arm, alpha)) {
        (Must::BeRefuted, Ok(decision)) => decision == Decision::Refuted,
        (Must::NotHold, Ok(decision)) => decision != Decision::Supported,
        (Must::Hold, Ok(decision)) => decision == Decision::Supported,
        (_, Err(_)) => false,
    }
}

/// Returns the verdict on a claim from its honest arm, from whether all its mutants were noticed, and from
/// whether Holm's procedure rejected "the claim holds" and "the claim fails".
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

/// Returns whether a verdict is the one that the claim expects.
pub fn as_expected(claim: &Claim, verdict: Verdict) -> bool {
    matches!(
        (claim.standing.expected, verdict),
        (Expected::Holds, Verdict::Holds)
            | (Expected::Refuted, Verdict::Refuted)
            | (Expected::Vacuous, Verdict::Vacuous)
            | (Expected::NotRun(_), Verdict::NotRun)
    )
}
