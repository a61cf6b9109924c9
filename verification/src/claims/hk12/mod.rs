//! Hazan & Koren 2012.

use crate::claim::Claim;

mod claim42;
mod claim43;
mod fact_b2;
mod digits;
mod fig1;
mod fig2;
mod figures;
mod lem32_ogd;
mod lem41_attributes;
mod lem41_second_moment;
mod lem41_unbiased;
mod lem41_unbiased_printed;
mod lema1_mw;
mod lema2_clip_bias;
mod problem;
mod scaling;
mod steps;
mod svr_gradient;
mod table1_lasso;
mod table1_prev;
mod table1_ridge;
mod thm31_risk;
mod thm34_eta;
mod thm34_risk;
mod thm44_attributes;
mod thm44_risk;
mod lem_a1_mw;
mod lem_a2_clip_bias;
mod lem_b4;
mod lem_b5;
mod regularity;
mod steps;
mod svr_gradient;
mod thm21_lower;
mod thm22_lower;
mod thm_b1_chain;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[
    regularity::CLAIM,
    thm21_lower::CLAIM,
    thm22_lower::CLAIM,
    lem32_ogd::CLAIM,
    thm31_risk::CLAIM,
    lema1_mw::CLAIM,
    lema2_clip_bias::CLAIM,
    thm34_risk::CLAIM,
    thm34_eta::CLAIM,
    thm34_eta::PRINTED,
    lem41_unbiased_printed::CLAIM,
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
    table1_lasso::CLAIM,
    table1_prev::CLAIM,
    fact_b2::CLAIM,
    lem_b4::CLAIM,
    lem_b5::PRINTED,
    lem_b5::CLAIM,
    thm_b1_chain::PRINTED,
    thm_b1_chain::CLAIM,
    fig1::CLAIM,
    fig1::MNIST,
    fig2::CLAIM,
    fig2::MNIST,
];
