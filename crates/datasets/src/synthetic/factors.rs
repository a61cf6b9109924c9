//! A factor model: attributes of variance 1 that load on a few common signs.
//!
//! `x_j = sum_k l_jk f_k + sqrt(1 - |l_j|^2) e_j` with independent signs f and e, so
//! `Sigma = L L' + diag(1 - |l_j|^2)`. There is no closed form for its restricted eigenvalues, only bounds.

use super::words::add_signs;
use super::{Design, DesignError, SpectrumBounds, Words, check_dim};
use lao_kernels::SparseView;

/// Attributes that load on common factors. `R_inf = max_j (sum_k |l_jk| + sqrt(1 - |l_j|^2))`.
#[derive(Clone, Debug, PartialEq)]
pub struct FactorModel {
    factors: usize,
    loadings: Vec<f64>,
    /// The squared length of each attribute's loadings.
    common: Vec<f64>,
    /// The squared lengths in descending order.
    descending: Vec<f64>,
}

impl FactorModel {
    /// Returns the model with these loadings, `factors` numbers for each attribute in turn. It takes memory
    /// O(d factors).
    ///
    /// # Errors
    /// Fails when `loadings` is empty or its length is no multiple of `factors`, or an attribute's squared
    /// loadings sum to more than 1.
    pub fn new(factors: usize, loadings: Vec<f64>) -> Result<FactorModel, DesignError> {
        const DESIGN: &str = "FactorModel";
        let whole = factors > 0 && loadings.len().is_multiple_of(factors);
        let dim = if whole { loadings.len() / factors } else { loadings.len() };
        check_dim(
            DESIGN,
            dim,
            whole,
            "as many loadings for each attribute as factors, and 1 to 2^32 attributes",
        )?;
        let common: Vec<f64> =
            loadings.chunks_exact(factors).map(|row| row.iter().map(|l| l * l).sum()).collect();
        if let Some(&value) = common.iter().find(|common| !(0.0..=1.0).contains(*common)) {
            let (field, allowed) = ("an attribute's sum of squared loadings", "at most 1");
            return Err(DesignError::Parameter { design: DESIGN, field, value, allowed });
        }
        let mut descending = common.clone();
        descending.sort_unstable_by(|a, b| b.total_cmp(a));
        Ok(FactorModel { factors, loadings, common, descending })
    }

    fn loadings(&self, attribute: usize) -> &[f64] {
        &self.loadings[attribute * self.factors..(attribute + 1) * self.factors]
    }

    /// Returns `L' v` at `factor`.
    fn score(&self, v: SparseView<'_>, factor: usize) -> f64 {
        v.iter().map(|(j, value)| self.loadings(j as usize)[factor] * value).sum()
    }
}

impl Design for FactorModel {
    fn dim(&self) -> usize {
        self.common.len()
    }

    fn fill(&self, words: &Words, _shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        let j = attribute as usize;
        let own = words.stream(0, attribute);
        out.fill(0.0);
        add_signs(first_row, (1.0 - self.common[j]).sqrt(), out, |row| own.word(row));
        for (k, &loading) in self.loadings(j).iter().enumerate().filter(|(_, loading)| **loading != 0.0) {
            let factor = words.stream(1, k as u32);
            add_signs(first_row, loading, out, |row| factor.word(row));
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        let own: f64 = v.iter().map(|(j, value)| (1.0 - self.common[j as usize]) * value * value).sum();
        (0..self.factors).map(|k| self.score(v, k).powi(2)).sum::<f64>() + own
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        out.fill(0.0);
        for (j, value) in v.iter() {
            out[j as usize] = (1.0 - self.common[j as usize]) * value;
        }
        for k in 0..self.factors {
            let score = self.score(v, k);
            for (x, loadings) in out.iter_mut().zip(self.loadings.chunks_exact(self.factors)) {
                *x += loadings[k] * score;
            }
        }
    }

    fn r_inf(&self) -> f64 {
        let bound =
            |j: usize| self.loadings(j).iter().map(|l| l.abs()).sum::<f64>() + (1.0 - self.common[j]).sqrt();
        (0..self.dim()).map(bound).fold(0.0, f64::max)
    }

    /// Returns bounds: `L L'` is positive, and its greatest eigenvalue over a support is at most its trace
    /// there.
    fn restricted(&self, order: usize) -> SpectrumBounds {
        let order = order.clamp(1, self.dim());
        if order == 1 {
            return SpectrumBounds::exact(1.0, 1.0);
        }
        let (most, least) = (self.descending[0], self.descending[self.dim() - 1]);
        let trace: f64 = self.descending[..order].iter().sum();
        SpectrumBounds {
            smallest: 1.0 - most,
            largest: (1.0 - least + trace).min(order as f64),
            exact: false,
        }
    }
}
