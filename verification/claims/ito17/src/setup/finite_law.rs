//! Examples with finitely many values, whose expectations are sums.

use lao_observation::Rng;
use lao_verification_engine::instance::{dot, minus, norm2};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// `y = w*'x + eps` with x and eps independent.
#[derive(Clone)]
pub(crate) struct FiniteLaw {
    /// Probabilities and values of x.
    pub features: Vec<(f64, Vec<f64>)>,
    /// Probabilities and values of eps.
    pub noise: [(f64, f64); 2],
    /// `w*`.
    pub w_star: Vec<f64>,
}

impl FiniteLaw {
    /// `atoms` values of x of at most unit length, noise of mean zero within [-.4, .4], `|w*| = .6`.
    pub fn random(rng: &mut Rng, dim: usize, atoms: usize) -> Self {
        let mut within = |length: f64| {
            let v: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(rng)).collect();
            let factor = length / norm2(&v).sqrt();
            v.into_iter().map(|v| factor * v).collect::<Vec<f64>>()
        };
        let w_star = within(0.6);
        let mut features: Vec<(f64, Vec<f64>)> =
            (0..atoms).map(|a| (1.0, within(if a == 0 { 1.0 } else { 0.8 }))).collect();
        features.iter_mut().for_each(|(mass, _)| *mass = rng.random_range(0.2..1.0));
        let total: f64 = features.iter().map(|(mass, _)| mass).sum();
        features.iter_mut().for_each(|(mass, _)| *mass /= total);
        let (up, down) = (rng.random_range(0.05..0.4), rng.random_range(0.05..0.4));
        let noise = [(down / (up + down), up), (up / (up + down), -down)];
        FiniteLaw { features, noise, w_star }
    }

    /// Probabilities, attributes and labels.
    pub fn examples(&self) -> impl Iterator<Item = (f64, &[f64], f64)> {
        self.features.iter().flat_map(move |(p, x)| {
            let signal = dot(&self.w_star, x);
            self.noise.iter().map(move |(q, eps)| (p * q, x.as_slice(), signal + eps))
        })
    }

    /// `sigma^2`.
    pub fn variance(&self) -> f64 {
        self.noise.iter().map(|(q, eps)| q * eps * eps).sum()
    }

    /// `(w - w*)'V(w - w*)`, `V = E x x'`.
    pub fn excess(&self, w: &[f64]) -> f64 {
        let (error, dim) = (minus(w, &self.w_star), w.len());
        let mut form = 0.0;
        for i in 0..dim {
            for j in 0..dim {
                let entry: f64 = self.features.iter().map(|(p, x)| p * x[i] * x[j]).sum();
                form += error[i] * entry * error[j];
            }
        }
        form
    }
}
