//! References of AER, Dantzig, FKK, OMP, online Ridge and online Lasso.

use super::dantzig::selector;
use super::{AerParams, Ball, DantzigParams, FkkParams, OmpParams, OnlineParams};
use crate::hazan_koren::Prediction;
use crate::hazan_koren::reference::{direction, split};
use crate::params::ParamError;
use crate::reference::{
    Drawn, Mismatch, Reference, Seen, dot, exponentiated, hard_threshold, l1, observed_part, project_l1,
    project_l2, support,
};

/// The reference of [`Aer`](super::Aer).
#[derive(Clone, Debug)]
pub struct AerReference {
    params: AerParams,
    w: Vec<f64>,
    /// The sum of the iterates after the burn-in.
    sum: Vec<f64>,
    /// The number of examples so far.
    t: u64,
}

impl AerReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`AerParams::build`].
    pub fn new(params: &AerParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let zeros = vec![0.0; params.dim];
        Ok(AerReference { params: params.clone(), w: zeros.clone(), sum: zeros, t: 0 })
    }

    /// Returns `w_t`.
    pub fn iterate(&self) -> &[f64] {
        &self.w
    }

    /// Returns `(|w|_1/k_w) sum sign(w_j) x_j`; 0 at `w = 0`.
    fn inner_product(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        let AerParams { dim, uniform, weighted: k_w, .. } = self.params;
        seen.fits(dim)?;
        let (_, weighted) = split(seen, uniform, k_w)?;
        let sign = |j: usize| if self.w[j] == 0.0 { 0.0 } else { self.w[j].signum() };
        let sum: f64 = weighted.iter().map(|&j| sign(j as usize) * seen.x[j as usize]).sum();
        Ok(l1(&self.w) / k_w as f64 * sum)
    }
}

impl Reference for AerReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let AerParams { uniform, weighted, regularization: lambda, radius, burn_in, .. } = self.params;
        let residual = self.inner_product(seen)? - seen.label;
        let (uniform, _) = split(seen, uniform, weighted)?;
        self.t += 1;
        if self.t > burn_in {
            self.sum.iter_mut().zip(&self.w).for_each(|(sum, w)| *sum += w);
        }
        let t = self.t as f64;
        for (w, x) in self.w.iter_mut().zip(direction(seen.x, uniform)) {
            *w = (1.0 - 1.0 / t) * *w - 2.0 * residual * x / (lambda * t);
        }
        if let Some(radius) = radius {
            project_l1(&mut self.w, radius);
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        match self.t.saturating_sub(self.params.burn_in) {
            0 => self.w.clone(),
            count => self.sum.iter().map(|sum| sum / count as f64).collect(),
        }
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        let inner_product = self.inner_product(seen)?;
        Ok(match self.params.prediction {
            Prediction::Unbiased => inner_product,
            Prediction::Observed => observed_part(&self.w, seen),
        })
    }
}

/// Returns `X` and `z` of the random set `R`, as [`Dantzig`](super::Dantzig), [`Fkk`](super::Fkk) and
/// [`Omp`](super::Omp) have them.
fn moments(x: &[f64], y: f64, drawn: &[u32]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (d, r) = (x.len() as f64, drawn.len() as f64);
    let (p, p2) = (r / d, r * (r - 1.0) / (d * (d - 1.0)));
    let there = |j: usize| drawn.contains(&(j as u32));
    let entry = |i: usize, j: usize| match (there(i), there(j)) {
        (true, true) => x[i] * x[j] / if i == j { p } else { p2 },
        _ => 0.0,
    };
    let matrix = (0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j)).collect()).collect();
    (matrix, (0..x.len()).map(|j| if there(j) { y * x[j] / p } else { 0.0 }).collect())
}

/// The sums of the moments over the examples of a method that draws random sets.
#[derive(Clone, Debug)]
struct Sums {
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
    t: u64,
}

impl Sums {
    fn new(dim: usize) -> Self {
        Sums { a: vec![vec![0.0; dim]; dim], b: vec![0.0; dim], t: 0 }
    }

    /// Adds the random set of an example, of which the `observed` attributes were asked for as well, and
    /// returns whether an estimate is due.
    fn see(
        &mut self,
        seen: &Seen<'_>,
        (observed, random): (&[u32], usize),
        examples: Option<u64>,
    ) -> Result<bool, Mismatch> {
        seen.fits(self.b.len())?;
        let (matrix, z) = moments(seen.x, seen.label, seen.set_beside(observed, random)?);
        self.a.iter_mut().flatten().zip(matrix.iter().flatten()).for_each(|(a, x)| *a += x);
        self.b.iter_mut().zip(&z).for_each(|(b, z)| *b += z);
        self.t += 1;
        Ok(self.t.is_power_of_two() || examples == Some(self.t))
    }
}

