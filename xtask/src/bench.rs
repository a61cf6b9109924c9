//! `cargo xtask bench`: runs scenarios, records and draws them.

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use lao_bench_suite::record::Record;
use lao_bench_suite::run::{self, Canceled, Options};
use lao_bench_suite::scenario::{Scenario, Tier};
use lao_bench_suite::{kinds::Analysis, report};
use lao_say as say;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Run scenarios: learners times data, measured, recorded and drawn.
///
/// A scenario is a file in bench-suite/scenarios. Each leaves records.csv, records.json, its figures and a page in
/// target/lao/bench/SCENARIO/; target/lao/bench/index.html shows all of them. Scenarios inform and never fail a build:
/// what theory promises is tested by `cargo xtask verify`. Benches of single kernels and learners: `cargo bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask bench --list                   what there is
  cargo xtask bench                          all scenarios, as they are meant (minutes)
  cargo xtask bench ms18-fig1                one of them
  cargo xtask bench cost-vs-d --tier check   does it run? (seconds)
  cargo xtask bench ms18-fig1 --tier full --seed 7 --out /tmp/fig1

The same seed gives the same records, times apart, whatever the number of threads.

Exit status: 0 done; 2 usage, I/O or a failed measurement; 130 canceled (finished scenarios are kept).")]
pub struct BenchArgs {
    /// Scenarios to run; all, if none is named.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// List the scenarios and stop.
    #[arg(long)]
    list: bool,
    /// How much work: check (seconds), quick (minutes), full (more repetitions).
    #[arg(long, value_enum, default_value_t = TierArg::Quick)]
    tier: TierArg,
    /// Folder of the results: new, empty, or of an earlier run. Only files that a run wrote are replaced or
    /// removed.
    #[arg(long, default_value = "target/lao/bench", value_name = "DIR")]
    out: PathBuf,
    /// Root seed.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Threads; 0 is one per processor. Jobs whose time is the result run one after the other all the same.
    #[arg(long, short, default_value_t = 0, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1024))]
    jobs: u16,
    /// What is printed: tables for people, or the records as JSON.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TierArg {
    Check,
    Quick,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
}

/// Runs the verb.
pub fn run(args: BenchArgs) -> anyhow::Result<ExitCode> {
    let selected = Scenario::select(&args.scenarios)?;
    if args.list {
        say::results(&list(&selected, args.format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tier = match args.tier {
        TierArg::Check => Tier::Check,
        TierArg::Quick => Tier::Quick,
        TierArg::Full => Tier::Full,
    };
    let options = Options { tier, seed: args.seed, jobs: args.jobs.into() };
    // What can be refused is refused before the first measurement.
    let mut folder = run::open_folder(&args.out)?;
    report::check_others(&selected, &args.out)?;
    let canceled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&canceled);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot catch Ctrl-C")?;

    let (mut records, mut text) = (Vec::new(), String::new());
    for scenario in &selected {
        let bar = say::ticking_bar(1, "{bar:30} {pos}/{len} jobs  {elapsed_precise}  {msg}");
        bar.set_message(scenario.name.clone());
        let progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let result = run::run(scenario, options, &mut folder, &progress, &canceled);
        bar.finish_and_clear();
        let record = match result {
            Ok(record) => record,
            Err(error) => {
                // Scenarios that were finished are kept, whatever became of this one.
                let kept = if records.is_empty() { Ok(()) } else { report::write_index(&mut folder) };
                if !error.is::<Canceled>() {
                    return Err(error);
                }
                kept?;
                say::note(&format!("canceled; finished scenarios are kept in {}", args.out.display()));
                return Ok(ExitCode::from(130));
            }
        };
        let analysis = report::write(scenario, &record, &mut folder)?;
        say::note(&format!("done  {} ({})", scenario.name, lao_figures::seconds(record.seconds)));
        text += &summary(scenario, &record, &analysis);
        records.push(record);
    }
    report::write_index(&mut folder)?;
    match args.format {
        Format::Json => say::results(&(serde_json::to_string_pretty(&records)? + "\n"))?,
        Format::Human => {
            say::results(&format!("{text}report: {}\n", args.out.join("index.html").display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(selected: &[Scenario], format: Format) -> anyhow::Result<String> {
    if format == Format::Json {
        let row = |s: &Scenario| serde_json::json!({"name": s.name, "kind": s.kind.to_string(), "title": s.title, "source": s.source});
        let rows: Vec<_> = selected.iter().map(row).collect();
        return Ok(serde_json::to_string_pretty(&rows)? + "\n");
    }
    let mut table = say::table(["scenario", "kind", "learners", "title"]);
    for scenario in selected {
        let (kind, learners) = (scenario.kind.to_string(), scenario.learners.len().to_string());
        table.add_row([&scenario.name, &kind, &learners, &scenario.title]);
    }
    Ok(format!("{}{} scenarios\n", say::fitted(&table), selected.len()))
}

fn summary(scenario: &Scenario, record: &Record, analysis: &Analysis) -> String {
    let mut table = say::table([""; 0]);
    if let Some((header, rows)) = analysis.table.split_first() {
        table.set_header(header);
        table.add_rows(rows);
    }
    let (tier, repetitions) = (record.tier, record.size.repetitions);
    format!("{}\n{} tier, {repetitions} repetitions, seed {}\n{table}\n\n", scenario.title, tier, record.seed)
}
