//! Offline Ridge and Lasso on a block of fully observed examples: the references that online methods
//! approach.
//!
//! *Source*: Hoerl & Kennard 1970 (Ridge) and Tibshirani 1996 (Lasso), as references in Hazan & Koren 2012.
//!
//! *Setting*: `n` examples with all attributes, as columns `X` and labels `y`, in memory; no intercept.
//!
//! *Notation*: `lambda` -> `penalty`; `w` is the answer, one weight per column.
//!
//! *Update*: none; both problems are solved from the Gram matrix `X' X / n` and `X' y / n`, which take
//! `n d^2 / 2` multiply-adds.
//!
//! ```text
//! Ridge:  min |X w - y|^2 / n + lambda |w|_2^2          Cholesky factorization
//! Lasso:  min |X w - y|^2 / (2n) + lambda |w|_1         coordinate descent
//! ```
//!
//! Coordinate descent is written out here, since on the Gram matrix it takes a page, and libraries that have
//! it bring matrix types and generators of their own. Its answer satisfies the conditions of optimality to
//! [`TOLERANCE`].
//!
//! *Departures*: none.
//!
//! *Claims*: `hk12-fig1`, `hk12-fig2`.

use lao_kernels::{dot_column, gradient_block, soft_threshold, solve_positive};
use lao_observation::Block;
use thiserror::Error;

/// The largest violation of the conditions of optimality by a Lasso answer, relative to `|X' y / n|_inf`.
pub const TOLERANCE: f64 = 1e-9;

/// The number of passes over all coordinates after which coordinate descent gives up.
const MAX_PASSES: usize = 100_000;

/// The number of examples whose products are summed at a time. So many values of some columns stay in cache.
const CHUNK: usize = 512;

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OfflineError {
    /// There are no examples.
    #[error("the block has no examples: give at least one")]
    Empty,
    /// The penalty is not allowed.
    #[error("lambda = {0} is not allowed; it must be a finite number of at least 0")]
    Penalty(f64),
    /// The columns, the labels or their products are not finite.
    #[error("the products of the columns or labels are not finite: rescale the data")]
    NotFinite,
    /// The Gram matrix is singular: columns are linearly dependent, and there is no penalty.
    #[error("the Gram matrix is singular: columns depend on one another; raise lambda = {0}")]
    Singular(f64),
    /// Coordinate descent did not reach the tolerance.
    #[error(
        "coordinate descent did not converge in {MAX_PASSES} passes: raise lambda = {0}, or rescale the \
         columns"
    )]
    NoConvergence(f64),
}

/// The sums of products of columns and labels over fully observed examples, from which both problems are
/// solved.
///
/// ```
/// use lao_algorithms::baselines::offline::Products;
/// use lao_observation::BlockBuf;
///
/// let mut block = BlockBuf::new();
/// block.reset(1, 2);
/// block.column_mut(0).copy_from_slice(&[1.0, -1.0]);
/// block.labels_mut().copy_from_slice(&[2.0, -2.0]);
/// block.set_rows(2);
/// let mut products = Products::new(1);
/// products.add(block.view(&[0]));
/// products.add(block.view(&[0]));
/// let mut w = vec![0.0];
/// products.lasso(0.5, 1e-9, &mut w)?;
/// assert!((w[0] - 1.5).abs() < 1e-9);
/// assert_eq!((products.examples(), products.mean_squared_error(&[1.5])), (4, 0.25));
/// # Ok::<(), lao_algorithms::baselines::offline::OfflineError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Products {
    examples: usize,
    /// The lower triangle of `X' X`, row by row.
    columns: Vec<f64>,
    /// `X' y`.
    correlations: Vec<f64>,
    /// `y' y`.
    labels: f64,
}

impl Products {
    /// Returns the sums over no examples of `dim` columns.
    pub fn new(dim: usize) -> Self {
        Products { examples: 0, columns: vec![0.0; dim * dim], correlations: vec![0.0; dim], labels: 0.0 }
    }

    /// Returns the number of examples.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// Adds the examples of a block, which has all columns.
    pub fn add(&mut self, data: Block<'_>) {
        let d = self.correlations.len();
        for first in (0..data.rows()).step_by(CHUNK) {
            let rows = first..data.rows().min(first + CHUNK);
            let column = |c: usize| &data.column(c)[rows.clone()];
            for j in 0..d {
                gradient_block((0..=j).map(column), column(j), &mut self.columns[j * d..=j * d + j]);
            }
        }
        for (j, sum) in self.correlations.iter_mut().enumerate() {
            *sum += dot_column(data.column(j), data.labels());
        }
        self.labels += dot_column(data.labels(), data.labels());
        self.examples += data.rows();
    }

