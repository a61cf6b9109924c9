//! The incomplete beta function, binomial tails and the Clopper-Pearson limits.

use super::{LN_SQRT_2PI, LnTails, deviance, ln_gamma, solve_increasing, stirling_error};

/// A probability and its complement, each to full relative accuracy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailSplit {
    /// The probability.
    pub p: f64,
    /// One minus the probability.
    pub q: f64,
}

impl TailSplit {
    /// Returns the pair with `ln(p / q) = u`.
    fn from_logit(u: f64) -> Self {
        Self { p: 1.0 / (1.0 + (-u).exp()), q: 1.0 / (1.0 + u.exp()) }
    }
}

/// Returns `ln B(a, b)` for positive `a` and `b`.
pub fn ln_beta(a: f64, b: f64) -> f64 {
    if a.min(b) < 10.0 && a.max(b) < 1e3 {
        return ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    }
    // Stirling's leading terms are combined first: their difference is far smaller than each of them.
    let n = a + b;
    let (small, large) = (a.min(b), a.max(b));
    LN_SQRT_2PI - 0.5 * small.ln()
        + small * (small / n).ln()
        + (large - 0.5) * (-small / n).ln_1p()
        + stirling_error(a)
        + stirling_error(b)
        - stirling_error(n)
}

/// Returns `ln[ x^a y^b / B(a, b) ]` with `y = 1 - x`, for `a, b > 0` and `0 < x < 1`: the density of Beta(a,
/// b) times `x y`, which is the density of its logit.
pub fn ln_beta_kernel(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    // a ln(a/n) as two logarithms: the ratio of small parameters to large ones keeps all digits.
    0.5 * (a.ln() + (b / n).ln()) - LN_SQRT_2PI - deviance(a, n * x) - deviance(b, n * y) + stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
}

/// Returns both tails of Beta(a, b) at `x`, where `y = 1 - x` is passed too so that neither loses digits.
/// Both are NaN unless `a, b > 0` and `x + y = 1` up to rounding.
pub fn beta_tails(a: f64, b: f64, x: f64, y: f64) -> LnTails {
    if !(a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() && (x + y - 1.0).abs() < 1e-12) {
        return LnTails::NAN;
    }
    if x <= 0.0 {
        return LnTails::ALL_ABOVE;
    }
    if y <= 0.0 {
        return LnTails::ALL_BELOW;
    }
    let kernel = ln_beta_kernel(a, b, x, y);
    if x < (a + 1.0) / (a + b + 2.0) {
        LnTails::from_lower(kernel - a.ln() + continued_fraction(a, b, x).ln())
    } else {
        LnTails::from_lower(kernel - b.ln() + continued_fraction(b, a, y).ln()).swap()
    }
}

/// Returns the continued fraction of `I_x(a, b) a B(a, b) / (x^a (1-x)^b)`, which converges in O(sqrt(max(a,
/// b))) steps for `x < (a+1)/(a+b+2)`.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..1_000_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            step = c * d;
            fraction *= step;
        }
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Returns the `x` with `P(Beta(a, b) <= x) = e^ln_p`, and `1 - x`. It is accurate in the lower tail
/// (`e^ln_p <= 1/2`); use [`beta_upper_quantile`] in the upper one.
pub fn beta_lower_quantile(a: f64, b: f64, ln_p: f64) -> TailSplit {
    if ln_p == f64::NEG_INFINITY {
        return TailSplit { p: 0.0, q: 1.0 };
    }
    if !(ln_p < 0.0 && a > 0.0 && b > 0.0) {
        return TailSplit { p: f64::NAN, q: f64::NAN };
    }
    let logit = solve_increasing(ln_p, (a / b).ln(), |u| {
        let at = TailSplit::from_logit(u);
        let lower = beta_tails(a, b, at.p, at.q).lower;
        (lower, (ln_beta_kernel(a, b, at.p, at.q) - lower).exp())
    });
    TailSplit::from_logit(logit)
}

/// Returns the `x` with `P(Beta(a, b) > x) = e^ln_q`, and `1 - x`.
pub fn beta_upper_quantile(a: f64, b: f64, ln_q: f64) -> TailSplit {
    let mirrored = beta_lower_quantile(b, a, ln_q);
    TailSplit { p: mirrored.q, q: mirrored.p }
}

/// Returns `ln P(Bin(n, p) <= k)`.
pub fn binomial_ln_at_most(n: u64, p: f64, k: u64) -> f64 {
    if k >= n { 0.0 } else { beta_tails(k as f64 + 1.0, (n - k) as f64, p, 1.0 - p).upper }
}

/// Returns `ln P(Bin(n, p) >= k)`.
pub fn binomial_ln_at_least(n: u64, p: f64, k: u64) -> f64 {
    match k {
        0 => 0.0,
        k if k > n => f64::NEG_INFINITY,
        k => beta_tails(k as f64, (n - k) as f64 + 1.0, p, 1.0 - p).lower,
    }
}

/// Returns the Clopper-Pearson upper limit at one-sided level `alpha`: the largest rate under which at most
/// `k` failures in `n` trials have probability at least `alpha`. It is 1 when `k = n`.
pub fn binomial_upper_limit(k: u64, n: u64, alpha: f64) -> f64 {
    if k >= n { 1.0 } else { beta_upper_quantile(k as f64 + 1.0, (n - k) as f64, alpha.ln()).p }
}

/// Returns the Clopper-Pearson lower limit at one-sided level `alpha`, which is 0 when `k = 0`.
pub fn binomial_lower_limit(k: u64, n: u64, alpha: f64) -> f64 {
    if k == 0 { 0.0 } else { beta_lower_quantile(k.min(n) as f64, (n - k.min(n)) as f64 + 1.0, alpha.ln()).p }
}
