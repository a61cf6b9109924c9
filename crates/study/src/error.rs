//! What can go wrong with a study.

use lao::algorithms::ParamError;
use lao::observation::LearnError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a study cannot be opened, or refuses what it is told. A refusal leaves no trace: neither the journal
/// nor the state has changed.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A file cannot be read or written.
    #[error("{}: {cause}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The journal cannot be written: the disk is full, or does not answer.
    #[error("{}: {cause}; {}", .path.display(), after_failed_write(*.taken_back))]
    Unwritten {
        /// The journal.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
        /// Whether the journal has the length that it had before.
        taken_back: bool,
    },
    /// Another process has the study open.
    #[error("{} is open in another process; wait for it, or stop it", .0.display())]
    Locked(PathBuf),
    /// There is a study, or something else, already.
    #[error("{} already exists; give the new study another folder", .0.display())]
    Exists(PathBuf),
    /// The folder is not a study.
    #[error("{} is not a study: it has no study.json", .0.display())]
    NoStudy(PathBuf),
    /// A file of the study was damaged or changed.
    #[error("{}, line {line}: {reason}; restore the folder from a backup", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What does not fit.
        reason: String,
    },
    /// A file of the study was changed while the study was open.
    #[error(
        "{}: {reason} while the study was open; nothing was recorded; open the study again", .path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// What happened to it.
        reason: String,
    },
    /// The study can only be read.
    #[error("{} can only be read: its folder or its files may not be written", .0.display())]
    ReadOnly(PathBuf),
    /// A line of the journal is intact, but this version of lao would not have written it.
    #[error(
        "{}, line {line}: {reason}; the line is intact, so it was written by another version of lao than \
         this one ({}): continue with that version (the study began with lao {began})",
        .path.display(), env!("CARGO_PKG_VERSION")
    )]
    OtherVersion {
        /// The journal.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What this version would have done.
        reason: String,
        /// The version of lao that began the study.
        began: String,
    },
    /// The folder was written in another format.
    #[error(
        "{}: format {format}, written by lao {version}; this is lao {}, which reads format {}: open the \
         study with lao {version}",
        .path.display(), env!("CARGO_PKG_VERSION"), crate::Description::FORMAT
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// The version of lao that wrote it.
        version: String,
    },
    /// The description is not allowed.
    #[error("{field}: {reason}")]
    Description {
        /// The field.
        field: &'static str,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// The method refuses its parameters.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A slot is not open.
    #[error("slot {slot} {state}")]
    Slot {
        /// The slot.
        slot: u64,
        /// Its state, and what to do.
        state: String,
    },
    /// Other values were told than were asked for.
    #[error("slot {slot}: {reason}; nothing was recorded")]
    Values {
        /// The slot.
        slot: u64,
        /// What does not fit.
        reason: String,
    },
    /// Examples that are not allowed were to be imported.
    #[error("{}{reason}; nothing was recorded", .example.map_or(String::new(), |k| format!("example {k}: ")))]
    Import {
        /// The example, counted from 1, if it is one of them.
        example: Option<usize>,
        /// What does not fit.
        reason: String,
    },
    /// Attributes cannot join.
    #[error("{reason}; nothing was recorded")]
    Join {
        /// Why.
        reason: String,
    },
    /// The method refuses the numbers.
    #[error("slot {slot}: {reason}; nothing was recorded")]
    Learn {
        /// The slot.
        slot: u64,
        /// Why.
        reason: LearnError,
    },
}

/// Returns what a user does after a failed write of the journal.
fn after_failed_write(taken_back: bool) -> &'static str {
    if taken_back {
        "nothing was recorded; make room on the disk, then repeat this"
    } else {
        "the line could not be taken back either; open the study again to see whether it was recorded"
    }
}
