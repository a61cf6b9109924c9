//! One row per measurement.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::Path;

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

/// Writes rows as `records.csv` and `records.json` into `folder`, each whole or not at all.
///
/// # Errors
/// When the folder or the disk refuses.
pub fn write(folder: &Path, rows: &[Row]) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    let table = writer.into_inner().context("cannot form records.csv")?;
    write_atomically(&folder.join("records.csv"), &table)?;
    write_atomically(&folder.join("records.json"), &serde_json::to_vec_pretty(rows)?)
}

/// Writes a file so that a reader sees the old one or the whole new one, never a part.
///
/// # Errors
/// When the folder or the disk refuses; nothing is left behind then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = || format!("cannot write {}: check the folder, its rights and the free space", path.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(name)?;
    file.write_all(bytes).with_context(name)?;
    file.as_file().sync_all().with_context(name)?;
    file.persist(path).with_context(name)?;
    Ok(())
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
