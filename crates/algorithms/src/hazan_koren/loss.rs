//! Losses of one example as functions of the residual `z = w' x - y`.
//!
//! *Source*: Hazan & Koren 2012, Sections 2 and 4. Their square loss has a factor 1/2. For support vector
//! regression the absolute loss that forgives `delta`, `|z|_delta = max(|z| - delta, 0)`, is replaced by the
//! entire function
//!
//! ```text
//! f_eps(z) = (eps/2) [rho((z - delta)/eps) + rho((z + delta)/eps)] - delta
//! rho(x) = x erf x + exp(-x^2)/sqrt(pi)
//! ```
//!
//! which lies above it by at most `eps/sqrt(pi)` (the paper says `eps`, on both sides), with
//! `f_eps'(z) = [erf((z - delta)/eps) + erf((z + delta)/eps)]/2`.
//!
//! *Evaluation*: `rho(x) = |x| + i(|x|)` with `i(x) = int_x^inf erfc`, so `f_eps = |z|_delta` plus `eps/2`
//! times two such tails. Nothing cancels, and the tails themselves have twelve digits until they underflow.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// Returns `z^2 / 2`, the squared loss.
#[inline]
pub fn half_square(z: f64) -> f64 {
    0.5 * z * z
}

/// Returns `|z|_delta = max(|z| - delta, 0)`, the absolute loss that is insensitive below `delta >= 0`.
#[inline]
pub fn insensitive(z: f64, delta: f64) -> f64 {
    (z.abs() - delta).max(0.0)
}

/// Returns `f_eps(z)`, the smoothed [`insensitive`] loss at insensitivity `delta >= 0` and smoothing
/// `eps > 0`: convex, entire, and within `[0, eps/sqrt(pi)]` above it.
///
/// ```
/// use lao_algorithms::hazan_koren::loss::{insensitive, smoothed};
///
/// let excess = smoothed(1.2, 1.0, 0.5) - insensitive(1.2, 1.0);
/// assert!(0.0 < excess && excess < 0.5 / std::f64::consts::PI.sqrt());
/// ```
pub fn smoothed(z: f64, delta: f64, eps: f64) -> f64 {
    insensitive(z, delta) + smoothing_excess(z, delta, eps)
}

/// Returns `f_eps(z) - |z|_delta`, which is accurate even where it is tiny.
pub fn smoothing_excess(z: f64, delta: f64, eps: f64) -> f64 {
    let z = z.abs();
    0.5 * eps * (erfc_integral((z - delta).abs() / eps) + erfc_integral((z + delta) / eps))
}

/// Returns `f_eps'(z)`, between -1 and 1.
pub fn smoothed_derivative(z: f64, delta: f64, eps: f64) -> f64 {
    let (below, above) = ((z.abs() - delta) / eps, (z.abs() + delta) / eps);
    let slope = if below > -0.5 {
        0.5 * (libm::erf(below) + libm::erf(above))
    } else {
        // Well inside the insensitive zone the slope is a small difference, which is computed from two tails.
        0.5 * (libm::erfc(-below) - libm::erfc(above))
    };
    if z < 0.0 { -slope } else { slope }
}

/// Returns `rho(x) = x erf x + exp(-x^2)/sqrt(pi)`, the smoothed absolute value at scale one; `rho' = erf`.
pub fn rho(x: f64) -> f64 {
    x.abs() + erfc_integral(x.abs())
}

/// Returns `int_x^inf erfc(t) dt = exp(-x^2)/sqrt(pi) - x erfc x` for `x >= 0`.
fn erfc_integral(x: f64) -> f64 {
    if x < 2.0 {
        return 0.5 * FRAC_2_SQRT_PI * (-x * x).exp() - x * libm::erfc(x);
    }
    // The difference would cancel. The ratios r_n of successive repeated integrals of erfc obey
    // r_n = 1 / (2x + 2 (n+1) r_{n+1}); from x = 2 on, 64 levels leave an error below rounding.
    let ratio = (1..=64).rev().fold(0.0, |next, n| 1.0 / (2.0 * x + 2.0 * f64::from(n + 1) * next));
    libm::erfc(x) * ratio
}

