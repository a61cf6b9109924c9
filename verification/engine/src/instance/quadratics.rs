//! Finite sums of diagonal quadratics, `f_z(x) = (1/2) sum_i h_zi x_i^2 + q_z'x`, built as production sums of
//! blocks.
//!
//! A production sum counts its calls, so it belongs to one thread; [`Shared`] gives each thread a clone.

use super::{dot, norm2};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, Predictor};
use lao_kernels::{Compressed, SparseVector};
use lao_observation::{Rng, Seed};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::sync::{Mutex, PoisonError};

/// The components of a sum of diagonal quadratics.
#[derive(Clone, Debug)]
pub struct Quadratics {
    /// `h_z`, one positive vector of length d per component.
    pub curvatures: Vec<Vec<f64>>,
    /// `q_z`.
    pub linear: Vec<Vec<f64>>,
}

impl Quadratics {
    /// Returns the components `f_z = |x - c_z|^2/2` with normal centers `c_z` whose mean is exactly `mean`,
    /// and with `(1/n) sum |c_z - mean|^2 = variance` exactly.
    pub fn around(mean: &[f64], n: usize, variance: f64, seed: &Seed) -> Quadratics {
        let (mut rng, d) = (seed.rng(), mean.len());
        let mut linear = centered(&mut rng, n, d);
        let spread = linear.iter().map(|q| norm2(q)).sum::<f64>() / n as f64;
        let scale = (variance / spread).sqrt();
        for q in &mut linear {
            q.iter_mut().zip(mean).for_each(|(q, mean)| *q = scale * *q - mean);
        }
        Quadratics { curvatures: vec![vec![1.0; d]; n], linear }
    }

    /// Returns components with curvatures uniform in `range` and normal linear parts of standard deviation
    /// `sd` that add up to `n gradient`, so that the gradient at 0 is `gradient`.
    pub fn random(gradient: &[f64], n: usize, range: (f64, f64), sd: f64, seed: &Seed) -> Quadratics {
        let (mut rng, d) = (seed.rng(), gradient.len());
        let curvatures =
            (0..n).map(|_| (0..d).map(|_| rng.random_range(range.0..range.1)).collect()).collect();
        let mut linear = centered(&mut rng, n, d);
        for q in &mut linear {
            q.iter_mut().zip(gradient).for_each(|(q, gradient)| *q = sd * *q + gradient);
        }
        Quadratics { curvatures, linear }
    }

    /// Returns n, the number of components.
    pub fn len(&self) -> usize {
        self.linear.len()
    }

    /// Returns whether there are no components.
    pub fn is_empty(&self) -> bool {
        self.linear.is_empty()
    }

    /// Returns d, the dimension.
    pub fn dim(&self) -> usize {
        self.linear.first().map_or(0, Vec::len)
    }

    /// Returns the diagonal of the Hessian of f.
    pub fn hessian(&self) -> Vec<f64> {
        mean(&self.curvatures)
    }

    /// Returns L, the largest curvature of a component.
    pub fn smoothness(&self) -> f64 {
        self.curvatures.iter().flatten().copied().fold(0.0, f64::max)
    }

