//! Runs claims in parallel, with a record that does not depend on the number of threads.
//!
//! A caller [opens](open_folder) and thereby locks the folder of the results, [runs](run) the claims, writes
//! the report, and [finishes](finish) the run. If a run stops before that, the next run with the same key
//! resumes it.

use crate::claim::{Claim, Expected, Must};
use crate::context::{ArmRecord, Cell};
use crate::judge::{Decision, holm};
use crate::partition::Partition;
use crate::plan::{Plan, RunTier, Sizes};
use crate::record::{
    ClaimRecord, CrippledRecord, EVIDENCE, MutantRecord, RunInfo, RunRecord, SCHEMA, Tightness,
};
use crate::verdict::{self, HolmRejects, Verdict};
use anyhow::{Context as _, bail, ensure};
use lao_files::{Layout, OutputFolder};
use lao_observation::Seed;
use lao_verification_engine::arm::ClaimArms;
use lao_verification_engine::context::ArmSettings;
use lao_verification_engine::mutants::Cripple;
use rayon::prelude::*;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

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
/// The file that says which part of a run a folder holds.
const SHARD: &str = "shard.json";
/// The file with the seconds per claim.
const TIMINGS: &str = "timings.json";

/// Takes a folder for the results of one run, and locks it.
///
/// # Errors
/// When the folder holds files that are not results of a run, another run uses the folder, or it cannot be
/// written. In these cases nothing in the folder is changed.
pub fn open_folder(out: &Path) -> anyhow::Result<OutputFolder> {
    OutputFolder::open(out, Layout { verb: "verify", older })
}

/// Returns the files in a folder that a version without `.lao-output` wrote. Such a version wrote `run.json`
/// first and the report after the record.
fn older(out: &Path) -> Vec<String> {
    /// The fields that every version wrote into the files of claims.
    #[derive(Deserialize)]
    struct OfClaim {
        key: String,
        #[serde(rename = "honest")]
        _honest: IgnoredAny,
    }
    #[derive(Deserialize)]
    struct OfRecord {
        schema: String,
    }
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_default();
    let is_key = |key: &str| key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !serde_json::from_str::<State>(&text(STATE)).is_ok_and(|state| is_key(&state.key)) {
        return Vec::new();
    }
    let of_claim =
        |name: &String| serde_json::from_str::<OfClaim>(&text(name)).is_ok_and(|claim| is_key(&claim.key));
    let mut files = vec![STATE.to_string()];
    files.extend(below(out, "claims").filter(of_claim));
    let record = serde_json::from_str::<OfRecord>(&text(EVIDENCE));
    if record.is_ok_and(|record| record.schema.starts_with("lao-evidence/")) {
        files.extend([EVIDENCE, TIMINGS].map(String::from));
        files.extend(crate::report::PAGES.map(String::from));
        files.extend(below(out, "plots").filter(|name| crate::report::is_plot(name)));
    }
    files.retain(|name| std::fs::symlink_metadata(out.join(name)).is_ok_and(|found| found.is_file()));
    files
}

/// Returns the names of the entries of `folder` inside the folder `out`.
fn below(out: &Path, folder: &'static str) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(out.join(folder)).into_iter().flatten().flatten();
    entries.filter_map(move |entry| Some(format!("{folder}/{}", entry.file_name().to_str()?)))
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

/// One part of a run, as its folder says it: what ran, and which claims. Their arms are beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shard {
    /// [`SCHEMA`].
    schema: String,
    run: RunInfo,
    partition: String,
    /// All claims of the run, of which this is a part.
    all: Vec<String>,
    /// The claims of this part.
    claims: Vec<String>,
}

