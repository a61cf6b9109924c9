//! MEAN: judges `E X <= b` for `X >= lower`.
//!
//! *Refutation* is a bet against the claim. The wealth `prod (1 + lam_i Y_i)`,
//! `Y = (X - lower)/(b - lower) - 1`, with `lam_i` in [0, 1/2] chosen from the past, is a supermartingale
//! under every law with `X >= lower` and `E X <= b`, so the test is valid at any stopping time.
//!
//! *Support* needs an assumption about the tail, because no sample excludes a huge value of tiny probability:
//! - With a declared upper bound, support is the same bet on `upper - X`, and valid at any stopping time.
//! - Without an upper bound, support is Hall's skewness-corrected t test at a fraction of the level, made
//!   once, when the cap is reached, and only if its guards pass. The median of means is reported as well and
//!   decides nothing.
//!
//! A trial that failed has the value +inf. Under the claim this value has probability zero, so it refutes the
//! claim.

use super::sample::Moments;
use super::{DRAWN_LEVEL, Finding, FindingKind, Flow, Interval, POWER_99, Stopped, bounded};
use crate::special::{normal_upper_quantile, student_tails, student_upper_quantile};

/// Hall's test is made at this fraction of the level. At a level of 8e-6 it rejects samples of heavy-tailed
/// laws eleven times as often as it promises by itself ([`rare`](super::rare)).
const STRICTER: f64 = 25.0;

/// The logarithm of the wealth of a bet that `E Y > 0` for `Y >= -1`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bet {
    n: f64,
    sum: f64,
    sum_squares: f64,
    log_wealth: f64,
    largest: f64,
}

impl Bet {
    /// Returns the share of the wealth that is bet on the next value.
    pub fn fraction(&self) -> f64 {
        let i = self.n + 1.0;
        let fraction = (self.sum / i) / ((1.0 + self.sum_squares) / i + 1e-12);
        // Sums that overflowed say nothing about the next value, so nothing is bet on it.
        if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 0.5) }
    }

    /// Settles the bet on the next value with `y`. The wealth becomes infinite if `y` is infinite.
    pub fn push(&mut self, y: f64) {
        let gain = if y == f64::INFINITY { y } else { (self.fraction() * y).ln_1p() };
        self.log_wealth += gain;
        self.n += 1.0;
        self.sum += y;
        self.sum_squares += y * y;
    }

    /// Returns the largest logarithm of the wealth at any look so far, including this one.
    pub fn look(&mut self) -> f64 {
        self.largest = super::sample::larger(self.largest, self.log_wealth);
        self.largest
    }

    /// Returns the logarithm of the current wealth.
    pub fn log_wealth(&self) -> f64 {
        self.log_wealth
    }
}

/// A sequential judge of `E X <= bound`, which gets the trials in order.
#[derive(Clone, Debug)]
pub struct MeanJudge {
    bound: f64,
    alpha: f64,
    /// The level at which support stops the judge, where support may.
    supporting: f64,
    n_max: u64,
    lower: f64,
    upper: Option<f64>,
    values: Vec<f64>,
    against: Bet,
    in_favor: Bet,
    outside: Option<f64>,
    stopped: Option<Stopped>,
}

impl MeanJudge {
    /// Returns a judge of `E X <= bound` for `X >= 0` that stops when the claim is refuted at level `alpha`,
    /// or after `n_max` trials.
    pub fn new(bound: f64, alpha: f64, n_max: u64) -> Self {
        MeanJudge {
            bound,
            alpha,
            supporting: alpha,
            n_max,
            lower: 0.0,
            upper: None,
            values: Vec::new(),
            against: Bet::default(),
            in_favor: Bet::default(),
            outside: None,
            stopped: None,
        }
    }

    /// Declares `X >= lower` instead of `X >= 0`.
    pub fn with_lower(mut self, lower: f64) -> Self {
        self.lower = lower;
        self
    }

    /// Declares `X <= upper`. Support then comes from betting too: it needs no assumption about the tail and
    /// may stop early.
    pub fn with_upper(mut self, upper: f64) -> Self {
        self.upper = Some(upper);
        self
    }

    /// Stops at support of this level instead, where an upper bound is declared.
    pub fn supported_at(mut self, level: f64) -> Self {
        self.supporting = level;
        self
    }

