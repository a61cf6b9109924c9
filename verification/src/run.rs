//! Runs claims in parallel, with a record that does not depend on the number of threads.
//!
//! A caller [opens](open_folder) and thereby locks the folder of the results, [runs](run) the claims, writes
//! the report, and [finishes](finish) the run. If a run stops before that, the next run with the same key
//! resumes it.

mod assemble;
mod key;
mod parts;
mod store;

pub use key::seed_of_the_day;
pub use parts::{MergedParts, read_parts, run_part};

use crate::claim::Claim;
use crate::plan::{Plan, RunTier, Sizes};
use crate::record::{EVIDENCE, RunInfo, RunRecord};
use anyhow::Context as _;
use assemble::{assemble, passed};
use key::{resume_key, run_info};
use lao_files::OutputFolder;
use lao_observation::Seed;
use lao_verification_engine::arm::ClaimArms;
use lao_verification_engine::context::ArmSettings;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use store::{load, unfinished, write_json, write_state};

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The claims.
    pub claims: Vec<&'static Claim>,
    /// The tier, which sets the amount of work.
    pub tier: RunTier,
    /// Root seed.
    pub seed: u64,
    /// The number of threads; 0 means one per core.
    pub jobs: usize,
    /// Whether to discard the results of an unfinished run.
    pub fresh: bool,
}

/// A listener to the progress of a run, which is called from several threads.
pub trait RunProgress: Sync {
    /// Is called when a claim starts.
    fn started(&self, _claim: &Claim) {}
    /// Is called when a part of a claim is finished.
    fn tick(&self, _claim: &Claim) {}
    /// Is called when a claim is finished; `reused` says whether its result comes from an earlier, unfinished
    /// run.
    fn finished(&self, _claim: &Claim, _passed: bool, _reused: bool) {}
}

/// A listener that ignores all progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;
impl RunProgress for Silent {}

/// All arms of a claim, as they are stored during a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    key: String,
    seconds: f64,
    #[serde(flatten)]
    arms: ClaimArms,
}

/// The state of the run in a folder, which says whether the run has ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    key: String,
    finished: bool,
}

/// The seconds that each claim took, which are not part of the record.
pub type Timings = BTreeMap<String, f64>;

/// The file with the state of the run.
const STATE: &str = "run.json";
/// The file with the seconds per claim.
const TIMINGS: &str = "timings.json";

/// Takes a folder for the results of one run, and locks it.
///
/// # Errors
/// When the folder holds files that are not results of a run, another run uses the folder, or it cannot be
/// written. In these cases nothing in the folder is changed.
pub fn open_folder(out: &Path) -> anyhow::Result<OutputFolder> {
    OutputFolder::open(out, "verify")
}

fn file_of(claim: &Claim) -> String {
    format!("claims/{}.json", claim.id)
}

/// Runs the claims, writes the record into the folder, and returns it.
///
/// # Errors
/// When the folder cannot be written, or the run was canceled ([`RunCanceled`](crate::context::RunCanceled)).
/// The results of finished claims are kept, and the next run of the same program resumes from them.
pub fn run(
    options: &RunOptions,
    plan: &Plan,
    folder: &mut OutputFolder,
    progress: &dyn RunProgress,
    canceled: &AtomicBool,
) -> anyhow::Result<(RunRecord, Timings)> {
    announce_results(folder, &options.claims)?;
    // Before the claims run: the files of the repository may change while they do.
    let info = run_info(options, plan)?;
    let stored = execute(options, plan, &resume_key(options)?, folder, progress, canceled)?;
    record(options, plan, info, folder, stored)
}

