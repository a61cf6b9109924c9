//! `lao export`.

use crate::inspect::load;
use crate::output::{Output, OutputArgs};
use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use lao_terminal as say;
use std::path::PathBuf;

/// Write a model for other programs: SQL, Python, ONNX or a table of coefficients.
///
/// All forms predict what `lao predict` does: a missing value is replaced by the mean of its attribute, and a
/// value beyond the range that the model gives for an attribute by the nearer end of that range. What stood
/// for a missing value when the model was learned does so again. For two classes, SQL and ONNX give the
/// probability of the positive one. SQL begins with a comment: what it assumes of the columns, and a row to
/// check it by.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lao export patients.lao.json --to sql                   an expression for a SELECT
  lao export patients.lao.json --to sql --dialect mysql
  lao export patients.lao.json --to python -o model.py    a module with predict(row)
  lao export patients.lao.json --to onnx -o model.onnx    an input of shape [rows, 1] for each column")]
pub struct ExportArgs {
    /// Read the model from this file.
    model: PathBuf,
    /// Write this form.
    #[arg(long, value_enum)]
    to: Form,
    /// Write SQL for this database.
    #[arg(long, value_enum, default_value_t = Dialect::Ansi)]
    dialect: Dialect,
    #[command(flatten)]
    output: OutputArgs,
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

/// A database's own SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dialect {
    /// The standard: PostgreSQL, SQLite, DuckDB.
    Ansi,
    /// MySQL and MariaDB.
    Mysql,
    /// BigQuery.
    Bigquery,
    /// Spark and Hive.
    Spark,
    /// SQL Server.
    Tsql,
    /// Oracle.
    Oracle,
}

impl From<Dialect> for lao::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Ansi => lao::Dialect::Ansi,
            Dialect::Mysql => lao::Dialect::MySql,
            Dialect::Bigquery => lao::Dialect::BigQuery,
            Dialect::Spark => lao::Dialect::Spark,
            Dialect::Tsql => lao::Dialect::TSql,
            Dialect::Oracle => lao::Dialect::Oracle,
        }
    }
}

pub fn run(args: &ExportArgs) -> anyhow::Result<u8> {
    if args.to == Form::Onnx && !args.output.is_given() {
        bail!("ONNX is no text: give a file by --output, or `-` for standard output")
    }
    let output = args.output.checked(Output::Standard, &[&args.model])?;
    let model = load(&args.model)?;
    if args.to == Form::Csv && model.trees.is_some() {
        bail!("a table of coefficients cannot hold the trees of this model: use --to sql, python or onnx")
    }
    let bytes = match args.to {
        Form::Sql => model.to_sql(args.dialect.into()).into_bytes(),
        Form::Python => model.to_python().into_bytes(),
        Form::Csv => model.to_csv().into_bytes(),
        Form::Onnx => model.to_onnx().map_err(|why| anyhow!("cannot write ONNX: {why}"))?,
    };
    let texts = model.coefficients.iter().flat_map(|one| [Some(one.column.as_str()), one.word.as_deref()]);
    if args.to == Form::Csv && texts.flatten().any(lao::is_formula) {
        say::note("some fields begin with =, + or @, which spreadsheets run as formulas");
    }
    output.write(&bytes)?;
    Ok(0)
}
