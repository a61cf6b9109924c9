//! Eigenvalues of symmetric matrices: of a whole matrix, and the extremes over all principal submatrices of
//! one size.
//!
//! The restricted smallest and largest eigenvalue over supports of size k are the constants mu_k and L_k of
//! restricted strong convexity and smoothness, up to a factor of the loss. They are found by enumeration,
//! which only small problems allow. By Cauchy's interlacing theorem, smaller supports have no more extreme
//! eigenvalues.
//!
//! Matrices are diagonalized by cyclic Jacobi rotations: a step size derived from these constants then has
//! the same bits on every machine.

use crate::vector::SparseVector;

/// The largest number of supports that an enumeration visits; at k = 6 this takes a few seconds.
pub const MAX_SUPPORTS: u64 = 1_000_000;

/// The number of sweeps after which Jacobi rotations stop in any case. Convergence is quadratic and takes
/// about six sweeps.
const MAX_SWEEPS: usize = 64;

/// Entries (i, j) and (j, i) may differ by this share of the largest entry.
const ASYMMETRY: f64 = 1e-12;

/// Extreme eigenvalues over all k x k principal submatrices of a symmetric matrix, each with a unit vector
/// that attains it.
#[derive(Clone, Debug, PartialEq)]
pub struct RestrictedSpectrum {
    /// The smallest value of v'Av over k-sparse unit vectors v.
    pub smallest: f64,
    /// The largest value of v'Av over k-sparse unit vectors v.
    pub largest: f64,
    /// A k-sparse unit vector that attains `smallest`.
    pub smallest_witness: SparseVector,
    /// A k-sparse unit vector that attains `largest`.
    pub largest_witness: SparseVector,
}

/// The reason why no spectrum is computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SpectrumError {
    /// The slice does not hold a square matrix of the dimension.
    #[error("{len} entries do not make a {dim} x {dim} matrix: give dim * dim entries")]
    Shape {
        /// Number of entries given.
        len: usize,
        /// The dimension.
        dim: usize,
    },
    /// The size of the supports is not in 1..=dim.
    #[error("sparsity {sparsity} must lie between 1 and the dimension {dim}")]
    Sparsity {
        /// The size asked for.
        sparsity: usize,
        /// The dimension.
        dim: usize,
    },
    /// An entry is NaN or infinite.
    #[error("entry ({row}, {column}) is {value}: entries must be finite")]
    NotFinite {
        /// Row, from zero.
        row: usize,
        /// Column, from zero.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// The matrix is not symmetric.
    #[error(
        "entries ({row}, {column}) = {value} and ({column}, {row}) = {mirrored} differ: the matrix must be \
         symmetric"
    )]
    NotSymmetric {
        /// Row, from zero.
        row: usize,
        /// Column, from zero.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry across the diagonal.
        mirrored: f64,
    },
    /// There are too many supports to enumerate.
    #[error(
        "more than {MAX_SUPPORTS} supports of size {sparsity} in dimension {dim}: lower one of them, or use \
         a bound"
    )]
    TooManySupports {
        /// Size of the supports.
        sparsity: usize,
        /// The dimension.
        dim: usize,
    },
    /// The iteration for the eigenvalues did not converge.
    #[error("the eigenvalues of the {dim} x {dim} matrix did not converge: rescale it")]
    NoConvergence {
        /// The dimension.
        dim: usize,
    },
}

