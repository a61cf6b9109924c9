//! IDX, the format of MNIST: a magic number, the extent of each axis, and big-endian numbers.
//!
//! *Source*: Y. LeCun, C. Cortes and C. J. C. Burges, the MNIST page. The magic number is 0, 0, type, number
//! of axes.

use super::archive::{Opening, Part, open};
use super::array::{Array, Element, Payload, header_bytes, read_payload, single};
use super::error::{At, FormatError, ReadProblem, hex};
use std::io::Read;
use std::path::Path;

/// Reads an IDX stream, called `name` in messages.
pub fn read_idx_from(mut input: impl Read, name: &str) -> Result<Array, FormatError> {
    let magic: [u8; 4] = header_bytes(&mut input, name, 0)?;
    let element = match magic {
        [0, 0, 0x08, _] => Element::U8,
        [0, 0, 0x09, _] => Element::I8,
        [0, 0, 0x0b, _] => Element::I16,
        [0, 0, 0x0c, _] => Element::I32,
        [0, 0, 0x0d, _] => Element::F32,
        [0, 0, 0x0e, _] => Element::F64,
        _ => {
            let expected = "00 00, a type of 08, 09, 0b, 0c, 0d or 0e, and a number of axes";
            let problem = ReadProblem::Magic { format: "an IDX", expected, found: hex(&magic) };
            return Err(FormatError::new(name, At::Byte(0), problem));
        }
    };
    let axes = u64::from(magic[3]);
    if axes == 0 {
        let problem =
            ReadProblem::Header { field: "number of axes", value: "0".to_owned(), allowed: "1 to 255" };
        return Err(FormatError::new(name, At::Byte(3), problem));
    }
    let mut shape = Vec::new();
    for axis in 0..axes {
        shape.push(u32::from_be_bytes(header_bytes(&mut input, name, 4 + 4 * axis)?) as usize);
    }
    let offset = 4 + 4 * axes;
    read_payload(input, name, Payload { element, big_endian: true, shape, fortran_order: false, offset })
}

/// Reads an IDX file. [`Array::into_table`] makes a table of it.
///
/// # Errors
/// [`FormatError`] with the file, the byte and what is wrong there.
pub fn read_idx(path: &Path, opening: &Opening) -> Result<Array, FormatError> {
    read_parts(open(path, opening)?, &path.display().to_string())
}

/// Returns the same array from open streams; `file` is their source.
pub(crate) fn read_parts(parts: Vec<Part>, file: &str) -> Result<Array, FormatError> {
    let part = single(parts, file)?;
    let name = part.name.clone();
    read_idx_from(part.reader(), &name)
}
