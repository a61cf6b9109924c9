//! Intervals of the coefficients, from the examples since the last change of the support.

use super::Pursuit;
use super::fit::solve_factored;
use lao_kernels::solve_positive;

/// The probability with which an interval misses, at most.
const MISSES: f64 = 0.05;
/// The quantile of a normal law that it exceeds with half this probability.
const QUANTILE: f64 = 1.959_963_984_540_054;
/// The number of examples at which the interval that holds at all times is about the tightest.
const TIGHTEST_AT: f64 = 100.0;
/// An estimate rests on at least so many examples, and so many more for each attribute of the support.
const LEAST: f64 = 20.0;
const LEAST_PER_ATTRIBUTE: f64 = 3.0;

/// What the examples since the last change of the support say by themselves of the coefficient of an
/// attribute: of the best linear predictor from the attributes of the support.
///
/// The examples before helped to choose the attribute, and what was chosen for its large effect seems larger
/// than it is. If a value of a watched attribute was missing since then, it is what all examples say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The number of examples that it rests on, or their weight.
    pub examples: f64,
    /// This number less that of the coefficients, one of which is the intercept.
    pub freedom: f64,
}

impl Estimate {
    /// Returns the interval that misses with probability 5 %, if the number of examples was fixed before they
    /// were seen.
    pub fn interval(&self) -> [f64; 2] {
        // Two terms of the expansion of Student's quantile.
        self.within(QUANTILE * (1.0 + (QUANTILE * QUANTILE + 1.0) / (4.0 * self.freedom)))
    }

    /// Returns the interval that may be looked at after every example: the probability that it ever misses,
    /// for this support, is at most 5 %. It is longer, and `None` where there are too few examples for any.
    pub fn anytime_interval(&self) -> Option<[f64; 2]> {
        let Estimate { examples, freedom, .. } = *self;
        let c = TIGHTEST_AT / (TIGHTEST_AT + examples);
        let q = libm::exp((2.0 * libm::log(MISSES) + libm::log(c)) / (freedom + 1.0));
        (q > c).then(|| self.within((freedom * (1.0 - q) / (q - c)).sqrt()))
    }

    fn within(&self, quantile: f64) -> [f64; 2] {
        let half = quantile * self.standard_error;
        [self.value - half, self.value + half]
    }

    /// Returns the estimate, if it rests on enough examples for this size of the support.
    fn enough(self, size: usize) -> Option<Estimate> {
        let is_enough = self.examples >= LEAST + LEAST_PER_ATTRIBUTE * size as f64;
        let is_finite = self.value.is_finite() && self.standard_error.is_finite();
        (is_enough && is_finite && self.standard_error > 0.0).then_some(self)
    }
}

impl Pursuit {
    /// Returns the estimate of each attribute of the support, which are computed once per update.
    pub(super) fn estimates(&self) -> &[Option<Estimate>] {
        self.scratch.estimates.get_or_init(|| {
            let gaps = self.moments.gaps != self.before.gaps;
            if gaps { self.estimates_of_all() } else { self.estimates_since() }
        })
    }

    /// Returns the estimates by all examples.
    fn estimates_of_all(&self) -> Vec<Option<Estimate>> {
        let Pursuit { support, moments, variances, theta, .. } = self;
        let size = support.len();
        let examples = support.iter().map(|&j| moments.seen[j as usize]).fold(f64::INFINITY, f64::min);
        let freedom = examples - size as f64 - 1.0;
        let of = |(&j, variance): (&u32, &f64)| {
            let (value, standard_error) = (theta.view().get(j), variance.sqrt());
            Estimate { value, standard_error, examples, freedom }.enough(size)
        };
        support.iter().zip(variances).map(of).collect()
    }

    /// Returns the estimates by the examples since the last change of the support.
    fn estimates_since(&self) -> Vec<Option<Estimate>> {
        let Pursuit { support, moments, before, .. } = self;
        let size = support.len();
        let examples = moments.weight() - before.weight();
        let noise = (moments.errors - before.errors) / examples;
        let freedom = examples - size as f64 - 1.0;
        let slots: Vec<usize> = support.iter().filter_map(|&j| moments.pairs.slot(j)).collect();
        let (mut factor, mut coefficients) = (vec![0.0; size * size], Vec::with_capacity(size));
        before.products_since((support, &slots), moments, &mut factor, &mut coefficients);
        solve_positive(&mut factor, &mut coefficients);
        let mut unit = vec![0.0; size];
        let mut of = |(at, &value): (usize, &f64)| {
            unit.fill(0.0);
            unit[at] = 1.0;
            solve_factored(&factor, &mut unit);
            let standard_error = (noise / examples * unit[at]).sqrt();
            Estimate { value, standard_error, examples, freedom }.enough(size)
        };
        coefficients.iter().enumerate().map(&mut of).collect()
    }
}
