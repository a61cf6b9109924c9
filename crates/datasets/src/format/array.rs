//! Arrays of numbers as binary formats store them, and their conversion to tables.
//!
//! The naive reader decodes number by number: it takes the bytes of a number, reverses them if need be,
//! matches the type, and refuses an integer that f64 cannot represent, or a number that is not finite. Four
//! departures are for speed:
//!
//! 1. bytes are decoded a chunk at a time, and the type is matched once per chunk;
//! 2. a chunk is checked as a whole. Only a chunk that fails is checked number by number, as the naive reader
//!    does, to name the first number that is refused;
//! 3. the capacity for values doubles, and becomes the final one as soon as a quarter of the values was read;
//! 4. an array is transposed in place, or not at all if it has the wanted order.

use super::archive::Part;
use super::csv::Column;
use super::error::{ArchiveFault, At, FormatError, ReadProblem};
use super::limits::MOST_VALUES;
use super::table::{DenseTable, require_rows, transpose};
use super::text::{read_full, refuse_nested, refuse_packed};
use lao_kernels::all_finite;
use std::io::Read;

/// The number of bytes that are decoded at a time: a multiple of the size of every number.
const CHUNK: usize = 1 << 16;

/// An array read from a binary file.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The extent of each axis.
    pub shape: Vec<usize>,
    /// The values in the file's order.
    pub values: Vec<f64>,
    /// Whether the first axis runs fastest in `values`.
    pub fortran_order: bool,
    /// The file, for messages.
    pub(crate) file: String,
}

/// The type of a stored number.
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
            if integer.unsigned_abs() <= u128::from(EXACT) { Ok(integer as f64) } else { Err(integer) }
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

    /// Appends all numbers of `bytes`; an integer that f64 cannot hold is rounded. Tells whether all are
    /// surely finite and exact.
    fn decode_all(self, bytes: &[u8], big_endian: bool, values: &mut Vec<f64>) -> bool {
        let start = values.len();
        // (1)
        match self {
            Element::U8 => append(bytes, big_endian, values, |cell| f64::from(u8::from_le_bytes(cell))),
            Element::I8 => append(bytes, big_endian, values, |cell| f64::from(i8::from_le_bytes(cell))),
            Element::U16 => append(bytes, big_endian, values, |cell| f64::from(u16::from_le_bytes(cell))),
            Element::I16 => append(bytes, big_endian, values, |cell| f64::from(i16::from_le_bytes(cell))),
            Element::U32 => append(bytes, big_endian, values, |cell| f64::from(u32::from_le_bytes(cell))),
            Element::I32 => append(bytes, big_endian, values, |cell| f64::from(i32::from_le_bytes(cell))),
            Element::U64 => append(bytes, big_endian, values, |cell| u64::from_le_bytes(cell) as f64),
            Element::I64 => append(bytes, big_endian, values, |cell| i64::from_le_bytes(cell) as f64),
            Element::F32 => append(bytes, big_endian, values, |cell| f64::from(f32::from_le_bytes(cell))),
            Element::F64 => append(bytes, big_endian, values, f64::from_le_bytes),
        }
        // (2)
        let values = &values[start..];
        match self {
            Element::F32 | Element::F64 => all_finite(values),
            // What is rounded is rounded to 2^53 or more.
            Element::U64 | Element::I64 => {
                values.iter().fold(true, |all, value| all & (value.abs() < EXACT as f64))
            }
            _ => true,
        }
    }
}

/// f64 holds every integer up to this magnitude.
const EXACT: u64 = 1 << 53;

