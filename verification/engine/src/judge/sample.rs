//! The moments of a sample, and the t test that uses them.

use super::{DRAWN_LEVEL, Interval};
use crate::special::{student_tails, student_upper_quantile};

/// The size, mean and central moments of a sample, summed in index order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Number of values.
    pub n: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation with divisor `n - 1`; zero for fewer than two values.
    pub sd: f64,
    /// Skewness with divisor `n` throughout; zero when the standard deviation is zero.
    pub skewness: f64,
}

impl Moments {
    /// Returns the moments of `values`, which are NaN if a value is not finite.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        let size = n as f64;
        let mean = values.iter().sum::<f64>() / size;
        let (mut m2, mut m3) = (0.0, 0.0);
        for x in values {
            let deviation = x - mean;
            m2 += deviation * deviation;
            m3 += deviation * deviation * deviation;
        }
        let sd = if n < 2 { 0.0 } else { (m2 / (size - 1.0)).sqrt() };
        let skewness = if m2 == 0.0 { 0.0 } else { (m3 / size) / (m2 / size).powf(1.5) };
        Moments { n, mean, sd, skewness }
    }

    /// Returns the standard error of the mean.
    pub fn se(&self) -> f64 {
        self.sd / (self.n as f64).sqrt()
    }

    /// Returns the degrees of freedom, `n - 1`.
    pub fn df(&self) -> f64 {
        self.n as f64 - 1.0
    }

    /// Returns whether the values differ by more than rounding.
    pub fn varies(&self) -> bool {
        self.n >= 2 && self.sd > 1e-13 * (1.0 + self.mean.abs())
    }

    /// Returns the p-values of "the mean is at least `at`" and "the mean is at most `at`", in this order, by
    /// the t test.
    pub fn t_test(&self, at: f64) -> (f64, f64) {
        let tails = student_tails((self.mean - at) / self.se(), self.df());
        (tails.lower.exp(), tails.upper.exp())
    }

    /// Returns the two-sided t interval that is drawn beside a verdict.
    pub fn t_interval(&self) -> Interval {
        let reach = student_upper_quantile(0.5 * (1.0 - DRAWN_LEVEL), self.df()) * self.se();
        Interval { level: DRAWN_LEVEL, lo: self.mean - reach, hi: self.mean + reach, method: "t".into() }
    }
}

/// Returns the p-values of "the mean lies outside `[lo, hi]`" (a small value supports) and "the mean lies
/// inside" (a small value refutes), from p-values at the two ends. Either end may be infinite.
///
/// Support is an intersection-union test: both one-sided tests use the full level. For refutation the two
/// ends share the level; a single finite end has the whole level.
pub(crate) fn inside(
    lo: f64,
    hi: f64,
    mut test: impl FnMut(f64) -> (f64, f64), // (p of "mean >= at", p of "mean <= at")
) -> (f64, f64) {
    let at_lo = lo.is_finite().then(|| test(lo));
    let at_hi = hi.is_finite().then(|| test(hi));
    match (at_lo, at_hi) {
        (Some(low), Some(high)) => {
            let p_refute = if low.0.is_nan() || high.1.is_nan() { f64::NAN } else { 2.0 * low.0.min(high.1) };
            (larger(low.1, high.0), if p_refute.is_nan() { p_refute } else { p_refute.min(1.0) })
        }
        (Some(low), None) => (low.1, low.0),
        (None, Some(high)) => (high.0, high.1),
        (None, None) => (f64::NAN, f64::NAN),
    }
}

/// Returns the larger of two numbers, or NaN if one of them is NaN.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
