//! Records: one row per measurement, and how the run was made.

use crate::kinds::Job;
use crate::scenario::{Scenario, Size, Tier};
use anyhow::Context as _;
use lao_figures::OutputFolder;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The files of a record.
pub(crate) const TABLES: [&str; 2] = ["records.csv", "records.json"];

/// All that a run of one scenario leaves; the page is made from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the scenario.
    pub scenario: String,
    /// Which tier ran.
    pub tier: Tier,
    /// Its sizes.
    pub size: Size,
    /// Root seed.
    pub seed: u64,
    /// Version of the suite.
    pub version: String,
    /// Processor architecture, operating system and number of processors.
    pub host: String,
    /// Duration of the whole run, in seconds.
    pub seconds: f64,
    /// The measurements, in the order of repetitions and learners.
    pub rows: Vec<Row>,
}

impl Record {
    /// A record without rows.
    pub fn new(scenario: &Scenario, tier: Tier, seed: u64) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Record {
            scenario: scenario.name.clone(),
            tier,
            size: scenario.tiers.size(tier),
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
            host: format!("{} {}, {processors} processors", std::env::consts::ARCH, std::env::consts::OS),
            seconds: 0.0,
            rows: Vec::new(),
        }
    }

    /// Writes `records.json` and, as a plain table of the rows, `records.csv` into the scenario's part of the
    /// folder, each whole or not at all.
    ///
    /// # Errors
    /// When the folder or the disk refuses.
    pub fn write(&self, folder: &mut OutputFolder) -> anyhow::Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.rows.iter().try_for_each(|row| writer.serialize(row))?;
        let table = writer.into_inner().context("cannot form records.csv")?;
        let [csv, json] = TABLES.map(|name| format!("{}/{name}", self.scenario));
        folder.announce([csv.clone(), json.clone()])?;
        folder.write(&csv, &table)?;
        folder.write(&json, &serde_json::to_vec_pretty(self)?)
    }

    /// Reads `records.json` from `folder`; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read or is not a record of this version.
    pub fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join("records.json");
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let record = serde_json::from_slice(&text);
        Ok(Some(
            record.with_context(|| format!("{} is not a record: delete it and run again", path.display()))?,
        ))
    }
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the learner in it.
    pub learner: String,
    /// Which repetition, from 0.
    pub repetition: u64,
    /// Attributes of an example.
    pub dim: usize,
    /// Examples seen.
    pub examples: u64,
    /// What was measured, with its unit: "test mse", "excess risk", "ns per example", ...
    pub metric: String,
    /// The measurement.
    pub value: f64,
}

impl Row {
    /// The measurement of a job after so many examples.
    pub(crate) fn of(scenario: &Scenario, job: &Job, examples: u64, metric: &str, value: f64) -> Self {
        Row {
            scenario: scenario.name.clone(),
            learner: job.contender.name.clone(),
            repetition: job.repetition,
            dim: job.dim,
            examples,
            metric: metric.into(),
            value,
        }
    }

    /// Whether the row is a time, which no seed determines.
    pub fn is_time(&self) -> bool {
        self.metric.starts_with("ns ")
    }
}

/// Mean and sample standard deviation; `None` for no values.
pub fn mean_sd(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    Some((mean, if values.len() > 1 { (spread / (n - 1.0)).sqrt() } else { 0.0 }))
}

/// The median; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some((sorted[half - 1] + sorted[half]) / 2.0),
    }
}
