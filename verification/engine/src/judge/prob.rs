//! PROB: judges `P(failure) <= delta`.
//!
//! The *sequential* test ([`ProbJudge`]) has one process for each null. The process is the likelihood ratio
//! of a uniform mixture over the rates of the alternative against `delta` itself. It is a nonnegative
//! supermartingale under every rate of the null. By Ville's inequality, it reaches `1/alpha` with probability
//! at most `alpha`, whatever the stopping rule. The *fixed-size* test ([`fixed`]) is that of Clopper and
//! Pearson, which is exact.

use super::{DRAWN_LEVEL, Finding, FindingKind, Flow, Interval, Stopped};
use crate::special::{
    beta_tails, beta_upper_quantile, binomial_ln_at_least, binomial_ln_at_most, binomial_lower_limit,
    binomial_upper_limit, ln_beta_kernel,
};

/// The log e-values after some failures and successes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogE {
    /// The log e-value against "P(failure) <= delta".
    pub refute: f64,
    /// The log e-value against "P(failure) >= delta".
    pub support: f64,
}

/// Returns the beta-binomial log e-values of both sides, for `0 < delta < 1`.
pub fn log_e(failures: u64, successes: u64, delta: f64) -> LogE {
    let (a, b) = (failures as f64 + 1.0, successes as f64 + 1.0);
    let (x, y) = (delta, 1.0 - delta);
    // ln B(a, b) - s ln delta - f ln(1 - delta), up to the two factors that belong to the densities.
    let mixture = -ln_beta_kernel(a, b, x, y);
    let tails = beta_tails(a, b, x, y);
    LogE { refute: mixture + x.ln() + tails.upper, support: mixture + y.ln() + tails.lower }
}

/// A sequential judge of `P(failure) <= delta`, which gets the trials in order.
#[derive(Clone, Debug)]
pub struct ProbJudge {
    delta: f64,
    alpha: f64,
    /// The level at which support stops the judge.
    supporting: f64,
    n_max: u64,
    failures: u64,
    n: u64,
    largest: LogE,
    stopped: Option<Stopped>,
}

impl ProbJudge {
    /// Returns a judge of `P(failure) <= delta` that stops when either side reaches level `alpha`, or after
    /// `n_max` trials. The finding is broken if `delta` is outside (0, 1), since such a claim is not about
    /// chance.
    pub fn new(delta: f64, alpha: f64, n_max: u64) -> Self {
        let largest = LogE { refute: 0.0, support: 0.0 };
        ProbJudge { delta, alpha, supporting: alpha, n_max, failures: 0, n: 0, largest, stopped: None }
    }

    /// Stops at support of this level instead.
    pub fn supported_at(mut self, level: f64) -> Self {
        self.supporting = level;
        self
    }

    /// Judges one block, which says of each trial whether it succeeded. Trials after a stop, or beyond
    /// `n_max`, are ignored.
    pub fn push_block(&mut self, succeeded: &[bool]) -> Flow {
        if self.stopped.is_some() {
            return Flow::Stop;
        }
        let room = usize::try_from(self.n_max - self.n).unwrap_or(usize::MAX);
        let block = &succeeded[..succeeded.len().min(room)];
        self.n += block.len() as u64;
        self.failures += block.iter().filter(|success| !**success).count() as u64;
        if block.is_empty() && room > 0 {
            return Flow::Continue;
        }
        let now = log_e(self.failures, self.n - self.failures, self.delta);
        self.largest.refute = super::sample::larger(self.largest.refute, now.refute);
        self.largest.support = super::sample::larger(self.largest.support, now.support);
        if self.largest.refute >= -self.alpha.ln() || self.largest.support >= -self.supporting.ln() {
            self.stopped = Some(Stopped::Evidence);
        } else if self.n >= self.n_max {
            self.stopped = Some(Stopped::Cap);
        }
        if self.stopped.is_some() { Flow::Stop } else { Flow::Continue }
    }

    /// Returns the finding so far.
    pub fn finish(&self) -> Finding {
        let mut finding = match describe("beta-binomial-e", self.delta, self.alpha, self.failures, self.n) {
            Ok(finding) => finding,
            Err(broken) => return *broken,
        };
        finding.n_max = self.n_max;
        finding.stopped = self.stopped.unwrap_or(Stopped::Cap);
        finding.p_refute = (-self.largest.refute).exp().min(1.0);
        finding.p_support = (-self.largest.support).exp().min(1.0);
        finding.log_e_refute = Some(self.largest.refute);
        finding.log_e_support = Some(self.largest.support);
        finding.detectable_effect = detectable(self.delta, self.alpha, self.n_max);
        finding
    }
}

/// Judges `P(failure) <= delta` from a number of trials that was fixed in advance, by the Clopper-Pearson
/// test.
pub fn fixed(delta: f64, alpha: f64, failures: u64, n: u64) -> Finding {
    let mut finding = match describe("clopper-pearson", delta, alpha, failures, n) {
        Ok(finding) => finding,
        Err(broken) => return *broken,
    };
    finding.p_refute = fixed_p_refute(delta, failures, n);
    finding.p_support = binomial_ln_at_most(n, delta, failures).exp().min(1.0);
    finding
}

