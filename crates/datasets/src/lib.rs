//! Data to learn from: real tables, found, checked and read strictly.
//!
//! - [`mod@format`]: streaming readers for LibSVM, CSV, IDX and NPY, plain or compressed;
//! - [`catalog`]: from the name of a dataset to its files, and their download;
//! - [`preprocess`]: standardising, splitting and the like, fitted on training rows only.

pub mod catalog;
pub mod format;
pub mod preprocess;
