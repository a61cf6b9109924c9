//! `lao inspect`.

use clap::Args;
use lao::Model;
use lao_say as say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show a model: attributes, error bars, error, what was bought, and where it comes from.
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
        "{model}a prediction reads {read}\nlearned by {}{guard} from {} ({} examples of {} attributes, \
         sha256 {}), {} held out, {} pass{}, seed {}, lao {}\n",
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
