//! `lao inspect`.

use clap::Args;
use lao::{Model, SpentMoney};
use lao_figures::count;
use lao_say as say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show a model: attributes, error bars, error, what was bought and spent, and where it comes from.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The model file.
    model: PathBuf,
    /// Print the checked file as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let model = Model::load(&args.model)?;
    if args.json {
        say::results(&model.to_json())?;
        return Ok(ExitCode::SUCCESS);
    }
    let origin = &model.origin;
    let columns = model.columns();
    let read = if columns.is_empty() { "no columns".into() } else { columns.join(", ") };
    let guard = if origin.safeguarded { ", safeguarded" } else { "" };
    say::results(&format!(
        "{model}a prediction reads {read}\n{}learned by {}{guard} from {} ({} examples of {} attributes, \
         sha256 {}), {} held out, {} pass{}, seed {}, lao {}\n",
        model.spent.money.as_ref().map(spending).unwrap_or_default(),
        origin.method,
        origin.table,
        origin.examples,
        origin.attributes,
        &origin.sha256[..origin.sha256.len().min(12)],
        origin.holdout,
        origin.passes,
        if origin.passes == 1 { "" } else { "es" },
        origin.seed,
        model.lao.version,
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns what was spent on each panel, the largest sum first.
fn spending(money: &SpentMoney) -> String {
    let mut panels: Vec<_> = money.panels.iter().collect();
    panels.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
    let width = panels.iter().map(|panel| panel.name.chars().count()).max().unwrap_or(0).max(5);
    let mut text = format!("{:<width$}       price    examples       spent  columns\n", "panel");
    for panel in panels {
        let (examples, columns) = (count(panel.examples), panel.columns.join(", "));
        let (price, cost) = (panel.price, panel.cost());
        text += &format!("{:<width$}  {price:>10}  {examples:>10}  {cost:>10.2}  {columns}\n", panel.name);
    }
    text
}
