//! A least-squares population, which is given by the covariance of x.

use super::{dot, minus};
use lao_observation::Rng;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// The population with loss `L(theta) = E (theta' x - y)^2` and `y = theta*' x + xi`, given by the second
/// moments `Sigma = E x x'`.
#[derive(Clone, Debug)]
pub struct QuadraticPopulation {
    dim: usize,
    /// Sigma, row by row.
    covariance: Vec<f64>,
    /// The eigenvalues, ascending.
    spectrum: Vec<f64>,
    /// Row k is a unit eigenvector of the k-th eigenvalue.
    eigenvectors: Vec<f64>,
}

impl QuadraticPopulation {
    /// Returns a population whose covariance has this spectrum and uniformly (Haar) drawn eigenvectors.
    pub fn with_spectrum(rng: &mut Rng, mut spectrum: Vec<f64>) -> Self {
        spectrum.sort_by(f64::total_cmp);
        let dim = spectrum.len();
        let mut rows: Vec<f64> = (0..dim * dim).map(|at| f64::from(at / dim == at % dim)).collect();
        // Every row is multiplied by d Householder reflections in normal directions.
        for _ in 0..dim {
            let mirror: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(rng)).collect();
            let length = dot(&mirror, &mirror);
            for row in rows.chunks_exact_mut(dim.max(1)) {
                let along = 2.0 * dot(row, &mirror) / length;
                row.iter_mut().zip(&mirror).for_each(|(x, m)| *x -= along * m);
            }
        }
        let mut covariance = vec![0.0; dim * dim];
        for i in 0..dim {
            for j in 0..=i {
                let entry = (0..dim).map(|k| spectrum[k] * rows[k * dim + i] * rows[k * dim + j]).sum();
                covariance[i * dim + j] = entry;
                covariance[j * dim + i] = entry;
            }
        }
        QuadraticPopulation { dim, covariance, spectrum, eigenvectors: rows }
    }

    /// Returns a population whose covariance has these smallest and largest eigenvalues and the others
    /// log-uniform between them.
    pub fn random(rng: &mut Rng, dim: usize, smallest: f64, largest: f64) -> Self {
        let mut spectrum = vec![smallest, largest];
        spectrum.truncate(dim);
        while spectrum.len() < dim {
            let share: f64 = rng.random();
            spectrum.push(smallest * (largest / smallest).powf(share));
        }
        Self::with_spectrum(rng, spectrum)
    }

    /// Returns the population with `Sigma = value I`.
    pub fn isotropic(dim: usize, value: f64) -> Self {
        let eigenvectors: Vec<f64> = (0..dim * dim).map(|at| f64::from(at / dim == at % dim)).collect();
        let covariance = eigenvectors.iter().map(|x| value * x).collect();
        QuadraticPopulation { dim, covariance, spectrum: vec![value; dim], eigenvectors }
    }

    /// Returns `d`.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns Sigma, row by row.
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// Returns the smallest eigenvalue of Sigma.
    pub fn smallest(&self) -> f64 {
        self.spectrum.first().copied().unwrap_or(0.0)
    }

    /// Returns the largest eigenvalue of Sigma.
    pub fn largest(&self) -> f64 {
        self.spectrum.last().copied().unwrap_or(0.0)
    }

    /// Returns a unit eigenvector of the k-th eigenvalue, counted from the smallest.
    pub fn eigenvector(&self, k: usize) -> &[f64] {
        &self.eigenvectors[k * self.dim..(k + 1) * self.dim]
    }

    /// Returns `Sigma v`.
    pub fn times(&self, v: &[f64]) -> Vec<f64> {
        self.covariance.chunks_exact(self.dim.max(1)).map(|row| dot(row, v)).collect()
    }

    /// Returns `v' Sigma v`.
    pub fn form(&self, v: &[f64]) -> f64 {
        dot(v, &self.times(v))
    }

    /// Returns `L(theta) - L(theta*)`.
    pub fn gap(&self, theta: &[f64], theta_star: &[f64]) -> f64 {
        self.form(&minus(theta, theta_star))
    }

    /// Returns the gradient of L at `theta`, `2 Sigma (theta - theta*)`.
    pub fn gradient(&self, theta: &[f64], theta_star: &[f64]) -> Vec<f64> {
        self.times(&minus(theta, theta_star)).into_iter().map(|g| 2.0 * g).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::norm2;
    use lao_kernels::symmetric_eigenvalues;
    use lao_observation::Seed;

    #[test]
    fn spectrum_is_the_prescribed_one() {
        let mut rng = Seed::root(3).rng();
        let population = QuadraticPopulation::random(&mut rng, 9, 0.2, 5.0);
        let eigenvalues = symmetric_eigenvalues(population.covariance(), 9).expect("symmetric");
        for (got, want) in eigenvalues.iter().zip(&population.spectrum) {
            assert!((got - want).abs() < 1e-12);
        }
        assert_eq!((population.smallest(), population.largest()), (0.2, 5.0));
    }

    #[test]
    fn eigenvectors_are_unit_and_attain_their_eigenvalues() {
        let mut rng = Seed::root(4).rng();
        let population = QuadraticPopulation::random(&mut rng, 7, 0.5, 2.0);
        for (k, &value) in population.spectrum.iter().enumerate() {
            let u = population.eigenvector(k);
            assert!((norm2(u) - 1.0).abs() < 1e-12);
            let image = population.times(u);
            assert!(image.iter().zip(u).all(|(image, u)| (image - value * u).abs() < 1e-12));
        }
    }
}
