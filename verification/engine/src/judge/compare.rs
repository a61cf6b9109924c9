//! Compares a tracked number with the baseline.
//!
//! For the same configuration, samplers and platform, counts must be equal and floats agree to 1e-9
//! ([`same_counts`], [`same_floats`]); between platforms, floats agree within [`log_gap_tolerance`]. After
//! any intended change, distributions are compared on the [scale](RateScale) on which a method that is 20 %
//! slower is a fixed distance away, by an interval for the difference of the means.

use super::sample::Moments;
use super::{DRAWN_LEVEL, Direction, Interval, nonfinite};
use crate::special::{normal_upper_quantile, student_tails, student_upper_quantile};
use serde::{Deserialize, Serialize};

/// The scale on which a rate is compared.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum RateScale {
    /// An amount, such as examples or a gap: its logarithm is compared.
    Amount,
    /// A contraction factor per update, between 0 and 1: the logarithm of `-ln` of it is compared, so that
    /// "20 % slower" means 20 % more updates for the same accuracy.
    Contraction,
    /// The slope of a logarithm, a negative number: the logarithm of its size is compared.
    Decay,
    /// The logarithm of an amount: it is compared as it is.
    Logarithm,
    /// An exponent: it is compared as it is, with absolute margins.
    Exponent,
}

impl RateScale {
    /// Returns the scale of a rate by what its name says that it is.
    pub fn of(name: &str) -> Self {
        match name {
            _ if name.starts_with("slope of log") => RateScale::Decay,
            _ if name.contains("log of") && name.contains("over log") => RateScale::Amount,
            _ if name.contains("exponent") => RateScale::Exponent,
            _ if name.starts_with("log of") => RateScale::Logarithm,
            _ if name.contains("contraction factor") => RateScale::Contraction,
            _ => RateScale::Amount,
        }
    }

    /// Returns the value that is compared; `None` if the rate has none, since it vanished or left its range.
    pub fn value(self, rate: f64) -> Option<f64> {
        let value = match self {
            RateScale::Amount => rate.ln(),
            // Slower is larger on both of these scales.
            RateScale::Contraction => -(-rate.ln()).ln(),
            RateScale::Decay => -(-rate).ln(),
            RateScale::Logarithm | RateScale::Exponent => rate,
        };
        value.is_finite().then_some(value)
    }

    /// Returns the distance of a worsening that one run must find: 20 %, and .1 for an exponent.
    pub fn worsening(self) -> f64 {
        if self == RateScale::Exponent { 0.1 } else { 1.2_f64.ln() }
    }

    /// Returns the distance within which two means are the same: 3 %, and .02 for an exponent.
    pub fn same(self) -> f64 {
        if self == RateScale::Exponent { 0.02 } else { 1.03_f64.ln() }
    }

    /// Returns the distance above which an undecided worsening is suspicious: 10 %, or .05 of an exponent.
    pub fn suspicious(self) -> f64 {
        if self == RateScale::Exponent { 0.05 } else { 1.1_f64.ln() }
    }

    /// Returns a distance on this scale as text: `+12.5 %`, or `+0.05` for an exponent.
    pub fn words(self, distance: f64) -> String {
        match self {
            RateScale::Exponent => format!("{distance:+.4}"),
            _ => format!("{:+.2} %", 100.0 * distance.exp_m1()),
        }
    }
}

/// The result of a comparison.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Change {
    /// The 99.9 % interval lies inside the tolerance.
    Same,
    /// The interval lies on the worse side of zero, and the difference is more than half the tolerance.
    Worse,
    /// The interval lies on the better side of zero, and the difference is more than half the tolerance.
    Better,
    /// There are too few replicates to say.
    Undecided,
}

/// A rate of a run beside the rate of the baseline.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct RateChange {
    /// The verdict on this rate alone.
    pub change: Change,
    /// The scale of the comparison.
    pub scale: RateScale,
    /// The mean over the baseline's replicates.
    #[serde(with = "nonfinite")]
    pub baseline: f64,
    /// The mean over the run's replicates.
    #[serde(with = "nonfinite")]
    pub run: f64,
    /// The difference of the means of the values on the scale, positive where the run is worse.
    #[serde(with = "nonfinite")]
    pub worsening: f64,
    /// Its interval.
    pub interval: Interval,
    /// The p-value of "not worse", for Holm's procedure over the tracked rates.
    #[serde(with = "nonfinite")]
    pub p_worse: f64,
}

