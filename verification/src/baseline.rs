//! A baseline: per claim its verdict, the trials of its cells, its tightness, and every replicate of the
//! tracked rates, as they were [blessed](crate::bless) last and first.

use crate::context::{ArmRecord, Direction, Rate};
use crate::judge::sample::Moments;
use crate::record::{ClaimRecord, RunRecord};
use crate::verdict::Verdict;
use anyhow::{Context as _, ensure};
use lao_files::write_atomically;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the layout of a baseline file.
pub const SCHEMA: &str = "lao-baseline/1";

/// The content of a baseline file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// [`SCHEMA`].
    pub schema: String,
    /// The measurements that were blessed last, by claim.
    pub current: BTreeMap<String, Measured>,
    /// The measurements that were blessed first, by claim; they are never overwritten.
    pub epoch_zero: BTreeMap<String, Measured>,
    /// The drifts that were accepted, by claim and rate; the last one of each rate.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accepted: BTreeMap<String, BTreeMap<String, AcceptedDrift>>,
    /// Every bless, oldest first.
    pub history: Vec<Bless>,
}

/// The tracked measurements of one claim, and the run that they come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Version of the project.
    pub version: String,
    /// Tier of the run.
    pub tier: String,
    /// Root seed of the run.
    pub seed: u64,
    /// Architecture and operating system.
    pub platform: String,
    /// Hash of program, plan and settings.
    pub key: String,
    /// Sizes of the claim.
    pub sizes: BTreeMap<String, u64>,
    /// The verdict.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// The median over the cells of estimate over bound.
    pub tightness: Option<f64>,
    /// The number of trials of each cell.
    pub trials: Vec<u64>,
    /// Tracked rates, by name.
    pub rates: BTreeMap<String, MeasuredRate>,
}

/// One tracked rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredRate {
    /// The direction that is worse.
    pub worse: Direction,
    /// Mean of the replicates.
    pub mean: f64,
    /// The standard deviation of the replicates.
    pub sd: f64,
    /// The number of replicates.
    pub count: usize,
    /// The replicates, in trial order.
    pub replicates: Vec<f64>,
}

/// A rate whose drift was accepted: the drift counts from here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedDrift {
    /// Why the drift is right.
    pub reason: String,
    /// The claim's measurements at that time, with this rate only.
    pub measured: Measured,
}

/// One change of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bless {
    /// Version of the project.
    pub version: String,
    /// The reason for the change.
    pub reason: String,
    /// Old and new values of the rates that moved, one line each.
    pub changes: Vec<String>,
}

impl Measured {
    /// Returns what a run measured of a claim.
    pub(crate) fn of(record: &RunRecord, claim: &ClaimRecord) -> Measured {
        let ArmRecord { cells, rates, .. } = &claim.honest;
        let rate = |rate: &Rate| {
            let Moments { n, mean, sd, .. } = Moments::of(&rate.replicates);
            let figures =
                MeasuredRate { worse: rate.worse, mean, sd, count: n, replicates: rate.replicates.clone() };
            (rate.name.clone(), figures)
        };
        Measured {
            version: record.run.version.clone(),
            tier: record.run.tier.clone(),
            seed: record.run.seed,
            platform: record.run.platform.clone(),
            key: record.run.key.clone(),
            sizes: claim.sizes.clone(),
            verdict: Some(claim.verdict),
            tightness: claim.tightness.map(|tightness| tightness.median),
            trials: cells.iter().map(|cell| cell.finding.n_trials).collect(),
            rates: rates.iter().filter(|rate| !rate.replicates.is_empty()).map(rate).collect(),
        }
    }
}

/// A rate that was blessed last with other replicates than at first, or than when its drift was accepted.
pub(crate) struct Drift<'a> {
    pub(crate) rate: &'a str,
    pub(crate) first: &'a Measured,
    pub(crate) first_rate: &'a MeasuredRate,
    pub(crate) last_rate: &'a MeasuredRate,
}

/// Returns the rates of a claim that have drifted; a rate that is no longer tracked has not.
pub(crate) fn drifts<'a>(baseline: &'a Baseline, claim: &str) -> Vec<Drift<'a>> {
    let (Some(current), Some(zero)) = (baseline.current.get(claim), baseline.epoch_zero.get(claim)) else {
        return Vec::new();
    };
    let accepted = baseline.accepted.get(claim);
    let tracked = current.rates.iter().filter_map(|(rate, last_rate)| {
        let first = accepted.and_then(|rates| rates.get(rate)).map_or(zero, |drift| &drift.measured);
        Some(Drift { rate, first, first_rate: first.rates.get(rate)?, last_rate })
    });
    tracked.filter(|drift| drift.first_rate.replicates != drift.last_rate.replicates).collect()
}

/// Reads a baseline.
///
/// # Errors
/// When the file cannot be read, or is not a baseline of this version.
pub fn read(file: &Path) -> anyhow::Result<Baseline> {
    let name = file.display();
    let cannot = || format!("cannot read the baseline {name}: write one with --bless {name} --reason TEXT");
    // Reading a pipe would block, and reading a device may never end.
    let found = std::fs::metadata(file).with_context(cannot)?;
    ensure!(found.is_file(), "{name} is not a baseline: it is not an ordinary file");
    let text = std::fs::read_to_string(file).with_context(cannot)?;
    let baseline: Baseline =
        serde_json::from_str(&text).with_context(|| format!("{name} is not a baseline"))?;
    ensure!(
        baseline.schema == SCHEMA,
        "{name}: schema is `{}`, this program reads `{SCHEMA}`",
        baseline.schema
    );
    Ok(baseline)
}

pub(crate) fn write(baseline: &Baseline, file: &Path) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(baseline)?;
    text.push(b'\n');
    Ok(write_atomically(file, &text)?)
}
