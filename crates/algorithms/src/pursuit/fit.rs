//! Least squares on the support, from sums alone.

use super::Rule;
use super::moments::{Moments, is_none, is_zero};
use lao_kernels::{solve_lower_lanes, solve_positive};
use serde::{Deserialize, Serialize};

/// (3) The number of attributes that are held against the support at a time.
pub(super) const LANES: usize = 8;

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
    /// The variance of the error of these coefficients, over all examples.
    pub noise: f64,
    /// The part of each attribute of the support in the variance of the label.
    parts: Vec<f64>,
    /// The mean products of some attributes, or right sides of other systems, with the support.
    columns: Vec<[f64; LANES]>,
}

/// Some attributes beside the support; a lane for each.
pub(super) struct Beside {
    /// The covariance with the residual.
    pub covariance: [f64; LANES],
    /// The variance that comes from sums over different examples, per variance of the attribute: its mean
    /// product with the label rests on all its examples, that with an attribute of the support on fewer.
    pub uneven: [f64; LANES],
}

/// The sums over the support as they were when the support changed last. What came since was observed in full
/// and after the choice, as long as nothing was missing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Before {
    /// The support.
    pub support: Vec<u32>,
    /// The number of examples until then.
    pub examples: u64,
    /// The sum of the squared errors of all predictions until then.
    #[serde(default)]
    pub errors: f64,
    /// That number less the weight that they have now; 0 if nothing is forgotten, and each weighs 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: f64,
    /// Values of watched attributes that were missing until then.
    #[serde(default, skip_serializing_if = "is_none")]
    pub gaps: u64,
    /// The sums of products of the support, row by row.
    pub products: Vec<f64>,
    /// The sums of products with the label.
    pub labels: Vec<f64>,
}

impl Fit {
    /// Fits the label on the support. `recent` is the mean of the last squared errors. What rests on all
    /// examples is judged by the errors of all of them: where errors have become small, the sums still hold
    /// the large ones.
    ///
    /// Attributes entered the support one after the other, so the mean product of a pair rests on the
    /// examples in which both were observed. If this is the support as it changed last, and the examples
    /// since then promise a smaller error by themselves, they alone are used.
    pub fn solve(&mut self, support: &[u32], moments: &Moments, before: &Before, recent: f64) {
        let k = support.len();
        self.support.clear();
        self.support.extend_from_slice(support);
        self.slots.clear();
        self.slots.extend(support.iter().filter_map(|&j| moments.pairs.slot(j)));
        debug_assert_eq!(self.slots.len(), k, "the support is watched");

        // The solver reads the lower triangle.
        self.factor.clear();
        self.factor.resize(k * k, 0.0);
        for (i, &slot) in self.slots.iter().enumerate() {
            let row = self.factor[i * k..].iter_mut().zip(&support[..=i]);
            row.for_each(|(entry, &j)| *entry = moments.product(j, slot));
        }
        self.coefficients.clear();
        self.coefficients.extend(support.iter().map(|&j| moments.label_product(j)));
        solve_positive(&mut self.factor, &mut self.coefficients);
        self.parts.clear();
        let part = |(&j, b): (&u32, &f64)| b * b * moments.variance(j);
        self.parts.extend(support.iter().zip(&self.coefficients).map(part));
        self.judge(moments, recent);
        self.examples = f64::INFINITY;
        self.variances.clear();
        let mut all = 0.0;
        for group in support.chunks(LANES) {
            let uneven = self.beside(filled(group), moments).uneven;
            for (&j, uneven) in group.iter().zip(uneven) {
                let seen = moments.seen[j as usize].max(1.0);
                let variance = self.noise * moments.timing(j) / seen + uneven;
                self.examples = self.examples.min(seen);
                self.variances.push(variance);
                all += variance;
            }
        }

        let since = (moments.weight() - before.weight()).max(0.0);
        let known = before.support == support && since >= 8.0 * k as f64 && moments.gaps == before.gaps;
        let known = known && moments.has(Rule::Since);
        // What came since has errors of its own.
        let noise = recent.max((moments.errors - before.errors) / since);
        if known && k as f64 * noise / since < all {
            let Fit { slots, factor, coefficients, .. } = self;
            before.products_since((support, slots), moments, factor, coefficients);
            solve_positive(&mut self.factor, &mut self.coefficients);
            self.examples = since;
            self.variances.fill(noise / since);
            self.judge(moments, recent);
        } else if moments.gaps > 0 {
            self.variances_with_gaps(moments);
            return;
        }
        for from in (0..k).step_by(LANES) {
            self.columns.clear();
            self.columns.resize(k, [0.0; LANES]);
            (from..k.min(from + LANES)).for_each(|i| self.columns[i][i - from] = 1.0);
            let inverse = self.solved(from);
            self.variances[from..].iter_mut().zip(inverse).for_each(|(variance, part)| *variance *= part);
        }
    }

