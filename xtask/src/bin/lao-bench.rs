//! The verb `cargo xtask bench`, which runs scenarios and records and draws their measurements.

// The macros `print!` and `eprint!` panic when the stream is closed or full; `say` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use lao_bench_suite::record::BenchRecord;
use lao_bench_suite::run::{self, BenchCanceled, BenchOptions};
use lao_bench_suite::scenario::Scenario;
use lao_bench_suite::tier::BenchTier;
use lao_bench_suite::{kinds::Analysis, report};
use lao_terminal as say;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Run scenarios, which measure learners on data, and record and draw the measurements.
///
/// A scenario is a TOML file. The scenarios of the suite are in bench-suite/scenarios; name a scenario of
/// your own, on a dataset of the catalog or on a CSV file, by its path, which ends in .toml. Each scenario
/// writes a page, its figures, records.json (this run) and records.csv (all runs: each run appends) to
/// target/lao/bench/SCENARIO/; target/lao/bench/index.html shows all scenarios. Scenarios inform and never
/// fail a build: `cargo xtask verify` tests the theory. bench-suite/BIAS.md says what is unfair in the
/// scenarios. `cargo bench` runs the benchmarks of single kernels and learners.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask bench",
    bin_name = "cargo xtask bench",
    version,
    after_help = "\
Examples:
  cargo xtask bench --list                   lists the scenarios
  cargo xtask bench                          runs all scenarios at their normal sizes (minutes)
  cargo xtask bench ms18-fig1                runs one scenario
  cargo xtask bench cost-vs-d --tier check   checks that the scenario runs (seconds)
  cargo xtask bench ms18-fig1 --tier full --seed 7 --out /tmp/fig1
  cargo xtask bench my.toml                  runs a scenario of your own

my.toml, on a CSV file with a header (a relative path starts at the folder of my.toml):
  title = \"Blood tests\"
  kind = \"learning-curve\"
  budget = 5             # attributes that a learner may observe per example
  train = 20_000         # examples in the training stream
  [data]
  file = \"patients.csv\" # or dataset = \"diabetes\"
  label = \"outcome\"
  [[learners]]
  name = \"Exploration\"
  method = \"exploration\"
  sparsity = 3
  step_size = 0.1
  batch = { geometric = { first = 30.0, growth = 1.15 } }

The same seed gives the same records, except for times, whatever the number of threads.

Exit status:
  0    done
  1    some measurements failed; their rows hold the errors
  2    wrong usage, failed I/O, or a scenario that cannot run
  130  canceled; the results of finished scenarios are kept"
)]
struct BenchArgs {
    /// The scenarios to run, by name or by the path of a definition; all scenarios of the suite if none is
    /// named.
    #[arg(value_name = "SCENARIO|FILE.toml")]
    scenarios: Vec<String>,
    /// List the scenarios and stop.
    #[arg(long)]
    list: bool,
    /// The amount of work: check (seconds), quick (minutes), full (more repetitions).
    #[arg(long, value_enum, default_value_t = TierArg::Quick)]
    tier: TierArg,
    /// The folder of the results: a new or empty one, or that of an earlier run. Only files that a run wrote
    /// are replaced or removed.
    #[arg(long, default_value = "target/lao/bench", value_name = "DIR")]
    out: PathBuf,
    /// The root seed.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The number of threads; 0 means one per processor. Jobs that measure time always run one after the
    /// other.
    #[arg(long, short, default_value_t = 0, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1024))]
    jobs: u16,
    /// The form of the output: tables for people, or the records as JSON.
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

fn main() -> ExitCode {
    say::program(|args: BenchArgs| bench(&args))
}

fn bench(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let selected = Scenario::select(&args.scenarios)?;
    if args.list {
        say::results(&list(&selected, args.format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tier = match args.tier {
        TierArg::Check => BenchTier::Check,
        TierArg::Quick => BenchTier::Quick,
        TierArg::Full => BenchTier::Full,
    };
    let options = BenchOptions { tier, seed: args.seed, jobs: args.jobs.into() };
    // Everything that can be refused is refused before the first measurement.
    selected.iter().try_for_each(Scenario::check)?;
    let mut folder = run::open_folder(&args.out)?;
    report::check_others(&selected, &args.out)?;
    let canceled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&canceled);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot catch Ctrl-C")?;

    let (mut records, mut text, mut failed) = (Vec::new(), String::new(), 0);
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
                // The results of finished scenarios are kept, also when this one failed.
                let kept = if records.is_empty() { Ok(()) } else { report::write_index(&mut folder) };
                if !error.is::<BenchCanceled>() {
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
        failed += record.failures().count();
        records.push(record);
    }
    report::write_index(&mut folder)?;
    match args.format {
        Format::Json => say::results(&(serde_json::to_string_pretty(&records)? + "\n"))?,
        Format::Human => {
            say::results(&format!("{text}report: {}\n", args.out.join("index.html").display()))?;
        }
    }
    if failed > 0 {
        say::note(&format!("{failed} measurements failed; the records and pages give the reasons"));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(selected: &[Scenario], format: Format) -> anyhow::Result<String> {
    if format == Format::Json {
        let row = |s: &Scenario| {
            let kind = s.kind.label();
            serde_json::json!({"name": s.name, "kind": kind, "title": s.title, "source": s.source})
        };
        let rows: Vec<_> = selected.iter().map(row).collect();
        return Ok(serde_json::to_string_pretty(&rows)? + "\n");
    }
    let mut table = say::table(["scenario", "kind", "contenders", "title"]);
    for scenario in selected {
        let contenders = scenario.kind.contenders().len().to_string();
        table.add_row([&scenario.name, scenario.kind.label(), &contenders, &scenario.title]);
    }
    Ok(format!("{}{} scenarios\n", say::fitted(&table), selected.len()))
}

fn summary(scenario: &Scenario, record: &BenchRecord, analysis: &Analysis) -> String {
    let mut table = say::table([""; 0]);
    if let Some((header, rows)) = analysis.table.split_first() {
        table.set_header(header);
        table.add_rows(rows);
    }
    let (tier, repetitions) = (record.tier, record.size.repetitions);
    let warning = if tier == BenchTier::Check { format!("{}\n", report::CHECK_TIER) } else { String::new() };
    let failures: String =
        report::failures(record).iter().map(|failure| format!("failed: {failure}\n")).collect();
    let Analysis { winner, .. } = analysis;
    let seed = record.seed;
    format!(
        "{}\n{tier} tier, {repetitions} repetitions, seed {seed}\n{table}\n{winner}\n{warning}{failures}\n",
        scenario.title
    )
}
