//! Ito et al. 2017.

mod alg23_exponent;
mod alg2_consistency;
mod alg3_consistency;
mod consistency;
mod contest;
mod fig1;
mod fig2;
mod regret;
mod table2;
mod table3;
mod thm6_decomposition;
mod watched;

use crate::claim::Claim;

mod lem3_selection;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[
    thm6_decomposition::CLAIM,
    alg2_consistency::CLAIM,
    alg3_consistency::CLAIM,
    alg23_exponent::CLAIM,
    table2::CLAIM,
    table3::CLAIM,
    fig1::CLAIM,
    fig2::CLAIM,
];
pub const CLAIMS: &[Claim] = &[lem3_selection::CLAIM, lem3_selection::PRINTED];
