//! The constants of Theorem 1 of Liang et al. 2020, as printed and as corrected.
//!
//! One epoch of option I with `r = b/B` contracts `D = E|x - x*|^2` by a factor, up to a floor. The errors in
//! print, and the reasons for the corrections, stand in the claims `scsg20-theta-algebra`, `scsg20-remark1`,
//! `scsg20-thm1-printed`, `scsg20-thm1-corrected` and `scsg20-thm1-small-eta`.

use serde::{Deserialize, Serialize};

/// Returns `alpha = 2 sqrt(k*)/sqrt(k - k*)`, with which `|H_k(x) - x*|^2 <= (1 + alpha) |x - x*|^2` for
/// every k*-sparse x*. The value is infinite unless `k > k*`, and zero for `k* = 0`.
pub fn expansion(true_sparsity: usize, sparsity: usize) -> f64 {
    match sparsity.checked_sub(true_sparsity) {
        _ if true_sparsity == 0 => 0.0,
        Some(excess) if excess > 0 => 2.0 * (true_sparsity as f64 / excess as f64).sqrt(),
        _ => f64::INFINITY,
    }
}

/// Returns the least such `alpha` in dimension d, which [`expansion`] bounds from above:
/// `(q + sqrt(q (4 + q)))/2` with `q = m/(k - k* + m)` and `m = min(k*, d - k)`.
pub fn sharp_expansion(true_sparsity: usize, sparsity: usize, dim: usize) -> f64 {
    let dropped = true_sparsity.min(dim.saturating_sub(sparsity)) as f64;
    if dropped == 0.0 {
        return 0.0;
    }
    let q = dropped / (sparsity as f64 - true_sparsity as f64 + dropped);
    0.5 * (q + (q * (4.0 + q)).sqrt())
}

/// Returns the least k with `expansion(k*, k) <= alpha`, which is `(4/alpha^2 + 1) k*`.
pub fn required_sparsity(true_sparsity: usize, alpha: f64) -> f64 {
    // If the result is a whole number up to rounding, rounding must not raise it by one.
    let exact = (4.0 / (alpha * alpha) + 1.0) * true_sparsity as f64;
    (exact * (1.0 - 4.0 * f64::EPSILON)).ceil()
}

/// A problem and a run as Theorem 1 sees them.
///
/// ```
/// use lao_algorithms::thresholding::theory::{Epoch, expansion};
///
/// let step_size = Epoch::largest_step(1.0, 0.5);
/// assert_eq!(step_size, 1.0 / 64.0);
/// let alpha = expansion(5, 2_000_000);
/// let epoch = Epoch { smoothness: 1.0, convexity: 0.5, step_size, ratio: 0.1, alpha };
/// assert!(alpha < epoch.largest_alpha());
/// assert!(epoch.corrected_theta() < 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// `L`, the smoothness; in the corrected form that of every component.
    pub smoothness: f64,
    /// `rho`, the strong convexity of f.
    pub convexity: f64,
    /// `eta`.
    pub step_size: f64,
    /// `r = b/B`.
    pub ratio: f64,
    /// `alpha`.
    pub alpha: f64,
}

impl Epoch {
    /// Returns `kappa = L/rho`.
    pub fn condition(&self) -> f64 {
        self.smoothness / self.convexity
    }

    /// Returns the theorem's largest step, `1/(32 L kappa)`.
    pub fn largest_step(smoothness: f64, convexity: f64) -> f64 {
        convexity / (32.0 * smoothness * smoothness)
    }

    /// Returns `1/(64 kappa^2 - 1)`, the theorem's upper bound on alpha, which is enough at the largest step
    /// only.
    pub fn largest_alpha(&self) -> f64 {
        1.0 / (64.0 * self.condition().powi(2) - 1.0)
    }

    /// Returns `eta rho/(2 - eta rho)`, the upper bound on alpha that the proof needs.
    pub fn needed_alpha(&self) -> f64 {
        let decrease = self.step_size * self.convexity;
        decrease / (2.0 - decrease)
    }

    /// Returns `(r - alpha)/(1 + alpha)`.
    pub fn excess_ratio(&self) -> f64 {
        (self.ratio - self.alpha) / (1.0 + self.alpha)
    }

