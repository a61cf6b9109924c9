//! Parts of a run, which may run on several machines, and their merger.

use super::key::{resume_key, run_info};
use super::store::{write_json, write_state};
use super::{RunOptions, RunProgress, Stored, Timings, announce_results, execute, file_of, record};
use crate::claim::Claim;
use crate::partition::Partition;
use crate::plan::{Plan, RunTier};
use crate::record::{RunInfo, RunRecord, SCHEMA};
use anyhow::{Context as _, bail, ensure};
use lao_files::OutputFolder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The file that says which part of a run a folder holds.
const SHARD: &str = "shard.json";

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
/// As [`run`](super::run()).
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
