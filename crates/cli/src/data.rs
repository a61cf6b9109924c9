//! `lao data`.

use crate::args::Layout;
use clap::Args;
use lao::{ColumnKind, ColumnSummary, ReadOptions};
use lao_figures::count;
use lao_terminal as say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the columns of a table as `lao fit` reads them.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// Read this table; `-` is standard input.
    data: PathBuf,
    #[command(flatten)]
    layout: Layout,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &DataArgs) -> anyhow::Result<ExitCode> {
    let frame = lao::read_with(&args.data, &args.layout.options(ReadOptions::default()))?;
    frame.notes().iter().for_each(|line| say::note(line));
    let columns = frame.summary();
    let text = if args.json {
        let of = |one: &ColumnSummary<'_>| {
            let (kind, values) = describe(one);
            let constant = one.kind.is_constant();
            serde_json::json!({
                "name": one.name, "kind": kind, "missing": one.missing, "values": values,
                "left_out": constant || one.kind == ColumnKind::Text,
            })
        };
        let all: Vec<_> = columns.iter().map(of).collect();
        let (rows, hash) = (frame.rows(), frame.hash());
        serde_json::json!({ "format": 1, "rows": rows, "sha256": hash, "columns": all }).to_string() + "\n"
    } else {
        let names: Vec<_> = columns.iter().map(|one| lao::shown(one.name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
        let mut text = format!("{:<width$}  kind      missing  values\n", "column");
        for (one, name) in columns.iter().zip(&names) {
            let (kind, values) = describe(one);
            text += &format!("{name:<width$}  {kind:<8}  {:>7}  {values}\n", count(one.missing as u64));
        }
        text
    };
    say::results(&text)?;
    say::note(&format!("{} rows, {} columns", count(frame.rows() as u64), columns.len()));
    Ok(ExitCode::SUCCESS)
}

/// Returns a number as it can be typed.
fn number(x: f64) -> String {
    lao_figures::number(x).replace('\u{2212}', "-")
}

/// Returns the kind of a column, and its values in short.
fn describe(column: &ColumnSummary<'_>) -> (&'static str, String) {
    let constant = if column.kind.is_constant() { ": constant, left out" } else { "" };
    match column.kind {
        ColumnKind::Numbers { low, high, .. } if low > high => ("numbers", "none: left out".into()),
        ColumnKind::Numbers { low, high, .. } if low == high => {
            ("numbers", format!("{} alone{constant}", number(low)))
        }
        ColumnKind::Numbers { low, high, mean } => {
            ("numbers", format!("{} to {}, mean {}", number(low), number(high), number(mean)))
        }
        ColumnKind::Words(words) => {
            let first: Vec<_> = words.iter().take(6).map(|word| lao::shown(word)).collect();
            let more = if words.len() > first.len() { ", ..." } else { "" };
            ("words", format!("{}: {}{more}{constant}", words.len(), first.join(", ")))
        }
        ColumnKind::Text => ("text", "too many different words: left out".into()),
    }
}
