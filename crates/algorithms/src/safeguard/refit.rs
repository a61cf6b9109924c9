//! Least squares on a support, from the examples that were bought since the support was chosen.

use super::NAME;
use super::scales::Scales;
use crate::state;
use lao_kernels::{SparseVector, gradient_block, solve_positive, sum};
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// Examples per attribute of the support before least squares is trusted, and at least.
const PER_ATTRIBUTE: usize = 3;
const LEAST: usize = 30;
/// Standard errors of the error by which a fit must be better than one on another support.
const SURE: f64 = 3.0;

/// Sums over the examples in which the whole support was observed.
///
/// The support was chosen before the first of them, so a test of significance need not account for the
/// choice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Refit {
    /// The support, ascending.
    support: Vec<u32>,
    /// Location and scale of the support's attributes, and of the label, when the support was chosen. Sums
    /// are kept in this frame, which does not move.
    frame: Vec<(f64, f64)>,
    examples: f64,
    /// The number of examples at which to solve again.
    due: f64,
    /// The sums of the columns, the label last.
    sums: Vec<f64>,
    /// The sums of the products of two columns, row by row.
    products: Vec<f64>,
    #[serde(skip)]
    columns: Vec<f64>,
    #[serde(skip)]
    row: Vec<f64>,
}

/// What least squares found.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    /// The coefficients in the units of the data.
    pub theta: SparseVector,
    pub intercept: f64,
    /// A number that the mean squared error on new examples exceeds rarely.
    pub risk_bound: f64,
    /// The largest eigenvalue of the correlation matrix of the support.
    pub curvature: f64,
    /// Whether the support explains more of the label than chance does.
    pub significant: bool,
}

impl Refit {
    /// Begins with a support and no examples.
    pub fn begin(&mut self, support: &[u32], scales: &Scales, label: usize) {
        let k = support.len() + 1;
        self.support.clear();
        self.support.extend_from_slice(support);
        self.frame.clear();
        let columns = support.iter().map(|&j| j as usize).chain([label]);
        self.frame.extend(columns.map(|j| (scales.mean(j), scales.deviation(j))));
        self.examples = 0.0;
        self.due = least(support.len());
        self.sums.clear();
        self.sums.resize(k, 0.0);
        self.products.clear();
        self.products.resize(k * k, 0.0);
    }

    pub fn support(&self) -> &[u32] {
        &self.support
    }

    /// Returns whether the label had not varied when the support was chosen, so that nothing can be fitted.
    pub fn is_blind(&self) -> bool {
        self.frame.last().is_none_or(|&(_, deviation)| deviation == 0.0)
    }

    /// Takes in examples: the values of each attribute of the support, and the labels.
    pub fn absorb<'a>(&mut self, scales: &Scales, values: impl Fn(u32) -> &'a [f64], labels: &'a [f64]) {
        let Refit { support, frame, columns: into, row, .. } = self;
        let rows = labels.len();
        into.clear();
        let columns = support.iter().map(|&j| (values(j), scales.range(j as usize)));
        let columns = columns.chain([(labels, (f64::MIN, f64::MAX))]);
        for ((column, (low, high)), &(mean, deviation)) in columns.zip(&*frame) {
            let scale = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
            let most = super::LARGEST;
            into.extend(column.iter().map(|x| ((x.clamp(low, high) - mean) * scale).clamp(-most, most)));
        }
        let k = frame.len();
        self.examples += rows as f64;
        for (i, (own, products)) in into.chunks_exact(rows).zip(self.products.chunks_exact_mut(k)).enumerate()
        {
            self.sums[i] += sum(own);
            row.clear();
            row.resize(i + 1, 0.0);
            gradient_block(into.chunks_exact(rows).take(i + 1), own, row);
            products.iter_mut().zip(&*row).for_each(|(product, more)| *product += more);
        }
    }

    /// Returns whether the examples have grown by a half since the problem was solved.
    pub fn is_due(&self) -> bool {
        self.examples >= self.due
    }

    /// Solves the least squares problem, if there are enough examples.
    pub fn solve_when_due(&mut self, dim: usize) -> Option<Solution> {
        self.due = self.due.max(1.5 * self.examples);
        self.solve(dim)
    }

    fn solve(&self, dim: usize) -> Option<Solution> {
        let (n, k) = (self.examples, self.support.len());
        if n < least(k) {
            return None;
        }
        let mean = |i: usize| self.sums[i] / n;
        let covariance = |i: usize, j: usize| {
            let (i, j) = (i.max(j), i.min(j));
            self.products[i * (k + 1) + j] / n - mean(i) * mean(j)
        };
        let mut matrix: Vec<f64> = (0..k * k).map(|at| covariance(at / k, at % k)).collect();
        let curvature = largest_eigenvalue(&matrix, k);
        let right: Vec<f64> = (0..k).map(|i| covariance(i, k)).collect();
        let mut weights = right.clone();
        solve_positive(&mut matrix, &mut weights);

        let total = covariance(k, k).max(0.0);
        let explained: f64 = weights.iter().zip(&right).map(|(w, r)| w * r).sum();
        let freedom = (n - k as f64 - 1.0).max(1.0);
        let noise = (total - explained).max(0.0) * n / freedom;
        let (label_mean, label_scale) = self.frame[k];
        let unit = label_scale * label_scale;
        let risk = noise * (1.0 + k as f64 / n) * unit;

        let mut theta = SparseVector::zeros(dim);
        let mut intercept = label_mean + label_scale * mean(k);
        for ((&j, &w), (i, &(center, scale))) in
            self.support.iter().zip(&weights).zip(self.frame.iter().enumerate())
        {
            let weight = w * label_scale / scale;
            if weight != 0.0 && weight.is_finite() {
                theta.push(j, weight);
                intercept -= weight * (center + scale * mean(i));
            }
        }
        Some(Solution {
            theta,
            intercept,
            risk_bound: risk * (1.0 + SURE * (2.0 / n).sqrt()),
            curvature,
            significant: intercept.is_finite() && n * explained > noise * chance(k as f64),
        })
    }

    pub fn validate(&self, dim: usize) -> Result<(), Damaged> {
        let Refit { support, frame, examples, sums, products, .. } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        damaged(state::is_set(support, dim), "the support of its refit is no set")?;
        let k = support.len() + 1;
        state::length(NAME, "the frame of the refit", frame.len(), k)?;
        state::length(NAME, "the sums of the refit", sums.len(), k)?;
        state::length(NAME, "the products of the refit", products.len(), k * k)?;
        damaged(frame.iter().all(|(_, scale)| *scale >= 0.0), "a scale is negative")?;
        damaged(self.due > 0.0, "its refit is always due")?;
        damaged((0.0..1e18).contains(examples), "the number of examples of the refit is none")
    }
}

