//! Functions that run scenarios.

use crate::kinds::Job;
use crate::record::{self, BenchRecord, TABLES};
use crate::row::Row;
use crate::scenario::Scenario;
use crate::tier::BenchTier;
use anyhow::Context as _;
use lao_files::OutputFolder;
use lao_observation::Seed;
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub struct BenchOptions {
    /// The tier, which sets the amount of work.
    pub tier: BenchTier,
    /// Root seed.
    pub seed: u64,
    /// The number of threads; 0 means one per processor. Jobs that measure time always run one after the
    /// other.
    pub jobs: usize,
}

/// A function that is called after each job with the number of finished jobs and the number of all jobs.
pub type BenchProgress<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// The error of a canceled run, whose scenario leaves no records.
#[derive(Clone, Copy, Debug)]
pub struct BenchCanceled;

impl std::fmt::Display for BenchCanceled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("canceled")
    }
}

impl std::error::Error for BenchCanceled {}

/// The file name of a scenario's page, and of the page that lists all scenarios.
pub(crate) const PAGE: &str = "index.html";

/// Takes a folder for the results of one run, and locks it.
///
/// # Errors
/// When the folder holds files that are not results of a run, another run uses the folder, or it cannot be
/// written. In these cases nothing in the folder is changed.
pub fn open_folder(out: &Path) -> anyhow::Result<OutputFolder> {
    OutputFolder::open(out, "bench")
}

/// Returns the name of a figure, counted from 1.
pub(crate) fn figure(number: usize) -> String {
    format!("figure-{number}.svg")
}

/// Runs one scenario and writes its records into the folder, under the scenario's name. A job that fails
/// leaves a row with its error.
///
/// # Errors
/// When the scenario cannot run ([`Scenario::check`]), the folder cannot be written, or the run was canceled
/// ([`BenchCanceled`]).
pub fn run(
    scenario: &Scenario,
    options: BenchOptions,
    folder: &mut OutputFolder,
    progress: &BenchProgress<'_>,
    canceled: &AtomicBool,
) -> anyhow::Result<BenchRecord> {
    // The files are announced before the work, so that a file that must not be replaced is reported at once.
    folder.announce(TABLES.into_iter().chain([PAGE]).map(|name| format!("{}/{name}", scenario.name)))?;
    folder.announce([PAGE.to_string()])?;
    record::earlier(&folder.path().join(&scenario.name).join(TABLES[0]))?;
    let mut record = BenchRecord::new(scenario, options.tier, options.seed);
    let start = Instant::now();
    record.rows = measure(scenario, options, progress, canceled)?;
    record.software = scenario.kind.software();
    record.seconds = start.elapsed().as_secs_f64();
    record.write(folder)?;
    Ok(record)
}

/// Returns the rows of one scenario. All but the times depend on the seed alone.
///
/// # Errors
/// When the scenario cannot run ([`Scenario::check`]) or the run was canceled ([`BenchCanceled`]).
pub fn measure(
    scenario: &Scenario,
    options: BenchOptions,
    progress: &BenchProgress<'_>,
    canceled: &AtomicBool,
) -> anyhow::Result<Vec<Row>> {
    scenario.check()?;
    let (kind, size) = (&scenario.kind, scenario.tiers.size(options.tier));
    let names = kind.contenders();
    let dims = (0..names.len()).map(|contender| kind.dims(contender));
    let dims: Vec<Vec<usize>> = dims.collect::<anyhow::Result<_>>()?;
    let mut jobs = Vec::new();
    for repetition in 0..size.repetitions {
        for (contender, dims) in dims.iter().enumerate() {
            jobs.extend(dims.iter().map(|&dim| Job { contender, repetition, dim }));
        }
    }
    let seed = Seed::root(options.seed).child("scenario").child(&scenario.name);
    let done = AtomicUsize::new(0);
    let one = |job: &Job| -> anyhow::Result<Vec<Row>> {
        if canceled.load(Ordering::Relaxed) {
            return Err(BenchCanceled.into());
        }
        let row = |examples, metric: &str, value, error| Row {
            scenario: scenario.name.clone(),
            learner: names[job.contender].into(),
            repetition: job.repetition,
            dim: job.dim,
            examples,
            metric: metric.into(),
            value,
            error,
        };
        let rows = match kind.measure(job, size, &seed.trial(job.repetition)) {
            Ok(found) => {
                let number = |x: f64| x.is_finite().then_some(x);
                found.iter().map(|m| row(m.examples, &m.metric, number(m.value), None)).collect()
            }
            Err(error) => vec![row(0, "error", None, Some(format!("{error:#}")))],
        };
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        Ok(rows)
    };
    let rows: Vec<anyhow::Result<Vec<Row>>> = if kind.needs_idle_machine() {
        jobs.iter().map(one).collect()
    } else {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build();
        let pool = pool
            .with_context(|| format!("cannot start {} threads: ask for fewer with --jobs", options.jobs))?;
        pool.install(|| jobs.par_iter().map(one).collect())
    };
    Ok(rows.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
}
