//! Murata & Suzuki 2018.

use lao_verification_engine::claim::Claim;
use lao_verification_engine::paper::Paper;

mod assumption_order;
mod assumption_order_printed;
mod attribute_budget;
mod consistency_remark;
mod cor42_arithmetic;
mod cor42_blocks;
mod cor42_eps;
mod cor42_remark_full;
mod cor42_remark_partial;
mod cor42_s;
mod cor45_advantage;
mod cor45_dimension;
mod cost_memory;
mod descent_eq3;
mod descent_eq6;
mod descent_eq8;
mod fig1;
mod fig1_rivals;
mod fig2;
mod grad_unbiased;
mod had_equality_in_law;
mod inner_product;
mod lemma_a2;
mod lemma_a3;
mod lemma_a4;
mod lemma_a5;
mod naive_nonconvergence;
mod prop_a1_constants;
mod prop_a1_constants_printed;
mod prop_a1_literal;
mod real_blogfeedback;
mod real_diabetes;
mod real_digits;
mod real_mnist35;
mod restricted_constants_remark;
mod setup;
mod supnorm_as_printed;
mod supnorm_corrected;
mod supnorm_restricted_eq9;
mod support;
mod support_size_gap;
mod table1;
mod theta_star_minimiser;
mod thm41_literal;
mod thm41_printed;
mod thm43_general;
mod thm43_general_printed;
mod thm43_special;
mod thm44_literal;
mod thm44_recursion;
mod thm44_support_implication;
mod thresholding_step;

/// The paper, for the registry of the suite.
pub const PAPER: Paper = Paper {
    name: "ms18",
    title: "Murata & Suzuki 2018",
    notation: "`v = θ − θ*`, `gap = L(θ) − L(θ*)`, `α = 1/(32κ)`, `R` bounds the features and `r` is the \
               smallest magnitude in `θ*`",
    claims: CLAIMS,
    errata: include_str!("../errata.toml"),
};

/// The claims of the paper and its supplement, in the paper's order.
const CLAIMS: &[Claim] = &[
    restricted_constants_remark::CLAIM,
    theta_star_minimiser::CLAIM,
    grad_unbiased::CLAIM,
    attribute_budget::CLAIM,
    cost_memory::CLAIM,
    supnorm_as_printed::PRINTED,
    supnorm_corrected::CLAIM,
    lemma_a2::CLAIM,
    lemma_a3::PRINTED,
    lemma_a3::CLAIM,
    lemma_a4::CLAIM,
    thresholding_step::CLAIM,
    descent_eq3::CLAIM,
    inner_product::CLAIM,
    descent_eq6::CLAIM,
    lemma_a5::CLAIM,
    support::CLAIM,
    support_size_gap::CLAIM,
    prop_a1_constants_printed::PRINTED,
    prop_a1_constants::CLAIM,
    had_equality_in_law::CLAIM,
    prop_a1_literal::CLAIM,
    thm41_printed::PRINTED,
    thm41_literal::CLAIM,
    cor42_arithmetic::PRINTED,
    cor42_arithmetic::CLAIM,
    cor42_eps::CLAIM,
    cor42_blocks::CLAIM,
    cor42_s::CLAIM,
    cor42_remark_partial::CLAIM,
    cor42_remark_full::CLAIM,
    consistency_remark::CLAIM,
    naive_nonconvergence::CLAIM,
    descent_eq8::CLAIM,
    supnorm_restricted_eq9::PRINTED,
    supnorm_restricted_eq9::CLAIM,
    thm43_special::CLAIM,
    thm43_general_printed::PRINTED,
    thm43_general::CLAIM,
    thm44_recursion::CLAIM,
    thm44_support_implication::CLAIM,
    thm44_literal::CLAIM,
    cor45_dimension::PRINTED,
    cor45_dimension::CLAIM,
    cor45_advantage::CLAIM,
    table1::CLAIM,
    fig1::CLAIM,
    fig1_rivals::CLAIM,
    fig2::CLAIM,
    real_diabetes::CLAIM,
    real_digits::CLAIM,
    real_blogfeedback::CLAIM,
    real_mnist35::CLAIM,
    assumption_order_printed::PRINTED,
    assumption_order::CLAIM,
];
