//! Runs scenarios.

use crate::kinds;
use crate::record::{Record, Row};
use crate::scenario::{Scenario, Tier};
use anyhow::Context as _;
use lao_observation::Seed;
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// How a run is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How much work.
    pub tier: Tier,
    /// Root seed.
    pub seed: u64,
    /// Threads; 0 is one per processor. Jobs whose time is the result always run one after the other.
    pub jobs: usize,
}

/// Called after each job with how many are done, of how many.
pub type Progress<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// The run was cancelled; the scenario left nothing.
#[derive(Clone, Copy, Debug)]
pub struct Cancelled;

impl std::fmt::Display for Cancelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// Runs one scenario and leaves its records in `out/<name>/`.
///
/// # Errors
/// When a job fails, the folder cannot be written, or the run was cancelled ([`Cancelled`]).
pub fn run(
    scenario: &Scenario,
    options: Options,
    out: &Path,
    progress: &Progress<'_>,
    cancelled: &AtomicBool,
) -> anyhow::Result<Record> {
    // Before the work, so that a folder that refuses is known at once.
    let folder = out.join(&scenario.name);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}: choose another folder with --out", folder.display()))?;
    let mut record = Record::new(scenario, options.tier, options.seed);
    let start = Instant::now();
    record.rows = measure(scenario, options, progress, cancelled)?;
    record.seconds = start.elapsed().as_secs_f64();
    record.write(&folder)?;
    Ok(record)
}

/// The rows of one scenario. All but the times depend on the seed alone.
///
/// # Errors
/// When a job fails or the run was cancelled ([`Cancelled`]).
pub fn measure(
    scenario: &Scenario,
    options: Options,
    progress: &Progress<'_>,
    cancelled: &AtomicBool,
) -> anyhow::Result<Vec<Row>> {
    let size = scenario.tiers.size(options.tier);
    let jobs = kinds::jobs(scenario, size)?;
    let seed = Seed::root(options.seed).child("scenario").child(&scenario.name);
    let done = AtomicUsize::new(0);
    let one = |job: &kinds::Job| -> anyhow::Result<Vec<Row>> {
        if cancelled.load(Ordering::Relaxed) {
            return Err(Cancelled.into());
        }
        let rows = kinds::measure(scenario, job, size, &seed).with_context(|| {
            format!(
                "{}: {}, repetition {}, d = {}",
                scenario.name, job.contender.name, job.repetition, job.dim
            )
        })?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        Ok(rows)
    };
    let rows: Vec<anyhow::Result<Vec<Row>>> = if kinds::alone(scenario.kind) {
        jobs.iter().map(one).collect()
    } else {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
        pool.install(|| jobs.par_iter().map(one).collect())
    };
    Ok(rows.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
}
