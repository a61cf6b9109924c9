//! Hedged-capital confidence sequence for the mean of a bounded variable (Waudby-Smith and Ramdas, 2024).
//!
//! Each candidate mean `m` has two bets, one on "larger" and one on "smaller", with half of the capital each.
//! A candidate is dropped permanently once one of the halves is worth `1/alpha` times the whole initial
//! capital. The stakes are tuned for a narrow interval at any time, not for power at one mean. Therefore this
//! sequence gives the intervals that are drawn, and [`super::mean`] decides.

use super::Interval;
use super::prob::first;

/// The number of intervals of the first grid of candidates.
const GRID: u64 = 1000;
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
    let at = |i: u64| i as f64 / GRID as f64;
    let drops = |side: Side, m: f64| drops(values, &stakes, m, alpha, side);
    // The larger the candidate, the less each step of the bet on "larger" wins, and the more each step of the
    // bet on "smaller": one bet drops all candidates below the interval, and the other all above.
    let first_kept = first(0, GRID + 1, |i| !drops(Side::Larger, at(i)));
    let beyond = first(0, GRID + 1, |i| drops(Side::Smaller, at(i)));
    if first_kept >= beyond {
        // The interval is narrower than the grid, so the search starts from the candidate at the sample mean.
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mean = mean.clamp(0.0, 1.0);
        let survives = |m: f64| !drops(Side::Larger, m) && !drops(Side::Smaller, m);
        return (edge(mean, 0.0, survives), edge(mean, 1.0, survives));
    }
    let below = if first_kept == 0 { 0.0 } else { at(first_kept - 1) };
    let above = if beyond > GRID { 1.0 } else { at(beyond) };
    (
        edge(at(first_kept), below, |m| !drops(Side::Larger, m)),
        edge(at(beyond - 1), above, |m| !drops(Side::Smaller, m)),
    )
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

/// What a bet says of the mean, against a candidate.
#[derive(Clone, Copy)]
enum Side {
    Larger,
    Smaller,
}

/// Returns whether the bet on this side drops candidate `m`.
fn drops(values: &[f64], stakes: &[f64], m: f64, alpha: f64, side: Side) -> bool {
    let (threshold, mut capital) = ((2.0 / alpha).ln(), 0.0);
    values.iter().zip(stakes).any(|(x, stake)| {
        capital += match side {
            Side::Larger => (stake.min(TRUNCATION / m) * (x - m)).ln_1p(),
            Side::Smaller => (-stake.min(TRUNCATION / (1.0 - m)) * (x - m)).ln_1p(),
        };
        capital >= threshold
    })
}

/// Bisects between a candidate `inside` the interval and a candidate `outside` (or an end of the range, which
/// is returned if it survives). The result is rounded outwards, so the interval is never too narrow.
fn edge(mut inside: f64, mut outside: f64, survives: impl Fn(f64) -> bool) -> f64 {
    if survives(outside) {
        return outside;
    }
    for _ in 0..30 {
        let middle = 0.5 * (inside + outside);
        if survives(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;
    use rand::RngExt as _;

    #[test]
    fn bisection_keeps_the_candidates_that_a_scan_of_all_keeps() {
        let mut rng = Seed::root(5).rng();
        for (n, power, alpha) in [(30, 1, 0.05), (300, 1, 0.2), (300, 6, 0.01), (2000, 3, 0.01)] {
            let values: Vec<f64> = (0..n).map(|_| rng.random::<f64>().powi(power)).collect();
            let stakes = stakes(&values, alpha);
            let kept = |i: &u64| {
                let m = *i as f64 / GRID as f64;
                [Side::Larger, Side::Smaller].iter().all(|side| !drops(&values, &stakes, m, alpha, *side))
            };
            let kept: Vec<u64> = (0..=GRID).filter(kept).collect();
            let (least, most) = (kept[0], kept[kept.len() - 1]);
            assert_eq!(kept, (least..=most).collect::<Vec<u64>>(), "no gap at {n} values");
            let (lo, hi) = unit_interval(&values, alpha);
            let [lo, hi] = [lo * GRID as f64, hi * GRID as f64];
            assert!(least as f64 - 1.0 <= lo && lo <= least as f64, "{lo} at {n} values, not {least}");
            assert!(most as f64 <= hi && hi <= most as f64 + 1.0, "{hi} at {n} values, not {most}");
        }
    }
}
