//! Liang, Tong, Zhu & Bi 2020.

use crate::claim::Claim;

mod def1_geometric;
mod itilde;
mod lemma2_bias;
mod lemma3_ht;
mod lemma4;
mod literal_gradient_zero;
mod remark1;
mod theta_algebra;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[
    literal_gradient_zero::CLAIM,
    def1_geometric::CLAIM,
    lemma4::CLAIM,
    lemma2_bias::CLAIM,
    lemma3_ht::CLAIM,
    itilde::PRINTED,
    itilde::CLAIM,
    theta_algebra::CLAIM,
    remark1::PRINTED,
    remark1::CLAIM,
];
