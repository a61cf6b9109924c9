//! Random rows of the Sylvester-Hadamard matrix, one by one or in batches of any size.
//!
//! *Source.* Row r of the matrix has entries `x_j = (-1)^{popcount(r & j)}`. Its d rows are orthogonal, so a
//! uniformly drawn one has `Sigma = E x x' = I`. (Attribute 0 is the constant 1: a second moment, not a
//! variance.) With `P(r even) = (1 + rho) / 2`, and r uniform otherwise, attributes 2i and 2i + 1 have
//! correlation `rho`; for `rho >= 0` that is the mixture of a row of the d-matrix (probability `1 - rho`) and
//! a row of the (d/2)-matrix with every attribute doubled (probability `rho`), for the latter are the even
//! rows.
//!
//! *Batches.* There are only d different rows. The gradient sum of B examples depends on how often each row
//! was drawn (a multinomial) and on the noise summed over each row's examples; two Walsh-Hadamard transforms
//! do the rest, in O(d log d) whatever B is:
//!
//! ```text
//! sum over examples of 2 (theta' x - y) x = 2 H (n * (H v) - Xi),   v = theta - theta*
//! ```

use super::binomial::fair_binomial;
use super::source::subtract;
use super::words::{Words, chance, fill_signs, flip_signs, sign_of_row};
use super::{Design, DesignError, Noise, Scaled, SpectrumBounds, Virtual, check_dim, identity_times, pairs};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{BlockBuf, GradientAsk, Rng, Scratch, Source, SourceError};
use multiversion::multiversion;
use rand_distr::{Binomial, Distribution, StandardNormal};

/// A uniformly drawn row of the Hadamard matrix: pairwise uncorrelated signs, `Sigma = I`, `R_inf = 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hadamard {
    dim: usize,
}

/// A row of the Hadamard matrix, even with probability `(1 + rho) / 2`: signs with correlation `rho` in pairs
/// (2i, 2i + 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HadamardPairs {
    dim: usize,
    rho: f64,
}

impl Hadamard {
    /// Returns the matrix of order `dim`.
    ///
    /// # Errors
    /// Fails when `dim` is not a power of two, or above 2^32.
    pub fn new(dim: usize) -> Result<Hadamard, DesignError> {
        let dim = check_dim("Hadamard", dim, dim.is_power_of_two(), "a power of two up to 2^32")?;
        Ok(Hadamard { dim })
    }
}

impl HadamardPairs {
    /// Returns the matrix of order `dim`, with correlation `rho` in pairs.
    ///
    /// # Errors
    /// Fails when `dim` is not a power of two from 2 to 2^32, or `rho` does not lie strictly between -1 and
    /// 1.
    pub fn new(dim: usize, rho: f64) -> Result<HadamardPairs, DesignError> {
        const DESIGN: &str = "HadamardPairs";
        let suits = dim.is_power_of_two() && dim >= 2;
        let dim = check_dim(DESIGN, dim, suits, "a power of two from 2 to 2^32")?;
        Ok(HadamardPairs { dim, rho: pairs::check_rho(DESIGN, rho)? })
    }

    /// Returns the correlation within a pair.
    pub fn rho(&self) -> f64 {
        self.rho
    }
}

/// Writes the parity of `r & bits` of the rows drawn, as a sign. Each bit of r is a fair coin of its own, so
/// for 64 examples at once the parity is the exclusive or of one word for each of `bits`.
fn fill_parity(words: &Words, first_row: u64, bits: u32, out: &mut [f64]) {
    fill_signs(first_row, out, |row| {
        let (mut parity, mut left) = (0, bits);
        while left != 0 {
            parity ^= words.stream(0, left.trailing_zeros()).word(row);
            left &= left - 1;
        }
        parity
    });
}

