//! The first screen of the report: one row per paper, one column per question, and the claims that answer it.

use super::view::{self, PlotView};
use crate::errata::{self, ErratumKind};
use crate::paper::Paper;
use crate::papers;
use crate::record::{ClaimRecord, RunRecord};
use crate::status::ClaimStatus;
use lao_figures::number;
use serde::Serialize;

/// The questions, and for each paper the cells that answer them.
const QUESTIONS: [Question; 3] = [
    Question {
        title: "Does it converge as promised?",
        answers: &[
            Said {
                claim: "ms18-thm41-literal",
                cell: "kappa = 1, T = 32",
                words: "Exploration's gap falls as (1 - 1/32)^t in {rest} % of runs; promised 90 %",
            },
            Said {
                claim: "scsg20-linear-rate",
                cell: "log D falls by 2 eta rho a step",
                words: "SCSG-HT's squared error falls by e^{found} a step; theory e^{promised}",
            },
            Said {
                claim: "hk12-thm31-risk",
                cell: "16 hard rows, d = 16, k = 2, m = 8,000",
                words: "AERR's excess risk on the hardest rows is {found}; promised {promised} at most",
            },
            Said {
                claim: "hk12-thm34-risk",
                cell: "axis, d = 10, k = 11, m = 3,000",
                words: "AELR's excess risk on an axis is {found}; promised {promised} at most",
            },
            Said {
                claim: "ito17-alg1-exponent",
                cell: "exponent of the mean regret",
                words: "Algorithm 1's regret grows as T^{found}; theory T^{promised} at most",
            },
            Said {
                claim: "ito17-alg23-exponent",
                cell: "A2: exponent of the mean regret",
                words: "Algorithm 2's regret grows as T^{found}; theory T^{promised} at most",
            },
            Said {
                claim: "pursuit-rate",
                cell: "independent: exponent",
                words: "Pursuit's excess risk falls as n^{found}; least squares n^{promised}",
            },
        ],
    },
    Question {
        title: "What does accuracy cost?",
        answers: &[
            Said {
                claim: "ms18-cor42-eps",
                cell: "gap against B: exponent -1",
                words: "Exploration's error falls as (examples)^{found}; theory {promised}",
            },
            Said {
                claim: "ms18-cor45-advantage",
                cell: "(a) r = 1: at eps = 0.0001 at most a quarter",
                words: "Hybrid needs {percent} % of Exploration's examples; promised 25 % at most",
            },
            Said {
                claim: "scsg20-n-independence",
                cell: "SCSG-HT: exponent of calls in n",
                words: "SCSG-HT's gradient calls grow as n^{found}; theory n^{promised}",
            },
            Said {
                claim: "scsg20-n-independence",
                cell: "SVRG-HT: exponent of calls in n",
                words: "SVRG-HT's gradient calls grow as n^{found}; theory n^{promised}",
            },
            Said {
                claim: "hk12-table1-ridge",
                cell: "excess/eps at m = 32 d K/k, in d: at the largest, at most 0.525",
                words: "AERR's error with examples in proportion to d is {found} eps; promised {promised}",
            },
            Said {
                claim: "hk12-table1-lasso",
                cell: "excess/eps at m = 160 d log(2d)/(k eps^2), in d: at the largest, at most 0.35",
                words: "AELR's error with examples as d log d is {found} eps; promised {promised} at most",
            },
            Said {
                claim: "ito17-thm2-first",
                cell: "sharper bound, and half of zero's, (d, k, k') = (6, 2, 5), 1 lambda, t^0.5",
                words: "Algorithm 1's regret is {found}; the sharper bound is {promised}",
            },
            Said {
                claim: "pursuit-identification",
                cell: "exponent of d, s' = 12",
                words: "examples to Pursuit's right support grow as d^{found}; promised d^{promised} at most",
            },
        ],
    },
    Question {
        title: "Is the support found?",
        answers: &[
            Said {
                claim: "ms18-thm44-literal",
                cell: "sigma = 300: support from stage 1 on",
                words: "Hybrid's support is right from stage 1 on in {rest} % of runs; promised 70 %",
            },
            Said {
                claim: "ito17-alg2-consistency",
                cell: "a relevant feature is missing or faint in the end with probability at most 0.2",
                words: "Algorithm 2 has all relevant features in the end in {rest} % of runs; promised 80 %",
            },
            Said {
                claim: "pursuit-false-inclusion",
                cell: "independent normal attributes, normal labels",
                words: "Pursuit ever adds an attribute without effect in {percent} % of runs; level 5 %",
            },
            Said {
                claim: "pursuit-small-study",
                cell: "independent, 480 examples: attributes missing of 5, mean",
                words: "Pursuit misses {found} of 5 attributes, from 480 examples; promised {promised}",
            },
        ],
    },
];

/// The figure of each paper on the first screen: a claim, and the place of its figure. It has measurement and
/// theory.
const FIGURES: [(&str, usize); 5] = [
    ("ms18-cor42-eps", 0),
    ("scsg20-n-independence", 0),
    ("hk12-table1-ridge-counts", 0),
    ("ito17-alg1-exponent", 0),
    ("pursuit-rate", 0),
];

struct Question {
    title: &'static str,
    answers: &'static [Said],
}

