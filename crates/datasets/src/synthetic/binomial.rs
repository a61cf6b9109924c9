//! Exact draws from the binomial law Bin(n, 1/2) in constant time.
//!
//! *Method.* For small n, random bits are counted. Otherwise the draws are made by rejection from the normal
//! law of the same mean and variance: draw `y ~ N(0, n/4)`, round `n/2 + y` to an integer `n/2 + t`, and
//! accept with probability `exp(r - b)`, where `r` is the log of the binomial probability over the normal
//! density at y, and b bounds it. With `u = 2t/n` and `e = y - t`, Stirling's series gives
//!
//! ```text
//! r = -log(1 - u^2)/2 + delta(n) - delta(n/2 + t) - delta(n/2 - t)
//!     + 2e(2t + e)/n - n sum_{m>=2} u^{2m}/(2m(2m - 1)),
//! delta(k) = 1/(12k) - 1/(360k^3) + ...
//! ```
//!
//! where `2t^2/n`, the leading term of either law, has canceled on paper. So `r` is small and accurate at any
//! n. For `|u| <= 1/2` it lies between `-(|u| + n u^4/9 + 1/n)` and `b = 3/4 (6/n)^(1/3) + 3.2/n`: a draw is
//! accepted at once with probability about `1 - b`. The event `|u| > 1/2`, of probability below
//! `2 exp(-n/8)`, is left out.

