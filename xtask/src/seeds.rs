//! The verb `cargo xtask seeds`, which runs the claims under fresh seeds and writes what depends on the seed.

use crate::interrupt::canceled_by_ctrl_c;
use crate::verify::{Bar, WhichClaims};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use lao_terminal as say;
use lao_verification::context::RunCanceled;
use lao_verification::plan::{Plan, RunTier};
use lao_verification::run::{RunOptions, seed_of_the_day};
use lao_verification::seeds::{SeedsFolder, SeedsTable};
use std::path::PathBuf;
use std::process::ExitCode;

/// Test the theory under fresh seeds, one after the other, and write what depends on the seed.
///
/// A verdict that changes with the seed, or a mutant that is noticed under most seeds only, sits on a
/// threshold: change the size of that claim for power (`cargo xtask verify --explain CLAIM`), never its
/// margin. Each seed runs like `cargo xtask verify --seed SEED`, with a report in its own folder,
/// seed-SEED below --out. The table is in seeds.md, for programs in seeds.json.
///
/// A seed that this program has finished in --out, with the same claims and tier, is not run again, and an
/// interrupted seed is resumed: after Ctrl-C, run the same command once more. After a change of the program
/// every seed runs again, under the same numbers unless --first or --out is another one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask seeds                                  all claims, ten seeds, quick sizes
  cargo xtask seeds --tier full --out seeds-full     ten full runs; hours
  cargo xtask seeds --count 20 --out seeds-full --tier full      ten more
  cargo xtask seeds thm41 cor42 --count 3            claims whose id contains one of these
  cargo xtask seeds --first 1000 --out again         the seeds 1000 to 1009

Exit status:
  0    every verdict is as expected, and every mutant was noticed, under every seed
  1    a verdict or a mutant is not as expected under some seed
  2    wrong usage, failed I/O, or results that cannot be printed
  130  canceled; the table holds the finished seeds, and the next run resumes")]
pub struct SeedsArgs {
    #[command(flatten)]
    which: WhichClaims,
    /// The number of seeds.
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    count: u16,
    /// The first seed; the others follow it. The default is the first seed of an earlier run in --out, or
    /// else the day's seed.
    #[arg(long, value_name = "SEED")]
    first: Option<u64>,
    /// The amount of work per seed: quick (minutes) or full (an hour, with real data).
    #[arg(long, value_enum, default_value_t = TierArg::Quick)]
    tier: TierArg,
    /// The number of threads; 0 means one per core. Results do not depend on this number.
    #[arg(long, short, default_value_t = 0, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1024))]
    jobs: u16,
    /// The folder of the table and of the seeds' folders: a new or empty one, or that of an earlier run.
    #[arg(long, default_value = "target/lao/seeds", value_name = "DIR")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TierArg {
    Quick,
    Full,
}

/// Runs the verb.
pub fn run(args: SeedsArgs) -> anyhow::Result<ExitCode> {
    let plan = Plan::built_in()?;
    let claims = args.which.select()?;
    let tier = match args.tier {
        TierArg::Quick => RunTier::Quick,
        TierArg::Full => RunTier::Full,
    };
    let folder = SeedsFolder::open(&args.out)?;
    let first = args.first.or_else(|| Some(folder.table()?.first)).unwrap_or_else(seed_of_the_day);
    let last = first.checked_add(u64::from(args.count) - 1);
    let last = last.with_context(|| format!("--first {first} leaves no room for {} seeds", args.count))?;

    let canceled = canceled_by_ctrl_c()?;
    let mut table = SeedsTable::new(&tier.to_string(), first);
    // The first seed must be known to the next run, even if this one is canceled at once.
    let mut page = folder.write(&table)?;
    for seed in first..=last {
        say::note(&format!("seed {seed}, {} of {}", seed - first + 1, args.count));
        let options = RunOptions { claims: claims.clone(), tier, seed, jobs: args.jobs.into(), fresh: false };
        let bar = Bar::new(options.claims.len());
        let record = folder.run(&options, &plan, &bar, &canceled);
        bar.clear();
        match record {
            Ok(record) => {
                table.add(&record);
                page = folder.write(&table)?;
            }
            Err(error) if error.is::<RunCanceled>() => {
                say::note(&format!(
                    "canceled; {} of {} seeds are finished in {}, and the next run resumes",
                    table.seeds.len(),
                    args.count,
                    args.out.display()
                ));
                return Ok(ExitCode::from(130));
            }
            Err(error) => return Err(error),
        }
    }
    say::results(&format!("{}\ntable: {}\n", table.markdown(), page.display()))?;
    Ok(ExitCode::from(u8::from(!table.is_steady())))
}
