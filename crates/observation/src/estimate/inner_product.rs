//! `w.x` from one attribute of `x`, drawn with a probability that `w` gives it.
//!
//! | law of `j` | estimate | second moment |
//! |---|---|---|
//! | `w_j^2 / \|w\|_2^2` | `\|w\|_2^2 x_j / w_j` | `\|w\|_2^2` times the sum of `x_j^2` over `supp(w)` |
//! | `\|w_j\| / \|w\|_1` | `\|w\|_1 sign(w_j) x_j` | `\|w\|_1` times the sum of `\|w_j\| x_j^2` |
//!
//! Source: Hazan & Koren 2012, Algorithms 1 and 2; the idea is that of Clarkson, Hazan & Woodruff 2010.
//! Neither law is defined at `w = 0`, where `w.x = 0` is known without an observation; an attribute with `w_j
//! = 0` is never drawn.

/// Returns the estimate of `w.x` by the l2 law: `norm_squared` is `|w|_2^2`, `coefficient` is `w_j`, `value`
/// is `x_j`.
pub fn l2_law(norm_squared: f64, coefficient: f64, value: f64) -> f64 {
    norm_squared * (value / coefficient)
}

/// Returns the estimate of `w.x` by the l1 law: `norm` is `|w|_1`, `coefficient` is `w_j`, `value` is `x_j`.
pub fn l1_law(norm: f64, coefficient: f64, value: f64) -> f64 {
    norm * value * coefficient.signum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const W: [f64; 4] = [0.5, -2.0, 0.0, 1e-3];
    const X: [f64; 4] = [3.0, -1.0, 7.0, 0.25];

    fn moments(law: impl Fn(f64) -> f64, estimate: impl Fn(f64, f64) -> f64) -> (f64, f64) {
        let drawn = || W.iter().zip(X).filter(|&(&w, _)| w != 0.0);
        let total: f64 = drawn().map(|(&w, _)| law(w)).sum();
        let moment = |power| drawn().map(|(&w, x)| law(w) / total * estimate(w, x).powi(power)).sum();
        (moment(1), moment(2))
    }

    #[test]
    fn both_laws_give_the_inner_product_on_average_and_the_second_moments_above() {
        let inner: f64 = W.iter().zip(X).map(|(w, x)| w * x).sum();
        let squares: f64 = W.iter().map(|w| w * w).sum();
        let (mean, second) = moments(|w| w * w, |w, x| l2_law(squares, w, x));
        assert!((mean - inner).abs() < 1e-12 && (second - squares * (9.0 + 1.0 + 0.0625)).abs() < 1e-12);

        let sum: f64 = W.iter().map(|w| w.abs()).sum();
        let (mean, second) = moments(f64::abs, |w, x| l1_law(sum, w, x));
        let weighted: f64 = W.iter().zip(X).map(|(w, x)| w.abs() * x * x).sum();
        assert!((mean - inner).abs() < 1e-12 && (second - sum * weighted).abs() < 1e-12);
    }
}
