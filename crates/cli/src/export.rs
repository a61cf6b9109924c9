//! `lao export`.

use crate::inspect::load;
use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use lao_files::{check_writable, write_atomically};
use lao_terminal as say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a model for other programs: SQL, Python, ONNX or a table of coefficients.
///
/// All forms predict what `lao predict` does: a missing value is replaced by the mean of its attribute, and a
/// value beyond the range that the model gives for an attribute by the nearer end of that range. For two
/// classes, SQL and ONNX give the probability of the positive one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lao export patients.lao.json --to sql                   an expression for a SELECT
  lao export patients.lao.json --to python -o model.py    a module with predict(row)
  lao export patients.lao.json --to onnx -o model.onnx    an input of shape [rows, 1] for each column")]
pub struct ExportArgs {
    /// Read the model from this file.
    model: PathBuf,
    /// Write this form.
    #[arg(long, value_enum)]
    to: Form,
    /// Write to this file [default: standard output; ONNX needs a file].
    #[arg(long, short, value_name = "FILE", required_if_eq("to", "onnx"))]
    output: Option<PathBuf>,
}

/// What a model is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// An expression of standard SQL over the model's columns.
    Sql,
    /// A Python module that needs no other.
    Python,
    /// A graph for ONNX runtimes with the operators of version 19.
    Onnx,
    /// A table of the coefficients.
    Csv,
}

pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    if let Some(output) = &args.output {
        check_writable(output)?;
    }
    let model = load(&args.model)?;
    let bytes = match args.to {
        Form::Sql => model.to_sql().into_bytes(),
        Form::Python => model.to_python().into_bytes(),
        Form::Csv => model.to_csv().into_bytes(),
        Form::Onnx => model.to_onnx().map_err(|why| anyhow!("cannot write ONNX: {why}"))?,
    };
    match &args.output {
        Some(output) => write_atomically(output, &bytes)?,
        None => say::results(&String::from_utf8(bytes).context("ONNX is no text: give --output FILE")?)?,
    }
    Ok(ExitCode::SUCCESS)
}
