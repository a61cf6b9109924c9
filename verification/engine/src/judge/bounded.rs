//! Hedged-capital confidence sequence for the mean of a bounded variable (Waudby-Smith and Ramdas, 2024).
//!
//! Each candidate mean `m` has two bets, one on "larger" and one on "smaller", with half of the capital each.
//! A candidate is dropped permanently once one of the halves is worth `1/alpha` times the whole initial
//! capital. The stakes are tuned for a narrow interval at any time, not for power at one mean. Therefore this
//! sequence gives the intervals that are drawn, and [`super::mean`] decides.

use super::Interval;

/// The number of intervals of the first grid of candidates.
const GRID: usize = 1000;
/// The largest share of the capital that a bet may lose at once.
const TRUNCATION: f64 = 0.5;

/// Returns an interval for the mean of `values` in `[lower, upper]`, valid at any stopping time, at level
/// `1 - alpha`. Its ends are NaN when a value is NaN or outside the range, or the range is empty.
pub fn interval(values: &[f64], lower: f64, upper: f64, alpha: f64) -> Interval {
    let width = upper - lower;
    let scaled: Vec<f64> = values.iter().map(|x| (x - lower) / width).collect();
    let (lo, hi) = unit_interval(&scaled, alpha);
    Interval {
        level: 1.0 - alpha,
        lo: lower + width * lo,
        hi: lower + width * hi,
        method: "hedged-capital".into(),
    }
}

/// Returns the ends of the interval for values in [0, 1].
fn unit_interval(values: &[f64], alpha: f64) -> (f64, f64) {
    let usable = values.iter().all(|x| (0.0..=1.0).contains(x)) && alpha > 0.0 && alpha < 1.0;
    if !usable {
        return (f64::NAN, f64::NAN);
    }
    let stakes = stakes(values, alpha);
    let at = |i: usize| i as f64 / GRID as f64;
    // A candidate that is dropped costs less than one that survives: the search goes inwards from the ends.
    let alive = |i: &usize| survives(values, &stakes, at(*i), alpha);
    let (Some(first), Some(last)) = ((0..=GRID).find(alive), (0..=GRID).rev().find(alive)) else {
        // The interval is narrower than the grid, so the search starts from the candidate at the sample mean.
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mean = mean.clamp(0.0, 1.0);
        return (edge(values, &stakes, mean, 0.0, alpha), edge(values, &stakes, mean, 1.0, alpha));
    };
    let below = if first == 0 { 0.0 } else { at(first - 1) };
    let above = if last == GRID { 1.0 } else { at(last + 1) };
    (edge(values, &stakes, at(first), below, alpha), edge(values, &stakes, at(last), above, alpha))
}

/// Returns the stakes `lam_i`, each of which depends on earlier values only.
fn stakes(values: &[f64], alpha: f64) -> Vec<f64> {
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut stakes = Vec::with_capacity(values.len());
    for (i, x) in values.iter().enumerate() {
        let i = i as f64 + 1.0;
        let variance = (0.25 + squares) / i;
        stakes.push((2.0 * (2.0 / alpha).ln() / (variance * i * (i + 1.0).ln())).sqrt());
        sum += x;
        let mean = (0.5 + sum) / (i + 1.0);
        squares += (x - mean) * (x - mean);
    }
    stakes
}

/// Returns whether candidate `m` was never dropped.
fn survives(values: &[f64], stakes: &[f64], m: f64, alpha: f64) -> bool {
    let threshold = (2.0 / alpha).ln();
    let (mut up, mut down) = (0.0, 0.0);
    for (x, stake) in values.iter().zip(stakes) {
        up += (stake.min(TRUNCATION / m) * (x - m)).ln_1p();
        down += (-stake.min(TRUNCATION / (1.0 - m)) * (x - m)).ln_1p();
        if up >= threshold || down >= threshold {
            return false;
        }
    }
    true
}

/// Bisects between a candidate `inside` the interval and a candidate `outside` (or an end of the range, which
/// is returned if it survives). The result is rounded outwards, so the interval is never too narrow.
fn edge(values: &[f64], stakes: &[f64], mut inside: f64, mut outside: f64, alpha: f64) -> f64 {
    if survives(values, stakes, outside, alpha) {
        return outside;
    }
    for _ in 0..30 {
        let middle = 0.5 * (inside + outside);
        if survives(values, stakes, middle, alpha) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    outside
}
