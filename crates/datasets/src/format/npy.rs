//! NPY, numpy's format: versions 1 and 2, floats and integers, either byte order, C and Fortran order.
//!
//! *Source*: numpy, `numpy.lib.format`. The header is a Python dictionary of `descr`, `fortran_order` and
//! `shape`.

use super::archive::{Opening, Part, open};
use super::array::{Array, Element, Payload, header_bytes, read_payload, single};
use super::error::{At, FormatError, ReadProblem, hex, shown};
use super::text::read_full;
use std::io::Read;
use std::path::Path;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
const LONGEST_HEADER: u64 = 1 << 16;

/// Reads an NPY stream, called `name` in messages.
pub fn read_npy_from(mut input: impl Read, name: &str) -> Result<Array, FormatError> {
    let fail = |at, problem| FormatError::new(name, at, problem);
    let head: [u8; 8] = header_bytes(&mut input, name, 0)?;
    if !head.starts_with(MAGIC) {
        let problem =
            ReadProblem::Magic { format: "an NPY", expected: "93 4e 55 4d 50 59", found: hex(&head[..6]) };
        return Err(fail(At::Byte(0), problem));
    }
    let (length, start) = match head[6] {
        1 => (u64::from(u16::from_le_bytes(header_bytes(&mut input, name, 8)?)), 10),
        2 => (u64::from(u32::from_le_bytes(header_bytes(&mut input, name, 8)?)), 12),
        other => {
            let problem =
                ReadProblem::Header { field: "version", value: other.to_string(), allowed: "1 and 2" };
            return Err(fail(At::Byte(6), problem));
        }
    };
    if length > LONGEST_HEADER {
        let problem =
            ReadProblem::Header { field: "length", value: length.to_string(), allowed: "up to 65536 bytes" };
        return Err(fail(At::Byte(8), problem));
    }
    let mut text = vec![0; length as usize];
    let found = read_full(&mut input, &mut text).map_err(|e| FormatError::io(name, At::Byte(start), e))?;
    if (found as u64) < length {
        let (expected, found) = (start + length, start + found as u64);
        return Err(fail(At::Byte(found), ReadProblem::Truncated { expected, found }));
    }
    let header = Header::parse(&text).map_err(|problem| fail(At::Byte(start), problem))?;
    let Header { element, big_endian, fortran_order, shape } = header;
    read_payload(input, name, Payload { element, big_endian, shape, fortran_order, offset: start + length })
}

/// Reads an NPY file. [`Array::into_table`] makes a table of it.
///
/// # Errors
/// [`FormatError`] with the file, the byte and what is wrong there.
pub fn read_npy(path: &Path, opening: &Opening) -> Result<Array, FormatError> {
    read_parts(open(path, opening)?, &path.display().to_string())
}

/// Returns the same array from open streams; `file` is their source.
pub(crate) fn read_parts(parts: Vec<Part>, file: &str) -> Result<Array, FormatError> {
    let part = single(parts, file)?;
    let name = part.name.clone();
    read_npy_from(part.reader(), &name)
}

struct Header {
    element: Element,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &[u8]) -> Result<Self, ReadProblem> {
        let unsupported =
            |field, value: &[u8], allowed| ReadProblem::Header { field, value: shown(value), allowed };
        let dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
        let syntax = || unsupported("dictionary", text, dictionary);
        let mut rest = std::str::from_utf8(text).map_err(|_| syntax())?.trim();
        rest = rest.strip_prefix('{').and_then(|r| r.strip_suffix('}')).ok_or_else(syntax)?.trim();
        let (mut descr, mut order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest).ok_or_else(syntax)?;
            let value = after.trim_start().strip_prefix(':').ok_or_else(syntax)?.trim_start();
            let length = match value.bytes().next() {
                Some(b'(') => value.find(')').map(|at| at + 1),
                Some(b'\'' | b'"') => quoted(value).map(|(inner, _)| inner.len() + 2),
                _ => Some(value.find(',').unwrap_or(value.len())),
            };
            let (value, after) = value.split_at(length.ok_or_else(syntax)?);
            let slot = match key {
                "descr" => &mut descr,
                "fortran_order" => &mut order,
                "shape" => &mut shape,
                _ => return Err(unsupported("key", key.as_bytes(), "descr, fortran_order, shape")),
            };
            if slot.replace(value.trim()).is_some() {
                return Err(unsupported("key", key.as_bytes(), "each key once"));
            }
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(next) => next.trim_start(),
                None if after.is_empty() => after,
                None => return Err(syntax()),
            };
        }
        let (descr, order, shape) =
            (descr.ok_or_else(syntax)?, order.ok_or_else(syntax)?, shape.ok_or_else(syntax)?);
        let (element, big_endian) = quoted(descr).and_then(|(inner, _)| element(inner)).ok_or_else(|| {
            unsupported(
                "descr",
                descr.as_bytes(),
                "one of <, >, = or | and f4, f8, i1, i2, i4, i8, u1, u2, u4 or u8",
            )
        })?;
        let fortran_order = match order {
            "True" => true,
            "False" => false,
            _ => return Err(unsupported("fortran_order", order.as_bytes(), "True and False")),
        };
        let shape = extents(shape)
            .ok_or_else(|| unsupported("shape", shape.as_bytes(), "a tuple such as (3,) or (3, 4)"))?;
        Ok(Self { element, big_endian, fortran_order, shape })
    }
}

/// The text between the quotes at the start, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

fn element(descr: &str) -> Option<(Element, bool)> {
    let (order, kind) = (descr.chars().next()?, descr.get(1..)?);
    let element = match kind {
        "u1" => Element::U8,
        "i1" => Element::I8,
        "u2" => Element::U16,
        "i2" => Element::I16,
        "u4" => Element::U32,
        "i4" => Element::I32,
        "u8" => Element::U64,
        "i8" => Element::I64,
        "f4" => Element::F32,
        "f8" => Element::F64,
        _ => return None,
    };
    match order {
        '<' => Some((element, false)),
        '>' => Some((element, true)),
        '=' => Some((element, cfg!(target_endian = "big"))),
        '|' if element.size() == 1 => Some((element, false)),
        _ => None,
    }
}

/// Returns the extents of a tuple with at least one axis.
fn extents(tuple: &str) -> Option<Vec<usize>> {
    let inner = tuple.strip_prefix('(')?.strip_suffix(')')?.trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    inner.split(',').map(|extent| extent.trim().parse().ok()).collect()
}
