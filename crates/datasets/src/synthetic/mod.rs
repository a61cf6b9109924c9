//! Virtual designs: examples that are computed from (seed, row, column) when they are observed.
//!
//! To observe k attributes of an example costs O(k) whatever the dimension, and no data are stored, so that
//! 10^6 attributes and 10^9 examples are ordinary. Each [`Design`] knows its exact covariance `Sigma = E x
//! x'`, the bound `R_inf` and the eigenvalues of Sigma over small supports. Therefore the excess risk `(theta
//! - theta*)' Sigma (theta - theta*)` and the constants of a theorem are computed, never estimated.
//! [`Virtual`] adds `theta*` and noise and is a [`Source`](lao_observation::Source).
//!
//! | design | x | Sigma |
//! |---|---|---|
//! | [`Rademacher`], [`UniformAttributes`], [`Normal`] | independent attributes of variance 1 | I |
//! | [`Hadamard`] | a random row of the Hadamard matrix | I |
//! | [`CorrelatedPairs`], [`HadamardPairs`] | signs that agree in pairs | blocks `[[1, rho], [rho, 1]]` |
//! | [`Centered`] | signs minus their mean | `I - 11'/d`, singular |
//! | [`CommonSign`], [`Duplicated`] | signs, some of them equal | all ones over equal attributes |
//! | [`EquicorrelatedBlocks`] | signs that agree in blocks | blocks of `(1 - rho) I + rho 11'` |
//! | [`Chain`] | normal attributes, each correlated with its neighbors | `rho^|i-j|` |
//! | [`FactorModel`] | signs that load on common signs | low rank plus diagonal |
//! | [`Combinations`] | linear combinations `A s` of signs | `A A'`, any covariance |
//! | [`Sphere`] | uniform on the unit sphere | `I/d` |
//! | [`Scaled`] | `c` times another design | `c^2` times the other |
//!
//! A finite set of rows allows more: [`Counted`] answers a gradient over any number of examples from
//! multinomial row counts.

mod binomial;
mod centered;
mod chain;
mod combinations;
mod factors;
mod groups;
mod hadamard;
mod independent;
mod pairs;
mod scaled;
mod source;
mod sphere;
#[doc(hidden)]
pub mod words;

pub use centered::Centered;
pub use chain::Chain;
pub use combinations::Combinations;
pub use factors::FactorModel;
pub use groups::{CommonSign, Duplicated, EquicorrelatedBlocks};
pub use hadamard::{
    Counted, Hadamard, HadamardPairs, WalshRows, fwht, gradient_from_counts, noise_sums, row_counts,
};
pub use independent::{Normal, Rademacher, UniformAttributes};
pub use pairs::CorrelatedPairs;
pub use scaled::Scaled;
pub use source::{Noise, Virtual};
pub use sphere::Sphere;
pub use words::{WordStream, Words};

use lao_kernels::{SparseVector, SparseView};
use std::fmt::Debug;
use std::sync::Arc;
use thiserror::Error;

/// The law of an example's attributes, with its exact constants.
pub trait Design: Debug + Send + Sync {
    /// Returns `d`, the number of attributes.
    fn dim(&self) -> usize;

    /// Computes the expensive numbers that several attributes of a row share, for the rows `first_row ..`.
    /// They are passed to [`fill`](Design::fill) for the same rows. Most designs have no such numbers.
    fn prepare(&self, _words: &Words, _first_row: u64, _rows: usize, _shared: &mut Vec<f64>) {}

    /// Writes `attribute` of the rows `first_row ..` to `out`. The values follow from `words` alone, so that
    /// a row and an attribute always give the same value.
    fn fill(&self, words: &Words, shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]);

    /// Writes these attributes of one row to `out`, one number each, as [`fill`](Design::fill) does.
    fn fill_row(&self, words: &Words, shared: &[f64], row: u64, attributes: &[u32], out: &mut [f64]) {
        for (&attribute, x) in attributes.iter().zip(out) {
            self.fill(words, shared, row, attribute, std::slice::from_mut(x));
        }
    }

    /// Returns `v' Sigma v`, at a cost that depends on the stored entries of `v` and not on `d`.
    fn quadratic_form(&self, v: SparseView<'_>) -> f64;

    /// Writes all `d` coordinates of `Sigma v` to `out`.
    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]);

    /// Returns `R_inf`: almost surely `|x_j| <= R_inf` for every attribute; infinite if unbounded.
    fn r_inf(&self) -> f64;

    /// Returns the extreme eigenvalues of Sigma over the supports of `order` coordinates (at least 1; an
    /// order above `d` means `d`).
    fn restricted(&self, order: usize) -> SpectrumBounds;

    /// Returns Sigma as a dense matrix, row by row.
    ///
    /// # Errors
    /// Fails when `d` exceeds [`DENSE_LIMIT`].
    fn covariance(&self) -> Result<Vec<f64>, DesignError> {
        let dim = self.dim();
        if dim > DENSE_LIMIT {
            return Err(DesignError::TooLarge { dim });
        }
        let mut covariance = vec![0.0; dim * dim];
        let mut unit = SparseVector::zeros(dim);
        for (j, row) in covariance.chunks_exact_mut(dim.max(1)).enumerate() {
            unit.clear();
            unit.push(j as u32, 1.0);
            self.covariance_times(unit.view(), row);
        }
        Ok(covariance)
    }
}

