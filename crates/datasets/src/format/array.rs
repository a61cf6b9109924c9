//! Arrays of numbers as binary formats store them, and their conversion to tables.

use super::archive::Part;
use super::csv::Column;
use super::error::{ArchiveFault, At, FormatError, ReadProblem};
use super::limits::MOST_VALUES;
use super::table::{DenseTable, require_rows};
use super::text::{read_full, refuse_nested, refuse_packed};
use std::io::Read;

/// Bytes decoded at a time; a multiple of the size of every number.
const CHUNK: usize = 1 << 16;

/// An array read from a binary file.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// The values in the file's order.
    pub values: Vec<f64>,
    /// Whether the first axis runs fastest in `values`.
    pub fortran_order: bool,
    /// The file, for messages.
    pub(crate) file: String,
}

/// Type of one stored number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Element {
    pub(crate) fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// Returns the number in the first `size()` bytes of `cell`, least significant byte first; the integer,
    /// if f64 cannot hold it.
    fn decode(self, cell: [u8; 8]) -> Result<f64, i128> {
        let raw = u64::from_le_bytes(cell);
        let exact = |integer: i128| {
            if integer.unsigned_abs() <= 1 << 53 { Ok(integer as f64) } else { Err(integer) }
        };
        match self {
            Element::U8 | Element::U16 | Element::U32 => Ok(raw as f64),
            Element::I8 => Ok(f64::from(raw as u8 as i8)),
            Element::I16 => Ok(f64::from(raw as u16 as i16)),
            Element::I32 => Ok(f64::from(raw as u32 as i32)),
            Element::U64 => exact(i128::from(raw)),
            Element::I64 => exact(i128::from(raw as i64)),
            Element::F32 => Ok(f64::from(f32::from_bits(raw as u32))),
            Element::F64 => Ok(f64::from_bits(raw)),
        }
    }
}

/// Returns the one stream of a binary file: binary members cannot be joined.
pub(crate) fn single(mut parts: Vec<Part>, file: &str) -> Result<Part, FormatError> {
    match parts.len() {
        1 => Ok(parts.remove(0)),
        _ => {
            let members = parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ");
            let problem = ReadProblem::Archive(ArchiveFault::ManyMembers { members });
            Err(FormatError::new(file, At::File, problem))
        }
    }
}

/// Returns the next `N` bytes of a header, `offset` being where they start.
pub(crate) fn header_bytes<const N: usize>(
    input: &mut impl Read,
    file: &str,
    offset: u64,
) -> Result<[u8; N], FormatError> {
    let mut bytes = [0; N];
    let found = read_full(input, &mut bytes).map_err(|e| FormatError::io(file, At::Byte(offset), e))?;
    if offset == 0 {
        // A packing inside a packing was not undone.
        let packed = refuse_packed(&bytes[..found]).and_then(|()| refuse_nested(&bytes[..found]));
        packed.map_err(|fault| FormatError::new(file, At::Byte(0), ReadProblem::Archive(fault)))?;
    }
    if found < N {
        let (expected, found) = (offset + N as u64, offset + found as u64);
        return Err(FormatError::new(file, At::Byte(found), ReadProblem::Truncated { expected, found }));
    }
    Ok(bytes)
}

/// What a header says about the numbers that follow it.
pub(crate) struct Payload {
    pub element: Element,
    pub big_endian: bool,
    pub shape: Vec<usize>,
    pub fortran_order: bool,
    /// Offset of the first number.
    pub offset: u64,
}

/// Makes room for `more` values, of the `count` that there will be. The room doubles, and is all that is
/// needed as soon as a quarter is there: the last copy is then one of less than half.
fn reserve(values: &mut Vec<f64>, more: usize, count: usize) {
    let (here, missing) = (values.len(), count - values.len());
    if values.capacity() - here < more {
        values.reserve_exact(if missing <= 3 * here { missing } else { more.max(here) });
    }
}

