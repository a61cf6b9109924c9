//! Why a file cannot be read.

use std::io;
use thiserror::Error;

/// Why a Parquet file cannot be read or written.
#[derive(Debug, Error)]
pub enum ParquetError {
    /// Reading or writing failed.
    #[error("{file}: {cause}")]
    File {
        /// The file.
        file: String,
        /// What the system says.
        cause: io::Error,
    },
    /// The file is no Parquet file, or damaged.
    #[error("{file}: {reason}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// More would be read than is [allowed](crate::Allowance). Nothing was.
    #[error("{file}: {wanted} bytes are needed, and {left} more may be read")]
    Allowance {
        /// The file.
        file: String,
        /// The bytes that are needed.
        wanted: u64,
        /// The bytes that may still be read.
        left: u64,
    },
    /// A column cannot be read.
    #[error("{file}, column `{column}`: {reason}")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What is wrong, and what to do.
        reason: String,
    },
}