/// Returns the number of examples before least squares on `k` attributes is trusted.
fn least(k: usize) -> f64 {
    (PER_ATTRIBUTE * k).max(LEAST) as f64
}

/// Returns a bound that a chi-squared variable of `k` degrees of freedom exceeds with probability at most
/// `exp(-6)`, 0.0025 (Laurent & Massart 2000, Lemma 1).
fn chance(k: f64) -> f64 {
    const DOUBT: f64 = 6.0;
    k + 2.0 * (k * DOUBT).sqrt() + 2.0 * DOUBT
}

/// Returns the largest eigenvalue of a positive semidefinite matrix, from below, by twenty power iterations.
fn largest_eigenvalue(matrix: &[f64], k: usize) -> f64 {
    if k == 0 {
        return 0.0;
    }
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    // A start that no eigenvector of a usual matrix is orthogonal to.
    let mut x: Vec<f64> = (0..k).map(|i| 1.0 + (i % 7) as f64 / 7.0).collect();
    let mut largest = 0.0;
    for _ in 0..20 {
        let size = norm(&x);
        if size.is_nan() || size <= 0.0 {
            break;
        }
        x.iter_mut().for_each(|x| *x /= size);
        let next: Vec<f64> =
            matrix.chunks_exact(k).map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        largest = norm(&next);
        x = next;
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;
    use rand::RngExt as _;

    #[test]
    fn least_squares_in_the_units_of_the_data() {
        let mut rng = Seed::root(1).rng();
        let n = 400;
        let mut uniform = |scale: f64, shift: f64| -> Vec<f64> {
            (0..n).map(|_| shift + scale * (rng.random::<f64>() - 0.5)).collect()
        };
        let (a, b, noise) = (uniform(1e3, 5e3), uniform(1e-2, 1.0), uniform(0.1, 0.0));
        let labels: Vec<f64> = (0..n).map(|i| 7.0 + 2e-3 * a[i] - 300.0 * b[i] + noise[i]).collect();
        let mut scales = Scales::new(4);
        for (j, column) in [(0, &a), (2, &b), (3, &labels)] {
            scales.absorb(j, &column[..20]);
        }
        let mut refit = Refit::default();
        refit.begin(&[0, 2], &scales, 3);
        for at in (0..n).step_by(100) {
            let of = |j: u32| if j == 0 { &a[at..at + 100] } else { &b[at..at + 100] };
            refit.absorb(&scales, of, &labels[at..at + 100]);
        }
        let found = refit.solve(3).unwrap();
        assert!(found.significant && refit.validate(3).is_ok());
        assert!((found.theta.view().get(0) - 2e-3).abs() < 1e-4, "{found:?}");
        assert!((found.theta.view().get(2) + 300.0).abs() < 3.0, "{found:?}");
        assert!((found.intercept - 7.0).abs() < 3.0, "{found:?}");
        assert!((found.risk_bound * 1200.0 - 1.2).abs() < 0.3, "{found:?}");
        assert!((found.curvature - 1.0).abs() < 0.3, "{found:?}");
    }

    #[test]
    fn noise_is_not_significant() {
        let mut rng = Seed::root(2).rng();
        let mut scales = Scales::new(3);
        (0..3).for_each(|j| scales.absorb(j, &[0.0, 1.0]));
        let mut found = 0;
        for _ in 0..400 {
            let mut refit = Refit::default();
            refit.begin(&[0, 1], &scales, 2);
            let columns: Vec<Vec<f64>> =
                (0..3).map(|_| (0..50).map(|_| rng.random::<f64>()).collect()).collect();
            refit.absorb(&scales, |j| &columns[j as usize], &columns[2]);
            found += usize::from(refit.solve(2).unwrap().significant);
        }
        // One in 400 is expected at most.
        assert!(found <= 4, "{found}");
    }
}