    /// Returns the mean squared error of the predictor `w` on the examples, up to rounding.
    pub fn mean_squared_error(&self, w: &[f64]) -> f64 {
        let d = w.len();
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let entry = |i: usize, j: usize| self.columns[i.max(j) * d + i.min(j)];
        let square: f64 = w
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight != 0.0)
            .map(|(j, weight)| weight * (0..d).map(|i| entry(i, j) * w[i]).sum::<f64>())
            .sum();
        (self.labels - 2.0 * inner(w, &self.correlations) + square).max(0.0) / self.examples.max(1) as f64
    }

    /// Returns the penalty from which on the answer of Lasso is zero: `|X' y / n|_inf`.
    pub fn largest_penalty(&self) -> f64 {
        let largest = self.correlations.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        largest / self.examples.max(1) as f64
    }

    /// Returns the answer of [`ridge`] on the examples.
    ///
    /// # Errors
    /// As [`ridge`].
    pub fn ridge(&self, penalty: f64) -> Result<Vec<f64>, OfflineError> {
        let (mut gram, mut w) = self.means(penalty)?;
        gram.iter_mut().step_by(w.len() + 1).for_each(|diagonal| *diagonal += penalty);
        let dependent = solve_positive(&mut gram, &mut w);
        if dependent == 0 && w.iter().all(|w| w.is_finite()) {
            Ok(w)
        } else {
            Err(OfflineError::Singular(penalty))
        }
    }

    /// Minimizes `|X w - y|^2 / (2n) + penalty |w|_1`, from the start `w`, until the conditions of optimality
    /// hold to `tolerance`, relative to `|X' y / n|_inf`.
    ///
    /// # Errors
    /// As [`lasso`].
    pub fn lasso(&self, penalty: f64, tolerance: f64, w: &mut [f64]) -> Result<(), OfflineError> {
        let (gram, mut gradient) = self.means(penalty)?;
        let d = gradient.len();
        let tolerance = tolerance * gradient.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        // `gradient` is minus the gradient of the quadratic part. It is updated with every weight.
        let step = |gradient: &mut [f64], j: usize, change: f64| {
            let row = &gram[j * d..(j + 1) * d];
            gradient.iter_mut().zip(row).for_each(|(g, entry)| *g -= change * entry);
        };
        for (j, weight) in w.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            step(&mut gradient, j, *weight);
        }
        for _ in 0..MAX_PASSES {
            for j in 0..d {
                let curvature = gram[j * d + j];
                if curvature == 0.0 {
                    continue;
                }
                let target = gradient[j] + curvature * w[j];
                let next = soft_threshold(target, penalty) / curvature;
                let change = next - w[j];
                if change != 0.0 {
                    w[j] = next;
                    step(&mut gradient, j, change);
                }
            }
            // At the optimum, g_j = penalty sign(w_j) where w_j is not zero, and |g_j| <= penalty where it is
            // zero.
            let violation = |(&w, &g): (&f64, &f64)| {
                if w == 0.0 { (g.abs() - penalty).max(0.0) } else { (g - penalty.copysign(w)).abs() }
            };
            if w.iter().zip(&gradient).map(violation).fold(0.0, f64::max) <= tolerance {
                return Ok(());
            }
        }
        Err(OfflineError::NoConvergence(penalty))
    }

    /// Returns `X' X / n`, row by row, and `X' y / n`.
    fn means(&self, penalty: f64) -> Result<(Vec<f64>, Vec<f64>), OfflineError> {
        let (n, d) = (self.examples as f64, self.correlations.len());
        if self.examples == 0 {
            return Err(OfflineError::Empty);
        }
        if !(penalty.is_finite() && penalty >= 0.0) {
            return Err(OfflineError::Penalty(penalty));
        }
        let mirrored = |at: usize| (at / d).max(at % d) * d + (at / d).min(at % d);
        let gram: Vec<f64> = (0..d * d).map(|at| self.columns[mirrored(at)] / n).collect();
        let correlations: Vec<f64> = self.correlations.iter().map(|sum| sum / n).collect();
        match gram.iter().chain(&correlations).all(|value| value.is_finite()) {
            true => Ok((gram, correlations)),
            false => Err(OfflineError::NotFinite),
        }
    }
}

/// Returns the products of a block.
fn products(data: Block<'_>) -> Products {
    let mut products = Products::new(data.attributes().len());
    products.add(data);
    products
}

