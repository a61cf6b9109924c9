//! Comparison of the convergence figures of a run with a baseline.

use crate::record::Record;
use std::fmt;
use std::path::Path;

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Comparison;

impl Comparison {
    /// Whether a tracked rate got worse.
    pub fn is_worse(&self) -> bool {
        false
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("compared: 0 rates")
    }
}

/// Compares a record with the baseline in a file.
///
/// # Errors
/// When the file cannot be read.
pub fn compare(_record: &Record, _file: &Path) -> anyhow::Result<Comparison> {
    anyhow::bail!("comparison with a baseline is not built yet")
}

/// Writes a record's figures as the new baseline.
///
/// # Errors
/// When the file cannot be written.
pub fn bless(_record: &Record, _file: &Path, _reason: &str) -> anyhow::Result<()> {
    anyhow::bail!("blessing a baseline is not built yet")
}