/// Runs one part of the claims, and stores their arms without judging them; [`MergedParts::judge`] judges all
/// parts.
///
/// # Errors
/// As [`run`].
pub fn run_part(
    options: &RunOptions,
    partition: Partition,
    plan: &Plan,
    folder: &mut OutputFolder,
    progress: &dyn RunProgress,
    canceled: &AtomicBool,
) -> anyhow::Result<()> {
    let seconds: Timings = serde_json::from_str(crate::partition::SECONDS)?;
    let claims = partition.select(options.claims.clone(), &seconds);
    folder.announce([SHARD.to_string()])?;
    let ids = |claims: &[&'static Claim]| claims.iter().map(|claim| claim.id.to_string()).collect();
    let shard = Shard {
        schema: SCHEMA.into(),
        run: run_info(options, plan)?,
        partition: partition.to_string(),
        all: ids(&options.claims),
        claims: ids(&claims),
    };
    let key = resume_key(options)?;
    execute(&RunOptions { claims, ..options.clone() }, plan, &key, folder, progress, canceled)?;
    write_json(folder, SHARD, &shard)?;
    write_state(folder, &key, true)
}

/// The parts of one run, together.
#[derive(Debug)]
pub struct MergedParts {
    options: RunOptions,
    info: RunInfo,
    stored: Vec<Stored>,
}

impl MergedParts {
    /// Returns the ids of the claims, in the order of the record.
    pub fn ids(&self) -> Vec<&'static str> {
        self.options.claims.iter().map(|claim| claim.id).collect()
    }

    /// Returns the tier of the run.
    pub fn tier(&self) -> &str {
        &self.info.tier
    }

    /// Judges all claims, writes the record into the folder, and returns it. The record is the one that a
    /// single run would have left, byte for byte.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn judge(self, plan: &Plan, folder: &mut OutputFolder) -> anyhow::Result<(RunRecord, Timings)> {
        let MergedParts { options, info, stored } = self;
        announce_results(folder, &options.claims)?;
        write_state(folder, &info.key, false)?;
        record(&options, plan, info, folder, stored)
    }
}

/// Reads the parts of a run.
///
/// # Errors
/// When a folder holds no finished part, the parts belong to different runs, or a claim is missing or was run
/// twice; the error names the folder and the claim.
pub fn read_parts(parts: &[PathBuf]) -> anyhow::Result<MergedParts> {
    let mut shards: Vec<(&PathBuf, Shard)> = Vec::new();
    for part in parts {
        let file = part.join(SHARD);
        let text = std::fs::read_to_string(&file).with_context(|| {
            format!("{} holds no finished part: run `verify --partition K/N --out DIR` first", part.display())
        })?;
        let shard: Shard =
            serde_json::from_str(&text).with_context(|| format!("{} is no part of a run", file.display()))?;
        shards.push((part, shard));
    }
    let Some((first_folder, first)) = shards.first() else { bail!("name the folders of the parts") };
    let mut from: BTreeMap<&str, &PathBuf> = BTreeMap::new();
    for (part, shard) in &shards {
        ensure!(
            shard.run == first.run && shard.all == first.all && shard.schema == SCHEMA,
            "{} and {} are parts of different runs: commit, lock file, target, profile, tier, seed and \
             claims must be the same",
            first_folder.display(),
            part.display()
        );
        for claim in &shard.claims {
            if let Some(other) = from.insert(claim, part) {
                bail!("{claim} was run in {} and in {}", other.display(), part.display());
            }
        }
    }
    let (mut claims, mut stored) = (Vec::new(), Vec::new());
    for id in &first.all {
        let part = from.get(id.as_str()).with_context(|| format!("no part holds {id}: a part is missing"))?;
        let claim = crate::papers::find(id).with_context(|| format!("{id} is no claim of this program"))?;
        let file = part.join(file_of(claim));
        let one =
            std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str::<Stored>(&text).ok());
        stored.push(one.with_context(|| format!("{} cannot be read", file.display()))?);
        claims.push(claim);
    }
    let info = first.run.clone();
    let tiers = [RunTier::Quick, RunTier::Full, RunTier::Nightly];
    let tier = tiers.into_iter().find(|tier| tier.to_string() == info.tier);
    let tier =
        tier.with_context(|| format!("{}: there is no tier `{}`", first_folder.display(), info.tier))?;
    let options = RunOptions { claims, tier, seed: info.seed, jobs: 0, fresh: false };
    Ok(MergedParts { options, info, stored })
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

/// Returns whether a claim's evidence has an error probability. What is enumerated or computed has none.
fn is_tested(honest: &ArmRecord) -> bool {
    honest.cells.iter().any(|cell| !cell.finding.kind.is_computed())
}

