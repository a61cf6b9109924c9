//! Inner products of the columns of a support with each other and with the labels, in each layout.
//!
//! All functions add to their [`Products`].

use crate::sweep::PARALLEL;
use lao_kernels::{Compressed, Element, ROW_TILE, TILE, add_columns, gradient_block, scatter_axpy};
use rayon::prelude::*;

/// The sums: inner products of the columns of the support with each other (the lower triangle, row by row)
/// and with the labels.
pub(crate) struct Products<'a> {
    pub gram: &'a mut [f64],
    pub right: &'a mut [f64],
}

/// Buffers for inner products of columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct GramScratch {
    own: Vec<f64>,
    slots: Vec<u32>,
    places: Vec<u32>,
}

/// Returns the values in double precision: borrowed if they are stored in it, otherwise converted.
pub(crate) fn doubles<'a, T: Element>(values: &'a [T], scratch: &'a mut Vec<f64>) -> &'a [f64] {
    if let Some(values) = T::as_f64(values) {
        return values;
    }
    scratch.clear();
    scratch.extend(values.iter().map(|value| value.to_f64()));
    scratch
}

/// Adds the products of dense columns of `n` values. One thread computes each row of the Gram matrix.
pub(crate) fn columns<T: Element>(
    values: &[T],
    n: usize,
    support: &[u32],
    labels: &[f64],
    products: Products<'_>,
) {
    let Products { gram, right } = products;
    let size = support.len();
    let row = |(a, gram): (usize, &mut [f64])| {
        let mut wide = Vec::new();
        for start in (0..n).step_by(TILE) {
            let end = n.min(start + TILE);
            let column = |&j: &u32| &values[j as usize * n..][start..end];
            let own = doubles(column(&support[a]), &mut wide);
            gradient_block(support[..=a].iter().map(column), own, &mut gram[..=a]);
        }
    };
    if n * size * size < PARALLEL {
        gram.chunks_exact_mut(size.max(1)).enumerate().for_each(row);
    } else {
        gram.par_chunks_exact_mut(size).enumerate().for_each(row);
    }
    let column = |&j: &u32| &values[j as usize * n..][..n];
    gradient_block(support.iter().map(column), labels, right);
}

/// The count of numbers that are packed at a time, which stay in a cache whatever the size of the support.
const PACKED: usize = 1 << 17;

/// The number of rows of the Gram matrix that a thread takes at a time.
const GRAM_ROWS: usize = 4;

/// Adds the products of dense rows. The naive loop adds, row by row, the outer product of the row's numbers
/// on the support, and these numbers times the label. Here, too, each entry is a sum in the order of the
/// rows. Three departures are for speed:
///
/// 1. the numbers on the support are packed, a few rows of the examples to a thread, one attribute of these
///    rows after the other: the memory accesses are then equally spaced, and many proceed at once;
/// 2. each thread takes a few rows of the Gram matrix, and goes over all packed rows for them;
/// 3. four packed rows are added in one pass over a row of the matrix, and a tile of packed rows stays in the
///    first-level cache while the thread's rows of the matrix pass.
pub(crate) fn rows<T: Element>(
    values: &[T],
    dim: usize,
    support: &[u32],
    labels: &[f64],
    products: Products<'_>,
    GramScratch { own, .. }: &mut GramScratch,
) {
    let Products { gram, right } = products;
    let size = support.len();
    if size == 0 {
        return;
    }
    let is_parallel = labels.len() * size * size >= PARALLEL;
    let packed = (PACKED / size).next_multiple_of(ROW_TILE).max(ROW_TILE).min(labels.len().max(1));
    for (values, labels) in values.chunks(packed * dim).zip(labels.chunks(packed)) {
        // 1. Pack the numbers on the support.
        own.resize(labels.len() * size, 0.0);
        let pack = |(own, rows): (&mut [f64], &[T])| {
            for (place, &j) in support.iter().enumerate() {
                for (own, row) in own.chunks_exact_mut(size).zip(rows.chunks_exact(dim)) {
                    own[place] = row[j as usize].to_f64();
                }
            }
        };
        if is_parallel {
            own.par_chunks_mut(ROW_TILE * size).zip(values.par_chunks(ROW_TILE * dim)).for_each(pack);
        } else {
            own.chunks_mut(ROW_TILE * size).zip(values.chunks(ROW_TILE * dim)).for_each(pack);
        }
        // 2. Each thread takes a few rows of the Gram matrix.
        let add = |(group, gram): (usize, &mut [f64])| {
            for tile in own.chunks(ROW_TILE * size) {
                for (place, gram) in gram.chunks_exact_mut(size).enumerate() {
                    // 3. Four packed rows are added in one pass.
                    let a = group * GRAM_ROWS + place;
                    let rows = tile.chunks_exact(size).map(|row| (&row[..=a], row[a]));
                    add_columns(rows, &mut gram[..=a]);
                }
            }
        };
        if is_parallel {
            gram.par_chunks_mut(GRAM_ROWS * size).enumerate().for_each(add);
        } else {
            gram.chunks_mut(GRAM_ROWS * size).enumerate().for_each(add);
        }
        add_columns(own.chunks_exact(size).zip(labels.iter().copied()), right);
    }
}