/// Returns the minimizer of `|X w - y|^2 / n + penalty |w|_2^2`, one weight per column.
///
/// ```
/// use lao_algorithms::baselines::offline::ridge;
/// use lao_observation::BlockBuf;
///
/// // The column (1, -1) and the labels (2, -2).
/// let mut block = BlockBuf::new();
/// block.reset(1, 2);
/// block.column_mut(0).copy_from_slice(&[1.0, -1.0]);
/// block.labels_mut().copy_from_slice(&[2.0, -2.0]);
/// block.set_rows(2);
/// let w = ridge(block.view(&[0]), 1.0)?;
/// assert!((w[0] - 1.0).abs() < 1e-9);
/// # Ok::<(), lao_algorithms::baselines::offline::OfflineError>(())
/// ```
///
/// # Errors
/// [`OfflineError`] for no examples, a penalty that is not allowed, data out of scale, or a singular Gram
/// matrix.
pub fn ridge(data: Block<'_>, penalty: f64) -> Result<Vec<f64>, OfflineError> {
    products(data).ridge(penalty)
}

/// Returns the minimizer of `|X w - y|^2 / (2n) + penalty |w|_1`, one weight per column.
///
/// ```
/// use lao_algorithms::baselines::offline::lasso;
/// use lao_observation::BlockBuf;
///
/// // The column (1, -1) and the labels (2, -2).
/// let mut block = BlockBuf::new();
/// block.reset(1, 2);
/// block.column_mut(0).copy_from_slice(&[1.0, -1.0]);
/// block.labels_mut().copy_from_slice(&[2.0, -2.0]);
/// block.set_rows(2);
/// let w = lasso(block.view(&[0]), 0.5)?;
/// assert!((w[0] - 1.5).abs() < 1e-9);
/// # Ok::<(), lao_algorithms::baselines::offline::OfflineError>(())
/// ```
///
/// # Errors
/// [`OfflineError`] for no examples, a penalty that is not allowed, data out of scale, or no convergence.
pub fn lasso(data: Block<'_>, penalty: f64) -> Result<Vec<f64>, OfflineError> {
    let mut w = vec![0.0; data.attributes().len()];
    products(data).lasso(penalty, TOLERANCE, &mut w)?;
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::BlockBuf;

    const ATTRIBUTES: [u32; 3] = [0, 1, 2];

    /// Returns orthogonal columns of mean square 1, 4 and 1/4 with the labels `y = 2 x_0 - x_1 + 4 x_2`.
    fn orthogonal() -> BlockBuf {
        let signs = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        let scales = [1.0, 2.0, 0.5];
        let mut block = BlockBuf::new();
        block.reset(3, 4);
        for (c, scale) in scales.iter().enumerate() {
            (0..4).for_each(|r| block.column_mut(c)[r] = signs[r][c] * scale);
        }
        for (r, signs) in signs.iter().enumerate() {
            block.labels_mut()[r] = 2.0 * signs[0] - 2.0 * signs[1] + 2.0 * signs[2];
        }
        block.set_rows(4);
        block
    }

    fn close(found: &[f64], wanted: &[f64]) {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} against {wanted:?}");
    }

    #[test]
    fn ridge_on_orthogonal_columns_shrinks_each_weight_by_its_own_factor() {
        let block = orthogonal();
        close(&ridge(block.view(&ATTRIBUTES), 0.0).unwrap(), &[2.0, -1.0, 4.0]);
        close(&ridge(block.view(&ATTRIBUTES), 1.0).unwrap(), &[1.0, -0.8, 0.8]);
    }

    #[test]
    fn lasso_on_orthogonal_columns_is_the_soft_threshold() {
        let block = orthogonal();
        close(&lasso(block.view(&ATTRIBUTES), 0.0).unwrap(), &[2.0, -1.0, 4.0]);
        // X' y / n = (2, -4, 1).
        close(&lasso(block.view(&ATTRIBUTES), 1.5).unwrap(), &[0.5, -0.625, 0.0]);
        assert_eq!(lasso(block.view(&ATTRIBUTES), 4.0).unwrap(), [0.0; 3]);
    }

    #[test]
    fn a_column_twice_is_singular_for_ridge_and_no_obstacle_for_lasso() {
        let mut block = orthogonal();
        let first = block.column_mut(0).to_vec();
        block.column_mut(1).copy_from_slice(&first);
        assert_eq!(ridge(block.view(&ATTRIBUTES), 0.0), Err(OfflineError::Singular(0.0)));
        let w = lasso(block.view(&ATTRIBUTES), 0.5).unwrap();
        close(&[w[0] + w[1], w[2]], &[1.5, 2.0]);
    }

    #[test]
    fn what_cannot_be_solved_is_refused() {
        let (empty, mut wild) = (BlockBuf::new(), orthogonal());
        assert_eq!(ridge(empty.view(&[]), 1.0), Err(OfflineError::Empty));
        assert_eq!(lasso(wild.view(&ATTRIBUTES), -1.0), Err(OfflineError::Penalty(-1.0)));
        wild.labels_mut()[0] = f64::NAN;
        assert_eq!(lasso(wild.view(&ATTRIBUTES), 1.0), Err(OfflineError::NotFinite));
    }
}
