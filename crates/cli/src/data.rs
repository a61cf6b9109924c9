//! `lao data`.

use crate::args::Layout;
use crate::output::Force;
use clap::{Args, value_parser};
use lao::{ColumnKind, ColumnSummary, ReadOptions, Rewriting};
use lao_figures::count;
use lao_files::write_with;
use lao_terminal as say;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

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
    /// Write the table to this Parquet file in short pages, so that `lao fit` reads few bytes of it.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    rewrite: Option<PathBuf>,
    /// Rows of a page of that file [default: a sixteen-hundredth of all, from 64 to 1024].
    #[arg(long, value_name = "N", requires = "rewrite", value_parser = value_parser!(u32).range(1..=65536))]
    page: Option<u32>,
    /// Write the rows of that file in a random order, always the same one. Use it if rows that are neighbors
    /// are alike, such as those of one day or one patient: the examples of a page have the same looks.
    #[arg(long, requires = "rewrite")]
    shuffle: bool,
    #[command(flatten)]
    force: Force,
}

pub fn run(args: &DataArgs) -> anyhow::Result<u8> {
    if let Some(output) = &args.rewrite {
        return rewrite(args, output);
    }
    let frame = lao::read_with(&args.data, &args.layout.options(ReadOptions::default()))?;
    frame.notes().iter().for_each(|line| say::note(line));
    let columns = frame.summary();
    let text = if args.json {
        let of = |one: &ColumnSummary<'_>| {
            let (kind, values) = describe(one);
            let constant = one.kind.is_constant();
            serde_json::json!({
                "name": one.name, "kind": kind, "missing": one.missing, "values": values,
                "left_out": constant || matches!(one.kind, ColumnKind::Text | ColumnKind::Others(_)),
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
    Ok(0)
}

/// Writes a Parquet table to another file, in short pages.
fn rewrite(args: &DataArgs, output: &Path) -> anyhow::Result<u8> {
    args.force.check(output, &[&args.data])?;
    let options = args.layout.options(ReadOptions::default());
    let how = Rewriting { page: args.page, shuffled: args.shuffle };
    let rows = if let Some(table) = lao::open_parquet(&args.data, &options)? {
        write_with(output, |file| table.rewrite(BufWriter::new(file), how).map_err(io::Error::other))?;
        table.rows()
    } else {
        let frame = lao::read_with(&args.data, &options)?;
        frame.notes().iter().for_each(|line| say::note(line));
        write_with(output, |file| frame.write_parquet(BufWriter::new(file), how).map_err(io::Error::other))?;
        frame.rows() as u64
    };
    say::note(&format!("{} rows are in {}", count(rows), output.display()));
    Ok(0)
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
        ColumnKind::Others(why) => ("others", format!("left out: {why}")),
    }
}
