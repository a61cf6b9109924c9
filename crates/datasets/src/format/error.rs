//! The errors of data files, with the remedy for each.

use std::fmt;
use std::io;
use std::path::Path;

/// A place in a file: lines for text, byte offsets for binary formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The file as a whole.
    File,
    /// A line, counted from 1.
    Line(u64),
    /// A byte offset, counted from 0, after decompression.
    Byte(u64),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::File => Ok(()),
            At::Line(line) => write!(f, ", line {line}"),
            At::Byte(offset) => write!(f, ", byte {offset}"),
        }
    }
}

/// The reason why a data file cannot be used: the file, the place in it, and the problem.
#[derive(Debug, thiserror::Error)]
#[error("{file}{at}: {problem}")]
pub struct FormatError {
    /// The file, followed by `/member` inside a zip archive.
    pub file: String,
    /// The place in the file.
    pub at: At,
    /// The problem at this place.
    pub problem: ReadProblem,
}

impl FormatError {
    pub(crate) fn new(file: &str, at: At, problem: ReadProblem) -> Self {
        Self { file: file.to_owned(), at, problem }
    }

    /// Errors of the decompression layer travel inside `io::Error`; here they come out again.
    pub(crate) fn io(file: &str, at: At, error: io::Error) -> Self {
        let problem = match error.downcast::<ArchiveFault>() {
            Ok(fault) => ReadProblem::Archive(fault),
            Err(error) => ReadProblem::Io(error),
        };
        Self::new(file, at, problem)
    }

    pub(crate) fn open(path: &Path, error: io::Error) -> Self {
        Self::io(&path.display().to_string(), At::File, error)
    }
}

