//! The errors between the name of a dataset and its rows.

use super::ManifestError;
use crate::format::FormatError;
use std::io;
use std::path::PathBuf;

/// The reason why a dataset could not be found, fetched or loaded.
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
    /// A file is in none of the folders.
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
    /// A pipe, device or folder where a file should be.
    #[error("{path} is no regular file, but a dataset's files are read twice, to check and to load them; put \
             a file there", path = path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A file has another size than the manifest says.
    #[error(
        "{path} has {found} bytes, not the manifest's {expected}: it is cut off or another version; remove \
         it \
         and fetch it again", path = path.display()
    )]
    WrongSize {
        /// The file.
        path: PathBuf,
        /// Bytes of the manifest.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// A file has another checksum than the manifest, or than at its first download.
    #[error(
        "{path} has SHA-256 {found}, not {expected}: it is damaged or another version; remove it and fetch \
         it \
         again", path = path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum on record.
        expected: String,
        /// The file's checksum.
        found: String,
    },
    /// The rows differ from the manifest's description.
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
    /// Downloads have nowhere to go.
    #[error("downloads need a cache folder, but neither XDG_CACHE_HOME nor HOME is set; set XDG_CACHE_HOME")]
    NoCache,
    /// Another process is downloading the same file.
    #[error("{path} is being written by another process; wait for it to end", path = path.display())]
    Busy {
        /// The partial download.
        path: PathBuf,
    },
    /// The server answered, but not with the file.
    #[error(
        "{url} answered with status {status}; nothing was kept. Check the address in a browser, or fetch the \
         file by hand into {target}", target = target.display()
    )]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
        /// Where the file belongs.
        target: PathBuf,
    },
    /// The server could not be reached, or speaks no HTTP.
    #[error(
        "{url} cannot be reached ({detail}); check the connection, or fetch the file by hand into {target}",
        target = target.display()
    )]
    Network {
        /// The address.
        url: String,
        /// What went wrong.
        detail: String,
        /// Where the file belongs.
        target: PathBuf,
    },
    /// The transfer ended too early.
    #[error(
        "{url} was cut off after {found} bytes{}; {kept}",
        expected.map_or(String::new(), |n| format!(" of {n}"))
    )]
    CutOff {
        /// The address.
        url: String,
        /// Bytes received, earlier parts included.
        found: u64,
        /// Bytes announced, where known.
        expected: Option<u64>,
        /// What happens to the bytes received.
        kept: &'static str,
    },
    /// A complete download is not the file that the manifest describes. It was removed.
    #[error(
        "the download of {url} has {what} {found}, not {expected}; it was removed. The file at the address \
         has changed, or the transfer was tampered with"
    )]
    WrongDownload {
        /// The address.
        url: String,
        /// Size or checksum.
        what: &'static str,
        /// The value on record.
        expected: String,
        /// The value found.
        found: String,
    },
    /// The file system refused.
    #[error("{path}: {source}; check that the path exists and the disk has room", path = path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
