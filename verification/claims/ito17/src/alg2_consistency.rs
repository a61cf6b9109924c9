//! Algorithm 2 finds `w*`, and misses a relevant feature in no more than about `sqrt T` of T rounds.
//!
//! Statement, design and mutants: see [`consistency`].

use crate::setup::consistency::{self, BUDGET, DIM, EXPLOIT, EXPLORE};
use crate::setup::watched;
use lao_algorithms::ito::{Rda2Params, Regularization};
use lao_verification_engine::claim::{Claim, Passable, Standing, mutants};
use lao_verification_engine::context::Context;

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (explore, exploit) = (Regularization::sqrt(EXPLORE), Regularization::sqrt(EXPLOIT));
    let params = Rda2Params { dim: DIM, budget: BUDGET, explore, exploit, radius: 1.0 };
    consistency::experiment(cx, "Algorithm 2", || Ok(params.build()?))
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "exponent of rounds without",
    why: "which features are observed does not show in the weights that a crippled learner tells; the cells \
          on wbar and on the set in the end do",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-alg2-consistency",
    place: "Theorem 6, its proof idea",
    sentence: "The averaged weights of Algorithm 2 converge to w*, and the number of rounds without a \
               relevant feature grows like the square root of the number of rounds.",
    formula: r"\bar{w}_s \to w^*, \qquad \sum_{t=1}^{T} P(i \notin S_t) = O(\sqrt{T}) \text{ for } i \in S^*",
    design: "(d, k, k') = (10, 2, 4), signs over sqrt 10, w* = (.5, -.4), noise .1; exponents of the number \
             of rounds without a relevant feature (at most 1/2, margin .1) and of |wbar - w*|^2 (below \
             -1/10) beyond the burn-in; both features are in the set in the end, \
             with at least an eighth of their weight.",
    standing: Standing::sound().with_errata(&[30]).practical().learns().passable(&PASSABLE),
    mutants: &mutants(&watched::FAULTS),
    experiment,
};