/// A problem of a data file. Each message names the field, the value, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ReadProblem {
    /// The operating system refused.
    #[error("cannot be read: {0}; check that the file exists, is a file, and is readable")]
    Io(io::Error),
    /// Decompression failed or was stopped.
    #[error(transparent)]
    Archive(#[from] ArchiveFault),
    /// A field that should hold a number does not.
    #[error("{field} is `{value}`, which is not a number; write a decimal number such as -1.5 or 2e-3")]
    NotANumber {
        /// The field's name.
        field: String,
        /// The text found.
        value: String,
    },
    /// A number is infinite or not a number.
    #[error("{field} is `{value}`, which is not finite; remove the row or replace the value")]
    NotFinite {
        /// The field's name.
        field: String,
        /// The text found.
        value: String,
    },
    /// A row has no label.
    #[error("the label is missing (found `{value}` in its place); each row needs one number as its label")]
    LabelMissing {
        /// What stands where the label should.
        value: String,
    },
    /// The number of labels differs from that of rows.
    #[error("holds {labels} labels for {rows} rows; the two files must come from the same release")]
    LabelCount {
        /// Labels found.
        labels: usize,
        /// Rows found.
        rows: usize,
    },
    /// A LibSVM entry that is not `index:value`.
    #[error("`{value}` is not an entry `index:value`; entries are separated by single spaces")]
    Entry {
        /// The text found.
        value: String,
    },
    /// A LibSVM index of 0 where indices are read as counting from 1.
    #[error(
        "`{value}` has index 0, but indices are read as LibSVM's, which start at 1; if the file counts from \
         0, as those of scikit-learn's `dump_svmlight_file` do, read it with the option `zero_based = \
         true`"
    )]
    IndexZero {
        /// The entry found.
        value: String,
    },
    /// A comment of the file says from where its indices count, and the options say otherwise.
    #[error(
        "a comment of the file says that its indices are {stated}-based, but they are read otherwise; read \
         the file with the option `zero_based = {remedy}`, or remove the comment if it is wrong"
    )]
    IndexBase {
        /// `zero` or `one`, as the comment says.
        stated: &'static str,
        /// The value of the option that agrees with the comment.
        remedy: bool,
    },
    /// LibSVM indices that do not ascend.
    #[error("index {index} follows index {previous}; indices must ascend within a row, without repetition")]
    IndexOrder {
        /// The offending index, counted from 1.
        index: u32,
        /// The index before it.
        previous: u32,
    },
    /// A LibSVM index above the dimension.
    #[error(
        "index {index} is out of range {first}..={last}; declare a larger dimension or use the matching file"
    )]
    IndexRange {
        /// The index as written.
        index: String,
        /// The smallest index allowed.
        first: u32,
        /// The largest index allowed; less than `first` if no index is.
        last: i64,
    },
    /// A line longer than any real row.
    #[error(
        "the line, with blank lines and comments before it, is longer than {limit} bytes; is this a text \
         file with one row per line?"
    )]
    LineTooLong {
        /// The longest line accepted, in bytes.
        limit: usize,
    },
    /// A CSV field longer than any number or name.
    #[error(
        "field {field} is longer than {limit} bytes; close the quote that opens it, or check delimiter and \
         line ends"
    )]
    FieldTooLong {
        /// The field's place in its row, from 0.
        field: usize,
        /// The longest field accepted, in bytes.
        limit: usize,
    },
    /// A CSV row with more fields than a dense table can have.
    #[error(
        "the row has more than {limit} fields; check delimiter and line ends, or store the table as LibSVM \
         text"
    )]
    TooManyFields {
        /// The most fields accepted.
        limit: usize,
    },
    /// A quote that is opened and not closed before the end of the file.
    #[error(
        "field {field} opens a quote that is not closed before the end of the file; is the file cut off?"
    )]
    OpenQuote {
        /// The field's place in its row, from 0.
        field: usize,
    },
    /// Text behind the quote that closes a field.
    #[error(
        "field {field} goes on with `{value}` behind its closing quote; write a quote inside a field twice"
    )]
    AfterQuote {
        /// The field's place in its row, from 0.
        field: usize,
        /// The first character behind the quote.
        value: char,
    },
    /// A header that looks like a row of data.
    #[error(
        "the header holds nothing but numbers ({fields}), as a row of data does; if the file has no header, \
         read it with `header = false`; if the numbers are names, ask for the label's column by its name"
    )]
    NumericHeader {
        /// The first fields.
        fields: String,
    },
    /// Bytes that no text has.
    #[error(
        "the row holds a NUL byte, so this is no plain text: unpack the file if it is an archive such as \
         tar, and save it as UTF-8 if it is in UTF-16"
    )]
    NotText,
    /// A CSV row with too many or too few fields.
    #[error("the row has {found} fields, the rows before it have {expected}; mend or remove the row")]
    Ragged {
        /// Fields of the first row.
        expected: usize,
        /// Fields of this row.
        found: usize,
    },
    /// A column that is asked for by name and not there, or there twice.
    #[error("column `{name}` occurs {times} times in the header; columns are: {columns}")]
    ColumnName {
        /// The name asked for.
        name: String,
        /// How often the header has it.
        times: usize,
        /// The header.
        columns: String,
    },
    /// A column asked for by a name in a file without header.
    #[error("column `{name}` is asked for by name, but the file is read without a header; give its index")]
    NoHeader {
        /// The name asked for.
        name: String,
    },
    /// A column asked for by an index that the file does not have.
    #[error("column {index} is asked for, but the file has columns 0..={last}; give an index in that range")]
    ColumnIndex {
        /// The index asked for, from 0.
        index: usize,
        /// The last column, from 0.
        last: usize,
    },
    /// A delimiter that is not ASCII, or that fields themselves are written with.
    #[error(
        "delimiter {value:?} is not ASCII, or fields are written with it; use one such as `,` `;` or a tab"
    )]
    Delimiter {
        /// The delimiter asked for.
        value: char,
    },
    /// No column is left for features.
    #[error("no feature column is left among {columns} columns; drop fewer columns or check the delimiter")]
    NoFeatures {
        /// Columns of the file.
        columns: usize,
    },
    /// The file has no rows.
    #[error("holds no rows; a data set needs at least one")]
    NoRows,
    /// The first bytes are not those of the format.
    #[error("starts with bytes {found}, not with {expected}; this is not {format} file")]
    Magic {
        /// The format, with its article.
        format: &'static str,
        /// Bytes expected.
        expected: &'static str,
        /// Bytes found, in hexadecimal.
        found: String,
    },
    /// A header field with a value that is not supported.
    #[error("header field {field} is `{value}`; supported: {allowed}")]
    Header {
        /// The header field.
        field: &'static str,
        /// The value found.
        value: String,
        /// What is supported.
        allowed: &'static str,
    },
    /// A header that claims more numbers than are accepted.
    #[error(
        "the header claims {claimed} numbers, more than the limit of {limit}; is it damaged? split larger \
         arrays"
    )]
    TooManyValues {
        /// How many numbers the header claims.
        claimed: String,
        /// The most numbers accepted.
        limit: u64,
    },
    /// An array whose values do not fill its shape.
    #[error("the array has {values} values, which do not fill its shape {shape}")]
    Shape {
        /// How many values there are.
        values: usize,
        /// The extents.
        shape: String,
    },
    /// The file ends too early.
    #[error("ends after {found} bytes, but its header asks for {expected}; it is cut off: fetch it again")]
    Truncated {
        /// Bytes that the header asks for.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The file goes on after its end.
    #[error("goes on after the {expected} bytes that its header asks for; the header or the file is damaged")]
    Trailing {
        /// Bytes that the header asks for.
        expected: u64,
    },
    /// An integer that f64 cannot hold.
    #[error("integer {value} has no exact f64; integers must lie within +-2^53")]
    Inexact {
        /// The integer.
        value: i128,
    },
}

