//! Passes over the rows of a finite sum, in each layout: margins, slopes, and sums of slope times row.
//!
//! Columns are independent of each other, so that passes over columns use all threads of the pool. One thread
//! computes each sum, in the order of the rows, whatever the number of threads. Where margins of dense rows
//! are wanted without sums, they use all threads, too, and one thread computes each margin, in the order of
//! the support.

use lao_kernels::{
    Compressed, Element, ROW_TILE, SparseVector, TILE, add_columns, axpy_column, gather_dot, gradient_block,
    row_gather_dot, scatter_axpy,
};
use rayon::prelude::*;
use std::ops::Range;

/// The number of columns that a thread takes at a time.
pub(crate) const COLUMNS: usize = 64;

/// The number of entries above which several threads are faster than one.
pub(crate) const PARALLEL: usize = 1 << 19;

/// The least and most columns of dense rows that a thread takes at a time: a row contributes a run of many
/// cache lines, which the processor fetches ahead, and the sums stay in the second-level cache.
const STRIPES: [usize; 2] = [1 << 8, 1 << 14];

/// The count of numbers of a row that the memory delivers together: as many are read for one of them.
const LINE: usize = 8;

/// The number of entries, read for the margins of rows, above which several threads are faster than one. It
/// is smaller than [`PARALLEL`], since each of these entries is at a scattered place.
const GATHERS: usize = 1 << 16;

/// The input and output of a sweep.
pub(crate) struct Pass<'a> {
    /// One sparse vector per output.
    pub model: &'a [SparseVector],
    /// The same vectors, dense.
    pub weights: &'a [Vec<f64>],
    /// The numbers that are added to the margins, one per output.
    pub shift: &'a [f64],
    /// The function that receives a row's number and margins, which it may replace by slopes.
    pub slope: &'a mut dyn FnMut(usize, &mut [f64]),
    /// One dense vector per output, to which slope times row is added; `None` if no sums are wanted.
    pub sums: &'a mut [Vec<f64>],
    /// A buffer for margins.
    pub tile: &'a mut Vec<f64>,
    /// A buffer for the margins of one row.
    pub row: &'a mut Vec<f64>,
}

/// Passes over dense columns of `n` values, tile by tile, so that the slopes of a tile stay in the
/// first-level cache while the columns are read.
pub(crate) fn columns<T: Element>(values: &[T], n: usize, dim: usize, pass: Pass<'_>) {
    let Pass { model, shift, slope, sums, tile: slopes, row, .. } = pass;
    let column = |j: usize, rows: Range<usize>| &values[j * n..][rows];
    slopes.clear();
    for (x, &shift) in model.iter().zip(shift) {
        let at = slopes.len();
        slopes.resize(at + n, shift);
        for rows in tiles(n) {
            let columns = x.view().iter().map(|(j, weight)| (column(j as usize, rows.clone()), weight));
            add_columns(columns, &mut slopes[at..][rows.clone()]);
        }
    }
    slopes_of_tile(slopes, n, model.len(), row, 0, slope);
    let add = |first: usize, sum: &mut [f64], slopes: &[f64], rows: Range<usize>| {
        let columns = (first..first + sum.len()).map(|j| column(j, rows.clone()));
        gradient_block(columns, &slopes[rows.clone()], sum);
    };
    if let [sum] = sums {
        each_chunk(sum, width_of_chunk(n * dim), |first, sum| {
            tiles(n).for_each(|rows| add(first, sum, slopes, rows));
        });
        return;
    }
    // Several sums read a group of columns while it is in a cache.
    let mut groups: Vec<Vec<&mut [f64]>> = Vec::new();
    groups.resize_with(dim.div_ceil(COLUMNS), Vec::new);
    for sum in sums.iter_mut() {
        groups.iter_mut().zip(sum.chunks_mut(COLUMNS)).for_each(|(group, sum)| group.push(sum));
    }
    let add_group = |(group, sums): (usize, Vec<&mut [f64]>)| {
        for (sum, slopes) in sums.into_iter().zip(slopes.chunks_exact(n.max(1))) {
            tiles(n).for_each(|rows| add(group * COLUMNS, sum, slopes, rows));
        }
    };
    match width_of_chunk(n * dim) {
        None => groups.into_iter().enumerate().for_each(add_group),
        Some(_) => groups.into_par_iter().enumerate().for_each(add_group),
    }
}