    /// Judges one block of trials. Values after a stop, or beyond `n_max`, are ignored. A NaN, or a finite
    /// value outside the declared range, makes the finding broken.
    pub fn push_block(&mut self, values: &[f64]) -> Flow {
        if self.stopped.is_some() {
            return Flow::Stop;
        }
        let room = usize::try_from(self.n_max).unwrap_or(usize::MAX).saturating_sub(self.values.len());
        for x in &values[..values.len().min(room)] {
            self.push(*x);
        }
        let refute = self.against.look();
        let support = if self.upper.is_some() { self.in_favor.look() } else { 0.0 };
        let decided = refute >= -self.alpha.ln() || support >= -self.supporting.ln();
        if self.outside.is_some() || decided {
            self.stopped = Some(Stopped::Evidence);
        } else if values.len() >= room {
            self.stopped = Some(Stopped::Cap);
        }
        if self.stopped.is_some() { Flow::Stop } else { Flow::Continue }
    }

    fn push(&mut self, x: f64) {
        // Rounding may move a value from the boundary to just outside the range.
        let slack = 1e-9 * (1.0 + self.lower.abs());
        let above = self.upper.is_some_and(|upper| x > upper + 1e-9 * (1.0 + upper.abs()));
        if x.is_nan() || x < self.lower - slack || (above && x.is_finite()) {
            self.outside.get_or_insert(x);
        }
        let x = x.max(self.lower);
        self.against.push((x - self.lower) / (self.bound - self.lower) - 1.0);
        if let Some(upper) = self.upper {
            // An infinite value settles the refuting bet; in the supporting bet it counts as the upper limit.
            self.in_favor.push((upper - x.min(upper)) / (upper - self.bound) - 1.0);
        }
        self.values.push(x);
    }

    /// Returns the finding so far. Hall's test is made only if the cap was reached, since the number of
    /// trials that it uses must not depend on the data.
    pub fn finish(&self) -> Finding {
        let n = self.values.len();
        let broken = |why: String| Finding::broken("betting-e", FindingKind::Mean, n, why);
        if !(self.bound.is_finite() && self.bound > self.lower) {
            return broken(format!(
                "bound {} is not a number above the lower limit {}",
                self.bound, self.lower
            ));
        }
        if self.upper.is_some_and(|upper| upper.is_nan() || upper <= self.bound) {
            return broken(format!(
                "bound {} is not below the upper limit, so it says nothing: declare a larger limit",
                self.bound
            ));
        }
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return broken(format!("level alpha = {} is not between 0 and 1", self.alpha));
        }
        if let Some(x) = self.outside {
            return broken(format!("value {x} is outside the declared range"));
        }
        if n == 0 {
            return broken("no trial was judged".into());
        }
        let mut finding = Finding::undecided("betting-e", FindingKind::Mean, n, f64::INFINITY, self.bound);
        finding.n_max = self.n_max;
        finding.stopped = self.stopped.unwrap_or(Stopped::Cap);
        finding.log_e_refute = Some(self.against.largest);
        finding.p_refute = (-self.against.largest).exp().min(1.0);
        if self.upper.is_some() {
            finding.log_e_support = Some(self.in_favor.largest);
            finding.p_support = (-self.in_favor.largest).exp().min(1.0);
        }
        let infinite = self.values.iter().filter(|x| x.is_infinite()).count();
        if infinite > 0 {
            finding.p_support = 1.0;
            finding.remark(&format!("{infinite} of {n} trials gave no number and count as infinite"));
            return finding;
        }
        self.describe(&mut finding);
        if self.upper.is_none() && self.stopped == Some(Stopped::Cap) {
            self.support_by_hall(&mut finding);
        }
        finding
    }

    /// Fills in the estimate, the interval and the detectable effect.
    fn describe(&self, finding: &mut Finding) {
        let moments = Moments::of(&self.values);
        finding.estimate = moments.mean;
        finding.tightness = (self.bound != 0.0).then_some(moments.mean / self.bound);
        finding.interval = match self.upper {
            Some(upper) => Some(bounded::interval(&self.values, self.lower, upper, 1.0 - DRAWN_LEVEL)),
            None if moments.varies() => hall_interval(&moments),
            None => None,
        };
        let effort = (normal_upper_quantile(self.alpha) + POWER_99) / (self.n_max.max(1) as f64).sqrt();
        finding.detectable_effect = Some(effort * moments.sd / (self.bound - self.lower));
    }

    fn support_by_hall(&self, finding: &mut Finding) {
        let moments = Moments::of(&self.values);
        let n = moments.n as f64;
        let shifted: Vec<f64> = self.values.iter().map(|x| x - self.lower).collect();
        let share = shifted.iter().copied().fold(0.0, f64::max) / shifted.iter().sum::<f64>();
        let need = (36.0 * moments.skewness * moments.skewness).max(200.0);
        let mut fit = finding.guard("the values vary", moments.varies(), moments.sd);
        fit &= finding.guard("n >= max(200, 36 skewness^2)", n >= need, need);
        fit &= finding.guard("largest value <= 10% of the sum", share <= 0.1, share.max(0.0));
        let blocks = (8.0 * -self.alpha.ln()).ceil() as usize;
        if moments.n >= 20 * blocks {
            let median = median_of_means(&self.values, blocks);
            finding.guard(
                "median of means below the bound (reported, decides nothing)",
                median < self.bound,
                median,
            );
        }
        if fit {
            finding.engine = "betting-e, hall-t".into();
            finding.p_support = (STRICTER * hall_test(&moments, self.bound).0).min(1.0);
        } else {
            finding.remark("support was not tested: a guard failed (more trials, or declare an upper bound)");
        }
    }
}

