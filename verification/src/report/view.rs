//! The content of a page: a record joined with the registry, with every number formatted.

use super::formula;
use super::headlines::{Headlines, headlines};
use crate::claim::{Claim, Must, Regime, StatementForm};
use crate::comparison::Comparison;
use crate::context::{Cell, Figure};
use crate::errata::{self, Erratum, finding_evidence};
use crate::judge::{FindingKind, Interval, Stopped};
use crate::papers;
use crate::record::{ClaimRecord, MutantRecord, RunInfo, RunRecord};
use crate::run::Timings;
use crate::status::{ClaimStatus, ExitStatus, RunStatus};
use crate::verdict::{CellRecord, CellVerdict, Verdict};
use lao_figures::{count, number, p_value, seconds};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Page {
    pub run: RunInfo,
    pub headline: String,
    pub good: bool,
    pub exit: u8,
    pub exit_meaning: &'static str,
    pub counts: Vec<Count>,
    pub mutants_noticed: usize,
    pub mutants: usize,
    pub errata_shown: usize,
    pub errata: Vec<ErratumView>,
    pub headlines: Headlines,
    pub tightness: Option<String>,
    pub comparison: Option<ComparisonView>,
    pub time: String,
    pub claims: Vec<ClaimView>,
}

#[derive(Debug, Serialize)]
pub(super) struct Count {
    pub label: &'static str,
    pub class: &'static str,
    pub n: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct ErratumView {
    pub paper: &'static str,
    pub number: u32,
    pub place: &'static str,
    pub printed: &'static str,
    pub corrected: &'static str,
    pub claims: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ComparisonView {
    pub worse: bool,
    pub text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct ClaimView {
    pub id: String,
    pub place: String,
    pub sentence: String,
    pub mathml: Option<String>,
    pub latex: &'static str,
    pub design: &'static str,
    pub form: &'static str,
    pub regime: &'static str,
    pub verdict: String,
    /// The label of the count that the claim belongs to.
    pub label: String,
    /// The title of the paper, where its first claim stands.
    pub group: Option<&'static str>,
    pub class: &'static str,
    pub mark: &'static str,
    pub expected: String,
    pub as_expected: bool,
    pub alpha: String,
    pub p_refute: String,
    pub p_support: String,
    pub tightness: Option<String>,
    pub time: String,
    pub sizes: Vec<(String, String)>,
    pub errata: Vec<&'static Erratum>,
    pub not_run: Option<String>,
    pub error: Option<String>,
    pub cells: Vec<CellView>,
    pub split: usize,
    pub notes: Vec<(String, String)>,
    pub rates: Vec<RateView>,
    pub mutants: Vec<MutantView>,
    /// How a refutation differs from the predicted one.
    pub unpredicted: Vec<String>,
    pub noticed: usize,
    pub plots: Vec<PlotView>,
}

#[derive(Debug, Serialize)]
pub(super) struct CellView {
    pub name: String,
    pub kind: &'static str,
    pub engine: String,
    pub trials: String,
    pub stopped: &'static str,
    pub estimate: String,
    pub bound: String,
    pub tightness: Option<String>,
    pub interval: Option<String>,
    pub evidence: String,
    /// The verdict on the cell, and its class.
    pub said: String,
    pub class: &'static str,
    /// The mutants that the cell refutes, or why it needs none; empty if nothing shows that it can refute.
    pub shown: String,
    /// The crippled learners that pass the cell.
    pub passed_by: String,
    pub passable: Option<String>,
    pub detectable: Option<String>,
    pub guards: Vec<GuardView>,
    pub note: String,
}

#[derive(Debug, Serialize)]
pub(super) struct GuardView {
    pub name: String,
    pub ok: bool,
    pub value: String,
}

#[derive(Debug, Serialize)]
pub(super) struct RateView {
    pub name: String,
    pub replicates: usize,
    pub mean: String,
    pub range: String,
}

#[derive(Debug, Serialize)]
pub(super) struct MutantView {
    pub name: String,
    pub fault: String,
    pub must: &'static str,
    pub said: String,
    pub noticed: bool,
    /// The cell with the strongest evidence against the mutant or, for a control, the least support.
    pub evidence: String,
}

#[derive(Debug, Serialize)]
pub(super) struct PlotView {
    pub caption: String,
    pub file: String,
    pub svg: String,
}

/// Returns the content of a page.
///
/// # Errors
/// When a plot cannot be drawn.
pub(super) fn page(
    record: &RunRecord,
    timings: &Timings,
    comparison: Option<&Comparison>,
    status: &RunStatus,
) -> anyhow::Result<Page> {
    let mutants: Vec<_> = record.claims.iter().flat_map(|claim| &claim.mutants).collect();
    let noticed = mutants.iter().filter(|mutant| mutant.noticed).count();
    let shown = errata::shown_by(record);
    let errata_view = |erratum: &'static Erratum| {
        let claims = shown.iter().filter(|by| by.erratum == erratum).map(|by| by.claim.id.clone());
        let Erratum { paper, number, place, printed, corrected, .. } = erratum;
        ErratumView { paper, number: *number, place, printed, corrected, claims: claims.collect() }
    };
    let errata: Vec<_> = errata::all().iter().map(errata_view).collect();
    let mut claims = Vec::new();
    let mut last = "";
    for (claim, status) in record.claims.iter().zip(&status.claims) {
        let mut claim_view = claim_view(claim, *status, timings)?;
        let paper = claim.id.split('-').next().unwrap_or_default();
        if paper != last {
            claim_view.group =
                papers::PAPERS.iter().find(|known| known.name == paper).map(|known| known.title);
            last = paper;
        }
        claims.push(claim_view);
    }
    Ok(Page {
        run: record.run.clone(),
        headline: headline(record),
        good: status.exit == ExitStatus::AsExpected,
        exit: status.exit as u8,
        exit_meaning: status.exit.meaning(),
        counts: counts(record),
        mutants_noticed: noticed,
        mutants: mutants.len(),
        errata_shown: errata.iter().filter(|erratum| !erratum.claims.is_empty()).count(),
        errata,
        headlines: headlines(record, &status.claims)?,
        tightness: tightness(record)?,
        comparison: comparison.map(|c| ComparisonView { worse: c.is_worse(), text: c.to_string() }),
        time: seconds(timings.values().sum()),
        claims,
    })
}

/// Returns a plot of the claims' tightness, the sharpest first, or `None` if no claim has one.
fn tightness(record: &RunRecord) -> anyhow::Result<Option<String>> {
    let rows = record
        .claims
        .iter()
        .filter_map(|c| Some((c.id.as_str(), c.tightness.map(|t| t.median).filter(|t| *t > 0.0)?)));
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let label = "largest estimate / bound (1 is sharp)";
    let draw = || lao_figures::bars("Tightness of the bounds", label, &rows);
    (!rows.is_empty()).then(draw).transpose()
}

fn headline(record: &RunRecord) -> String {
    let good = record.claims.iter().filter(|claim| claim.as_expected).count();
    let all = record.claims.len();
    let verdicts = if all == 1 { "verdict" } else { "verdicts" };
    format!("{good} of {all} {verdicts} as expected")
}

/// Returns the number of claims with each verdict. Verdicts that no claim has are left out, except the first.
pub(super) fn counts(record: &RunRecord) -> Vec<Count> {
    let claims = &record.claims;
    let of = |verdict| claims.iter().filter(|c| c.verdict == verdict).count();
    let refuted = claims.iter().filter(|c| c.verdict == Verdict::Refuted);
    let as_expected = refuted.clone().filter(|c| c.as_expected);
    let readings = as_expected.clone().filter(|claim| claim.is_a_reading()).count();
    let as_expected = as_expected.count();
    let all = [
        Count { label: "HOLDS", class: "good", n: of(Verdict::Holds) },
        Count { label: "REFUTED as printed", class: "errata", n: as_expected - readings },
        Count { label: "REFUTED, a reading", class: "errata", n: readings },
        Count { label: "VACUOUS", class: "plain", n: of(Verdict::Vacuous) },
        Count { label: "INCONCLUSIVE", class: "open", n: of(Verdict::Inconclusive) },
        Count { label: "PARTIAL", class: "bad", n: of(Verdict::Partial) },
        Count { label: "NOT-RUN", class: "plain", n: of(Verdict::NotRun) },
        Count { label: "REFUTED", class: "bad", n: refuted.count() - as_expected },
        Count { label: "UNTESTED", class: "bad", n: of(Verdict::Untested) },
        Count { label: "ERROR", class: "bad", n: of(Verdict::Error) },
    ];
    all.into_iter().enumerate().filter(|(i, count)| *i == 0 || count.n > 0).map(|(_, count)| count).collect()
}

fn claim_view(record: &ClaimRecord, status: ClaimStatus, timings: &Timings) -> anyhow::Result<ClaimView> {
    let claim = crate::papers::find(&record.id);
    let honest = &record.honest;
    let (class, mark) = status.badge();
    let cells = honest.cells.iter().zip(&record.cells);
    Ok(ClaimView {
        id: record.id.clone(),
        place: record.place.clone(),
        sentence: record.sentence.clone(),
        mathml: claim.and_then(|claim| formula::mathml(claim.formula).ok()),
        latex: claim.map_or("", |claim| claim.formula),
        design: claim.map_or("", |claim: &Claim| claim.design),
        form: form(record.form),
        regime: regime(record.regime),
        verdict: record.verdict.to_string(),
        label: match record.verdict {
            Verdict::Refuted if record.as_expected => "REFUTED as expected".into(),
            verdict => verdict.to_string(),
        },
        group: None,
        class,
        mark,
        expected: record.expected.clone(),
        as_expected: record.as_expected,
        alpha: p_value(record.alpha),
        p_refute: p_value(record.evidence.p_refute),
        p_support: p_value(record.evidence.p_support),
        tightness: record.tightness.map(|tightness| tightness.to_string()),
        time: timings.get(&record.id).map_or_else(String::new, |s| seconds(*s)),
        sizes: record.sizes.iter().map(|(key, size)| (key.clone(), count(*size))).collect(),
        errata: claim.into_iter().flat_map(errata::of).collect(),
        not_run: honest.not_run.clone(),
        error: honest.error.clone(),
        cells: cells.map(|(cell, judged)| cell_view(cell, judged, record.alpha)).collect(),
        split: honest.split,
        notes: honest.notes.iter().map(|note| (note.name.clone(), number(note.value))).collect(),
        rates: honest.rates.iter().map(rate_view).collect(),
        mutants: record.mutants.iter().map(|mutant| mutant_view(mutant, record.alpha)).collect(),
        unpredicted: record.unpredicted.clone(),
        noticed: record.mutants.iter().filter(|mutant| mutant.noticed).count(),
        plots: plots(record)?,
    })
}

/// Returns the plots of a claim.
pub(super) fn plots(record: &ClaimRecord) -> anyhow::Result<Vec<PlotView>> {
    let plot = |(i, figure): (usize, &Figure)| {
        let file = super::plot(&record.id, i + 1);
        Ok(PlotView { caption: figure.caption.clone(), file, svg: lao_figures::draw(figure)? })
    };
    record.honest.figures.iter().enumerate().map(plot).collect()
}

fn form(form: StatementForm) -> &'static str {
    match form {
        StatementForm::Printed => "as printed",
        StatementForm::Corrected => "corrected",
        StatementForm::Sound => "as printed, and sound",
        StatementForm::Reading => "our reading",
        StatementForm::Ours => "our own statement",
    }
}

fn regime(regime: Regime) -> &'static str {
    match regime {
        Regime::Deterministic => "deterministic",
        Regime::Literal => "literal constants",
        Regime::Practical => "practical constants",
    }
}

fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Exact => "identity",
        FindingKind::Property => "inequality",
        FindingKind::Prob => "probability",
        FindingKind::Mean => "mean",
        FindingKind::Equal => "equality",
        FindingKind::Slope => "exponent",
        FindingKind::Geom => "geometric rate",
        FindingKind::Paired => "ordering",
    }
}

fn cell_view(cell: &Cell, record: &CellRecord, alpha: f64) -> CellView {
    let finding = &cell.finding;
    let trials = if finding.n_trials == finding.n_max {
        count(finding.n_trials)
    } else {
        format!("{} of {}", count(finding.n_trials), count(finding.n_max))
    };
    CellView {
        name: cell.name.clone(),
        kind: kind(finding.kind),
        engine: finding.engine.clone(),
        trials,
        stopped: match finding.stopped {
            Stopped::Evidence => "evidence sufficed",
            Stopped::Cap => "reached its cap",
            Stopped::Fixed => "fixed size",
        },
        estimate: number(finding.estimate),
        bound: number(finding.bound),
        tightness: finding.tightness.map(number),
        interval: finding.interval.as_ref().map(interval),
        evidence: finding_evidence(finding, record.said == CellVerdict::Refuted, alpha),
        said: if record.loose { "SUPPORTED, loosely".into() } else { record.said.to_string() },
        class: match record.said {
            CellVerdict::Supported => "ok",
            CellVerdict::Refuted => "refuted",
            CellVerdict::Undecided | CellVerdict::Vacuous => "alarm",
        },
        shown: match (&record.refutes[..], &record.beyond) {
            ([], Some(why)) => why.clone(),
            ([], None) if record.said == CellVerdict::Refuted => "the claim itself".into(),
            (mutants, _) => mutants.join(", ").replace('_', " "),
        },
        passed_by: record.passed_by.join(", ").replace('_', " "),
        passable: record.passable.clone(),
        detectable: finding.detectable_effect.map(number),
        guards: finding
            .guards
            .iter()
            .map(|g| GuardView { name: g.name.clone(), ok: g.ok, value: number(g.value) })
            .collect(),
        note: finding.note.clone(),
    }
}

