//! Liang, Tong, Zhu & Bi 2020.

use crate::claim::Claim;

mod cor11;
mod cor12;
mod cor13;
mod def1_geometric;
mod itilde;
mod lemma2_bias;
mod lemma3_ht;
mod lemma4;
mod literal_gradient_zero;
mod remark1;
mod runs;
mod theta_algebra;
mod thm1_corrected;
mod thm1_printed;
mod toy;
mod toy_exact;

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
    toy_exact::CLAIM,
    thm1_printed::CLAIM,
    thm1_printed::PRINTED,
    thm1_corrected::CLAIM,
    remark1::PRINTED,
    remark1::CLAIM,
    cor11::PRINTED,
    cor11::CLAIM,
    cor12::PRINTED,
    cor12::CLAIM,
    cor13::PRINTED,
    cor13::CLAIM,
];