impl Design for Hadamard {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        fill_parity(words, first_row, attribute, out);
    }

    // The coins of one row are drawn once for all its attributes.
    fn fill_row(&self, words: &Words, _shared: &[f64], row: u64, attributes: &[u32], out: &mut [f64]) {
        let coin = |bit: u32| (words.stream(0, bit).word(row / 64) >> (row % 64) & 1) as u32;
        let drawn = (0..self.dim.trailing_zeros()).fold(0, |drawn, bit| drawn | coin(bit) << bit);
        for (&attribute, x) in attributes.iter().zip(out) {
            *x = sign_of_row(0, |_| u64::from((drawn & attribute).count_ones() & 1));
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        v.norm_squared()
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        identity_times(v, out);
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, _order: usize) -> SpectrumBounds {
        SpectrumBounds::exact(1.0, 1.0)
    }
}

impl Design for HadamardPairs {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        fill_parity(words, first_row, attribute & !1, out);
        if attribute % 2 == 1 {
            flip_signs(words.stream(1, 0), chance(even_share(self.rho)), first_row, out);
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        pairs::quadratic_form(self.rho, v)
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        pairs::covariance_times(self.rho, v, out);
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, order: usize) -> SpectrumBounds {
        pairs::restricted(self.rho, order)
    }
}

fn even_share(rho: f64) -> f64 {
    (1.0 + rho) / 2.0
}

/// A design whose examples are `scale` times rows of the Hadamard matrix.
pub trait WalshRows: Design {
    /// Returns the probability that the row's index is even.
    fn even_share(&self) -> f64;

    /// Returns the factor of the rows.
    fn scale(&self) -> f64 {
        1.0
    }
}

impl WalshRows for Hadamard {
    fn even_share(&self) -> f64 {
        0.5
    }
}

impl WalshRows for HadamardPairs {
    fn even_share(&self) -> f64 {
        even_share(self.rho)
    }
}

impl<D: WalshRows> WalshRows for Scaled<D> {
    fn even_share(&self) -> f64 {
        self.inner().even_share()
    }

    fn scale(&self) -> f64 {
        self.factor() * self.inner().scale()
    }
}

/// A virtual source that draws whole batches: a gradient ask costs O(d log d) whatever the number of
/// examples.
///
/// A batch is drawn from (seed, position, number of examples). Its sum has the law of the [`Virtual`] source
/// within, but is not the sum of that source's examples. All other asks are left to the source within. A
/// batch has at most 2^53 examples; up to about d log d examples, the loop over examples is cheaper.
#[derive(Clone, Debug)]
pub struct Counted<D> {
    source: Virtual<D>,
    counts: Vec<u64>,
    noise: Vec<f64>,
    work: Vec<f64>,
    error: SparseVector,
}

impl<D: WalshRows> Counted<D> {
    /// Returns the source that draws the gradients of `source` by counts.
    ///
    /// # Errors
    /// Fails when the dimension exceeds 2^24: the counts of all rows are kept in memory.
    pub fn new(source: Virtual<D>) -> Result<Counted<D>, DesignError> {
        let dim = check_dim("Counted", source.dim(), source.dim() <= 1 << 24, "at most 2^24 attributes")?;
        Ok(Counted {
            source,
            counts: vec![0; dim],
            noise: vec![0.0; dim],
            work: vec![0.0; dim],
            error: SparseVector::zeros(dim),
        })
    }
}

impl<D: WalshRows> Source for Counted<D> {
    fn dim(&self) -> usize {
        self.source.dim()
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        self.source.observe(attributes, block)
    }

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        _scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        const MOST: u64 = 1 << 53;
        let Counted { source, counts, noise, work, error } = self;
        let position = source.position();
        let examples = ask.examples.min(source.length().saturating_sub(position)).min(MOST);
        if examples == 0 {
            return Ok(0);
        }
        let mut rng = source.words().generator(position, examples);
        row_counts(&mut rng, examples, source.design().even_share(), counts);
        noise_sums(&mut rng, source.noise(), counts, noise);

