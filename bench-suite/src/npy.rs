//! A writer of NPY files, in which the peers in Python get their data.

use anyhow::{Context as _, ensure};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// The header's length is padded to a multiple of this, as the format asks.
const ALIGNMENT: usize = 64;

/// Writes f64 values: a vector, or a matrix whose columns follow one another.
///
/// # Errors
/// When the shape is not that of the values, or the file cannot be written.
pub fn write(path: &Path, shape: &[usize], values: &[f64]) -> anyhow::Result<()> {
    let shown = || format!("cannot write {}", path.display());
    let size = shape.iter().try_fold(1_usize, |size, extent| size.checked_mul(*extent));
    ensure!(size == Some(values.len()), "{}: {} values are not of shape {shape:?}", shown(), values.len());
    let extents: Vec<String> = shape.iter().map(|extent| format!("{extent},")).collect();
    let mut header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}), }}", extents.join(" "));
    // The magic, the version and the length of the header take 10 bytes, and a line end follows the header.
    let padding = (ALIGNMENT - (header.len() + 11) % ALIGNMENT) % ALIGNMENT;
    header += &" ".repeat(padding);
    header.push('\n');
    let length = u16::try_from(header.len()).with_context(shown)?;
    let mut file = BufWriter::new(File::create(path).with_context(shown)?);
    file.write_all(b"\x93NUMPY\x01\x00").with_context(shown)?;
    file.write_all(&length.to_le_bytes()).with_context(shown)?;
    file.write_all(header.as_bytes()).with_context(shown)?;
    for value in values {
        file.write_all(&value.to_le_bytes()).with_context(shown)?;
    }
    file.flush().with_context(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_datasets::format::Opening;
    use lao_datasets::format::npy::read_npy;

    #[test]
    fn a_matrix_is_read_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let values = [1.0, -2.5, 3.0, 0.0, f64::MIN_POSITIVE, 1e300];
        write(&path, &[2, 3], &values).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes.len() - 8 * values.len()) % ALIGNMENT, 0);
        let read = read_npy(&path, &Opening::default()).unwrap();
        assert_eq!((read.shape, read.values), (vec![2, 3], values.to_vec()));
        assert!(read.fortran_order);
    }

    #[test]
    fn a_shape_of_other_values_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(&folder.path().join("x.npy"), &[2, 2], &[1.0; 3]).unwrap_err().to_string();
        assert!(error.contains("x.npy") && error.contains("3 values"), "{error}");
    }
}
