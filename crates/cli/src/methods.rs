//! `lao methods`.

use anyhow::bail;
use clap::Args;
use lao::algorithms::{METHODS, Method, ModelSize, registry};
use lao_terminal as say;
use std::process::ExitCode;

/// List the methods, or describe one.
#[derive(Debug, Args)]
pub struct MethodsArgs {
    /// Describe only this method.
    name: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &MethodsArgs) -> anyhow::Result<ExitCode> {
    let rows: Vec<&Method> = match &args.name {
        None => METHODS.iter().collect(),
        Some(name) => match registry::method(name) {
            Some(row) => vec![row],
            None => {
                let known: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
                bail!("no method is named `{name}`; the methods are {}", known.join(", "))
            }
        },
    };
    let text = if args.json {
        let of = |row: &&Method| {
            serde_json::json!({
                "name": row.name, "source": row.source, "summary": row.summary, "time per example": row.cost,
                "a prediction reads": row.model.symbol(), "fit": row.model != ModelSize::Dense,
                "prices": row.prices,
            })
        };
        let rows: Vec<_> = rows.iter().map(of).collect();
        serde_json::json!({ "format": 1, "methods": rows }).to_string() + "\n"
    } else {
        rows.iter().map(|row| describe(row)).collect()
    };
    say::results(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(row: &Method) -> String {
    let Method { name, source, summary, cost, model, prices, .. } = row;
    let fit = if *model == ModelSize::Dense { "; not for `lao fit`" } else { "" };
    let prices = if *prices { "; supports prices" } else { "" };
    let reads = model.symbol();
    format!(
        "{name}: {summary}\n    {source}; a prediction reads {reads} attributes{fit}{prices}; time per \
         example {cost}\n"
    )
}