/// Returns `ln |a_n|` of `erf x = sum_n a_n x^n`, where `a_(2m+1) = (2/sqrt(pi)) (-1)^m / (m! (2m+1))`; minus
/// infinity for even `n`.
pub fn ln_erf_coefficient(n: u32) -> f64 {
    if n.is_multiple_of(2) {
        return f64::NEG_INFINITY;
    }
    let m = f64::from(n / 2);
    0.5 * (4.0 / PI).ln() - libm::lgamma(m + 1.0) - f64::from(n).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * b.abs()
    }

    #[test]
    fn tails_agree_with_values_to_many_digits() {
        // exp(-x^2)/sqrt(pi) - x erfc(x), by high-precision arithmetic.
        for (x, value) in TAILS {
            assert!(close(erfc_integral(x), value, 1e-12), "{x}: {} against {value}", erfc_integral(x));
        }
        assert_eq!([erfc_integral(40.0), erfc_integral(f64::INFINITY)], [0.0, 0.0]);
    }

    const TAILS: [(f64, f64); 10] = [
        (0.0, 0.564_189_583_547_756_3),
        (0.5, 0.199_641_228_374_245_67),
        (1.0, 0.050_254_541_660_012_22),
        (1.75, 0.003_062_922_598_644_464),
        (2.0, 0.000_978_022_714_951_495_2),
        (2.5, 7.176_207_156_395_751e-5),
        (4.0, 1.822_141_758_212_715_9e-9),
        (8.0, 6.909_624_589_357_963e-31),
        (16.0, 7.248_367_713_712_332e-115),
        (25.0, 1.657_389_020_817_677_5e-275),
    ];

    #[test]
    fn derivative_is_accurate_in_the_insensitive_zone_and_far_outside() {
        // [erf((z - 1)/eps) + erf((z + 1)/eps)]/2 by high-precision arithmetic.
        for (z, eps, value) in SLOPES {
            let slope = smoothed_derivative(z, 1.0, eps);
            assert!(close(slope, value, 1e-13), "{z}, {eps}: {slope} against {value}");
        }
        assert_eq!(smoothed_derivative(f64::INFINITY, 1.0, 0.5), 1.0);
        assert_eq!(smoothed_derivative(0.0, 1.0, 0.5), 0.0);
    }

    const SLOPES: [(f64, f64, f64); 4] = [
        (0.25, 0.125, 1.075_986_835_624_945_6e-17),
        (0.875, 0.5, 0.361_836_748_052_253_24),
        (1.5, 0.125, 0.999_999_992_291_371),
        (0.062_5, 0.25, 5.593_834_121_620_495_5e-8),
    ];

    #[test]
    fn smoothing_exceeds_the_loss_most_at_zero_without_insensitivity() {
        let eps = 0.3;
        assert!(close(smoothing_excess(0.0, 0.0, eps), eps / PI.sqrt(), 1e-15));
        assert_eq!(smoothed(3.0, 0.5, 1e-300), 2.5);
    }

    #[test]
    fn coefficients_in_logarithms_sum_to_erf() {
        for x in [0.1, 1.0, 2.0] {
            let term = |n: u32| {
                let sign = if n % 4 == 1 { 1.0 } else { -1.0 };
                sign * (ln_erf_coefficient(n) + f64::from(n) * f64::ln(x)).exp()
            };
            let sum: f64 = (0..120).rev().map(|n| if n % 2 == 1 { term(n) } else { 0.0 }).sum();
            assert!((sum - libm::erf(x)).abs() < 1e-13, "{x}: {sum}");
        }
        assert_eq!(ln_erf_coefficient(4), f64::NEG_INFINITY);
    }

    proptest! {
        #[test]
        fn smoothing_is_the_formula_of_the_paper(z in -4.0..4.0, delta in 0.0..2.0, eps in 0.05..3.0) {
            let rho = |x: f64| x * libm::erf(x) + (-x * x).exp() / PI.sqrt();
            let formula = 0.5 * eps * (rho((z - delta) / eps) + rho((z + delta) / eps)) - delta;
            prop_assert!((smoothed(z, delta, eps) - formula).abs() < 1e-13);
            let slope = 0.5 * (libm::erf((z - delta) / eps) + libm::erf((z + delta) / eps));
            prop_assert!((smoothed_derivative(z, delta, eps) - slope).abs() < 1e-14);
            prop_assert!((super::rho(z / eps) - rho(z / eps)).abs() < 1e-13 * (1.0 + (z / eps).abs()));
        }

        #[test]
        fn excess_lies_between_zero_and_eps_over_root_pi(
            z in -1e3..1e3, delta in 0.0..10.0, eps in prop_oneof![1e-6..1e-3, 1e-3..10.0],
        ) {
            let excess = smoothing_excess(z, delta, eps);
            prop_assert!((0.0..=eps / PI.sqrt() * (1.0 + 1e-14)).contains(&excess));
            prop_assert!(smoothed(z, delta, eps) >= insensitive(z, delta));
            prop_assert!(smoothed_derivative(z, delta, eps).abs() <= 1.0);
        }

        #[test]
        fn loss_is_even_and_its_derivative_odd(z in -9.0..9.0, delta in 0.0..3.0, eps in 0.01..3.0) {
            prop_assert_eq!(smoothed(z, delta, eps), smoothed(-z, delta, eps));
            prop_assert_eq!(smoothed_derivative(z, delta, eps), -smoothed_derivative(-z, delta, eps));
        }

        #[test]
        fn derivative_is_the_slope_of_the_loss(z in -3.0..3.0, delta in 0.0..1.0, eps in 0.2..2.0) {
            let h = 1e-5;
            let secant = (smoothed(z + h, delta, eps) - smoothed(z - h, delta, eps)) / (2.0 * h);
            prop_assert!((secant - smoothed_derivative(z, delta, eps)).abs() < 1e-8);
        }
    }

    #[test]
    fn square_and_insensitive_losses_are_theirs() {
        assert_eq!([half_square(3.0), insensitive(-2.0, 0.5), insensitive(0.2, 0.5)], [4.5, 1.5, 0.0]);
    }
}
