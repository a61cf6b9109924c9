//! The file `summary.md`, for the page of a continuous integration run, and the table of results in the
//! README.

use crate::claim::Regime;
use crate::comparison::Comparison;
use crate::errata::{self, literal};
use crate::record::{ClaimRecord, RunRecord};
use crate::status::RunStatus;
use crate::verdict::Verdict;
use std::fmt::Write as _;

/// Returns a summary of the run in one page.
pub fn summary(record: &RunRecord, comparison: Option<&Comparison>, status: &RunStatus) -> String {
    let mut text = format!(
        "# Verification: {}\n\nExit status {}: {}\n\n{}\n\n| claim | place | verdict | expected | tightness \
         | mutants |\n|---|---|---|---|---|---|\n",
        record.run.tier,
        status.exit as u8,
        status.exit.meaning(),
        record.summary(),
    );
    for (claim, status) in record.claims.iter().zip(&status.claims) {
        let noticed = claim.mutants.iter().filter(|mutant| mutant.noticed).count();
        let mark = status.badge().1;
        let tightness = claim.tightness.map_or_else(String::new, |tightness| tightness.to_string());
        let _ = writeln!(
            text,
            "| {} | {} | {mark} {} | {} | {tightness} | {noticed}/{} |",
            claim.id,
            literal(&claim.place),
            claim.verdict,
            claim.expected,
            claim.mutants.len()
        );
    }
    for claim in &record.claims {
        let trouble = claim.honest.error.as_ref().or(claim.honest.not_run.as_ref());
        if let Some(why) = trouble {
            let _ = write!(text, "\n- {}: {}", claim.id, literal(why));
        }
        for cell in claim.cells.iter().filter(|cell| !cell.is_shown()) {
            let _ = write!(text, "\n- {}: no mutant refutes the cell {}", claim.id, literal(&cell.name));
        }
        for difference in &claim.unpredicted {
            let _ = write!(text, "\n- {}: not as predicted: {}", claim.id, literal(difference));
        }
        for mutant in claim.mutants.iter().filter(|mutant| !mutant.noticed) {
            let said = literal(&mutant.said);
            let _ =
                write!(text, "\n- {}: mutant `{}` not noticed, the judge said {said}", claim.id, mutant.name);
        }
    }
    if let Some(comparison) = comparison {
        let _ = write!(text, "\n\n## Compared with the baseline\n\n```text\n{comparison}\n```\n");
    }
    text
}

/// Returns the part of the README that shows a record: the number of claims with each verdict, by how close
/// the experiment is to the statement, and the number of errata that are shown.
pub fn results(record: &RunRecord) -> String {
    let mutants: Vec<_> = record.claims.iter().flat_map(|claim| &claim.mutants).collect();
    let noticed = mutants.iter().filter(|mutant| mutant.noticed).count();
    let mut text = format!(
        "Tier {}, seed {}: {} claims, {} verdicts as expected, {noticed} of {} mutants noticed,\n{} \
         [errata](ERRATA.md) shown.\n\n| constants | claims | HOLDS | REFUTED as printed | readings \
         REFUTED | other |\n|---|---:|---:|---:|---:|---:|\n",
        record.run.tier,
        record.run.seed,
        record.claims.len(),
        record.claims.iter().filter(|claim| claim.as_expected).count(),
        mutants.len(),
        errata::count_shown(record),
    );
    let regimes = [
        (Regime::Deterministic, "none: algebra and enumeration"),
        (Regime::Literal, "exactly the theorem's"),
        (Regime::Practical, "practical ones"),
    ];
    for (regime, name) in regimes {
        let claims: Vec<_> = record.claims.iter().filter(|claim| claim.regime == regime).collect();
        let holds = claims.iter().filter(|c| c.verdict == Verdict::Holds).count();
        let refuted = claims.iter().copied().filter(|c| c.verdict == Verdict::Refuted && c.as_expected);
        let (readings, prints): (Vec<&ClaimRecord>, Vec<&ClaimRecord>) =
            refuted.partition(|claim| claim.is_a_reading());
        let mut other: Vec<String> = Vec::new();
        for verdict in [
            Verdict::Vacuous,
            Verdict::Inconclusive,
            Verdict::NotRun,
            Verdict::Refuted,
            Verdict::Untested,
            Verdict::Error,
        ] {
            let n = claims
                .iter()
                .filter(|c| c.verdict == verdict && !(verdict == Verdict::Refuted && c.as_expected));
            match n.count() {
                0 => {}
                n => other.push(format!("{n} {verdict}")),
            }
        }
        let _ = writeln!(
            text,
            "| {name} | {} | {holds} | {} | {} | {} |",
            claims.len(),
            prints.len(),
            readings.len(),
            other.join(", ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_summary_names_every_claim_and_every_mutant_that_survived() {
        let record = sample::record();
        let text = summary(&record, None, &RunStatus::of(&record, None));
        for claim in &record.claims {
            assert!(text.contains(&claim.id));
            for mutant in claim.mutants.iter().filter(|mutant| !mutant.noticed) {
                assert!(text.contains(&mutant.name));
            }
        }
        assert!(text.contains("Exit status"));
    }

    #[test]
    fn results_count_every_claim_once() {
        let record = sample::record();
        assert!(results(&record).contains(&format!("{} claims", record.claims.len())));
    }
}
