//! The number of attributes by an information criterion.

use lao_finite_sum::{FiniteSum, FiniteSumError, Predictor};

/// Returns the extended information criterion of a predictor that has k of m coefficients and was learned
/// from n rows (Chen & Chen 2008): `n log(loss) + k log(n) + 2 log(m choose k)` for least squares, and `2 n
/// loss` in the place of `n log(loss)` for other losses. The loss is the mean one, without the l2 term.
///
/// Of m attributes without effect, the best one lowers the first term by about `2 log m`. A criterion that
/// asks for less, as BIC does, and the one of abess, `log(m) log(log n)` for each coefficient, on all but
/// huge samples, adds such attributes in many samples.
///
/// ```
/// use lao_algorithms::thresholding::criterion;
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, Predictor};
///
/// let design = DesignMatrix::rows(4, 1, vec![1.0, 2.0, 3.0, 4.0])?;
/// let mut sum = FiniteSum::new(design, Loss::least_squares(vec![1.0, -1.0, 1.0, -1.0])?)?;
/// assert_eq!(criterion(&mut sum, &Predictor::zeros(1, 1))?, 0.0); // 4 log 1
/// # Ok::<(), lao_finite_sum::FiniteSumError>(())
/// ```
///
/// # Errors
/// Fails when the predictor has another shape than the sum.
pub fn criterion(sum: &mut FiniteSum, at: &Predictor) -> Result<f64, FiniteSumError> {
    let loss = sum.objective(at)? - 0.5 * sum.ridge() * at.norm_squared();
    let (n, m) = (sum.rows() as f64, (sum.dim() * sum.outputs()) as f64);
    let k = at.coefficients.iter().map(|x| x.len()).sum::<usize>() as f64;
    let choices = libm::lgamma(m + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(m - k + 1.0);
    let fit = if sum.loss().squares().is_some() { n * libm::log(loss) } else { 2.0 * n * loss };
    Ok(fit + k * libm::log(n) + 2.0 * choices)
}