/// Judges `E X <= bound` for `X >= 0` from a number of values that was fixed in advance.
pub fn fixed(bound: f64, alpha: f64, values: &[f64]) -> Finding {
    let mut judge = MeanJudge::new(bound, alpha, values.len() as u64);
    for x in values {
        judge.push(*x);
        judge.against.look();
    }
    judge.stopped = Some(Stopped::Cap);
    let mut finding = judge.finish();
    finding.stopped = Stopped::Fixed;
    finding
}

/// Returns the p-values of Hall's skewness-corrected t test for "the mean is at least `at`" and "the mean is
/// at most `at`", in this order.
pub fn hall_test(moments: &Moments, at: f64) -> (f64, f64) {
    let (n, g) = (moments.n as f64, moments.skewness);
    let q = (moments.mean - at) / moments.sd;
    let t = n.sqrt() * (q + g * q * q / 3.0 + g * g * q * q * q / 27.0 + g / (6.0 * n));
    let tails = student_tails(t, moments.df());
    (tails.lower.exp(), tails.upper.exp())
}

/// Returns the interval that inverts [`hall_test`]. The inverse has a closed form, since the test's cubic is
/// monotone.
fn hall_interval(moments: &Moments) -> Option<Interval> {
    let (n, g) = (moments.n as f64, moments.skewness);
    let quantile = student_upper_quantile(0.5 * (1.0 - DRAWN_LEVEL), moments.df());
    let invert = |t: f64| {
        let w = t / n.sqrt() - g / (6.0 * n);
        if g.abs() < 1e-8 { w } else { 3.0 / g * (libm::cbrt(1.0 + g * w) - 1.0) }
    };
    let (lo, hi) =
        (moments.mean - moments.sd * invert(quantile), moments.mean - moments.sd * invert(-quantile));
    Some(Interval { level: DRAWN_LEVEL, lo, hi, method: "hall-t".into() })
}

/// Returns the median of the means of `blocks` consecutive, nearly equal blocks.
pub fn median_of_means(values: &[f64], blocks: usize) -> f64 {
    let blocks = blocks.clamp(1, values.len().max(1));
    let edge = |b: usize| b * values.len() / blocks;
    let mut means: Vec<f64> = (0..blocks)
        .map(|b| values[edge(b)..edge(b + 1)].iter().sum::<f64>() / (edge(b + 1) - edge(b)) as f64)
        .collect();
    super::paired::median(&mut means)
}

/// Returns the number of trials that refutes, with power .99, a mean that exceeds its bound by the relative
/// `effect`, or supports one that is below its bound by `effect`, when sd/bound is `cv`. The number includes
/// a reserve of 30 percent.
pub fn size(effect: f64, cv: f64, alpha: f64) -> u64 {
    let effort = (normal_upper_quantile(alpha / STRICTER) + POWER_99) * cv / effect;
    (1.3 * effort * effort).ceil().max(200.0) as u64
}
