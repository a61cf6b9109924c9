//! The command `lao` as a function, which the program `lao` and the Python package share.

// The macros `print!` and `eprint!` panic when the stream is closed or full; `say` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

use clap::{Parser, Subcommand};
use lao_terminal as say;
use std::ffi::OsString;

mod args;
mod data;
mod export;
mod fit;
mod inspect;
mod interrupt;
mod manual;
mod methods;
mod output;
mod plan;
mod predict;
mod score;
mod serve;
mod study;

/// Learn sparse linear models from examples of which only a few attributes are observed.
///
/// Results go to standard output, messages to standard error. The exit status is 0 if all went well, 1 if
/// nothing was found (the model then predicts the mean) or a study has nothing to hand out, 2 for an error, 3
/// if a study is locked, damaged or of another version, and 130 if `fit` was interrupted.
#[derive(Debug, Parser)]
#[command(name = "lao", version, disable_version_flag = true, arg_required_else_help = true)]
#[command(after_help = "Example:
  lao plan --attributes 60 --budget 12          how many examples a study needs
  lao fit patients.csv --target pressure --budget 12
  lao inspect patients.lao.json
  lao predict patients.lao.json new.csv -o predicted.csv
  lao score patients.lao.json labeled.csv
  lao study --help                            a live study, patient after patient
  lao export patients.lao.json --to sql         the model for other programs
  lao serve patients.lao.json                   a form and an endpoint for predictions")]
struct Cli {
    /// Print the version; with --verbose, also what a report of a problem should have.
    #[arg(short = 'V', long)]
    version: bool,
    /// Print the system, the threads and the formats beside the version.
    #[arg(long, requires = "version")]
    verbose: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Fit(fit::FitArgs),
    Predict(predict::PredictArgs),
    Score(score::ScoreArgs),
    Serve(serve::ServeArgs),
    Inspect(inspect::InspectArgs),
    Plan(plan::PlanArgs),
    Methods(methods::MethodsArgs),
    #[command(alias = "session")]
    Study(study::StudyArgs),
    Data(data::DataArgs),
    Export(export::ExportArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Runs the command with its arguments, of which the first is the name of the program, and returns its exit
/// status. Ctrl-C can end the process, with status 130.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    say::program_with(arguments, run_command, study::status_of)
}

fn run_command(cli: Cli) -> anyhow::Result<u8> {
    let Some(command) = cli.command.filter(|_| !cli.version) else {
        return manual::version(cli.verbose);
    };
    interrupt::catch()?;
    match command {
        Command::Fit(args) => fit::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::pages(&args),
    }
}
