//! Arrays of numbers as binary formats store them, and their conversion to tables.

use super::archive::{Opening, Part, open};
use super::error::{ArchiveFault, At, FormatError, Problem};
use super::table::{DenseTable, require_rows};
use std::io::{self, Read};
use std::path::Path;

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

    /// The number in the first `size()` bytes of `cell`, least significant byte first; the integer, if f64 cannot hold it.
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

/// The one stream of a binary file: binary members cannot be joined.
pub(crate) fn single(path: &Path, opening: &Opening) -> Result<Part, FormatError> {
    let mut parts = open(path, opening)?;
    match parts.len() {
        1 => Ok(parts.remove(0)),
        _ => {
            let members = parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ");
            let problem = Problem::Archive(ArchiveFault::ManyMembers { members });
            Err(FormatError::new(&path.display().to_string(), At::File, problem))
        }
    }
}

/// The next `N` bytes of a header, `offset` being where they start.
pub(crate) fn header_bytes<const N: usize>(
    input: &mut impl Read,
    file: &str,
    offset: u64,
) -> Result<[u8; N], FormatError> {
    let mut bytes = [0; N];
    let mut found = 0;
    while found < N {
        match input.read(&mut bytes[found..]) {
            Ok(0) => {
                let (expected, found) = (offset + N as u64, offset + found as u64);
                return Err(FormatError::new(file, At::Byte(found), Problem::Truncated { expected, found }));
            }
            Ok(count) => found += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(FormatError::io(file, At::Byte(offset), e)),
        }
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

/// Reads exactly the payload that the header announces. Memory grows with the bytes there are, never with the header's word.
pub(crate) fn read_payload(mut input: impl Read, file: &str, payload: Payload) -> Result<Array, FormatError> {
    let Payload { element, big_endian, shape, fortran_order, offset } = payload;
    let size = element.size();
    let fail = |at, problem| FormatError::new(file, at, problem);
    let bytes = shape.iter().try_fold(size as u64, |product, &extent| product.checked_mul(extent as u64));
    let expected = bytes.and_then(|bytes| bytes.checked_add(offset)).unwrap_or(u64::MAX);
    let mut raw = Vec::new();
    let taken = input.by_ref().take(expected - offset).read_to_end(&mut raw);
    let found = offset + raw.len() as u64;
    taken.map_err(|e| FormatError::io(file, At::Byte(found), e))?;
    if found < expected {
        return Err(fail(At::Byte(found), Problem::Truncated { expected, found }));
    }
    let beyond = input.read(&mut [0]).map_err(|e| FormatError::io(file, At::Byte(expected), e))?;
    if beyond > 0 {
        return Err(fail(At::Byte(expected), Problem::Trailing { expected }));
    }
    let mut values = Vec::with_capacity(raw.len() / size);
    for (k, bytes) in raw.chunks_exact(size).enumerate() {
        let mut cell = [0; 8];
        cell[..size].copy_from_slice(bytes);
        if big_endian {
            cell[..size].reverse();
        }
        let at = || At::Byte(offset + (k * size) as u64);
        let value = element.decode(cell).map_err(|value| fail(at(), Problem::Inexact { value }))?;
        if !value.is_finite() {
            let field = format!("number {k} of the array");
            return Err(fail(at(), Problem::NotFinite { field, value: value.to_string() }));
        }
        values.push(value);
    }
    Ok(Array { shape, values, fortran_order, file: file.to_owned() })
}

impl Array {
    /// A table whose rows run along the first axis; further axes are laid out one after the other. `labels` is an array
    /// of one axis.
    pub fn into_table(self, labels: Array) -> Result<DenseTable, FormatError> {
        let rows = self.shape.first().copied().unwrap_or(0);
        require_rows(rows, &self.file)?;
        let columns: usize = self.shape[1..].iter().product();
        let fail = |file: &str, problem| FormatError::new(file, At::File, problem);
        if columns == 0 {
            return Err(fail(&self.file, Problem::NoFeatures { columns }));
        }
        if labels.values.len() != rows {
            return Err(fail(&labels.file, Problem::LabelCount { labels: labels.values.len(), rows }));
        }
        if self.fortran_order && self.shape.len() > 2 {
            let value = format!("True, with {} axes", self.shape.len());
            let allowed = "Fortran order for one or two axes";
            return Err(fail(&self.file, Problem::Header { field: "fortran_order", value, allowed }));
        }
        let table = if self.fortran_order {
            DenseTable::from_columns(columns, self.values, labels.values)
        } else {
            DenseTable::from_rows(columns, &self.values, labels.values)
        };
        // `read_payload` has seen to it that shape and values agree.
        Ok(table.unwrap_or_default())
    }
}
