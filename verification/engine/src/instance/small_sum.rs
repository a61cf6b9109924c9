//! Small finite sums with two implementations: formulas in this file, and a production [`FiniteSum`] of the
//! same rows.

use super::{dot, members};
use lao_algorithms::thresholding::{BatchLaw, EpochLength, ScsgParams, Shape, Solver};
use lao_finite_sum::{Batch, Coding, DesignMatrix, FiniteSum, Gradient, Loss, Predictor};
use lao_kernels::{SparseVector, symmetric_eigenvalues};
use lao_observation::{Rng, Seed};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// The coding of labels as signs, which allows that one class is absent.
const SIGNS: Coding = Coding::TwoClasses { negative: -1.0, positive: 1.0 };

/// The finite sum in which `f_z(x)` is the mean of a loss over the rows of block z, plus `(ridge/2) |x|^2`.
#[derive(Clone, Debug)]
pub struct SmallSum {
    dim: usize,
    /// The number of rows of a component.
    block: usize,
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
    logistic: bool,
    ridge: f64,
}

impl SmallSum {
    /// Returns a sum of squared losses `(y - row'x)^2`, with `block` rows per component.
    pub fn least_squares(rows: Vec<Vec<f64>>, labels: Vec<f64>, block: usize, ridge: f64) -> Self {
        let dim = rows.first().map_or(0, Vec::len);
        SmallSum { dim, block, rows, labels, logistic: false, ridge }
    }

    /// Returns a sum of logistic losses with labels -1 and +1, one row per component.
    pub fn logistic(rows: Vec<Vec<f64>>, labels: Vec<f64>, ridge: f64) -> Self {
        SmallSum { logistic: true, ..SmallSum::least_squares(rows, labels, 1, ridge) }
    }

    /// Returns the sum with a component `(1/2) sum_i h_i (x_i - c_i)^2` for each pair (h, c); all h are
    /// positive.
    pub fn quadratics(components: &[(Vec<f64>, Vec<f64>)]) -> Self {
        let dim = components.first().map_or(0, |(h, _)| h.len());
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for (h, c) in components {
            for (i, (h, c)) in h.iter().zip(c).enumerate() {
                let scale = (0.5 * dim as f64 * h).sqrt();
                rows.push((0..dim).map(|j| if j == i { scale } else { 0.0 }).collect());
                labels.push(scale * c);
            }
        }
        SmallSum::least_squares(rows, labels, dim, 0.0)
    }

    /// Returns the sum with a component `(1/2) |x - c_z|^2` for each center.
    pub fn around(centers: &[Vec<f64>]) -> Self {
        let components: Vec<_> = centers.iter().map(|c| (vec![1.0; c.len()], c.clone())).collect();
        SmallSum::quadratics(&components)
    }

    /// Returns a sum with an l2 term on normal rows of log-normal scales. The losses are squared on blocks of
    /// one row, squared on blocks of `dim` rows, or logistic, in turn by `number`.
    pub fn random(rng: &mut Rng, number: u64, components: usize, dim: usize) -> Self {
        let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
        let block = if number % 3 == 1 { dim } else { 1 };
        let row = |rng: &mut Rng| -> Vec<f64> {
            let scale = (0.5 * normal(rng)).exp();
            (0..dim).map(|_| scale * normal(rng)).collect()
        };
        let rows: Vec<Vec<f64>> = (0..components * block).map(|_| row(rng)).collect();
        let ridge = rng.random_range(0.01..0.5);
        if number % 3 == 2 {
            let labels = rows.iter().map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
            return SmallSum::logistic(rows, labels, ridge);
        }
        let labels = rows.iter().map(|_| normal(rng)).collect();
        SmallSum::least_squares(rows, labels, block, ridge)
    }

