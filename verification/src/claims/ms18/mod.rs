//! Murata & Suzuki 2018.

use crate::claim::Claim;

mod grad_unbiased;
mod descent_eq8;
mod supnorm_restricted_eq9_printed;
mod supnorm_restricted_eq9;
mod thm43_special;
mod thm43_general_printed;
mod thm43_general;
mod thm44_recursion;
mod thm44_support_implication;
mod thm44_literal;

/// The claims of the paper and its supplement, in the paper's order.
pub const CLAIMS: &[Claim] = &[
    grad_unbiased::CLAIM,
    descent_eq8::CLAIM,
    supnorm_restricted_eq9_printed::CLAIM,
    supnorm_restricted_eq9::CLAIM,
    thm43_special::CLAIM,
    thm43_general_printed::CLAIM,
    thm43_general::CLAIM,
    thm44_recursion::CLAIM,
    thm44_support_implication::CLAIM,
    thm44_literal::CLAIM,
];
