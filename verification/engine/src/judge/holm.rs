//! Holm's step-down procedure.

/// Returns the adjusted p-values of one family, in the order given. Rejecting where `adjusted <= alpha` keeps
/// the family-wise error at `alpha`, whatever the dependence. `family` is the number of hypotheses *planned*;
/// those that did not run count as p = 1, so leaving out hypotheses never makes a rejection easier. NaN stays
/// NaN and counts as 1 for the others.
pub fn adjusted(p_values: &[f64], family: usize) -> Vec<f64> {
    let registered = family.max(p_values.len());
    let rank_key = |i: usize| if p_values[i].is_nan() { f64::INFINITY } else { p_values[i] };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| rank_key(i).total_cmp(&rank_key(j)));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut running = 0.0_f64;
    for (rank, &i) in order.iter().enumerate() {
        if !p_values[i].is_nan() {
            running = running.max(p_values[i] * (registered - rank) as f64).min(1.0);
            adjusted[i] = running;
        }
    }
    adjusted
}

/// Returns which hypotheses of a family are rejected at family-wise level `alpha`.
pub fn step_down(p_values: &[f64], family: usize, alpha: f64) -> Vec<bool> {
    adjusted(p_values, family).into_iter().map(|p| p <= alpha).collect()
}