/// Reads exactly the payload that the header announces. Memory grows with the bytes there are, never with the
/// header's word, and a header that claims too much is refused before the first number.
pub(crate) fn read_payload(mut input: impl Read, file: &str, payload: Payload) -> Result<Array, FormatError> {
    let Payload { element, big_endian, shape, fortran_order, offset } = payload;
    let size = element.size();
    let fail = |at, problem| FormatError::new(file, at, problem);
    let claimed = shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent as u64));
    let count = match claimed {
        Some(count) if count <= MOST_VALUES => count,
        _ => {
            let claimed = claimed.map_or_else(|| "more than 2^64".to_owned(), |count| count.to_string());
            return Err(fail(At::Byte(offset), ReadProblem::TooManyValues { claimed, limit: MOST_VALUES }));
        }
    };
    let expected = offset + count * size as u64;
    let mut values = Vec::new();
    let mut chunk = vec![0; CHUNK];
    let mut at = offset;
    while at < expected {
        let wanted = (expected - at).min(CHUNK as u64) as usize;
        let found = read_full(&mut input, &mut chunk[..wanted]);
        let found = found.map_err(|e| FormatError::io(file, At::Byte(at), e))?;
        reserve(&mut values, found / size, count as usize);
        for bytes in chunk[..found].chunks_exact(size) {
            let mut cell = [0; 8];
            cell[..size].copy_from_slice(bytes);
            if big_endian {
                cell[..size].reverse();
            }
            let here = || At::Byte(offset + (values.len() * size) as u64);
            let value = element.decode(cell).map_err(|value| fail(here(), ReadProblem::Inexact { value }))?;
            if !value.is_finite() {
                let field = format!("number {} of the array", values.len());
                return Err(fail(here(), ReadProblem::NotFinite { field, value: value.to_string() }));
            }
            values.push(value);
        }
        at += found as u64;
        if found < wanted {
            return Err(fail(At::Byte(at), ReadProblem::Truncated { expected, found: at }));
        }
    }
    let beyond = read_full(&mut input, &mut [0]);
    if beyond.map_err(|e| FormatError::io(file, At::Byte(expected), e))? > 0 {
        return Err(fail(At::Byte(expected), ReadProblem::Trailing { expected }));
    }
    Ok(Array { shape, values, fortran_order, file: file.to_owned() })
}

impl Array {
    /// Makes a table whose rows run along the first axis; further axes are laid out one after the other.
    /// `labels` is an array of one axis.
    ///
    /// # Errors
    /// When the array makes no table, or there are more or fewer labels than rows.
    pub fn into_table(self, labels: Array) -> Result<DenseTable, FormatError> {
        let (rows, columns) = self.table_shape()?;
        if labels.values.len() != rows {
            let problem = ReadProblem::LabelCount { labels: labels.values.len(), rows };
            return Err(FormatError::new(&labels.file, At::File, problem));
        }
        Ok(self.with_labels(columns, labels.values))
    }

    /// Makes a table as [`into_table`](Self::into_table) does, whose labels are one of the array's own
    /// columns.
    ///
    /// # Errors
    /// When the array makes no table, or has no such column, or no other. A column of an array has no name.
    pub fn into_table_labeled_by(self, target: &Column) -> Result<DenseTable, FormatError> {
        let (rows, columns) = self.table_shape()?;
        let fail = |problem| Err(FormatError::new(&self.file, At::File, problem));
        let last = columns - 1;
        if last == 0 {
            return fail(ReadProblem::NoFeatures { columns });
        }
        let (asked, place) = match target {
            Column::Index(index) => (*index, Some(*index).filter(|index| *index <= last)),
            Column::FromEnd { last: back } => (*back, last.checked_sub(*back)),
            Column::Name(name) => return fail(ReadProblem::NoHeader { name: name.clone() }),
        };
        match place {
            Some(place) => Ok(self.with_labels(columns, vec![0.0; rows]).labeled_by(place)),
            None => fail(ReadProblem::ColumnIndex { index: asked, last }),
        }
    }

    /// Rows and columns of the table that the array makes: at least one of each.
    fn table_shape(&self) -> Result<(usize, usize), FormatError> {
        let fail = |problem| Err(FormatError::new(&self.file, At::File, problem));
        let (rows, axes) = self.shape.split_first().map_or((0, &[][..]), |(&rows, axes)| (rows, axes));
        require_rows(rows, &self.file)?;
        let columns = axes.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
        match columns {
            Some(columns) if columns.checked_mul(rows) == Some(self.values.len()) => {
                if columns == 0 {
                    return fail(ReadProblem::NoFeatures { columns });
                }
                if self.fortran_order && axes.len() > 1 {
                    let value = format!("True, with {} axes", self.shape.len());
                    let allowed = "Fortran order for one or two axes";
                    return fail(ReadProblem::Header { field: "fortran_order", value, allowed });
                }
                Ok((rows, columns))
            }
            _ => {
                let (values, shape) = (self.values.len(), format!("{:?}", self.shape));
                fail(ReadProblem::Shape { values, shape })
            }
        }
    }

    /// Returns the table of so many columns, whose shape has been checked, with these labels, one per row.
    fn with_labels(self, columns: usize, labels: Vec<f64>) -> DenseTable {
        if self.fortran_order {
            DenseTable::of_columns(columns, self.values, labels)
        } else {
            DenseTable::of_rows(columns, self.values, labels)
        }
    }
}
