//! Strict, streaming readers of data files: LibSVM, CSV, IDX and NPY, plain or packed by gzip, bzip2 or zip.
//!
//! A reader returns exactly what the file contains, or a [`FormatError`] with file, place, value and remedy.
//! It never panics and never leaves out a malformed row, whatever the bytes; it skips only blank lines and
//! comments.
//!
//! Two facts cannot be read from the bytes, so that options state them: whether the first row of a CSV file
//! is a header, and whether a LibSVM file counts from 0 or from 1. If the bytes contradict an option, the
//! reader refuses the file: a header that consists of numbers, an index 0, or the comment of
//! `dump_svmlight_file`. Otherwise the option decides: a LibSVM file that counts from 0 and has neither an
//! index 0 nor that comment is read one attribute too low.
//!
//! | source | is read |
//! |---|---|
//! | a file, plain or gzip, bzip2, zip | by [`open`], or by `read_csv`, `read_libsvm` and the like |
//! | a pipe, `/dev/stdin`, `<(command)`; not zip | by the same functions, with the same result |
//! | any [`Read`](std::io::Read), bytes in memory | by [`open_reader`], [`open_seekable`], `CsvReader` |
//!
//! Input may be endless or hostile. Therefore [`limits`] bound a line, a field, a row, the numbers that a
//! header announces and the members of an archive, and [`Limits`] bound the unpacked bytes.

mod archive;
mod array;
pub mod csv;
mod error;
pub mod idx;
pub mod libsvm;
pub mod limits;
pub mod npy;
mod number;
mod record;
mod table;
mod text;
#[cfg(feature = "archives")]
mod zip;

#[cfg(feature = "catalog")]
pub(crate) use archive::open_file;
pub use archive::{Limits, Opening, Part, open, open_reader, open_seekable};
pub use array::Array;
pub(crate) use error::shown;
pub use error::{ArchiveFault, At, FormatError, ReadProblem};
pub use number::{parse as parse_number, scan as scan_number};
pub use record::Records;
pub use table::{DenseTable, SparseRow, SparseRows, Table};
