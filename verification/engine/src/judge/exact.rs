//! EXACT: judges identities by enumeration.

use super::{Finding, FindingKind};

/// Judges `lhs = rhs`, which is supported if `|lhs - rhs| <= tolerance (1 + |rhs|)` and refuted otherwise.
pub fn exact(lhs: f64, rhs: f64, tolerance: f64) -> Finding {
    exact_all([(lhs, rhs)], tolerance)
}

/// Judges many identities at once, each to the same tolerance. The estimate is the largest scaled difference
/// `|lhs - rhs| / (1 + |rhs|)`.
pub fn exact_all(pairs: impl IntoIterator<Item = (f64, f64)>, tolerance: f64) -> Finding {
    let (mut worst, mut at, mut n) = (0.0, None, 0);
    for (index, (lhs, rhs)) in pairs.into_iter().enumerate() {
        n = index + 1;
        let difference = (lhs - rhs).abs() / (1.0 + rhs.abs());
        if difference.is_nan() {
            let why = format!("pair {index}: lhs = {lhs}, rhs = {rhs} cannot be compared");
            return Finding::broken("enumeration", FindingKind::Exact, n, why);
        }
        if at.is_none() || difference > worst {
            worst = difference;
            at = Some((index, lhs, rhs));
        }
    }
    let mut finding = Finding::undecided("enumeration", FindingKind::Exact, n, worst, tolerance);
    if let Some((index, lhs, rhs)) = at {
        let holds = worst <= tolerance;
        (finding.p_refute, finding.p_support) = if holds { (1.0, 0.0) } else { (0.0, 1.0) };
        finding.note = format!("largest difference at pair {index}: lhs = {lhs}, rhs = {rhs}");
    }
    finding.detectable_effect = Some(tolerance);
    finding
}