/// The reference of [`Dantzig`](super::Dantzig). It solves the linear program with the learner's own
/// `selector`, which has tests of its own.
#[derive(Clone, Debug)]
pub struct DantzigReference {
    params: DantzigParams,
    sums: Sums,
    w: Vec<f64>,
}

impl DantzigReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`DantzigParams::build`].
    pub fn new(params: &DantzigParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let (sums, w) = (Sums::new(params.dim), vec![0.0; params.dim]);
        Ok(DantzigReference { params: params.clone(), sums, w })
    }

    /// Returns `A/t`, the estimate of `E x x'`; 0 before the first example.
    pub fn moments(&self) -> Vec<Vec<f64>> {
        let t = self.sums.t.max(1) as f64;
        self.sums.a.iter().map(|row| row.iter().map(|a| a / t).collect()).collect()
    }

    /// Returns `k_0`.
    fn random(&self) -> usize {
        let DantzigParams { sparsity, budget, predicts, .. } = self.params;
        if predicts { budget - sparsity } else { budget }
    }

    fn solve(&self) -> Vec<f64> {
        let DantzigParams { dim, sparsity, scale, noise, .. } = self.params;
        let (d, k0, t) = (dim as f64, self.random() as f64, self.sums.t as f64);
        let (a, b) = (self.moments(), self.sums.b.iter().map(|b| b / t).collect::<Vec<_>>());
        let mut gamma = scale * (d * (d * t).ln() / (k0 * t)).sqrt() * (noise + d / k0);
        // Zero is feasible once gamma is as large as the largest |b_i|. If b is infinite, the doubling ends
        // when gamma is infinite, too.
        while b.iter().any(|b| b.abs() > gamma) && gamma.is_finite() {
            if let Some(w) = selector(dim, |i, j| a[i][j], &b, gamma) {
                return hard_threshold(&w, sparsity);
            }
            gamma *= 2.0;
        }
        vec![0.0; dim]
    }
}

impl Reference for DantzigReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let DantzigParams { predicts, examples, .. } = self.params;
        let observed = if predicts { support(&self.w) } else { Vec::new() };
        if self.sums.see(seen, (&observed, self.random()), examples)? {
            self.w = self.solve();
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.w.clone()
    }
}

/// The reference of [`Omp`](super::Omp).
#[derive(Clone, Debug)]
pub struct OmpReference {
    params: OmpParams,
    sums: Sums,
    w: Vec<f64>,
}

impl OmpReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`OmpParams::build`].
    pub fn new(params: &OmpParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let (sums, w) = (Sums::new(params.dim), vec![0.0; params.dim]);
        Ok(OmpReference { params: params.clone(), sums, w })
    }

    /// Returns the weights on a support, by Gaussian elimination of `A_SS w = b_S`. A row whose pivot is not
    /// positive is left out.
    fn least_squares(&self, support: &[usize]) -> Vec<f64> {
        let Sums { a, b, .. } = &self.sums;
        let row = |&i: &usize| support.iter().map(|&j| a[i][j]).chain([b[i]]).collect();
        let mut rows: Vec<Vec<f64>> = support.iter().map(row).collect();
        let n = support.len();
        let mut used = vec![true; n];
        for p in 0..n {
            let head = rows[p].clone();
            used[p] = head[p] > 1e-12 * a[support[p]][support[p]];
            for row in rows[p + 1..].iter_mut().filter(|_| used[p]) {
                let factor = row[p] / head[p];
                row.iter_mut().zip(&head).for_each(|(x, h)| *x -= factor * h);
            }
        }
        let mut w = vec![0.0; n];
        for p in (0..n).rev().filter(|&p| used[p]) {
            let rest: f64 = (p + 1..n).map(|q| rows[p][q] * w[q]).sum();
            w[p] = (rows[p][n] - rest) / rows[p][p];
        }
        w
    }

    fn pursue(&self) -> Vec<f64> {
        let (mut support, mut w) = (Vec::new(), vec![0.0; self.params.dim]);
        for _ in 0..self.params.sparsity.min(self.params.dim) {
            let Sums { a, b, .. } = &self.sums;
            let left = |j: usize| (b[j] - a[j].iter().zip(&w).map(|(a, w)| a * w).sum::<f64>()).abs();
            let outside = (0..self.params.dim).filter(|j| !support.contains(j));
            support.extend(outside.max_by(|&i, &j| left(i).total_cmp(&left(j)).then(j.cmp(&i))));
            w.fill(0.0);
            for (&j, weight) in support.iter().zip(self.least_squares(&support)) {
                w[j] = weight;
            }
        }
        w
    }
}

