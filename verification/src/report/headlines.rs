//! The first screen of the report: one row per paper, one column per question, and the claims that answer it.

use super::view::{self, PlotView};
use crate::errata::{self, ErratumKind};
use crate::judge::FindingKind;
use crate::paper::Paper;
use crate::papers;
use crate::record::{ClaimRecord, RunRecord};
use crate::status::ClaimStatus;
use lao_figures::number;
use serde::Serialize;

/// The questions, and for each paper the claims that answer them. A paper that says nothing on a question has
/// no claim there.
const QUESTIONS: [Question; 3] = [
    Question {
        title: "Linear convergence, or the rate that is promised",
        answers: &[
            ("ms18", &["ms18-thm41-literal", "ms18-thm43-general"]),
            ("scsg20", &["scsg20-linear-rate", "scsg20-thm1-corrected"]),
            ("hk12", &["hk12-thm31-risk", "hk12-thm34-risk", "hk12-thm44-risk"]),
            ("ito17", &["ito17-thm2-first", "ito17-alg23-exponent"]),
            ("pursuit", &["pursuit-rate", "pursuit-figure-1"]),
        ],
    },
    Question {
        title: "Examples, or gradient calls, for accuracy eps",
        answers: &[
            ("ms18", &["ms18-cor42-eps", "ms18-cor45-advantage"]),
            ("scsg20", &["scsg20-n-independence", "scsg20-cor12-ifo"]),
            ("hk12", &["hk12-table1-ridge", "hk12-table1-lasso"]),
            ("ito17", &["ito17-alg1-exponent"]),
            ("pursuit", &["pursuit-identification"]),
        ],
    },
    Question {
        title: "Support recovered",
        answers: &[
            ("ms18", &["ms18-thm44-literal", "ms18-thm44-support-implication"]),
            ("ito17", &["ito17-lem3-selection", "ito17-alg2-consistency"]),
            ("pursuit", &["pursuit-false-inclusion", "pursuit-small-study"]),
        ],
    },
];

struct Question {
    title: &'static str,
    answers: &'static [(&'static str, &'static [&'static str])],
}

#[derive(Debug, Serialize)]
pub(super) struct Headlines {
    pub questions: Vec<&'static str>,
    pub rows: Vec<HeadlineRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct HeadlineRow {
    pub paper: &'static str,
    pub title: &'static str,
    /// One list of claims per question.
    pub answers: Vec<Vec<Answer>>,
    pub errors: usize,
    pub shown: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub id: String,
    pub verdict: String,
    pub class: &'static str,
    pub mark: &'static str,
    /// What was found against what is allowed, in the sharpest cell.
    pub found: Option<String>,
    pub plot: Option<String>,
}

/// Returns the first screen of a record; papers without a claim in the record are left out.
pub(super) fn headlines(record: &RunRecord, statuses: &[ClaimStatus]) -> anyhow::Result<Headlines> {
    let shown = errata::shown_by(record);
    let ran = |paper: &&Paper| record.claims.iter().any(|c| c.id.split('-').next() == Some(paper.name));
    let rows = papers::PAPERS.iter().filter(ran).map(|paper| {
        let errors = errata::of_paper(paper).filter(|erratum| erratum.kind == ErratumKind::Error);
        let is_shown = |erratum: &&_| shown.iter().any(|by| by.erratum == *erratum);
        let answers = QUESTIONS.iter().map(|question| {
            let ids = question.answers.iter().find(|(name, _)| *name == paper.name);
            let ids = ids.map_or(&[][..], |(_, ids)| ids);
            let found = ids.iter().filter_map(|id| record.claims.iter().position(|claim| claim.id == *id));
            found.map(|i| answer(&record.claims[i], statuses[i])).collect()
        });
        Ok(HeadlineRow {
            paper: paper.name,
            title: paper.title,
            answers: answers.collect::<anyhow::Result<_>>()?,
            errors: errors.clone().count(),
            shown: errors.filter(is_shown).count(),
        })
    });
    let questions = QUESTIONS.iter().map(|question| question.title).collect();
    Ok(Headlines { questions, rows: rows.collect::<anyhow::Result<_>>()? })
}

fn answer(claim: &ClaimRecord, status: ClaimStatus) -> anyhow::Result<Answer> {
    let (class, mark) = status.badge();
    let bounds = claim.honest.cells.iter().filter(|cell| cell.finding.kind != FindingKind::Exact);
    let sharpest = bounds.max_by(|a, b| {
        let tightness = |cell: &crate::context::Cell| cell.finding.tightness.unwrap_or(f64::NEG_INFINITY);
        tightness(a).total_cmp(&tightness(b))
    });
    let found = sharpest.map(|cell| {
        let (found, allowed) = (number(cell.finding.estimate), number(cell.finding.bound));
        format!("{}: found {found}, allowed {allowed}", cell.name)
    });
    let plot: Option<PlotView> = view::plots(claim)?.into_iter().next();
    Ok(Answer {
        id: claim.id.clone(),
        verdict: claim.verdict.to_string(),
        class,
        mark,
        found,
        plot: plot.map(|plot| plot.svg),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_a_claim_of_its_paper_and_every_paper_has_one() {
        for question in QUESTIONS {
            for (paper, ids) in question.answers {
                for id in *ids {
                    let claim = papers::find(id).unwrap_or_else(|| panic!("{id} is no claim"));
                    assert_eq!(claim.paper(), *paper, "{id}");
                }
            }
        }
        for paper in papers::PAPERS.iter().filter(|paper| !paper.errata.is_empty()) {
            let answers = |question: &&Question| question.answers.iter().any(|(name, _)| *name == paper.name);
            assert!(QUESTIONS.iter().filter(answers).count() >= 2, "{}", paper.name);
        }
    }
}
