//! Pairs of signs that agree: attributes 2i and 2i + 1 have correlation `rho`, and the pairs are independent.
//!
//! Sigma is block diagonal with blocks `[[1, rho], [rho, 1]]`, so at any order of at least 2 its restricted
//! eigenvalues are `1 - |rho|` and `1 + |rho|`, and `kappa = (1 + |rho|) / (1 - |rho|)`.

use super::words::{chance, fill_signs, flip_signs};
use super::{Design, DesignError, SpectrumBounds, Words, check_dim};
use lao_kernels::SparseView;

/// `x_{2i}` is a fair sign; `x_{2i+1}` equals it with probability `(1 + rho) / 2` and is its negative
/// otherwise. `R_inf = 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrelatedPairs {
    dim: usize,
    rho: f64,
}

impl CorrelatedPairs {
    /// Returns the design of `dim / 2` pairs of correlation `rho`.
    ///
    /// # Errors
    /// Fails when `dim` is odd, zero or above 2^32, or `rho` does not lie strictly between -1 and 1.
    pub fn new(dim: usize, rho: f64) -> Result<CorrelatedPairs, DesignError> {
        const DESIGN: &str = "CorrelatedPairs";
        let dim = check_dim(DESIGN, dim, dim.is_multiple_of(2), "an even number from 2 to 2^32")?;
        Ok(CorrelatedPairs { dim, rho: check_rho(DESIGN, rho)? })
    }

    /// Returns the correlation within a pair.
    pub fn rho(&self) -> f64 {
        self.rho
    }
}

impl Design for CorrelatedPairs {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        let sign = words.stream(0, attribute & !1);
        fill_signs(first_row, out, |row| sign.word(row));
        if attribute % 2 == 1 {
            flip_signs(words.stream(1, attribute), chance((1.0 + self.rho) / 2.0), first_row, out);
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        quadratic_form(self.rho, v)
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        covariance_times(self.rho, v, out);
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, order: usize) -> SpectrumBounds {
        restricted(self.rho, order)
    }
}

pub(super) fn check_rho(design: &'static str, rho: f64) -> Result<f64, DesignError> {
    if rho > -1.0 && rho < 1.0 {
        Ok(rho)
    } else {
        Err(DesignError::Parameter { design, field: "rho", value: rho, allowed: "strictly between -1 and 1" })
    }
}

pub(super) fn quadratic_form(rho: f64, v: SparseView<'_>) -> f64 {
    let pairs = v.indices().windows(2).zip(v.values().windows(2));
    let products = pairs.filter(|(at, _)| at[0] ^ 1 == at[1]).map(|(_, v)| v[0] * v[1]);
    v.norm_squared() + 2.0 * rho * products.sum::<f64>()
}

pub(super) fn covariance_times(rho: f64, v: SparseView<'_>, out: &mut [f64]) {
    out.fill(0.0);
    for (j, value) in v.iter() {
        out[j as usize] += value;
        out[j as usize ^ 1] += rho * value;
    }
}

pub(super) fn restricted(rho: f64, order: usize) -> SpectrumBounds {
    let off_diagonal = if order >= 2 { rho.abs() } else { 0.0 };
    SpectrumBounds::exact(1.0 - off_diagonal, 1.0 + off_diagonal)
}