/// The largest dimension for which [`Design::covariance`] builds a dense matrix.
pub const DENSE_LIMIT: usize = 4096;

/// Extreme eigenvalues of a covariance over all supports of one size: the least and greatest `u' Sigma u`
/// over unit vectors `u` with that many non-zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectrumBounds {
    /// The least, or a lower bound on it.
    pub smallest: f64,
    /// The greatest, or an upper bound on it.
    pub largest: f64,
    /// Whether these are the eigenvalues themselves.
    pub exact: bool,
}

impl SpectrumBounds {
    /// Returns the eigenvalues known in closed form.
    pub fn exact(smallest: f64, largest: f64) -> SpectrumBounds {
        SpectrumBounds { smallest, largest, exact: true }
    }
}

/// A pointer to a design is a design: for tables of designs, and for sharing one.
macro_rules! design_behind {
    ($($pointer:ident),*) => {$(
        impl<D: Design + ?Sized> Design for $pointer<D> {
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn prepare(&self, words: &Words, first_row: u64, rows: usize, shared: &mut Vec<f64>) {
                (**self).prepare(words, first_row, rows, shared);
            }
            fn fill(&self, words: &Words, shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
                (**self).fill(words, shared, first_row, attribute, out);
            }
            fn fill_row(&self, words: &Words, shared: &[f64], row: u64, attributes: &[u32], out: &mut [f64]) {
                (**self).fill_row(words, shared, row, attributes, out);
            }
            fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
                (**self).quadratic_form(v)
            }
            fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
                (**self).covariance_times(v, out);
            }
            fn r_inf(&self) -> f64 {
                (**self).r_inf()
            }
            fn restricted(&self, order: usize) -> SpectrumBounds {
                (**self).restricted(order)
            }
        }
    )*};
}

design_behind!(Box, Arc);

/// The reason why parameters give no design or no virtual source.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DesignError {
    /// The dimension does not suit the design.
    #[error("{design}: dimension {dim} is not allowed; give {allowed}")]
    Dimension {
        /// The design.
        design: &'static str,
        /// The dimension.
        dim: usize,
        /// What would be allowed.
        allowed: &'static str,
    },
    /// A parameter is out of its range.
    #[error("{design}: {field} is {value}, but must be {allowed}")]
    Parameter {
        /// The design.
        design: &'static str,
        /// The parameter.
        field: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// `theta*` lives in another space than the design.
    #[error("theta* has dimension {theta}, but the design has {design}: give them the same dimension")]
    ThetaStar {
        /// Dimension of theta*.
        theta: usize,
        /// Dimension of the design.
        design: usize,
    },
    /// A dense covariance would be too large.
    #[error(
        "a dense {dim} x {dim} covariance is refused above dimension {DENSE_LIMIT}; use quadratic_form or \
         covariance_times"
    )]
    TooLarge {
        /// The dimension.
        dim: usize,
    },
}

/// Attributes are numbered by `u32`.
pub(crate) const MOST_ATTRIBUTES: usize = 1 << 32;

/// Returns `dim` if it `suits` the design and its attributes can be numbered by `u32`. `allowed` describes
/// the dimensions that suit, for the error.
pub(crate) fn check_dim(
    design: &'static str,
    dim: usize,
    suits: bool,
    allowed: &'static str,
) -> Result<usize, DesignError> {
    if suits && (1..=MOST_ATTRIBUTES).contains(&dim) {
        Ok(dim)
    } else {
        Err(DesignError::Dimension { design, dim, allowed })
    }
}

/// Writes all coordinates of `v` to `out`, which are those of `Sigma v` if `Sigma = I`.
pub(crate) fn identity_times(v: SparseView<'_>, out: &mut [f64]) {
    out.fill(0.0);
    for (j, value) in v.iter() {
        out[j as usize] = value;
    }
}
