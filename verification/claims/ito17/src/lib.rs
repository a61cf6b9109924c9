//! Ito et al. 2017.

use lao_verification_engine::claim::Claim;
use lao_verification_engine::paper::Paper;

mod alg1_d_rate;
mod alg1_exponent;
mod alg23_exponent;
mod alg2_consistency;
mod alg3_consistency;
mod dantzig;
mod eq4;
mod expected_loss;
mod fig1;
mod fig2;
mod fig3;
mod fkk;
mod footnote3;
mod greedy_linear;
mod implications;
mod instance_a_not_2;
mod instance_b_not_a;
mod instance_neither;
mod lem3_selection;
mod lem4_rda;
mod lem5_second_moment;
mod masked_gram;
mod observe_probabilities;
mod rate_in_d;
mod rda_closed_form;
mod runtime;
mod setup;
mod table1_cover;
mod table2;
mod table3;
mod thm1_hardness;
mod thm2_first;
mod thm2_lambda;
mod thm2_lambda_algebra;
mod thm6_bound;
mod thm6_decomposition;
mod thm7_bound;
mod trace_of_v;
mod unbiased;

/// The paper, for the registry of the suite.
pub const PAPER: Paper = Paper {
    name: "ito17",
    title: "Ito et al. 2017",
    notation: "`k'` attributes are observed, `k₁` of them chosen by weight, `q = k' − k₁` at random; `C` is \
               the least probability of a pair; `σ_d²` the least eigenvalue of `V`",
    claims: CLAIMS,
    errata: include_str!("../errata.toml"),
};

/// The claims of the paper, in the paper's order.
const CLAIMS: &[Claim] = &[
    dantzig::CLAIM,
    fkk::CLAIM,
    trace_of_v::CLAIM,
    implications::CLAIM,
    implications::PRINTED,
    expected_loss::CLAIM,
    eq4::CLAIM,
    thm1_hardness::CLAIM,
    table1_cover::CLAIM,
    instance_a_not_2::CLAIM,
    rda_closed_form::CLAIM,
    observe_probabilities::CLAIM,
    masked_gram::CLAIM,
    unbiased::CLAIM,
    lem3_selection::CLAIM,
    lem3_selection::PRINTED,
    lem4_rda::CLAIM,
    lem5_second_moment::CLAIM,
    thm2_first::CLAIM,
    thm2_lambda_algebra::CLAIM,
    thm2_lambda_algebra::PRINTED,
    thm2_lambda_algebra::PRINTED_PROOF,
    thm2_lambda::CLAIM,
    greedy_linear::CLAIM,
    alg1_exponent::CLAIM,
    alg1_d_rate::CLAIM,
    rate_in_d::CLAIM,
    rate_in_d::PRINTED,
    thm6_decomposition::CLAIM,
    thm6_bound::CLAIM,
    thm7_bound::CLAIM,
    footnote3::CLAIM,
    alg2_consistency::CLAIM,
    alg3_consistency::CLAIM,
    alg23_exponent::CLAIM,
    instance_b_not_a::CLAIM,
    instance_neither::CLAIM,
    table2::CLAIM,
    table2::FKK,
    table3::CLAIM,
    table3::BELOW_A1,
    fig1::CLAIM,
    fig2::CLAIM,
    fig2::BELOW_A1,
    fig3::CLAIM,
    runtime::CLAIM,
];
