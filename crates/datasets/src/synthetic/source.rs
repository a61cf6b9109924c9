//! A design with `theta*` and noise, as a stream of examples.

use super::words::add_signs;
use super::{Design, DesignError, Words};
use crate::contract::check_observe;
use lao_kernels::{SparseVector, SparseView, axpy_column};
use lao_observation::{BlockBuf, Constants, Cursor, Scratch, Seed, Source, SourceError};
use rand_distr::{Distribution, StandardNormal};

/// The noise `xi` in `y = theta*' x + xi`. It is independent of x, has mean 0, and is sub-Gaussian with
/// parameter `sigma^2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// `y = theta*' x`.
    None,
    /// Normal with this standard deviation.
    Gaussian(f64),
    /// Plus or minus this value with equal probability.
    Signs(f64),
}

impl Noise {
    /// Returns `sigma`, the standard deviation.
    pub fn sigma(&self) -> f64 {
        match *self {
            Noise::None => 0.0,
            Noise::Gaussian(sigma) | Noise::Signs(sigma) => sigma,
        }
    }
}

/// The stream of examples `(x_i, y_i)`, `y_i = theta*' x_i + xi_i`, with `x_i` from a design. It is a pure
/// function of the seed.
///
/// The values of a row do not depend on what else is observed: other attributes, blocks of another size, or a
/// second observation after [`seek`](Source::seek) show the same examples, bit by bit.
#[derive(Clone, Debug)]
pub struct Virtual<D> {
    design: D,
    theta_star: SparseVector,
    noise: Noise,
    words: Words,
    noise_words: Words,
    cursor: Cursor,
    shared: Vec<f64>,
    spare: Vec<f64>,
    labels: Vec<f64>,
}

impl<D: Design> Virtual<D> {
    /// Returns an endless stream.
    ///
    /// # Errors
    /// Fails when `theta_star` has another dimension than the design, or sigma is negative or not finite.
    pub fn new(
        design: D,
        mut theta_star: SparseVector,
        noise: Noise,
        seed: &Seed,
    ) -> Result<Virtual<D>, DesignError> {
        if theta_star.dim() != design.dim() {
            return Err(DesignError::ThetaStar { theta: theta_star.dim(), design: design.dim() });
        }
        let sigma = noise.sigma();
        if !(sigma >= 0.0 && sigma.is_finite()) {
            let (design, field) = ("noise", "sigma");
            return Err(DesignError::Parameter {
                design,
                field,
                value: sigma,
                allowed: "finite and not negative",
            });
        }
        theta_star.prune_zeros();
        Ok(Virtual {
            design,
            theta_star,
            noise,
            words: Words::new(&seed.child("design")),
            noise_words: Words::new(&seed.child("noise")),
            cursor: Cursor::endless(),
            shared: Vec::new(),
            spare: Vec::new(),
            labels: Vec::new(),
        })
    }

    /// Returns the same stream, which ends after `length` examples.
    pub fn with_length(mut self, length: u64) -> Virtual<D> {
        self.cursor = self.cursor.with_length(length);
        self
    }

    /// Returns the exact excess risk `L(theta) - L(theta*) = (theta - theta*)' Sigma (theta - theta*)`, at a
    /// cost that does not depend on the dimension.
    pub fn gap(&self, theta: SparseView<'_>) -> f64 {
        self.design.quadratic_form(self.error_of(theta).view())
    }

    /// Writes all `d` coordinates of the risk's gradient at `theta`, `2 Sigma (theta - theta*)`, to `out`.
    pub fn gradient_exact(&self, theta: SparseView<'_>, out: &mut [f64]) {
        self.design.covariance_times(self.error_of(theta).view(), out);
        for x in out {
            *x *= 2.0;
        }
    }

    /// Returns the constants for s-sparse predictors, `s = sparsity`: `L_s` and `mu_s` over supports of size
    /// `2s` (or d, if less).
    pub fn constants(&self, sparsity: usize) -> Constants {
        let order = sparsity.saturating_mul(2).clamp(1, self.design.dim());
        let eigenvalues = self.design.restricted(order);
        Constants {
            smoothness: 2.0 * eigenvalues.largest,
            convexity: 2.0 * eigenvalues.smallest,
            bound: self.design.r_inf(),
            noise: self.noise.sigma(),
            sparsity: self.theta_star.len(),
        }
    }

