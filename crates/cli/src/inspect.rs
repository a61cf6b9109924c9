//! `lao inspect`.

use crate::output::Force;
use anyhow::bail;
use clap::Args;
use lao::{Choice, Model, Origin, SpentMoney};
use lao_figures::count;
use lao_files::write_atomically;
use lao_pages::{html, largest_first, markdown};
use lao_terminal as say;
use std::path::{Path, PathBuf};

/// Show a model: its attributes with intervals, its error, the purchases and costs, and its origin.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Read the model from this file.
    model: PathBuf,
    /// Print the checked file as JSON.
    #[arg(long)]
    json: bool,
    /// Write one self-contained page of HTML: coefficients, error against values bought, the attributes left
    /// out, spending, and a model card.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Write a model card in Markdown.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    card: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// Reads a model file; where there is a folder, says where its model comes from.
pub fn load(path: &Path) -> anyhow::Result<Model> {
    if path.is_dir() {
        let shown = path.display();
        bail!(
            "{shown} is a folder, and a model is a file; of a live study, `lao study evidence -S {shown}` \
             shows what is known, and `lao study model -S {shown} -o FILE` writes the model"
        )
    }
    Ok(Model::load(path)?)
}

pub fn run(args: &InspectArgs) -> anyhow::Result<u8> {
    for file in args.html.iter().chain(&args.card) {
        args.force.check(file, &[&args.model])?;
    }
    let model = load(&args.model)?;
    if let Some(file) = &args.html {
        write_atomically(file, html(&model)?.as_bytes())?;
    }
    if let Some(file) = &args.card {
        write_atomically(file, markdown(&model).as_bytes())?;
    }
    if args.html.is_some() || args.card.is_some() {
        return Ok(0);
    }
    if args.json {
        say::results(&model.to_json())?;
        return Ok(0);
    }
    let origin = &model.origin;
    let columns = model.columns();
    let columns: Vec<_> = columns.iter().map(|name| lao::shown(name)).collect();
    let read = if columns.is_empty() { "no columns".into() } else { columns.join(", ") };
    let guard = if origin.safeguarded { ", safeguarded" } else { "" };
    let begin = |hash: &String| hash.chars().take(12).collect::<String>();
    let of_table = origin.sha256.as_ref().map(|hash| format!(", sha256 {}", begin(hash)));
    let of_study = origin.journal.as_ref();
    let of_study = of_study.map(|at| format!(", journal line {}, chain {}", at.lines, begin(&at.chain)));
    let of_source = of_table.or(of_study).unwrap_or_default();
    let Origin { choices, table, examples, attributes, .. } = origin;
    let spending = model.spent.money.as_ref().map(spending).unwrap_or_default();
    say::results(&format!(
        "{model}a prediction reads {read}\n{spending}{}learned by {}{guard} from {table} ({examples} \
         examples of {attributes} attributes{of_source}), lao {}\n",
        chosen(&model),
        choices.method,
        model.lao.version,
    ))?;
    Ok(0)
}

/// Returns the choices, one in a line.
fn chosen(model: &Model) -> String {
    let choices = model.choices();
    let width = choices.iter().map(|choice| choice.name.chars().count()).max().unwrap_or(0);
    let line = |choice: &Choice| {
        let Choice { name, value, automatic } = choice;
        let value = lao::shown(value);
        format!("{name:<width$}  {value}{}\n", if *automatic { "  (automatic)" } else { "" })
    };
    choices.iter().map(line).collect()
}

/// Returns what was spent on each panel, the largest sum first.
fn spending(money: &SpentMoney) -> String {
    let panels = largest_first(money);
    let width = panels.iter().map(|panel| lao::shown(&panel.name).chars().count()).max().unwrap_or(0).max(5);
    let mut text = format!("{:<width$}       price    examples       spent  columns\n", "panel");
    for panel in panels {
        let columns: Vec<_> = panel.columns.iter().map(|name| lao::shown(name)).collect();
        let (name, examples, columns) = (lao::shown(&panel.name), count(panel.examples), columns.join(", "));
        let (price, cost) = (panel.price, panel.cost());
        text += &format!("{name:<width$}  {price:>10}  {examples:>10}  {cost:>10.2}  {columns}\n");
    }
    text
}
