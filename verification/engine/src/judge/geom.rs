//! GEOM: judges whether the gap shrinks like `q^t`.
//!
//! Each replicate gives one slope of `ln gap`, in a window that is fixed before the curves are seen: a window
//! chosen afterwards could refute or support a claim by selection alone. Whether the decrease is geometric at
//! all is a second question, which the ratio of the slopes in the two halves of the window answers.
//!
//! A run that never enters its window counts as a failure and is not dropped. Judge the probability of such
//! failures with [`super::prob`] as well.

use super::slope::judge_sample;
use super::{Finding, FindingKind};

/// The steps `start..end` of a curve over which its slope is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First step.
    pub start: usize,
    /// The step after the last one.
    pub end: usize,
}

/// Returns the window that follows from the problem's constants, for a curve of `horizon + 1` gaps. It
/// extends from a tenth of the horizon to the step at which a gap that starts at `gap_0` and shrinks by `q`
/// per step comes within a factor 1000 of `floor`.
pub fn frozen_window(horizon: usize, gap_0: f64, q: f64, floor: f64) -> Option<Window> {
    let floor = floor.max(1e-14 * gap_0);
    let steps = ((1e3 * floor / gap_0).ln() / q.ln()).floor();
    if !(steps.is_finite() && steps >= 0.0) {
        return None;
    }
    let window = Window { start: horizon.div_ceil(10), end: (steps as usize).min(horizon) + 1 };
    (window.start + 1 < window.end).then_some(window)
}

/// Returns a window that the gaps define: from the first step with a gap at or below `gap_0 / 100` to the
/// last step before a gap at or below `gap_0 / 10^10` (or the end of the curve). Returns `None` if the run
/// never enters the window, or leaves it within two steps.
pub fn gap_window(gaps: &[f64], gap_0: f64) -> Option<Window> {
    let start = gaps.iter().position(|gap| *gap <= 1e-2 * gap_0)?;
    let length = gaps[start..].iter().position(|gap| *gap <= 1e-10 * gap_0);
    let end = length.map_or(gaps.len(), |length| start + length);
    (end >= start + 3).then_some(Window { start, end })
}

/// Returns the slope of `ln gap` over `time` (steps, cumulative expected work, IFO calls) inside a window, or
/// `None` if the curve ends before the window does, or a gap in the window is not positive and finite.
pub fn log_slope(time: &[f64], gaps: &[f64], window: Window) -> Option<f64> {
    if window.end < window.start + 2 {
        return None;
    }
    let time = time.get(window.start..window.end)?;
    let gaps = gaps.get(window.start..window.end)?;
    if !gaps.iter().all(|gap| *gap > 0.0 && gap.is_finite()) {
        return None;
    }
    let n = time.len() as f64;
    let mean = time.iter().sum::<f64>() / n;
    let norm: f64 = time.iter().map(|t| (t - mean) * (t - mean)).sum();
    let slope = time.iter().zip(gaps).map(|(t, gap)| (t - mean) * gap.ln()).sum::<f64>() / norm;
    slope.is_finite().then_some(slope)
}

/// Returns the slope in the second half of the window divided by the slope in the first half: near one for a
/// geometric decrease, small for `1/t`, large for a superlinear decrease.
pub fn half_ratio(time: &[f64], gaps: &[f64], window: Window) -> Option<f64> {
    let middle = window.start + (window.end.checked_sub(window.start)?) / 2;
    let first = log_slope(time, gaps, Window { start: window.start, end: middle })?;
    let second = log_slope(time, gaps, Window { start: middle, end: window.end })?;
    let ratio = second / first;
    ratio.is_finite().then_some(ratio)
}

/// Judges "the gap shrinks at least by the factor `q` per unit of time", that is, whether the mean slope is
/// at most `ln q`. `slopes` has one entry per replicate, `None` for a run without a slope; such a run rules
/// out support. The tightness is the share of rates: the promised slope over the one that was found.
pub fn rate(slopes: &[Option<f64>], q: f64, alpha: f64) -> Finding {
    if !(q > 0.0 && q.is_finite()) {
        return Finding::broken(
            "t",
            FindingKind::Geom,
            slopes.len(),
            format!("factor q = {q} has no logarithm"),
        );
    }
    let mut finding = judge(slopes, (f64::NEG_INFINITY, q.ln()), alpha);
    let share = finding.bound / finding.estimate;
    finding.tightness = (finding.bound < 0.0 && share > 0.0 && share.is_finite()).then_some(share);
    finding
}

/// Judges "the decrease is geometric", that is, whether the mean [`half_ratio`] is in [.7, 1.4].
pub fn is_geometric(ratios: &[Option<f64>], alpha: f64) -> Finding {
    judge(ratios, (0.7, 1.4), alpha)
}

fn judge(replicates: &[Option<f64>], range: (f64, f64), alpha: f64) -> Finding {
    let entered: Vec<f64> = replicates.iter().copied().flatten().collect();
    let missing = replicates.len() - entered.len();
    if missing > 0 && entered.len() < 2 {
        let mut finding =
            Finding::undecided("t", FindingKind::Geom, replicates.len(), f64::INFINITY, range.1);
        finding.guard("every run has a slope in its window", false, missing as f64);
        finding.remark("hardly a run entered its window: judge that as a probability");
        return finding;
    }
    let mut finding = judge_sample(&entered, range, alpha, FindingKind::Geom);
    finding.n_trials = replicates.len() as u64;
    finding.n_max = finding.n_trials;
    if !finding.guard("every run has a slope in its window", missing == 0, missing as f64) {
        finding.p_support = 1.0;
        finding.remark(&format!("{missing} runs have no slope: they count as failures"));
    }
    finding
}
