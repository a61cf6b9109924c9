//! A chain: normal attributes of variance 1, each correlated with its neighbors.
//!
//! `x_0 = e_0` and `x_j = rho x_{j-1} + sqrt(1 - rho^2) e_j` with independent standard normal e, so
//! `Sigma_ij = rho^|i-j|`.
//!
//! *Cost.* An attribute follows from those before it, so that an example costs O(d), however few attributes
//! are observed.

use super::{Design, DesignError, SpectrumBounds, Words, check_dim};
use lao_kernels::SparseView;
use rand_distr::{Distribution, StandardNormal};

/// A chain of correlated normal attributes; unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    dim: usize,
    rho: f64,
}

impl Chain {
    /// Returns the chain of `dim` attributes, of which neighbors have the correlation `rho`.
    ///
    /// # Errors
    /// Fails when `dim` is 0 or above 2^32, or `rho` is not above -1 and below 1.
    pub fn new(dim: usize, rho: f64) -> Result<Chain, DesignError> {
        const DESIGN: &str = "Chain";
        let dim = check_dim(DESIGN, dim, true, "1 to 2^32 attributes")?;
        if !(rho > -1.0 && rho < 1.0) {
            let allowed = "above -1 and below 1";
            return Err(DesignError::Parameter { design: DESIGN, field: "rho", value: rho, allowed });
        }
        Ok(Chain { dim, rho })
    }
}

impl Design for Chain {
    fn dim(&self) -> usize {
        self.dim
    }

    /// Computes whole rows, attribute after attribute.
    fn prepare(&self, words: &Words, first_row: u64, rows: usize, shared: &mut Vec<f64>) {
        shared.clear();
        shared.resize(rows * self.dim, 0.0);
        let rest = (1.0 - self.rho * self.rho).sqrt();
        for j in 0..self.dim {
            let (before, from_here) = shared.split_at_mut(j * rows);
            let stream = words.stream(0, j as u32);
            for (row, x) in (0..).zip(&mut from_here[..rows]) {
                *x = StandardNormal.sample(&mut stream.draws(first_row.wrapping_add(row)));
            }
            if j > 0 {
                let last = &before[(j - 1) * rows..];
                from_here[..rows].iter_mut().zip(last).for_each(|(x, l)| *x = self.rho * l + rest * *x);
            }
        }
    }

    fn fill(&self, _words: &Words, shared: &[f64], _first_row: u64, attribute: u32, out: &mut [f64]) {
        let rows = shared.len() / self.dim;
        out.copy_from_slice(&shared[attribute as usize * rows..][..out.len()]);
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        // `earlier` is sum rho^(j-i) v_i over the entries before j.
        let (mut total, mut earlier, mut last) = (0.0, 0.0, 0);
        for (j, value) in v.iter() {
            earlier *= self.rho.powi((j - last) as i32);
            total += value * (value + 2.0 * earlier);
            earlier += value;
            last = j;
        }
        total
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        out.fill(0.0);
        v.iter().for_each(|(j, value)| out[j as usize] = value);
        // Sums over the entries up to j and from j on, less the entry at j, which is in both.
        let mut up_to = 0.0;
        let mut from = 0.0;
        let entries: Vec<f64> = out.to_vec();
        for (x, v) in out.iter_mut().zip(&entries) {
            up_to = self.rho * up_to + v;
            *x = up_to;
        }
        for (x, v) in out.iter_mut().zip(&entries).rev() {
            from = self.rho * from + v;
            *x += from - v;
        }
    }

    fn r_inf(&self) -> f64 {
        f64::INFINITY
    }

    /// Returns bounds: the extremes of the spectrum of the infinite chain.
    fn restricted(&self, order: usize) -> SpectrumBounds {
        let rho = self.rho.abs();
        match order.min(self.dim) {
            0 | 1 => SpectrumBounds::exact(1.0, 1.0),
            2 => SpectrumBounds::exact(1.0 - rho, 1.0 + rho),
            _ => SpectrumBounds {
                smallest: (1.0 - rho) / (1.0 + rho),
                largest: (1.0 + rho) / (1.0 - rho),
                exact: false,
            },
        }
    }
}
