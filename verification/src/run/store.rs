//! What a run writes into its folder beside the record.

use super::{STATE, State, Stored};
use crate::claim::Claim;
use lao_files::OutputFolder;
use serde::Serialize;
use std::path::Path;

pub(super) fn unfinished(state: &Path, key: &str) -> bool {
    let text = std::fs::read_to_string(state).unwrap_or_default();
    serde_json::from_str::<State>(&text).is_ok_and(|state| state.key == key && !state.finished)
}

/// Returns a stored result, if the file is complete and belongs to this run.
pub(super) fn load(file: &Path, key: &str, claim: &Claim) -> Option<Stored> {
    let text = std::fs::read_to_string(file).ok()?;
    let stored: Stored = serde_json::from_str(&text).ok()?;
    let whole = stored.arms.honest.not_run.is_some() || stored.arms.mutants.len() == claim.mutants.len();
    (stored.key == key && whole).then_some(stored)
}

pub(super) fn write_state(folder: &OutputFolder, key: &str, finished: bool) -> anyhow::Result<()> {
    write_json(folder, STATE, &State { key: key.into(), finished })
}

pub(super) fn write_json(folder: &OutputFolder, name: &str, value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    folder.write(name, &text)
}
