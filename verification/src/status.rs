//! The outcome of a run: the status of each claim, and the exit status. It is computed once and passed to
//! every writer.

use crate::baseline_diff::Comparison;
use crate::plan::RunTier;
use crate::record::{ClaimRecord, RunRecord};
use crate::verdict::Verdict;

/// The status of a claim after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimStatus {
    /// The claim holds, as expected.
    Holds,
    /// The claim is refuted, as expected.
    Refuted,
    /// The claim is vacuous, as expected.
    Vacuous,
    /// The claim did not run.
    NotRun,
    /// The claim is inconclusive at the sizes of the quick tier, which is allowed.
    MayBeOpen,
    /// The claim is inconclusive at sizes at which it should not be.
    Inconclusive,
    /// The claim's verdict is not the expected one.
    Unexpected,
    /// A mutant of the claim was not noticed.
    Untested,
    /// The claim's experiment ended with an error.
    Broken,
}

impl ClaimStatus {
    /// Returns the status of a claim in a run of this tier.
    pub fn of(claim: &ClaimRecord, tier: RunTier) -> Self {
        match claim.verdict {
            Verdict::Error => ClaimStatus::Broken,
            Verdict::Untested => ClaimStatus::Untested,
            Verdict::NotRun => ClaimStatus::NotRun,
            Verdict::Inconclusive if tier == RunTier::Quick => ClaimStatus::MayBeOpen,
            Verdict::Inconclusive => ClaimStatus::Inconclusive,
            Verdict::Holds if claim.as_expected => ClaimStatus::Holds,
            Verdict::Refuted if claim.as_expected => ClaimStatus::Refuted,
            Verdict::Vacuous if claim.as_expected => ClaimStatus::Vacuous,
            Verdict::Holds | Verdict::Refuted | Verdict::Vacuous => ClaimStatus::Unexpected,
        }
    }

    /// Returns whether the claim fails a run of any tier.
    pub fn is_failure(self) -> bool {
        matches!(self, ClaimStatus::Unexpected | ClaimStatus::Untested | ClaimStatus::Broken)
    }

    /// Returns the class and the mark of a claim in a report. The report also prints the verdict, so that no
    /// reader depends on color.
    pub fn badge(self) -> (&'static str, &'static str) {
        match self {
            ClaimStatus::Holds => ("good", "✓"),
            ClaimStatus::Refuted => ("errata", "✓"),
            ClaimStatus::Vacuous | ClaimStatus::NotRun => ("plain", "–"),
            ClaimStatus::MayBeOpen | ClaimStatus::Inconclusive => ("open", "?"),
            ClaimStatus::Unexpected | ClaimStatus::Untested | ClaimStatus::Broken => ("bad", "✗"),
        }
    }
}

/// The exit status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Every verdict is as expected, or inconclusive in the quick tier, and every mutant was noticed.
    AsExpected = 0,
    /// A verdict is not the expected one.
    Unexpected = 1,
    /// A claim is inconclusive at sizes at which it should not be.
    Inconclusive = 3,
    /// A mutant was not noticed.
    MutantSurvived = 4,
    /// An experiment ended with an error.
    Broken = 5,
    /// Nothing ran.
    NothingRun = 6,
    /// A tracked rate got worse.
    Worse = 7,
}

impl ExitStatus {
    /// Returns the meaning of the status in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            ExitStatus::AsExpected => {
                "No verdict differs from the expected one and every mutant was noticed."
            }
            ExitStatus::Unexpected => "A verdict is not the expected one.",
            ExitStatus::Inconclusive => "A claim is inconclusive at sizes at which it should not be.",
            ExitStatus::MutantSurvived => "A mutant was not noticed, so its claim's check proves nothing.",
            ExitStatus::Broken => "An experiment ended with an error.",
            ExitStatus::NothingRun => "Nothing ran.",
            ExitStatus::Worse => "A tracked convergence rate is worse than the baseline's.",
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// The exit status, which is that of the gravest problem.
    pub exit: ExitStatus,
    /// One status per claim, in the order of the record.
    pub claims: Vec<ClaimStatus>,
}

impl RunStatus {
    /// Returns the outcome of a run from its record, and from its comparison with a baseline if there is one.
    pub fn of(record: &RunRecord, comparison: Option<&Comparison>) -> Self {
        let quick = record.run.tier == RunTier::Quick.to_string();
        let tier = if quick { RunTier::Quick } else { RunTier::Full };
        let claims: Vec<_> = record.claims.iter().map(|claim| ClaimStatus::of(claim, tier)).collect();
        let worse = comparison.is_some_and(Comparison::is_worse);
        let exit = match exit(&claims) {
            ExitStatus::AsExpected if worse => ExitStatus::Worse,
            exit => exit,
        };
        RunStatus { exit, claims }
    }
}

fn exit(claims: &[ClaimStatus]) -> ExitStatus {
    if claims.iter().all(|status| *status == ClaimStatus::NotRun) {
        return ExitStatus::NothingRun;
    }
    let gravest_first = [
        (ClaimStatus::Broken, ExitStatus::Broken),
        (ClaimStatus::Unexpected, ExitStatus::Unexpected),
        (ClaimStatus::Untested, ExitStatus::MutantSurvived),
        (ClaimStatus::Inconclusive, ExitStatus::Inconclusive),
    ];
    let found = gravest_first.into_iter().find(|(status, _)| claims.contains(status));
    found.map_or(ExitStatus::AsExpected, |(_, exit)| exit)
}
