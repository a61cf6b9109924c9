//! Strict, streaming readers of data files: LibSVM, CSV, IDX and NPY, plain or packed by gzip, bzip2 or zip.
//!
//! A reader either gives exactly what the file says or a [`FormatError`] with file, place, value and remedy. It never
//! panics and never skips a bad row, whatever the bytes. Only blank lines and comments are passed over. What the bytes
//! cannot tell is said by options ([`csv::CsvOptions`], [`libsvm::LibsvmOptions`]), and where the bytes contradict an
//! option (a header of numbers, an index 0), the reader refuses the file. Two things are taken at their word, because no
//! byte could contradict them: a header with one name among its fields, and a LibSVM file without an index 0 and
//! without a comment on its base.
//!
//! Input may be endless: [`limits`] bound a line, a field, a row, the claim of a header and an archive, and
//! [`Limits`] bound what is unpacked.

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

pub(crate) use archive::open_file;
pub use archive::{Limits, Opening, Part, open, open_reader, open_seekable};
pub use array::Array;
pub(crate) use error::shown;
pub use error::{ArchiveFault, At, FormatError, Problem};
pub use table::{DenseTable, SparseRow, SparseRows};
