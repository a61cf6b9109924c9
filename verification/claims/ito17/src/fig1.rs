//! Figure 1: regret curves at (d, k, k') = (20, 5, 7).

use super::table2;
use crate::setup::contest::{self, Contest, Method};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;

/// The setting, with the constants of Table 2.
pub(super) const CONTEST: Contest = Contest { dim: 20, sparsity: 5, kept: 5, budget: 7, ..table2::CONTEST };

const FAULTS: [Fault<Contest>; 2] = [
    Fault::refuted(
        "a1_keeps_nothing",
        "Algorithm 1 with k_1 = 0: its attributes are random",
        Contest { kept: 0, ..CONTEST },
    ),
    Fault::refuted(
        "ball_too_small",
        "Algorithms 1, 2 and 3 predict from a ball of a hundredth of the radius",
        Contest { fault: contest::Fault { ball: 0.01, ..contest::Fault::NONE }, ..CONTEST },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    use Method::{A1, A2, A3, Aelr, Fkk, Greedy, Uniform};
    let contest = Contest { cripple: cx.cripple(), ..cx.arm(CONTEST, &FAULTS) };
    let (many, few, slow) = (cx.size("instances")?, cx.size("uniform_instances")?, cx.size("fkk_instances")?);
    cx.split(6);
    let mut methods = vec![(A1, many), (A2, many), (A3, many), (Greedy, many), (Uniform, few)];
    if cx.honest() {
        // Reported only.
        methods.push((Aelr, few));
        methods.extend((slow > 0).then_some((Fkk, slow)));
    }
    let curves = contest.run(cx, "instances", &methods)?;
    for (better, worse) in [(A1, A2), (A1, A3), (A2, Greedy), (A2, Uniform), (A3, Greedy), (A3, Uniform)] {
        curves.ordered(cx, better, worse)?;
    }
    if cx.honest() {
        curves.compared(cx, A2, A3)?;
        let caption = "(d, k, k') = (20, 5, 7): mean regret of the methods, bars of two standard errors.";
        curves.report(cx, caption)?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-fig1",
    place: "Section 6, Figure 1",
    sentence: "At (d, k, k') = (20, 5, 7) Algorithm 1 has the smallest regret, then Algorithms 2 and 3, then \
               the greedy and the uniform choice.",
    formula: r"R_T(A1) < R_T(A2), R_T(A3) < R_T(G), R_T(U), \qquad (d, k, k') = (20, 5, 7),\ T = 5000",
    design: "Normal attributes and noise .1 as in ito17-table2, with k_1 = k = 5, |w*| = 1 and the constants \
             of that table, which were not tuned anew. All methods see the same examples. Judged: A1 < {A2, \
             A3} < {G, U} after 5000 rounds, by sign tests. Reported: A2 against A3 and, in the full tier, \
             FKK with its theoretical rates on its 15,504 supports.",
    standing: Standing::sound().with_errata(&[23]).practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