impl RestrictedSpectrum {
    /// Enumerates all supports of size `sparsity` of a symmetric `dim` x `dim` matrix, given row by row.
    ///
    /// Where several supports attain an extreme, the first in lexicographic order is the witness.
    pub fn of(matrix: &[f64], dim: usize, sparsity: usize) -> Result<RestrictedSpectrum, SpectrumError> {
        check(matrix, dim)?;
        if sparsity == 0 || sparsity > dim {
            return Err(SpectrumError::Sparsity { sparsity, dim });
        }
        if binomial(dim, sparsity).is_none_or(|supports| supports > MAX_SUPPORTS) {
            return Err(SpectrumError::TooManySupports { sparsity, dim });
        }
        let mut support: Vec<usize> = (0..sparsity).collect();
        let mut jacobi = Jacobi::new(sparsity);
        let mut smallest = (f64::INFINITY, support.clone());
        let mut largest = (f64::NEG_INFINITY, support.clone());
        loop {
            jacobi.diagonalize(matrix, dim, &support, None);
            for value in jacobi.eigenvalues() {
                if value < smallest.0 {
                    smallest.0 = value;
                    smallest.1.copy_from_slice(&support);
                }
                if value > largest.0 {
                    largest.0 = value;
                    largest.1.copy_from_slice(&support);
                }
            }
            if !advance(&mut support, dim) {
                break;
            }
        }
        Ok(RestrictedSpectrum {
            smallest: smallest.0,
            largest: largest.0,
            smallest_witness: jacobi.witness(matrix, dim, &smallest.1, f64::total_cmp),
            largest_witness: jacobi.witness(matrix, dim, &largest.1, |a, b| b.total_cmp(a)),
        })
    }

    /// Returns the restricted condition number, the ratio of the largest to the smallest eigenvalue.
    pub fn condition(&self) -> f64 {
        self.largest / self.smallest
    }
}

/// Returns all eigenvalues, ascending, of a symmetric `dim` x `dim` matrix given row by row. The time is of
/// the order of `dim^3` per sweep, with six to ten sweeps: a second for a thousand rows.
///
/// # Errors
/// [`SpectrumError`] when the matrix is not square, finite and symmetric, or the iteration does not converge.
pub fn symmetric_eigenvalues(matrix: &[f64], dim: usize) -> Result<Vec<f64>, SpectrumError> {
    check(matrix, dim)?;
    let (mut jacobi, all): (_, Vec<usize>) = (Jacobi::new(dim), (0..dim).collect());
    let converged = jacobi.diagonalize(matrix, dim, &all, None);
    let mut eigenvalues: Vec<f64> = jacobi.eigenvalues().collect();
    if !converged || eigenvalues.iter().any(|value| !value.is_finite()) {
        return Err(SpectrumError::NoConvergence { dim });
    }
    eigenvalues.sort_unstable_by(f64::total_cmp);
    Ok(eigenvalues)
}

/// Checks shape, finiteness and symmetry.
fn check(matrix: &[f64], dim: usize) -> Result<(), SpectrumError> {
    if dim.checked_mul(dim) != Some(matrix.len()) {
        return Err(SpectrumError::Shape { len: matrix.len(), dim });
    }
    if let Some(at) = matrix.iter().position(|entry| !entry.is_finite()) {
        return Err(SpectrumError::NotFinite { row: at / dim, column: at % dim, value: matrix[at] });
    }
    let largest = matrix.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    for row in 0..dim {
        for column in 0..row {
            let (value, mirrored) = (matrix[row * dim + column], matrix[column * dim + row]);
            if (value - mirrored).abs() > ASYMMETRY * largest {
                return Err(SpectrumError::NotSymmetric { row, column, value, mirrored });
            }
        }
    }
    Ok(())
}

/// Returns `n` choose `k`, unless it overflows.
fn binomial(n: usize, k: usize) -> Option<u64> {
    let k = k.min(n - k) as u64;
    (0..k).try_fold(1_u64, |product, i| Some(product.checked_mul(n as u64 - i)? / (i + 1)))
}

/// Advances to the next support in lexicographic order; returns false after the last one.
fn advance(support: &mut [usize], dim: usize) -> bool {
    let k = support.len();
    let Some(at) = (0..k).rev().find(|&at| support[at] + k < dim + at) else {
        return false;
    };
    support[at] += 1;
    for later in at + 1..k {
        support[later] = support[later - 1] + 1;
    }
    true
}

/// Cyclic Jacobi rotations on a k x k matrix, row by row.
struct Jacobi {
    k: usize,
    a: Vec<f64>,
}

impl Jacobi {
    fn new(k: usize) -> Jacobi {
        Jacobi { k, a: vec![0.0; k * k] }
    }

