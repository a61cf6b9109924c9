//! The gamma function, the incomplete gamma function and the chi-square distribution.

use super::{LN_SQRT_2PI, LnTails, deviance, solve_increasing, stirling_error};

/// Returns `ln Gamma(z)` for `z > 0`.
pub fn ln_gamma(z: f64) -> f64 {
    libm::lgamma(z)
}

/// Returns `ln[ x^a e^-x / Gamma(a) ]`.
fn ln_kernel(a: f64, x: f64) -> f64 {
    0.5 * a.ln() - LN_SQRT_2PI - deviance(a, x) - stirling_error(a)
}

/// Returns both tails of the gamma distribution with shape `a > 0` and unit scale at `x`.
pub fn gamma_tails(a: f64, x: f64) -> LnTails {
    if !(a > 0.0 && a.is_finite()) || x.is_nan() {
        return LnTails::NAN;
    }
    if x <= 0.0 {
        return LnTails::ALL_ABOVE;
    }
    if x == f64::INFINITY {
        return LnTails::ALL_BELOW;
    }
    if x < a + 1.0 {
        LnTails::from_lower(ln_kernel(a, x) - a.ln() + series(a, x).ln())
    } else {
        LnTails::from_lower(ln_kernel(a, x) + continued_fraction(a, x).ln()).swap()
    }
}

/// Returns `1 + x/(a+1) + x^2/((a+1)(a+2)) + ...`
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for j in 1..1_000_000 {
        term *= x / (a + f64::from(j));
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// Returns `Gamma(a, x) / (x^a e^-x)` by Lentz's method.
fn continued_fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for j in 1..1_000_000 {
        let j = f64::from(j);
        let numerator = -j * (j - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let step = c * d;
        fraction *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Returns both tails of the chi-square distribution with `df` degrees of freedom at `x`.
pub fn chi_square_tails(x: f64, df: f64) -> LnTails {
    gamma_tails(0.5 * df, 0.5 * x)
}

/// Returns the `x` with `P(chi^2_df > x) = q`, for `0 < q < 1`.
pub fn chi_square_upper_quantile(q: f64, df: f64) -> f64 {
    if !(q > 0.0 && q < 1.0 && df > 0.0) {
        return f64::NAN;
    }
    let shape = 0.5 * df;
    // The equation is solved for the smaller tail, as an increasing function of ln x.
    let ln_x = if q <= 0.5 {
        solve_increasing(-q.ln(), shape.ln(), |u| {
            let upper = gamma_tails(shape, u.exp()).upper;
            (-upper, (ln_kernel(shape, u.exp()) - upper).exp())
        })
    } else {
        solve_increasing((-q).ln_1p(), shape.ln(), |u| {
            let lower = gamma_tails(shape, u.exp()).lower;
            (lower, (ln_kernel(shape, u.exp()) - lower).exp())
        })
    };
    2.0 * ln_x.exp()
}
