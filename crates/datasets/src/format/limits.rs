//! The limits of readers. Input beyond a limit is refused by an error that names the limit, so that an
//! endless or hostile input ends in an error and never exhausts the memory.

/// The largest number of bytes from the end of one row of text to the end of the next: the row, and the blank
/// lines and comments before it. The widest real tables have rows of a few megabytes.
pub const LONGEST_LINE: usize = 1 << 26;

/// The largest number of bytes of a CSV field. A quote that is never closed makes a field of all that follows
/// it.
pub const LONGEST_FIELD: usize = 1 << 20;

/// The largest number of fields of a CSV row. Wider tables are sparse in practice, and are stored as LibSVM
/// text.
pub const MOST_FIELDS: usize = 1 << 22;

/// The largest number of values that the header of an IDX or NPY file may announce: 16 GiB as f64.
pub const MOST_VALUES: u64 = 1 << 31;

/// The largest number of members of a zip archive.
pub const MOST_MEMBERS: usize = 1 << 16;
