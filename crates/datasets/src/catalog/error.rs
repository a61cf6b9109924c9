//! What can go wrong between a name and its rows.

use super::ManifestError;
use crate::format::FormatError;
use std::io;
use std::path::PathBuf;

/// Why a dataset could not be found, fetched or loaded.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// No dataset has this name.
    #[error("no dataset is called `{name}`; did you mean `{nearest}`? `cargo xtask data list` shows all")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The nearest name there is.
        nearest: String,
    },
    /// The manifest is at fault.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file is at none of the places.
    #[error("dataset `{dataset}` is not at hand: `{file}` is not in {searched}; {remedy}")]
    Missing {
        /// The dataset.
        dataset: String,
        /// The file, or its alternatives.
        file: String,
        /// The places.
        searched: String,
        /// What to do.
        remedy: String,
    },
    /// A file has another size than the manifest says.
    #[error("{path} has {found} bytes, not the manifest's {expected}: it is cut off or another version; remove it \
             and fetch it again", path = path.display())]
    WrongSize {
        /// The file.
        path: PathBuf,
        /// Bytes of the manifest.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// A file has another checksum than the manifest, or than at its first download.
    #[error("{path} has SHA-256 {found}, not {expected}: it is damaged or another version; remove it and fetch it \
             again", path = path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum on record.
        expected: String,
        /// The file's checksum.
        found: String,
    },
    /// The rows are not those that the manifest describes.
    #[error(
        "dataset `{dataset}`: {what} is {found}, not the manifest's {expected}; the file is another version"
    )]
    Shape {
        /// The dataset.
        dataset: String,
        /// Which count.
        what: &'static str,
        /// The manifest's count.
        expected: usize,
        /// The count found.
        found: usize,
    },
    /// A file is malformed.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The file system refused.
    #[error("{path}: {source}; check that the path exists and the disk has room", path = path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