impl RateChange {
    /// Returns whether the rate is too much worse to leave the question open.
    pub fn is_suspicious(&self) -> bool {
        self.change == Change::Undecided && self.worsening > self.scale.suspicious()
    }
}

/// How two lists of replicates belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicates {
    /// Drawn independently: Welch's interval.
    Independent,
    /// Replicate by replicate on common seeds: the t interval of their differences.
    Paired,
}

/// Compares the replicates of a run with those of the baseline.
///
/// # Errors
/// Returns which sample cannot be compared and why: fewer than two replicates, one that is not finite or has
/// no value on the scale, or numbers of replicates that cannot be paired.
pub fn compare(
    baseline: &[f64],
    run: &[f64],
    replicates: Replicates,
    worse: Direction,
    scale: RateScale,
) -> Result<RateChange, String> {
    let (old, new) = (values("baseline", baseline, scale)?, values("run", run, scale)?);
    let (before, now) = (Moments::of(&old), Moments::of(&new));
    let (se, df, method) = match replicates {
        Replicates::Paired => {
            if old.len() != new.len() {
                return Err(format!("{} replicates cannot be paired with {}", new.len(), old.len()));
            }
            let differences: Vec<f64> = new.iter().zip(&old).map(|(new, old)| new - old).collect();
            let moments = Moments::of(&differences);
            (moments.se(), moments.df(), "paired-t")
        }
        Replicates::Independent => {
            let (vo, vn) = (before.se().powi(2), now.se().powi(2));
            let sum = vo + vn;
            let df = if sum > 0.0 { sum * sum / (vo * vo / before.df() + vn * vn / now.df()) } else { 1.0 };
            (sum.sqrt(), df, "welch")
        }
    };
    let worsening = match worse {
        Direction::Larger => now.mean - before.mean,
        Direction::Smaller => before.mean - now.mean,
    };
    let reach = if se > 0.0 { student_upper_quantile(0.5 * (1.0 - DRAWN_LEVEL), df) * se } else { 0.0 };
    let (lo, hi) = (worsening - reach, worsening + reach);
    let interval = Interval { level: DRAWN_LEVEL, lo, hi, method: method.into() };
    let same = scale.same();
    let change = match (lo > 0.0 && worsening > 0.5 * same, hi < 0.0 && worsening < -0.5 * same) {
        _ if lo >= -same && hi <= same => Change::Same,
        (true, _) => Change::Worse,
        (_, true) => Change::Better,
        _ => Change::Undecided,
    };
    let p_worse = match se > 0.0 {
        true => student_tails(worsening / se, df).upper.exp(),
        false if worsening > 0.0 => 0.0,
        false => 1.0,
    };
    let (baseline, run) = (Moments::of(baseline).mean, Moments::of(run).mean);
    Ok(RateChange { change, scale, baseline, run, worsening, interval, p_worse })
}

/// Returns the smallest worsening that two independent runs of `n` replicates with this standard deviation
/// (on the scale) find with probability .99 at the level `alpha`.
pub fn detectable(n: usize, sd: f64, alpha: f64) -> f64 {
    let df = 2.0 * (n.max(2) as f64 - 1.0);
    let quantiles = student_upper_quantile(alpha, df) + normal_upper_quantile(0.01);
    quantiles * sd * (2.0 / n.max(1) as f64).sqrt()
}

/// Returns the replicates on a scale.
///
/// # Errors
/// Says which sample cannot be compared: fewer than two replicates, or one without a value.
pub fn values(name: &str, replicates: &[f64], scale: RateScale) -> Result<Vec<f64>, String> {
    if replicates.len() < 2 {
        return Err(format!("{name} has {} replicates, two are needed", replicates.len()));
    }
    let value = |(r, rate): (usize, &f64)| {
        scale.value(*rate).ok_or_else(|| format!("{name}, replicate {r} is {rate}: the rate has vanished"))
    };
    replicates.iter().enumerate().map(value).collect()
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