    /// Computes the variances where values are missing at random: `A^-1 M A^-1`, with the covariance matrix M
    /// of
    /// `<u_j v> - sum_k <u_j u_k> b_k`. Each of its means rests on examples of its own: so M is not A times a
    /// number, and the more is missing, and the stronger attributes are correlated, the larger the variances
    /// are.
    fn variances_with_gaps(&mut self, moments: &Moments) {
        let k = self.support.len();
        let seen = |i: usize| moments.seen[self.support[i] as usize].max(1.0);
        let pair = |i: usize, l: usize| moments.pair(self.support[i], self.slots[l]).1.max(1.0);
        let product = |i: usize, l: usize| moments.product(self.support[i], self.slots[l]);
        // The variance of a product of two attributes, as if they were normal.
        let square = |i: usize, l: usize| product(i, i) * product(l, l) + product(i, l).powi(2);
        let b = &self.coefficients;
        let of_one = |i: usize| {
            let uneven = |l: usize| b[l] * b[l] * square(i, l) * (1.0 / pair(i, l) - 1.0 / seen(i)).max(0.0);
            let uneven: f64 = (0..k).filter(|&l| l != i).map(uneven).sum();
            self.noise * moments.timing(self.support[i]) * product(i, i) / seen(i) + uneven
        };
        let own: Vec<f64> = (0..k).map(of_one).collect();
        let of_two = |i: usize, l: usize| {
            if i == l {
                return own[i];
            }
            let both = pair(i, l);
            let shared = both / (seen(i) * seen(l));
            // Each by its variance, as if all of its means rested on the same examples.
            let rate = |i: usize| own[i] * seen(i) / product(i, i).max(f64::MIN_POSITIVE);
            let common = product(i, l) * shared * (rate(i) * rate(l)).sqrt();
            let gaps = (shared - 1.0 / seen(i) - 1.0 / seen(l) + 1.0 / both).max(0.0);
            common + b[i] * b[l] * square(i, l) * gaps
        };
        let all: Vec<f64> = (0..k * k).map(|at| of_two(at / k, at % k)).collect();
        let mut variances = Vec::with_capacity(k);
        let mut x = vec![0.0; k];
        for i in 0..k {
            x.fill(0.0);
            x[i] = 1.0;
            solve_factored(&self.factor, &mut x);
            let row = |l: usize| x[l] * all[l * k..][..k].iter().zip(&x).map(|(m, x)| m * x).sum::<f64>();
            variances.push((0..k).map(row).sum::<f64>().max(0.0));
        }
        self.variances = variances;
    }

    /// Computes the variance of the error of the coefficients over all examples, at least the recent one.
    fn judge(&mut self, moments: &Moments, recent: f64) {
        let n = moments.weight().max(1.0);
        let mut variance = moments.label_square / n;
        for ((&slot, b), &j) in self.slots.iter().zip(&self.coefficients).zip(&self.support) {
            let products =
                self.support.iter().zip(&self.coefficients).map(|(&k, c)| c * moments.product(k, slot));
            variance += b * (products.sum::<f64>() - 2.0 * moments.label_product(j));
        }
        self.noise = if variance > recent { variance } else { recent };
    }

