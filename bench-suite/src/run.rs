//! Runs scenarios.

use crate::kinds;
use crate::record::{self, Row};
use crate::scenario::{Scenario, Tier};
use anyhow::{Context as _, bail};
use lao_observation::Seed;
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Called after each job with how many are done, of how many.
pub type Progress<'a> = dyn Fn(&str, usize, usize) + Sync + 'a;

/// Runs one scenario and leaves its records in `out/<name>/`.
///
/// Learning curves run on all threads; jobs that are timed run one after the other.
///
/// # Errors
/// When a job fails, the folder cannot be written, or the run was cancelled.
pub fn run(
    scenario: &Scenario,
    tier: Tier,
    seed: &Seed,
    out: &Path,
    progress: &Progress<'_>,
    cancelled: &AtomicBool,
) -> anyhow::Result<Vec<Row>> {
    let folder = out.join(&scenario.name);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}: choose another folder with --out", folder.display()))?;
    let size = scenario.tiers.size(tier);
    let jobs = kinds::jobs(scenario, size)?;
    let seed = seed.child("scenario").child(&scenario.name);
    let done = std::sync::atomic::AtomicUsize::new(0);
    let one = |job: &kinds::Job| -> anyhow::Result<Vec<Row>> {
        if cancelled.load(Ordering::Relaxed) {
            bail!("cancelled");
        }
        let rows = kinds::measure(scenario, job, size, &seed).with_context(|| {
            format!("{}: {}, repetition {}, d = {}", scenario.name, job.contender.name, job.repetition, job.dim)
        })?;
        progress(&scenario.name, done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        Ok(rows)
    };
    let rows: Vec<anyhow::Result<Vec<Row>>> = if kinds::alone(scenario.kind) {
        jobs.iter().map(one).collect()
    } else {
        jobs.par_iter().map(one).collect()
    };
    let rows: Vec<Row> = rows.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat();
    record::write(&folder, &rows)?;
    Ok(rows)
}
