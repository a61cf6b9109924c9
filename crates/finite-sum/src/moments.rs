//! Mean and standard deviation of each column.
//!
//! Dense values are read at memory speed, on several threads. The order in which a column is added up depends
//! on the layout alone.

use lao_kernels::{Compressed, Element};
use rayon::prelude::*;

/// Columns whose sums a thread makes at once, where values are stored by rows.
const STRIPE: usize = 4096;
/// Values of a column that are added up beside one another.
const PARTS: usize = 8;

/// What the columns of a matrix have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub means: Vec<f64>,
    /// Standard deviations, with the divisor n; exactly 0 where all values are equal, whatever the rounding
    /// of the mean.
    pub scales: Vec<f64>,
}

impl Moments {
    fn zeros(dim: usize) -> Self {
        Moments { means: vec![0.0; dim], scales: vec![0.0; dim] }
    }
}

/// Returns a power of two by which values are multiplied before they are added up to their mean, which is
/// exact, and keeps the sum of as many finite values finite.
fn unit(rows: usize) -> f64 {
    1.0 / rows.next_power_of_two() as f64
}

/// The moments of dense columns, one after the other.
pub(crate) fn columns<T: Element>(values: &[T], rows: usize, dim: usize) -> Moments {
    if rows == 0 {
        return Moments::zeros(dim);
    }
    let (n, unit) = (rows as f64, unit(rows));
    let pairs = values.par_chunks_exact(rows).map(|column| {
        let mean = sum(column, |value| value * unit) / (n * unit);
        let varies = column.iter().any(|value| value.to_f64() != column[0].to_f64());
        let squares = sum(column, |value| (value - mean) * (value - mean));
        (mean, if varies { (squares / n).sqrt() } else { 0.0 })
    });
    let (means, scales) = pairs.unzip();
    Moments { means, scales }
}

/// Adds up a function of the values in `PARTS` parts.
fn sum<T: Element>(column: &[T], of: impl Fn(f64) -> f64) -> f64 {
    let (chunks, tail) = column.as_chunks::<PARTS>();
    let mut parts = [0.0; PARTS];
    for chunk in chunks {
        for (part, value) in parts.iter_mut().zip(chunk) {
            *part += of(value.to_f64());
        }
    }
    for (part, value) in parts.iter_mut().zip(tail) {
        *part += of(value.to_f64());
    }
    parts.iter().sum()
}

/// The moments of dense rows, one after the other.
pub(crate) fn rows<T: Element>(values: &[T], rows: usize, dim: usize) -> Moments {
    let mut moments = Moments::zeros(dim);
    if rows == 0 {
        return moments;
    }
    let (n, unit) = (rows as f64, unit(rows));
    let Moments { means, scales } = &mut moments;
    let stripes = means.par_chunks_mut(STRIPE).zip(scales.par_chunks_mut(STRIPE)).enumerate();
    stripes.for_each(|(stripe, (means, scales))| {
        let (begin, width) = (stripe * STRIPE, means.len());
        let row = |i: usize| &values[i * dim + begin..][..width];
        add_rows(rows, row, means, |_, value| value * unit);
        means.iter_mut().for_each(|mean| *mean /= n * unit);
        let means = &*means;
        add_rows(rows, row, scales, |c, value| (value - means[c]) * (value - means[c]));
        for (c, scale) in scales.iter_mut().enumerate() {
            let varies = (1..rows).any(|i| row(i)[c].to_f64() != row(0)[c].to_f64());
            *scale = if varies { (*scale / n).sqrt() } else { 0.0 };
        }
    });
    moments
}

/// Adds a function of all values to the sums of their columns; several rows at once, so that a sum is read
/// and written once for all of them.
fn add_rows<'a, T: Element>(
    rows: usize,
    row: impl Fn(usize) -> &'a [T],
    sums: &mut [f64],
    of: impl Fn(usize, f64) -> f64,
) {
    let width = sums.len();
    for begin in (0..rows).step_by(PARTS) {
        if begin + PARTS <= rows {
            let some: [&[T]; PARTS] = std::array::from_fn(|k| &row(begin + k)[..width]);
            for (c, sum) in sums.iter_mut().enumerate() {
                let [a, b, x, y, p, q, u, v] = some.map(|row| of(c, row[c].to_f64()));
                *sum += ((a + b) + (x + y)) + ((p + q) + (u + v));
            }
        } else {
            for i in begin..rows {
                sums.iter_mut()
                    .zip(row(i))
                    .enumerate()
                    .for_each(|(c, (sum, value))| *sum += of(c, value.to_f64()));
            }
        }
    }
}

