//! The outcome of a run: the status of each claim, and the exit status. It is computed once and passed to
//! every writer.

use crate::comparison::Comparison;
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
    /// It did not run, as it said that it would not, or for lack of data that it names.
    NotRun,
    /// It is inconclusive, at sizes at which it should not be.
    Inconclusive,
    /// Not all of its planned cells were judged.
    Partial,
    /// Its verdict is not the expected one.
    Unexpected,
    /// A mutant of the claim was not noticed.
    Untested,
    /// The claim's experiment ended with an error.
    Broken,
}

impl ClaimStatus {
    /// The status of a claim; it is the same in every tier.
    pub fn of(claim: &ClaimRecord) -> Self {
        match claim.verdict {
            Verdict::Error => ClaimStatus::Broken,
            Verdict::Untested => ClaimStatus::Untested,
            Verdict::NotRun if claim.as_expected || claim.honest.waits_for_data => ClaimStatus::NotRun,
            Verdict::Inconclusive => ClaimStatus::Inconclusive,
            Verdict::Partial => ClaimStatus::Partial,
            Verdict::Holds if claim.as_expected => ClaimStatus::Holds,
            Verdict::Refuted if claim.as_expected => ClaimStatus::Refuted,
            Verdict::Vacuous if claim.as_expected => ClaimStatus::Vacuous,
            Verdict::Holds | Verdict::Refuted | Verdict::Vacuous | Verdict::NotRun => ClaimStatus::Unexpected,
        }
    }

    /// Returns whether the claim fails a run of any tier.
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            ClaimStatus::Inconclusive
                | ClaimStatus::Partial
                | ClaimStatus::Unexpected
                | ClaimStatus::Untested
                | ClaimStatus::Broken
        )
    }

    /// Returns the class and the mark of a claim in a report. The report also prints the verdict, so that no
    /// reader depends on color.
    pub fn badge(self) -> (&'static str, &'static str) {
        match self {
            ClaimStatus::Holds => ("good", "✓"),
            ClaimStatus::Refuted => ("errata", "✓"),
            ClaimStatus::Vacuous | ClaimStatus::NotRun => ("plain", "–"),
            ClaimStatus::Inconclusive => ("open", "?"),
            ClaimStatus::Partial | ClaimStatus::Unexpected | ClaimStatus::Untested | ClaimStatus::Broken => {
                ("bad", "✗")
            }
        }
    }
}

/// The exit status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Every verdict is as expected and every mutant was noticed.
    AsExpected = 0,
    /// A verdict is not the expected one.
    Unexpected = 1,
    /// A claim is inconclusive.
    Inconclusive = 3,
    /// A mutant was not noticed.
    MutantSurvived = 4,
    /// An experiment ended with an error.
    Broken = 5,
    /// Nothing ran.
    NothingRun = 6,
    /// A tracked rate got worse.
    Worse = 7,
    /// A claim judged other cells than it planned.
    Partial = 8,
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
            ExitStatus::Partial => "A claim did not judge exactly the cells that it planned.",
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
        let claims: Vec<_> = record.claims.iter().map(ClaimStatus::of).collect();
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
        (ClaimStatus::Partial, ExitStatus::Partial),
        (ClaimStatus::Inconclusive, ExitStatus::Inconclusive),
    ];
    let found = gravest_first.into_iter().find(|(status, _)| claims.contains(status));
    found.map_or(ExitStatus::AsExpected, |(_, exit)| exit)
}
