//! The errata of all papers, and the claims that show them.
//!
//! Each paper's errata are in the crate of its claims. `ERRATA.md` is the [`markdown`] of the last run's
//! record.

use crate::claim::Claim;
use crate::context::Cell;
use crate::paper::Erratum;
use crate::papers;
use crate::record::{ClaimRecord, RunRecord};
use lao_figures::{number, p_value};
use std::fmt::Write as _;

/// Returns all errata, paper by paper.
pub fn all() -> impl Iterator<Item = &'static Erratum> {
    papers::PAPERS.iter().flat_map(|paper| paper.errata)
}

/// Returns the erratum of this number in this paper.
pub fn find(paper: &str, number: u32) -> Option<&'static Erratum> {
    all().find(|erratum| erratum.paper == paper && erratum.number == number)
}

/// Returns the errata that a claim shows or corrects.
pub fn of(claim: &Claim) -> impl Iterator<Item = &'static Erratum> {
    claim.standing.errata.iter().filter_map(|number| find(claim.paper(), *number))
}

/// Returns the pairs of an erratum and a claim that lists the erratum and got its expected verdict in this
/// record.
pub fn shown_by(record: &RunRecord) -> Vec<(&'static Erratum, &str)> {
    let good = record.claims.iter().filter(|claim| claim.as_expected && claim.honest.not_run.is_none());
    let pairs = good.flat_map(|shown| {
        papers::find(&shown.id).into_iter().flat_map(of).map(|erratum| (erratum, shown.id.as_str()))
    });
    pairs.collect()
}

/// Returns the number of errata that a claim of this record shows.
pub fn count_shown(record: &RunRecord) -> usize {
    let shown = shown_by(record);
    all().filter(|erratum| shown.iter().any(|(other, _)| other == erratum)).count()
}

/// The beginning of `ERRATA.md`.
const HEAD: &str = "# Errata\n\nWritten by `cargo xtask report` from a run of `cargo xtask verify";

/// Returns whether a page is one that [`markdown`] returned.
pub fn is_generated(page: &str) -> bool {
    page.starts_with(HEAD)
}

/// Returns the text of `ERRATA.md`: each erratum with the numbers of the claims that show it.
pub fn markdown(record: &RunRecord) -> String {
    let shown = shown_by(record);
    let mut text = format!(
        "{HEAD} --tier {}`; do not edit. {} errata, {} of them shown by a claim that ran.\n",
        record.run.tier,
        all().count(),
        count_shown(record),
    );
    for paper in papers::PAPERS {
        let _ = write!(text, "\n## {}\n\nIn the formulas {}.\n", paper.title, paper.notation);
        for erratum in paper.errata {
            let Erratum { number, place, printed, corrected, why, .. } = *erratum;
            let [place, printed, corrected, why] = [place, printed, corrected, why].map(literal);
            let _ = write!(
                text,
                "\n### {}-E{number}. {place}\n\n- Printed: {printed}.\n- Corrected: {corrected}.\n\n{why}\n",
                paper.name
            );
            let ids: Vec<&str> = shown.iter().filter(|(e, _)| *e == erratum).map(|(_, id)| *id).collect();
            if ids.is_empty() {
                text += "\nNo claim of this run shows it.\n";
            }
            for claim in record.claims.iter().filter(|claim| ids.contains(&claim.id.as_str())) {
                text += &evidence(claim);
            }
        }
    }
    text
}

/// Returns the numbers of one claim for at most four of its cells, those with the strongest evidence first.
fn evidence(claim: &ClaimRecord) -> String {
    const SHOWN: usize = 4;
    let mut text = format!(
        "\n`cargo xtask verify {}`: {} ({}).\n\n",
        claim.id,
        claim.verdict,
        literal(claim.sentence.trim_end_matches('.'))
    );
    let refuted = claim.expected == "REFUTED";
    let telling =
        |cell: &Cell| if refuted { cell.finding.p_refute } else { -cell.finding.tightness.unwrap_or(0.0) };
    let mut cells: Vec<&Cell> = claim.honest.cells.iter().collect();
    cells.sort_by(|a, b| telling(a).total_cmp(&telling(b)));
    if !cells.is_empty() {
        text += "| setting | found | allowed | found/allowed | p |\n|---|---|---|---|---|\n";
    }
    for Cell { name, finding } in cells.iter().take(SHOWN) {
        let p = p_value(if refuted { finding.p_refute } else { finding.p_support });
        let ratio = finding.tightness.map_or_else(String::new, number);
        let (found, allowed) = (number(finding.estimate), number(finding.bound));
        let _ = writeln!(text, "| {} | {found} | {allowed} | {ratio} | {p} |", literal(name));
    }
    if cells.len() > SHOWN {
        let more = cells.len() - SHOWN;
        let _ = writeln!(text, "\nand {more} more setting{}.", if more == 1 { "" } else { "s" });
    }
    if !claim.honest.notes.is_empty() {
        let notes: Vec<_> =
            claim.honest.notes.iter().map(|n| format!("{}: {}", literal(&n.name), number(n.value))).collect();
        let _ = writeln!(text, "\nFigures: {}.", notes.join("; "));
    }
    text
}

/// Returns `text` escaped so that Markdown shows it unchanged, also in a table: without emphasis, tags or new
/// cells.
pub(crate) fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' | '|' | '`' | '<' | '[' | '\\' => escaped.extend(['\\', c]),
            '\n' => escaped.push(' '),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_from_one_without_gaps() {
        for paper in papers::PAPERS {
            assert!(paper.errata.iter().map(|erratum| erratum.number).eq(1..=paper.errata.len() as u32));
            assert!(paper.errata.iter().all(|erratum| erratum.paper == paper.name));
        }
    }

    #[test]
    fn claims_name_known_errata() {
        for claim in papers::all() {
            for number in claim.standing.errata {
                assert!(
                    find(claim.paper(), *number).is_some(),
                    "{} names erratum {number}, which does not exist",
                    claim.id
                );
            }
        }
    }

    #[test]
    fn markdown_shows_text_as_it_is() {
        assert_eq!(literal("s*|x\n<y>"), "s\\*\\|x \\<y>");
    }

    #[test]
    fn an_erratum_that_no_claim_shows_is_said_to_be_so() {
        let record = crate::report::sample::record();
        let text = markdown(&RunRecord { claims: Vec::new(), ..record });
        assert!(is_generated(&text) && !is_generated("# Errata\n\nMine.\n"));
        assert_eq!(text.matches("No claim of this run shows it.").count(), all().count());
    }
}
