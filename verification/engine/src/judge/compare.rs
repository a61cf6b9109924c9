//! Did a tracked number change since the baseline?
//!
//! Same configuration, samplers and platform: counts are equal and floats agree to 1e-9 ([`same_counts`],
//! [`same_floats`]). Another platform: [`log_gap_tolerance`]. Anything legitimately changed: distributions
//! are compared, by an interval for the difference of the mean rates ([`welch`], or [`paired`] on common
//! seeds).

use super::sample::Moments;
use super::{DRAWN_LEVEL, Interval, nonfinite};
use crate::special::{student_tails, student_upper_quantile};
use serde::{Deserialize, Serialize};

/// Default width of "the same", as a share of the baseline's mean.
pub const SAME_WITHIN: f64 = 0.03;

/// Which direction of a rate is worse.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Worse {
    /// Larger values (samples needed, contraction factors).
    Larger,
    /// Smaller values (recovery rates).
    Smaller,
}

/// What a comparison says.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Change {
    /// The 99.9 % interval lies inside the tolerance.
    Same,
    /// The interval lies on the worse side of zero, the difference beyond half the tolerance.
    Worse,
    /// Likewise on the better side.
    Better,
    /// Too few replicates to say.
    Undecided,
}

/// A rate of a run beside the rate of the baseline.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct RateChange {
    /// The verdict on this rate alone.
    pub change: Change,
    /// Mean over the baseline's replicates.
    #[serde(with = "nonfinite")]
    pub baseline: f64,
    /// Mean over the run's replicates.
    #[serde(with = "nonfinite")]
    pub run: f64,
    /// `run - baseline` with its interval.
    pub interval: Interval,
    /// Half-width of "the same", in units of the rate.
    #[serde(with = "nonfinite")]
    pub tolerance: f64,
    /// p-value of "not worse", for Holm over the tracked rates.
    #[serde(with = "nonfinite")]
    pub p_worse: f64,
}

/// Compares independent replicates by Welch's interval. `same_within` is relative to the baseline's mean.
///
/// # Errors
/// Says which sample cannot be compared: fewer than two replicates, or one that is not finite.
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
        return Err(format!("{} replicates cannot be paired with {}", run.len(), baseline.len()));
    }
    let differences: Vec<f64> = run.iter().zip(baseline).map(|(new, old)| new - old).collect();
    let moments = Moments::of(&differences);
    let (old, new) = (Moments::of(baseline), Moments::of(run));
    Ok(decide(&old, &new, moments.se(), moments.df(), "paired-t", worse, same_within))
}

fn usable(name: &str, replicates: &[f64]) -> Result<(), String> {
    if replicates.len() < 2 {
        return Err(format!("{name} has {} replicates, two are needed", replicates.len()));
    }
    let strange = replicates.iter().position(|x| !x.is_finite());
    strange.map_or(Ok(()), |r| Err(format!("{name}, replicate {r} is {}", replicates[r])))
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

/// Whether two lists of counts are equal; otherwise says where they differ first.
///
/// # Errors
/// The first difference.
pub fn same_counts(baseline: &[u64], run: &[u64]) -> Result<(), String> {
    same(baseline, run, |old, new| old == new)
}

/// Whether two lists of floats agree to a relative 1e-9 (equal infinities, and NaN with NaN, agree).
///
/// # Errors
/// The first difference.
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
        return Err(format!("baseline has {} values, run has {}", old.len(), new.len()));
    }
    let differs = (0..old.len()).find(|&i| !agree(old[i], new[i]));
    differs.map_or(Ok(()), |i| Err(format!("value {i}: baseline {}, run {}", old[i], new[i])))
}

/// How far the log gap at a point may move between platforms: `1e-9 + 256 u ||x*|| / ||x_t - x*||`, with `u`
/// the unit roundoff; infinite below the distance `1e-7 ||x*||`, where rates are not measured.
pub fn log_gap_tolerance(solution_norm: f64, distance: f64) -> f64 {
    if distance < 1e-7 * solution_norm {
        return f64::INFINITY;
    }
    1e-9 + 128.0 * f64::EPSILON * solution_norm / distance
}
