//! `lao score`.

use crate::args::Layout;
use crate::inspect::load;
use anyhow::bail;
use clap::Args;
use lao::{Label, Pick};
use lao_terminal as say;
use std::path::PathBuf;

/// Measure the error of a model on rows whose label is known.
///
/// The rows must be new ones: on those that the model learned from, the error seems smaller than it is. Of a
/// number, the error is squared, with an interval of 95 %; of two classes, the share of right ones, the area
/// under the curve and the logarithmic loss are told beside what a constant has.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao score patients.lao.json new.csv")]
pub struct ScoreArgs {
    /// Read the model from this file.
    model: PathBuf,
    /// Read this table, which has the label; `-` is standard input.
    data: PathBuf,
    #[command(flatten)]
    layout: Layout,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ScoreArgs) -> anyhow::Result<u8> {
    let model = load(&args.model)?;
    let mut options = args.layout.options(model.read_options());
    if let Pick::Only(only) = &mut options.columns {
        only.push(model.target.clone());
    }
    match model.label {
        Label::Number => options.numbers.push(model.target.clone()),
        Label::Classes { .. } => options.words.push(model.target.clone()),
    }
    let frame = lao::read_with(&args.data, &options)?;
    frame.notes().iter().for_each(|line| say::note(line));
    let Some(score) = model.score_frame(&frame)? else {
        bail!("{}: no row has a `{}`", frame.name(), model.target)
    };
    if args.json {
        say::results(&format!("{}\n", serde_json::json!({ "format": 1, "score": score })))?;
        return Ok(0);
    }
    let interval =
        if model.label == Label::Number { "\n+- is the half-width of a 95 % interval" } else { "" };
    let number = |x: f64| lao_figures::number(x).replace('\u{2212}', "-");
    say::results(&format!("on {} rows: {}{interval}\n", score.examples, score.summary(number)))?;
    Ok(0)
}
