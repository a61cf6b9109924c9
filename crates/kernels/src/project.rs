//! Euclidean projections onto the l1 and the l2 ball.
//!
//! *Source.* Duchi, Shalev-Shwartz, Singer & Chandra (2008), "Efficient projections onto the l1-ball", in the
//! variant that partitions around a pivot. The pivot is the median, so that the cost is linear in the worst
//! case.

use crate::threshold::{NotFinite, check_finite};

/// A power of two; 2^32 finite numbers that were multiplied by it have a finite sum.
const DOWN: f64 = 1.0 / (1_u64 << 40) as f64;

/// Replaces `x` by the nearest point with l1 norm at most `radius`, up to rounding. A radius that is not
/// positive gives zero.
///
/// `scratch` is working memory: it grows to `x.len()` once.
pub fn project_l1_ball(x: &mut [f64], radius: f64, scratch: &mut Vec<u64>) -> Result<(), NotFinite> {
    check_finite(x)?;
    let norm: f64 = x.iter().map(|value| value.abs()).sum();
    if norm <= radius {
        return Ok(());
    }
    let scale = if norm.is_finite() { 1.0 } else { DOWN };
    let radius = scale * radius.max(0.0);
    if radius == 0.0 {
        x.fill(0.0);
        return Ok(());
    }
    let largest = x.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    scratch.clear();
    scratch.extend(x.iter().map(|value| (scale * (largest - value.abs())).to_bits()));
    let depth = depth(scratch, radius) / scale;
    for value in x {
        *value = (depth - (largest - value.abs())).max(0.0).copysign(*value);
    }
    Ok(())
}

/// Returns the distance from the largest magnitude down to the soft-threshold level at which the l1 norm is
/// `radius`.
///
/// `gaps` holds the bits of the distances of the magnitudes from the largest one. Distances from the largest
/// magnitude keep full precision when the radius is tiny compared with the vector. The radius must be
/// positive, and one gap must be zero.
fn depth(mut gaps: &mut [u64], radius: f64) -> f64 {
    // The entries that are known to stay different from zero: their number, and the sum of their gaps.
    let (mut count, mut sum) = (0.0, 0.0);
    while !gaps.is_empty() {
        let middle = gaps.len() / 2;
        let (_, &mut pivot, _) = gaps.select_nth_unstable(middle);
        let (nearer, farther) = gaps.split_at_mut(middle + 1);
        let more = nearer.len() as f64;
        let more_sum: f64 = nearer.iter().map(|&bits| f64::from_bits(bits)).sum();
        // Would the nearer entries have an l1 norm below the radius, if the level were at the pivot?
        if (count + more) * f64::from_bits(pivot) - (sum + more_sum) < radius {
            count += more;
            sum += more_sum;
            gaps = farther;
        } else {
            gaps = &mut nearer[..middle];
        }
    }
    // The gap of zero passes the test whatever the rounding, so that the count is at least one.
    (radius + sum) / count
}

/// Replaces `x` by the nearest point with Euclidean norm at most `radius`, up to rounding. A radius that is
/// not positive gives zero.
pub fn project_l2_ball(x: &mut [f64], radius: f64) -> Result<(), NotFinite> {
    check_finite(x)?;
    let largest = x.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return Ok(());
    }
    // In units of the largest entry, the squares do not overflow and are not all zero.
    let norm = x.iter().map(|value| (value / largest) * (value / largest)).sum::<f64>().sqrt();
    let radius = radius.max(0.0) / largest;
    if norm > radius {
        let factor = radius / norm;
        x.iter_mut().for_each(|value| *value *= factor);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn norm(x: &[f64]) -> f64 {
        x.iter().map(|value| value.abs()).sum()
    }

    /// Sorts, then takes the longest prefix whose members stay positive.
    fn naive_l1(x: &[f64], radius: f64) -> Vec<f64> {
        if norm(x) <= radius {
            return x.to_vec();
        }
        let mut sorted: Vec<f64> = x.iter().map(|value| value.abs()).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut level) = (0.0, 0.0);
        for (j, value) in sorted.into_iter().enumerate() {
            sum += value;
            let candidate = (sum - radius) / (j + 1) as f64;
            if value > candidate {
                level = candidate;
            }
        }
        x.iter().map(|value| value.signum() * (value.abs() - level).max(0.0)).collect()
    }

    fn vector() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(prop_oneof![Just(0.0), Just(1.0), Just(-1.0), -3.0..3.0], 0..60)
    }

    proptest! {
        #[test]
        fn l1_projection_agrees_with_sorting(x in vector(), radius in prop_oneof![Just(1.0), 0.01..40.0]) {
            let mut projected = x.clone();
            project_l1_ball(&mut projected, radius, &mut Vec::new()).expect("finite");
            for (a, b) in projected.iter().zip(naive_l1(&x, radius)) {
                prop_assert!((a - b).abs() <= 1e-12, "{a} {b}");
            }
            prop_assert!(norm(&projected) <= radius * (1.0 + 1e-12));
        }

        #[test]
        fn no_point_of_the_l1_ball_lies_beyond_the_projection(
            pair in (1..20_usize).prop_flat_map(|n| {
                (proptest::collection::vec(-3.0..3.0, n), proptest::collection::vec(-3.0..3.0, n))
            }),
            radius in 0.1..5.0,
        ) {
            let (x, mut other) = pair;
            let mut projected = x.clone();
            project_l1_ball(&mut projected, radius, &mut Vec::new()).expect("finite");
            let shrink = radius / norm(&other).max(radius);
            other.iter_mut().for_each(|value| *value *= shrink);
            // The variational inequality that characterizes a projection.
            let inner: f64 =
                x.iter().zip(&projected).zip(&other).map(|((x, p), z)| (x - p) * (z - p)).sum();
            prop_assert!(inner <= 1e-10);
        }

        #[test]
        fn l2_projection_scales_onto_the_sphere(x in vector(), radius in 0.01..10.0, power in -900..900_i32) {
            let unit = 2.0_f64.powi(power);
            let norm = x.iter().map(|value| value * value).sum::<f64>().sqrt();
            let mut projected: Vec<f64> = x.iter().map(|value| value * unit).collect();
            project_l2_ball(&mut projected, radius * unit).expect("finite");
            let factor = if norm > radius { radius / norm } else { 1.0 };
            for (a, b) in projected.iter().zip(&x) {
                prop_assert!((a / unit - b * factor).abs() <= 1e-12);
            }
        }
    }

    #[test]
    fn huge_entries_do_not_overflow() {
        let mut x = [f64::MAX, f64::MAX, 1.0];
        project_l1_ball(&mut x, 2.0, &mut Vec::new()).unwrap();
        assert_eq!(x, [1.0, 1.0, 0.0]);
        let mut x = [f64::MAX, -f64::MAX];
        project_l1_ball(&mut x, f64::MAX, &mut Vec::new()).unwrap();
        assert_eq!(x, [f64::MAX / 2.0, -f64::MAX / 2.0]);
    }

    #[test]
    fn a_radius_of_zero_gives_zero_and_nan_is_refused() {
        let mut x = [1.0, -2.0];
        project_l1_ball(&mut x, 0.0, &mut Vec::new()).unwrap();
        assert_eq!(x, [0.0, 0.0]);
        assert!(project_l1_ball(&mut [0.0, f64::NAN], 1.0, &mut Vec::new()).is_err());
        assert!(project_l2_ball(&mut [f64::INFINITY], 1.0).is_err());
    }
}