/// The moments of sparse rows.
pub(crate) fn compressed_rows<T: Element>(table: &Compressed<T>) -> Moments {
    let (rows, dim) = (table.lines(), table.width());
    let mut moments = Moments::zeros(dim);
    if rows == 0 {
        return moments;
    }
    let (n, unit) = (rows as f64, unit(rows));
    let Moments { means, scales } = &mut moments;
    let (mut stored, mut first, mut varies) = (vec![0_usize; dim], vec![0.0; dim], vec![false; dim]);
    let entries = || (0..rows).flat_map(|i| table.line(i).0.iter().zip(table.line(i).1));
    for (&j, value) in entries() {
        let (j, value) = (j as usize, value.to_f64());
        means[j] += value * unit;
        if stored[j] == 0 {
            first[j] = value;
        }
        varies[j] |= value != first[j];
        stored[j] += 1;
    }
    means.iter_mut().for_each(|mean| *mean /= n * unit);
    for (&j, value) in entries() {
        let of_mean = value.to_f64() - means[j as usize];
        scales[j as usize] += of_mean * of_mean;
    }
    for j in 0..dim {
        let zeros = (rows - stored[j]) as f64;
        let constant = stored[j] == rows && !varies[j];
        scales[j] = if constant { 0.0 } else { ((scales[j] + zeros * means[j] * means[j]) / n).sqrt() };
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of numbers far from zero, a constant column among them.
    fn table(rows: usize, dim: usize) -> Vec<f64> {
        let value = |i: usize, j: usize| match j {
            3 => 0.1,
            _ => 1e3 + ((i * 7919 + j * 104_729) % 1009) as f64 / 97.0,
        };
        (0..rows).flat_map(|i| (0..dim).map(move |j| value(i, j))).collect()
    }

    #[test]
    fn all_layouts_have_the_moments_of_the_formula() {
        for (n, dim) in [(1, 5), (2, 4), (7, 130), (100, 65), (1003, 7)] {
            let by_rows = table(n, dim);
            let by_columns: Vec<f64> = (0..dim)
                .flat_map(|j| (0..n).map(move |i| (i, j)))
                .map(|(i, j)| by_rows[i * dim + j])
                .collect();
            let dense = rows(&by_rows, n, dim);
            let columns = columns(&by_columns, n, dim);
            let begins = (0..=n).map(|i| i * dim).collect();
            let indices = (0..n).flat_map(|_| 0..dim as u32).collect();
            let sparse = compressed_rows(&Compressed::new(dim, begins, indices, by_rows.clone()).unwrap());
            for j in 0..dim {
                let column = &by_columns[j * n..][..n];
                let mean = column.iter().sum::<f64>() / n as f64;
                let square = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
                for found in [&dense, &columns, &sparse] {
                    assert!((found.means[j] - mean).abs() < 1e-12 * mean, "{n} x {dim}, column {j}");
                    assert!((found.scales[j] - square.sqrt()).abs() < 1e-9, "{n} x {dim}, column {j}");
                    assert_eq!(found.scales[j] == 0.0, j == 3 || n == 1, "{n} x {dim}, column {j}");
                }
            }
        }
    }

    #[test]
    fn entries_that_are_not_stored_are_zeros() {
        let table = Compressed::new(2, vec![0, 1, 1, 2, 3], vec![0, 0, 1], vec![2.0, 4.0, 8.0]).unwrap();
        let found = compressed_rows(&table);
        assert_eq!(found.means, [1.5, 2.0]);
        assert_eq!(found.scales, [2.75_f64.sqrt(), 12.0_f64.sqrt()]);
        assert_eq!(columns::<f64>(&[], 0, 2), Moments::zeros(2));
    }

    #[test]
    fn the_mean_of_large_numbers_is_finite() {
        let values = [1e308; 20];
        let sparse = Compressed::new(1, (0..=20).collect(), vec![0; 20], values.to_vec()).unwrap();
        for found in [columns(&values, 20, 1), rows(&values, 20, 1), compressed_rows(&sparse)] {
            assert!((found.means[0] / 1e308 - 1.0).abs() < 1e-12 && found.scales[0] == 0.0, "{found:?}");
        }
    }
}
