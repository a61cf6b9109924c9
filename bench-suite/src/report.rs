//! Pages made from records: one per scenario, and one that lists them.

use crate::kinds::{self, Analysis};
use crate::record::Record;
use crate::run;
use crate::scenario::Scenario;
use anyhow::Context as _;
use lao_figures::{OutputFolder, draw, seconds, standalone};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;
use std::path::Path;

const STYLE: &str = include_str!("../templates/style.css");
const PAGE: &str = include_str!("../templates/scenario.html");
const INDEX: &str = include_str!("../templates/index.html");

/// What a page shows of one scenario.
#[derive(Serialize)]
struct Page {
    name: String,
    kind: String,
    title: String,
    source: String,
    definition: String,
    /// Whether its jobs ran alone.
    alone: bool,
    tier: String,
    repetitions: u64,
    seed: u64,
    version: String,
    host: String,
    duration: String,
    figures: Vec<Drawing>,
    table: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct Drawing {
    svg: String,
    caption: String,
}

impl Page {
    fn new(scenario: &Scenario, record: &Record, analysis: &Analysis) -> anyhow::Result<Self> {
        let drawn =
            analysis.figures.iter().map(|f| Ok(Drawing { svg: draw(f)?, caption: f.caption.clone() }));
        Ok(Page {
            name: scenario.name.clone(),
            kind: scenario.kind.to_string(),
            title: scenario.title.clone(),
            source: scenario.source.clone(),
            definition: scenario.text.clone(),
            alone: kinds::alone(scenario.kind),
            tier: record.tier.to_string(),
            repetitions: record.size.repetitions,
            seed: record.seed,
            version: record.version.clone(),
            host: record.host.clone(),
            duration: seconds(record.seconds),
            figures: drawn.collect::<anyhow::Result<_>>()?,
            table: analysis.table.clone(),
        })
    }
}

/// Writes `index.html` and `figure-<n>.svg` of one scenario, next to its records. Figures of an earlier run
/// go.
///
/// # Errors
/// When a figure cannot be drawn or a file cannot be written.
pub fn write(scenario: &Scenario, record: &Record, folder: &mut OutputFolder) -> anyhow::Result<Analysis> {
    let name = |file: &str| format!("{}/{file}", scenario.name);
    let analysis = kinds::analyze(scenario, &record.rows);
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

/// Writes the page that lists all scenarios whose records are in the folder, from this run or an earlier one.
///
/// # Errors
/// When records cannot be read or the file cannot be written.
pub fn write_index(folder: &mut OutputFolder) -> anyhow::Result<()> {
    let mut pages = Vec::new();
    for scenario in Scenario::all()? {
        if let Some(record) = Record::read(&folder.path().join(&scenario.name))? {
            pages.push(Page::new(&scenario, &record, &kinds::analyze(&scenario, &record.rows))?);
        }
    }
    let pages = Serde(pages);
    folder.announce([run::PAGE.to_string()])?;
    folder.write(run::PAGE, render(INDEX, context! { pages })?.as_bytes())
}

/// Finds out, before any work, whether the records of scenarios that will not run, which [`write_index`]
/// lists, can be read.
///
/// # Errors
/// When records cannot be read.
pub fn check_others(running: &[Scenario], out: &Path) -> anyhow::Result<()> {
    let all = Scenario::all()?;
    let mut others = all.iter().filter(|other| running.iter().all(|scenario| scenario.name != other.name));
    others.try_for_each(|other| Record::read(&out.join(&other.name)).map(drop))
}

fn render(template: &str, values: Value) -> anyhow::Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.render_str(template, context! { style => STYLE, ..values }).context("cannot fill in a page")
}
