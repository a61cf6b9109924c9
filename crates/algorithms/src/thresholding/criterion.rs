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

/// The path ends after so many sparsities, and half as many again as the best one, without a lower criterion.
const PATIENCE: usize = 5;

/// The search for the sparsity of least [`criterion`]: one sparsity after the other, each model from the
/// answer for one less, until the criterion has not fallen for long.
///
/// ```
/// use lao_algorithms::thresholding::{
///     ExchangeParams, Shape, SolverLimit, SolverTask, SparsityPath, solve,
/// };
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Of three attributes, signs of different frequencies, the label is the first one and noise.
/// let sign = |i: usize, j: usize| if (i >> j) % 2 == 0 { 1.0 } else { -1.0 };
/// let columns = (0..3).flat_map(|j| (0..32).map(move |i| sign(i, j))).collect();
/// let labels = (0..32).map(|i| 3.0 * sign(i, 0) + 0.01 * (i * i % 32) as f64).collect();
/// let rows = DesignMatrix::columns(32, 3, columns)?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(labels)?)?;
///
/// let mut path = SparsityPath::new(1, 3);
/// let mut next = path.next();
/// while let Some((sparsity, start)) = next {
///     let task = SolverTask { sparsity, start, ..SolverTask::default() };
///     let mut solver = ExchangeParams::practical(&task).build(Shape::of(&sum))?;
///     let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(100))?;
///     path.take(&mut sum, run.predictor)?;
///     next = path.next();
/// }
/// assert_eq!(path.best().unwrap().coefficients[0].indices(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparsityPath {
    least: usize,
    most: usize,
    whole: bool,
    tried: Vec<f64>,
    last: Option<Predictor>,
    best: Option<(f64, usize, Predictor)>,
}

impl SparsityPath {
    /// Returns a path of the sparsities from `least` to `most`.
    pub fn new(least: usize, most: usize) -> Self {
        SparsityPath { least, most, whole: false, tried: Vec::new(), last: None, best: None }
    }

    /// Returns the path that goes on to its largest sparsity.
    #[must_use]
    pub fn whole(self) -> Self {
        SparsityPath { whole: true, ..self }
    }

    /// Returns the sparsity to solve for next, and where to start; `None` at the end of the path.
    pub fn next(&self) -> Option<(usize, Option<Predictor>)> {
        let size = self.least + self.tried.len();
        let best = self.best.as_ref().map_or(self.least, |(_, best, _)| *best);
        let is_patient = self.whole || size <= best + PATIENCE + best / 2;
        (size <= self.most && is_patient).then(|| (size, self.last.clone()))
    }

    /// Takes the answer for the sparsity that was [next](Self::next).
    ///
    /// # Errors
    /// Fails when the predictor has another shape than the sum.
    pub fn take(&mut self, sum: &mut FiniteSum, found: Predictor) -> Result<(), FiniteSumError> {
        let now = criterion(sum, &found)?;
        if self.best.as_ref().is_none_or(|(lowest, ..)| now < *lowest) {
            self.best = Some((now, self.least + self.tried.len(), found.clone()));
        }
        self.tried.push(now);
        self.last = Some(found);
        Ok(())
    }

    /// Returns the criterion of each sparsity so far.
    pub fn tried(&self) -> &[f64] {
        &self.tried
    }

    /// Returns the answer of least criterion.
    pub fn best(&self) -> Option<&Predictor> {
        self.best.as_ref().map(|(.., best)| best)
    }
}
