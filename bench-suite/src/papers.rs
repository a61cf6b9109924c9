//! The gallery: every figure and table of the four papers, made from the records of scenarios, with what the
//! print says and what is found here.

use crate::kinds::{Analysis, Rows};
use crate::record::BenchRecord;
use crate::report::{self, Drawing};
use crate::row::mean_sd;
use crate::scenario::Scenario;
use crate::tier::BenchTier;
use anyhow::Context as _;
use lao_datasets::catalog::CatalogError;
use lao_figures::{Figure, draw, seconds, standalone};
use lao_files::OutputFolder;
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The name that stands for the scenarios of all papers.
pub const PAPERS: &str = "papers";

const TEXTS: [&str; 4] = [
    include_str!("../papers/ms18.toml"),
    include_str!("../papers/ito17.toml"),
    include_str!("../papers/hk12.toml"),
    include_str!("../papers/scsg20.toml"),
];
const PAGE: &str = include_str!("../templates/paper.html");
const INDEX: &str = include_str!("../templates/papers.html");
const PAGE_IN_TEXT: &str = include_str!("../templates/paper.md.jinja");
const INDEX_IN_TEXT: &str = include_str!("../templates/papers.md.jinja");

/// A paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The short name, as in the names of claims.
    pub id: String,
    /// Authors and year.
    pub name: String,
    /// The title.
    pub title: String,
    /// Its figures and tables, in the order of the print.
    pub entries: Vec<Entry>,
}

/// A figure or table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name in the paper.
    pub place: String,
    /// What it shows, in a few words.
    pub title: String,
    /// What the print shows, in words.
    pub print: String,
    /// What differs here, and why.
    pub differs: String,
    /// The scenarios that make it.
    pub scenarios: Vec<String>,
    /// The claims that judge it.
    pub claims: Vec<String>,
    /// What the print says, statement by statement.
    pub statements: Vec<Statement>,
}

/// A statement of the print.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The statement in words.
    pub says: String,
    /// The scenario that shows it; the entry's first one if none is named.
    scenario: Option<String>,
    /// The contender that is better.
    before: Option<String>,
    /// The contender that is worse.
    after: Option<String>,
    /// The part of the run after which they are compared.
    #[serde(default = "whole")]
    at: f64,
    /// The contender whose exponent is stated.
    of: Option<String>,
    /// The quantity in which it is.
    quantity: Option<String>,
    /// The exponent, which bounds how the cost grows.
    exponent: Option<f64>,
}

fn whole() -> f64 {
    1.0
}

/// What came of a statement.
#[derive(Clone, Debug, Serialize)]
struct Outcome {
    says: String,
    here: String,
    /// One of [`WORDS`].
    word: &'static str,
}

/// The content of an entry.
#[derive(Serialize)]
struct Shown {
    place: String,
    title: String,
    anchor: String,
    print: String,
    differs: String,
    outcomes: Vec<Outcome>,
    claims: Vec<(String, String)>,
    runs: Vec<RunOf>,
}

/// The content of a scenario.
#[derive(Serialize)]
struct RunOf {
    name: String,
    title: String,
    /// Why there are no figures, if there are none.
    missing: Option<String>,
    data: Option<String>,
    settings: String,
    figures: Vec<Drawing>,
    /// The numbers behind each figure, as CSV.
    #[serde(skip)]
    numbers: Vec<Vec<u8>>,
    table: Vec<Vec<String>>,
    failures: Vec<String>,
}

/// Returns the papers.
///
/// # Errors
/// When a definition is malformed.
pub fn all() -> anyhow::Result<Vec<Paper>> {
    TEXTS.iter().map(|text| toml::from_str(text).context("a paper's definition")).collect()
}

