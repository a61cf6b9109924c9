//! Algorithm 3 finds `w*`, and misses a relevant feature in no more than about `sqrt T` of T rounds.
//!
//! Statement, design and mutants: see [`consistency`].

use super::alg2_consistency;
use crate::setup::consistency::{self, BUDGET, DIM, EXPLOIT, EXPLORE};
use lao_algorithms::ito::{Rda3Params, Regularization};
use lao_verification_engine::claim::Claim;
use lao_verification_engine::context::Context;

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (explore, exploit) = (Regularization::sqrt(EXPLORE), Regularization::sqrt(EXPLOIT));
    let params = Rda3Params { dim: DIM, budget: BUDGET, explore, exploit, radius: 1.0, penalty: 0.02 };
    consistency::experiment(cx, "Algorithm 3", || Ok(params.build()?))
}

/// The claim, which is that of Algorithm 2.
pub const CLAIM: Claim = Claim {
    id: "ito17-alg3-consistency",
    place: "Theorem 7, its proof idea",
    sentence: "The averaged weights of Algorithm 3 converge to w*, and the number of rounds without a \
               relevant feature grows like the square root of the number of rounds.",
    experiment,
    ..alg2_consistency::CLAIM
};
