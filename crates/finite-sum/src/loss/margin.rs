//! Losses of a linear predictor as functions of its margin `m = z' x`, and their slopes. The gradient of the
//! loss on an example is the slope times the example.
//!
//! | loss | value | slope | curvature at most |
//! |---|---|---|---|
//! | squares | `(y - m)^2` | `2 (m - y)` | 2 |
//! | logistic, y = -1 or +1 | `log(1 + exp(-y m))` | `-y / (1 + exp(y m))` | 1/4 |
//! | softmax, one margin per class | `log sum exp(m_l - m_y)` | `p_l - 1(l = y)` | 1/2 |
//!
//! All are finite, and exact up to a few roundings, for margins of any size. Exponentials come from `libm`,
//! so that they have the same bits on every machine.

/// Returns `(y - m)^2`.
pub fn square_loss(margin: f64, label: f64) -> f64 {
    (label - margin) * (label - margin)
}

/// Returns `2 (m - y)`.
pub fn square_slope(margin: f64, label: f64) -> f64 {
    2.0 * (margin - label)
}

/// Returns `log(1 + exp(-y m))` for y = -1 or +1.
pub fn logistic_loss(margin: f64, sign: f64) -> f64 {
    softplus(-sign * margin)
}

/// Returns `-y / (1 + exp(y m))` for y = -1 or +1: between -y and 0.
pub fn logistic_slope(margin: f64, sign: f64) -> f64 {
    -sign / (1.0 + libm::exp(sign * margin))
}

/// Returns `log(1 + exp(t))`, without overflow for large t and without loss for very negative t.
pub fn softplus(t: f64) -> f64 {
    t.max(0.0) + libm::log1p(libm::exp(-t.abs()))
}

/// Returns `log sum over l of exp(margins[l] - margins[class])`. The result is not finite if there is no
/// margin with the index `class`.
pub fn softmax_loss(margins: &[f64], class: usize) -> f64 {
    let largest = largest(margins);
    let sum: f64 = margins.iter().map(|margin| libm::exp(margin - largest)).sum();
    // The largest is subtracted first: the difference is exact where it matters, and never overflows.
    let own = margins.get(class).map_or(f64::NAN, |own| largest - own);
    own + libm::log(sum)
}

/// Replaces the margins of all classes by the slopes `p_l - 1(l = class)`, with `p` the probabilities.
pub fn softmax_slopes(margins: &mut [f64], class: usize) {
    let largest = largest(margins);
    let mut sum = 0.0;
    for margin in margins.iter_mut() {
        *margin = libm::exp(*margin - largest);
        sum += *margin;
    }
    // The own class gets minus the sum of the others: 1 - p would cancel where p is almost 1.
    let mut others = 0.0;
    for (l, probability) in margins.iter_mut().enumerate() {
        *probability /= sum;
        others += if l == class { 0.0 } else { *probability };
    }
    if let Some(own) = margins.get_mut(class) {
        *own = -others;
    }
}

fn largest(margins: &[f64]) -> f64 {
    margins.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
    }

    proptest! {
        #[test]
        fn slopes_are_central_differences(m in -20.0..20.0, y in -3.0..3.0, positive in any::<bool>()) {
            let (h, sign) = (1e-5, if positive { 1.0 } else { -1.0 });
            let slope = |loss: &dyn Fn(f64) -> f64| (loss(m + h) - loss(m - h)) / (2.0 * h);
            prop_assert!(close(slope(&|m| square_loss(m, y)), square_slope(m, y), 1e-6));
            prop_assert!(close(slope(&|m| logistic_loss(m, sign)), logistic_slope(m, sign), 1e-6));
        }

        #[test]
        fn softmax_slopes_are_central_differences(
            margins in proptest::collection::vec(-8.0..8.0, 1..6),
            class in 0..6_usize,
        ) {
            let (h, class) = (1e-5, class % margins.len());
            let mut slopes = margins.clone();
            softmax_slopes(&mut slopes, class);
            for l in 0..margins.len() {
                let at = |step: f64| {
                    let mut moved = margins.clone();
                    moved[l] += step;
                    softmax_loss(&moved, class)
                };
                prop_assert!(close((at(h) - at(-h)) / (2.0 * h), slopes[l], 1e-6));
            }
            prop_assert!(slopes.iter().sum::<f64>().abs() <= 1e-15);
        }

        #[test]
        fn two_classes_are_the_logistic_loss_of_the_difference(a in -50.0..50.0, b in -50.0..50.0) {
            prop_assert!(close(softmax_loss(&[a, b], 0), logistic_loss(a - b, 1.0), 1e-14));
            prop_assert!(close(softmax_loss(&[a, b], 1), logistic_loss(a - b, -1.0), 1e-14));
            let mut slopes = [a, b];
            softmax_slopes(&mut slopes, 0);
            prop_assert!(close(slopes[0], logistic_slope(a - b, 1.0), 1e-14));
        }

        #[test]
        fn the_naive_formulas_agree_where_they_are_defined(m in -30.0..30.0) {
            prop_assert!(close(logistic_loss(m, 1.0), (1.0 + (-m).exp()).ln(), 1e-13));
            prop_assert!(close(softplus(m), (1.0 + m.exp()).ln(), 1e-13));
        }
    }

    #[test]
    fn margins_of_any_size_are_finite() {
        assert_eq!((logistic_loss(1e4, -1.0), logistic_loss(1e4, 1.0)), (1e4, 0.0));
        assert_eq!((logistic_slope(1e4, -1.0), logistic_slope(1e4, 1.0)), (1.0, 0.0));
        assert_eq!((logistic_slope(-1e4, -1.0).abs(), logistic_slope(-1e4, 1.0)), (0.0, -1.0));
        // Tails keep their relative accuracy.
        assert!((logistic_loss(700.0, 1.0) / (-700_f64).exp() - 1.0).abs() < 1e-12);
        assert_eq!(softmax_loss(&[1e4, -1e4, 0.0], 0), 0.0);
        assert_eq!(softmax_loss(&[1e4, -1e4, 0.0], 1), 2e4);
        let mut slopes = [1e4, -1e4, 0.0];
        softmax_slopes(&mut slopes, 1);
        assert_eq!(slopes, [1.0, -1.0, 0.0]);
    }

    #[test]
    fn a_well_predicted_example_pulls_in_the_right_direction() {
        assert!(logistic_slope(0.0, 1.0) < 0.0, "raising the margin of a positive example lowers its loss");
        assert!(logistic_loss(3.0, 1.0) < logistic_loss(-3.0, 1.0));
    }
}
