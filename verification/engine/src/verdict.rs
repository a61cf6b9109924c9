//! The rules that turn the findings of a claim into a verdict.
//!
//! A claim is an intersection of its cells: it is *supported* when every cell is supported at the claim's
//! level, and *refuted* when one cell is refuted at that level divided by the number of cells. Over the
//! claims of a run, Holm's step-down procedure treats the two families of p-values; the size of a family is
//! the number of claims planned, not the number run.

use crate::arm::ClaimArms;
use crate::claim::{Claim, Expected, Must};
use crate::judge::{Decision, Finding, FindingKind};
use crate::mutants::Cripple;
use crate::record::{ArmRecord, Cell};
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
    /// Fewer cells were judged than planned, or more: the sentence was tested in part.
    Partial,
    /// The hypotheses cannot be met, the bound says nothing, or a learner that learns nothing passes a cell
    /// about learning, and the claim does not say why that is right.
    Vacuous,
    /// A mutant was not noticed, or a cell refutes none, so the check proves nothing.
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
            Verdict::Partial => "PARTIAL",
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

/// What a judged cell is worth: what it found, which mutants it notices, and which crippled learners pass it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Which setting.
    pub name: String,
    /// What the honest arm shows in this cell.
    pub said: CellVerdict,
    /// The mutants that this cell refutes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refutes: Vec<String>,
    /// The crippled learners that this cell supports; where there is one, the cell says nothing about
    /// learning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_by: Vec<String>,
    /// Why such a learner passes it, if the claim says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passable: Option<String>,
    /// Whether the bound has so much room that the cell says little about the size: more than ten times what
    /// was found, or half an exponent. Only bounds on means, rates and exponents can be loose: a bound on a
    /// probability counts failures, and an equality is judged by its margin.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loose: bool,
    /// Why no mutant can be refuted in it, if the claim says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<String>,
}

/// What one cell of the honest arm shows at the level of its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum CellVerdict {
    /// The opposite of its statement is rejected.
    Supported,
    /// Its statement is rejected.
    Refuted,
    /// Neither is rejected.
    Undecided,
    /// It is supported, and a learner that learns nothing is supported too.
    Vacuous,
}

impl fmt::Display for CellVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CellVerdict::Supported => "SUPPORTED",
            CellVerdict::Refuted => "REFUTED",
            CellVerdict::Undecided => "UNDECIDED",
            CellVerdict::Vacuous => "VACUOUS",
        })
    }
}

impl CellRecord {
    /// Whether a mutant shows that the cell can refute, or the honest arm itself does, or the claim says why
    /// no mutant can.
    pub fn is_shown(&self) -> bool {
        self.said == CellVerdict::Refuted || !self.refutes.is_empty() || self.beyond.is_some()
    }
}

/// Whether a learner has a say in a finding of this kind. Identities and deterministic inequalities (budgets,
/// equivariance) hold for crippled learners too, and rightly so.
fn is_about_learning(kind: FindingKind) -> bool {
    !matches!(kind, FindingKind::Exact | FindingKind::Property | FindingKind::Equal)
}

/// Whether a bound on a mean or a rate is more than ten times what was found, or one on an exponent half an
/// exponent away.
fn has_room(finding: &Finding) -> bool {
    match finding.kind {
        FindingKind::Mean | FindingKind::Geom => finding.tightness.is_some_and(|tightness| tightness < 0.1),
        FindingKind::Slope => (finding.estimate - finding.bound).abs() >= 0.5,
        FindingKind::Exact
        | FindingKind::Property
        | FindingKind::Prob
        | FindingKind::Equal
        | FindingKind::Paired => false,
    }
}

/// One record per cell of the honest arm.
pub fn cells(claim: &Claim, arms: &ClaimArms, alpha: f64) -> Vec<CellRecord> {
    let level = arms.honest.refuting_level(alpha);
    let record = |cell: &Cell| {
        let refutes = claim.mutants.iter().zip(&arms.mutants).filter(|(mutant, arm)| {
            mutant.must == Must::BeRefuted && arm.refuted_cells(alpha).any(|name| name == cell.name)
        });
        let passes = |other: &Cell| other.name == cell.name && other.finding.p_support <= alpha;
        let passed_by = Cripple::ALL
            .iter()
            .zip(&arms.crippled)
            .filter(|(_, arm)| is_about_learning(cell.finding.kind) && arm.cells.iter().any(passes));
        let passed_by: Vec<String> = passed_by.map(|(cripple, _)| cripple.name().into()).collect();
        let beyond = claim.standing.beyond.iter().find(|beyond| cell.name.starts_with(beyond.cells));
        let mut passable = claim.standing.passable.iter();
        let passable = passable.find(|one| !passed_by.is_empty() && cell.name.contains(one.cells));
        let said = match (cell.finding.p_refute <= level, cell.finding.p_support <= alpha) {
            (true, _) => CellVerdict::Refuted,
            (false, true) if passed_by.is_empty() => CellVerdict::Supported,
            (false, true) => CellVerdict::Vacuous,
            (false, false) => CellVerdict::Undecided,
        };
        CellRecord {
            name: cell.name.clone(),
            said,
            refutes: refutes.map(|(mutant, _)| mutant.name.into()).collect(),
            passed_by,
            passable: passable.map(|one| one.why.into()),
            loose: said == CellVerdict::Supported && has_room(&cell.finding),
            beyond: beyond.map(|beyond| beyond.why.into()),
        }
    };
    arms.honest.cells.iter().map(record).collect()
}