    /// Returns the eigenvalues after `diagonalize`, in no particular order.
    fn eigenvalues(&self) -> impl Iterator<Item = f64> + '_ {
        self.a.iter().copied().step_by(self.k + 1)
    }

    /// Rotates the submatrix of `support` until it is diagonal, and returns whether it is. If `vectors` is
    /// given, its rows become the eigenvectors.
    fn diagonalize(
        &mut self,
        matrix: &[f64],
        dim: usize,
        support: &[usize],
        mut vectors: Option<&mut [f64]>,
    ) -> bool {
        let (k, a) = (self.k, &mut self.a);
        for (row, &i) in support.iter().enumerate() {
            for (column, &j) in support.iter().enumerate() {
                // Only the lower triangle is read, since symmetry holds only up to rounding.
                a[row * k + column] = matrix[i.max(j) * dim + i.min(j)];
            }
        }
        let negligible = f64::EPSILON * 0.125 * a.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        for _ in 0..MAX_SWEEPS {
            let mut rotated = false;
            for p in 0..k {
                for q in p + 1..k {
                    let apq = a[p * k + q];
                    if apq.abs() <= negligible {
                        continue;
                    }
                    rotated = true;
                    let theta = (a[q * k + q] - a[p * k + p]) / (2.0 * apq);
                    let tangent = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
                    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                    let sine = tangent * cosine;
                    a[p * k + p] -= tangent * apq;
                    a[q * k + q] += tangent * apq;
                    a[p * k + q] = 0.0;
                    a[q * k + p] = 0.0;
                    for j in (0..k).filter(|&j| j != p && j != q) {
                        let (x, y) = (a[p * k + j], a[q * k + j]);
                        let (x, y) = (cosine * x - sine * y, sine * x + cosine * y);
                        (a[p * k + j], a[j * k + p]) = (x, x);
                        (a[q * k + j], a[j * k + q]) = (y, y);
                    }
                    if let Some(v) = vectors.as_deref_mut() {
                        for j in 0..k {
                            let (x, y) = (v[p * k + j], v[q * k + j]);
                            (v[p * k + j], v[q * k + j]) = (cosine * x - sine * y, sine * x + cosine * y);
                        }
                    }
                }
            }
            if !rotated {
                return true;
            }
        }
        false
    }

    /// Returns the eigenvector, on `support`, of the eigenvalue that comes first in `order`.
    fn witness(
        &mut self,
        matrix: &[f64],
        dim: usize,
        support: &[usize],
        order: impl Fn(&f64, &f64) -> std::cmp::Ordering,
    ) -> SparseVector {
        let k = self.k;
        let mut vectors = vec![0.0; k * k];
        vectors.iter_mut().step_by(k + 1).for_each(|diagonal| *diagonal = 1.0);
        self.diagonalize(matrix, dim, support, Some(&mut vectors));
        let first = self.eigenvalues().enumerate().min_by(|a, b| order(&a.1, &b.1)).map_or(0, |(row, _)| row);
        let mut witness = SparseVector::zeros(dim);
        for (&index, &value) in support.iter().zip(&vectors[first * k..]) {
            witness.push(index as u32, value);
        }
        witness.prune_zeros();
        witness
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn quadratic(matrix: &[f64], v: &[f64]) -> f64 {
        let dim = v.len();
        (0..dim * dim).map(|at| v[at / dim] * matrix[at] * v[at % dim]).sum()
    }

    /// Extremes over bit masks, each submatrix by itself.
    fn naive(matrix: &[f64], dim: usize, k: usize) -> (f64, f64) {
        let mut extremes = (f64::INFINITY, f64::NEG_INFINITY);
        for mask in (0_u32..1 << dim).filter(|mask| mask.count_ones() as usize == k) {
            let inside: Vec<usize> = (0..dim).filter(|&j| mask >> j & 1 == 1).collect();
            let sub: Vec<f64> =
                inside.iter().flat_map(|&i| inside.iter().map(move |&j| matrix[i * dim + j])).collect();
            let values = symmetric_eigenvalues(&sub, k).expect("symmetric");
            extremes = (extremes.0.min(values[0]), extremes.1.max(values[k - 1]));
        }
        extremes
    }

    proptest! {
        #[test]
        fn enumeration_agrees_with_its_naive_twin(matrix in symmetric(6), k in 1..=6_usize) {
            let spectrum = RestrictedSpectrum::of(&matrix, 6, k).expect("valid");
            let (smallest, largest) = naive(&matrix, 6, k);
            prop_assert!((spectrum.smallest - smallest).abs() <= 1e-13);
            prop_assert!((spectrum.largest - largest).abs() <= 1e-13);
        }

        #[test]
        fn witnesses_are_sparse_unit_vectors_that_attain_the_extremes(
            matrix in symmetric(7),
            k in 1..=7_usize,
        ) {
            let spectrum = RestrictedSpectrum::of(&matrix, 7, k).expect("valid");
            for (witness, value) in
                [
                    (&spectrum.smallest_witness, spectrum.smallest),
                    (&spectrum.largest_witness, spectrum.largest),
                ]
            {
                prop_assert!(witness.len() <= k);
                prop_assert!((witness.view().norm_squared() - 1.0).abs() <= 1e-13);
                prop_assert!((quadratic(&matrix, &witness.view().to_dense()) - value).abs() <= 1e-13);
            }
        }

        #[test]
        fn larger_supports_widen_the_spectrum(matrix in symmetric(6), k in 1..6_usize) {
            let narrow = RestrictedSpectrum::of(&matrix, 6, k).expect("valid");
            let wide = RestrictedSpectrum::of(&matrix, 6, k + 1).expect("valid");
            prop_assert!(wide.smallest <= narrow.smallest + 1e-13 && wide.largest >= narrow.largest - 1e-13);
        }
    }

    #[test]
    fn equicorrelated_attributes_have_their_known_constants() {
        // 1 on the diagonal, rho elsewhere: eigenvalues 1 - rho and 1 + (k - 1) rho.
        let (dim, k, rho) = (10, 4, 0.3);
        let matrix: Vec<f64> =
            (0..dim * dim).map(|at| if at / dim == at % dim { 1.0 } else { rho }).collect();
        let spectrum = RestrictedSpectrum::of(&matrix, dim, k).unwrap();
        assert!((spectrum.smallest - 0.7).abs() < 1e-14);
        assert!((spectrum.largest - 1.9).abs() < 1e-14);
        assert_eq!(spectrum.largest_witness.indices(), [0, 1, 2, 3]);
    }

    #[test]
    fn a_matrix_scaled_to_the_edge_of_the_range_keeps_its_spectrum() {
        for scale in [1e-300, 1e300] {
            let matrix = [2.0 * scale, scale, scale, 2.0 * scale];
            let spectrum = RestrictedSpectrum::of(&matrix, 2, 2).unwrap();
            assert!((spectrum.smallest / scale - 1.0).abs() < 1e-14);
            assert!((spectrum.largest / scale - 3.0).abs() < 1e-14);
        }
    }

    #[test]
    fn unfit_input_is_refused_by_name() {
        let of = RestrictedSpectrum::of;
        assert_eq!(of(&[1.0; 3], 2, 1), Err(SpectrumError::Shape { len: 3, dim: 2 }));
        assert_eq!(of(&[1.0; 4], 2, 0), Err(SpectrumError::Sparsity { sparsity: 0, dim: 2 }));
        assert_eq!(of(&[1.0; 4], 2, 3), Err(SpectrumError::Sparsity { sparsity: 3, dim: 2 }));
        assert!(matches!(
            of(&[1.0, f64::NAN, 0.0, 1.0], 2, 1),
            Err(SpectrumError::NotFinite { column: 1, .. })
        ));
        assert!(matches!(of(&[1.0, 2.0, 0.0, 1.0], 2, 1), Err(SpectrumError::NotSymmetric { row: 1, .. })));
        let identity: Vec<f64> = (0..100 * 100).map(|at| f64::from(u8::from(at % 101 == 0))).collect();
        assert_eq!(of(&identity, 100, 50), Err(SpectrumError::TooManySupports { sparsity: 50, dim: 100 }));
        assert_eq!(symmetric_eigenvalues(&[], 0), Ok(Vec::new()));
    }

    #[test]
    fn binomials_count_the_supports_that_are_visited() {
        for (n, k) in [(5, 1), (5, 5), (7, 3), (10, 4)] {
            let mut support: Vec<usize> = (0..k).collect();
            let mut visited = 1;
            while advance(&mut support, n) {
                visited += 1;
            }
            assert_eq!(binomial(n, k), Some(visited));
        }
    }
}