    /// Returns a sum of `2 pairs` components, and the vector x* at which its gradient vanishes: the gradients
    /// of the two components of a pair cancel there. The losses are squared, or logistic with x* = 0, in turn
    /// by `number`.
    pub fn balanced(rng: &mut Rng, number: u64, pairs: usize, dim: usize) -> (Self, Vec<f64>) {
        let half = SmallSum::random(rng, 2 * (number % 2), pairs, dim);
        let rows = [&half.rows[..], &half.rows[..]].concat();
        if half.logistic {
            let flipped = half.labels.iter().map(|label| -label);
            let labels = half.labels.iter().copied().chain(flipped).collect();
            return (SmallSum::logistic(rows, labels, half.ridge), vec![0.0; dim]);
        }
        let size = rng.random_range(0..=dim);
        let star = super::sparse_normal(rng, dim, size);
        let around =
            |sign: f64| half.rows.iter().zip(&half.labels).map(move |(row, pull)| (row, sign * pull));
        let labels = around(1.0).chain(around(-1.0)).map(|(row, pull)| dot(row, &star) + pull).collect();
        (SmallSum::least_squares(rows, labels, 1, 0.0), star)
    }

    /// Returns the production sum of the same rows.
    ///
    /// # Errors
    /// When [`FiniteSum`] refuses the rows.
    pub fn production(&self) -> anyhow::Result<FiniteSum> {
        let examples = DesignMatrix::rows(self.rows.len(), self.dim, self.rows.concat())?;
        let loss = match self.logistic {
            true => Loss::coded(&self.labels, SIGNS)?,
            false => Loss::least_squares(self.labels.clone())?,
        };
        Ok(FiniteSum::new(examples, loss)?.with_ridge(self.ridge)?.in_blocks(self.block)?)
    }

    /// Returns `n`.
    pub fn len(&self) -> usize {
        self.rows.len() / self.block.max(1)
    }

    /// Returns whether there are no components.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns `d`.
    pub fn dim(&self) -> usize {
        self.dim
    }

    fn rows_of(&self, z: usize) -> impl Iterator<Item = (&Vec<f64>, f64)> {
        let range = z * self.block..(z + 1) * self.block;
        self.rows[range.clone()].iter().zip(self.labels[range].iter().copied())
    }

    /// Returns `f_z(x)`.
    pub fn component(&self, z: usize, x: &[f64]) -> f64 {
        let loss = |row: &[f64], label: f64| {
            let margin = dot(row, x);
            if self.logistic { (1.0 + (-label * margin).exp()).ln() } else { (label - margin).powi(2) }
        };
        let sum: f64 = self.rows_of(z).map(|(row, label)| loss(row, label)).sum();
        sum / self.block as f64 + 0.5 * self.ridge * dot(x, x)
    }

    /// Returns `f(x)`.
    pub fn value(&self, x: &[f64]) -> f64 {
        (0..self.len()).map(|z| self.component(z, x)).sum::<f64>() / self.len() as f64
    }

    /// Returns `grad f_z(x)`.
    pub fn component_gradient(&self, z: usize, x: &[f64]) -> Vec<f64> {
        let mut gradient: Vec<f64> = x.iter().map(|x| self.ridge * x).collect();
        for (row, label) in self.rows_of(z) {
            let margin = dot(row, x);
            let slope = match self.logistic {
                true => -label / (1.0 + (label * margin).exp()),
                false => 2.0 * (margin - label),
            };
            gradient.iter_mut().zip(row).for_each(|(g, z)| *g += slope * z / self.block as f64);
        }
        gradient
    }

    /// Returns `grad f_I(x)`.
    pub fn batch_gradient(&self, batch: &[u32], x: &[f64]) -> Vec<f64> {
        mean(self.dim, batch.iter().map(|&z| self.component_gradient(z as usize, x)))
    }