/// A problem of a packed file.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveFault {
    /// The compressed data contradict themselves or end too early.
    #[error("the {kind} data are damaged or cut off ({detail}); fetch the file again")]
    Damaged {
        /// Compression format.
        kind: &'static str,
        /// The decoder's complaint.
        detail: String,
    },
    /// A packing that is not undone here.
    #[error("holds {kind} data, which are not unpacked here; unpack the file first: {remedy}")]
    Packed {
        /// The packing.
        kind: &'static str,
        /// The command that undoes it.
        remedy: &'static str,
    },
    /// A packing that the crate was built without.
    #[error(
        "holds {kind} data, but lao-datasets was built without its feature `{feature}`: enable it, or unpack \
         the file first"
    )]
    Feature {
        /// The packing.
        kind: &'static str,
        /// The feature that undoes it.
        feature: &'static str,
    },
    /// The file is not text.
    #[error("holds {kind}, but text in UTF-8 is expected; {remedy}")]
    Foreign {
        /// What the first bytes tell.
        kind: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A zip archive that comes through a pipe.
    #[error(
        "is a zip archive that comes through a pipe, but a zip archive needs a file, since its directory \
         stands at its end; save it to a file and read that, or pipe one member: `unzip -p ARCHIVE MEMBER`"
    )]
    Piped,
    /// A pipe or device that does not end.
    #[error(
        "gives more than {max_bytes} bytes and is no file, so it may be endless; if you trust it, raise \
         `Limits::max_bytes`"
    )]
    TooLong {
        /// The limit on bytes.
        max_bytes: u64,
    },
    /// A zip archive of too many members.
    #[error("the archive has {found} members, more than the limit of {limit}; unpack it and join its files")]
    TooManyMembers {
        /// Members of the archive.
        found: usize,
        /// The most members accepted.
        limit: usize,
    },
    /// A zip archive with two members of one name.
    #[error("the archive has several members of one name, so no name says which to read; pack it again")]
    SameNames,
    /// More output than the limits allow.
    #[error(
        "unpacks to more than {allowed} bytes, the limit for {compressed} compressed bytes, so it may be an \
         archive bomb; if you trust the file, raise `Limits` (now {max_bytes} bytes, ratio {max_ratio})"
    )]
    TooLarge {
        /// Bytes that the limits allow for this file.
        allowed: u64,
        /// Size of the compressed file.
        compressed: u64,
        /// The limit on bytes.
        max_bytes: u64,
        /// The limit on the ratio.
        max_ratio: u64,
    },
    /// A zip member in a form that is not supported.
    #[error(
        "zip member `{member}` is {form}; supported are stored and deflated members without password: \
         unpack the archive with `unzip` or 7-Zip and read the file itself"
    )]
    Unsupported {
        /// Name of the member.
        member: String,
        /// The form found.
        form: String,
    },
    /// A workbook of a spreadsheet.
    #[error("this is a workbook of a spreadsheet; save the sheet as CSV, and read that")]
    Workbook,
    /// No member of the archive fits.
    #[error("no member fits `{wanted}`; the archive holds: {members}")]
    NoMember {
        /// Name or pattern asked for.
        wanted: String,
        /// The first names in the archive.
        members: String,
    },
    /// A zip archive of several members without a choice.
    #[error(
        "the archive holds several files ({members}); choose one by its name, or by a pattern with `*` \
         (--member of the command lao)"
    )]
    ManyMembers {
        /// The first names in the archive.
        members: String,
    },
}

/// Returns a value as it appears in a message: lossy text, cut to a readable length.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let head = &bytes[..bytes.len().min(LONGEST)];
    let mut text = String::from_utf8_lossy(head).escape_debug().to_string();
    if bytes.len() > LONGEST {
        text.push_str("...");
    }
    text
}

/// Returns the first bytes of a binary file, for messages.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    if pairs.is_empty() { "(none)".to_owned() } else { pairs.join(" ") }
}
