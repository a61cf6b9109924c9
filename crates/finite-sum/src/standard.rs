//! Standardization as arithmetic: with means m and scales s, `z~ = (z - m)/s`, so that a product `z~'x` is
//! the product of z with the scaled vector `x/s`, minus a number `m'(x/s)` that is the same for all rows.

use crate::error::FiniteSumError;
use crate::moments::Moments;
use crate::predictor::Predictor;
use crate::sum::FiniteSum;
use lao_kernels::SparseVector;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How columns are standardized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standardize {
    /// Columns are not standardized.
    #[default]
    No,
    /// Columns are divided by their standard deviation.
    Scale,
    /// The mean of each column is subtracted, and the column is divided by its standard deviation. Steps on
    /// single sparse rows then cost O(d).
    CenterAndScale,
}

/// Standardized values are `value * inverse[j] - offset[j]`.
#[derive(Debug)]
pub(crate) struct Standard {
    pub inverse: Vec<f64>,
    /// Empty if columns are not centered.
    pub offset: Vec<f64>,
}

impl FiniteSum {
    /// Returns the sum over the same rows with standardized columns; means and deviations are weighted if
    /// rows are. A constant column is not divided.
    ///
    /// # Errors
    /// Fails when a column's variance is not finite.
    pub fn standardized(mut self, how: Standardize) -> Result<FiniteSum, FiniteSumError> {
        if how == Standardize::No {
            return Ok(FiniteSum { standard: None, ..self });
        }
        let Moments { means, scales } = self.moments();
        if let Some(attribute) = scales.iter().position(|scale| !scale.is_finite()) {
            return Err(FiniteSumError::Scale { attribute, scale: scales[attribute] });
        }
        // A spread below the rounding error of the mean counts as zero.
        let spread = |scale: f64, mean: f64| scale > 8.0 * f64::EPSILON * mean.abs() && scale > 0.0;
        let inverse: Vec<f64> = scales
            .iter()
            .zip(means)
            .map(|(&scale, &mean)| if spread(scale, mean) { 1.0 / scale } else { 1.0 })
            .collect();
        let offset = match how {
            Standardize::CenterAndScale => {
                means.iter().zip(&inverse).map(|(m, inverse)| m * inverse).collect()
            }
            _ => Vec::new(),
        };
        self.standard = Some(Arc::new(Standard { inverse, offset }));
        Ok(self)
    }

    /// Returns the vector that is subtracted from every row after scaling, if columns are centered: row z
    /// stands for `z - offset`.
    pub fn offset(&self) -> Option<&[f64]> {
        self.standard.as_deref().map(|standard| &standard.offset[..]).filter(|offset| !offset.is_empty())
    }

    /// Returns the predictor in units of the columns as they are stored.
    ///
    /// # Errors
    /// Fails when it has another shape.
    pub fn to_original_scale(&self, predictor: &Predictor) -> Result<Predictor, FiniteSumError> {
        self.check_predictor(predictor)?;
        let mut stored = predictor.clone();
        if let Some(standard) = self.standard.as_deref() {
            for (x, intercept) in stored.coefficients.iter_mut().zip(&mut stored.intercepts) {
                *intercept -= self.shift_of(x)?;
                scale_by(x, &standard.inverse);
            }
        }
        Ok(stored)
    }

    /// Returns `offset' x`, which centering subtracts from every margin.
    ///
    /// # Errors
    /// Fails when the dimension is another.
    pub fn shift_of(&self, x: &SparseVector) -> Result<f64, FiniteSumError> {
        self.check_support(x.indices())?;
        Ok(self.offset().map_or(0.0, |offset| x.view().dot_dense(offset)))
    }
}

pub(crate) fn scale_by(x: &mut SparseVector, factors: &[f64]) {
    x.change_values(|j, value| value * factors[j as usize]);
}
