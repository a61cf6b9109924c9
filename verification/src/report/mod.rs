//! The report of a run.

use crate::compare::Comparison;
use crate::record::Record;
use crate::run::{Timings, write_atomically};
use std::path::Path;

/// Writes the report of a record into the folder `out`, next to its `evidence.json`.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    out: &Path,
    record: &Record,
    _timings: &Timings,
    _comparison: Option<&Comparison>,
) -> anyhow::Result<()> {
    write_atomically(&out.join("summary.md"), record.summary().as_bytes())
}
