//! Strict, streaming readers of data files: LibSVM, CSV, IDX and NPY, plain or packed by gzip, bzip2 or zip.
//!
//! A reader either gives exactly what the file says or a [`FormatError`] with file, place, value and remedy. It never
//! guesses, never skips a bad row, and never panics, whatever the bytes.

mod archive;
mod array;
pub mod csv;
mod error;
pub mod idx;
pub mod libsvm;
pub mod npy;
mod number;
mod table;

pub use archive::{Limits, Opening, Part, open};
pub use array::Array;
pub use error::{ArchiveFault, At, FormatError, Problem};
pub use table::{DenseTable, SparseRow, SparseRows};