use lao_observation::Rng;
use multiversion::multiversion;
use rand::{Rng as _, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// The number of coins below which bits are counted.
const MANY: u64 = 1024;

/// A number of magnitude below 2^51, to which this constant is added and then subtracted, becomes the nearest
/// integer.
const TO_INTEGER: f64 = 1.5 * (1u64 << 52) as f64;

/// Draws the number of heads among `trials` fair coins, at most 2^53.
pub(super) fn fair_binomial(rng: &mut Rng, trials: u64) -> u64 {
    if trials < MANY { count_bits(rng, trials) } else { reject(rng, trials) }
}

#[multiversion(targets("x86_64+popcnt"))]
fn count_bits(rng: &mut Rng, trials: u64) -> u64 {
    let words = trials / 64;
    let whole: u64 = (0..words).map(|_| u64::from(rng.next_u64().count_ones())).sum();
    match trials % 64 {
        0 => whole,
        rest => whole + u64::from((rng.next_u64() >> (64 - rest)).count_ones()),
    }
}

fn reject(rng: &mut Rng, trials: u64) -> u64 {
    let n = trials as f64;
    let half = if trials % 2 == 1 { 0.5 } else { 0.0 };
    let bound = log_bound(n);
    loop {
        let z: f64 = StandardNormal.sample(rng);
        let y = 0.5 * n.sqrt() * z;
        let offset = (y + half + TO_INTEGER) - TO_INTEGER;
        let t = offset - half;
        let u = 2.0 * t.abs() / n;
        if u > 0.5 {
            continue;
        }
        let chance: f64 = rng.random();
        let u4 = u * u * u * u;
        if chance < 1.0 - (bound + u + n * u4 / 9.0 + 1.0 / n)
            || chance < (log_ratio(n, t, y - t) - bound).exp()
        {
            // |t| <= n/4, so that the number lies between 0 and n.
            return (trials / 2).wrapping_add_signed(offset as i64);
        }
    }
}

/// Returns a bound of at least the `b` above, and at most 2^(1/3) times as large. It uses the power of two
/// below n instead of n, which needs no cubic root.
fn log_bound(n: f64) -> f64 {
    // 3/4 6^(1/3) 2^(-i/3).
    const ROOTS: [f64; 3] = [1.362_840_444_7, 1.081_687_178_0, 0.858_535_685_2];
    let exponent = (n.to_bits() >> 52) - 1023;
    let power = f64::from_bits((1023 - exponent / 3) << 52);
    ROOTS[(exponent % 3) as usize] * power + 3.2 / n
}

/// Returns the `r` above, for `|t| <= n/4`.
fn log_ratio(n: f64, t: f64, e: f64) -> f64 {
    let u = 2.0 * t / n;
    let square = u * u;
    let (mut power, mut series, mut m) = (square, 0.0, 2.0);
    // Terms fall by a factor 4 or more.
    while power > 0.0 {
        power *= square;
        let sum = series + power / (2.0 * m * (2.0 * m - 1.0));
        if sum == series {
            break;
        }
        (series, m) = (sum, m + 1.0);
    }
    let stirling = |k: f64| (1.0 - (1.0 / 30.0 - 1.0 / (105.0 * k * k)) / (k * k)) / (12.0 * k);
    let deltas = stirling(n) - stirling(0.5 * n + t) - stirling(0.5 * n - t);
    deltas - 0.5 * (-square).ln_1p() + 2.0 * e * (2.0 * t + e) / n - n * series
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;

    /// log of the ratio of neighboring binomial probabilities, k to k + 1.
    fn log_step(n: f64, k: f64) -> f64 {
        ((n - k) / (k + 1.0)).ln()
    }

    #[test]
    fn ratio_is_that_of_the_binomial_to_the_normal() {
        for n in [1024.0, 1025.0, 50_000.0] {
            // Differences along k against the exact ones; the level by the sum over all k.
            let log_density = |y: f64| -2.0 * y * y / n - 0.5 * (0.5 * std::f64::consts::PI * n).ln();
            let log_mass = |k: f64, e: f64| log_ratio(n, k - n / 2.0, e) + log_density(k - n / 2.0 + e);
            let mut total = 0.0;
            for k in (n / 4.0).ceil() as u64..(3.0 * n / 4.0) as u64 {
                let k = k as f64;
                let step = log_mass(k + 1.0, -0.3) - log_mass(k, 0.4);
                assert!((step - log_step(n, k)).abs() < 1e-9, "n = {n}, k = {k}");
                total += log_mass(k, 0.0).exp();
            }
            assert!((total - 1.0).abs() < 1e-10, "n = {n}: {total}");
        }
    }

    #[test]
    fn quick_bound_is_not_below_the_bound() {
        for i in 0..4300 {
            let n = (1024.0 * 1.007f64.powi(i)).floor();
            let b = 0.75 * (6.0 / n).cbrt() + 3.2 / n;
            assert!((b..1.27 * b).contains(&log_bound(n)), "n = {n}: {} for {b}", log_bound(n));
        }
    }

    #[test]
    fn ratio_stays_within_its_bounds() {
        for n in [1024.0f64, 4321.0, 1e6, 1e10, 1e15] {
            let (upper, half) = (0.75 * (6.0 / n).cbrt() + 3.2 / n, if n % 2.0 == 1.0 { 0.5 } else { 0.0 });
            for i in 0..=2000 {
                let t = (f64::from(i) / 2000.0).powi(3) * n / 4.0;
                let t = (t + half).floor() - half;
                let u: f64 = 2.0 * t.abs() / n;
                for e in [-0.5, -0.1, 0.0, 0.3, 0.5] {
                    let r = log_ratio(n, t, e);
                    assert!(r <= upper, "n = {n}, t = {t}: {r} above {upper}");
                    assert!(r >= -(u + n * u.powi(4) / 9.0 + 1.0 / n), "n = {n}, t = {t}: {r}");
                }
            }
        }
    }

    #[test]
    fn draws_have_the_binomial_law() {
        // Chi-square over single values with expectation at least 20, the tails pooled. With probability 1 -
        // 1e-7 a chi-square variable with D degrees stays below D + 2 sqrt(D x) + 2x, x = ln 1e7 (Laurent &
        // Massart 2000, Lemma 1).
        const DRAWS: u32 = 400_000;
        for trials in [0, 1, 7, 63, 64, 65, 1000, 1023, 1024, 1025, 20_001] {
            let mut rng = Seed::root(12).child("fair").trial(trials).rng();
            let mut counts = vec![0u32; trials as usize + 1];
            for _ in 0..DRAWS {
                counts[fair_binomial(&mut rng, trials) as usize] += 1;
            }
            let n = trials as f64;
            let mode = trials / 2;
            let mut logs = vec![0.0; counts.len()];
            for k in mode..trials {
                logs[k as usize + 1] = logs[k as usize] + log_step(n, k as f64);
            }
            for k in (0..mode).rev() {
                logs[k as usize] = logs[k as usize + 1] - log_step(n, k as f64);
            }
            let total: f64 = logs.iter().map(|log| log.exp()).sum();
            let (mut statistic, mut cells, mut rest) = (0.0, 0u32, (0.0, 0.0));
            for (log, &count) in logs.iter().zip(&counts) {
                let expected = f64::from(DRAWS) * log.exp() / total;
                if expected >= 20.0 {
                    statistic += (f64::from(count) - expected).powi(2) / expected;
                    cells += 1;
                } else {
                    rest = (rest.0 + expected, rest.1 + f64::from(count));
                }
            }
            if rest.0 >= 20.0 {
                statistic += (rest.1 - rest.0).powi(2) / rest.0;
                cells += 1;
            }
            let degrees = f64::from(cells - 1);
            let x = 1e7f64.ln();
            let allowed = degrees + 2.0 * (degrees * x).sqrt() + 2.0 * x;
            assert!(statistic <= allowed, "n = {trials}: chi-square {statistic} at {degrees} degrees");
        }
    }

    #[test]
    fn moments_are_right_at_huge_numbers() {
        // Standardized draws: mean 0 and variance 1 within 6 standard errors, kurtosis 3 - 2/n.
        const DRAWS: u32 = 200_000;
        let n = f64::from(DRAWS);
        for trials in [1_000_000_000_001, 1 << 53] {
            let mut rng = Seed::root(13).rng();
            let scale = 0.5 * (trials as f64).sqrt();
            let centered =
                |k: u64| (k as i64 - (trials / 2) as i64) as f64 - if trials % 2 == 1 { 0.5 } else { 0.0 };
            let draws: Vec<f64> =
                (0..DRAWS).map(|_| centered(fair_binomial(&mut rng, trials)) / scale).collect();
            let moment = |p: i32| draws.iter().map(|z| z.powi(p)).sum::<f64>() / n;
            assert!(moment(1).abs() < 6.0 / n.sqrt());
            assert!((moment(2) - 1.0).abs() < 6.0 * (2.0 / n).sqrt());
            assert!(moment(3).abs() < 6.0 * (15.0 / n).sqrt());
            assert!((moment(4) - 3.0).abs() < 6.0 * (96.0 / n).sqrt());
        }
    }
}
