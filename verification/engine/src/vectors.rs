//! Arithmetic of dense vectors, as formulas write it.

/// Returns `a' b`.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns `|v|^2`.
pub fn norm2(v: &[f64]) -> f64 {
    dot(v, v)
}

/// Returns `a - b`.
pub fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Returns `max_j |v_j|`.
pub fn sup_norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// Returns the support of `v`, which has at most 128 coordinates, as bits.
pub fn support_of(v: &[f64]) -> u128 {
    v.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, _)| 1 << j).sum()
}

/// Returns both sides of an inequality in units of `scale`, which is the sum of the magnitudes of their
/// terms. A side below 1e-12 of `scale` is what rounding leaves after cancellation, and becomes zero.
pub fn in_units(scale: f64, lhs: f64, rhs: f64) -> (f64, f64) {
    let unit = |side: f64| {
        let share = if scale > 0.0 { side / scale } else { side };
        if share.abs() < 1e-12 { 0.0 } else { share }
    };
    (unit(lhs), unit(rhs))
}
