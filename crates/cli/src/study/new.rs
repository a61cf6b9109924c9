//! `lao study new`.

use super::{Place, shown};
use crate::args::{BudgetArgs, ChoiceArgs};
use anyhow::{Context as _, bail};
use clap::Args;
use lao::{Label, Sheet};
use lao_study::{Description, Study};
use lao_terminal as say;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct NewArgs {
    #[command(flatten)]
    place: Place,
    /// Predict this label.
    #[arg(long, short)]
    target: String,
    /// Read the names of the attributes from this file, one per line [default: those of --prices].
    #[arg(long, short, value_name = "FILE")]
    attributes: Option<PathBuf>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Take this class of a two-class label as positive.
    #[arg(long, value_name = "CLASS", requires = "negative")]
    positive: Option<String>,
    /// Take this class of a two-class label as negative.
    #[arg(long, value_name = "CLASS", requires = "positive")]
    negative: Option<String>,
    /// Plan for this number of examples: once the attributes are found, the best of them are bought of every
    /// further example, and the data choose between a line and trees, as in `lao fit` [default: a line].
    #[arg(long, value_name = "N")]
    examples: Option<u64>,
    #[command(flatten)]
    choices: ChoiceArgs<true>,
    /// Print JSON instead of text: the description of the study.
    #[arg(long)]
    json: bool,
}

/// Reads names, one per line.
fn names(file: &Path) -> anyhow::Result<Vec<String>> {
    let shown = file.display().to_string();
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {shown}"))?;
    let sheet = Sheet::parse_lines(&bytes, &shown)?;
    let names = sheet.rows.into_iter().flat_map(|row| row.fields);
    Ok(names.filter(|name| !name.is_empty()).collect())
}

pub fn new(args: &NewArgs) -> anyhow::Result<u8> {
    let names = match (&args.attributes, args.budget.prices()?) {
        (Some(file), _) => names(file)?,
        (None, Some(prices)) => prices.list().map(|price| price.column.clone()).collect(),
        (None, None) => bail!("give the attributes by --attributes FILE, a name per line, or --prices FILE"),
    };
    let columns = names.len();
    let label = match args.positive.clone().zip(args.negative.clone()) {
        None => Label::Number,
        Some((positive, negative)) if positive != negative => Label::Classes { positive, negative },
        Some((both, _)) => bail!("--positive and --negative are both {both}: give two different classes"),
    };
    let begun = Description::within(&args.target, names, &args.budget.budget(columns)?)?;
    let (examples, choices) = (args.examples, args.choices.choices()?);
    let description = Description { label, examples, choices, ..begun };
    let study = Study::create(&args.place.folder, description)?;
    let (folder, description) = (shown(&args.place.folder), study.description());
    if args.json {
        let text = serde_json::json!({ "format": 1, "study": folder, "description": description });
        say::results(&format!("{text}\n"))?;
        return Ok(0);
    }
    let bought = match &description.money {
        Some(money) => {
            format!(" in {} panels, for at most {} each", description.panels.len(), money.per_example)
        }
        None => format!(", at most {} bought of each example", description.budget),
    };
    say::results(&format!(
        "{folder}: {} attributes{bought}; next: lao study ask -S {folder}\n",
        description.attributes.len(),
    ))?;
    Ok(0)
}
