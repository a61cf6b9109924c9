//! Data to learn from: virtual designs with exact constants, and real tables, found, checked and read
//! strictly.
//!
//! - [`synthetic`]: examples computed from (seed, row, column) when they are looked at;
//! - [`mod@format`]: streaming readers for LibSVM, CSV, IDX and NPY, plain or compressed;
//! - [`memory`]: tables in memory as sources;
//! - `catalog`: from the name of a dataset to its files;
//! - [`preprocess`]: standardizing, splitting and the like, fitted on training rows only.
//!
//! | feature | what it adds | brings |
//! |---|---|---|
//! | `gzip`, a default one | readers undo gzip | flate2 and zlib-rs |
//! | `archives` | readers undo bzip2 and zip | `gzip`, libbz2-rs, zip |
//! | `catalog` | the module `catalog`, with its manifest | toml, sha2, strsim |
//!
//! ```
//! use lao_datasets::format::csv::{CsvOptions, CsvReader};
//! use lao_datasets::format::DenseTable;
//! use lao_datasets::memory::Columns;
//! use lao_observation::Source;
//!
//! // The last column is the label, if no other is named. `read_csv` reads a file, packed or not.
//! let text = "age,dose,effect\n61,0.5,3\n48,1.5,4\n";
//! let mut reader = CsvReader::new(text.as_bytes(), "trial.csv", CsvOptions::default());
//! let (mut rows, mut labels) = (Vec::new(), Vec::new());
//! while let Some(row) = reader.next_row()? {
//!     rows.extend_from_slice(row.values);
//!     labels.push(row.label);
//! }
//! let table = DenseTable::from_rows(2, rows, labels).ok_or("rows of two values")?;
//! assert_eq!(Columns::try_from(&table)?.dim(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// For the suite: no promise.
#[doc(hidden)]
pub mod adversarial;
#[cfg(feature = "catalog")]
pub mod catalog;
mod contract;
pub mod format;
pub mod memory;
pub mod preprocess;
pub mod synthetic;
