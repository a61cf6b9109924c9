//! Sparse matrices in compressed form, and their products with dense vectors.
//!
//! A matrix is a list of *lines*, each with the ascending places of its entries and their values: its rows
//! (CSR) or its columns (CSC). Both have the same code, and the functions mean:
//!
//! | product | compressed rows | compressed columns |
//! |---|---|---|
//! | [`Compressed::dots`] | `X w` | `X' r` |
//! | [`Compressed::combine`] | `X' r` | `X w` |
//!
//! Values are stored in single or double precision, and arithmetic is in double precision. Each sum has a
//! fixed order: within a line that of [`gather_dot`], and otherwise that of the lines.

use crate::dense::Element;
use crate::gather::{gather_dot, scatter_axpy};

/// A sparse matrix as compressed lines: rows for CSR, columns for CSC.
#[derive(Clone, Debug, PartialEq)]
pub struct Compressed<T> {
    width: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

/// The reason why parts are not a compressed matrix.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CompressedError {
    /// The number of values is not that of indices.
    #[error("{values} values for {indices} indices: give one value for each index")]
    Lengths {
        /// Number of indices.
        indices: usize,
        /// Number of values.
        values: usize,
    },
    /// The starts must begin with 0, never descend, and end with the number of entries.
    #[error(
        "starts[{place}] is {found}: starts must begin with 0, not descend, and end with the {entries} \
         entries"
    )]
    Boundary {
        /// Place in the list of starts.
        place: usize,
        /// The start at this place; 0 if there is none.
        found: usize,
        /// Number of entries.
        entries: usize,
    },
    /// The indices of a line must ascend strictly and lie below the width.
    #[error("line {line} names place {index}: places must ascend strictly and lie below {width}")]
    Entry {
        /// The line.
        line: usize,
        /// The offending index.
        index: u32,
        /// Places that a line has.
        width: usize,
    },
    /// A value is NaN or infinite.
    #[error("line {line}, place {index} holds {value}: values must be finite")]
    NotFinite {
        /// The line.
        line: usize,
        /// The place.
        index: u32,
        /// The value.
        value: f64,
    },
    /// A table must hold whole lines.
    #[error("{values} values do not make lines of {width}: give all values of each line, zeros included")]
    Ragged {
        /// Number of values.
        values: usize,
        /// Places that a line has.
        width: usize,
    },
    /// Indices are 32 bits wide.
    #[error("{size} rows or columns are too many: at most 2^32 are")]
    Size {
        /// The size asked for.
        size: usize,
    },
}