fn interval(interval: &Interval) -> String {
    format!("[{}, {}]", number(interval.lo), number(interval.hi))
}

fn rate_view(rate: &crate::context::Rate) -> RateView {
    let values = &rate.replicates;
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    RateView {
        name: rate.name.clone(),
        replicates: values.len(),
        mean: number(values.iter().sum::<f64>() / values.len().max(1) as f64),
        range: format!("{} to {}", number(low), number(high)),
    }
}

fn mutant_view(mutant: &MutantRecord, alpha: f64) -> MutantView {
    let p = |cell: &&Cell| match mutant.must {
        Must::Hold => -cell.finding.p_support,
        Must::BeRefuted | Must::StayUndecided => cell.finding.p_refute,
    };
    let telling = mutant.arm.cells.iter().min_by(|a, b| p(a).total_cmp(&p(b)));
    let evidence = telling.map(|cell| {
        let finding = &cell.finding;
        let evidence = finding_evidence(finding, mutant.must != Must::Hold, alpha);
        let (found, allowed) = (number(finding.estimate), number(finding.bound));
        format!("{}: {found} against {allowed}, {evidence}", cell.name)
    });
    MutantView {
        name: mutant.name.replace('_', " "),
        fault: mutant.fault.clone(),
        must: match mutant.must {
            Must::BeRefuted => "REFUTED",
            Must::StayUndecided => "UNDECIDED",
            Must::Hold => "SUPPORTED",
        },
        said: mutant.said.clone(),
        noticed: mutant.noticed,
        evidence: evidence.unwrap_or_default(),
    }
}
