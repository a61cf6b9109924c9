//! Examples on the unit sphere: the simplest law with `|x| <= 1`.
//!
//! `x = z/|z|` with z standard normal, so x is uniform on the sphere and `Sigma = I/d`.
//!
//! *Cost.* Every attribute needs the length of its row's z, so that an example costs O(d), however few
//! attributes are observed.

use super::{Design, DesignError, SpectrumBounds, Words, check_dim, identity_times};
use lao_kernels::SparseView;
use rand_distr::{Distribution, StandardNormal};

/// Examples that are uniform on the unit sphere. `R_inf = 1`, which only the poles attain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sphere {
    dim: usize,
}

impl Sphere {
    /// Returns the design of `dim` attributes.
    ///
    /// # Errors
    /// Fails when `dim` is 0 or above 2^32.
    pub fn new(dim: usize) -> Result<Sphere, DesignError> {
        Ok(Sphere { dim: check_dim("Sphere", dim, true, "1 to 2^32 attributes")? })
    }
}

fn normal(words: &Words, row: u64, attribute: u32) -> f64 {
    StandardNormal.sample(&mut words.stream(0, attribute).draws(row))
}

impl Design for Sphere {
    fn dim(&self) -> usize {
        self.dim
    }

    fn prepare(&self, words: &Words, first_row: u64, rows: usize, shared: &mut Vec<f64>) {
        shared.clear();
        shared.extend((0..rows as u64).map(|row| {
            let square = |j: usize| normal(words, first_row.wrapping_add(row), j as u32).powi(2);
            let length = (0..self.dim).map(square).sum::<f64>().sqrt();
            // All normals of a row vanish with probability zero; then the example is zero.
            if length > 0.0 { 1.0 / length } else { 0.0 }
        }));
    }

    fn fill(&self, words: &Words, shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        for ((row, x), scale) in (0..).zip(out).zip(shared) {
            *x = scale * normal(words, first_row.wrapping_add(row), attribute);
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        v.norm_squared() / self.dim as f64
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        identity_times(v, out);
        out.iter_mut().for_each(|x| *x /= self.dim as f64);
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, _order: usize) -> SpectrumBounds {
        SpectrumBounds::exact(1.0 / self.dim as f64, 1.0 / self.dim as f64)
    }
}