    /// Returns rho, the smallest curvature of f.
    pub fn strong_convexity(&self) -> f64 {
        self.hessian().into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Returns the gradient of component z.
    pub fn gradient(&self, z: usize, x: &[f64]) -> Vec<f64> {
        let slopes = self.curvatures[z].iter().zip(x).zip(&self.linear[z]);
        slopes.map(|((h, x), q)| h * x + q).collect()
    }

    /// Returns the gradient of f.
    pub fn mean_gradient(&self, x: &[f64]) -> Vec<f64> {
        mean(&(0..self.len()).map(|z| self.gradient(z, x)).collect::<Vec<_>>())
    }

    /// Returns `S(x)`, the mean squared distance of the components' gradients from their mean.
    pub fn variance(&self, x: &[f64]) -> f64 {
        let gradients: Vec<Vec<f64>> = (0..self.len()).map(|z| self.gradient(z, x)).collect();
        gradients.iter().map(|g| norm2(g)).sum::<f64>() / self.len() as f64 - norm2(&mean(&gradients))
    }

    /// Returns `f(x)`.
    pub fn value(&self, x: &[f64]) -> f64 {
        let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
        0.5 * dot(&self.hessian(), &squares) + dot(&mean(&self.linear), x)
    }

    /// Returns the production sum. Component z is a block of d rows; row i has the one entry
    /// `s = sqrt(d h_zi/2)` and the label `-d q_zi/(2 s)`, so that the mean of the squared losses is `f_z` up
    /// to a constant.
    pub fn sum(&self) -> anyhow::Result<FiniteSum> {
        let (n, d) = (self.len(), self.dim());
        let half = 0.5 * d as f64;
        let entries: Vec<f64> = self.curvatures.iter().flatten().map(|h| (half * h).sqrt()).collect();
        let labels = self.linear.iter().flatten().zip(&entries).map(|(q, s)| -half * q / s).collect();
        let indices = (0..n).flat_map(|_| 0..d as u32).collect();
        let rows = Compressed::new(d, (0..=n * d).collect(), indices, entries)?;
        let sum = FiniteSum::new(DesignMatrix::compressed_rows(rows), Loss::least_squares(labels)?)?;
        Ok(sum.in_blocks(d)?)
    }
}

/// Returns standard normal vectors, shifted to add up to zero.
fn centered(rng: &mut Rng, n: usize, d: usize) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> =
        (0..n).map(|_| (0..d).map(|_| StandardNormal.sample(rng)).collect()).collect();
    let center = mean(&all);
    for vector in &mut all {
        vector.iter_mut().zip(&center).for_each(|(x, center)| *x -= center);
    }
    all
}

fn mean(vectors: &[Vec<f64>]) -> Vec<f64> {
    let d = vectors.first().map_or(0, Vec::len);
    (0..d).map(|i| vectors.iter().map(|v| v[i]).sum::<f64>() / vectors.len() as f64).collect()
}

/// A sum from which each of many threads takes its own clone.
#[derive(Debug)]
pub struct Shared(Mutex<FiniteSum>);

impl Shared {
    /// Returns a shared form of `sum`.
    pub fn new(sum: FiniteSum) -> Self {
        Shared(Mutex::new(sum))
    }

    /// Returns a clone of the sum whose meter is at zero.
    pub fn sum(&self) -> FiniteSum {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        sum.reset_meter();
        sum
    }
}

/// Returns the dense vector as a predictor of one output.
pub fn predictor(dense: &[f64]) -> Predictor {
    Predictor { coefficients: vec![SparseVector::from_dense(dense)], intercepts: vec![0.0] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_finite_sum::{Batch, Gradient};

    #[test]
    fn blocks_have_the_gradients_of_the_quadratics() {
        let all = Quadratics::random(&[0.5, -0.3, 0.0], 6, (0.5, 2.0), 1.0, &Seed::root(1));
        let (mut sum, x) = (all.sum().unwrap(), [1.0, 0.0, -2.0]);
        let at = predictor(&x);
        for z in 0..6 {
            let mut gradient = Gradient::default();
            sum.gradient(Batch::Components(&[z as u32]), &at, &mut gradient).unwrap();
            for (found, exact) in gradient.coefficients[0].iter().zip(all.gradient(z, &x)) {
                assert!((found - exact).abs() < 1e-12);
            }
        }
        let rise = sum.objective(&at).unwrap() - sum.objective(&predictor(&[0.0; 3])).unwrap();
        assert!((rise - all.value(&x)).abs() < 1e-12);
        assert!((all.mean_gradient(&[0.0; 3])[0] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn toys_have_their_mean_and_variance() {
        let toy = Quadratics::around(&[1.0, -2.0], 50, 3.0, &Seed::root(2));
        assert!((toy.variance(&[0.0, 0.0]) - 3.0).abs() < 1e-12);
        assert!(toy.mean_gradient(&[1.0, -2.0]).iter().all(|g| g.abs() < 1e-12));
    }
}