/// Appends the numbers in cells of `N` bytes, each given to `number` with its least significant byte first.
#[inline(always)]
fn append<const N: usize>(
    bytes: &[u8],
    big_endian: bool,
    values: &mut Vec<f64>,
    number: impl Fn([u8; N]) -> f64,
) {
    let (cells, _) = bytes.as_chunks::<N>();
    if big_endian {
        values.extend(cells.iter().map(|cell| number(std::array::from_fn(|byte| cell[N - 1 - byte]))));
    } else {
        values.extend(cells.iter().map(|cell| number(*cell)));
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

/// Makes room for `more` values, of the `count` that there will be (3). The last copy is one of less than
/// half.
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
        let before = values.len();
        if !element.decode_all(&chunk[..found], big_endian, &mut values) {
            let culprit = first_culprit(element, &chunk[..found], big_endian, before);
            if let Some((number, problem)) = culprit {
                return Err(fail(At::Byte(offset + (number * size) as u64), problem));
            }
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

/// Returns the first number of `bytes` that no array may hold, and what is wrong with it. `before` numbers of
/// the array stand before `bytes`.
#[cold]
fn first_culprit(
    element: Element,
    bytes: &[u8],
    big_endian: bool,
    before: usize,
) -> Option<(usize, ReadProblem)> {
    let size = element.size();
    let problem = |(number, bytes): (usize, &[u8])| {
        let mut cell = [0; 8];
        cell[..size].copy_from_slice(bytes);
        if big_endian {
            cell[..size].reverse();
        }
        match element.decode(cell) {
            Err(value) => Some((number, ReadProblem::Inexact { value })),
            Ok(value) if value.is_finite() => None,
            Ok(value) => {
                let field = format!("number {number} of the array");
                Some((number, ReadProblem::NotFinite { field, value: value.to_string() }))
            }
        }
    };
    (before..).zip(bytes.chunks_exact(size)).find_map(problem)
}

impl Array {
    /// Returns a table whose rows run along the first axis; further axes are laid out one after the other.
    /// `labels` is an array of one axis.
    ///
    /// # Errors
    /// Fails when the array makes no table, or there are more or fewer labels than rows.
    pub fn into_table(self, labels: Array) -> Result<DenseTable, FormatError> {
        self.require_labels(&labels)?;
        let (_, columns, values) = self.laid_out(false)?;
        Ok(DenseTable::of_columns(columns, values, labels.values))
    }

    /// Returns a table like [`into_table`](Self::into_table), whose labels are one of the array's own
    /// columns.
    ///
    /// # Errors
    /// Fails when the array makes no table, or has no such column, or no other. A column of an array has no
    /// name.
    pub fn into_table_labeled_by(mut self, target: &Column) -> Result<DenseTable, FormatError> {
        let labels = self.take_labels(target)?;
        self.into_table(labels)
    }

    /// Removes one of the columns from the array, and returns it as an array of one axis. If there are three
    /// axes or more, all but the first are laid out as one.
    ///
    /// # Errors
    /// Fails in the cases of [`into_table_labeled_by`](Self::into_table_labeled_by); the array stays as it
    /// was.
    pub fn take_labels(&mut self, target: &Column) -> Result<Array, FormatError> {
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
        let Some(place) = place else { return fail(ReadProblem::ColumnIndex { index: asked, last }) };
        let labels: Vec<f64> = if self.fortran_order {
            self.values.drain(place * rows..(place + 1) * rows).collect()
        } else {
            let labels = self.values[place..].iter().step_by(columns).copied().collect();
            // What stands between two labels moves up, in place.
            let mut end = place;
            for row in 0..rows {
                let next = row * columns + place + 1;
                let between = next..(next + last).min(self.values.len());
                let size = between.len();
                self.values.copy_within(between, end);
                end += size;
            }
            self.values.truncate(end);
            labels
        };
        self.shape = vec![rows, last];
        Ok(Array { shape: vec![rows], values: labels, fortran_order: false, file: self.file.clone() })
    }

    /// Returns rows, columns and values, row after row (`by_rows`) or column after column. The values stay
    /// where they are if that is the array's own order, and are turned in place if it is not (4).
    pub(crate) fn laid_out(mut self, by_rows: bool) -> Result<(usize, usize, Vec<f64>), FormatError> {
        let (rows, columns) = self.table_shape()?;
        // Either order is the other one of the transposed array.
        match (by_rows, self.fortran_order) {
            (true, true) => transpose(&mut self.values, rows),
            (false, false) => transpose(&mut self.values, columns),
            _ => {}
        }
        Ok((rows, columns, self.values))
    }

    /// Refuses labels that are not one for each row.
    pub(crate) fn require_labels(&self, labels: &Array) -> Result<(), FormatError> {
        let (rows, _) = self.table_shape()?;
        if labels.values.len() == rows {
            return Ok(());
        }
        let problem = ReadProblem::LabelCount { labels: labels.values.len(), rows };
        Err(FormatError::new(&labels.file, At::File, problem))
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ELEMENTS: [Element; 10] = [
        Element::U8,
        Element::I8,
        Element::U16,
        Element::I16,
        Element::U32,
        Element::I32,
        Element::U64,
        Element::I64,
        Element::F32,
        Element::F64,
    ];

    proptest! {
        #[test]
        fn a_chunk_is_decoded_as_number_by_number(
            element in proptest::sample::select(&ELEMENTS[..]),
            big_endian in any::<bool>(),
            // Many integers near 2^53 and 0, and floats that are not finite, among others.
            cells in proptest::collection::vec(
                prop_oneof![
                    any::<u64>(),
                    (0..3_u64, any::<bool>()).prop_map(|(off, below)| {
                        if below { EXACT - off } else { (EXACT + off).wrapping_neg() }
                    }),
                    Just(f64::NAN.to_bits()),
                    Just(f64::NEG_INFINITY.to_bits()),
                    Just(u64::from(f32::INFINITY.to_bits())),
                    (-2.0..2.0_f64).prop_map(f64::to_bits),
                    0..300_u64,
                ],
                0..20,
            ),
        ) {
            let size = element.size();
            let mut expected = Vec::new();
            let (mut bytes, mut culprit) = (Vec::new(), None);
            for (at, cell) in cells.iter().enumerate() {
                let mut cell = cell.to_le_bytes();
                cell[size..].fill(0);
                let decoded = element.decode(cell);
                if culprit.is_none() && !decoded.is_ok_and(f64::is_finite) {
                    culprit = Some(at);
                }
                expected.extend(decoded.ok());
                if big_endian {
                    cell[..size].reverse();
                }
                bytes.extend_from_slice(&cell[..size]);
            }
            let mut values = vec![7.0];
            let sound = element.decode_all(&bytes, big_endian, &mut values);
            let found = first_culprit(element, &bytes, big_endian, 5).map(|(at, _)| at - 5);
            prop_assert_eq!(found, culprit);
            prop_assert!(!sound || culprit.is_none());
            if expected.len() == cells.len() {
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&values[1..]), bits(&expected));
            }
        }
    }
}
