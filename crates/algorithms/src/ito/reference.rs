//! References of Algorithms 1 to 3, greedy and uniform choice.

use super::{GreedyParams, Rda1Params, Rda2Params, Rda3Params, Regularization, UniformParams};
use crate::params::ParamError;
use crate::reference::{Mismatch, Reference, Seen, l2, largest, restricted};

/// Returns `argmin_{||w|| <= R} h' w + (lambda/2) ||w||^2`.
fn minimizer(h: &[f64], lambda: f64, radius: f64) -> Vec<f64> {
    let scale = lambda.max(l2(h) / radius);
    h.iter().map(|h| -h / scale).collect()
}

/// Returns `2 X w - 2 y z`, with the matrix written out, for a set `S` that consists of `U` and `q` of the
/// `n` others.
fn estimate(x: &[f64], y: f64, w: &[f64], set: &[u32], inside: &[u32]) -> Vec<f64> {
    let (q, n) = ((set.len() - inside.len()) as f64, (x.len() - inside.len()) as f64);
    let out = |i: u32| !inside.contains(&i);
    let p = |i: u32, j: u32| match (out(i), out(j)) {
        (true, true) if i != j => q * (q - 1.0) / (n * (n - 1.0)),
        (false, false) => 1.0,
        _ => q / n,
    };
    let mut g = vec![0.0; x.len()];
    for &i in set {
        let row: f64 = set.iter().map(|&j| x[i as usize] * x[j as usize] * w[j as usize] / p(i, j)).sum();
        g[i as usize] = 2.0 * row - 2.0 * y * x[i as usize] / p(i, i);
    }
    g
}

/// Returns `w_S' x_S`.
fn prediction(w: &[f64], seen: &Seen<'_>) -> f64 {
    seen.asked.iter().map(|&i| w[i as usize] * seen.x[i as usize]).sum()
}

/// Refuses a list that names an attribute twice or has not `size` attributes.
fn require_set(seen: &Seen<'_>, dim: usize, size: usize) -> Result<(), Mismatch> {
    seen.fits(dim)?;
    let mut sorted = seen.asked.to_vec();
    sorted.sort_unstable();
    let is_set = sorted.is_sorted_by(|a, b| a < b) && sorted.len() == size;
    seen.require(is_set, format_args!("observes k' = {size} different attributes"))
}

/// The reference of [`Rda1`](super::Rda1), and of [`Greedy`](super::Greedy) (`k_1 = k'`) and
/// [`Uniform`](super::Uniform) (`k_1 = 0`), which are the same loop.
#[derive(Clone, Debug)]
pub struct Rda1Reference {
    params: Rda1Params,
    h: Vec<f64>,
    /// The number of the coming round, counted from 1.
    t: u64,
}

impl Rda1Reference {
    /// Returns the reference of [`Rda1`](super::Rda1) at its start.
    ///
    /// # Errors
    /// As [`Rda1Params::build`].
    pub fn new(params: &Rda1Params) -> Result<Self, ParamError> {
        params.build()?;
        Ok(Self::at_start(*params))
    }

    /// Returns the reference of [`Greedy`](super::Greedy) at its start.
    ///
    /// # Errors
    /// As [`GreedyParams::build`].
    pub fn greedy(params: &GreedyParams) -> Result<Self, ParamError> {
        params.build()?;
        let GreedyParams { dim, budget, regularization, radius } = *params;
        Ok(Self::at_start(Rda1Params { dim, budget, kept: budget, regularization, radius }))
    }

    /// Returns the reference of [`Uniform`](super::Uniform) at its start.
    ///
    /// # Errors
    /// As [`UniformParams::build`].
    pub fn uniform(params: &UniformParams) -> Result<Self, ParamError> {
        params.build()?;
        let UniformParams { dim, budget, regularization, radius } = *params;
        Ok(Self::at_start(Rda1Params { dim, budget, kept: 0, regularization, radius }))
    }

    fn at_start(params: Rda1Params) -> Self {
        Rda1Reference { params, h: vec![0.0; params.dim], t: 1 }
    }

    /// Sets `h`, which is 0 at the start.
    pub fn with_gradient_sum(mut self, sum: &[f64]) -> Self {
        self.h.iter_mut().zip(sum).for_each(|(h, sum)| *h = *sum);
        self
    }

    /// Returns `h`.
    pub fn gradient_sum(&self) -> &[f64] {
        &self.h
    }
}

impl Reference for Rda1Reference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let Rda1Params { dim, budget, kept, .. } = self.params;
        require_set(seen, dim, budget)?;
        let w = self.coefficients();
        let inside = largest(&w, kept);
        let has_inside = inside.iter().all(|i| seen.asked.contains(i));
        seen.require(has_inside, format_args!("observes the largest weights, {inside:?}"))?;
        for (h, g) in self.h.iter_mut().zip(estimate(seen.x, seen.label, &w, seen.asked, &inside)) {
            *h += g;
        }
        self.t += 1;
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        let Regularization { scale, power } = self.params.regularization;
        minimizer(&self.h, scale * (self.t as f64).powf(power), self.params.radius)
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        seen.fits(self.params.dim)?;
        Ok(prediction(&self.coefficients(), seen))
    }
}