/// Returns the names of the scenarios of all papers, in order.
///
/// # Errors
/// As [`all`].
pub fn scenarios() -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in all()?.into_iter().flat_map(|paper| paper.entries).flat_map(|entry| entry.scenarios) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Returns whether a scenario cannot run because its data are not at hand.
pub fn is_data_missing(error: &anyhow::Error) -> bool {
    let missing = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(CatalogError::Missing { .. }))
    };
    error.chain().any(missing)
}

impl Statement {
    /// Compares the statement with the records.
    fn outcome(&self, entry: &Entry, ran: &BTreeMap<String, (Scenario, BenchRecord)>) -> Outcome {
        let says = self.says.clone();
        let name = self.scenario.as_ref().or(entry.scenarios.first());
        let Some((scenario, record)) = name.and_then(|name| ran.get(name)) else {
            return Outcome { says, here: "not run".into(), word: NOT_AT_HAND };
        };
        let (kind, rows) = (&scenario.kind, Rows(&record.rows));
        if let (Some(before), Some(after)) = (&self.before, &self.after) {
            let (a, b) = (kind.drawn(&rows, before, self.at), kind.drawn(&rows, after, self.at));
            let pairs: Vec<(f64, f64)> = a.iter().filter_map(|(r, a)| Some((*a, *b.get(r)?))).collect();
            let (better, of) = (pairs.iter().filter(|(a, b)| a < b).count(), pairs.len());
            let at = if self.at < 1.0 {
                format!(", after {:.0} % of the run", 100.0 * self.at)
            } else {
                String::new()
            };
            let here = format!("{before} before {after} in {better} of {of} repetitions{at}");
            return Outcome { says, here, word: word(better, of) };
        }
        let (Some(of), Some(quantity), Some(exponent)) = (&self.of, &self.quantity, self.exponent) else {
            return Outcome { says, here: "no comparison is defined".into(), word: NOT_AT_HAND };
        };
        let found = kind.exponents(&rows, of, quantity);
        let Some((mean, sd)) = mean_sd(&found) else {
            return Outcome { says, here: format!("{of} did not reach the goals"), word: NOT_AT_HAND };
        };
        let error = 2.0 * sd / (found.len() as f64).sqrt();
        // An order bounds how the cost grows towards the harder side, up to logarithms: it may grow by less.
        let sign = if HARDER_BELOW.contains(&quantity.as_str()) { -1.0 } else { 1.0 };
        let more = sign * (mean - exponent);
        let word = if more.abs() <= error + LOGARITHMS {
            REPRODUCED
        } else if more < 0.0 {
            WITHIN
        } else {
            NOT_REPRODUCED
        };
        let here = format!("measured {mean:.2} ± {error:.2}; printed {exponent}");
        Outcome { says, here, word }
    }
}

/// Quantities that make a problem harder when they fall.
const HARDER_BELOW: [&str; 2] = ["error", "budget"];
/// What logarithms may add to an exponent over the ranges of the scenarios.
const LOGARITHMS: f64 = 0.15;

/// What may come of a statement.
const REPRODUCED: &str = "reproduced";
const IN_PART: &str = "in part";
const WITHIN: &str = "within the bound";
const NOT_REPRODUCED: &str = "not reproduced";
const NOT_AT_HAND: &str = "not at hand";
const WORDS: [&str; 5] = [REPRODUCED, IN_PART, WITHIN, NOT_REPRODUCED, NOT_AT_HAND];

/// Says how many of the repetitions agree.
fn word(better: usize, of: usize) -> &'static str {
    match (better, of) {
        (_, 0) => NOT_AT_HAND,
        (better, of) if better == of => REPRODUCED,
        (better, of) if 2 * better > of => IN_PART,
        _ => NOT_REPRODUCED,
    }
}

