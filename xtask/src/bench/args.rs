//! The arguments of `cargo xtask bench`: `xtask` checks and explains them, `lao-bench` follows them.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

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
  cargo xtask bench papers                   every figure and table of the four papers, on one page a paper
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
pub struct BenchArgs {
    /// The scenarios to run, by name or by the path of a definition; all scenarios of the suite if none is
    /// named. `papers` stands for every figure and table of the four papers, and writes papers/index.html,
    /// too.
    #[arg(value_name = "SCENARIO|FILE.toml")]
    pub scenarios: Vec<String>,
    /// List the scenarios and stop.
    #[arg(long)]
    pub list: bool,
    /// The amount of work: check (seconds), quick (minutes), full (more repetitions).
    #[arg(long, value_enum, default_value_t = TierArg::Quick)]
    pub tier: TierArg,
    /// The folder of the results: a new or empty one, or that of an earlier run. Only files that a run wrote
    /// are replaced or removed.
    #[arg(long, default_value = "target/lao/bench", value_name = "DIR")]
    pub out: PathBuf,
    /// Run nothing: write the pages again, from the records in the folder of the results.
    #[arg(long)]
    pub pages: bool,
    /// Write the gallery of `papers` into bench-suite/gallery, too, as Markdown and SVG.
    #[arg(long)]
    pub record: bool,
    /// The root seed.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// The number of threads; 0 means one per processor. Jobs that measure time always run one after the
    /// other.
    #[arg(long, short, default_value_t = 0, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub jobs: u16,
    /// The form of the output: tables for people, or the records as JSON.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TierArg {
    Check,
    Quick,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Human,
    Json,
}
