//! The file `junit.xml`: one test case per claim and one per mutant, for tools that read JUnit results.

use crate::record::{ClaimRecord, RunRecord};
use crate::run::Timings;
use crate::status::{ClaimStatus, RunStatus};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// Returns the record as JUnit XML.
///
/// # Errors
/// Those of the writer.
pub fn xml(record: &RunRecord, timings: &Timings, status: &RunStatus) -> anyhow::Result<String> {
    let mut report = Report::new("lao verification");
    let mut suites: Vec<TestSuite> = Vec::new();
    for (claim, status) in record.claims.iter().zip(&status.claims) {
        let paper = claim.id.split('-').next().unwrap_or(&claim.id);
        if suites.last().is_none_or(|suite| suite.name.as_str() != paper) {
            suites.push(TestSuite::new(paper));
        }
        let mut case = TestCase::new(claim.id.as_str(), case_status(claim, *status));
        case.set_classname(paper);
        // A number that is no time comes from a file that was changed.
        let seconds = timings.get(&claim.id).copied().unwrap_or(0.0);
        case.set_time(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let mutants = claim.mutants.iter().map(|mutant| {
            let mut status = TestCaseStatus::success();
            if !mutant.noticed {
                status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(format!("not noticed: {}; the judge said {}", mutant.fault, mutant.said));
            }
            let mut case = TestCase::new(mutant.name.as_str(), status);
            case.set_classname(claim.id.as_str());
            case
        });
        if let Some(suite) = suites.last_mut() {
            suite.add_test_case(case);
            suite.add_test_cases(mutants);
        }
    }
    report.add_test_suites(suites);
    Ok(report.to_string()?)
}

fn case_status(claim: &ClaimRecord, status: ClaimStatus) -> TestCaseStatus {
    let said = format!("{}, expected {}", claim.verdict, claim.expected);
    let failure = TestCaseStatus::non_success;
    let (mut case, message) = match status {
        ClaimStatus::Holds | ClaimStatus::Refuted | ClaimStatus::Vacuous => return TestCaseStatus::success(),
        ClaimStatus::NotRun => (TestCaseStatus::skipped(), claim.honest.not_run.clone().unwrap_or_default()),
        ClaimStatus::Broken => (failure(NonSuccessKind::Error), claim.honest.error.clone().unwrap_or(said)),
        ClaimStatus::Inconclusive
        | ClaimStatus::Partial
        | ClaimStatus::Unexpected
        | ClaimStatus::Untested => {
            let why = claim.unpredicted.iter().fold(said, |said, why| said + "; " + why);
            (failure(NonSuccessKind::Failure), why)
        }
    };
    case.set_message(message);
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn every_claim_and_mutant_is_a_case() {
        let record = sample::record();
        let text = xml(&record, &Timings::new(), &RunStatus::of(&record, None)).unwrap();
        let cases = record.claims.len() + record.claims.iter().map(|c| c.mutants.len()).sum::<usize>();
        assert_eq!(text.matches("<testcase").count(), cases);
        assert!(text.contains("<failure") && text.contains("<skipped") && text.contains("<error"), "{text}");
    }
}