/// The verdicts of claims, by the record of the repository, as far as it is at hand.
fn verdicts() -> BTreeMap<String, String> {
    #[derive(Deserialize)]
    struct Baseline {
        current: BTreeMap<String, Judged>,
    }
    #[derive(Deserialize)]
    struct Judged {
        verdict: String,
    }
    let verification = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verification");
    let read = |name: &str| -> Option<Baseline> {
        serde_json::from_slice(&std::fs::read(verification.join(name)).ok()?).ok()
    };
    // Claims on data that are not shipped are in the second record alone.
    let both = ["full.json", "baseline.json"].into_iter().filter_map(read);
    both.flat_map(|record| record.current).map(|(claim, judged)| (claim, judged.verdict)).collect()
}

impl RunOf {
    fn new(
        name: &str,
        ran: Option<&(Scenario, BenchRecord)>,
        missing: Option<&String>,
    ) -> anyhow::Result<Self> {
        let Some((scenario, record)) = ran else {
            let reason =
                missing.cloned().unwrap_or_else(|| format!("`cargo xtask bench {name}` has not run"));
            return Ok(RunOf {
                name: name.into(),
                title: name.into(),
                missing: Some(reason),
                data: None,
                settings: String::new(),
                figures: Vec::new(),
                numbers: Vec::new(),
                table: Vec::new(),
                failures: Vec::new(),
            });
        };
        let Analysis { figures, table, .. } = scenario.kind.analyze(&Rows(&record.rows));
        let drawn = figures
            .iter()
            .map(|figure| anyhow::Ok(Drawing { svg: draw(figure)?, caption: figure.caption.clone() }));
        let (tier, seed) = (record.tier, record.seed);
        Ok(RunOf {
            name: name.into(),
            title: scenario.title.clone(),
            missing: None,
            data: scenario.kind.data()?,
            settings: format!(
                "{tier} tier, {} repetitions, seed {seed}, {}",
                record.size.repetitions,
                seconds(record.seconds)
            ),
            figures: drawn.collect::<anyhow::Result<_>>()?,
            numbers: figures.iter().map(numbers).collect::<anyhow::Result<_>>()?,
            table,
            failures: report::failures(record),
        })
    }
}

/// Returns the numbers behind a figure as CSV.
fn numbers(figure: &Figure) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["series", &figure.x.label, &figure.y.label, "low", "high"])?;
    for series in &figure.series {
        for (place, [x, y]) in series.points.iter().enumerate() {
            let ends = series.interval.get(place).map(|ends| ends.map(|end| end.to_string()));
            let [low, high] = ends.unwrap_or_default();
            writer.write_record([&series.name, &x.to_string(), &y.to_string(), &low, &high])?;
        }
    }
    writer.into_inner().context("cannot form a table")
}

