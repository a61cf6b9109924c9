//! Mean and standard deviation of each column.
//!
//! Dense values are read once, block by block, at memory speed and on several threads: the moments of a block
//! come from two passes over it, which find it in the cache, and are merged with those of the values before.
//! The result depends on the layout alone, not on the number of threads.

use crate::design::{Design, Entries};
use lao_kernels::{Compressed, Element};
use rayon::prelude::*;

/// Values of a column in a block, where values are stored by columns.
const BLOCK: usize = 1024;
/// Rows in a block, where values are stored by rows; sums that are made beside one another elsewhere.
const PARTS: usize = 8;
/// The least and most columns of a thread's piece of the rows.
const STRIPES: [usize; 2] = [64, 1024];

/// What the columns of a matrix have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    /// Finite where all values are.
    pub means: Vec<f64>,
    /// Standard deviations, with the divisor n; exactly 0 where all values are equal, whatever the rounding
    /// of the mean.
    pub scales: Vec<f64>,
}

impl Moments {
    fn zeros(dim: usize) -> Self {
        Moments { means: vec![0.0; dim], scales: vec![0.0; dim] }
    }

    /// Returns the moments of the columns in `support` alone.
    pub fn restrict(&self, support: &[u32]) -> Self {
        let pick = |all: &[f64]| support.iter().map(|&j| all[j as usize]).collect();
        Moments { means: pick(&self.means), scales: pick(&self.scales) }
    }
}

/// Returns a power of two by which values are multiplied before they are added up to their mean, which is
/// exact, and keeps the sum of as many finite values finite.
fn unit(rows: usize) -> f64 {
    1.0 / rows.next_power_of_two() as f64
}

/// Mean of some values, and the sum of the squares of their differences from it.
#[derive(Clone, Copy, Default)]
struct Spread {
    mean: f64,
    squares: f64,
}

/// Merges the spread of some values with that of more (Chan, Golub and LeVeque, 1983).
#[derive(Clone, Copy)]
struct Merge {
    /// Twice the share of the new values.
    twice_share: f64,
    /// Twice the root of nm/(n + m), for n values and m new ones.
    twice_root: f64,
}

impl Merge {
    fn new(values: usize, more: usize) -> Merge {
        let (n, m) = (values as f64, more as f64);
        Merge { twice_share: 2.0 * m / (n + m), twice_root: 2.0 * (n * m / (n + m)).sqrt() }
    }

    #[inline(always)]
    fn add(self, so_far: Spread, more: Spread) -> Spread {
        // Half the difference of finite means is finite.
        let half = 0.5 * more.mean - 0.5 * so_far.mean;
        let between = half * self.twice_root;
        Spread {
            mean: so_far.mean + half * self.twice_share,
            squares: so_far.squares + more.squares + between * between,
        }
    }
}

/// The moments of dense columns, one after the other.
pub(crate) fn columns<T: Element>(values: &[T], rows: usize, dim: usize) -> Moments {
    if rows == 0 {
        return Moments::zeros(dim);
    }
    let pairs = values.par_chunks_exact(rows).map(|column| {
        let mut spread = Spread::default();
        for (index, block) in column.chunks(BLOCK).enumerate() {
            spread = Merge::new(index * BLOCK, block.len()).add(spread, of_block(block));
        }
        (spread.mean, (spread.squares / rows as f64).sqrt())
    });
    let (means, scales) = pairs.unzip();
    Moments { means, scales }
}

fn of_block<T: Element>(block: &[T]) -> Spread {
    let first = block[0].to_f64();
    if block.iter().all(|value| value.to_f64() == first) {
        return Spread { mean: first, squares: 0.0 };
    }
    let unit = unit(block.len());
    let mean = sum(block, |value| value * unit) / (block.len() as f64 * unit);
    Spread { mean, squares: sum(block, |value| (value - mean) * (value - mean)) }
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
    // Twice as many pieces as threads. A column's moments don't depend on its piece.
    let [least, most] = STRIPES;
    let stripe = (dim / (2 * rayon::current_num_threads())).clamp(least, most);
    let Moments { means, scales } = &mut moments;
    let stripes = means.par_chunks_mut(stripe).zip(scales.par_chunks_mut(stripe)).enumerate();
    stripes.for_each(|(index, (means, squares))| {
        let (begin, width) = (index * stripe, means.len());
        let row = |i: usize| &values[i * dim + begin..][..width];
        let whole = rows - rows % PARTS;
        for i in (0..whole).step_by(PARTS) {
            let block: [&[T]; PARTS] = std::array::from_fn(|k| row(i + k));
            add(means, squares, Merge::new(i, PARTS), |c| {
                let values = block.map(|row| row[c].to_f64());
                let mean = tree(values.map(|value| value * (1.0 / PARTS as f64)));
                Spread { mean, squares: tree(values.map(|value| (value - mean) * (value - mean))) }
            });
        }
        for i in whole..rows {
            let row = row(i);
            add(means, squares, Merge::new(i, 1), |c| Spread { mean: row[c].to_f64(), squares: 0.0 });
        }
        squares.iter_mut().for_each(|squares| *squares = (*squares / rows as f64).sqrt());
    });
    moments
}