        let scale = source.design().scale();
        subtract(ask.theta, source.theta_star(), error);
        for weight in error.values_mut() {
            *weight *= scale;
        }
        gradient_from_counts(counts, noise, error.view(), work);
        for (total, &j) in sum.iter_mut().zip(ask.attributes) {
            *total += scale * work[j as usize];
        }
        source.seek(position + examples)?;
        Ok(examples)
    }

    fn position(&self) -> u64 {
        self.source.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.source.seek(position)
    }
}

/// Draws how often each row occurs among `examples`: a multinomial, row r in `counts[r]`; even rows together
/// have probability `even_share`, and are equally likely among themselves, as are the odd ones.
///
/// The function halves the set of rows by one bit of their index after the other, with a conditional binomial
/// each. `counts.len()` must be a power of two.
pub fn row_counts(rng: &mut Rng, examples: u64, even_share: f64, counts: &mut [u64]) {
    debug_assert!(counts.len().is_power_of_two());
    let Some(first) = counts.first_mut() else { return };
    *first = examples;
    let mut known = 1;
    while known < counts.len() {
        let (zeros, ones) = counts.split_at_mut(known);
        for (zero, one) in zeros.iter_mut().zip(ones) {
            let both = *zero;
            *zero = if known == 1 { binomial(rng, both, even_share) } else { fair_binomial(rng, both) };
            *one = both - *zero;
        }
        known *= 2;
    }
}

fn binomial(rng: &mut Rng, trials: u64, share: f64) -> u64 {
    if share == 0.5 {
        return fair_binomial(rng, trials);
    }
    // The only errors are shares outside [0, 1], which stand for certainty here.
    let share = share.clamp(0.0, 1.0);
    Binomial::new(trials, share).map_or(trials, |law| law.sample(rng))
}

/// Draws the noise summed over the examples of each row, `sums[r]` over `counts[r]` examples, from its exact
/// law.
pub fn noise_sums(rng: &mut Rng, noise: Noise, counts: &[u64], sums: &mut [f64]) {
    for (sum, &count) in sums.iter_mut().zip(counts) {
        *sum = match noise {
            Noise::None => 0.0,
            Noise::Gaussian(sigma) => {
                let z: f64 = StandardNormal.sample(rng);
                sigma * (count as f64).sqrt() * z
            }
            Noise::Signs(sigma) => {
                let plus = fair_binomial(rng, count);
                sigma * (plus as f64 - (count - plus) as f64)
            }
        };
    }
}

/// Writes to `gradient`, for every attribute j, the sum of `2 (theta' x - y) x_j` over a batch that consists
/// of `counts[r]` examples with Hadamard row r and noise sum `noise[r]`; `error` is `theta - theta*`. All
/// lengths are `d`.
pub fn gradient_from_counts(counts: &[u64], noise: &[f64], error: SparseView<'_>, gradient: &mut [f64]) {
    identity_times(error, gradient);
    fwht(gradient);
    for ((value, &count), noise) in gradient.iter_mut().zip(counts).zip(noise) {
        *value = 2.0 * (count as f64 * *value - noise);
    }
    fwht(gradient);
}

/// Applies the fast Walsh-Hadamard transform in place: `x <- H x` in O(d log d). `x.len()` must be a power of
/// two.
#[multiversion(targets("x86_64+avx2"))]
pub fn fwht(x: &mut [f64]) {
    debug_assert!(x.len().is_power_of_two());
    let mut half = 1;
    // The first three steps stay within eight numbers, which fit into registers.
    let (eights, _) = x.as_chunks_mut::<8>();
    for eight in eights {
        for step in [1, 2, 4] {
            for i in (0..8).filter(|i| i & step == 0) {
                (eight[i], eight[i + step]) = (eight[i] + eight[i + step], eight[i] - eight[i + step]);
            }
        }
        half = 8;
    }
    while half < x.len() {
        for chunk in x.chunks_exact_mut(2 * half) {
            let (low, high) = chunk.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}
