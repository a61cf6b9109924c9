//! The closed forms of least squares: normal equations on a support, and the intercept.

use crate::error::FiniteSumError;
use crate::gram::{self, GramScratch, Products};
use crate::sum::FiniteSum;
use lao_kernels::SparseVector;

/// `A x = b` for the coefficients on a support, with working memory.
#[derive(Clone, Debug, Default)]
pub struct NormalEquations {
    /// `A`, row by row; the lower triangle is filled.
    pub gram: Vec<f64>,
    /// `b`.
    pub right: Vec<f64>,
    scratch: GramScratch,
    /// Deviations of columns from their means, column after column; times the root of the row's weight.
    deviations: Vec<f64>,
    /// The labels times the root of the row's weight, if rows have weights.
    labels: Vec<f64>,
}

/// The mean of a column in standard deviations above which its deviations are added up, and not its values:
/// the square of this, times the rounding error of one, is lost of a product otherwise.
const FAR: f64 = 100.0;

impl FiniteSum {
    /// Returns the normal equations of least squares on a support (ascending): the lower triangle of `X_S'X_S
    /// + (n lambda/2) I`, row by row, and `X_S'y`, both after the intercept, if there is one, has been
    /// minimized out; n is the number of rows. If rows have weights, the sums are weighted. Each component
    /// counts as one call. For other losses the function does nothing and returns `false`.
    ///
    /// # Errors
    /// Fails when the support does not fit.
    pub fn normal_equations(
        &self,
        support: &[u32],
        into: &mut NormalEquations,
    ) -> Result<bool, FiniteSumError> {
        self.check_support(support)?;
        let Some(labels) = self.loss.squares() else { return Ok(false) };
        self.count(self.len() as u64);
        let (size, n) = (support.len(), self.rows() as f64);
        let NormalEquations { gram, right, scratch, deviations, labels: weighted } = into;
        gram.clear();
        gram.resize(size * size, 0.0);
        right.clear();
        right.resize(size, 0.0);
        let weights = self.loss.weights();
        let total: f64 = labels.iter().enumerate().map(|(i, label)| self.loss.weight(i) * label).sum();
        // The vector that rows are centered by: zero or the mean. An intercept centers the rows, too, and the
        // labels.
        let centered = self.intercept || self.offset().is_some();
        let moments = centered.then(|| self.moments());
        let mean = |a: usize| moments.map_or(0.0, |moments| moments.means[support[a] as usize]);
        let spread = |a: usize| moments.map_or(f64::INFINITY, |moments| moments.scales[support[a] as usize]);
        let far = (0..size).any(|a| mean(a).abs() > FAR * spread(a) && spread(a) > 0.0);
        let far = far || weights.is_some();
        let root = |i: usize| self.loss.weight(i).sqrt();
        if far {
            self.deviations(support, mean, deviations);
            let labels = match weights {
                None => labels,
                Some(_) => {
                    weighted.clear();
                    weighted.extend(labels.iter().enumerate().map(|(i, label)| root(i) * label));
                    weighted
                }
            };
            let places: Vec<u32> = (0..size as u32).collect();
            gram::columns(deviations, self.rows(), &places, labels, Products { gram, right });
        } else {
            self.design.gram(support, labels, gram, right, scratch);
        }
        // What is left of the sum of the deviations is rounding.
        let left = |a: usize| -> f64 {
            let column = &deviations[a * self.rows()..][..self.rows()];
            match weights {
                None => column.iter().sum(),
                Some(_) => column.iter().enumerate().map(|(i, deviation)| root(i) * deviation).sum(),
            }
        };
        let center = |a: usize| match (centered, far) {
            (false, _) => 0.0,
            (true, true) => left(a) / n,
            (true, false) => mean(a),
        };
        let center: Vec<f64> = (0..size).map(center).collect();
        let scale = |a: usize| self.standard.as_deref().map_or(1.0, |s| s.inverse[support[a] as usize]);
        for a in 0..size {
            for b in 0..=a {
                let entry = &mut gram[a * size + b];
                *entry = (*entry - n * center[a] * center[b]) * scale(a) * scale(b);
            }
            gram[a * size + a] += 0.5 * n * self.ridge;
            right[a] = (right[a] - center[a] * total) * scale(a);
        }
        Ok(true)
    }

    /// Writes the differences of the columns in `support` from their means, column after column, times the
    /// root of the row's weight.
    fn deviations(&self, support: &[u32], mean: impl Fn(usize) -> f64, into: &mut Vec<f64>) {
        let rows = self.rows();
        into.clear();
        into.resize(rows * support.len(), 0.0);
        self.design.columns(None, support, into);
        for (a, column) in into.chunks_exact_mut(rows).enumerate() {
            let mean = mean(a);
            for (i, value) in column.iter_mut().enumerate() {
                *value = self.loss.weight(i).sqrt() * (*value - mean);
            }
        }
    }

    /// Returns the intercept that is best for given coefficients of least squares; 0 for a sum without
    /// intercept or another loss.
    ///
    /// # Errors
    /// Fails when the dimension is another.
    pub fn best_intercept(&self, x: &SparseVector) -> Result<f64, FiniteSumError> {
        self.check_support(x.indices())?;
        let Some(labels) = self.loss.squares().filter(|_| self.intercept) else { return Ok(0.0) };
        let weighted = labels.iter().enumerate().map(|(i, label)| self.loss.weight(i) * label);
        let mean = weighted.sum::<f64>() / labels.len() as f64;
        if self.offset().is_some() {
            return Ok(mean);
        }
        let inverse = |j: u32| self.standard.as_deref().map_or(1.0, |s| s.inverse[j as usize]);
        let means = &self.moments().means;
        let predicted = x.view().iter().map(|(j, weight)| weight * inverse(j) * means[j as usize]);
        Ok(mean - predicted.sum::<f64>())
    }
}
