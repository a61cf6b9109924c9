//! Independent attributes of mean 0 and variance 1: `Sigma = I`, so `kappa = 1` at every sparsity.
//!
//! *Source.* Murata & Suzuki (2018) experiment on standard normal attributes; signs and uniform attributes
//! satisfy the boundedness that their theorems ask for as well.

use super::words::{WordStream, centered_uniform, fill_signs, sign_of_row};
use super::{Design, DesignError, SpectrumBounds, Words, check_dim, identity_times};
use lao_kernels::SparseView;
use rand_distr::{Distribution, StandardNormal};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Attributes drawn independently from one law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Independent<L> {
    dim: usize,
    law: PhantomData<L>,
}

/// Signs +1 and -1 with equal probability; `R_inf = 1`.
pub type Rademacher = Independent<RademacherLaw>;
/// Attributes that are uniform on `[-sqrt 3, sqrt 3]`; `R_inf = sqrt 3`.
pub type UniformAttributes = Independent<UniformLaw>;
/// Standard normal attributes, which are unbounded.
pub type Normal = Independent<NormalLaw>;

/// A law on the line with mean 0 and variance 1.
pub trait Law: Debug + Clone + Copy + Send + Sync + 'static {
    /// The name of the design, for messages.
    const DESIGN: &'static str;
    /// The support of the law is within `[-BOUND, BOUND]`.
    const BOUND: f64;
    /// Writes one draw per row `first_row ..`.
    fn fill(stream: WordStream, first_row: u64, out: &mut [f64]) {
        for (row, x) in (0..).zip(out) {
            *x = Self::draw(stream, first_row.wrapping_add(row));
        }
    }
    /// Returns the draw of one row.
    fn draw(stream: WordStream, row: u64) -> f64;
}

/// The law of [`Rademacher`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RademacherLaw;
/// The law of [`UniformAttributes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformLaw;
/// The law of [`Normal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NormalLaw;

const SQRT_3: f64 = 1.732_050_807_568_877_2;

impl Law for RademacherLaw {
    const DESIGN: &'static str = "Rademacher";
    const BOUND: f64 = 1.0;
    fn fill(stream: WordStream, first_row: u64, out: &mut [f64]) {
        fill_signs(first_row, out, |row| stream.word(row));
    }
    #[inline(always)]
    fn draw(stream: WordStream, row: u64) -> f64 {
        sign_of_row(row, |row| stream.word(row))
    }
}

impl Law for UniformLaw {
    const DESIGN: &'static str = "Uniform";
    const BOUND: f64 = SQRT_3;
    #[inline(always)]
    fn draw(stream: WordStream, row: u64) -> f64 {
        2.0 * SQRT_3 * centered_uniform(stream.word(row))
    }
}

impl Law for NormalLaw {
    const DESIGN: &'static str = "Normal";
    const BOUND: f64 = f64::INFINITY;
    #[inline(always)]
    fn draw(stream: WordStream, row: u64) -> f64 {
        StandardNormal.sample(&mut stream.draws(row))
    }
}

impl<L: Law> Independent<L> {
    /// Returns the design of `dim` attributes.
    ///
    /// # Errors
    /// Fails when `dim` is 0 or above 2^32.
    pub fn new(dim: usize) -> Result<Self, DesignError> {
        let dim = check_dim(L::DESIGN, dim, true, "1 to 2^32 attributes")?;
        Ok(Independent { dim, law: PhantomData })
    }
}

impl<L: Law> Design for Independent<L> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        L::fill(words.stream(0, attribute), first_row, out);
    }

    fn fill_row(&self, words: &Words, _shared: &[f64], row: u64, attributes: &[u32], out: &mut [f64]) {
        for (&attribute, x) in attributes.iter().zip(out) {
            *x = L::draw(words.stream(0, attribute), row);
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        v.norm_squared()
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        identity_times(v, out);
    }

    fn r_inf(&self) -> f64 {
        L::BOUND
    }

    fn restricted(&self, _order: usize) -> SpectrumBounds {
        SpectrumBounds::exact(1.0, 1.0)
    }
}