/// Announces the record and the report, so that a file that must not be replaced is known before any work.
fn announce_results(folder: &mut OutputFolder, claims: &[&'static Claim]) -> anyhow::Result<()> {
    folder.announce([STATE, EVIDENCE, TIMINGS].map(String::from))?;
    crate::report::announce(folder, claims.iter().map(|claim| claim.id))
}

/// Judges what was stored, and writes the record into the folder.
fn record(
    options: &RunOptions,
    plan: &Plan,
    info: RunInfo,
    folder: &OutputFolder,
    stored: Vec<Stored>,
) -> anyhow::Result<(RunRecord, Timings)> {
    let timings = options.claims.iter().zip(&stored).map(|(c, s)| (c.id.to_string(), s.seconds)).collect();
    let record = assemble(options, plan, info, stored, level(plan));
    write_json(folder, EVIDENCE, &record)?;
    write_json(folder, TIMINGS, &timings)?;
    Ok((record, timings))
}

/// Returns the level of one claim.
fn level(plan: &Plan) -> f64 {
    plan.suite.alpha / plan.suite.family as f64
}

/// Runs the claims, and stores the arms of each in the folder.
fn execute(
    options: &RunOptions,
    plan: &Plan,
    key: &str,
    folder: &mut OutputFolder,
    progress: &dyn RunProgress,
    canceled: &AtomicBool,
) -> anyhow::Result<Vec<Stored>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build();
    let pool =
        pool.with_context(|| format!("cannot start {} threads: ask for fewer with --jobs", options.jobs))?;
    if options.fresh || !unfinished(&folder.path().join(STATE), key) {
        folder.remove(|name| name.starts_with("claims/"))?;
    }
    folder.announce([STATE.to_string()])?;
    folder.announce(options.claims.iter().map(|claim| file_of(claim)))?;
    write_state(folder, key, false)?;
    let folder = &*folder;

    let alpha = level(plan);
    let stored: Vec<anyhow::Result<Stored>> = pool.install(|| {
        let one = |claim: &&'static Claim| {
            let file = file_of(claim);
            if let Some(stored) = load(&folder.path().join(&file), key, claim) {
                progress.finished(claim, passed(claim, &stored, alpha), true);
                return Ok(stored);
            }
            progress.started(claim);
            let sizes = plan.sizes(claim.id, options.tier);
            let stored = run_claim(claim, &sizes, alpha, options.seed, key, progress, canceled)?;
            write_json(folder, &file, &stored)?;
            progress.finished(claim, passed(claim, &stored, alpha), false);
            Ok(stored)
        };
        options.claims.par_iter().with_max_len(1).map(one).collect()
    });
    stored.into_iter().collect()
}

/// Records that the run is complete, so that the next run starts anew.
///
/// # Errors
/// When the folder cannot be read or written.
pub fn finish(folder: &OutputFolder) -> anyhow::Result<()> {
    let file = folder.path().join(STATE);
    let state = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let state: State =
        serde_json::from_slice(&state).with_context(|| format!("{} is damaged", file.display()))?;
    write_state(folder, &state.key, true)
}

/// Returns the record in the folder, if this program finished this very run there.
pub fn finished(folder: &OutputFolder, options: &RunOptions) -> Option<RunRecord> {
    let state = std::fs::read_to_string(folder.path().join(STATE)).ok()?;
    let state: State = serde_json::from_str(&state).ok()?;
    if !state.finished || state.key != resume_key(options).ok()? {
        return None;
    }
    let record = RunRecord::read(folder.path()).ok()?;
    let same = record.claims.iter().map(|claim| claim.id.as_str()).eq(options.claims.iter().map(|c| c.id));
    same.then_some(record)
}

fn run_claim(
    claim: &'static Claim,
    sizes: &Sizes,
    alpha: f64,
    seed: u64,
    key: &str,
    progress: &dyn RunProgress,
    canceled: &AtomicBool,
) -> anyhow::Result<Stored> {
    let start = Instant::now();
    let (suite, tick) = (Seed::root(seed), || progress.tick(claim));
    let settings = ArmSettings { sizes, alpha, seed: &suite, canceled, tick: &tick };
    let arms = ClaimArms::run(claim, settings)?;
    Ok(Stored { key: key.into(), seconds: start.elapsed().as_secs_f64(), arms })
}
