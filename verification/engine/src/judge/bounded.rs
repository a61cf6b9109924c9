//! Hedged-capital confidence sequence for the mean of a bounded variable (Waudby-Smith and Ramdas, 2024).
//!
//! Two bettors per candidate mean `m`, one on "larger" and one on "smaller"; a candidate is dropped, for
//! good, once their better half has multiplied its stake by `1/alpha`. The stakes are tuned for a narrow
//! interval at any time, not for power at one mean, so this draws intervals and [`super::mean`] decides.

use super::Interval;

/// Candidates on the first grid.
const GRID: usize = 1000;
/// Largest share of the capital that may be lost at once.
const TRUNCATION: f64 = 0.5;

/// Interval for the mean of `values` in `[lower, upper]`, valid at any stopping time, at level `1 - alpha`.
/// NaN ends when the range is empty or a value is NaN.
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

/// The same for values in [0, 1].
fn unit_interval(values: &[f64], alpha: f64) -> (f64, f64) {
    let usable = values.iter().all(|x| (0.0..=1.0).contains(x)) && alpha > 0.0 && alpha < 1.0;
    if !usable {
        return (f64::NAN, f64::NAN);
    }
    let stakes = stakes(values, alpha);
    let at = |i: usize| i as f64 / GRID as f64;
    let alive: Vec<usize> = (0..=GRID).filter(|&i| survives(values, &stakes, at(i), alpha)).collect();
    let (Some(&first), Some(&last)) = (alive.first(), alive.last()) else {
        // Narrower than the grid: the candidate at the sample mean is the best that is left.
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mean = mean.clamp(0.0, 1.0);
        return (edge(values, &stakes, mean, 0.0, alpha), edge(values, &stakes, mean, 1.0, alpha));
    };
    let below = if first == 0 { 0.0 } else { at(first - 1) };
    let above = if last == GRID { 1.0 } else { at(last + 1) };
    (edge(values, &stakes, at(first), below, alpha), edge(values, &stakes, at(last), above, alpha))
}

/// The stakes `lam_i`, from the past only.
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

/// Whether candidate `m` was never dropped.
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

/// Bisects between a candidate `inside` and one `outside` (or an end of the range, which may survive itself);
/// the answer errs on the wide side.
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
