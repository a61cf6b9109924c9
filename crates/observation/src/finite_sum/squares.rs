//! What least squares allows in closed form: normal equations on a support, and the intercept.

use super::{FiniteSum, FiniteSumError};
use lao_kernels::SparseVector;

/// `A x = b` for the coefficients on a support.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalEquations {
    /// `A`, row by row; the lower triangle is filled.
    pub gram: Vec<f64>,
    /// `b`.
    pub right: Vec<f64>,
}

impl FiniteSum {
    /// The normal equations of least squares on a support (ascending): writes the lower triangle of `X_S'X_S + (n lambda/2) I`,
    /// row by row, and `X_S'y`, both after the intercept, if there is one, has been minimised out; n is the number of rows. One
    /// call per component. `None` for other losses.
    ///
    /// # Errors
    /// When the support does not fit.
    pub fn normal_equations(&self, support: &[u32]) -> Result<Option<NormalEquations>, FiniteSumError> {
        self.check_support(support)?;
        let Some(labels) = self.loss.squares() else { return Ok(None) };
        self.count(self.len() as u64);
        let (size, n) = (support.len(), self.rows() as f64);
        let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        self.design.gram(support, labels, &mut gram, &mut right);
        let total: f64 = labels.iter().sum();
        // What rows are centred by: nothing, or the mean. An intercept centres, too, and the labels with it.
        let centred = self.intercept || self.offset().is_some();
        let centre = |a: usize| if centred { self.means[support[a] as usize] } else { 0.0 };
        let scale = |a: usize| self.standard.as_deref().map_or(1.0, |s| s.inverse[support[a] as usize]);
        for a in 0..size {
            for b in 0..=a {
                let entry = &mut gram[a * size + b];
                *entry = (*entry - n * centre(a) * centre(b)) * scale(a) * scale(b);
            }
            gram[a * size + a] += 0.5 * n * self.ridge;
            right[a] = (right[a] - centre(a) * total) * scale(a);
        }
        Ok(Some(NormalEquations { gram, right }))
    }

    /// The intercept that is best for given coefficients of least squares; 0 without intercept or for other losses.
    ///
    /// # Errors
    /// When the dimension is another.
    pub fn best_intercept(&self, x: &SparseVector) -> Result<f64, FiniteSumError> {
        self.check_support(x.indices())?;
        let Some(labels) = self.loss.squares().filter(|_| self.intercept) else { return Ok(0.0) };
        let mean = labels.iter().sum::<f64>() / labels.len() as f64;
        if self.offset().is_some() {
            return Ok(mean);
        }
        let inverse = |j: u32| self.standard.as_deref().map_or(1.0, |s| s.inverse[j as usize]);
        let predicted = x.view().iter().map(|(j, weight)| weight * inverse(j) * self.means[j as usize]);
        Ok(mean - predicted.sum::<f64>())
    }
}
