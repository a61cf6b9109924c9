//! The compatibility constant of a covariance, between certified bounds.
//!
//! *Source.* Assumption (b) of Ito et al. (2017): `phi_0^2 |w_S|_1^2 <= k w'Vw` for all w with
//! `|w_{S^c}|_1 <= 2 |w_S|_1`. The largest such `phi_0^2` is k times the least `w'Vw` over `|w_S|_1 = 1`,
//! `|w_{S^c}|_1 <= 2`.
//!
//! *Method.* That set is a union of convex ones, one for each pattern of signs on S; w and -w give the same,
//! so one sign is fixed. Over each the form is minimized by accelerated projected gradient steps, restarted
//! whenever it rises. At any point w convexity gives `min f >= f(w) - max_v grad f(w)'(w - v)`, and the
//! maximum is attained at a vertex: the lower bound.

use crate::synthetic::DesignError;
use lao_kernels::{project_l1_ball, symmetric_eigenvalues};

/// Bounds on `phi_0^2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Compatibility {
    /// Not above `phi_0^2`, up to rounding.
    pub lower: f64,
    /// Not below `phi_0^2`: what [`witness`](Self::witness) attains.
    pub upper: f64,
    /// A `w` with `|w_S|_1 = 1` and `|w_{S^c}|_1 <= 2` at which `k w'Vw` is `upper`.
    pub witness: Vec<f64>,
}

/// How much larger than on the support the l1 norm outside may be.
const OUTSIDE: f64 = 2.0;
/// The largest number of weights whose sign patterns are enumerated.
const MOST_WEIGHTS: usize = 16;
/// The number of steps after which the bounds are returned even if they are further apart.
const MOST_STEPS: usize = 200_000;

impl Compatibility {
    /// Returns the bounds for `covariance` (d x d, row by row) and the support `support` (sorted), k =
    /// `sparsity`; at most `tolerance` apart, unless 200,000 steps do not suffice.
    ///
    /// # Errors
    /// Fails when the support is empty or has more than 16 members, or `covariance` is not a symmetric d x d
    /// matrix.
    pub fn of(
        covariance: &[f64],
        dim: usize,
        support: &[u32],
        sparsity: usize,
        tolerance: f64,
    ) -> Result<Compatibility, DesignError> {
        let refuse = |field, value: f64, allowed| {
            Err(DesignError::Parameter { design: "compatibility", field, value, allowed })
        };
        if !(1..=MOST_WEIGHTS).contains(&support.len()) {
            return refuse("support size", support.len() as f64, "from 1 to 16");
        }
        if let Some(&j) = support.iter().find(|j| **j as usize >= dim) {
            return refuse("support", f64::from(j), "below the dimension");
        }
        let Ok(eigenvalues) = symmetric_eigenvalues(covariance, dim) else {
            return refuse("entries of V", covariance.len() as f64, "a symmetric d x d matrix");
        };
        let largest = eigenvalues.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let outside = (0..dim as u32).filter(|j| !support.contains(j)).collect();
        let k = sparsity as f64;
        let mut all = Compatibility { lower: f64::INFINITY, upper: f64::INFINITY, witness: Vec::new() };
        for pattern in 0..1_u32 << (support.len() - 1) {
            let signs = (0..support.len()).map(|i| if pattern >> i & 1 == 1 { -1.0 } else { 1.0 }).collect();
            let cone = Cone { covariance, dim, support, outside: &outside, signs };
            let (value, gap, witness) = cone.minimize(2.0 * largest, tolerance / k);
            all.lower = all.lower.min(k * (value - gap).max(0.0));
            if k * value < all.upper {
                (all.upper, all.witness) = (k * value, witness);
            }
        }
        Ok(all)
    }
}

/// `w_i = signs_i u_i` on the support with u in the unit simplex, and an l1 ball outside.
struct Cone<'a> {
    covariance: &'a [f64],
    dim: usize,
    support: &'a [u32],
    outside: &'a Vec<u32>,
    signs: Vec<f64>,
}

impl Cone<'_> {
    /// The form at a nearly optimal point, how much smaller the minimum may be, and the point.
    fn minimize(&self, smoothness: f64, tolerance: f64) -> (f64, f64, Vec<f64>) {
        let mut point = vec![0.0; self.dim];
        self.project(&mut point);
        let (mut ahead, mut momentum) = (point.clone(), 1.0_f64);
        let (mut image, mut value) = (self.image(&point), f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let now = dot(&point, &image);
            let gap = self.gap(&point, &image);
            if gap <= tolerance {
                return (now, gap, point);
            }
            if now > value {
                (ahead, momentum) = (point.clone(), 1.0);
            }
            value = now;
            let mut next = ahead.clone();
            for (w, v) in next.iter_mut().zip(self.image(&ahead)) {
                *w -= 2.0 * v / smoothness;
            }
            self.project(&mut next);
            let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let share = (momentum - 1.0) / grown;
            ahead = next.iter().zip(&point).map(|(new, old)| new + share * (new - old)).collect();
            (point, momentum) = (next, grown);
            image = self.image(&point);
        }
        let (value, gap) = (dot(&point, &image), self.gap(&point, &image));
        (value, gap, point)
    }

    /// Returns `V w`.
    fn image(&self, w: &[f64]) -> Vec<f64> {
        self.covariance.chunks_exact(self.dim).map(|row| dot(row, w)).collect()
    }

    /// Returns `max_v 2 (V w)'(w - v)` over the cone; `image = V w`.
    fn gap(&self, w: &[f64], image: &[f64]) -> f64 {
        let on = self.support.iter().zip(&self.signs).map(|(&j, sign)| sign * image[j as usize]);
        let off = self.outside.iter().map(|&j| image[j as usize].abs()).fold(0.0, f64::max);
        2.0 * (dot(w, image) - on.fold(f64::INFINITY, f64::min) + OUTSIDE * off)
    }

    /// The nearest point of the cone.
    fn project(&self, w: &mut [f64]) {
        let mut u: Vec<f64> = self.support.iter().zip(&self.signs).map(|(&j, s)| s * w[j as usize]).collect();
        project_simplex(&mut u);
        for ((&j, sign), u) in self.support.iter().zip(&self.signs).zip(u) {
            w[j as usize] = sign * u;
        }
        let mut rest: Vec<f64> = self.outside.iter().map(|&j| w[j as usize]).collect();
        // Steps of a finite form stay finite, and a failed projection leaves its argument as it is.
        if project_l1_ball(&mut rest, OUTSIDE, &mut Vec::new()).is_ok() {
            for (&j, rest) in self.outside.iter().zip(rest) {
                w[j as usize] = rest;
            }
        }
    }
}

/// The nearest point with non-negative entries of sum 1: the threshold is set by the longest prefix, in
/// descending order, that stays positive.
fn project_simplex(u: &mut [f64]) {
    let mut descending = u.to_vec();
    descending.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (0.0, 0.0);
    for (count, x) in (1..).zip(descending) {
        sum += x;
        let candidate = (sum - 1.0) / f64::from(count);
        if x > candidate {
            level = candidate;
        }
    }
    u.iter_mut().for_each(|x| *x = (*x - level).max(0.0));
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
