//! A search for bad instances by coordinate-wise hill climbing.

use lao_observation::Rng;
use rand::RngExt;

/// Returns how close the inequality `lhs <= rhs` is to failing: `(lhs - rhs) / (|lhs| + |rhs|)`, which is
/// scale-free, lies in [-1, 1] and is positive where the inequality fails. Where both sides are positive it
/// increases with `lhs / rhs`.
pub fn strain(lhs: f64, rhs: f64) -> f64 {
    let scale = lhs.abs() + rhs.abs();
    if scale > 0.0 { (lhs - rhs) / scale } else { 0.0 }
}

/// Maximizes `height` by hill climbing from `point`, one coordinate at a time, for `rounds` passes; returns
/// the height reached.
///
/// For each coordinate, the search tries a step up and a step down of a random length (log-uniform over four
/// decades around the point's scale), the coordinate's negative, and zero, and keeps the highest. A candidate
/// with height NaN is never kept.
pub fn climb(point: &mut [f64], rounds: usize, rng: &mut Rng, mut height: impl FnMut(&[f64]) -> f64) -> f64 {
    let mut best = height(point);
    for _ in 0..rounds {
        let square: f64 = point.iter().map(|x| x * x).sum();
        let scale = (square / point.len().max(1) as f64).sqrt().max(1e-9);
        for i in 0..point.len() {
            let decades: f64 = rng.random_range(-3.0..1.0);
            let (old, step) = (point[i], scale * 10f64.powf(decades));
            let mut kept = old;
            for candidate in [old + step, old - step, -old, 0.0] {
                point[i] = candidate;
                let reached = height(point);
                if reached > best || best.is_nan() {
                    (best, kept) = (reached, candidate);
                }
            }
            point[i] = kept;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;

    #[test]
    fn a_concave_height_is_climbed_to_its_top() {
        let top = [3.0, -2.0, 0.5];
        let mut point = vec![1.0; 3];
        let height = |p: &[f64]| -p.iter().zip(top).map(|(p, t)| (p - t) * (p - t)).sum::<f64>();
        let reached = climb(&mut point, 200, &mut Seed::root(1).rng(), height);
        assert!(reached > -1e-3, "{reached} at {point:?}");
    }

    #[test]
    fn strain_is_positive_exactly_where_the_inequality_fails() {
        assert!(strain(2.0, 1.0) > 0.0 && strain(-1.0, 1.0) < 0.0 && strain(-1.0, -2.0) > 0.0);
        assert_eq!(strain(0.0, 0.0), 0.0);
    }
}