/// Applies Holm's procedure to the claims that ran, and returns the record with a verdict for each claim.
fn assemble(options: &RunOptions, plan: &Plan, info: RunInfo, stored: Vec<Stored>, alpha: f64) -> RunRecord {
    let evidence: Vec<_> = stored.iter().map(|stored| verdict::evidence(&stored.arms.honest)).collect();
    let tested: Vec<usize> = (0..evidence.len()).filter(|&i| is_tested(&stored[i].arms.honest)).collect();
    let family = plan.suite.family.max(tested.len());
    // Where there is no error probability, p is 0 or 1 and takes no part in Holm's procedure.
    let sorted = |p: Vec<f64>| {
        let mut rejected: Vec<bool> = p.iter().map(|&p| p <= alpha).collect();
        let among: Vec<f64> = tested.iter().map(|&i| p[i]).collect();
        let decisions = holm::step_down(&among, family, plan.suite.alpha);
        tested.iter().zip(decisions).for_each(|(&i, decision)| rejected[i] = decision);
        rejected
    };
    let refuted = sorted(evidence.iter().map(|e| e.p_refute).collect());
    let supported = sorted(evidence.iter().map(|e| e.p_support).collect());
    let claims = options.claims.iter().zip(stored).enumerate().map(|(i, (claim, stored))| {
        let cells = verdict::cells(claim, &stored.arms, alpha);
        let rejected = HolmRejects { holds: refuted[i], fails: supported[i] };
        let verdict = verdict::verdict(claim, &stored.arms, &cells, alpha, rejected);
        let ClaimArms { honest, mutants, crippled } = stored.arms;
        let mutants = mutant_records(claim, mutants, alpha);
        let unpredicted = match verdict {
            Verdict::Refuted => verdict::unpredicted(claim, &honest, &cells),
            _ => Vec::new(),
        };
        let named = Cripple::ALL.iter().map(|cripple| cripple.name().to_string());
        let crippled = named.zip(crippled).map(|(name, arm)| CrippledRecord { name, arm }).collect();
        ClaimRecord {
            id: claim.id.into(),
            place: claim.place.into(),
            sentence: claim.sentence.into(),
            form: claim.standing.form,
            regime: claim.standing.regime,
            expected: expected_name(claim.standing.expected).into(),
            verdict,
            as_expected: verdict::as_expected(claim, &honest, &cells, verdict),
            alpha,
            evidence: evidence[i],
            tightness: Tightness::of(&honest),
            sizes: recorded(&plan.sizes(claim.id, options.tier)),
            cells,
            unpredicted,
            honest,
            mutants,
            crippled,
        }
    });
    RunRecord { schema: SCHEMA.into(), run: info, claims: claims.collect() }
}

/// Returns the sizes as a record lists them: those of mutants, where they are other ones, have names of their
/// own.
fn recorded(sizes: &Sizes) -> BTreeMap<String, u64> {
    let mut all: BTreeMap<String, u64> = sizes.iter().map(|(key, size)| (key.into(), size)).collect();
    let of_mutants = sizes.of_mutants().unwrap_or_default();
    let other = of_mutants.iter().filter(|(key, size)| sizes.get(key) != Some(*size));
    all.extend(other.map(|(key, size)| (format!("{key} (mutants first)"), size)));
    all
}

/// Returns how far the cell that decides about a mutant lies beyond the point at which it decides.
fn room(must: Must, arm: &ArmRecord, alpha: f64) -> Option<f64> {
    let level = arm.refuting_level(alpha);
    let room = |cell: &Cell| match must {
        Must::BeRefuted => {
            let finding = &cell.finding;
            (finding.p_refute <= level).then(|| finding.evidence_ratio(finding.p_refute, level))
        }
        Must::Hold => Some(cell.finding.evidence_ratio(cell.finding.p_support, alpha)),
        Must::NotHold => None,
    };
    let rooms = arm.cells.iter().filter_map(room);
    let decides = if must == Must::Hold { f64::min } else { f64::max };
    rooms.reduce(decides).filter(|room| room.is_finite())
}

fn mutant_records(claim: &Claim, arms: Vec<ArmRecord>, alpha: f64) -> Vec<MutantRecord> {
    let pairs = claim.mutants.iter().zip(arms);
    pairs
        .map(|(mutant, arm)| MutantRecord {
            name: mutant.name.into(),
            fault: mutant.fault.into(),
            must: mutant.must,
            room: room(mutant.must, &arm, alpha),
            noticed: verdict::noticed(mutant.must, &arm, alpha),
            said: match verdict::decide(&arm, alpha) {
                Ok(Decision::Supported) => "SUPPORTED".into(),
                Ok(Decision::Refuted) => "REFUTED".into(),
                Ok(Decision::Undecided) => "UNDECIDED".into(),
                Ok(Decision::Broken(why)) | Err(why) => format!("BROKEN: {why}"),
            },
            arm,
        })
        .collect()
}