    /// Returns `beta = (r - alpha)/(1 + alpha) + eta (rho - 2 rho L eta - 4 L^2 eta)`.
    pub fn beta(&self) -> f64 {
        let Epoch { smoothness: l, convexity: rho, step_size: eta, .. } = *self;
        self.excess_ratio() + eta * (rho - 2.0 * rho * l * eta - 4.0 * l * l * eta)
    }

    /// Returns `eta (rho/2 - (2 rho L + 14 L^2) eta)`, which is `(1 - theta) beta`.
    pub fn decrease(&self) -> f64 {
        let Epoch { smoothness: l, convexity: rho, step_size: eta, .. } = *self;
        eta * (0.5 * rho - (2.0 * rho * l + 14.0 * l * l) * eta)
    }

    /// Returns `theta`, the printed factor of an epoch, which is 1 at kappa = 1 and the largest step.
    pub fn theta(&self) -> f64 {
        1.0 - self.decrease() / self.beta()
    }

    /// Returns `gamma = 4 eta^2/((1 - theta) beta)`; the printed floor is `2 gamma G + gamma sigma^2/B`. The
    /// value is infinite if theta is 1.
    pub fn gamma(&self) -> f64 {
        4.0 * self.step_size * self.step_size / self.decrease()
    }

    /// Returns `1 - (1 - 1/kappa)/(512 kappa^2 r/(1 + alpha) + 14)`, which theta does not exceed at the
    /// largest step. Remark 1 should say so.
    pub fn theta_bound(&self) -> f64 {
        let kappa = self.condition();
        1.0 - (1.0 - 1.0 / kappa) / (512.0 * kappa * kappa * self.ratio / (1.0 + self.alpha) + 14.0)
    }

    /// Returns `1 - (eta rho/2)/((r - alpha)/(1 + alpha) + eta rho)`, the corrected factor. The theorem then
    /// needs `eta <= 1/(16 L kappa)`, `alpha <= r`, `alpha/(1 + alpha) <= eta rho/4`, and a batch of n or of
    /// at least `36 kappa^2` components.
    pub fn corrected_theta(&self) -> f64 {
        let decrease = self.step_size * self.convexity;
        1.0 - 0.5 * decrease / (self.excess_ratio() + decrease)
    }

    /// Returns `(8/rho^2) ((1 + eta rho) G + (1 + 2 eta rho) V)`, the corrected floor, with the residual
    /// `G = |grad f(x*)|^2` on the relevant coordinates and the variance `V = (n-B)/(n-1) sigma*^2/B` of the
    /// batch gradient at x*.
    pub fn corrected_floor(&self, residual: f64, variance: f64) -> f64 {
        let decrease = self.step_size * self.convexity;
        8.0 / (self.convexity * self.convexity)
            * ((1.0 + decrease) * residual + (1.0 + 2.0 * decrease) * variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expansions_at_the_ends() {
        assert_eq!(expansion(0, 1), 0.0);
        assert_eq!(expansion(2, 2), f64::INFINITY);
        assert_eq!(expansion(3, 2), f64::INFINITY);
        assert_eq!(expansion(1, 2), 2.0);
        assert_eq!(sharp_expansion(1, 2, 3), 1.0);
        assert_eq!((sharp_expansion(2, 5, 5), sharp_expansion(0, 5, 9)), (0.0, 0.0));
    }

    #[test]
    fn required_sparsities_are_those_of_the_theorem() {
        for (kappa, needed) in [(1.0, 15_877.0), (2.0, 260_101.0), (4.0, 4_186_117.0)] {
            let alpha = 1.0 / (64.0 * kappa * kappa - 1.0);
            assert_eq!(required_sparsity(1, alpha), needed);
        }
        assert_eq!(expansion(1, 15_877), 1.0 / 63.0);
    }

    #[test]
    fn the_floor_of_the_print_does_not_depend_on_the_ratio() {
        let epoch = Epoch { smoothness: 1.0, convexity: 1.0, step_size: 1.0 / 64.0, ratio: 0.01, alpha: 0.0 };
        assert!((epoch.gamma() - 0.25).abs() < 1e-15);
        assert_eq!(epoch.gamma(), Epoch { ratio: 0.5, ..epoch }.gamma());
    }
}
