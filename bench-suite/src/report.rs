//! The pages that are made from records: one per scenario, and one that lists the scenarios.

use crate::kinds::{Analysis, Rows};
use crate::record::BenchRecord;
use crate::row::Row;
use crate::run;
use crate::scenario::{SCENARIOS, Scenario};
use crate::tier::BenchTier;
use anyhow::Context as _;
use lao_figures::{draw, seconds, standalone};
use lao_files::OutputFolder;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;
use std::path::Path;

const STYLE: &str = include_str!("../templates/style.css");
const PAGE: &str = include_str!("../templates/scenario.html");
const INDEX: &str = include_str!("../templates/index.html");

/// The warning beside every result of the check tier.
pub const CHECK_TIER: &str =
    "Check tier: this run shows that the scenario runs, and nothing else. Its figures mean nothing.";

/// The content of the page of one scenario.
#[derive(Serialize)]
struct Page {
    name: String,
    kind: &'static str,
    title: String,
    source: String,
    definition: String,
    /// Whether the jobs ran one after the other.
    one_by_one: bool,
    /// The warning at the top of the page, if the results mean nothing.
    warning: Option<&'static str>,
    /// A sentence that names the best contender.
    winner: String,
    failures: Vec<String>,
    tier: String,
    repetitions: u64,
    seed: u64,
    version: String,
    revision: String,
    host: String,
    processor: String,
    features: String,
    software: Vec<String>,
    duration: String,
    figures: Vec<Drawing>,
    table: Vec<Vec<String>>,
}

/// A figure as it is drawn.
#[derive(Serialize)]
pub(crate) struct Drawing {
    pub svg: String,
    pub caption: String,
}

impl Page {
    fn new(scenario: &Scenario, record: &BenchRecord, analysis: &Analysis) -> anyhow::Result<Self> {
        let drawn =
            analysis.figures.iter().map(|f| Ok(Drawing { svg: draw(f)?, caption: f.caption.clone() }));
        let origin = record.provenance.clone();
        Ok(Page {
            name: scenario.name.clone(),
            kind: scenario.kind.label(),
            title: scenario.title.clone(),
            source: scenario.source.clone(),
            definition: scenario.text.clone(),
            one_by_one: scenario.kind.needs_idle_machine(),
            warning: (record.tier == BenchTier::Check).then_some(CHECK_TIER),
            winner: analysis.winner.clone(),
            failures: failures(record),
            tier: record.tier.to_string(),
            repetitions: record.size.repetitions,
            seed: record.seed,
            version: origin.version,
            revision: origin.revision,
            host: origin.host,
            processor: origin.processor,
            features: origin.features,
            software: record.software.clone(),
            duration: seconds(record.seconds),
            figures: drawn.collect::<anyhow::Result<_>>()?,
            table: analysis.table.clone(),
        })
    }
}

/// Returns a line for each job that failed.
pub fn failures(record: &BenchRecord) -> Vec<String> {
    let line = |row: &Row| {
        let error = row.error.as_deref().unwrap_or_default();
        format!("{}, repetition {}, d = {}: {error}", row.learner, row.repetition, row.dim)
    };
    record.failures().map(line).collect()
}

/// Writes `index.html` and `figure-<n>.svg` of one scenario next to its records. Figures of an earlier run
/// are removed.
///
/// # Errors
/// When a figure cannot be drawn or a file cannot be written.
pub fn write(
    scenario: &Scenario,
    record: &BenchRecord,
    folder: &mut OutputFolder,
) -> anyhow::Result<Analysis> {
    let name = |file: &str| format!("{}/{file}", scenario.name);
    let analysis = scenario.kind.analyze(&Rows(&record.rows));
    let page = Page::new(scenario, record, &analysis)?;
    let figures = page.figures.iter().enumerate();
    let mut files: Vec<(String, String)> =
        figures.map(|(n, figure)| (name(&run::figure(n + 1)), standalone(&figure.svg))).collect();
    files.push((name(run::PAGE), render(PAGE, Value::from(Serde(page)))?));
    folder.announce(files.iter().map(|(name, _)| name.clone()))?;
    let figure = name("figure-");
    folder.remove(|old| old.starts_with(&figure) && files.iter().all(|(new, _)| new != old))?;
    files.iter().try_for_each(|(name, text)| folder.write(name, text.as_bytes()))?;
    Ok(analysis)
}

/// Writes the page that lists all scenarios whose records are in the folder, from this run or an earlier one:
/// the scenarios of the suite in their order, then the others by name. Each entry is made from the definition
/// that the record contains.
///
/// # Errors
/// When records cannot be read or the file cannot be written.
pub fn write_index(folder: &mut OutputFolder) -> anyhow::Result<()> {
    let mut pages = Vec::new();
    for record in records(folder.path())? {
        let scenario = Scenario::parse(&record.scenario, &record.definition)?;
        pages.push(Page::new(&scenario, &record, &scenario.kind.analyze(&Rows(&record.rows)))?);
    }
    let pages = Serde(pages);
    folder.announce([run::PAGE.to_string()])?;
    folder.write(run::PAGE, render(INDEX, context! { pages })?.as_bytes())
}

/// Returns the records in a folder of results, in the order of the page that lists them.
fn records(out: &Path) -> anyhow::Result<Vec<BenchRecord>> {
    let mut names: Vec<String> = match std::fs::read_dir(out) {
        Ok(entries) => entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot look into {}", out.display())),
    };
    let place =
        |name: &String| SCENARIOS.iter().position(|(known, _)| known == name).unwrap_or(SCENARIOS.len());
    names.sort_by(|a, b| place(a).cmp(&place(b)).then(a.cmp(b)));
    let read = |name: &String| {
        let folder = out.join(name);
        if folder.is_dir() { BenchRecord::read(&folder).transpose() } else { None }
    };
    names.iter().filter_map(read).collect()
}

/// Checks, before any work, that the records of scenarios that will not run can be read, since
/// [`write_index`] lists these scenarios too.
///
/// # Errors
/// When records cannot be read.
pub fn check_others(running: &[Scenario], out: &Path) -> anyhow::Result<()> {
    let others = std::fs::read_dir(out).into_iter().flatten().flatten();
    let names = others.filter_map(|entry| entry.file_name().into_string().ok());
    let mut others = names.filter(|name| running.iter().all(|scenario| scenario.name != *name));
    others.try_for_each(|name| {
        let folder = out.join(name);
        if !folder.is_dir() {
            return Ok(());
        }
        let Some(record) = BenchRecord::read(&folder)? else { return Ok(()) };
        let refused =
            || format!("{} holds a record of another version: delete it and run again", folder.display());
        Scenario::parse(&record.scenario, &record.definition).map(drop).with_context(refused)
    })
}

/// Fills in a template.
pub(crate) fn render(template: &str, values: Value) -> anyhow::Result<String> {
    let mut environment = Environment::new();
    // Templates of Markdown begin with a heading.
    let escape = if template.starts_with('#') { AutoEscape::None } else { AutoEscape::Html };
    environment.set_auto_escape_callback(move |_| escape.clone());
    environment.render_str(template, context! { style => STYLE, ..values }).context("cannot fill in a page")
}