/// A cell, and what it says in words: `{found}` and `{promised}` stand for its numbers, `{percent}` for what
/// was found in percent, and `{rest}` for what that leaves of 100.
struct Said {
    claim: &'static str,
    cell: &'static str,
    words: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Headlines {
    pub rows: Vec<HeadlineRow>,
}

/// A paper on the first screen.
#[derive(Debug, Serialize)]
pub(super) struct HeadlineRow {
    pub paper: &'static str,
    pub title: &'static str,
    pub questions: Vec<Answers>,
    /// The figure, with the claim that it is of.
    pub figure: Option<(String, PlotView)>,
    pub errors: usize,
    pub shown: usize,
}

/// A question with its answers, of which there may be none.
#[derive(Debug, Serialize)]
pub(super) struct Answers {
    pub title: &'static str,
    pub answers: Vec<Answer>,
}

#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub id: String,
    pub verdict: String,
    pub class: &'static str,
    pub mark: &'static str,
    /// What was found and what is promised, in words.
    pub words: String,
    /// What was found by what is promised, in percent, where that is a ratio; a bar shows it.
    pub ratio: Option<f64>,
}

/// Returns the first screen of a record; papers without a claim in the record are left out.
pub(super) fn headlines(record: &RunRecord, statuses: &[ClaimStatus]) -> anyhow::Result<Headlines> {
    let shown = errata::shown_by(record);
    let of_paper = |id: &str, paper: &Paper| id.split('-').next() == Some(paper.name);
    let ran = |paper: &&Paper| record.claims.iter().any(|claim| of_paper(&claim.id, paper));
    let rows = papers::PAPERS.iter().filter(ran).map(|paper| {
        let errors = errata::of_paper(paper)
            .filter(|erratum| matches!(erratum.kind, ErratumKind::Error | ErratumKind::Misprint));
        let is_shown = |erratum: &&_| shown.iter().any(|by| by.erratum == *erratum);
        let find = |id: &str| record.claims.iter().position(|claim| claim.id == id);
        let questions = QUESTIONS.iter().map(|question| {
            let said = question.answers.iter().filter(|said| of_paper(said.claim, paper));
            let answers = said.filter_map(|said| {
                let i = find(said.claim)?;
                answer(said, &record.claims[i], statuses[i])
            });
            Answers { title: question.title, answers: answers.collect() }
        });
        let figure = FIGURES.iter().find(|(id, _)| of_paper(id, paper));
        let figure = figure.and_then(|(id, place)| Some((&record.claims[find(id)?], *place)));
        let figure = figure.map(|(claim, place)| {
            let plot = view::plots(claim)?.into_iter().nth(place);
            anyhow::Ok(plot.map(|plot| (claim.id.clone(), plot)))
        });
        Ok(HeadlineRow {
            paper: paper.name,
            title: paper.title,
            questions: questions.collect(),
            figure: figure.transpose()?.flatten(),
            errors: errors.clone().count(),
            shown: errors.filter(is_shown).count(),
        })
    });
    Ok(Headlines { rows: rows.collect::<anyhow::Result<_>>()? })
}

/// Returns what a cell says; `None` if its claim did not run. A cell that is not there is named.
fn answer(said: &Said, claim: &ClaimRecord, status: ClaimStatus) -> Option<Answer> {
    let (class, mark) = status.badge();
    if claim.honest.cells.is_empty() {
        return None;
    }
    let (id, verdict) = (claim.id.clone(), claim.verdict.to_string());
    let Some(cell) = claim.honest.cells.iter().find(|cell| cell.name == said.cell) else {
        let words = format!("this run has no cell `{}`", said.cell);
        return Some(Answer { id, verdict, class, mark, words, ratio: None });
    };
    let (found, promised) = (cell.finding.estimate, cell.finding.bound);
    let words = said.words.replace("{found}", &short(found)).replace("{promised}", &short(promised));
    let words = words.replace("{percent}", &short(100.0 * found));
    let words = words.replace("{rest}", &short(100.0 * (1.0 - found)));
    let ratio = Some(100.0 * found / promised).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    Some(Answer { id, verdict, class, mark, words, ratio })
}

/// Returns a number with three digits, which is enough for a first look.
fn short(x: f64) -> String {
    let unit = 10_f64.powf(x.abs().log10().floor() - 2.0);
    number(if unit > 0.0 && unit.is_finite() { (x / unit).round() * unit } else { x })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_look_has_three_digits() {
        assert_eq!([0.07203, -0.9975, 158.72, 0.0, 100.0].map(short), ["0.072", "−0.998", "159", "0", "100"]);
        assert_eq!(short(f64::INFINITY), number(f64::INFINITY));
    }

    #[test]
    fn every_answer_and_every_figure_is_of_a_claim_and_every_paper_has_some() {
        let of = |id: &str| papers::find(id).unwrap_or_else(|| panic!("{id} is no claim")).paper();
        let said = || QUESTIONS.iter().flat_map(|question| question.answers);
        for paper in papers::PAPERS.iter().filter(|paper| !paper.errata.is_empty()) {
            assert!(said().filter(|said| of(said.claim) == paper.name).count() >= 3, "{}", paper.name);
            assert_eq!(FIGURES.iter().filter(|(id, _)| of(id) == paper.name).count(), 1, "{}", paper.name);
        }
    }
}
