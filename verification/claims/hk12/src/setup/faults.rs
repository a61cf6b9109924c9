//! What the mutants of several claims do to the estimates of AERR and AELR.

use lao_verification_engine::mutants::TwoSampleEstimates;

/// `x~` is the mean of what was drawn.
pub(crate) fn no_factor_d(estimates: &mut TwoSampleEstimates<'_>) {
    let d = estimates.w.len() as f64;
    estimates.direction.iter_mut().for_each(|(_, x)| *x /= d);
}

/// `phi = w_j x_j - y`.
pub(crate) fn no_weight(estimates: &mut TwoSampleEstimates<'_>) {
    estimates.phi = estimates.w[estimates.drawn] * estimates.value - estimates.label;
}

/// `phi = |w|_1 x_j - y`.
pub(crate) fn no_sign(estimates: &mut TwoSampleEstimates<'_>) {
    let norm: f64 = estimates.w.iter().map(|w| w.abs()).sum();
    estimates.phi = norm * estimates.value - estimates.label;
}

/// `phi = d w_j x_j - y`, which is right for a j drawn uniformly.
pub(crate) fn weight_of_a_uniform_draw(estimates: &mut TwoSampleEstimates<'_>) {
    let d = estimates.w.len() as f64;
    estimates.phi = d * estimates.w[estimates.drawn] * estimates.value - estimates.label;
}