fn tiles(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(TILE).map(move |start| start..n.min(start + TILE))
}

/// Calls `fill` for each group of `width` columns, with the group's first column and its sums; all threads
/// take part. Without a width, all columns are one group.
fn each_chunk(sums: &mut [f64], width: Option<usize>, fill: impl Fn(usize, &mut [f64]) + Sync) {
    let Some(width) = width else { return fill(0, sums) };
    let chunks = sums.par_chunks_mut(width).enumerate();
    chunks.for_each(|(chunk, sums)| fill(chunk * width, sums));
}

/// Returns the width of a group of columns, if there are enough entries for several threads.
fn width_of_chunk(entries: usize) -> Option<usize> {
    (entries >= PARALLEL).then_some(COLUMNS)
}

/// Passes over some rows of dense columns of `n` values.
pub(crate) fn some_of_columns<T: Element>(values: &[T], n: usize, list: &[u32], pass: Pass<'_>) {
    let Pass { model, shift, slope, sums, tile, row, .. } = pass;
    let column = |j: usize| &values[j * n..][..n];
    tile.clear();
    for (x, &shift) in model.iter().zip(shift) {
        let at = tile.len();
        tile.resize(at + list.len(), shift);
        for (j, weight) in x.view().iter() {
            let column = column(j as usize);
            for (margin, &i) in tile[at..].iter_mut().zip(list) {
                *margin += weight * column[i as usize].to_f64();
            }
        }
    }
    row.resize(model.len(), 0.0);
    for (place, &i) in list.iter().enumerate() {
        turn(tile, list.len(), place, row, |row| slope(i as usize, row));
    }
    for (sum, slopes) in sums.iter_mut().zip(tile.chunks_exact(list.len().max(1))) {
        for (j, sum) in sum.iter_mut().enumerate() {
            *sum += gather_dot(list, slopes, column(j));
        }
    }
}

/// Passes over dense rows. Where many numbers are summed for a model with few coefficients, several threads
/// divide the columns between them, after all slopes: computing the margins has read a few numbers of each
/// row. Elsewhere one thread takes a tile of rows at a time, which stays in a cache from its margins to its
/// sums. Either way each sum is in the order of the rows.
///
/// Without sums, the margins of all rows are computed first, on all threads if there are enough entries.
pub(crate) fn rows<T: Element>(values: &[T], n: usize, dim: usize, pass: Pass<'_>) {
    let Pass { model, shift, slope, sums, tile, row, .. } = pass;
    let read: usize = model.iter().map(SparseVector::len).sum();
    let threads = rayon::current_num_threads();
    let divide = n * dim >= PARALLEL && LINE * read <= dim && threads > 1;
    let [least, most] = STRIPES;
    let stripe = divide.then(|| dim.div_ceil(threads).clamp(least, most));
    let band = if sums.is_empty() || divide { n } else { ROW_TILE };
    for start in (0..n).step_by(band.max(1)) {
        let size = band.min(n - start);
        let rows = &values[start * dim..][..size * dim];
        tile.resize(size * model.len(), 0.0);
        for ((x, &shift), margins) in model.iter().zip(shift).zip(tile.chunks_exact_mut(size)) {
            let labels = [-shift; ROW_TILE];
            let fill = |(first, margins): (usize, &mut [f64])| {
                let rows = &rows[first * ROW_TILE * dim..][..margins.len() * dim];
                row_gather_dot(rows, dim, x.indices(), x.values(), &labels[..margins.len()], margins);
            };
            if size * x.len() < GATHERS {
                margins.chunks_mut(ROW_TILE).enumerate().for_each(fill);
            } else {
                margins.par_chunks_mut(ROW_TILE).enumerate().for_each(fill);
            }
        }
        slopes_of_tile(tile, size, model.len(), row, start, slope);
        for (sum, slopes) in sums.iter_mut().zip(tile.chunks_exact(size)) {
            each_chunk(sum, stripe, |first, sum| {
                let columns = first..first + sum.len();
                let rows = rows.chunks_exact(dim.max(1)).map(|row| &row[columns.clone()]);
                add_columns(rows.zip(slopes.iter().copied()), sum);
            });
        }
    }
}

