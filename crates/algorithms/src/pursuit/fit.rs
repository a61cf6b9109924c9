//! Least squares on the support, from sums alone.

use super::moments::Moments;
use lao_kernels::{solve_lower, solve_positive};
use serde::{Deserialize, Serialize};

/// The coefficients on the support, and what is needed to judge them.
#[derive(Clone, Debug, Default)]
pub(super) struct Fit {
    /// The attributes of the support, ascending.
    pub support: Vec<u32>,
    /// Their places among the watched attributes.
    slots: Vec<usize>,
    /// The Cholesky factor of the covariance matrix of the support, row by row.
    factor: Vec<f64>,
    /// One coefficient per attribute of the support.
    pub coefficients: Vec<f64>,
    /// The variance of each coefficient.
    pub variances: Vec<f64>,
    /// The number of examples that the coefficients rest on: the smallest of the support.
    pub examples: f64,
    column: Vec<f64>,
}

/// The sums over the support as they were when the support changed last. What came since was observed in full
/// and after the choice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Before {
    /// The number of examples until then.
    pub examples: u64,
    /// The sums of products of the support, row by row.
    pub products: Vec<f64>,
    /// The sums of products with the label.
    pub labels: Vec<f64>,
}

impl Fit {
    /// Fits the label on the support. `noise` is the variance of the error.
    ///
    /// Attributes entered the support one after the other, so the mean product of a pair rests on the
    /// examples in which both were observed. If the examples since the last change of the support promise a
    /// smaller error by themselves, they alone are used.
    pub fn solve(&mut self, support: &[u32], moments: &Moments, before: &Before, noise: f64) {
        let k = support.len();
        self.support.clear();
        self.support.extend_from_slice(support);
        self.slots.clear();
        self.slots.extend(support.iter().filter_map(|&j| moments.pairs.slot(j)));
        debug_assert_eq!(self.slots.len(), k, "the support is watched");

        self.factor.clear();
        for &slot in &self.slots {
            self.factor.extend(support.iter().map(|&j| moments.pairs.get(j, slot).mean()));
        }
        self.coefficients.clear();
        self.coefficients.extend(support.iter().map(|&j| moments.label_product(j)));
        solve_positive(&mut self.factor, &mut self.coefficients);
        let seen = |j: u32| moments.seen[j as usize].max(1) as f64;
        self.examples = support.iter().map(|&j| seen(j)).fold(f64::INFINITY, f64::min);
        self.variances.clear();
        let mut all = 0.0;
        for &j in support {
            let variance = noise / seen(j) + self.uneven(j, moments);
            self.variances.push(variance);
            all += variance;
        }

        let since = moments.examples.saturating_sub(before.examples) as f64;
        let known = before.labels.len() == k && since >= 8.0 * k as f64;
        if known && k as f64 * noise / since < all {
            self.factor.clear();
            for (&slot, products) in self.slots.iter().zip(before.products.chunks_exact(k.max(1))) {
                let change = |(&j, product): (&u32, &f64)| moments.pairs.get(j, slot).sum - product;
                self.factor.extend(support.iter().zip(products).map(change).map(|sum| sum / since));
            }
            let change = |(&j, label): (&u32, &f64)| (moments.label[j as usize] - label) / since;
            self.coefficients.clear();
            self.coefficients.extend(support.iter().zip(&before.labels).map(change));
            solve_positive(&mut self.factor, &mut self.coefficients);
            self.examples = since;
            self.variances.fill(noise / since);
        }
        for i in 0..k {
            self.column.clear();
            self.column.resize(k, 0.0);
            self.column[i] = 1.0;
            solve_lower(&self.factor, &mut self.column);
            self.variances[i] *= self.column.iter().map(|x| x * x).sum::<f64>();
        }
    }

    /// Returns the covariance of attribute `j` with the residual.
    pub fn covariance(&self, j: u32, moments: &Moments) -> f64 {
        let by_support = |(&slot, b): (&usize, &f64)| b * moments.pairs.get(j, slot).mean();
        let explained: f64 = self.slots.iter().zip(&self.coefficients).map(by_support).sum();
        moments.label_product(j) - explained
    }

    /// Returns the part of the variance of attribute `j` that the support explains, from 0 to 1.
    pub fn explained(&mut self, j: u32, moments: &Moments) -> f64 {
        self.column.clear();
        self.column.extend(self.slots.iter().map(|&slot| moments.pairs.get(j, slot).mean()));
        solve_lower(&self.factor, &mut self.column);
        let part = self.column.iter().map(|x| x * x).sum::<f64>() / moments.variance(j);
        // Of k covariances that are 0, the errors alone explain k/n.
        let by_chance = self.support.len() as f64 / moments.seen[j as usize].max(1) as f64;
        let part = part - by_chance;
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the variance that comes from sums over different examples, per variance of `j`: the mean
    /// product of `j` with the label rests on `n_j` examples, that with an attribute of the support on fewer.
    pub fn uneven(&self, j: u32, moments: &Moments) -> f64 {
        let n = moments.seen[j as usize].max(1) as f64;
        let of = |((&l, &slot), b): ((&u32, &usize), &f64)| {
            let count = f64::from(moments.pairs.get(j, slot).count).max(0.5);
            b * b * moments.variance(l) * (1.0 / count - 1.0 / n).max(0.0)
        };
        self.support.iter().zip(&self.slots).zip(&self.coefficients).map(of).sum()
    }
}

impl Before {
    /// Remembers the sums over the support as they are now.
    pub fn remember(&mut self, support: &[u32], moments: &Moments) {
        self.examples = moments.examples;
        self.labels.clear();
        self.labels.extend(support.iter().map(|&k| moments.label[k as usize]));
        self.products.clear();
        for &l in support {
            let slot = moments.pairs.slot(l);
            let of = |&k: &u32| slot.map_or(0.0, |slot| moments.pairs.get(k, slot).sum);
            self.products.extend(support.iter().map(of));
        }
    }
}
