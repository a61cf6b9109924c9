//! The commands of the project.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod bench;
mod data;
mod report;
mod verify;

/// Sparse linear learning under limited attribute observation: verify the theory, measure, fetch data.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(verify::VerifyArgs),
    Bench(bench::BenchArgs),
    Data(data::DataArgs),
    Report(report::ReportArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Verify(args) => verify::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Data(args) => data::run(args),
        Command::Report(args) => report::run(args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