/// Passes over some dense rows.
pub(crate) fn some_rows<T: Element>(values: &[T], dim: usize, list: &[u32], pass: Pass<'_>) {
    let Pass { model, shift, slope, sums, tile, .. } = pass;
    for &i in list {
        let row = &values[i as usize * dim..][..dim];
        tile.clear();
        tile.extend(
            model.iter().zip(shift).map(|(x, shift)| gather_dot(x.indices(), x.values(), row) + shift),
        );
        slope(i as usize, tile);
        sums.iter_mut().zip(&*tile).for_each(|(sum, &slope)| axpy_column(sum, row, slope));
    }
}

/// Passes over compressed rows one by one, so that a row is read from memory once for both its products.
pub(crate) fn compressed_rows<T: Element>(
    rows: &Compressed<T>,
    list: impl Iterator<Item = usize>,
    pass: Pass<'_>,
) {
    let Pass { weights, shift, slope, sums, tile, .. } = pass;
    if let ([weights], [shift]) = (weights, shift) {
        for i in list {
            let (indices, values) = rows.line(i);
            let mut margin = gather_dot(indices, values, weights) + shift;
            slope(i, std::slice::from_mut(&mut margin));
            if let [sum] = sums {
                scatter_axpy(sum, indices, values, margin);
            }
        }
        return;
    }
    for i in list {
        let (indices, values) = rows.line(i);
        tile.clear();
        tile.extend(weights.iter().zip(shift).map(|(w, shift)| gather_dot(indices, values, w) + shift));
        slope(i, tile);
        sums.iter_mut().zip(&*tile).for_each(|(sum, &slope)| scatter_axpy(sum, indices, values, slope));
    }
}

/// Passes over compressed columns: computes the margins from the columns of the support alone, and then one
/// inner product per column.
pub(crate) fn compressed_columns<T: Element>(columns: &Compressed<T>, pass: Pass<'_>) {
    let Pass { model, shift, slope, sums, tile, row, .. } = pass;
    let size = columns.width();
    tile.clear();
    for (x, &shift) in model.iter().zip(shift) {
        let at = tile.len();
        tile.resize(at + size, shift);
        for (j, weight) in x.view().iter() {
            let (indices, values) = columns.line(j as usize);
            scatter_axpy(&mut tile[at..], indices, values, weight);
        }
    }
    slopes_of_tile(tile, size, model.len(), row, 0, slope);
    for (sum, slopes) in sums.iter_mut().zip(tile.chunks_exact(size.max(1))) {
        each_chunk(sum, width_of_chunk(columns.entries()), |first, sum| {
            for (j, sum) in sum.iter_mut().enumerate() {
                let (indices, values) = columns.line(first + j);
                *sum += gather_dot(indices, values, slopes);
            }
        });
    }
}

/// Replaces margins, stored output after output, by slopes.
fn slopes_of_tile(
    tile: &mut [f64],
    size: usize,
    outputs: usize,
    row: &mut Vec<f64>,
    start: usize,
    slope: &mut dyn FnMut(usize, &mut [f64]),
) {
    if outputs == 1 {
        tile.iter_mut().enumerate().for_each(|(i, margin)| slope(start + i, std::slice::from_mut(margin)));
        return;
    }
    row.resize(outputs, 0.0);
    for place in 0..size {
        turn(tile, size, place, row, |row| slope(start + place, row));
    }
}

/// Collects the numbers of one row from a tile, changes them, and writes them back.
fn turn(tile: &mut [f64], size: usize, place: usize, row: &mut [f64], change: impl FnOnce(&mut [f64])) {
    row.iter_mut().enumerate().for_each(|(l, value)| *value = tile[l * size + place]);
    change(row);
    row.iter().enumerate().for_each(|(l, &value)| tile[l * size + place] = value);
}
