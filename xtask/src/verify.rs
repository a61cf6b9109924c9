//! The verb `cargo xtask verify`, which tests the claims and writes the report.

use crate::interrupt::canceled_by_ctrl_c;
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::ProgressBar;
use lao_files::OutputFolder;
use lao_terminal as say;
use lao_verification::baseline::{self, Baseline};
use lao_verification::bless::{bless, may_bless};
use lao_verification::claim::{Claim, Expected};
use lao_verification::comparison::{self, Scope};
use lao_verification::context::RunCanceled;
use lao_verification::partition::Partition;
use lao_verification::plan::{Plan, RunTier};
use lao_verification::record::RunRecord;
use lao_verification::run::{self, RunOptions, RunProgress, Timings};
use lao_verification::status::{ClaimStatus, ExitStatus, RunStatus};
use lao_verification::{explain, papers, report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Test the theory, claim by claim, and write a report.
///
/// Every claim is a statistical test with mutants, which are deliberate faults that the same test must
/// notice. The report, with plots and evidence, is target/lao/verify/index.html.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask verify                        all claims, quick sizes (minutes)
  cargo xtask verify thm41 cor42            claims whose id contains one of these
  cargo xtask verify --tier full            larger sizes, real data where it is found (LAO_DATA)
  cargo xtask verify --explain ms18-thm41-literal
  cargo xtask verify --compare verification/baseline.json
  cargo xtask verify --partition time:1/4 --out part-1      one of four parts, on one of four machines
  cargo xtask verify merge part-1 part-2 part-3 part-4      judge the four parts together

Exit status:
  0    every verdict is as expected
  1    a verdict is not the expected one
  2    wrong usage, failed I/O, or results that cannot be printed (unless their reader has closed the stream)
  3    a claim is inconclusive
  4    a mutant was not noticed
  5    an experiment ended with an error
  6    nothing ran
  7    a tracked figure is worse than when it was blessed last, is another one, or is lost
  8    a claim did not judge exactly the cells that it planned
  130  canceled; the results of finished claims are kept, and the next run resumes from them")]
#[command(args_conflicts_with_subcommands = true)]
pub struct VerifyArgs {
    #[command(subcommand)]
    command: Option<VerifyCommand>,
    #[command(flatten)]
    which: WhichClaims,
    /// The amount of work: quick (minutes), full (an hour, with real data), nightly (full with the day's
    /// seed).
    #[arg(long, value_enum, default_value_t = TierArg::Quick)]
    tier: TierArg,
    /// List the claims and stop.
    #[arg(long)]
    list: bool,
    /// Explain one claim (statement, sizes, level, mutants, and its last result) and stop.
    #[arg(long, value_name = "CLAIM")]
    explain: Option<String>,
    /// The number of threads; 0 means one per core. Results do not depend on this number.
    #[arg(long, short, default_value_t = 0, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1024))]
    jobs: u16,
    /// The root seed; the default is the plan's seed, or the day's seed for nightly.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    ending: EndingArgs,
    /// Start over instead of resuming an unfinished run.
    #[arg(long)]
    fresh: bool,
    /// Run one part of the claims and judge nothing: slice:K/N (every N-th claim), hash:K/N (by the hash of
    /// the id) or time:K/N (parts of equal time). `verify merge` judges all parts.
    #[arg(long, value_name = "PART", conflicts_with_all = ["compare", "bless", "format"])]
    partition: Option<Partition>,
}

/// Which claims run.
#[derive(Debug, Args)]
pub(crate) struct WhichClaims {
    /// Run only the claims whose id contains one of these texts.
    filter: Vec<String>,
    /// Run only the claims of this paper, such as ms18.
    #[arg(long, value_name = "ID")]
    paper: Option<String>,
}

/// The options of what happens when all claims were judged.
#[derive(Debug, Args)]
struct EndingArgs {
    /// The folder of the results: a new or empty one, or that of an earlier run. Only files that a run wrote
    /// are replaced or removed.
    #[arg(long, default_value = "target/lao/verify", value_name = "DIR")]
    out: PathBuf,
    /// The form of the output: a table for people, or the record as JSON.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Compare the figures with a baseline. The run fails if a figure is worse, has changed, or is missing.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Write the figures of this run as the new baseline; this needs --reason.
    #[arg(long, value_name = "FILE", requires = "reason")]
    bless: Option<PathBuf>,
    /// The reason why the baseline changes, which is stored in the baseline.
    #[arg(long, value_name = "TEXT", requires = "bless")]
    reason: Option<String>,
}

#[derive(Debug, Subcommand)]
enum VerifyCommand {
    /// Judge the parts that `verify --partition` left, and write one report.
    ///
    /// The record is the one that a single run would have left, byte for byte.
    Merge {
        /// The folders of the parts.
        #[arg(required = true, value_name = "DIR")]
        parts: Vec<PathBuf>,
        #[command(flatten)]
        ending: EndingArgs,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TierArg {
    Quick,
    Full,
    Nightly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
}

/// Runs the verb.
pub fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let plan = Plan::built_in()?;
    if let Some(command) = args.command {
        return merge(command, &plan);
    }
    let tier = match args.tier {
        TierArg::Quick => RunTier::Quick,
        TierArg::Full => RunTier::Full,
        TierArg::Nightly => RunTier::Nightly,
    };
    if let Some(id) = &args.explain {
        let claim = papers::find(id).with_context(|| unknown(id))?;
        say::results(&explain::explain(claim, &plan, tier, &args.ending.out))?;
        return Ok(ExitCode::SUCCESS);
    }
    let selected = args.which.select()?;
    if args.list {
        say::results(&list(&selected, args.ending.format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let ids: Vec<&str> = selected.iter().map(|claim| claim.id).collect();
    // Everything that can be refused is refused before the first claim runs.
    let ending = Ending::prepare(&args.ending, &tier.to_string(), &ids)?;
    let mut folder = run::open_folder(&args.ending.out)?;
    let seed = match (args.seed, tier) {
        (Some(seed), _) => seed,
        (None, RunTier::Nightly) => run::seed_of_the_day(),
        (None, _) => plan.suite.seed,
    };
    let options = RunOptions { claims: selected, tier, seed, jobs: args.jobs.into(), fresh: args.fresh };

    let canceled = canceled_by_ctrl_c()?;
    let bar = Bar::new(options.claims.len());
    let result = match args.partition {
        Some(part) => run::run_part(&options, part, &plan, &mut folder, &bar, &canceled).map(|()| None),
        None => run::run(&options, &plan, &mut folder, &bar, &canceled).map(Some),
    };
    bar.clear();
    match result {
        Ok(Some((record, timings))) => ending.write(&mut folder, &record, &timings),
        Ok(None) => {
            say::results(&format!(
                "the part is in {}: `verify merge` judges all parts\n",
                args.ending.out.display()
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if error.is::<RunCanceled>() => {
            say::note(&format!(
                "canceled; finished claims are kept in {}, and the next run resumes from them",
                args.ending.out.display()
            ));
            Ok(ExitCode::from(130))
        }
        Err(error) => Err(error),
    }
}

/// What happens when all claims were judged: the report is written, compared, blessed, and printed.
struct Ending {
    baseline: Option<Baseline>,
    bless: Option<(PathBuf, String)>,
    scope: Scope,
    format: Format,
}

impl Ending {
    /// Reads the baseline and checks the options. `selected` are the ids of the claims that run.
    fn prepare(args: &EndingArgs, tier: &str, selected: &[&str]) -> anyhow::Result<Self> {
        let EndingArgs { compare, bless, reason, format, out: _ } = args;
        let baseline = compare.as_deref().map(baseline::read).transpose()?;
        if let Some(baseline) = &baseline {
            comparison::may_compare(baseline, tier)?;
        }
        let reason = reason.clone().unwrap_or_default();
        if let Some(file) = bless {
            let baseline = may_bless(file, &reason)?;
            let left_out = baseline
                .current
                .keys()
                .find(|id| papers::find(id).is_some() && !selected.iter().any(|claim| claim == id));
            if let Some(id) = left_out {
                bail!("{} holds {id}, which does not run: bless a run of all its claims", file.display());
            }
        }
        let whole = selected.len() == papers::all().count();
        let scope = if whole { Scope::Everything } else { Scope::Selection };
        Ok(Ending { baseline, bless: bless.clone().map(|file| (file, reason)), scope, format: *format })
    }

    /// Writes all files and then prints, so that a closed or full stream loses no result.
    fn write(
        self,
        folder: &mut OutputFolder,
        record: &RunRecord,
        timings: &Timings,
    ) -> anyhow::Result<ExitCode> {
        let against = |baseline: Baseline| comparison::against(record, &baseline, self.scope);
        let comparison = self.baseline.map(against);
        let status = RunStatus::of(record, comparison.as_ref());
        report::write(folder, record, timings, comparison.as_ref(), &status)?;
        run::finish(folder)?;
        if let Some((file, reason)) = &self.bless {
            if !matches!(status.exit, ExitStatus::AsExpected | ExitStatus::Worse) {
                bail!(
                    "the baseline is not written, since the run is not as expected: {}",
                    status.exit.meaning()
                );
            }
            bless(record, file, reason)?;
            say::note(&format!("wrote {}", file.display()));
        }
        match self.format {
            Format::Json => say::results(&(serde_json::to_string_pretty(record)? + "\n"))?,
            Format::Human => say::results(&summary(record, comparison.as_ref(), &status, folder.path()))?,
        }
        Ok(ExitCode::from(status.exit as u8))
    }
}

/// Runs `verify merge`.
fn merge(command: VerifyCommand, plan: &Plan) -> anyhow::Result<ExitCode> {
    let VerifyCommand::Merge { parts, ending } = command;
    let mut folder = run::open_folder(&ending.out)?;
    let merged = run::read_parts(&parts)?;
    // A baseline or a reason that is refused leaves no record behind.
    let ending = Ending::prepare(&ending, merged.tier(), &merged.ids())?;
    let (record, timings) = merged.judge(plan, &mut folder)?;
    ending.write(&mut folder, &record, &timings)
}

impl WhichClaims {
    /// Returns the claims that were asked for; the error for an unknown name suggests the nearest one.
    pub(crate) fn select(&self) -> anyhow::Result<Vec<&'static Claim>> {
        if let Some(paper) = &self.paper
            && !papers::all().any(|claim| claim.paper() == paper)
        {
            let mut papers: Vec<&str> = papers::all().map(Claim::paper).collect();
            papers.dedup();
            bail!("there are no claims of a paper `{paper}`; known: {}", papers.join(", "));
        }
        for filter in &self.filter {
            if !papers::all().any(|claim| claim.id.contains(filter.as_str())) {
                bail!("{}", unknown(filter));
            }
        }
        let selected: Vec<_> = papers::all()
            .filter(|claim| self.paper.as_ref().is_none_or(|paper| claim.paper() == paper))
            .filter(|claim| {
                self.filter.is_empty() || self.filter.iter().any(|part| claim.id.contains(part.as_str()))
            })
            .collect();
        if selected.is_empty() {
            bail!("no claim matches both --paper and the filters, so there is nothing to run");
        }
        Ok(selected)
    }
}

fn unknown(name: &str) -> String {
    match papers::nearest(name) {
        Some(near) => format!("no claim named `{name}`; did you mean `{near}`? (--list shows all)"),
        None => format!("no claim named `{name}`; --list shows all"),
    }
}

fn list(selected: &[&'static Claim], format: Format) -> anyhow::Result<String> {
    if format == Format::Json {
        let rows: Vec<_> = selected
            .iter()
            .map(|c| {
                let mutants = c.mutants.len();
                serde_json::json!({"id": c.id, "place": c.place, "sentence": c.sentence, "mutants": mutants})
            })
            .collect();
        return Ok(serde_json::to_string_pretty(&rows)? + "\n");
    }
    let mut table = say::table(["claim", "expected", "place: sentence"]);
    for claim in selected {
        let expected = match claim.standing.expected {
            Expected::Holds => "HOLDS",
            Expected::Refuted => "REFUTED",
            Expected::Vacuous => "VACUOUS",
            Expected::NotRun(_) => "NOT-RUN",
        };
        table.add_row([claim.id, expected, &format!("{}: {}", claim.place, claim.sentence)]);
    }
    let (table, count) = (say::fitted(&table), selected.len());
    Ok(format!(
        "{table}{count} claims; --explain CLAIM explains one claim, --format json prints all sentences\n"
    ))
}

fn summary(
    record: &RunRecord,
    comparison: Option<&comparison::Comparison>,
    status: &RunStatus,
    out: &Path,
) -> String {
    let mut table = say::table(["", "claim", "verdict", "expected", "tightness", "mutants"]);
    for (claim, status) in record.claims.iter().zip(&status.claims) {
        let noticed = claim.mutants.iter().filter(|mutant| mutant.noticed).count();
        let mark = match status {
            _ if claim.as_expected => "ok",
            status if status.is_failure() => "!!",
            _ => "--",
        };
        let tightness =
            claim.tightness.map_or_else(String::new, |tightness| lao_figures::number(tightness.median));
        let verdict = claim.verdict.to_string();
        let mutants = format!("{noticed}/{}", claim.mutants.len());
        table.add_row([mark, &claim.id, &verdict, &claim.expected, &tightness, &mutants]);
    }
    let mut text = format!("{table}\n");
    for claim in &record.claims {
        if let Some(reason) = &claim.honest.not_run {
            text += &format!("not run: {}: {reason}\n", claim.id);
        }
        if let Some(error) = &claim.honest.error {
            text += &format!("broken: {}: {error}\n", claim.id);
        }
        for cell in claim.cells.iter().filter(|cell| !cell.is_shown()) {
            text += &format!("no mutant refutes: {}: {}\n", claim.id, cell.name);
        }
        for cell in claim.cells.iter().filter(|cell| !cell.passed_by.is_empty()) {
            text +=
                &format!("vacuous: {}: {}: passed by {}\n", claim.id, cell.name, cell.passed_by.join(", "));
        }
        for difference in &claim.unpredicted {
            text += &format!("not as predicted: {}: {difference}\n", claim.id);
        }
        for mutant in claim.mutants.iter().filter(|mutant| !mutant.noticed) {
            text += &format!(
                "not noticed: {}: mutant {} ({}): {}\n",
                claim.id, mutant.name, mutant.fault, mutant.said
            );
        }
    }
    if let Some(comparison) = comparison {
        text += &format!("{comparison}\n");
    }
    text += &format!("{}\nreport: {}\n", record.summary(), out.join("index.html").display());
    let failed = status.claims.iter().filter(|status| status.is_failure()).count();
    let skipped = status.claims.iter().filter(|status| **status == ClaimStatus::NotRun).count();
    text +=
        &format!("{} passed, {failed} failed, {skipped} skipped\n", record.claims.len() - failed - skipped);
    text
}

/// A progress bar on a terminal, and a line per claim elsewhere.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(claims: usize) -> Self {
        let template = "{bar:30} {pos}/{len} claims  {elapsed_precise}  {msg}";
        Bar(say::ticking_bar(claims as u64, template))
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl RunProgress for Bar {
    fn started(&self, claim: &Claim) {
        self.0.set_message(claim.id);
    }

    fn finished(&self, claim: &Claim, passed: bool, reused: bool) {
        let mark = if passed { "ok" } else { "??" };
        let kept = if reused { " (kept from the unfinished run)" } else { "" };
        say::note_beside(&self.0, &format!("{mark}  {}{kept}", claim.id));
        self.0.inc(1);
    }
}
