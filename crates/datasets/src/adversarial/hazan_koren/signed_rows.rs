//! Appendix B: rows with one non-zero, of unknown place and sign.

use super::{Population, check};
use crate::synthetic::{DesignError, Words, check_dim};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::sample::SubsetSampler;
use lao_observation::{BlockBuf, Seed};
use rand::RngExt;

const NAME: &str = "SignedRows";

/// `x = r_i e_i` for i uniform in a set T of K attributes, with fixed signs `r_i`; `y = label`.
///
/// `L(w) = (1/2K) sum_{i in T} (label - w_i r_i)^2`, least in a ball at `w_i = level r_i` on T. With
/// `label = 1` and the unit l2 ball `level = K^(-1/2)`, the paper's eps.
///
/// *Why it is hard.* An attribute outside the row is 0 and says nothing about the signs, and whoever knows n
/// of the K signs cannot do better than [`information_bound`](SignedRows::information_bound).
#[derive(Clone, Debug, PartialEq)]
pub struct SignedRows {
    dim: usize,
    /// T, sorted, with its signs.
    signs: SparseVector,
    label: f64,
    level: f64,
}

impl SignedRows {
    /// Returns the population of T and its signs as given (entries of any size count by their sign), label 1,
    /// for the unit l2 ball.
    ///
    /// # Errors
    /// Fails when there is no sign.
    pub fn new(mut signs: SparseVector) -> Result<SignedRows, DesignError> {
        signs.prune_zeros();
        let (dim, rows) = (signs.dim(), signs.len());
        check(NAME, "rows", rows as f64, rows > 0, "at least 1")?;
        signs.values_mut().iter_mut().for_each(|sign| *sign = sign.signum());
        Ok(SignedRows { dim, signs, label: 1.0, level: 1.0 }.for_l2_ball(1.0))
    }

    /// Returns a population whose T is uniform among the sets of `rows` of `dim` attributes, its signs fair
    /// and independent.
    ///
    /// # Errors
    /// Fails when `rows` is 0 or above `dim`, or `dim` above 2^32.
    pub fn random(dim: usize, rows: usize, seed: &Seed) -> Result<SignedRows, DesignError> {
        check_dim(NAME, dim, true, "1 to 2^32 attributes")?;
        check(NAME, "rows", rows as f64, (1..=dim).contains(&rows), "between 1 and the dimension")?;
        let (mut rng, mut support) = (seed.child("rows").rng(), Vec::new());
        SubsetSampler::new(dim).draw(rows, &mut rng, &mut support);
        let mut signs = SparseVector::zeros(dim);
        for i in support {
            signs.push(i, if rng.random() { 1.0 } else { -1.0 });
        }
        SignedRows::new(signs)
    }

    /// Returns the same with another label; for the unit l2 ball.
    ///
    /// # Errors
    /// Fails when the label is negative or not finite.
    pub fn with_label(mut self, label: f64) -> Result<SignedRows, DesignError> {
        let suits = label >= 0.0 && label.is_finite();
        self.label = check(NAME, "label", label, suits, "finite and not negative")?;
        Ok(self.for_l2_ball(1.0))
    }

    /// Returns the same instance, its minimizer sought where `|w|_2 <= radius`.
    pub fn for_l2_ball(mut self, radius: f64) -> SignedRows {
        self.level = (radius.max(0.0) / (self.rows() as f64).sqrt()).min(self.label);
        self
    }

    /// Returns the same instance, its minimizer sought where `|w|_1 <= radius`.
    pub fn for_l1_ball(mut self, radius: f64) -> SignedRows {
        self.level = (radius.max(0.0) / self.rows() as f64).min(self.label);
        self
    }

    /// Returns K, the number of attributes in T.
    pub fn rows(&self) -> usize {
        self.signs.len()
    }

    /// Returns the signs `r` of the attributes in T.
    pub fn signs(&self) -> SparseView<'_> {
        self.signs.view()
    }

    /// Returns a lower bound on the expected excess risk of any `w` in the unit l2 ball, label 1, that
    /// depends on at most `seen` of the signs, the others fair: `(1 - sqrt(n/K)) eps - eps^2/2` with
    /// `eps = K^(-1/2)`.
    ///
    /// Given what was seen, an unseen `w_i r_i` has mean 0, so the risk is at least
    /// `(1/2)(1 - (2/K) sum |w_i|)` over the seen i, and that sum is at most `sqrt n`.
    pub fn information_bound(&self, seen: usize) -> f64 {
        let rows = self.rows() as f64;
        let eps = 1.0 / rows.sqrt();
        (1.0 - (seen as f64 / rows).sqrt()) * eps - 0.5 * eps * eps
    }

    /// Returns the place in T of a row's attribute.
    fn place(&self, words: &Words, row: u64) -> usize {
        let word = words.stream(1, 0).word(row);
        // The high half of the product is uniform on 0..K, to K/2^64.
        ((u128::from(word) * self.rows() as u128) >> 64) as usize
    }
}

impl Population for SignedRows {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, first_row: u64, attribute: u32, out: &mut [f64]) {
        let Ok(place) = self.signs.indices().binary_search(&attribute) else {
            out.fill(0.0);
            return;
        };
        let sign = self.signs.values()[place];
        for (row, x) in (0..).zip(out) {
            *x = if self.place(words, first_row.wrapping_add(row)) == place { sign } else { 0.0 };
        }
    }

    /// Draws the place of each row once, whatever the number of attributes.
    fn fill_all(&self, words: &Words, first_row: u64, attributes: &[u32], rows: usize, block: &mut BlockBuf) {
        for (number, row) in (0..).zip(0..rows) {
            let place = self.place(words, first_row.wrapping_add(number));
            let (here, sign) = (self.signs.indices()[place], self.signs.values()[place]);
            for (c, &attribute) in attributes.iter().enumerate() {
                block.column_mut(c)[row] = if attribute == here { sign } else { 0.0 };
            }
        }
    }

    fn labels(&self, _words: &Words, _first_row: u64, out: &mut [f64]) {
        out.fill(self.label);
    }

    fn minimizer(&self) -> SparseVector {
        let mut star = self.signs.clone();
        star.values_mut().iter_mut().for_each(|sign| *sign *= self.level);
        star.prune_zeros();
        star
    }

    fn least_risk(&self) -> f64 {
        0.5 * (self.label - self.level).powi(2)
    }

    fn excess_risk(&self, w: SparseView<'_>) -> f64 {
        // (label - u)^2 - (label - level)^2 with u = w_i r_i.
        let term = |u: f64| (self.level - u) * (2.0 * self.label - self.level - u);
        let (mut w, mut sum) = (w.iter().peekable(), 0.0);
        for (i, sign) in self.signs.view().iter() {
            while w.next_if(|&(j, _)| j < i).is_some() {}
            sum += term(w.next_if(|&(j, _)| j == i).map_or(0.0, |(_, x)| x * sign));
        }
        sum / (2.0 * self.rows() as f64)
    }
}
