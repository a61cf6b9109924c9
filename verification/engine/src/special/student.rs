//! Student's t distribution and Fisher's F distribution.

use super::{LnTails, beta_tails, ln_beta_kernel, solve_increasing};

/// Returns both tails of Student's t with `df > 0` degrees of freedom (not necessarily whole) at `t`.
pub fn student_tails(t: f64, df: f64) -> LnTails {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return LnTails::NAN;
    }
    let beyond = ln_beyond(t.abs(), df);
    let tails = LnTails::from_lower(beyond);
    if t < 0.0 { tails } else { tails.swap() }
}

/// Returns `ln P(T > t)` for `t >= 0`.
fn ln_beyond(t: f64, df: f64) -> f64 {
    if t == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    let square = t * t;
    beta_tails(0.5 * df, 0.5, df / (df + square), square / (df + square)).lower - std::f64::consts::LN_2
}

/// Returns `P(T > t)`.
pub fn student_sf(t: f64, df: f64) -> f64 {
    student_tails(t, df).upper.exp()
}

/// Returns the `t` with `P(T > t) = q`, for `0 < q < 1`.
pub fn student_upper_quantile(q: f64, df: f64) -> f64 {
    if !(q > 0.0 && q < 1.0 && df > 0.0) {
        return f64::NAN;
    }
    if q == 0.5 {
        return 0.0;
    }
    if q > 0.5 {
        return -student_upper_quantile(1.0 - q, df);
    }
    let ln_t = solve_increasing(-q.ln(), 0.0, |u| {
        let t = u.exp();
        let beyond = ln_beyond(t, df);
        let square = t * t;
        // d P(T > t) / d ln t is minus the kernel of the beta variable df/(df + t^2).
        let density = ln_beta_kernel(0.5 * df, 0.5, df / (df + square), square / (df + square));
        (-beyond, (density - beyond).exp())
    });
    ln_t.exp()
}

/// Returns both tails of the F distribution with `d1` and `d2` degrees of freedom at `f`.
pub fn f_tails(f: f64, d1: f64, d2: f64) -> LnTails {
    if f.is_nan() || f <= 0.0 {
        return if f <= 0.0 { LnTails::ALL_ABOVE } else { LnTails::NAN };
    }
    if f == f64::INFINITY {
        return LnTails::ALL_BELOW;
    }
    let total = d1 * f + d2;
    beta_tails(0.5 * d1, 0.5 * d2, d1 * f / total, d2 / total)
}
