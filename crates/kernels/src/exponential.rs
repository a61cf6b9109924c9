//! `2^-q (e^u -+ e^-u)` for many `u` at a time: the two weights of a coordinate under multiplicative updates.
//!
//! *Method.* `u = n ln 2 + r` with `|r| <= (ln 2)/2`; then `e^u = 2^n (E + O)` and `e^-u = 2^-n (E - O)` with the even
//! and the odd part of `e^r`, by their Taylor polynomials (next term below 2^-57). There are no branches and no calls,
//! so the compiler makes a few numbers at a time of it; the same bits come out however many that are.

/// High part of ln 2, with so few bits that `n` times it is exact up to `n = 2^20`, and the rest.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Adding it rounds to an integer, which then stands in the low bits.
const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;
/// `1/0!, 1/2!, .., 1/14!` and `1/1!, 1/3!, .., 1/13!`.
const EVEN: [f64; 8] = [
    1.0,
    1.0 / 2.0,
    1.0 / 24.0,
    1.0 / 720.0,
    1.0 / 40_320.0,
    1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    1.0 / 87_178_291_200.0,
];
const ODD: [f64; 7] =
    [1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5_040.0, 1.0 / 362_880.0, 1.0 / 39_916_800.0, 1.0 / 6_227_020_800.0];

/// Sets `difference[i] = 2^-q (e^u - e^-u)` and `sum[i] = 2^-q (e^u + e^-u)` for `u = logs[i]` and an integer `q`.
///
/// Exact up to a few units in the last place of the sum, while `2^(|u|/ln 2 - q)` lies between `2^-1000` and `2^1000`; what
/// would be smaller, or larger, counts as these. Stops at the end of the shortest list.
pub fn scaled_exponentials(logs: &[f64], q: f64, difference: &mut [f64], sum: &mut [f64]) {
    for ((&u, difference), sum) in logs.iter().zip(difference).zip(sum) {
        let n = (u * std::f64::consts::LOG2_E + ROUND) - ROUND;
        let r = (u - n * LN_2[0]) - n * LN_2[1];
        let square = r * r;
        let even = EVEN.iter().rev().fold(0.0, |value, c| value * square + c);
        let odd = r * ODD.iter().rev().fold(0.0, |value, c| value * square + c);
        let (up, down) = (power_of_two(n - q) * (even + odd), power_of_two(-n - q) * (even - odd));
        *difference = up - down;
        *sum = up + down;
    }
}

/// `2^n` for an integer `n`, cut to -1000..=1000.
#[inline]
fn power_of_two(n: f64) -> f64 {
    f64::from_bits((n.clamp(-1000.0, 1000.0) + 1023.0 + ROUND).to_bits() << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn both(u: f64, q: f64) -> (f64, f64) {
        let (mut difference, mut sum) = ([0.0], [0.0]);
        scaled_exponentials(&[u], q, &mut difference, &mut sum);
        (difference[0], sum[0])
    }

    proptest! {
        #[test]
        fn agrees_with_the_hyperbolic_functions(u in prop_oneof![-1.0..1.0, -30.0..30.0, -600.0..600.0]) {
            let (difference, sum) = both(u, 0.0);
            prop_assert!((sum - 2.0 * u.cosh()).abs() <= 8.0 * f64::EPSILON * sum);
            prop_assert!((difference - 2.0 * u.sinh()).abs() <= 8.0 * f64::EPSILON * sum);
        }

        #[test]
        fn scaling_is_exact(u in -300.0..300.0, q in -200..200_i32) {
            let ((a, b), (c, d)) = (both(u, 0.0), both(u, f64::from(q)));
            let scale = 2.0_f64.powi(q);
            prop_assert_eq!((a, b), (c * scale, d * scale));
        }

        #[test]
        fn signs_are_opposite(u in 0.0..2000.0, q in 0..3000_i32) {
            let ((a, b), (c, d)) = (both(u, f64::from(q)), both(-u, f64::from(q)));
            prop_assert_eq!((a, b), (-c, d));
        }
    }

    #[test]
    fn large_logarithms_stay_finite_when_scaled() {
        let (difference, sum) = both(5000.0, 7200.0);
        let exact = (5000.0 - 7200.0 * std::f64::consts::LN_2).exp();
        assert!((difference - exact).abs() < 1e-11 * exact && difference == sum);
        assert_eq!(both(0.0, 0.0), (0.0, 2.0));
    }
}
