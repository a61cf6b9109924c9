//! Linear combinations of independent signs: a bounded design with any covariance.
//!
//! `x_j = sum_k a_jk s_k` with independent signs s, so `Sigma = A A'`; a factor A exists for every
//! covariance. Small instances with a prescribed, perhaps singular, covariance are made of it.

use super::words::add_signs;
use super::{Design, DesignError, SpectrumBounds, Words, check_dim};
use lao_kernels::{RestrictedSpectrum, SparseView};

/// Attributes that combine a few signs. `R_inf = max_j sum_k |a_jk|`.
#[derive(Clone, Debug, PartialEq)]
pub struct Combinations {
    signs: usize,
    /// The signs and their weights in each attribute.
    rows: Vec<Vec<(u32, f64)>>,
}

impl Combinations {
    /// Returns the design in which each attribute combines the signs of these numbers with these weights.
    ///
    /// # Errors
    /// Fails when there are no attributes or more than 2^32, or a weight is not finite.
    pub fn new(rows: Vec<Vec<(u32, f64)>>) -> Result<Combinations, DesignError> {
        const DESIGN: &str = "Combinations";
        check_dim(DESIGN, rows.len(), true, "1 to 2^32 attributes")?;
        if let Some(&(_, value)) = rows.iter().flatten().find(|(_, weight)| !weight.is_finite()) {
            return Err(DesignError::Parameter { design: DESIGN, field: "weight", value, allowed: "finite" });
        }
        let signs = rows.iter().flatten().map(|&(sign, _)| sign as usize + 1).max().unwrap_or(0);
        Ok(Combinations { signs, rows })
    }

    /// Returns a bound on `|x|`, the Euclidean norm of an example: the root of the sum of squared bounds of
    /// the attributes.
    pub fn norm_bound(&self) -> f64 {
        (0..self.rows.len()).map(|j| self.bound(j).powi(2)).sum::<f64>().sqrt()
    }

    fn bound(&self, attribute: usize) -> f64 {
        self.rows[attribute].iter().map(|(_, weight)| weight.abs()).sum()
    }

    /// Returns `A' v`, one number per sign.
    fn scores(&self, v: SparseView<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; self.signs];
        for (j, value) in v.iter() {
            for &(sign, weight) in &self.rows[j as usize] {
                scores[sign as usize] += weight * value;
            }
        }
        scores
    }
}

impl Design for Combinations {
    fn dim(&self) -> usize {
        self.rows.len()
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        out.fill(0.0);
        for &(sign, weight) in &self.rows[attribute as usize] {
            let stream = words.stream(0, sign);
            add_signs(first_row, weight, out, |row| stream.word(row));
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        self.scores(v).iter().map(|score| score * score).sum()
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        let scores = self.scores(v);
        for (x, row) in out.iter_mut().zip(&self.rows) {
            *x = row.iter().map(|&(sign, weight)| weight * scores[sign as usize]).sum();
        }
    }

    fn r_inf(&self) -> f64 {
        (0..self.rows.len()).map(|j| self.bound(j)).fold(0.0, f64::max)
    }

    /// By enumeration where that is feasible; otherwise 0, and the sum of the greatest squared bounds.
    fn restricted(&self, order: usize) -> SpectrumBounds {
        let order = order.clamp(1, self.dim());
        let enumerated =
            self.covariance().ok().and_then(|v| RestrictedSpectrum::of(&v, self.dim(), order).ok());
        if let Some(spectrum) = enumerated {
            return SpectrumBounds::exact(spectrum.smallest, spectrum.largest);
        }
        let mut squares: Vec<f64> = (0..self.dim()).map(|j| self.bound(j).powi(2)).collect();
        squares.sort_unstable_by(|a, b| b.total_cmp(a));
        SpectrumBounds { smallest: 0.0, largest: squares[..order].iter().sum(), exact: false }
    }
}
