//! Products of a sparse vector with dense rows: gathers and scatters by ascending index.
//!
//! Short supports are summed in order. Longer ones are summed with eight accumulators, and entry j goes to
//! accumulator j mod 8. The length of the support alone decides between the two.
//!
//! An index beyond the end of the dense side is an error of the caller, and the functions panic.

use crate::dense::{Element, LANES, sum_lanes};

/// The best number of rows for a call of [`row_gather_dot`] or [`row_gather_gradient`].
pub const ROW_TILE: usize = 64;

/// The number of entries up to which a plain loop is fastest.
const SHORT: usize = 16;

/// Returns `sum over j of values[j] * dense[indices[j]]`.
///
/// # Panics
/// Panics if an index is not below `dense.len()`.
pub fn gather_dot<V: Element, T: Element>(indices: &[u32], values: &[V], dense: &[T]) -> f64 {
    debug_assert_eq!(indices.len(), values.len());
    let n = indices.len().min(values.len());
    let (indices, values) = (&indices[..n], &values[..n]);
    if n <= SHORT {
        let terms = indices.iter().zip(values);
        return terms.map(|(&index, value)| value.to_f64() * dense[index as usize].to_f64()).sum();
    }
    let (index_chunks, index_tail) = indices.as_chunks::<LANES>();
    let (value_chunks, value_tail) = values.as_chunks::<LANES>();
    let mut acc = [0.0; LANES];
    for (index, value) in index_chunks.iter().zip(value_chunks) {
        for lane in 0..LANES {
            acc[lane] += value[lane].to_f64() * dense[index[lane] as usize].to_f64();
        }
    }
    for (acc, (&index, value)) in acc.iter_mut().zip(index_tail.iter().zip(value_tail)) {
        *acc += value.to_f64() * dense[index as usize].to_f64();
    }
    sum_lanes(acc)
}

/// Computes `dense[indices[j]] <- dense[indices[j]] + weight * values[j]` for all j.
///
/// # Panics
/// Panics if an index is not below `dense.len()`.
pub fn scatter_axpy<V: Element>(dense: &mut [f64], indices: &[u32], values: &[V], weight: f64) {
    debug_assert_eq!(indices.len(), values.len());
    for (&index, value) in indices.iter().zip(values) {
        dense[index as usize] += weight * value.to_f64();
    }
}

/// Computes the residual of a sparse predictor on row-major examples: `out[i] <- theta' x_i - labels[i]`,
/// where row i is `rows[i * dim..(i + 1) * dim]`. The terms are added in the order of the indices.
///
/// The function passes over the rows once per index: its memory accesses are then independent and equally
/// spaced, and many proceed at once. The rows must be few enough for their cache lines to stay in the cache;
/// [`ROW_TILE`] rows are best.
///
/// # Panics
/// Panics if an index is not below `dim`.
pub fn row_gather_dot<T: Element>(
    rows: &[T],
    dim: usize,
    indices: &[u32],
    values: &[f64],
    labels: &[f64],
    out: &mut [f64],
) {
    debug_assert_eq!((rows.len(), labels.len()), (dim * out.len(), out.len()));
    out.iter_mut().zip(labels).for_each(|(out, label)| *out = -label);
    for (&index, value) in indices.iter().zip(values) {
        for (out, row) in out.iter_mut().zip(rows.chunks_exact(dim.max(1))) {
            *out += value * row[index as usize].to_f64();
        }
    }
}

