//! The constants of a linear problem that theorems use.

use serde::{Deserialize, Serialize};

/// Constants of the population loss `L(theta) = E (theta' x - y)^2` with `y = theta*' x + xi`.
///
/// `smoothness` and `convexity` are the restricted constants over differences of two s-sparse vectors, with
/// the factor 2 of the squared loss: `2 max u' Sigma u` and `2 min u' Sigma u` over unit vectors `u` with at
/// most `2s` non-zeros.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// `L_s`, restricted smoothness (loss per squared unit of theta).
    pub smoothness: f64,
    /// `mu_s`, restricted strong convexity (in the same unit).
    pub convexity: f64,
    /// `R_inf`: almost surely `|x_j| <= R_inf` for every attribute j.
    pub bound: f64,
    /// `sigma`: the noise `xi` is sub-Gaussian with parameter `sigma^2`.
    pub noise: f64,
    /// `s* = |supp(theta*)|`.
    pub sparsity: usize,
}

impl Constants {
    /// Returns the restricted condition number `kappa_s = L_s / mu_s`.
    pub fn condition(&self) -> f64 {
        self.smoothness / self.convexity
    }
}