/// Adds the products of compressed rows.
pub(crate) fn compressed_rows<T: Element>(
    rows: &Compressed<T>,
    support: &[u32],
    labels: &[f64],
    products: Products<'_>,
    GramScratch { own, slots, places }: &mut GramScratch,
) {
    let Products { gram, right } = products;
    let size = support.len();
    slots.clear();
    slots.resize(rows.width(), u32::MAX);
    support.iter().zip(0..).for_each(|(&j, slot)| slots[j as usize] = slot);
    for (i, label) in labels.iter().enumerate() {
        let (indices, values) = rows.line(i);
        places.clear();
        own.clear();
        for (&j, value) in indices.iter().zip(values) {
            let slot = slots[j as usize];
            if slot != u32::MAX {
                places.push(slot);
                own.push(value.to_f64());
            }
        }
        for (a, (&slot, &value)) in places.iter().zip(&*own).enumerate() {
            // Slots ascend with the attributes, so that these entries lie in the lower triangle.
            scatter_axpy(&mut gram[slot as usize * size..], &places[..=a], &own[..=a], value);
        }
        scatter_axpy(right, places, own, *label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds row by row.
    fn naive(values: &[f64], dim: usize, support: &[u32], labels: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let size = support.len();
        let (mut gram, mut right) = (vec![0.5; size * size], vec![0.5; size]);
        for (i, label) in labels.iter().enumerate() {
            let at = |place: usize| values[i * dim + support[place] as usize];
            for a in 0..size {
                (0..=a).for_each(|b| gram[a * size + b] += at(a) * at(b));
                right[a] += label * at(a);
            }
        }
        (gram, right)
    }

    /// The last shape takes several packs and threads; some have no rows, no columns or no support.
    #[test]
    fn products_of_rows_have_the_bits_of_the_naive_loop() {
        for (n, dim, size) in
            [(0, 0, 0), (3, 0, 0), (0, 4, 2), (5, 4, 0), (1, 1, 1), (67, 9, 7), (130, 6, 6), (700, 310, 300)]
        {
            let number = |at: usize| (at * 7919 % 10_007) as f64 / 5000.0 - 1.0;
            let values: Vec<f64> = (0..n * dim).map(number).collect();
            let labels: Vec<f64> = (0..n).map(|i| number(3 * i + 1)).collect();
            let support: Vec<u32> = (0..size).map(|a| a + u32::from(a > 2)).collect();
            let support = if size as usize == dim { (0..size).collect() } else { support };
            let size = size as usize;
            let (mut gram, mut right) = (vec![0.5; size * size], vec![0.5; size]);
            let products = Products { gram: &mut gram, right: &mut right };
            rows(&values, dim, &support, &labels, products, &mut GramScratch::default());
            let (naive_gram, naive_right) = naive(&values, dim, &support, &labels);
            let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&gram), bits(&naive_gram), "{n} x {dim}, {size}");
            assert_eq!(bits(&right), bits(&naive_right), "{n} x {dim}, {size}");
        }
    }
}
