//! The standard normal distribution.

use super::LN_SQRT_2PI;
use std::f64::consts::SQRT_2;

/// Returns `P(Z <= z)`.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// Returns `P(Z > z)`.
pub fn normal_sf(z: f64) -> f64 {
    0.5 * libm::erfc(z / SQRT_2)
}

/// Returns `ln P(Z > z)`, which is accurate also where the probability itself underflows.
pub fn normal_ln_sf(z: f64) -> f64 {
    if z < 25.0 {
        return normal_sf(z).ln();
    }
    // Mills' ratio as an asymptotic series: at z = 25 its sixth term is below 1e-13.
    let w = 1.0 / (z * z);
    let mills = 1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w * (1.0 - 7.0 * w * (1.0 - 9.0 * w))));
    -0.5 * z * z - LN_SQRT_2PI - z.ln() + mills.ln()
}

/// Returns the `z` with `P(Z <= z) = p`, or NaN for `p` outside [0, 1].
pub fn normal_quantile(p: f64) -> f64 {
    if (0.0..=1.0).contains(&p) { -SQRT_2 * statrs::function::erf::erfc_inv(2.0 * p) } else { f64::NAN }
}

/// Returns the `z` with `P(Z > z) = q`, which is accurate for small `q`.
pub fn normal_upper_quantile(q: f64) -> f64 {
    -normal_quantile(q)
}
