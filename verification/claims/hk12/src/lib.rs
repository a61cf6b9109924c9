//! Hazan & Koren 2012.

use lao_verification_engine::claim::Claim;
use lao_verification_engine::paper::Paper;

mod budget;
mod claim42;
mod claim43;
mod convexity_jensen;
mod cor_b3;
mod draws_by_size;
mod factb2;
mod fig1;
mod fig2;
mod lem32_ogd;
mod lem33_second_moment;
mod lem33_unbiased;
mod lem36_clipped_regret;
mod lem37_clip_transfer;
mod lem38_second_moment;
mod lem38_unbiased;
mod lem41_attributes;
mod lem41_second_moment;
mod lem41_unbiased;
mod lem41_unbiased_printed;
mod lema1_mw;
mod lema2_clip_bias;
mod lemb4;
mod lemb5;
mod linear_time;
mod norm_invariants;
mod regularity;
mod setup;
mod svr_gradient;
mod table1_lasso;
mod table1_prev;
mod table1_ridge;
mod thm21_lower;
mod thm22_lower;
mod thm31_risk;
mod thm34_eta;
mod thm34_risk;
mod thm44_attributes;
mod thm44_risk;

/// The paper, for the registry of the suite.
pub const PAPER: Paper = Paper {
    name: "hk12",
    title: "Hazan & Koren 2012",
    notation: "`k` is the number of uniform draws, `m` of examples, `B` the radius, `w̄` the averaged \
               iterate, `g̃` the gradient estimate and `ḡ` its clipped form",
    claims: CLAIMS,
    errata: include_str!("../errata.toml"),
};

/// The claims of the paper, in the paper's order.
const CLAIMS: &[Claim] = &[
    linear_time::CLAIM,
    regularity::CLAIM,
    thm21_lower::CLAIM,
    thm22_lower::CLAIM,
    budget::CLAIM,
    lem32_ogd::CLAIM,
    lem33_unbiased::CLAIM,
    lem33_second_moment::PRINTED,
    lem33_second_moment::PRINTED_RANGE,
    lem33_second_moment::CLAIM,
    thm31_risk::CLAIM,
    norm_invariants::CLAIM,
    convexity_jensen::CLAIM,
    lema1_mw::CLAIM,
    lem36_clipped_regret::CLAIM,
    lema2_clip_bias::CLAIM,
    lem37_clip_transfer::CLAIM,
    lem38_unbiased::CLAIM,
    lem38_second_moment::PRINTED,
    lem38_second_moment::PRINTED_CHAIN,
    lem38_second_moment::CLAIM,
    thm34_risk::CLAIM,
    thm34_eta::CLAIM,
    thm34_eta::PRINTED,
    draws_by_size::CLAIM,
    lem41_unbiased_printed::PRINTED,
    lem41_unbiased::CLAIM,
    lem41_second_moment::PRINTED,
    lem41_second_moment::CLAIM,
    lem41_attributes::CLAIM,
    claim42::CLAIM,
    claim43::CLAIM,
    svr_gradient::CLAIM,
    thm44_attributes::CLAIM,
    thm44_risk::CLAIM,
    table1_ridge::CLAIM,
    table1_ridge::COUNTS,
    table1_lasso::CLAIM,
    table1_prev::CLAIM,
    factb2::CLAIM,
    cor_b3::SIGN,
    cor_b3::CLAIM,
    lemb4::CLAIM,
    lemb5::PRINTED,
    lemb5::CLAIM,
    fig1::CLAIM,
    fig1::MNIST,
    fig2::CLAIM,
    fig2::MNIST,
];
