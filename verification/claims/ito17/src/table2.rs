//! Table 2: the methods at (d, k, k') = (10, 2, 4) after 5000 rounds.
//!
//! *Statement.* `R_T/100` on average over five instances: A1 1.53, A2 2.38, A3 3.60, G 33.28, U 25.73, AELR
//! 60.76, FKK 24.05. The table's head says `(d, k_1, k)`; the text, and k' = 4, show that `(d, k, k')` is
//! meant, with `k_1 = k`.
//!
//! *Judged.* `A1 < {A2, A3} < {G, U, FKK, AELR}` by sign tests on the same instances, and bands for the means
//! of A1, G and U. *Reported*: A2 against A3, whose difference is below the noise; and G and U against
//! AELR. AELR's estimate has variance `|w|_1^2 - |w|^2`, about .9 at `w*`, so that in the long run it loses
//! some 44 in units of 100 per 5000 rounds, more than U. But with the step of the theorem it is still on the
//! way at T = 5000, where it passes through a minimum of its loss: there its regret is that of U, and the
//! paper's order of the two cannot be expected. FKK at the rates of its theorem has learned next to nothing
//! by then, and is behind AELR ([`FKK`]).

use crate::setup::contest::{self, Contest, Method, Scales};
use lao_verification_engine::claim::{Claim, Fault, Passable, Standing, Violation, mutants};
use lao_verification_engine::context::Context;

/// The setting, with constants that others take over.
pub(super) const CONTEST: Contest = Contest {
    dim: 10,
    sparsity: 2,
    kept: 2,
    budget: 4,
    energy: 1.0,
    rounds: 5000,
    scales: Scales { online: 16.0, explore: 64.0, exploit: 4.0, penalty: 0.5 },
    fault: contest::Fault::NONE,
    cripple: None,
};

const FAULTS: [Fault<Contest>; 3] = [
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
    Fault::refuted(
        "baselines_see_everything",
        "the greedy and the uniform choice see all attributes",
        Contest { fault: contest::Fault { baselines_see_all: true, ..contest::Fault::NONE }, ..CONTEST },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    use Method::{A1, A2, A3, Aelr, AelrObserved, Fkk, Greedy, Uniform};
    let contest = Contest { cripple: cx.cripple(), ..cx.arm(CONTEST, &FAULTS) };
    let (most, many) = (cx.size("rda_instances")?, cx.size("instances")?);
    let (some, few) = (cx.size("uniform_instances")?, cx.size("slow_instances")?);
    cx.split(13);
    let mut methods =
        vec![(A1, most), (A2, most), (A3, most), (Greedy, many), (Uniform, some), (Aelr, few), (Fkk, few)];
    if cx.honest() {
        methods.push((AelrObserved, few));
    }
    let curves = contest.run(cx, "instances", &methods)?;
    for (better, worse) in [
        (A1, A2),
        (A1, A3),
        (A2, Greedy),
        (A2, Uniform),
        (A3, Greedy),
        (A3, Uniform),
        (A2, Aelr),
        (A3, Aelr),
        (A2, Fkk),
        (A3, Fkk),
    ] {
        curves.ordered(cx, better, worse)?;
    }
    curves.within(cx, A1, 0.7, 3.5)?;
    curves.within(cx, Uniform, 20.0, 40.0)?;
    curves.within(cx, Greedy, 20.0, 50.0)?;
    if cx.honest() {
        for (better, worse) in [(A2, A3), (Greedy, Aelr), (Uniform, Aelr)] {
            curves.compared(cx, better, worse)?;
        }
        let caption = "(d, k, k') = (10, 2, 4): mean regret of the methods, bars of two standard errors.";
        curves.report(cx, caption)?;
    }
    Ok(())
}

const CONTROL: [Fault<Contest>; 1] = [Fault::held(
    "others_predict_nothing",
    "the uniform choice and AELR predict from a ball of a hundredth of the radius",
    Contest { fault: contest::Fault { others: 0.01, ..contest::Fault::NONE }, ..CONTEST },
)];

fn fkk(cx: &mut Context<'_>) -> anyhow::Result<()> {
    use Method::{Aelr, Fkk, Uniform};
    let contest = cx.arm(CONTEST, &CONTROL);
    cx.split(2);
    let few = cx.size("slow_instances")?;
    let curves = contest.run(cx, "instances", &[(Fkk, few), (Uniform, few), (Aelr, few)])?;
    for worse in [Uniform, Aelr] {
        curves.below(cx, Fkk, worse)?;
    }
    Ok(())
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "G: mean of R_T/100",
    why: "the greedy choice is in the table as a method that hardly learns; the cells on A1 and U are for \
          learning",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-table2",
    place: "Section 6, Table 2",
    sentence: "When Algorithm 1 knows k, it has the smallest regret, then Algorithms 2 and 3, then the \
               greedy and the uniform choice, FKK and AELR.",
    formula: r"R_T(A1) < R_T(A2), R_T(A3) < R_T(G), R_T(U), R_T(FKK), R_T(AELR), \qquad (d, k, k') =
               (10, 2, 4),\ T = 5000",
    design: "The generator of contest: normal attributes, noise .1, |w*|^2 = k/2 = 1; all methods on the \
             same instances. Constants were fixed on other seeds: A1, G and U have lambda_t = 16 sqrt t, A2 \
             and A3 explore with 64 sqrt s and predict with 4 sqrt t, rho_0 = 1/2. AELR predicts with the \
             one unbiased estimate that its attributes allow, |w|_1 sign(w_j) x_j; FKK has the rates of its \
             theorem: they and AELR are not tuned, so the comparison with them is not like for like. Sign \
             tests of a regret that is less by a twentieth, and bands for the means of A1, U and G.",
    standing: Standing::sound().with_errata(&[22, 23]).practical().learns().passable(&PASSABLE),
    mutants: &mutants(&FAULTS),
    experiment,
};

/// Where the table has FKK.
pub const FKK: Claim = Claim {
    id: "ito17-table2-fkk",
    sentence: "With the rates of its theorem FKK has less regret than the uniform choice and AELR, as in the \
               table.",
    formula: r"R_T(FKK) < R_T(U), R_T(AELR), \qquad (d, k, k') = (10, 2, 4),\ T = 5000",
    design: "As ito17-table2, whose generator stands for the one of a supplement that is not available, and \
             FKK as reconstructed from descriptions: what is refuted is this reading, not the table. In \
             theory 45 supports with the rates of the theorem hardly differ in weight after 5000 rounds, so \
             that FKK loses more than U, which sees 4 of 10 attributes, in nearly every instance. (The \
             greedy choice depends on the attributes that it begins with, so that no order is expected \
             there.)",
    standing: Standing::reading(&[23, 24]).refuted().practical().violated(&[
        Violation { cell: "FKK before U", at_least: 0.0, at_most: 0.1 },
        Violation { cell: "FKK before AELR", at_least: 0.0, at_most: 0.1 },
    ]),
    mutants: &mutants(&CONTROL),
    experiment: fkk,
    ..CLAIM
};
