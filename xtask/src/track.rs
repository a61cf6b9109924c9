//! The verb `cargo xtask track`, which keeps the history of the tracked rates.

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use lao_figures::standalone;
use lao_files::write_atomically;
use lao_terminal as say;
use lao_verification::context::Direction;
use lao_verification::record::RunRecord;
use lao_verification::{bless, track};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Keep the history of rates and verdicts, show where rates moved, and pool the evidence of all nights.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask verify --tier nightly && cargo xtask track add --history rates.jsonl
  cargo xtask track show --history rates.jsonl
  cargo xtask track export --format bencher > bencher.json
  cargo xtask track accept hk12-fig2 --baseline verification/baseline.json --reason \"steps in another order\"

Exit status: 0 done; 1 (show) all nights together reject an expected verdict; 2 wrong usage or failed I/O;
7 (show) a rate got worse.")]
pub struct TrackArgs {
    #[command(subcommand)]
    command: TrackCommand,
}

#[derive(Debug, Subcommand)]
enum TrackCommand {
    /// Append the rates of the last run, and its evidence on each claim, to a history: a line of JSON for
    /// each.
    Add {
        /// The folder of the results of the run.
        #[arg(long, default_value = "target/lao/verify", value_name = "DIR")]
        from: PathBuf,
        /// The history; it is created if there is none.
        #[arg(long, value_name = "FILE")]
        history: PathBuf,
    },
    /// Print the rates whose mean has moved and the verdicts that all nights reject, and draw the trends.
    Show {
        /// The history.
        #[arg(long, value_name = "FILE")]
        history: PathBuf,
        /// The folder for the plots, one for each rate; it is created if there is none.
        #[arg(long, value_name = "DIR")]
        plots: Option<PathBuf>,
    },
    /// Accept, in a baseline, that rates have drifted since they were blessed first.
    ///
    /// `verify --compare` reports a drift until it is accepted; then the drift counts from the figures that
    /// were blessed last. The first figures and the reason stay in the file. Nothing runs.
    Accept {
        /// The rates, as `verify --compare` names them: "CLAIM: RATE", or CLAIM for all drifted rates of a
        /// claim.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// The baseline.
        #[arg(long, value_name = "FILE")]
        baseline: PathBuf,
        /// The reason why the drift is right.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Print the rates of the last run for another tool.
    Export {
        /// The folder of the results of the run.
        #[arg(long, default_value = "target/lao/verify", value_name = "DIR")]
        from: PathBuf,
        /// The format.
        #[arg(long, value_enum)]
        format: ExportFormat,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Bencher's metric format.
    Bencher,
    /// The rates of which smaller is better, for github-action-benchmark.
    GithubSmaller,
    /// The rates of which larger is better, for github-action-benchmark.
    GithubLarger,
}

/// Runs the verb.
pub fn run(args: TrackArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        TrackCommand::Add { from, history } => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
            let lines = track::lines(&RunRecord::read(&from)?, now);
            track::append(&history, &lines)?;
            say::results(&format!("{} lines were appended to {}\n", lines.len(), history.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        TrackCommand::Show { history, plots } => show(&history, plots.as_deref()),
        TrackCommand::Accept { names, baseline, reason } => {
            let accepted = bless::accept(&baseline, &names, &reason)?;
            say::results(&(accepted.join("\n") + "\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        TrackCommand::Export { from, format } => {
            let record = RunRecord::read(&from)?;
            let value = match format {
                ExportFormat::Bencher => track::bencher(&record),
                ExportFormat::GithubSmaller => track::github(&record, Direction::Larger),
                ExportFormat::GithubLarger => track::github(&record, Direction::Smaller),
            };
            say::results(&(serde_json::to_string_pretty(&value)? + "\n"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn show(history: &Path, plots: Option<&Path>) -> anyhow::Result<ExitCode> {
    let lines = track::read(history)?;
    let trends = track::trends(&lines);
    if let Some(folder) = plots {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        for (i, trend) in trends.iter().enumerate() {
            let svg = standalone(&lao_figures::draw(&trend.figure())?);
            write_atomically(&folder.join(format!("{}-{}.svg", trend.claim, i + 1)), svg.as_bytes())?;
        }
    }
    let mut text = String::new();
    for trend in &trends {
        if let Some(words) = trend.words() {
            text += &format!("{}: {} ({}): {words}\n", trend.claim, trend.rate, trend.tier);
        }
    }
    let pooled = track::pooled(&lines);
    let against = pooled.iter().filter(|pooled| match pooled.expected.as_str() {
        "HOLDS" => pooled.refuted,
        "REFUTED" => pooled.supported,
        _ => false,
    });
    for pooled in against.clone() {
        let (claim, nights, expected) = (&pooled.claim, pooled.nights, &pooled.expected);
        text += &format!("{claim}: {nights} nights together reject the expected verdict, {expected}\n");
    }
    let moved = trends.iter().filter(|trend| trend.change.is_some()).count();
    text += &format!("{} rates, {moved} of which moved\n", trends.len());
    say::results(&text)?;
    let worse = trends.iter().any(|trend| trend.change.is_some_and(|change| change.worsening > 0.0));
    let contradicted = against.count() > 0;
    Ok(ExitCode::from(if contradicted {
        1
    } else if worse {
        7
    } else {
        0
    }))
}
