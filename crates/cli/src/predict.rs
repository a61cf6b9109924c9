//! `lao predict`.

use crate::args::Layout;
use crate::inspect::load;
use crate::output::{Output, OutputArgs};
use clap::{Args, ValueEnum};
use lao::{Label, Missing, Model, Pick};
use lao_pages::json;
use lao_terminal as say;
use std::path::PathBuf;

/// Apply a model to a table; only the model's columns are read.
///
/// Columns are found by name, in any order. A field that meant a missing value when the model was learned
/// means it again. The result is CSV with one line per row: the prediction and, for two classes, the class
/// and the probability of the positive one.
#[derive(Debug, Args)]
pub struct PredictArgs {
    /// Read the model from this file.
    model: PathBuf,
    /// Read this table; `-` is standard input.
    data: PathBuf,
    /// Handle missing values in this way.
    #[arg(long, value_enum, default_value_t = Gap::Mean)]
    missing: Gap,
    #[command(flatten)]
    layout: Layout,
    #[command(flatten)]
    output: OutputArgs,
    /// Copy this column of the table to the predictions, as it is written; can be given more than once.
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,
    /// Print JSON instead of CSV.
    #[arg(long)]
    json: bool,
}

/// What to do about a missing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Gap {
    /// Use the mean of the attribute.
    Mean,
    /// Predict nothing for the row: its field is empty.
    Refuse,
}

pub fn run(args: &PredictArgs) -> anyhow::Result<u8> {
    let output = args.output.checked(Output::Standard, &[&args.model, &args.data])?;
    let model = load(&args.model)?;
    let mut options = args.layout.options(model.read_options());
    let columns = model.columns();
    if let Pick::Only(only) = &mut options.columns {
        for column in args.keep.iter().filter(|column| !columns.contains(&column.as_str())) {
            only.push(column.clone());
            options.words.push(column.clone());
        }
    }
    let frame = lao::read_with(&args.data, &options)?;
    let kept = args.keep.iter().map(|column| Ok((column.as_str(), frame.texts(column)?)));
    let kept: Vec<(&str, Vec<String>)> = kept.collect::<Result<_, lao::Error>>()?;
    frame.notes().iter().for_each(|line| say::note(line));
    let missing = match args.missing {
        Gap::Mean => Missing::Mean,
        Gap::Refuse => Missing::Refuse,
    };
    let predictions = model.predict(&frame, missing)?;
    let values = &predictions.values;
    let text =
        if args.json { format!("{}\n", json(&model, values, &kept)) } else { csv(&model, values, &kept)? };
    output.write(text.as_bytes())?;
    let infinite = values.iter().filter(|value| value.is_infinite()).count();
    if infinite > 0 {
        say::note(&format!("{infinite} predictions are beyond all numbers: their fields are empty"));
    }
    if kept.iter().flat_map(|(_, texts)| texts).any(|text| lao::is_formula(text)) {
        say::note("some fields begin with =, + or @, which spreadsheets run as formulas");
    }
    if predictions.incomplete > 0 {
        let what = match missing {
            Missing::Mean => "the mean was used",
            Missing::Refuse => "they have no prediction",
        };
        say::note(&format!("{} of {} rows lack a value: {what}", predictions.incomplete, frame.rows()));
    }
    Ok(0)
}

fn csv(model: &Model, values: &[f64], kept: &[(&str, Vec<String>)]) -> anyhow::Result<String> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let target = format!("predicted {}", model.target);
    let (classes, probable) = (model.class(0.0).is_some(), model.link.is_some());
    let mut header = vec![target.as_str()];
    header.extend(classes.then_some("class"));
    let of_positive = match &model.label {
        Label::Classes { positive, .. } if probable => Some(format!("probability of {positive}")),
        _ => None,
    };
    header.extend(of_positive.as_deref());
    header.extend(kept.iter().map(|(column, _)| *column));
    out.write_record(&header)?;
    for (i, &value) in values.iter().enumerate() {
        let known = value.is_finite();
        let of = |text: Option<String>| text.filter(|_| known).unwrap_or_default();
        let mut row = vec![of(Some(value.to_string()))];
        if classes {
            row.push(of(model.class(value).map(str::to_owned)));
        }
        if classes && probable {
            row.push(of(model.probability(value).map(|p| p.to_string())));
        }
        row.extend(kept.iter().map(|(_, texts)| texts[i].clone()));
        out.write_record(&row)?;
    }
    Ok(String::from_utf8(out.into_inner()?)?)
}
