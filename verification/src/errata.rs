//! The errata of all papers, and the claims that show them.
//!
//! Each paper's errata are in the file `errata.toml` of the crate of its claims. `ERRATA.md` is the
//! [`markdown`] of the last run's record.

use crate::claim::Claim;
use crate::context::Cell;
use crate::judge::{Finding, FindingKind, property::undetected_fraction};
use crate::paper::Paper;
use crate::papers;
use crate::record::{ClaimRecord, RunRecord};
use crate::verdict::{CellRecord, CellVerdict};
use lao_figures::{number, p_value};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::sync::OnceLock;

/// The kind of a remark on a printed text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErratumKind {
    /// The print is false, or contradicts itself.
    #[default]
    Error,
    /// A slip of the pen: another place of the paper has it right, or nothing else makes sense.
    Misprint,
    /// A proof does not show what it is for; the statement is open, or true for another reason.
    Gap,
    /// The print is true, and a better statement is true too.
    Improvement,
    /// The print leaves something open; this project reads it in one way.
    Reading,
    /// It rests on a mark of the text that was at hand, which may not be that of the print.
    Unchecked,
}

/// One erratum, improvement or reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    /// The short name of the paper, which the file does not have.
    #[serde(default)]
    pub paper: String,
    /// The number of the erratum in the paper, from 1, without gaps; `Standing::errata` refers to it.
    pub number: u32,
    /// Whether the print is false, could be better, or leaves something open.
    #[serde(default)]
    pub kind: ErratumKind,
    /// The place in the paper.
    pub place: String,
    /// The text as printed.
    pub printed: String,
    /// The text as it should be.
    pub corrected: String,
    /// The reason, in a sentence or two.
    pub why: String,
}

/// Reads the errata of a paper, in their order.
fn read(paper: &Paper) -> Result<Vec<Erratum>, toml::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        errata: Vec<Erratum>,
    }
    let File { errata } = toml::from_str(paper.errata)?;
    Ok(errata.into_iter().map(|erratum| Erratum { paper: paper.name.into(), ..erratum }).collect())
}

/// Returns all errata, paper by paper.
pub fn all() -> &'static [Erratum] {
    static ALL: OnceLock<Vec<Erratum>> = OnceLock::new();
    // A test reads every file, so that none is left out here.
    ALL.get_or_init(|| papers::PAPERS.iter().flat_map(|paper| read(paper).unwrap_or_default()).collect())
}

/// Returns the errata of a paper, in their order.
pub fn of_paper(paper: &Paper) -> impl Iterator<Item = &'static Erratum> + Clone {
    all().iter().filter(|erratum| erratum.paper == paper.name)
}

/// Returns the erratum of this number in this paper.
pub fn find(paper: &str, number: u32) -> Option<&'static Erratum> {
    all().iter().find(|erratum| erratum.paper == paper && erratum.number == number)
}

/// Returns the errata that a claim shows or corrects.
pub fn of(claim: &Claim) -> impl Iterator<Item = &'static Erratum> {
    claim.standing.errata.iter().filter_map(|number| find(claim.paper(), *number))
}

/// A claim of a record beside an erratum that one of its cells shows.
#[derive(Clone, Copy, Debug)]
pub struct ShownBy<'a> {
    /// The erratum.
    pub erratum: &'static Erratum,
    /// The claim.
    pub claim: &'a ClaimRecord,
    /// How the names of the cells begin.
    pub cell: &'static str,
}

/// Returns the errata that cells of this record show: the claim got its expected verdict, and the cell is one
/// whose verdict depends on that erratum alone.
pub fn shown_by(record: &RunRecord) -> Vec<ShownBy<'_>> {
    let good = record.claims.iter().filter(|claim| claim.as_expected && claim.honest.not_run.is_none());
    let pairs = good.flat_map(|record| {
        let claim = papers::find(&record.id);
        let shows = claim.map_or(&[][..], |claim| claim.standing.shows);
        shows.iter().filter_map(move |shown| {
            let decided = |cell: &CellRecord| {
                cell.name.starts_with(shown.cell)
                    && matches!(cell.said, CellVerdict::Supported | CellVerdict::Refuted)
            };
            let erratum = find(claim?.paper(), shown.erratum)?;
            let is_judged = record.cells.iter().any(decided);
            is_judged.then_some(ShownBy { erratum, claim: record, cell: shown.cell })
        })
    });
    pairs.collect()
}

/// Returns the number of errata that a cell of this record shows.
pub fn count_shown(record: &RunRecord) -> usize {
    let shown = shown_by(record);
    all().iter().filter(|&erratum| shown.iter().any(|by| by.erratum == erratum)).count()
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
    let count = |kind| all().iter().filter(|erratum| erratum.kind == kind).count();
    let mut text = format!(
        "{HEAD} --tier {}`; do not edit.\n\n{} errors, {} misprints, {} gaps, {} improvements and {} \
         readings. {} of these rows are shown by a cell whose verdict depends on that row alone; the others \
         can be read off the page.\n",
        record.run.tier,
        count(ErratumKind::Error),
        count(ErratumKind::Misprint),
        count(ErratumKind::Gap),
        count(ErratumKind::Improvement),
        count(ErratumKind::Reading),
        count_shown(record),
    );
    for (kind, title, lead) in KINDS {
        let _ = write!(text, "\n## {title}\n\n{lead}\n");
        for paper in papers::PAPERS {
            let mut rows = of_paper(paper).filter(|erratum| erratum.kind == kind).peekable();
            if rows.peek().is_some() {
                let _ = write!(text, "\n### {}\n\nIn the formulas {}.\n", paper.title, paper.notation);
            }
            for erratum in rows {
                let Erratum { number, place, printed, corrected, why, .. } = erratum;
                let [place, printed, corrected, why] =
                    [place, printed, corrected, why].map(|text| literal(text));
                let [old, new] = kind_words(kind);
                let _ = write!(
                    text,
                    "\n#### {}-E{number}. {place}\n\n- {old}: {printed}.\n- {new}: {corrected}.\n\n{why}\n",
                    paper.name
                );
                let by: Vec<_> = shown.iter().filter(|by| by.erratum == erratum).collect();
                if by.is_empty() {
                    text += &concerned(record, erratum);
                }
                by.iter().for_each(|by| text += &evidence(by.claim, by.cell));
            }
        }
    }
    text
}

