//! `2^-q e^u` and `2^-q e^-u` for many `u` at a time: the two weights of a coordinate under multiplicative
//! updates.
//!
//! *Method.* `u = n ln 2 + r` with `|r| <= (ln 2)/2`; then `e^u = 2^n (E + O)` and `e^-u = 2^-n (E - O)` with
//! the even and the odd part of `e^r`, by their Taylor polynomials (next term below 2^-57). There are no
//! branches and no calls, so that the compiler vectorizes the loop; the bits do not depend on the vector
//! width.

use multiversion::multiversion;

/// The high part of ln 2, with so few bits that `n` times it is exact up to `n = 2^20`, and the rest of ln 2.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Adding this number rounds the sum to an integer, which its low bits then contain.
const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;
/// `1/0!, 1/2!, .., 1/18!` and `1/1!, 1/3!, .., 1/17!`.
const EVEN: [f64; 10] = [
    1.0,
    1.0 / 2.0,
    1.0 / 24.0,
    1.0 / 720.0,
    1.0 / 40_320.0,
    1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
    1.0 / 6_402_373_705_728_000.0,
];
const ODD: [f64; 9] = [
    1.0,
    1.0 / 6.0,
    1.0 / 120.0,
    1.0 / 5_040.0,
    1.0 / 362_880.0,
    1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    1.0 / 1_307_674_368_000.0,
    1.0 / 355_687_428_096_000.0,
];

/// Sets `up[i] = 2^-q e^u` and `down[i] = 2^-q e^-u` for `u = logs[i]` and an integer `q`.
///
/// Results are exact up to a few units in the last place, while `2^(|u|/ln 2 - q)` lies between `2^-1000` and
/// `2^1000`; a power beyond these limits is replaced by the limit. The shortest list decides how many numbers
/// are computed.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn scaled_exponentials(logs: &[f64], q: f64, up: &mut [f64], down: &mut [f64]) {
    for ((&u, up), down) in logs.iter().zip(up).zip(down) {
        let n = (u * std::f64::consts::LOG2_E + ROUND) - ROUND;
        let r = (u - n * LN_2[0]) - n * LN_2[1];
        let (even, odd) = parts::<8>(r);
        (*up, *down) = (power_of_two(n - q) * (even + odd), power_of_two(-n - q) * (even - odd));
    }
}

/// Sets `up[i] = e^u` and `down[i] = e^-u` for `u = changes[i]` between -1 and 1: the factors by which a step
/// changes weights. The function is faster than [`scaled_exponentials`], and fastest if all changes are
/// small.
///
/// Results are exact up to a few units in the last place. The shortest list decides how many numbers are
/// computed.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn exponential_factors(changes: &[f64], up: &mut [f64], down: &mut [f64]) {
    // Four maxima that do not depend on each other.
    let mut largest = [0.0_f64; 4];
    let (fours, rest) = changes.as_chunks::<4>();
    let mut take =
        |lane: usize, u: f64| largest[lane] = if u.abs() > largest[lane] { u.abs() } else { largest[lane] };
    fours.iter().for_each(|four| (0..4).for_each(|lane| take(lane, four[lane])));
    rest.iter().for_each(|&u| take(0, u));
    // The number of terms after which the next one is below 2^-57 of the sum.
    match largest.into_iter().fold(0.0, f64::max) {
        u if u <= 1.0 / 256.0 => factors::<4>(changes, up, down),
        u if u <= 1.0 / 8.0 => factors::<6>(changes, up, down),
        _ => factors::<10>(changes, up, down),
    }
}

#[inline(always)]
fn factors<const TERMS: usize>(changes: &[f64], up: &mut [f64], down: &mut [f64]) {
    for ((&u, up), down) in changes.iter().zip(up).zip(down) {
        let (even, odd) = parts::<TERMS>(u);
        (*up, *down) = (even + odd, even - odd);
    }
}

/// Returns the even and the odd part of `e^r`, from the first `TERMS` terms.
#[inline(always)]
fn parts<const TERMS: usize>(r: f64) -> (f64, f64) {
    let square = r * r;
    let even = EVEN[..TERMS].iter().rev().fold(0.0, |value, c| value * square + c);
    let odd = r * ODD[..TERMS - 1].iter().rev().fold(0.0, |value, c| value * square + c);
    (even, odd)
}

/// Returns `2^n` for an integer `n`, which is clamped to -1000..=1000.
#[inline(always)]
fn power_of_two(n: f64) -> f64 {
    f64::from_bits((n.clamp(-1000.0, 1000.0) + 1023.0 + ROUND).to_bits() << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn both(u: f64, q: f64) -> (f64, f64) {
        let (mut up, mut down) = ([0.0], [0.0]);
        scaled_exponentials(&[u], q, &mut up, &mut down);
        (up[0], down[0])
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 8.0 * f64::EPSILON * b
    }

    proptest! {
        #[test]
        fn agrees_with_the_exponential_function(u in prop_oneof![-1.0..1.0, -30.0..30.0, -600.0..600.0]) {
            let (up, down) = both(u, 0.0);
            prop_assert!(close(up, u.exp()) && close(down, (-u).exp()));
        }

        #[test]
        fn factors_agree_with_the_exponential_function_whatever_the_largest(
            largest in prop_oneof![Just(1.0), Just(0.125), Just(1.0 / 256.0), 1e-9..1.0],
            shares in proptest::collection::vec(-1.0..=1.0, 1..9),
        ) {
            let changes: Vec<f64> = shares.iter().map(|share| share * largest).chain([largest]).collect();
            let (mut up, mut down) = (vec![0.0; changes.len()], vec![0.0; changes.len()]);
            exponential_factors(&changes, &mut up, &mut down);
            for ((u, up), down) in changes.iter().zip(up).zip(down) {
                prop_assert!(close(up, u.exp()) && close(down, (-u).exp()), "{u}: {up} {down}");
            }
        }

        #[test]
        fn scaling_is_exact(u in -300.0..300.0, q in -200..200_i32) {
            let ((a, b), (c, d)) = (both(u, 0.0), both(u, f64::from(q)));
            let scale = 2.0_f64.powi(q);
            prop_assert_eq!((a, b), (c * scale, d * scale));
        }

        #[test]
        fn opposite_logarithms_change_places(u in 0.0..2000.0, q in 0..3000_i32) {
            let ((a, b), (c, d)) = (both(u, f64::from(q)), both(-u, f64::from(q)));
            prop_assert_eq!((a, b), (d, c));
        }
    }

    #[test]
    fn large_logarithms_stay_finite_when_scaled() {
        let (up, down) = both(5000.0, 7200.0);
        let exact = (5000.0 - 7200.0 * std::f64::consts::LN_2).exp();
        assert!((up - exact).abs() < 1e-11 * exact && down > 0.0);
        assert_eq!(both(0.0, 0.0), (1.0, 1.0));
    }
}
