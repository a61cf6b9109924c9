//! One error for all that can go wrong on the way from a table to a prediction.

use lao_algorithms::ParamError;
use lao_datasets::format::FormatError;
use lao_observation::{SessionError, SourceError, TariffError};
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no table, no model or no prediction. Each message names the file or column, the value, and
/// what to do.
///
/// ```
/// let frame = lao::Frame::parse(b"age,pressure\n61,140\n", "patients.csv", &Default::default())?;
/// let error = frame.target("presure").unwrap_err();
/// assert!(error.to_string().contains("patients.csv has no column `presure` (did you mean `pressure`?)"));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Debug, Error)]
pub enum Error {
    /// A file cannot be opened or unpacked.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A Parquet file is damaged, or has a column that cannot be read.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Parquet(lao_parquet::ParquetError),
    /// A table is malformed.
    #[error("{file}, line {line}: {reason}")]
    Table {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A column that is needed is not there.
    #[error(
        "{file} has no column `{wanted}`{}; its columns are {}", did_you_mean(.near), .columns.join(", ")
    )]
    NoColumn {
        /// The table.
        file: String,
        /// The name that was asked for.
        wanted: String,
        /// The most similar name.
        near: Option<String>,
        /// The names of all columns, or of the first ones.
        columns: Vec<String>,
    },
    /// A column holds something else than it must.
    #[error("column `{column}`: {reason}")]
    Column {
        /// The column.
        column: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Several columns that are needed are not there.
    #[error("columns {}: {reason}", quoted(.columns))]
    Columns {
        /// Their names.
        columns: Vec<String>,
        /// What is wrong.
        reason: String,
    },
    /// A choice that is not allowed.
    #[error("{what} = {value}: {allowed}")]
    Choice {
        /// What was chosen.
        what: &'static str,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter that a method refuses.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Prices are invalid.
    #[error(transparent)]
    Tariff(#[from] TariffError),
    /// Learning failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A table cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file is not a model.
    #[error("{} is not a model of lao: {reason}", .path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {cause}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

#[cfg(feature = "parquet")]
impl From<lao_parquet::ParquetError> for Error {
    fn from(error: lao_parquet::ParquetError) -> Self {
        match error {
            lao_parquet::ParquetError::File { file, cause } => Error::File { path: file.into(), cause },
            other => Error::Parquet(other),
        }
    }
}

/// Returns the name that is most similar to `wanted`, if one is.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    // What differs in capitals alone is nearest.
    let (lower, trimmed) = (wanted.to_lowercase(), wanted.trim());
    let likeness = |name: &str| match name.to_lowercase() == lower || name.trim() == trimmed {
        true => 1.0,
        false => strsim::jaro_winkler(wanted, name),
    };
    let near = names.map(|name| (likeness(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    near.filter(|(likeness, _)| *likeness > 0.75).map(|(_, name)| name.to_owned())
}
