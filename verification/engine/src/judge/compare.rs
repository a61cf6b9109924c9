//! Comparisons that decide whether a tracked number has changed since the baseline.
//!
//! With the same configuration, samplers and platform, counts must be equal and floats must agree to 1e-9
//! ([`same_counts`], [`same_floats`]). On another platform, [`log_gap_tolerance`] says how far a log gap may
//! move. After an intended change, distributions are compared by an interval for the difference of the mean
//! rates ([`welch`], or [`paired`] on common seeds).

use super::sample::Moments;
use super::{DRAWN_LEVEL, Interval, nonfinite};
use crate::special::{student_tails, student_upper_quantile};
use serde::{Deserialize, Serialize};

/// The default largest difference that counts as "the same", as a share of the baseline's mean.
pub const SAME_WITHIN: f64 = 0.03;

/// The direction of a rate that is worse.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Worse {
    /// Larger values (samples needed, contraction factors).
    Larger,
    /// Smaller values (recovery rates).
    Smaller,
}

/// The result of a comparison.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Change {
    /// The 99.9 % interval of the difference lies inside the tolerance.
    Same,
    /// The interval lies on the worse side of zero, and the difference is larger than half the tolerance.
    Worse,
    /// The interval lies on the better side of zero, and the difference is larger than half the tolerance.
    Better,
    /// The replicates are too few to decide.
    Undecided,
}

/// A comparison of a run's rate with the rate of the baseline.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct RateChange {
    /// The verdict on this rate alone.
    pub change: Change,
    /// The mean over the baseline's replicates.
    #[serde(with = "nonfinite")]
    pub baseline: f64,
    /// The mean over the run's replicates.
    #[serde(with = "nonfinite")]
    pub run: f64,
    /// The interval of the difference `run - baseline`.
    pub interval: Interval,
    /// The largest difference that counts as "the same", in units of the rate.
    #[serde(with = "nonfinite")]
    pub tolerance: f64,
    /// The p-value of "not worse", for Holm's procedure over the tracked rates.
    #[serde(with = "nonfinite")]
    pub p_worse: f64,
}

/// Compares independent replicates by Welch's interval. `same_within` is relative to the baseline's mean.
///
/// # Errors
/// Names the sample that cannot be compared: it has fewer than two replicates, or one that is not finite.
pub fn welch(baseline: &[f64], run: &[f64], worse: Worse, same_within: f64) -> Result<RateChange, String> {
    usable("baseline", baseline)?;
    usable("run", run)?;
    let (old, new) = (Moments::of(baseline), Moments::of(run));
    let (vo, vn) = (old.se().powi(2), new.se().powi(2));
    let se = (vo + vn).sqrt();
    let df = if se > 0.0 { (vo + vn).powi(2) / (vo * vo / old.df() + vn * vn / new.df()) } else { 1.0 };
    Ok(decide(&old, &new, se, df, "welch", worse, same_within))
}

/// Compares replicates that share their seeds, by the t interval of their differences.
///
/// # Errors
/// As [`welch`]; also when the numbers of replicates differ.
pub fn paired(baseline: &[f64], run: &[f64], worse: Worse, same_within: f64) -> Result<RateChange, String> {
    usable("baseline", baseline)?;
    usable("run", run)?;
    if baseline.len() != run.len() {
        return Err(format!(
            "the run has {} replicates and the baseline has {}: pairs need equal numbers",
            run.len(),
            baseline.len()
        ));
    }
    let differences: Vec<f64> = run.iter().zip(baseline).map(|(new, old)| new - old).collect();
    let moments = Moments::of(&differences);
    let (old, new) = (Moments::of(baseline), Moments::of(run));
    Ok(decide(&old, &new, moments.se(), moments.df(), "paired-t", worse, same_within))
}

fn usable(name: &str, replicates: &[f64]) -> Result<(), String> {
    if replicates.len() < 2 {
        return Err(format!("{name} has {} replicates; at least two are needed", replicates.len()));
    }
    let strange = replicates.iter().position(|x| !x.is_finite());
    strange
        .map_or(Ok(()), |r| Err(format!("{name}, replicate {r} is {}, not a finite number", replicates[r])))
}

fn decide(
    old: &Moments,
    new: &Moments,
    se: f64,
    df: f64,
    method: &str,
    worse: Worse,
    same: f64,
) -> RateChange {
    let difference = new.mean - old.mean;
    let tolerance = same * old.mean.abs();
    let reach = if se > 0.0 { student_upper_quantile(0.5 * (1.0 - DRAWN_LEVEL), df) * se } else { 0.0 };
    let interval = Interval {
        level: DRAWN_LEVEL,
        lo: difference - reach,
        hi: difference + reach,
        method: method.into(),
    };
    let larger = interval.lo > 0.0 && difference > 0.5 * tolerance;
    let smaller = interval.hi < 0.0 && difference < -0.5 * tolerance;
    let change = match (larger, smaller, worse) {
        _ if interval.lo >= -tolerance && interval.hi <= tolerance => Change::Same,
        (true, _, Worse::Larger) | (_, true, Worse::Smaller) => Change::Worse,
        (true, _, Worse::Smaller) | (_, true, Worse::Larger) => Change::Better,
        _ => Change::Undecided,
    };
    let t = match worse {
        Worse::Larger => difference,
        Worse::Smaller => -difference,
    };
    let p_worse = match se > 0.0 {
        true => student_tails(t / se, df).upper.exp(),
        false if t > 0.0 => 0.0,
        false => 1.0,
    };
    RateChange { change, baseline: old.mean, run: new.mean, interval, tolerance, p_worse }
}

/// Checks that two lists of counts are equal.
///
/// # Errors
/// Names the first difference.
pub fn same_counts(baseline: &[u64], run: &[u64]) -> Result<(), String> {
    same(baseline, run, |old, new| old == new)
}

/// Checks that two lists of floats agree to a relative 1e-9. Equal infinities agree, and so do two NaN.
///
/// # Errors
/// Names the first difference.
pub fn same_floats(baseline: &[f64], run: &[f64]) -> Result<(), String> {
    same(baseline, run, |old, new| {
        let scale = old.abs().max(new.abs());
        old == new
            || (old.is_nan() && new.is_nan())
            || (scale.is_finite() && (new - old).abs() <= 1e-9 * scale)
    })
}

fn same<T: Copy + std::fmt::Display>(
    old: &[T],
    new: &[T],
    agree: impl Fn(T, T) -> bool,
) -> Result<(), String> {
    if old.len() != new.len() {
        return Err(format!("the baseline has {} values and the run has {}", old.len(), new.len()));
    }
    let differs = (0..old.len()).find(|&i| !agree(old[i], new[i]));
    differs.map_or(Ok(()), |i| Err(format!("value {i}: baseline {}, run {}", old[i], new[i])))
}

/// Returns how far the log gap at a point may move between platforms: `1e-9 + 256 u ||x*|| / ||x_t - x*||`,
/// with `u` the unit roundoff. It is infinite below the distance `1e-7 ||x*||`, where rates are not measured.
pub fn log_gap_tolerance(solution_norm: f64, distance: f64) -> f64 {
    if distance < 1e-7 * solution_norm {
        return f64::INFINITY;
    }
    1e-9 + 128.0 * f64::EPSILON * solution_norm / distance
}