/// Computes the gradient sums of row-major examples:
/// `sums[j] <- sums[j] + sum over rows i of r[i] * rows[i][indices[j]]`. Row i goes to accumulator i mod 4.
/// Like [`row_gather_dot`], the function passes over the rows once per index.
///
/// # Panics
/// Panics if an index is not below `dim`.
pub fn row_gather_gradient<T: Element>(rows: &[T], dim: usize, indices: &[u32], r: &[f64], sums: &mut [f64]) {
    debug_assert_eq!((rows.len(), sums.len()), (dim * r.len(), indices.len()));
    let dim = dim.max(1);
    let (r, r_tail) = r.as_chunks::<4>();
    let (rows, rows_tail) = rows.split_at(rows.len().min(4 * dim * r.len()));
    for (sum, &index) in sums.iter_mut().zip(indices) {
        let index = index as usize;
        let mut acc = [0.0; 4];
        for (r, rows) in r.iter().zip(rows.chunks_exact(4 * dim)) {
            for lane in 0..4 {
                acc[lane] += r[lane] * rows[lane * dim..][..dim][index].to_f64();
            }
        }
        for (acc, (r, row)) in acc.iter_mut().zip(r_tail.iter().zip(rows_tail.chunks_exact(dim))) {
            *acc += r * row[index].to_f64();
        }
        *sum += (acc[0] + acc[2]) + (acc[1] + acc[3]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::SparseVector;
    use proptest::prelude::*;

    const DIM: usize = 60;

    fn sparse() -> impl Strategy<Value = SparseVector> {
        proptest::collection::vec(prop_oneof![Just(0.0), -3.0..3.0], DIM)
            .prop_map(|dense| SparseVector::from_dense(&dense))
    }

    #[test]
    fn the_length_of_the_support_decides_on_the_order_of_the_sum() {
        let row: Vec<f64> = (0..40).map(|j| 1.0 / f64::from(j + 3)).collect();
        let values: Vec<f64> = (0..40).map(|j| 1.0 / f64::from(2 * j + 1)).collect();
        let indices: Vec<u32> = (0..40).collect();
        let term = |j: usize| values[j] * row[j];
        for n in 0..=40 {
            let naive = if n <= 16 {
                (0..n).map(term).sum()
            } else {
                sum_lanes(std::array::from_fn(|lane| (lane..n).step_by(8).map(term).fold(0.0, |a, b| a + b)))
            };
            let found = gather_dot(&indices[..n], &values[..n], &row);
            assert_eq!(found.to_bits(), f64::to_bits(naive), "{n} entries: {found} is not {naive}");
        }
    }

    proptest! {
        #[test]
        fn gather_is_the_inner_product(
            theta in sparse(),
            keep in 0..=DIM,
            row in proptest::collection::vec(-3.0..3.0, DIM),
        ) {
            let n = keep.min(theta.len());
            let (indices, values) = (&theta.indices()[..n], &theta.values()[..n]);
            let naive: f64 = indices.iter().zip(values).map(|(&j, value)| value * row[j as usize]).sum();
            prop_assert!((gather_dot(indices, values, &row) - naive).abs() <= 1e3 * f64::EPSILON);
            let single: Vec<f32> = row.iter().map(|&x| x as f32).collect();
            let error = (gather_dot(indices, values, &single) - naive).abs();
            prop_assert!(error <= 1e3 * f64::from(f32::EPSILON));
        }

        #[test]
        fn scatter_adds_the_dense_vector(
            theta in sparse(),
            weight in -2.0..2.0,
            start in proptest::collection::vec(-3.0..3.0, DIM),
        ) {
            let mut dense = start.clone();
            scatter_axpy(&mut dense, theta.indices(), theta.values(), weight);
            let naive: Vec<f64> =
                start.iter().zip(theta.view().to_dense()).map(|(x, v)| x + weight * v).collect();
            prop_assert_eq!(dense, naive);
        }

        #[test]
        fn rows_give_the_gradient_of_their_transpose(
            theta in sparse(),
            rows in proptest::collection::vec(-3.0..3.0, DIM * 9),
            labels in proptest::collection::vec(-3.0..3.0, 9),
        ) {
            let columns: Vec<Vec<f64>> =
                (0..DIM).map(|j| rows.iter().skip(j).step_by(DIM).copied().collect()).collect();
            let (mut by_rows, mut by_columns) = (vec![0.0; 9], vec![0.0; 9]);
            row_gather_dot(&rows, DIM, theta.indices(), theta.values(), &labels, &mut by_rows);
            let weighted = theta.view().iter().map(|(j, value)| (columns[j as usize].as_slice(), value));
            crate::residual(weighted, &labels, &mut by_columns);
            for (a, b) in by_rows.iter().zip(&by_columns) {
                prop_assert!((a - b).abs() <= 1e3 * f64::EPSILON);
            }

            let all: Vec<u32> = (0..DIM as u32).collect();
            let (mut g_rows, mut g_columns) = (vec![1.0; DIM], vec![1.0; DIM]);
            row_gather_gradient(&rows, DIM, &all, &by_rows, &mut g_rows);
            crate::gradient_block(columns.iter().map(Vec::as_slice), &by_rows, &mut g_columns);
            for (a, b) in g_rows.iter().zip(&g_columns) {
                prop_assert!((a - b).abs() <= 1e4 * f64::EPSILON);
            }
        }
    }
}