    /// Returns these attributes beside the support.
    pub fn beside(&mut self, attributes: [u32; LANES], moments: &Moments) -> Beside {
        let attributes = attributes.map(|j| j as usize);
        let seen = attributes.map(|j| moments.seen[j]);
        let rate_of_all = seen.map(|n| 1.0 / n.max(1.0));
        let mut covariance: [f64; LANES] =
            std::array::from_fn(|lane| moments.label[attributes[lane]] * rate_of_all[lane]);
        let mut uneven = [0.0; LANES];
        let of_uneven = if moments.has(Rule::UnevenSums) { 1.0 } else { 0.0 };
        let neighbors =
            Some(attributes[0]).filter(|&first| attributes.iter().copied().eq(first..first + LANES));
        self.columns.clear();
        for ((&slot, b), part) in self.slots.iter().zip(&self.coefficients).zip(&self.parts) {
            let (sums, void) = moments.pairs.of(slot);
            let [sums, void] = [sums, void].map(|of| match neighbors {
                Some(first) => std::array::from_fn(|lane| of[first..][..LANES][lane]),
                None => attributes.map(|j| of[j]),
            });
            let mut products = [0.0; LANES];
            for lane in 0..LANES {
                // The sum over no examples is 0.
                let rate = 1.0 / (seen[lane] - void[lane]).max(0.5);
                products[lane] = sums[lane] * rate;
                covariance[lane] -= b * products[lane];
                uneven[lane] += of_uneven * part * (rate - rate_of_all[lane]).max(0.0);
            }
            self.columns.push(products);
        }
        Beside { covariance, uneven }
    }

    /// Returns the parts of the variances of the attributes [last held](Self::beside) against the support
    /// that it explains, from 0 to 1.
    pub fn explained(&mut self, attributes: [u32; LANES], moments: &Moments) -> [f64; LANES] {
        let solved = self.solved(0);
        std::array::from_fn(|lane| {
            let j = attributes[lane];
            // Of what k attributes leave, the errors of their covariances alone explain k/n.
            let by_chance = self.support.len() as f64 / moments.seen[j as usize].max(1.0);
            let left = (1.0 - solved[lane] / moments.variance(j)) / (1.0 - by_chance).max(0.0);
            if left.is_finite() { (1.0 - left).clamp(0.0, 1.0) } else { 0.0 }
        })
    }

    /// Returns `c' A^-1 c` for each column c, whose entries before `first` are zero, and the covariance
    /// matrix A of the support.
    fn solved(&mut self, first: usize) -> [f64; LANES] {
        solve_lower_lanes(&self.factor, first, &mut self.columns);
        let mut sums = [0.0; LANES];
        for x in &self.columns[first..] {
            (0..LANES).for_each(|lane| sums[lane] += x[lane] * x[lane]);
        }
        sums
    }
}

/// Solves `A x = b`, given the Cholesky factor of A that `solve_positive` leaves.
pub(super) fn solve_factored(factor: &[f64], b: &mut [f64]) {
    let k = b.len();
    for i in 0..k {
        let row = &factor[i * k..][..k];
        let before: f64 = row[..i].iter().zip(&*b).map(|(l, x)| l * x).sum();
        b[i] = if row[i] > 0.0 { (b[i] - before) / row[i] } else { 0.0 };
    }
    for i in (0..k).rev() {
        let row = &factor[i * k..][..k];
        if row[i] > 0.0 {
            b[i] /= row[i];
            let x = b[i];
            b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
        }
    }
}

/// Returns a group of attributes; if there are too few, the last one fills it up.
pub(super) fn filled(group: &[u32]) -> [u32; LANES] {
    std::array::from_fn(|lane| group[lane.min(group.len() - 1)])
}

