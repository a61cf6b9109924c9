//! Figure 2: regret curves at (d, k1, k) = (20, 5, 7), k' = k, where Algorithm 1 may not use k.

use super::fig1;
use crate::setup::contest::{Contest, Method, Wrong};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;

const CONTEST: Contest = Contest { sparsity: 7, ..fig1::CONTEST };

const FAULTS: [Fault<Wrong>; 2] = [
    Fault::refuted(
        "ball_too_small",
        "Algorithm 1 predicts from a ball of a tenth of the radius",
        Wrong::SmallBall,
    ),
    Fault::refuted(
        "a1_and_u_exchanged",
        "the names of Algorithm 1 and of the uniform choice exchanged",
        Wrong::Exchanged,
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    use Method::{A1, A2, A3, Aelr, Greedy, Uniform};
    let mut contest = CONTEST;
    let fault = cx.fault(&FAULTS);
    if fault == Some(Wrong::SmallBall) {
        contest.ball = 0.1;
    }
    let (many, few) = (cx.size("instances")?, cx.size("uniform_instances")?);
    cx.split(6);
    if let Some(wrong) = fault {
        // One cell is enough for a mutant.
        return contest.one_order(cx, [A1, Uniform], few, wrong).map(drop);
    }
    let methods = [(A1, many), (A2, many), (A3, many), (Greedy, many), (Uniform, few), (Aelr, few)];
    let curves = contest.run(cx, "instances", &methods)?;
    for better in [A1, A2, A3] {
        curves.ordered(cx, better, Greedy)?;
        curves.ordered(cx, better, Uniform)?;
    }
    for (better, worse) in [(A2, A1), (A3, A1), (A3, A2)] {
        curves.compared(cx, better, worse)?;
    }
    curves.report(
        cx,
        "(d, k1, k) = (20, 5, 7), k' = k: mean regret of the methods, bars of two standard errors.",
    )
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-fig2",
    place: "Section 6, Figure 2",
    sentence: "At (d, k1, k) = (20, 5, 7), k' = k, Algorithms 1, 2 and 3 have less regret than the greedy \
               and the uniform choice.",
    formula: r"R_T(A1), R_T(A2), R_T(A3) < R_T(G), R_T(U), \qquad (d, k_1, k) = (20, 5, 7),\ k' = k,\ T
               = 5000",
    design: "Normal attributes and noise .1 as in ito17-fig1, with seven relevant attributes, |w*| = 1 and \
             k_1 = 5 < k. Judged: {A1, A2, A3} before G and U after 5000 rounds, by sign tests on the same \
             instances. Reported: A2 and A3 against A1. With 20 attributes the exploring rounds see a given \
             pair with probability .11, 70 times in 5000 rounds at most 8 times: A2 and A3 are still looking \
             for the small weights, while A1 has five of the seven. The printed order is that of one \
             instance.",
    standing: Standing::sound().with_errata(&[23, 25]).practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
