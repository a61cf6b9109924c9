//! Liang, Tong, Zhu & Bi 2020.

use crate::claim::Claim;

mod contest;
mod cor11;
mod cor12;
mod cor13;
mod def1_geometric;
mod enumerated;
mod figures;
mod ineq4_crossterm;
mod ineq5;
mod ineq6;
mod intermediate_state;
mod itilde;
mod lemma2_bias;
mod lemma3_ht;
mod lemma4;
mod linear_rate;
mod literal_gradient_zero;
mod losses;
mod n_independence;
mod option_variance;
mod remark1;
mod residual_eta;
mod runs;
mod second_moment;
mod step_i;
mod step_ii;
mod table1_counts;
mod theta_algebra;
mod thm1_corrected;
mod thm1_printed;
mod thm1_small_eta;
mod toy;
mod toy_exact;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[
    literal_gradient_zero::CLAIM,
    def1_geometric::CLAIM,
    lemma4::CLAIM,
    lemma2_bias::CLAIM,
    lemma3_ht::CLAIM,
    intermediate_state::CLAIM,
    itilde::PRINTED,
    itilde::CLAIM,
    ineq4_crossterm::PRINTED,
    ineq4_crossterm::CLAIM,
    ineq5::CLAIM,
    second_moment::PRINTED,
    second_moment::CLAIM,
    ineq6::CLAIM,
    step_i::PRINTED,
    step_i::CLAIM,
    step_ii::CLAIM,
    theta_algebra::CLAIM,
    toy_exact::CLAIM,
    thm1_printed::CLAIM,
    thm1_printed::PRINTED,
    thm1_small_eta::PRINTED,
    thm1_small_eta::CLAIM,
    thm1_corrected::CLAIM,
    remark1::PRINTED,
    remark1::CLAIM,
    cor11::PRINTED,
    cor11::CLAIM,
    cor12::PRINTED,
    cor12::CLAIM,
    cor13::PRINTED,
    cor13::CLAIM,
    losses::PRINTED,
    losses::CLAIM,
    n_independence::CLAIM,
    residual_eta::PRINTED,
    residual_eta::CLAIM,
    table1_counts::CLAIM,
    option_variance::CLAIM,
    linear_rate::CLAIM,
    figures::MODERATE,
    figures::HIGHEST,
    figures::EARLY,
    figures::VARIANCE,
    figures::STALLS,
];
