//! The commands of the project.

// The macros `print!` and `eprint!` panic when the stream is closed or full; `say` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

use clap::{Parser, Subcommand};
use lao_terminal as say;
use std::process::ExitCode;

mod bench;
mod data;
mod docs;
mod interrupt;
mod peers;
mod report;
mod seeds;
mod track;
mod verify;

/// Sparse linear learning under limited attribute observation: verify the theory, run benchmarks, fetch data.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(Box<verify::VerifyArgs>),
    Bench(bench::args::BenchArgs),
    Data(data::DataArgs),
    Report(report::ReportArgs),
    Docs(docs::DocsArgs),
    Track(track::TrackArgs),
    Seeds(seeds::SeedsArgs),
}

fn main() -> ExitCode {
    say::program(|cli: Cli| run(cli.command))
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Verify(args) => verify::run(*args),
        Command::Bench(_) => bench::run(),
        Command::Data(args) => data::run(args),
        Command::Report(args) => report::run(args),
        Command::Docs(args) => docs::run(&args),
        Command::Track(args) => track::run(args),
        Command::Seeds(args) => seeds::run(args),
    }
}