/// Returns the p-value of `P(failure) <= delta` in [`fixed`], without the rest of the finding.
pub fn fixed_p_refute(delta: f64, failures: u64, n: u64) -> f64 {
    binomial_ln_at_least(n, delta, failures).exp().min(1.0)
}

/// Returns the parts of a finding that both engines share.
fn describe(engine: &str, delta: f64, alpha: f64, failures: u64, n: u64) -> Result<Finding, Box<Finding>> {
    let broken = |why: String| Box::new(Finding::broken(engine, FindingKind::Prob, n as usize, why));
    if !(delta > 0.0 && delta < 1.0) {
        return Err(broken(format!("delta = {delta} is not between 0 and 1: judge the claim as a property")));
    }
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(broken(format!("level alpha = {alpha} is not between 0 and 1")));
    }
    if failures > n {
        return Err(broken(format!("{failures} failures in {n} trials")));
    }
    if n == 0 {
        return Err(broken("no trial was judged".into()));
    }
    let mut finding =
        Finding::undecided(engine, FindingKind::Prob, n as usize, failures as f64 / n as f64, delta);
    finding = finding.with_tightness();
    let tail = 0.5 * (1.0 - DRAWN_LEVEL);
    finding.interval = Some(Interval {
        level: DRAWN_LEVEL,
        lo: binomial_lower_limit(failures, n, tail),
        hi: binomial_upper_limit(failures, n, tail),
        method: "clopper-pearson".into(),
    });
    finding.detectable_effect = detectable(delta, alpha, n);
    finding.note = format!("{failures} failures in {n} trials");
    Ok(finding)
}

/// Returns the smallest relative excess of the failure rate over `delta` that the Clopper-Pearson test at
/// level `alpha` finds with power .99 in `n` trials, or `None` if no number of failures would suffice.
fn detectable(delta: f64, alpha: f64, n: u64) -> Option<f64> {
    let critical = first(0, n + 1, |k| binomial_ln_at_least(n, delta, k) <= alpha.ln());
    if critical > n {
        return None;
    }
    // P(Bin(n, p) >= k) = P(Beta(k, n-k+1) <= p) = .99.
    let rate = beta_upper_quantile(critical as f64, (n - critical) as f64 + 1.0, 0.01_f64.ln()).p;
    Some(rate / delta - 1.0)
}

/// Returns the smallest number in `low..high` for which the monotone `holds` is true, or `high` if there is
/// none.
pub(super) fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Returns the number of trials without a failure that supports `P(failure) <= delta` at fixed size:
/// `ln alpha / ln(1 - delta)`.
pub fn zero_failure_size(delta: f64, alpha: f64) -> u64 {
    (alpha.ln() / (-delta).ln_1p()).ceil() as u64
}

/// Returns the number of trials without a failure after which the sequential judge supports
/// `P(failure) <= delta` if it looks after every trial. A judge that looks after blocks needs this number
/// rounded up to whole blocks.
pub fn zero_failure_size_sequential(delta: f64, alpha: f64) -> u64 {
    let high = 4 * zero_failure_size(delta, alpha) + 64;
    first(1, high, |n| log_e(0, n, delta).support >= -alpha.ln())
}

/// Returns the smallest fixed size at which the Clopper-Pearson test supports `P(failure) <= delta` with
/// power .99 when the true rate is `rate < delta`. Returns `None` outside `0 <= rate < delta < 1` or beyond
/// 10^5 failures.
pub fn support_size(delta: f64, rate: f64, alpha: f64) -> Option<u64> {
    if !(rate >= 0.0 && rate < delta && delta < 1.0) {
        return None;
    }
    // When k failures are allowed, the smallest size that still rejects has the most power.
    let mut n = 1;
    for k in 0..100_000 {
        let reach = 2 * n + 64 + (64.0 / delta) as u64;
        n = first(n, reach, |n| binomial_ln_at_most(n, delta, k) <= alpha.ln());
        if binomial_ln_at_most(n, rate, k) >= 0.99_f64.ln() {
            return Some(n);
        }
    }
    None
}

/// Returns the smallest fixed size at which the Clopper-Pearson test refutes `P(failure) <= delta` with power
/// .99 when the true rate is `rate > delta`. Returns `None` outside `0 < delta < rate <= 1` or beyond 10^5
/// failures.
pub fn refute_size(delta: f64, rate: f64, alpha: f64) -> Option<u64> {
    if !(delta > 0.0 && rate > delta && rate <= 1.0) {
        return None;
    }
    let mut smaller = 0;
    for k in 1..100_000 {
        let reach = 2 * smaller + 64 + (64.0 / delta) as u64;
        let largest = first(smaller + 1, reach, |n| binomial_ln_at_least(n, delta, k) > alpha.ln()) - 1;
        let powerful = |n| binomial_ln_at_least(n, rate, k) >= 0.99_f64.ln();
        if largest >= k && powerful(largest) {
            return Some(first(k.max(smaller + 1), largest, powerful));
        }
        smaller = largest;
    }
    None
}
