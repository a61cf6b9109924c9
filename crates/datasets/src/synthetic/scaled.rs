//! Another unit of measurement: `x -> c x`.
//!
//! With `theta* / c`, labels and excess risks stay the same, while `L_s` and `mu_s` grow by the factor `c^2`.
//! A statement that does not scale in this way has a misprint in its dimensions.

use super::{Design, DesignError, SpectrumBounds, Words};
use lao_kernels::SparseView;

/// `factor` times the attributes of `design`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled<D> {
    design: D,
    factor: f64,
}

impl<D: Design> Scaled<D> {
    /// Returns the design whose attributes are `factor` times those of `design`.
    ///
    /// # Errors
    /// Fails when `factor` is not positive and finite.
    pub fn new(design: D, factor: f64) -> Result<Scaled<D>, DesignError> {
        if factor > 0.0 && factor.is_finite() {
            Ok(Scaled { design, factor })
        } else {
            let (design, field) = ("Scaled", "factor");
            Err(DesignError::Parameter { design, field, value: factor, allowed: "positive and finite" })
        }
    }

    /// Returns the design that is scaled.
    pub fn inner(&self) -> &D {
        &self.design
    }

    /// Returns the factor.
    pub fn factor(&self) -> f64 {
        self.factor
    }
}

impl<D: Design> Design for Scaled<D> {
    fn dim(&self) -> usize {
        self.design.dim()
    }

    fn prepare(&self, words: &Words, first_row: u64, rows: usize, shared: &mut Vec<f64>) {
        self.design.prepare(words, first_row, rows, shared);
    }

    fn fill(&self, words: &Words, shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        self.design.fill(words, shared, first_row, attribute, out);
        for x in out {
            *x *= self.factor;
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        self.factor * self.factor * self.design.quadratic_form(v)
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        self.design.covariance_times(v, out);
        for x in out {
            *x *= self.factor * self.factor;
        }
    }

    fn r_inf(&self) -> f64 {
        self.factor * self.design.r_inf()
    }

    fn restricted(&self, order: usize) -> SpectrumBounds {
        let SpectrumBounds { smallest, largest, exact } = self.design.restricted(order);
        let square = self.factor * self.factor;
        SpectrumBounds { smallest: square * smallest, largest: square * largest, exact }
    }
}
