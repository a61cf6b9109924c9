//! Distribution functions and quantiles that stay accurate in the far tails.
//!
//! The judges work at levels near 1e-5 and multiply p-values down to e^-1000. Therefore both tails are
//! computed as logarithms, and every quantile is a root of the logarithm of the *smaller* tail. Nothing here
//! underflows, and only the larger tail is ever computed as one minus the other.
//!
//! *Libraries.* The quantile of the normal distribution comes from `statrs`, `erfc` and the gamma function
//! from `libm`: they are accurate to 1e-13 at every argument that a judge uses. The other functions are
//! written here, because the tails of `statrs` underflow and its quantiles lose digits at such levels. A test
//! makes this comparison and fails when it is no longer true.
//!
//! *Source*: incomplete beta and gamma by Lentz's continued fractions (Numerical Recipes, section 6); their
//! leading factors by Loader's saddle point expansion ("Fast and accurate computation of binomial
//! probabilities", 2000), which loses no digits when the parameters are large.

mod beta;
mod gamma;
mod normal;
mod student;

pub use beta::{
    TailSplit, beta_lower_quantile, beta_tails, beta_upper_quantile, binomial_ln_at_least,
    binomial_ln_at_most, binomial_lower_limit, binomial_upper_limit, ln_beta, ln_beta_kernel,
};
pub use gamma::{chi_square_tails, chi_square_upper_quantile, gamma_tails, ln_gamma};
pub use normal::{normal_cdf, normal_ln_sf, normal_quantile, normal_sf, normal_upper_quantile};
pub use student::{f_tails, student_sf, student_tails, student_upper_quantile};

/// `ln sqrt(2 pi)`.
pub(crate) const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Natural logarithms of the two tails of a distribution at one point: `ln P(X <= x)` and `ln P(X > x)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LnTails {
    /// `ln P(X <= x)`.
    pub lower: f64,
    /// `ln P(X > x)`.
    pub upper: f64,
}

impl LnTails {
    pub(crate) const NAN: Self = Self { lower: f64::NAN, upper: f64::NAN };
    pub(crate) const ALL_ABOVE: Self = Self { lower: f64::NEG_INFINITY, upper: 0.0 };
    pub(crate) const ALL_BELOW: Self = Self { lower: 0.0, upper: f64::NEG_INFINITY };

    /// Returns both tails from the logarithm of the lower one.
    pub(crate) fn from_lower(lower: f64) -> Self {
        // Rounding may lift a probability of one above one.
        let lower = lower.min(0.0);
        Self { lower, upper: ln_one_minus_exp(lower) }
    }

    /// Returns the tails of `-X` at `-x`: lower and upper are exchanged.
    pub(crate) fn swap(self) -> Self {
        Self { lower: self.upper, upper: self.lower }
    }
}

/// Returns `ln(1 - e^x)` for `x <= 0`, without cancellation at either end.
pub fn ln_one_minus_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// Returns `x ln(x/m) + m - x`, the Poisson deviance (half of it), accurate when `x` is close to `m`.
pub(crate) fn deviance(x: f64, m: f64) -> f64 {
    let v = (x - m) / (x + m);
    if v.abs() >= 0.1 {
        return x * (x / m).ln() + m - x;
    }
    // ln(x/m) = 2 artanh(v), expanded so that the leading terms cancel in the formula and not in floating
    // point.
    let mut sum = (x - m) * v;
    let mut term = 2.0 * x * v;
    for j in 1..1000 {
        term *= v * v;
        let next = sum + term / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// Returns `ln Gamma(z) - [(z - 1/2) ln z - z + ln sqrt(2 pi)]`, the error of Stirling's formula, for
/// `z > 0`.
pub(crate) fn stirling_error(z: f64) -> f64 {
    if z < 10.0 {
        return ln_gamma(z) - (z - 0.5) * z.ln() + z - LN_SQRT_2PI;
    }
    const COEFFICIENTS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let inverse_square = 1.0 / (z * z);
    COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * inverse_square + c) / z
}

/// Returns the root of `f(u) = target` for an increasing `f`, which returns its value and derivative. The
/// method is Newton's inside a bracket, which is grown from `start` and halved whenever a step leaves it.
pub(crate) fn solve_increasing(target: f64, start: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    if target.is_nan() || start.is_nan() {
        return f64::NAN;
    }
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut u, mut reach) = (start, 1.0);
    for _ in 0..300 {
        let (value, slope) = f(u);
        if value.is_nan() {
            return f64::NAN;
        }
        if value < target {
            low = u;
        } else {
            high = u;
        }
        let newton = u - (value - target) / slope;
        // The first bracket is found by doubling; a Newton step may not go further than that.
        let mut next = if newton.is_finite() { newton.clamp(u - reach, u + reach) } else { u };
        if next <= low || next >= high || next == u {
            next = match (low.is_finite(), high.is_finite()) {
                (true, true) => 0.5 * (low + high),
                (true, false) => low + reach,
                _ => high - reach,
            };
        }
        reach *= 2.0;
        if (next - u).abs() <= 4.0 * f64::EPSILON * u.abs().max(1e-3) {
            return next;
        }
        u = next;
    }
    u
}

#[cfg(test)]
mod tests;
