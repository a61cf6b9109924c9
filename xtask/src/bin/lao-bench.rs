//! The verb `cargo xtask bench`, which runs scenarios and records and draws their measurements.

// The macros `print!` and `eprint!` panic when the stream is closed or full; `say` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

use anyhow::Context as _;
use args::{BenchArgs, Format, TierArg};
use interrupt::canceled_by_ctrl_c;
use lao_bench_suite::papers;
use lao_bench_suite::record::BenchRecord;
use lao_bench_suite::run::{self, BenchCanceled, BenchOptions};
use lao_bench_suite::scenario::Scenario;
use lao_bench_suite::tier::BenchTier;
use lao_bench_suite::{kinds::Analysis, report};
use lao_files::OutputFolder;
use lao_terminal as say;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

#[path = "../bench/args.rs"]
mod args;
#[path = "../interrupt.rs"]
mod interrupt;

fn main() -> ExitCode {
    say::program(|args: BenchArgs| bench(&args))
}

fn bench(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let papers = args.scenarios.iter().any(|name| name == papers::PAPERS);
    let selected = select(args, papers)?;
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
    // Everything that can be refused is refused before the first measurement. But of many scenarios, one
    // whose data are not at hand is skipped.
    let many = papers || args.scenarios.is_empty();
    let (mut ready, mut missing) = (Vec::new(), BTreeMap::new());
    for scenario in selected {
        match scenario.check() {
            Ok(()) => ready.push(scenario),
            Err(error) if many && papers::is_data_missing(&error) => {
                say::note(&format!("skipped  {error:#}"));
                missing.insert(scenario.name.clone(), format!("{:#}", error));
            }
            Err(error) => return Err(error),
        }
    }
    let selected = ready;
    let mut folder = run::open_folder(&args.out)?;
    report::check_others(&selected, &args.out)?;
    let canceled = canceled_by_ctrl_c()?;

    let (mut records, mut text, mut failed) = (Vec::new(), String::new(), 0);
    for scenario in &selected {
        let bar = say::ticking_bar(1, "{bar:30} {pos}/{len} jobs  {elapsed_precise}  {msg}");
        bar.set_message(scenario.name.clone());
        let progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let result = if args.pages {
            let record = BenchRecord::read(&args.out.join(&scenario.name))?;
            record.with_context(|| format!("{} has no record of {}", args.out.display(), scenario.name))
        } else {
            run::run(scenario, options, &mut folder, &progress, &canceled)
        };
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
    let mut index = args.out.join("index.html");
    if papers {
        papers::write(&args.out, &missing, &mut folder, ("papers/", false))?;
        index = args.out.join("papers/index.html");
    }
    if args.record {
        let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench-suite/gallery");
        let mut recorded = OutputFolder::open(&gallery, "gallery")?;
        papers::write(&args.out, &missing, &mut recorded, ("", true))?;
        say::note("recorded in bench-suite/gallery");
    }
    match args.format {
        Format::Json => say::results(&(serde_json::to_string_pretty(&records)? + "\n"))?,
        Format::Human => {
            say::results(&format!("{text}report: {}\n", index.display()))?;
        }
    }
    if failed > 0 {
        say::note(&format!("{failed} measurements failed; the records and pages give the reasons"));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the scenarios that are named; `papers` stands for those of the four papers.
fn select(args: &BenchArgs, papers: bool) -> anyhow::Result<Vec<Scenario>> {
    if !papers {
        anyhow::ensure!(!args.record, "--record is for the gallery: `cargo xtask bench papers --record`");
        return Scenario::select(&args.scenarios);
    }
    let mut names = papers::scenarios()?;
    let others = args.scenarios.iter().filter(|name| *name != papers::PAPERS && !names.contains(name));
    let others: Vec<String> = others.cloned().collect();
    names.extend(others);
    Scenario::select(&names)
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
