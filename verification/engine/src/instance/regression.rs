//! Least-squares problems of practical size: `f(x) = (1/n) sum (y_z - z'x)^2` on normal rows.

use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_observation::Seed;
use rand_distr::{Distribution, StandardNormal};

/// The law of rows and labels.
#[derive(Clone, Debug)]
pub struct Regression {
    /// n, the number of components.
    pub components: usize,
    /// The correlation of neighboring columns; every column has variance 1.
    pub correlation: f64,
    /// The true coefficients, dense.
    pub star: Vec<f64>,
    /// Standard deviation of the labels around `z'x*`.
    pub noise: f64,
    /// Whether each row comes twice, with opposite noise. Then `x*` is the global minimizer, although the
    /// components' gradients do not vanish at `x*`.
    pub twice: bool,
}

impl Regression {
    /// Draws the data.
    ///
    /// # Errors
    /// When [`FiniteSum`] refuses the data.
    pub fn draw(&self, seed: &Seed) -> anyhow::Result<FiniteSum> {
        let (mut rng, n, d) = (seed.rng(), self.components, self.star.len());
        let fresh = (1.0 - self.correlation * self.correlation).sqrt();
        let (mut values, mut labels) = (Vec::with_capacity(n * d), Vec::with_capacity(n));
        let mut row = vec![0.0; d];
        while labels.len() < n {
            for j in 0..d {
                let new: f64 = StandardNormal.sample(&mut rng);
                row[j] = if j == 0 { new } else { self.correlation * row[j - 1] + fresh * new };
            }
            let noise: f64 =
                self.noise * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng);
            let fitted = super::dot(&row, &self.star);
            let labeled: &[f64] =
                if self.twice { &[fitted + noise, fitted - noise] } else { &[fitted + noise] };
            for label in labeled {
                values.extend_from_slice(&row);
                labels.push(*label);
            }
        }
        Ok(FiniteSum::new(DesignMatrix::rows(labels.len(), d, values)?, Loss::least_squares(labels)?)?)
    }
}

/// Returns a vector with `k` alternating signs spread evenly over `d` coordinates, and zeros elsewhere.
pub fn spread_signs(d: usize, k: usize) -> Vec<f64> {
    let mut star = vec![0.0; d];
    for i in 0..k {
        star[i * d / k] = if i % 2 == 0 { 1.0 } else { -1.0 };
    }
    star
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::quadratics::predictor;
    use lao_finite_sum::{Batch, Gradient};

    #[test]
    fn rows_that_come_twice_make_the_truth_the_minimizer() {
        let star = spread_signs(6, 2);
        let all =
            Regression { components: 40, correlation: 0.5, star: star.clone(), noise: 0.3, twice: true };
        let (mut sum, mut gradient) = (all.draw(&Seed::root(1)).unwrap(), Gradient::default());
        sum.gradient(Batch::All, &predictor(&star), &mut gradient).unwrap();
        assert!(gradient.coefficients[0].iter().all(|g| g.abs() < 1e-12));
        sum.gradient(Batch::Components(&[3]), &predictor(&star), &mut gradient).unwrap();
        assert!(gradient.coefficients[0].iter().any(|g| g.abs() > 1e-3));
    }
}