    /// Returns the true parameter.
    pub fn theta_star(&self) -> SparseView<'_> {
        self.theta_star.view()
    }

    /// Returns the noise.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Returns the law of x.
    pub fn design(&self) -> &D {
        &self.design
    }

    /// Returns the number of examples in the stream.
    pub fn length(&self) -> u64 {
        self.cursor.length()
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// Returns `theta - theta*`.
    fn error_of(&self, theta: SparseView<'_>) -> SparseVector {
        let mut error = SparseVector::zeros(self.design.dim());
        subtract(theta, self.theta_star.view(), &mut error);
        error
    }

    /// Writes these attributes, in any order, of the next examples, and returns the number of examples.
    fn fill_columns(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        check_observe(attributes, self.design.dim(), block, self.cursor.position())?;
        let (first, rows) = (self.cursor.position(), self.cursor.upcoming(block.capacity()));
        self.design.prepare(&self.words, first, rows, &mut self.shared);
        if let Some(values) = block.single_mut().filter(|_| rows == 1) {
            self.design.fill_row(&self.words, &self.shared, first, attributes, values);
            return Ok(rows);
        }
        for (c, &attribute) in attributes.iter().enumerate() {
            let column = &mut block.column_mut(c)[..rows];
            self.design.fill(&self.words, &self.shared, first, attribute, column);
        }
        Ok(rows)
    }

    /// Writes the labels of the examples whose columns were filled, and advances the stream. `sorted` has the
    /// attributes of the block's columns, ascending, or is empty. Attributes of `theta*` that it contains are
    /// not computed again.
    fn fill_labels(&mut self, sorted: &[u32], rows: usize, block: &mut BlockBuf) {
        let first = self.cursor.position();
        // The terms are added in the order of theta*, so that labels do not depend on what is observed.
        self.labels.clear();
        self.labels.resize(rows, 0.0);
        if rows == 1 && sorted.is_empty() {
            let star = self.theta_star.view();
            self.spare.resize(star.len(), 0.0);
            let (words, shared) = (&self.words, &self.shared);
            self.design.fill_row(words, shared, first, star.indices(), &mut self.spare);
            for (x, weight) in self.spare.iter().zip(star.values()) {
                self.labels[0] += x * weight;
            }
            return self.finish(rows, block);
        }
        let mut c = 0;
        for (j, weight) in self.theta_star.view().iter() {
            while c < sorted.len() && sorted[c] < j {
                c += 1;
            }
            let column = if sorted.get(c) == Some(&j) {
                &block.column_mut(c)[..rows]
            } else {
                self.spare.resize(rows, 0.0);
                self.design.fill(&self.words, &self.shared, first, j, &mut self.spare);
                &self.spare[..]
            };
            axpy_column(&mut self.labels, column, weight);
        }
        self.finish(rows, block);
    }

    /// Adds the noise to the labels, and advances the stream.
    fn finish(&mut self, rows: usize, block: &mut BlockBuf) {
        self.add_noise();
        block.labels_mut()[..rows].copy_from_slice(&self.labels);
        block.set_rows(rows);
        self.cursor.advance(rows);
    }

    fn add_noise(&mut self) {
        let (stream, first) = (self.noise_words.stream(0, 0), self.position());
        match self.noise {
            Noise::None => {}
            Noise::Gaussian(sigma) => {
                for (row, y) in (0..).zip(&mut self.labels) {
                    let z: f64 = StandardNormal.sample(&mut stream.draws(first.wrapping_add(row)));
                    *y += sigma * z;
                }
            }
            Noise::Signs(sigma) => {
                add_signs(first, sigma, &mut self.labels, |row| stream.word(row));
            }
        }
    }
}

/// Computes `difference <- a - b`; coordinates that cancel are kept as zeros.
pub(super) fn subtract(a: SparseView<'_>, b: SparseView<'_>, difference: &mut SparseVector) {
    difference.clear();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        match (a.peek().copied(), b.peek().copied()) {
            (Some((i, x)), Some((j, y))) if i == j => {
                difference.push(i, x - y);
                a.next();
                b.next();
            }
            (Some((i, x)), other) if other.is_none_or(|(j, _)| i < j) => {
                difference.push(i, x);
                a.next();
            }
            (_, Some((j, y))) => {
                difference.push(j, -y);
                b.next();
            }
            (_, None) => return,
        }
    }
}

impl<D: Design> Source for Virtual<D> {
    fn dim(&self) -> usize {
        self.design.dim()
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = self.fill_columns(attributes, block)?;
        self.fill_labels(attributes, rows, block);
        Ok(rows)
    }

    // A value is computed where it is asked for, so draws need not be sorted first.
    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        _: &mut Scratch,
    ) -> Result<usize, SourceError> {
        let rows = self.fill_columns(draws, block)?;
        self.fill_labels(&[], rows, block);
        Ok(rows)
    }

    fn position(&self) -> u64 {
        self.cursor.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.cursor.seek(position)
    }
}
