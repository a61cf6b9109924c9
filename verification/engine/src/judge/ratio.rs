//! Judges of the ratio of two means, on the log scale.

use super::sample::{Moments, inside};
use super::{DRAWN_LEVEL, Finding, FindingKind, Interval, POWER_99, slope};
use crate::special::{student_tails, student_upper_quantile};

/// The delta method rejects skewed samples a few times more often than it promises at small levels
/// ([`rare`](super::rare)), so the tests are made at this fraction of the level.
const STRICTER: f64 = 5.0;

/// Judges `lo <= E A / E B <= hi` from independent positive samples, by the delta method for
/// `ln mean A - ln mean B` with Welch's degrees of freedom, at a fifth of the level. `lo = 0` or `hi = inf`
/// leaves that end open. The estimate and the interval are ratios; the detectable effect is a log ratio.
pub fn independent(a: &[f64], b: &[f64], (lo, hi): (f64, f64), alpha: f64) -> Finding {
    let n = a.len() + b.len();
    let broken = |why: String| Finding::broken("log-ratio-t", FindingKind::Mean, n, why);
    if a.len() < 2 || b.len() < 2 {
        return broken("at least two values of each sample are needed".into());
    }
    let (first, second) = (Moments::of(a), Moments::of(b));
    if !(first.mean > 0.0 && first.mean.is_finite() && second.mean > 0.0 && second.mean.is_finite()) {
        return broken(format!("means {} and {} have no log ratio", first.mean, second.mean));
    }
    let Some((log_lo, log_hi)) = log_range(lo, hi) else {
        return broken(format!("nothing is claimed by [{lo}, {hi}]: give 0 <= lo <= hi, one end real"));
    };
    let relative = |m: &Moments| (m.se() / m.mean).powi(2);
    let (va, vb) = (relative(&first), relative(&second));
    let se = (va + vb).sqrt();
    let df = (va + vb).powi(2) / (va * va / first.df() + vb * vb / second.df());
    let log_ratio = (first.mean / second.mean).ln();
    let bound = if hi.is_finite() { hi } else { lo };
    let mut finding = Finding::undecided("log-ratio-t", FindingKind::Mean, n, log_ratio.exp(), bound);
    if !finding.guard("the values vary", first.varies() || second.varies(), se) {
        finding.remark("constant samples: state the ratio as an identity");
        return finding;
    }
    (finding.p_support, finding.p_refute) = inside(log_lo, log_hi, |at| {
        let tails = student_tails((log_ratio - at) / se, df);
        ((STRICTER * tails.lower.exp()).min(1.0), (STRICTER * tails.upper.exp()).min(1.0))
    });
    let reach = student_upper_quantile(0.5 * (1.0 - DRAWN_LEVEL), df) * se;
    finding.interval = Some(Interval {
        level: DRAWN_LEVEL,
        lo: (log_ratio - reach).exp(),
        hi: (log_ratio + reach).exp(),
        method: "log-ratio-t".into(),
    });
    finding.detectable_effect = Some((student_upper_quantile(alpha / STRICTER, df) + POWER_99) * se);
    finding.with_tightness()
}

/// Judges the *geometric* mean ratio `lo <= exp E ln(A/B) <= hi` from positive values of the same replicates.
pub fn paired(a: &[f64], b: &[f64], (lo, hi): (f64, f64), alpha: f64) -> Finding {
    let broken = |why: String| Finding::broken("t", FindingKind::Paired, a.len(), why);
    if a.len() != b.len() {
        return broken(format!("{} values cannot be paired with {}", a.len(), b.len()));
    }
    let Some(range) = log_range(lo, hi) else {
        return broken(format!("nothing is claimed by [{lo}, {hi}]: give 0 <= lo <= hi, one end real"));
    };
    let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a / b).ln()).collect();
    let mut finding = slope::judge_sample(&logs, range, alpha, FindingKind::Paired);
    finding.estimate = finding.estimate.exp();
    finding.bound = finding.bound.exp();
    if let Some(interval) = &mut finding.interval {
        (interval.lo, interval.hi) = (interval.lo.exp(), interval.hi.exp());
        interval.method = "t of log ratios".into();
    }
    finding.with_tightness()
}

/// Returns the logarithms of the ends of a range, or `None` if the range has no real end or is empty.
fn log_range(lo: f64, hi: f64) -> Option<(f64, f64)> {
    (lo >= 0.0 && hi > 0.0 && lo <= hi && (lo > 0.0 || hi.is_finite())).then(|| (lo.ln(), hi.ln()))
}