impl Before {
    /// Returns the weight of the examples until then.
    pub fn weight(&self) -> f64 {
        self.examples as f64 - self.forgotten
    }

    /// Computes the mean products of the support, and with the label, over the examples since then: what
    /// `solve_positive` solves. The matrix has room for all; its upper triangle stays as it is.
    pub fn products_since(
        &self,
        (support, slots): (&[u32], &[usize]),
        moments: &Moments,
        matrix: &mut [f64],
        labels: &mut Vec<f64>,
    ) {
        let (k, since) = (support.len(), moments.weight() - self.weight());
        for (i, (&slot, before)) in slots.iter().zip(self.products.chunks_exact(k.max(1))).enumerate() {
            let row = matrix[i * k..].iter_mut().zip(&support[..=i]).zip(before);
            row.for_each(|((entry, &j), before)| *entry = (moments.pair(j, slot).0 - before) / since);
        }
        let change = |(&j, label): (&u32, &f64)| (moments.label[j as usize] - label) / since;
        labels.clear();
        labels.extend(support.iter().zip(&self.labels).map(change));
    }

    /// Multiplies the weight of the examples until then by `kept`, at most 1.
    pub fn forget(&mut self, kept: f64) {
        self.forgotten += (1.0 - kept) * self.weight();
        self.products
            .iter_mut()
            .chain(&mut self.labels)
            .chain([&mut self.errors])
            .for_each(|sum| *sum *= kept);
    }

    /// Remembers the sums over the support as they are now.
    pub fn remember(&mut self, support: &[u32], moments: &Moments) {
        (self.examples, self.forgotten) = (moments.examples, moments.forgotten);
        (self.gaps, self.errors) = (moments.gaps, moments.errors);
        self.support.clear();
        self.support.extend_from_slice(support);
        self.labels.clear();
        self.labels.extend(support.iter().map(|&k| moments.label[k as usize]));
        self.products.clear();
        for &l in support {
            let slot = moments.pairs.slot(l);
            let of = |&k: &u32| slot.map_or(0.0, |slot| moments.pair(k, slot).0);
            self.products.extend(support.iter().map(of));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pursuit::moments::Panel;
    use lao_observation::Seed;
    use rand::RngExt as _;

    /// Adds 200 examples whose label is this multiple of the sum of four attributes.
    fn absorb(moments: &mut Moments, slope: f64) {
        const ROWS: usize = 200;
        let mut rng = Seed::root(1).rng();
        let mut values: Vec<[f64; 4]> =
            (0..ROWS).map(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0))).collect();
        let mut labels: Vec<f64> = values.iter().map(|x| slope * x.iter().sum::<f64>()).collect();
        let (attributes, mut errors) = (&[0, 1, 2, 3], vec![0.0; ROWS]);
        moments.clip(attributes, &mut values, &[], &mut errors, &[], &[]);
        moments.absorb_labels(&labels, &[]);
        let (values, labels) = (&mut values[..], &mut labels[..]);
        moments.absorb(Panel { attributes, values, labels, errors: &mut errors, gaps: &[], weights: &[] });
    }

    #[test]
    fn examples_since_a_change_count_by_themselves_for_the_support_of_that_change_alone() {
        let mut moments = Moments::new(4, 4);
        // The pairs rest on fewer examples than the attributes, so that the later examples alone say more.
        absorb(&mut moments, 1.0);
        (0..4).for_each(|j| moments.watch(j));
        let of = |support: &[u32]| {
            let mut before = Before::default();
            before.remember(support, &moments);
            before
        };
        let (same, other) = (of(&[1, 3]), of(&[0, 2]));
        absorb(&mut moments, 3.0);
        let slopes = |before: &Before| {
            let mut fit = Fit::default();
            fit.solve(&[1, 3], &moments, before, 1e-9);
            fit.coefficients
        };
        let all = slopes(&Before::default());
        assert_eq!(slopes(&other), all);
        assert_ne!(slopes(&same), all);
    }
}