impl<T: Element> Compressed<T> {
    /// Returns the matrix whose line l has the entries `starts[l]..starts[l + 1]`, in places `0..width`.
    ///
    /// # Errors
    /// Fails when the parts do not fit together, or a value is not finite.
    pub fn new(
        width: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Compressed<T>, CompressedError> {
        let entries = indices.len();
        if values.len() != entries {
            return Err(CompressedError::Lengths { indices: entries, values: values.len() });
        }
        for size in [width, starts.len().saturating_sub(1)] {
            if size > 1 << 32 {
                return Err(CompressedError::Size { size });
            }
        }
        let found = |place: usize| starts.get(place).copied().unwrap_or(0);
        let boundary = |place: usize| CompressedError::Boundary { place, found: found(place), entries };
        if starts.is_empty() || starts[0] != 0 {
            return Err(boundary(0));
        }
        if let Some(line) = starts.windows(2).position(|pair| pair[0] > pair[1] || pair[1] > entries) {
            return Err(boundary(line + 1));
        }
        if found(starts.len() - 1) != entries {
            return Err(boundary(starts.len() - 1));
        }
        for (line, span) in starts.windows(2).enumerate() {
            let span = span[0]..span[1];
            let mut lowest = 0;
            for (&index, value) in indices[span.clone()].iter().zip(&values[span]) {
                if (index as usize) < lowest || index as usize >= width {
                    return Err(CompressedError::Entry { line, index, width });
                }
                if !value.to_f64().is_finite() {
                    return Err(CompressedError::NotFinite { line, index, value: value.to_f64() });
                }
                lowest = index as usize + 1;
            }
        }
        Ok(Compressed { width, starts, indices, values })
    }

    /// Returns the matrix of a dense table, given line after line; its zeros are not stored.
    ///
    /// # Errors
    /// Fails when `table` is not a whole number of lines of `width >= 1`, is too large, or has a value that
    /// is not finite.
    pub fn from_dense(width: usize, table: &[T]) -> Result<Compressed<T>, CompressedError> {
        if width == 0 || !table.len().is_multiple_of(width) {
            return Err(CompressedError::Ragged { values: table.len(), width });
        }
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for line in table.chunks(width) {
            for (place, &value) in (0..).zip(line).filter(|(_, value)| value.to_f64() != 0.0) {
                indices.push(place);
                values.push(value);
            }
            starts.push(indices.len());
        }
        Self::new(width, starts, indices, values)
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of places of a line.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Returns the places and values of line `line`.
    ///
    /// # Panics
    /// Panics if there is no such line, as indexing does.
    pub fn line(&self, line: usize) -> (&[u32], &[T]) {
        let span = self.starts[line]..self.starts[line + 1];
        (&self.indices[span.clone()], &self.values[span])
    }

    /// Computes `out[l] <- line l . dense`.
    ///
    /// # Panics
    /// Panics if `dense` is shorter than [`width`](Self::width).
    pub fn dots(&self, dense: &[f64], out: &mut [f64]) {
        debug_assert_eq!((dense.len(), out.len()), (self.width(), self.lines()));
        for (out, span) in out.iter_mut().zip(self.starts.windows(2)) {
            let span = span[0]..span[1];
            *out = gather_dot(&self.indices[span.clone()], &self.values[span], dense);
        }
    }

    /// Computes `out <- out + sum over l of weights[l] * line l`.
    ///
    /// # Panics
    /// Panics if `out` is shorter than [`width`](Self::width).
    pub fn combine(&self, weights: &[f64], out: &mut [f64]) {
        debug_assert_eq!((weights.len(), out.len()), (self.lines(), self.width()));
        for (&weight, span) in weights.iter().zip(self.starts.windows(2)) {
            let span = span[0]..span[1];
            scatter_axpy(out, &self.indices[span.clone()], &self.values[span], weight);
        }
    }

    /// Returns the lines restricted to the places in `chosen` (ascending, below the width), which are
    /// renumbered from zero.
    pub fn restrict(&self, chosen: &[u32]) -> Compressed<T> {
        let mut number = vec![u32::MAX; self.width];
        chosen.iter().zip(0..).for_each(|(&place, new)| number[place as usize] = new);
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for line in 0..self.lines() {
            let (places, entries) = self.line(line);
            for (&place, &value) in places.iter().zip(entries) {
                if number[place as usize] != u32::MAX {
                    indices.push(number[place as usize]);
                    values.push(value);
                }
            }
            starts.push(indices.len());
        }
        Compressed { width: chosen.len(), starts, indices, values }
    }

    /// Returns the same matrix in the other compressed form, with a line for each place of these lines.
    pub fn transpose(&self) -> Compressed<T> {
        let mut starts = vec![0; self.width + 1];
        for &index in &self.indices {
            starts[index as usize + 1] += 1;
        }
        for place in 0..self.width {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; self.entries()];
        let mut values = self.values.clone();
        for line in 0..self.lines() {
            let (places, entries) = self.line(line);
            for (&place, &value) in places.iter().zip(entries) {
                let at = &mut next[place as usize];
                indices[*at] = line as u32;
                values[*at] = value;
                *at += 1;
            }
        }
        Compressed { width: self.lines(), starts, indices, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A dense matrix, row by row, and the same compressed.
    fn matrix() -> impl Strategy<Value = (Vec<Vec<f64>>, Compressed<f64>)> {
        (0..8_usize, 1..40_usize).prop_flat_map(|(rows, width)| {
            let row = proptest::collection::vec(prop_oneof![3 => Just(0.0), 1 => -2.0..2.0], width);
            proptest::collection::vec(row, rows)
                .prop_map(move |rows| (rows.clone(), compressed(&rows, width)))
        })
    }

    fn compressed(rows: &[Vec<f64>], width: usize) -> Compressed<f64> {
        Compressed::from_dense(width, &rows.concat()).unwrap()
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e3 * f64::EPSILON)
    }

    proptest! {
        #[test]
        fn products_agree_with_dense_loops((rows, matrix) in matrix(), seed in -2.0..2.0) {
            let w: Vec<f64> = (0..matrix.width()).map(|j| seed + j as f64 / 50.0).collect();
            let r: Vec<f64> = (0..matrix.lines()).map(|i| seed - i as f64 / 10.0).collect();
            let naive_w: Vec<f64> =
                rows.iter().map(|row| row.iter().zip(&w).map(|(x, w)| x * w).sum()).collect();
            let naive_r: Vec<f64> =
                (0..w.len()).map(|j| rows.iter().zip(&r).map(|(row, r)| row[j] * r).sum()).collect();

            let (mut xw, mut xr) = (vec![f64::NAN; r.len()], vec![0.0; w.len()]);
            matrix.dots(&w, &mut xw);
            matrix.combine(&r, &mut xr);
            prop_assert!(close(&xw, &naive_w) && close(&xr, &naive_r));

            let columns = matrix.transpose();
            let (mut xw, mut xr) = (vec![0.0; r.len()], vec![f64::NAN; w.len()]);
            columns.combine(&w, &mut xw);
            columns.dots(&r, &mut xr);
            prop_assert!(close(&xw, &naive_w) && close(&xr, &naive_r));
        }

        #[test]
        fn restricting_keeps_the_chosen_columns((rows, matrix) in matrix(), skip in 1..4_usize) {
            let chosen: Vec<u32> = (0..matrix.width() as u32).step_by(skip).collect();
            let kept: Vec<Vec<f64>> =
                rows.iter().map(|row| chosen.iter().map(|&j| row[j as usize]).collect()).collect();
            prop_assert_eq!(matrix.restrict(&chosen), compressed(&kept, chosen.len()));
        }

        #[test]
        fn transposing_twice_gives_the_matrix_back((_, matrix) in matrix()) {
            prop_assert_eq!(matrix.transpose().transpose(), matrix);
        }
    }

    #[test]
    fn a_table_without_its_zeros_is_the_parts_by_hand() {
        let by_hand = Compressed::new(3, vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, -3.0]).unwrap();
        let table = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, -3.0, 0.0];
        assert_eq!(Compressed::from_dense(3, &table), Ok(by_hand));
        assert_eq!(Compressed::from_dense(2, &table), Err(CompressedError::Ragged { values: 9, width: 2 }));
        assert_eq!(Compressed::from_dense(0, &table), Err(CompressedError::Ragged { values: 9, width: 0 }));
    }

    #[test]
    fn bad_parts_are_refused_by_place() {
        let new = |starts: &[usize], indices: &[u32], values: &[f64]| {
            Compressed::new(4, starts.to_vec(), indices.to_vec(), values.to_vec()).unwrap_err()
        };
        assert_eq!(new(&[0, 1], &[1], &[]), CompressedError::Lengths { indices: 1, values: 0 });
        assert_eq!(new(&[], &[], &[]), CompressedError::Boundary { place: 0, found: 0, entries: 0 });
        assert_eq!(
            new(&[0, 2, 1], &[1], &[1.0]),
            CompressedError::Boundary { place: 1, found: 2, entries: 1 }
        );
        assert_eq!(new(&[0, 0], &[1], &[1.0]), CompressedError::Boundary { place: 1, found: 0, entries: 1 });
        assert_eq!(new(&[0, 2], &[1, 1], &[1.0; 2]), CompressedError::Entry { line: 0, index: 1, width: 4 });
        assert_eq!(new(&[0, 1], &[4], &[1.0]), CompressedError::Entry { line: 0, index: 4, width: 4 });
        assert!(matches!(new(&[0, 1], &[3], &[f64::NAN]), CompressedError::NotFinite { index: 3, .. }));
    }
}