/// The reference of [`Rda3`](super::Rda3), and of [`Rda2`](super::Rda2), which is the same loop without a
/// penalty and with a plain average.
#[derive(Clone, Debug)]
pub struct Rda3Reference {
    params: Rda3Params,
    /// The power in the weight `j^-decay` of `w_j` in `wbar`.
    decay: f64,
    /// The number of the coming round, and that of the last exploration round prepared; both count from 1.
    t: u64,
    s: u64,
    /// `h^` and `h~`.
    explored: Vec<f64>,
    exploited: Vec<f64>,
    /// `Lambda_s`.
    level: f64,
    /// `w_s`.
    explorer: Vec<f64>,
    /// The sums of `j^-decay w_j` and of `j^-decay` over `j = 1..s`.
    total: Vec<f64>,
    mass: f64,
}

impl Rda3Reference {
    /// Returns the reference of [`Rda3`](super::Rda3) at its start.
    ///
    /// # Errors
    /// As [`Rda3Params::build`].
    pub fn new(params: &Rda3Params) -> Result<Self, ParamError> {
        params.build()?;
        Ok(Self::at_start(*params, 0.25))
    }

    /// Returns the reference of [`Rda2`](super::Rda2) at its start.
    ///
    /// # Errors
    /// As [`Rda2Params::build`].
    pub fn rda2(params: &Rda2Params) -> Result<Self, ParamError> {
        params.build()?;
        let Rda2Params { dim, budget, explore, exploit, radius } = *params;
        Ok(Self::at_start(Rda3Params { dim, budget, explore, exploit, radius, penalty: 0.0 }, 0.0))
    }

    fn at_start(params: Rda3Params, decay: f64) -> Self {
        let zeros = || vec![0.0; params.dim];
        let (explored, exploited, explorer, total) = (zeros(), zeros(), zeros(), zeros());
        let (t, s, level, mass) = (1, 0, 0.0, 0.0);
        let mut reference =
            Rda3Reference { params, decay, t, s, explored, exploited, level, explorer, total, mass };
        reference.prepare();
        reference
    }

    /// Computes `w_s` before round `t = s^2`, and adds it to the average.
    fn prepare(&mut self) {
        let Regularization { scale, power } = self.params.explore;
        if self.s > 0 {
            self.level += self.params.penalty * (self.s as f64).powf(-0.25);
        }
        self.s += 1;
        let s = self.s as f64;
        let u: Vec<f64> =
            self.explored.iter().map(|h| h.signum() * (h.abs() - self.level).max(0.0)).collect();
        self.explorer = minimizer(&u, scale * s.powf(power), self.params.radius);
        self.mass += s.powf(-self.decay);
        self.total.iter_mut().zip(&self.explorer).for_each(|(total, w)| *total += s.powf(-self.decay) * w);
    }

    /// Returns `h^`.
    pub fn gradient_sum(&self) -> &[f64] {
        &self.explored
    }

    /// Returns `h~`.
    pub fn exploit_sum(&self) -> &[f64] {
        &self.exploited
    }

    /// Returns `wbar_s`.
    pub fn average(&self) -> Vec<f64> {
        self.total.iter().map(|total| total / self.mass).collect()
    }

    /// Returns `w~_t`.
    pub fn iterate(&self) -> Vec<f64> {
        let Regularization { scale, power } = self.params.exploit;
        minimizer(&self.exploited, scale * (self.t as f64).powf(power), self.params.radius)
    }

    /// Returns the `k'` largest entries of `wbar_s`.
    fn chosen(&self) -> Vec<u32> {
        largest(&self.average(), self.params.budget)
    }
}

impl Reference for Rda3Reference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        require_set(seen, self.params.dim, self.params.budget)?;
        let explores = self.t == self.s * self.s;
        if !explores {
            let chosen = self.chosen();
            seen.require(seen.asked == chosen, format_args!("exploits {chosen:?}"))?;
        }
        let residual = prediction(&self.iterate(), seen) - seen.label;
        for &i in seen.asked {
            self.exploited[i as usize] += 2.0 * residual * seen.x[i as usize];
        }
        if explores {
            let g = estimate(seen.x, seen.label, &self.explorer, seen.asked, &[]);
            self.explored.iter_mut().zip(g).for_each(|(h, g)| *h += g);
        }
        self.t += 1;
        if self.t == (self.s + 1) * (self.s + 1) {
            self.prepare();
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        restricted(&self.iterate(), &self.chosen())
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        seen.fits(self.params.dim)?;
        Ok(prediction(&self.iterate(), seen))
    }
}
