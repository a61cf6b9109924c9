//! PAIRED: judges whether method A is better than method B on the same data.
//!
//! The sign test decides. Wilcoxon's signed-rank test, which needs a symmetric null, and the median log-ratio
//! are reported as well.

use super::{Finding, FindingKind, Interval};
use crate::special::{binomial_ln_at_least, binomial_ln_at_most, normal_sf};

/// Judges "A is better than B" from the gaps of both methods on the same replicates. The smaller gap wins; an
/// infinite gap (a run that failed) loses against a finite one; ties are split. The estimate is the share of
/// wins of A, the bound is one half, and the interval is for the median of `ln(gap_B / gap_A)`.
pub fn better(gap_a: &[f64], gap_b: &[f64], alpha: f64) -> Finding {
    let n = gap_a.len();
    let broken = |why: String| Finding::broken("sign", FindingKind::Paired, n, why);
    if gap_b.len() != n {
        return broken(format!("{n} runs of A cannot be paired with {} of B", gap_b.len()));
    }
    if let Some(r) = (0..n).find(|&r| gap_a[r].is_nan() || gap_b[r].is_nan()) {
        return broken(format!("pair {r}: {} and {} cannot be compared", gap_a[r], gap_b[r]));
    }
    if n == 0 {
        return broken("no pair was judged".into());
    }
    let pairs = || gap_a.iter().zip(gap_b);
    let wins = pairs().filter(|(a, b)| a < b).count() as u64;
    let losses = pairs().filter(|(a, b)| a > b).count() as u64;
    let size = n as u64;
    // An odd tie counts for neither side, since half a win would make the test inexact.
    let half_ties = (size - wins - losses) / 2;
    let share = (wins as f64 + 0.5 * (size - wins - losses) as f64) / n as f64;
    let mut finding = Finding::undecided("sign", FindingKind::Paired, n, share, 0.5);
    finding.p_support = binomial_ln_at_least(size, 0.5, wins + half_ties).exp().min(1.0);
    finding.p_refute = binomial_ln_at_least(size, 0.5, losses + half_ties).exp().min(1.0);
    finding.note = format!("{wins} wins, {losses} losses, {} ties", size - wins - losses);

    let mut log_ratios: Vec<f64> = pairs().map(|(a, b)| log_ratio(*a, *b)).collect();
    let wilcoxon = wilcoxon_p(&log_ratios);
    finding.guard(
        "Wilcoxon agrees (reported, decides nothing)",
        (wilcoxon <= 0.5) == (share >= 0.5),
        wilcoxon,
    );
    let middle = median(&mut log_ratios);
    finding.remark(&format!("median log-ratio {middle:.4}"));
    finding.interval = median_interval(&log_ratios, super::DRAWN_LEVEL);
    finding.detectable_effect = detectable(size, alpha);
    finding
}

/// Returns the number of wins that reaches level `alpha` in `n` pairs without ties, or `None` if even `n`
/// wins do not suffice.
pub fn wins_needed(n: u64, alpha: f64) -> Option<u64> {
    (n / 2..=n).find(|&wins| binomial_ln_at_least(n, 0.5, wins) <= alpha.ln())
}

/// Returns the distance of the win probability from one half that the test finds with power .99.
fn detectable(n: u64, alpha: f64) -> Option<f64> {
    let wins = wins_needed(n, alpha)?;
    let q = crate::special::beta_upper_quantile(wins as f64, (n - wins) as f64 + 1.0, 0.01_f64.ln());
    Some(q.p - 0.5)
}

/// Returns `ln(b / a)`, or 0 if the gaps are equal, even if both are zero or infinite.
fn log_ratio(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (b / a).ln() }
}

/// Returns the one-sided p-value of "the differences are symmetric about zero" against "they are larger", by
/// the normal approximation of the signed-rank statistic. Ties get average ranks, and zeros are left out.
pub fn wilcoxon_p(differences: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = sorted.len() as f64;
    if sorted.is_empty() || sorted.iter().any(|d| d.is_nan()) {
        return if sorted.is_empty() { 0.5 } else { f64::NAN };
    }
    let (mut positive, mut ties, mut from) = (0.0, 0.0, 0);
    for group in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let size = group.len() as f64;
        let rank = from as f64 + 0.5 * (size + 1.0);
        positive += rank * group.iter().filter(|d| **d > 0.0).count() as f64;
        ties += size * (size * size - 1.0);
        from += group.len();
    }
    let mean = 0.25 * n * (n + 1.0);
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    normal_sf((positive - mean - 0.5) / variance.sqrt())
}

/// Sorts the values and returns their median, or NaN if there are none.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

fn midpoint(a: f64, b: f64) -> f64 {
    // The mean of two equal infinities is that infinity; opposite infinities count as zero.
    if a == b {
        a
    } else if a == -b {
        0.0
    } else {
        0.5 * (a + b)
    }
}

/// Returns the order-statistic interval for the median of sorted values, or `None` if there are too few
/// values for the level.
pub fn median_interval(sorted: &[f64], level: f64) -> Option<Interval> {
    let n = sorted.len() as u64;
    let tail = (0.5 * (1.0 - level)).ln();
    // [X_(j+1), X_(n-j)] lies above the median with probability P(Bin(n, 1/2) <= j).
    let j = (0..n / 2).take_while(|&j| binomial_ln_at_most(n, 0.5, j) <= tail).last()?;
    let (lo, hi) = (sorted[j as usize], sorted[(n - 1 - j) as usize]);
    Some(Interval { level, lo, hi, method: "order-statistics of ln(B/A)".into() })
}
