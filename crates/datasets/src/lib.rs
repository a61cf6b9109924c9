//! Data to learn from: virtual designs with exact constants, and real tables, found, checked and read strictly.
//!
//! - [`synthetic`]: examples computed from (seed, row, column) when they are looked at;
//! - [`mod@format`]: streaming readers for LibSVM, CSV, IDX and NPY, plain or compressed;
//! - [`memory`]: tables in memory as sources;
//! - [`catalog`]: from the name of a dataset to its files, and their download;
//! - [`preprocess`]: standardising, splitting and the like, fitted on training rows only.

pub mod adversarial;
pub mod catalog;
mod contract;
pub mod format;
pub mod memory;
pub mod preprocess;
pub mod synthetic;
