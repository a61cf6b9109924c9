//! Snapshots: files with the state after so many lines, which are witnesses of these lines, too.

use crate::error::StudyError;
use crate::journal::{self, Place};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Returns the name of a whole snapshot that is not one of the lines of the journal: of more lines than there
/// are, or of others.
pub(crate) fn ahead_of(replay: &journal::Replay, folder: &Path) -> Result<Option<(String, u64)>, StudyError> {
    for (seq, hash, path) in snapshots(folder)? {
        let Ok(text) = std::fs::read(&path) else { continue };
        if journal::digest(&text) != hash {
            continue;
        }
        let Ok(Placed { place }) = serde_json::from_slice(&text) else { continue };
        let index = usize::try_from(place.seq).ok().and_then(|seq| seq.checked_sub(1));
        if index.and_then(|index| replay.places.get(index)) != Some(&place) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            return Ok(Some((name.unwrap_or_default(), seq)));
        }
    }
    Ok(None)
}

/// The place of a snapshot, whatever else is in it.
#[derive(Deserialize)]
struct Placed {
    place: Place,
}

/// Returns the snapshots of a study with their numbers of lines, ascending, and their hashes.
pub(crate) fn snapshots(folder: &Path) -> Result<Vec<(u64, String, PathBuf)>, StudyError> {
    let failed = |cause| StudyError::File { path: folder.to_owned(), cause };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let parts = name.strip_prefix("snapshot-").and_then(|rest| rest.strip_suffix(".json"));
        let Some((number, hash)) = parts.and_then(|parts| parts.split_once('-')) else { continue };
        found.extend(number.parse().ok().map(|seq: u64| (seq, hash.to_owned(), path)));
    }
    found.sort();
    Ok(found)
}