    /// Returns `grad f(x)`.
    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        mean(self.dim, (0..self.len()).map(|z| self.component_gradient(z, x)))
    }

    /// Returns `S(x) = (1/n) sum_z |grad f_z(x) - grad f(x)|^2`.
    pub fn variance(&self, x: &[f64]) -> f64 {
        let center = self.gradient(x);
        let square = |z| super::norm2(&super::minus(&self.component_gradient(z, x), &center));
        (0..self.len()).map(square).sum::<f64>() / self.len() as f64
    }

    /// Returns an upper bound of the Hessian of the mean over some components, row by row. It is exact for
    /// squared losses.
    fn hessian(&self, components: std::ops::Range<usize>) -> Vec<f64> {
        let (dim, size) = (self.dim, (components.len() * self.block) as f64);
        let curvature = if self.logistic { 0.25 } else { 2.0 };
        let mut hessian = vec![0.0; dim * dim];
        for (row, _) in components.flat_map(|z| self.rows_of(z)) {
            for i in 0..dim {
                for j in 0..dim {
                    hessian[i * dim + j] += curvature * row[i] * row[j] / size;
                }
            }
        }
        (0..dim).for_each(|i| hessian[i * dim + i] += self.ridge);
        hessian
    }

    fn spectrum(&self, components: std::ops::Range<usize>) -> anyhow::Result<(f64, f64)> {
        let eigenvalues = symmetric_eigenvalues(&self.hessian(components), self.dim)?;
        let (least, most) = (eigenvalues.first().copied(), eigenvalues.last().copied());
        Ok((least.unwrap_or(0.0), most.unwrap_or(0.0)))
    }

    /// Returns the smallest L with which every component is L-smooth (an upper bound for logistic losses).
    ///
    /// # Errors
    /// When the eigenvalues are not found.
    pub fn component_smoothness(&self) -> anyhow::Result<f64> {
        let mut largest = (0..self.len()).map(|z| Ok(self.spectrum(z..z + 1)?.1));
        largest.try_fold(0.0, |most: f64, next: anyhow::Result<f64>| Ok(most.max(next?)))
    }

    /// Returns `(rho, L)` of f: bounds on the eigenvalues of its Hessian, which are exact for squared losses.
    ///
    /// # Errors
    /// When the eigenvalues are not found.
    pub fn constants(&self) -> anyhow::Result<(f64, f64)> {
        let (least, most) = self.spectrum(0..self.len())?;
        Ok((if self.logistic { self.ridge } else { least }, most))
    }
}

/// Returns the mean of vectors of dimension `dim`.
pub fn mean(dim: usize, vectors: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let (mut total, mut count) = (vec![0.0; dim], 0.0);
    for vector in vectors {
        total.iter_mut().zip(&vector).for_each(|(total, x)| *total += x);
        count += 1.0;
    }
    total.iter_mut().for_each(|total| *total /= count);
    total
}

/// Returns a dense vector as a predictor of one output.
pub fn predictor(x: &[f64]) -> Predictor {
    Predictor { coefficients: vec![SparseVector::from_dense(x)], intercepts: vec![0.0] }
}

/// Returns `grad f_I(x)`, l2 term included, as the production code computes it.
///
/// # Errors
/// When the batch or the point does not fit the sum.
pub fn production_gradient(sum: &mut FiniteSum, batch: Batch<'_>, x: &[f64]) -> anyhow::Result<Vec<f64>> {
    let mut gradient = Gradient::default();
    sum.gradient(batch, &predictor(x), &mut gradient)?;
    let mut gradient = gradient.coefficients.swap_remove(0);
    gradient.iter_mut().zip(x).for_each(|(g, x)| *g += sum.ridge() * x);
    Ok(gradient)
}

/// Returns all subsets of `0..n` with `size` members, in ascending order.
pub fn batches(n: usize, size: usize) -> Vec<Vec<u32>> {
    super::masks(n, size).map(|set| members(set).map(|z| z as u32).collect()).collect()
}

/// The draws of an epoch, fixed beforehand.
#[derive(Clone, Debug)]
struct Scripted<'a> {
    /// The subsets still to come, the next one first.
    subsets: std::slice::Iter<'a, &'a [u32]>,
    length: u64,
}

impl BatchLaw for Scripted<'_> {
    fn subset(&mut self, _: usize, _: usize, _: &mut Rng, into: &mut Vec<u32>) {
        into.extend(self.subsets.next().into_iter().copied().flatten());
    }
    fn length(&mut self, _: EpochLength, _: usize, _: usize, _: &mut Rng) -> u64 {
        self.length
    }
}