/// Decides what one arm shows at level `alpha`; `Err` says why the arm cannot be judged.
pub fn decide(arm: &ArmRecord, alpha: f64) -> Result<Decision, String> {
    if let Some(error) = &arm.error {
        return Err(error.clone());
    }
    if arm.cells.is_empty() {
        return Err("the experiment judged nothing".into());
    }
    let level = arm.refuting_level(alpha);
    let (mut supported, mut refuted) = (true, false);
    for cell in &arm.cells {
        if let Decision::Broken(why) = cell.finding.decide(alpha) {
            return Err(format!("cell {}: {why}", cell.name));
        }
        supported &= cell.finding.p_support <= alpha;
        refuted |= cell.finding.p_refute <= level;
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
        (Must::BeRefuted, _) => arm.refuted_cells(alpha).next().is_some(),
        (Must::StayUndecided, Ok(decision)) => decision == Decision::Undecided,
        (Must::Hold, Ok(decision)) => decision == Decision::Supported,
        (_, Err(_)) => false,
    }
}

/// Returns the verdict on a claim from its arms and its cells, whose decisions are at level `alpha`, and from
/// what Holm's procedure rejects.
pub fn verdict(
    claim: &Claim,
    arms: &ClaimArms,
    cells: &[CellRecord],
    alpha: f64,
    rejected: HolmRejects,
) -> Verdict {
    let honest = &arms.honest;
    if honest.not_run.is_some() {
        return Verdict::NotRun;
    }
    let broken = |cell: &Cell| matches!(cell.finding.decide(0.0), Decision::Broken(_));
    if honest.error.is_some() || honest.cells.is_empty() || honest.cells.iter().any(broken) {
        return Verdict::Error;
    }
    let mut pairs = claim.mutants.iter().zip(&arms.mutants);
    let all_noticed = pairs.all(|(mutant, arm)| noticed(mutant.must, arm, alpha));
    match (rejected.holds, rejected.fails) {
        (true, true) => Verdict::Error,
        _ if !all_noticed || !cells.iter().all(CellRecord::is_shown) => Verdict::Untested,
        _ if honest.cells.len() != honest.split => Verdict::Partial,
        (true, false) => Verdict::Refuted,
        (false, true) if claim.standing.expected == Expected::Vacuous => Verdict::Vacuous,
        (false, true) if learns_nothing(honest, cells) => Verdict::Vacuous,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Inconclusive,
    }
}

/// Which of a claim's two hypotheses Holm's procedure rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolmRejects {
    /// That the claim holds.
    pub holds: bool,
    /// That the claim fails.
    pub fails: bool,
}

/// Whether crippled learners pass all cells about learning, if there are any, or one of which the claim does
/// not say why.
fn learns_nothing(honest: &ArmRecord, cells: &[CellRecord]) -> bool {
    let about = |(cell, _): &(&Cell, &CellRecord)| is_about_learning(cell.finding.kind);
    let mut about = honest.cells.iter().zip(cells).filter(about).map(|(_, record)| record).peekable();
    let is_passed = |record: &&CellRecord| record.said == CellVerdict::Vacuous;
    let unexplained = about.clone().filter(is_passed).any(|record| record.passable.is_none());
    unexplained || about.peek().is_some() && about.all(|record| is_passed(&record))
}

/// Whether a verdict is the one that the claim expects. A refutation must come from the cells that the claim
/// names, and by the amounts that it predicts.
pub fn as_expected(claim: &Claim, honest: &ArmRecord, cells: &[CellRecord], verdict: Verdict) -> bool {
    match (claim.standing.expected, verdict) {
        (Expected::Refuted, Verdict::Refuted) => unpredicted(claim, honest, cells).is_empty(),
        (Expected::Holds, Verdict::Holds)
        | (Expected::Vacuous, Verdict::Vacuous)
        | (Expected::NotRun(_), Verdict::NotRun) => true,
        _ => false,
    }
}

/// What a refutation shows against the claim's predictions, a sentence for each difference.
pub fn unpredicted(claim: &Claim, honest: &ArmRecord, cells: &[CellRecord]) -> Vec<String> {
    let predicted = claim.standing.violations;
    let mut differences = Vec::new();
    for violation in predicted {
        let found = honest.cells.iter().zip(cells).find(|(cell, _)| cell.name == violation.cell);
        match found {
            None => differences.push(format!("the cell `{}` was not judged", violation.cell)),
            Some((_, record)) if record.said != CellVerdict::Refuted => {
                differences.push(format!("the cell `{}` does not refute", violation.cell));
            }
            Some((cell, _)) => {
                let (least, most) = (violation.at_least, violation.at_most);
                let estimate = cell.finding.estimate;
                if !(least..=most).contains(&estimate) {
                    differences.push(format!(
                        "the cell `{}` finds {estimate}, and theory says {least} to {most}",
                        violation.cell
                    ));
                }
            }
        }
    }
    if !predicted.is_empty() {
        let stray = cells.iter().filter(|cell| {
            cell.said == CellVerdict::Refuted
                && predicted.iter().all(|violation| violation.cell != cell.name)
                && !claim.standing.open.iter().any(|open| cell.name.starts_with(open))
        });
        differences.extend(stray.map(|cell| format!("the cell `{}` refutes unpredicted", cell.name)));
    }
    differences
}