/// Writes the gallery from the records in a folder of results: pages and figures, in `within` of the folder.
/// `missing` has the reasons why scenarios did not run. With `in_text`, pages are Markdown, not HTML.
///
/// # Errors
/// When records cannot be read, or files cannot be written.
pub fn write(
    records: &Path,
    missing: &BTreeMap<String, String>,
    folder: &mut OutputFolder,
    (within, in_text): (&str, bool),
) -> anyhow::Result<()> {
    let (papers, verdicts) = (all()?, verdicts());
    let mut ran = BTreeMap::new();
    for name in scenarios()? {
        if let Some(record) = BenchRecord::read(&records.join(&name))? {
            ran.insert(name, (Scenario::parse(&record.scenario, &record.definition)?, record));
        }
    }
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let (suffix, page, index) = match in_text {
        true => ("md", PAGE_IN_TEXT, INDEX_IN_TEXT),
        false => ("html", PAGE, INDEX),
    };
    let check = ran.values().any(|(_, record)| record.tier == BenchTier::Check);
    let warning = check.then_some(report::CHECK_TIER);
    let (mut listed, mut counts) = (Vec::new(), BTreeMap::new());
    for paper in &papers {
        let mut shown = Vec::new();
        for entry in &paper.entries {
            let outcomes: Vec<Outcome> =
                entry.statements.iter().map(|statement| statement.outcome(entry, &ran)).collect();
            for outcome in &outcomes {
                *counts.entry((paper.id.clone(), outcome.word)).or_insert(0_usize) += 1;
            }
            let runs = entry.scenarios.iter().map(|name| RunOf::new(name, ran.get(name), missing.get(name)));
            let runs: Vec<RunOf> = runs.collect::<anyhow::Result<_>>()?;
            for run in &runs {
                for (n, (figure, numbers)) in run.figures.iter().zip(&run.numbers).enumerate() {
                    let name = format!("{within}{}-{}", run.name, n + 1);
                    files.push((format!("{name}.svg"), standalone(&figure.svg).into_bytes()));
                    files.push((format!("{name}.csv"), numbers.clone()));
                }
            }
            let verdict = |claim: &String| {
                (claim.clone(), verdicts.get(claim).cloned().unwrap_or_else(|| "not recorded".into()))
            };
            shown.push(Shown {
                place: entry.place.clone(),
                title: entry.title.clone(),
                anchor: entry.place.to_lowercase().replace(' ', "-"),
                print: entry.print.trim().into(),
                differs: entry.differs.trim().into(),
                outcomes,
                claims: entry.claims.iter().map(verdict).collect(),
                runs,
            });
        }
        let (id, name, title) = (&paper.id, &paper.name, &paper.title);
        let count = |word| counts.get(&(id.clone(), word)).copied().unwrap_or(0);
        let summary = WORDS.map(|word| (word, count(word)));
        let values = context! { id, name, title, warning, summary, entries => Serde(&shown) };
        files.push((format!("{within}{id}.{suffix}"), report::render(page, values)?.into_bytes()));
        let first = shown.iter().flat_map(|entry| &entry.runs).find(|run| !run.figures.is_empty());
        let figure = first.map(|run| format!("{}-1.svg", run.name));
        let places: Vec<(String, String)> = shown
            .iter()
            .map(|entry| (format!("{}: {}", entry.place, entry.title), entry.anchor.clone()))
            .collect();
        listed.push(context! { id, name, title, summary, figure, places });
    }
    let name = if in_text { "README.md" } else { "index.html" };
    let values = context! { papers => listed, warning };
    files.push((format!("{within}{name}"), report::render(index, values)?.into_bytes()));
    folder.announce(files.iter().map(|(name, _)| name.clone()))?;
    folder.remove(|old| {
        old.starts_with(within) && is_of_gallery(old) && files.iter().all(|(new, _)| new != old)
    })?;
    files.iter().try_for_each(|(name, bytes)| folder.write(name, bytes))
}

/// Returns whether a file may be one of the gallery.
fn is_of_gallery(name: &str) -> bool {
    [".svg", ".csv", ".html", ".md"].iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_scenarios_contenders_and_claims_that_there_are() {
        let verdicts = verdicts();
        for paper in all().unwrap() {
            for entry in &paper.entries {
                let named = Scenario::select(&entry.scenarios).unwrap();
                for statement in &entry.statements {
                    let name = statement.scenario.as_ref().unwrap_or(&entry.scenarios[0]);
                    let scenario = named.iter().find(|scenario| scenario.name == *name).unwrap();
                    let contenders = scenario.kind.contenders();
                    for contender in
                        [&statement.before, &statement.after, &statement.of].into_iter().flatten()
                    {
                        assert!(contenders.contains(&contender.as_str()), "{name} has no {contender}");
                    }
                }
                for claim in &entry.claims {
                    assert!(verdicts.contains_key(claim), "{} names the claim {claim}", entry.place);
                }
            }
        }
    }

    #[test]
    fn a_statement_is_reproduced_where_all_repetitions_agree() {
        assert_eq!(
            [word(5, 5), word(3, 5), word(2, 4), word(0, 0)],
            [REPRODUCED, IN_PART, NOT_REPRODUCED, NOT_AT_HAND]
        );
    }
}