/// The parts of `ERRATA.md`.
const KINDS: [(ErratumKind, &str, &str); 6] = [
    (
        ErratumKind::Error,
        "Errors",
        "What is printed is false, and what rests on it changes: a constant, a condition, a rate or a proof.",
    ),
    (
        ErratumKind::Misprint,
        "Misprints",
        "A slip of the pen: another place of the paper has it right, or nothing else makes sense, and \
         nothing rests on the printed form.",
    ),
    (
        ErratumKind::Gap,
        "Gaps",
        "What is printed does not follow from what is shown; whether it is true is open.",
    ),
    (
        ErratumKind::Improvement,
        "Improvements",
        "What is printed is true; what is set against it is true too, and says more.",
    ),
    (
        ErratumKind::Reading,
        "Readings",
        "What is printed leaves something open; this project reads it in the way that is set beside it.",
    ),
    (
        ErratumKind::Unchecked,
        "Not checked against the print",
        "These rest on a mark of the text that was at hand, a scan, and are counted nowhere.",
    ),
];

/// The words for the print and for what is set against it.
fn kind_words(kind: ErratumKind) -> [&'static str; 2] {
    match kind {
        ErratumKind::Error | ErratumKind::Misprint | ErratumKind::Unchecked => ["Printed", "Corrected"],
        ErratumKind::Gap => ["Printed", "What follows"],
        ErratumKind::Improvement => ["Printed", "Better"],
        ErratumKind::Reading => ["Printed", "Read as"],
    }
}

/// Says which claims concern an erratum that no cell shows by itself.
fn concerned(record: &RunRecord, erratum: &Erratum) -> String {
    let concern = |claim: &&ClaimRecord| {
        papers::find(&claim.id).is_some_and(|claim| {
            claim.paper() == erratum.paper && claim.standing.errata.contains(&erratum.number)
        })
    };
    let ids: Vec<_> = record.claims.iter().filter(concern).map(|claim| format!("`{}`", claim.id)).collect();
    match ids.is_empty() {
        true => "\nNo claim of this run concerns it.\n".into(),
        false => format!("\nNo cell depends on it alone; it concerns {}.\n", ids.join(", ")),
    }
}

/// Returns the numbers of the cells of a claim that show an erratum, at most four of them.
fn evidence(claim: &ClaimRecord, shown: &str) -> String {
    const SHOWN: usize = 4;
    let mut text = format!(
        "\n`cargo xtask verify {}`: {} ({}).\n\n",
        claim.id,
        claim.verdict,
        literal(claim.sentence.trim_end_matches('.'))
    );
    let cells = claim.honest.cells.iter().zip(&claim.cells);
    let cells: Vec<_> = cells.filter(|(cell, _)| cell.name.starts_with(shown)).collect();
    text += "| setting | found | allowed | found/allowed | evidence |\n|---|---|---|---|---|\n";
    for (Cell { name, finding }, record) in cells.iter().take(SHOWN) {
        let p = finding_evidence(finding, record.said == CellVerdict::Refuted, claim.alpha);
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

/// Says how strong the evidence of a finding is, against its statement (`refuted`) or for it.
///
/// What is computed has no p-value: an identity holds or fails to its tolerance, and for an inequality that
/// no random instance violates, the share of violating instances is bounded.
pub(crate) fn finding_evidence(finding: &Finding, refuted: bool, alpha: f64) -> String {
    match (finding.kind, refuted) {
        (FindingKind::Exact, _) => "computed".into(),
        (FindingKind::Property, true) => "counterexample".into(),
        (FindingKind::Property, false) if finding.p_support > 0.0 => "violated".into(),
        (FindingKind::Property, false) => {
            let share = undetected_fraction(finding.n_trials, alpha);
            format!("no violation in {} instances (share above {} excluded)", finding.n_trials, number(share))
        }
        (_, true) => equals_p(finding.p_refute),
        (_, false) => equals_p(finding.p_support),
    }
}

fn equals_p(p: f64) -> String {
    let p = p_value(p);
    if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") }
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
            let errata = read(paper).unwrap();
            assert!(
                errata.iter().map(|erratum| erratum.number).eq(1..=errata.len() as u32),
                "{}",
                paper.name
            );
            assert_eq!(errata.is_empty(), paper.errata.is_empty());
            assert!(of_paper(paper).eq(&errata));
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
        assert_eq!(text.matches("No claim of this run concerns it.").count(), all().len());
    }
}
