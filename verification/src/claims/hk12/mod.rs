//! Hazan & Koren 2012.

use crate::claim::Claim;

mod claim42;
mod claim43;
mod lem32_ogd;
mod lem41_second_moment;
mod lem_a1_mw;
mod lem_a2_clip_bias;
mod steps;
mod svr_gradient;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[
    lem32_ogd::CLAIM,
    lem_a1_mw::CLAIM,
    lem_a2_clip_bias::CLAIM,
    lem41_second_moment::PRINTED,
    lem41_second_moment::CLAIM,
    claim42::CLAIM,
    claim43::CLAIM,
    svr_gradient::CLAIM,
];