/// Merges the spread of each column with that of more values.
#[inline(always)]
fn add(means: &mut [f64], squares: &mut [f64], merge: Merge, more: impl Fn(usize) -> Spread) {
    for (c, (mean, squares)) in means.iter_mut().zip(squares).enumerate() {
        let merged = merge.add(Spread { mean: *mean, squares: *squares }, more(c));
        (*mean, *squares) = (merged.mean, merged.squares);
    }
}

#[inline(always)]
fn tree([a, b, c, d, e, f, g, h]: [f64; PARTS]) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
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

/// The weighted moments of the columns; weights are 1 on average.
pub(crate) fn weighted(design: &dyn Design, weights: &[f64]) -> Moments {
    let n = weights.len() as f64;
    let (mut moments, mut scratch) = (Moments::zeros(design.dim()), Vec::new());
    let Moments { means, scales } = &mut moments;
    // The weight of the entries that are stored, and whether they differ.
    let (mut stored, mut first, mut varies) =
        (vec![0.0; design.dim()], vec![f64::NAN; design.dim()], vec![false; design.dim()]);
    let rows = || weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
    for (i, &weight) in rows() {
        each(design.row(i, &mut scratch), |j, value| {
            stored[j] += weight;
            means[j] += value * (weight / n);
            varies[j] |= value != first[j] && !first[j].is_nan();
            first[j] = value;
        });
    }
    for (i, &weight) in rows() {
        each(design.row(i, &mut scratch), |j, value| {
            let of_mean = value - means[j];
            scales[j] += weight * of_mean * of_mean;
        });
    }
    let all: f64 = weights.iter().sum();
    for j in 0..design.dim() {
        let zeros = all - stored[j];
        let is_full = zeros <= 1e-9 * all;
        if is_full && !varies[j] {
            (means[j], scales[j]) = (first[j], 0.0);
        } else {
            let of_zeros = if is_full { 0.0 } else { zeros * means[j] * means[j] };
            scales[j] = ((scales[j] + of_zeros) / n).sqrt();
        }
    }
    moments
}

/// Calls `f` with each stored entry of a row.
fn each(entries: Entries<'_>, mut f: impl FnMut(usize, f64)) {
    match entries {
        Entries::Dense(values) => values.iter().enumerate().for_each(|(j, value)| f(j, *value)),
        Entries::Sparse(indices, values) => {
            indices.iter().zip(values).for_each(|(&j, value)| f(j as usize, *value));
        }
    }
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
        for (n, dim) in [(1, 5), (2, 4), (7, 130), (100, 65), (1003, 7), (2500, 5)] {
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
    fn the_moments_of_rows_do_not_depend_on_the_threads() {
        let table = table(50, 700);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| rows(&table, 50, 700))
        };
        assert!([2, 3, 8].iter().all(|&threads| on(threads) == on(1)));
    }

    #[test]
    fn a_mean_is_finite_where_all_values_are() {
        for (n, dim) in [(5, 3), (1030, 2)] {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for at in [0, n * dim / 2, n * dim - 1] {
                    let mut values = table(n, dim);
                    values[at] = bad;
                    for found in [columns(&values, n, dim), rows(&values, n, dim)] {
                        let count = found.means.iter().filter(|mean| !mean.is_finite()).count();
                        assert_eq!(count, 1, "{bad} at {at} of {n} x {dim}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_mean_of_large_numbers_is_finite() {
        let values = [1e308; 20];
        let sparse = Compressed::new(1, (0..=20).collect(), vec![0; 20], values.to_vec()).unwrap();
        for found in [columns(&values, 20, 1), rows(&values, 20, 1), compressed_rows(&sparse)] {
            assert!((found.means[0] / 1e308 - 1.0).abs() < 1e-12 && found.scales[0] == 0.0, "{found:?}");
        }
        let signs: Vec<f64> = (0..20).map(|i| if i < 8 { f64::MAX } else { f64::MIN }).collect();
        for found in [columns(&signs, 20, 1), rows(&signs, 20, 1)] {
            assert!((found.means[0] / f64::MIN - 0.2).abs() < 1e-12, "{found:?}");
            assert_eq!(found.scales[0], f64::INFINITY, "{found:?}");
        }
    }
}