impl Reference for OmpReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let OmpParams { sparsity, budget, predicts, examples, .. } = self.params;
        let (observed, random) =
            if predicts { (support(&self.w), budget - sparsity) } else { (Vec::new(), budget) };
        if self.sums.see(seen, (&observed, random), examples)? {
            self.w = self.pursue();
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.w.clone()
    }
}

/// The reference of [`Fkk`](super::Fkk). An example costs O(d^2) per support.
#[derive(Clone, Debug)]
pub struct FkkReference {
    params: FkkParams,
    supports: Vec<Vec<u32>>,
    /// `w_A`, dense.
    w: Vec<Vec<f64>>,
    /// The sum of `phi_A` so far.
    losses: Vec<f64>,
}

impl FkkReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`FkkParams::build`].
    pub fn new(params: &FkkParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let supports = supports(params.dim as u32, params.sparsity);
        let (w, losses) = (vec![vec![0.0; params.dim]; supports.len()], vec![0.0; supports.len()]);
        Ok(FkkReference { params: params.clone(), supports, w, losses })
    }

    /// Returns `-log(pi_A)/eta_h` up to a constant, which is the sum of `phi_A` so far, of all supports in
    /// lexicographic order.
    pub fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// Returns the random set and the support that predicts, which the learner asked for together.
    fn drawn<'a>(&self, seen: &Seen<'a>) -> Result<(&'a [u32], &'a [u32]), Mismatch> {
        let FkkParams { dim, sparsity, budget, .. } = self.params;
        seen.fits(dim)?;
        let Drawn::SetAndSupport(_, chosen) = seen.drawn else {
            return seen.other_draws("a random set and a support");
        };
        Ok((seen.set_beside(chosen, budget - sparsity)?, chosen))
    }
}

/// Returns all sets of `size` attributes below `dim`, in lexicographic order.
fn supports(dim: u32, size: usize) -> Vec<Vec<u32>> {
    let mut sets = vec![Vec::new()];
    for _ in 0..size {
        let longer = |set: &Vec<u32>| {
            let set = set.clone();
            let first = set.last().map_or(0, |last| last + 1);
            (first..dim).map(move |next| [&set[..], &[next]].concat())
        };
        sets = sets.iter().flat_map(longer).collect();
    }
    sets
}

impl Reference for FkkReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let FkkParams { step_size, radius, .. } = self.params;
        let (x, y) = (seen.x, seen.label);
        let (matrix, z) = moments(x, y, self.drawn(seen)?.0);
        for ((w, loss), support) in self.w.iter_mut().zip(&mut self.losses).zip(&self.supports) {
            let product: Vec<f64> = matrix.iter().map(|row| dot(row, w)).collect();
            *loss += dot(w, &product) - 2.0 * dot(&z, w) + y * y;
            support.iter().map(|&j| j as usize).for_each(|j| w[j] -= 2.0 * step_size * (product[j] - z[j]));
            project_l2(w, radius);
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        // Among equal losses the first support wins.
        let best = (0..self.losses.len()).min_by(|&a, &b| self.losses[a].total_cmp(&self.losses[b]));
        best.map_or_else(|| vec![0.0; self.params.dim], |best| self.w[best].clone())
    }

    fn predict(&self, seen: &Seen<'_>) -> Result<f64, Mismatch> {
        let (_, chosen) = self.drawn(seen)?;
        let a = self.supports.iter().position(|support| support == chosen).unwrap_or(self.supports.len());
        let sparsity = self.params.sparsity;
        seen.require(a < self.supports.len(), format_args!("predicts from {sparsity} attributes"))?;
        Ok(dot(&self.w[a], seen.x))
    }
}

/// The reference of [`Online`](super::Online), Ridge or Lasso.
#[derive(Clone, Debug)]
pub struct OnlineReference {
    params: OnlineParams,
    w: Vec<f64>,
    /// Logarithms of the positive weights, for Lasso.
    u: Vec<f64>,
}

impl OnlineReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`OnlineParams::build`].
    pub fn new(params: &OnlineParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let zeros = vec![0.0; params.dim];
        Ok(OnlineReference { params: params.clone(), w: zeros.clone(), u: zeros })
    }
}

impl Reference for OnlineReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let OnlineParams { dim, ball, radius, step_size } = self.params;
        seen.fits(dim)?;
        seen.require(seen.asked.iter().copied().eq(0..dim as u32), "asks for all attributes")?;
        let residual = dot(&self.w, seen.x) - seen.label;
        match ball {
            Ball::Ridge => {
                self.w.iter_mut().zip(seen.x).for_each(|(w, x)| *w -= step_size * residual * x);
                project_l2(&mut self.w, radius);
            }
            Ball::Lasso => {
                self.u.iter_mut().zip(seen.x).for_each(|(u, x)| *u -= step_size * residual * x);
                self.w = exponentiated(&self.u, radius);
            }
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn has_full_information(&self) -> bool {
        true
    }
}