fn expected_name(expected: Expected) -> &'static str {
    match expected {
        Expected::Holds => "HOLDS",
        Expected::Refuted => "REFUTED",
        Expected::Vacuous => "VACUOUS",
        Expected::NotRun(_) => "NOT-RUN",
    }
}

/// Returns whether a claim passes at the level `alpha`, for the progress of the run. The final verdict needs
/// Holm's procedure over all claims.
fn passed(claim: &Claim, stored: &Stored, alpha: f64) -> bool {
    let mutants = claim.mutants.iter().zip(&stored.arms.mutants);
    let noticed = mutants.clone().all(|(mutant, arm)| verdict::noticed(mutant.must, arm, alpha));
    let honest = verdict::decide(&stored.arms.honest, alpha);
    match claim.standing.expected {
        Expected::Holds | Expected::Vacuous => noticed && honest == Ok(Decision::Supported),
        Expected::Refuted => noticed && honest == Ok(Decision::Refuted),
        Expected::NotRun(_) => stored.arms.honest.not_run.is_some(),
    }
}

fn run_info(options: &RunOptions, plan: &Plan) -> anyhow::Result<RunInfo> {
    Ok(RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        tier: options.tier.to_string(),
        seed: options.seed,
        alpha: plan.suite.alpha,
        family: plan.suite.family,
        key: run_key(options)?,
        platform: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    })
}

/// Returns the key of a run, by which runs on several machines know that they are parts of one: the commit,
/// the lock file, the target and the profile, with plan, tier and seed. A tree that is not as committed
/// counts by the program itself.
fn run_key(options: &RunOptions) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    match committed() {
        Some(commit) => {
            let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
            let (arch, system) = (std::env::consts::ARCH, std::env::consts::OS);
            hash.update(format!("{commit}\0{arch}-{system}\0{profile}\0"));
            hash.update(include_str!("../../Cargo.lock"));
        }
        None => hash.update(program()?),
    }
    Ok(finish_key(hash, options))
}

/// Returns the key by which a run resumes an unfinished one: it must be the same program, on the same data.
fn resume_key(options: &RunOptions) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    hash.update(program()?);
    hash.update(std::env::var_os("LAO_DATA").unwrap_or_default().to_string_lossy().as_bytes());
    Ok(finish_key(hash, options))
}

fn finish_key(mut hash: Sha256, options: &RunOptions) -> String {
    hash.update(Plan::TEXT);
    hash.update(format!("\0{}\0{}", options.tier, options.seed));
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn program() -> anyhow::Result<Vec<u8>> {
    let program = std::env::current_exe().context("cannot find the running program")?;
    std::fs::read(&program).with_context(|| format!("cannot read {}", program.display()))
}

/// Returns the commit, if the files of the repository are as committed.
fn committed() -> Option<String> {
    let git = |arguments: &[&str]| {
        let git =
            Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        String::from_utf8(git.stdout).ok().filter(|_| git.status.success())
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    git(&["rev-parse", "HEAD"]).filter(|_| changed.trim().is_empty())
}

/// Returns the root seed of a nightly run: a hash of the day (UTC), below 2^48 so that every JSON reader
/// reads it exactly.
pub fn seed_of_the_day() -> u64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    seed_of_day(since_epoch.as_secs() / 86_400)
}

fn seed_of_day(day: u64) -> u64 {
    let hash = Sha256::digest(format!("nightly\0{day}"));
    hash.iter().take(6).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

fn unfinished(state: &Path, key: &str) -> bool {
    let text = std::fs::read_to_string(state).unwrap_or_default();
    serde_json::from_str::<State>(&text).is_ok_and(|state| state.key == key && !state.finished)
}

/// Returns a stored result, if the file is complete and belongs to this run.
fn load(file: &Path, key: &str, claim: &Claim) -> Option<Stored> {
    let text = std::fs::read_to_string(file).ok()?;
    let stored: Stored = serde_json::from_str(&text).ok()?;
    let whole = stored.arms.honest.not_run.is_some() || stored.arms.mutants.len() == claim.mutants.len();
    (stored.key == key && whole).then_some(stored)
}

fn write_state(folder: &OutputFolder, key: &str, finished: bool) -> anyhow::Result<()> {
    write_json(folder, STATE, &State { key: key.into(), finished })
}

fn write_json(folder: &OutputFolder, name: &str, value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    folder.write(name, &text)
}