/// Returns the iterates `x_0, .., x_N` of one production epoch of SCSG-HT from `start`, with the given batch
/// I and mini-batches `I_1, .., I_N`.
///
/// # Errors
/// When the production solver refuses its parameters or diverges.
pub fn epoch(
    sum: &mut FiniteSum,
    start: &[f64],
    (sparsity, step_size): (usize, f64),
    batch: &[u32],
    minis: &[&[u32]],
) -> anyhow::Result<Vec<Vec<f64>>> {
    // A batch of all components is not drawn.
    let drawn = std::iter::once(batch).filter(|batch| batch.len() < sum.len());
    let subsets: Vec<&[u32]> = drawn.chain(minis.iter().copied()).collect();
    let params = ScsgParams {
        sparsity,
        step_size,
        batch: batch.len(),
        mini_batch: minis.first().map_or(1, |mini| mini.len()),
        length: EpochLength::Geometric,
        start: Some(predictor(start)),
    };
    let draws = Scripted { subsets: subsets.iter(), length: minis.len() as u64 };
    let mut solver = params.build_with(Shape::of(sum), draws)?;
    let rng = &mut Seed::root(0).rng();
    let mut path = Vec::with_capacity(minis.len() + 1);
    for _ in 0..=minis.len() {
        solver.step(sum, rng)?;
        path.push(solver.coefficients().coefficients[0].view().to_dense());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{minus, norm2, sparse_normal};

    #[test]
    fn both_writings_agree() {
        let mut rng = Seed::root(5).rng();
        for number in 0..9 {
            let small = SmallSum::random(&mut rng, number, 5, 3);
            let mut sum = small.production().unwrap();
            let x = sparse_normal(&mut rng, 3, 2);
            assert!((sum.objective(&predictor(&x)).unwrap() - small.value(&x)).abs() < 1e-12);
            for batch in batches(5, 2) {
                let ours = production_gradient(&mut sum, Batch::Components(&batch), &x).unwrap();
                assert!(norm2(&minus(&ours, &small.batch_gradient(&batch, &x))) < 1e-24);
            }
            let all = production_gradient(&mut sum, Batch::All, &x).unwrap();
            assert!(norm2(&minus(&all, &small.gradient(&x))) < 1e-24);
            let (rho, smooth) = small.constants().unwrap();
            assert!(rho > 0.0 && rho <= smooth && smooth <= small.component_smoothness().unwrap() + 1e-12);
            assert!(small.component_smoothness().unwrap() <= sum.component_smoothness() + 1e-12);
        }
    }

    #[test]
    fn balanced_sums_have_their_minimum_where_they_say() {
        let mut rng = Seed::root(7).rng();
        for number in 0..6 {
            let (small, star) = SmallSum::balanced(&mut rng, number, 3, 4);
            assert!(small.len() == 6 && norm2(&small.gradient(&star)) < 1e-24);
            assert!(small.variance(&star) > 0.0);
        }
    }

    #[test]
    fn an_epoch_is_what_the_algorithm_says() {
        let mut rng = Seed::root(6).rng();
        let small = SmallSum::random(&mut rng, 0, 4, 3);
        let (mut sum, start) = (small.production().unwrap(), sparse_normal(&mut rng, 3, 3));
        let path = epoch(&mut sum, &start, (3, 0.1), &[1, 3], &[&[0], &[2]]).unwrap();
        assert_eq!((path.len(), &path[0]), (3, &start));
        for (t, z) in [(1, 0), (2, 2)] {
            let gradients = [
                small.component_gradient(z, &path[t - 1]),
                small.component_gradient(z, &start),
                small.batch_gradient(&[1, 3], &start),
            ];
            for j in 0..3 {
                let v = gradients[0][j] - gradients[1][j] + gradients[2][j];
                assert!((path[t][j] - (path[t - 1][j] - 0.1 * v)).abs() < 1e-12);
            }
        }
    }
}
