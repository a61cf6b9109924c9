//! Eigenvalues and least squares, as faer computes them.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use lao_algorithms::baselines::offline::ridge;
use lao_kernels::{RestrictedSpectrum, symmetric_eigenvalues};
use lao_observation::BlockBuf;
use proptest::prelude::*;

/// Returns a random symmetric matrix, at times of low rank, diagonal or with repeated eigenvalues.
fn symmetric(dim: usize) -> impl Strategy<Value = Vec<f64>> {
    let entry = prop_oneof![2 => -1.0..1.0, 1 => Just(0.0), 1 => Just(1.0)];
    proptest::collection::vec(entry, dim * dim).prop_map(move |mut matrix| {
        for i in 0..dim {
            for j in 0..i {
                matrix[j * dim + i] = matrix[i * dim + j];
            }
        }
        matrix
    })
}

/// Returns the eigenvalues, ascending.
fn by_faer(matrix: &[f64], dim: usize) -> Vec<f64> {
    MatRef::from_row_major_slice(matrix, dim, dim).self_adjoint_eigenvalues(Side::Lower).expect("converges")
}

proptest! {
    #[test]
    fn eigenvalues_are_those_of_faer(matrix in (1..=24_usize).prop_flat_map(symmetric)) {
        let dim = matrix.len().isqrt();
        let found = symmetric_eigenvalues(&matrix, dim).expect("valid");
        for (a, b) in found.iter().zip(by_faer(&matrix, dim)) {
            prop_assert!((a - b).abs() <= 1e-12, "{a} against {b}");
        }
    }

    #[test]
    fn extremes_over_supports_are_those_of_faer(matrix in symmetric(6), k in 1..=6_usize) {
        let spectrum = RestrictedSpectrum::of(&matrix, 6, k).expect("valid");
        let mut extremes = (f64::INFINITY, f64::NEG_INFINITY);
        for mask in (0_u32..1 << 6).filter(|mask| mask.count_ones() as usize == k) {
            let inside: Vec<usize> = (0..6).filter(|&j| mask >> j & 1 == 1).collect();
            let places = inside.iter().flat_map(|&i| inside.iter().map(move |&j| i * 6 + j));
            let sub: Vec<f64> = places.map(|place| matrix[place]).collect();
            let values = by_faer(&sub, k);
            extremes = (extremes.0.min(values[0]), extremes.1.max(values[k - 1]));
        }
        prop_assert!((spectrum.smallest - extremes.0).abs() <= 1e-13);
        prop_assert!((spectrum.largest - extremes.1).abs() <= 1e-13);
    }

    /// More rows than one chunk of the sums has.
    #[test]
    fn ridge_is_that_of_faer(
        rows in proptest::collection::vec(proptest::array::uniform5(-2.0..2.0), 6..700),
        penalty in 0.01..2.0,
    ) {
        let (n, d) = (rows.len(), 4);
        let mut block = BlockBuf::new();
        block.reset(d, n);
        for (r, row) in rows.iter().enumerate() {
            (0..d).for_each(|c| block.column_mut(c)[r] = row[c]);
            block.labels_mut()[r] = row[d];
        }
        block.set_rows(n);
        let found = ridge(block.view(&[0, 1, 2, 3]), penalty).expect("valid");
        let x = Mat::from_fn(n, d, |r, c| rows[r][c]);
        let y = Mat::from_fn(n, 1, |r, _| rows[r][d]);
        let mut gram = x.transpose() * &x / n as f64;
        (0..d).for_each(|j| gram[(j, j)] += penalty);
        let wanted = gram.llt(Side::Lower).expect("positive").solve(x.transpose() * y / n as f64);
        for (j, w) in found.iter().enumerate() {
            let wanted = wanted[(j, 0)];
            prop_assert!((w - wanted).abs() <= 1e-9 * (1.0 + w.abs()), "{w} against {wanted}");
        }
    }
}
