//! Parquet files, of which only the pages are read that are asked for.
//!
//! A column is cut into row groups and these into pages, which are packed one by one. A file with an *offset
//! index* says where each page lies, so that some rows of some columns cost the bytes of the pages which hold
//! them. Without it, a column is read by whole row groups.
//!
//! ```
//! use lao_parquet::{Cells, ParquetFile, Writing, write};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("sensors.parquet");
//! let column: Vec<f64> = (0..10_000).map(f64::from).collect();
//! let columns = [("heat", (&column).into()), ("light", (&column).into())];
//! write(std::fs::File::create(&path)?, "sensors", &columns, &Writing::default())?;
//!
//! let file = ParquetFile::open(&path)?;
//! let mut read = Vec::new();
//! file.read(&[1], 5_000..5_003, |_, cells| {
//!     if let Cells::Numbers(numbers) = cells {
//!         read.extend_from_slice(numbers);
//!     }
//! })?;
//! assert_eq!(read, [5_000.0, 5_001.0, 5_002.0]);
//! // Less than a tenth of the file.
//! assert!(10 * file.traffic().bytes < std::fs::metadata(&path)?.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cells;
mod error;
mod file;
mod guard;
mod kind;
mod pages;
mod places;
#[cfg(feature = "remote")]
mod remote;
mod store;
mod write;

pub use cells::Cells;
pub use error::ParquetError;
pub use file::{Column, ParquetFile};
pub use kind::{Kind, Unit};
#[cfg(feature = "remote")]
pub use remote::open_url;
pub use store::{Allowance, Answer, LocalFile, Store, Traffic, public_url};
pub use write::{Values, Writing, rewrite, write};
