//! Table 3: the methods at (d, k1, k) = (10, 2, 4), k' = k, where Algorithm 1 may not use k.
//!
//! *Statement.* `R_T/100` on average over five instances: A1 26.88, A2 20.59, A3 17.19, G 43.03, U 60.02,
//! AELR 64.75, FKK 58.71; "Algorithms 2 and 3 are better than Algorithm 1" when k is not known.
//!
//! *Judged.* {A1, A2, A3} before G and before U, by sign tests on the same instances. A3 against A1 at T =
//! 5000 is [`BELOW_A1`]. *Reported.* A3 < A2 < A1 on single instances, and A2 against A1, whose mean regrets
//! are level: seventeen hundred instances would be needed to exclude the printed .77. And G <
//! U: the greedy choice never leaves the attributes that it begins with, so that the share of `|w*|^2` that
//! it misses is `1 - k'/d` on average, as for U; only its spread over instances is larger; it wins about
//! every other time. What the theory does say is judged where it shows, after 25,000 rounds (50,000 in the
//! full tier): the regret of A1 grows linearly, so A2 and A3 are below it in the end; A3's order is left to
//! the full tier.

use super::table2;
use crate::setup::contest::{self, Contest, Method};
use lao_verification_engine::claim::{Claim, Fault, Standing, Violation, mutants};
use lao_verification_engine::context::Context;

const CONTEST: Contest = Contest { sparsity: 4, energy: 2.0, ..table2::CONTEST };

const FAULTS: [Fault<Contest>; 1] = [Fault::refuted(
    "ball_too_small",
    "Algorithms 1, 2 and 3 predict from a ball of a hundredth of the radius",
    Contest { fault: contest::Fault { ball: 0.01, ..contest::Fault::NONE }, ..CONTEST },
)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    use Method::{A1, A2, A3, Aelr, AelrObserved, Greedy, Uniform};
    let contest = Contest { cripple: cx.cripple(), ..cx.arm(CONTEST, &FAULTS) };
    let (many, some, few) =
        (cx.size("instances")?, cx.size("uniform_instances")?, cx.size("slow_instances")?);
    // A3 wins against A1 less often than A2 does: its order takes the instances of the full tier.
    let late: &[Method] = if cx.size("long_judges_a3")? > 0 { &[A2, A3] } else { &[A2] };
    cx.split(6 + late.len());
    let mut methods = vec![(A1, many), (A2, many), (A3, many), (Greedy, many), (Uniform, some)];
    if cx.honest() {
        // Reported only.
        methods.extend([(Aelr, few), (AelrObserved, few)]);
    }
    let curves = contest.run(cx, "instances", &methods)?;
    for better in [A1, A2, A3] {
        curves.ordered(cx, better, Greedy)?;
        curves.ordered(cx, better, Uniform)?;
    }
    if cx.honest() {
        for (better, worse) in [(A2, A1), (A3, A1), (A3, A2), (Greedy, Uniform), (Uniform, Aelr)] {
            curves.compared(cx, better, worse)?;
        }
        curves.report(
            cx,
            "(d, k1, k) = (10, 2, 4), k' = k: mean regret of the methods, bars of two standard errors.",
        )?;
    }
    let (long, rounds) = (cx.size("long_instances")?, cx.size("long_rounds")?);
    let contest = Contest { rounds, ..contest };
    let methods: Vec<(Method, u64)> = [A1].iter().chain(late).map(|method| (*method, long)).collect();
    let curves = contest.run(cx, "long", &methods)?;
    for better in late {
        curves.ordered(cx, *better, A1)?;
    }
    if cx.honest() {
        curves.exponents(cx, A1, 5000)?;
        curves.exponents(cx, A2, 5000)?;
    }
    Ok(())
}

/// Half way between the printed ratio of the regrets of A3 and A1 and no difference, since the mean of five
/// instances has an error of that order.
const HALF_WAY: f64 = 0.5 * (1.0 + 17.19 / 26.88);

const CONTROL: [Fault<Contest>; 1] = [Fault::held(
    "a1_keeps_nothing",
    "Algorithm 1 with k_1 = 0, which Algorithm 3 is below",
    Contest { kept: 0, ..CONTEST },
)];

fn below_a1(cx: &mut Context<'_>) -> anyhow::Result<()> {
    use Method::{A1, A3};
    let contest = cx.arm(CONTEST, &CONTROL);
    cx.split(1);
    let many = cx.size("instances")?;
    let curves = contest.run(cx, "instances", &[(A1, many), (A3, many)])?;
    curves.share(cx, A3, A1, HALF_WAY)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-table3",
    place: "Section 6, Table 3",
    sentence: "When Algorithm 1 may not know k, it and Algorithms 2 and 3 still have less regret than the \
               greedy and the uniform choice; in the end Algorithm 2, and later Algorithm 3, is below \
               Algorithm 1.",
    formula: r"R_T(A1), R_T(A2), R_T(A3) < R_T(G), R_T(U), \qquad (d, k_1, k) = (10, 2, 4),\ k' = k,\ T
               = 5000",
    design: "As ito17-table2, with four relevant attributes, |w*|^2 = k/2 = 2 and k_1 = 2 < k: Theorem 2 \
             does not apply to A1, which leaves out two relevant attributes at random most of the time. Sign \
             tests on the same instances. After 5000 rounds A2 and A3 win every other instance against A1, \
             which no affordable number of instances could decide; judged is A2 after 25,000 rounds, and \
             both after 50,000 in the full tier.",
    standing: Standing::sound().with_errata(&[22, 23, 25]).practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};

/// What the table shows of Algorithms 3 and 1.
///
/// Theory says nothing about the ratio at T = 5000, so that the size of the violation comes from pilots: 400
/// instances under each of three other seeds gave 1.055 with a standard error of .017. A run of 400 has one
/// of .029, and the interval reaches four standard deviations of the difference, .034, to either side.
pub const BELOW_A1: Claim = Claim {
    id: "ito17-table3-below-a1",
    sentence: "When Algorithm 1 may not know k, Algorithm 3 has less regret than Algorithm 1 after 5000 \
               rounds, by a share of the order of the printed one.",
    formula: r"\frac{E\,R_T(A3)}{E\,R_T(A1)} \le \frac{1}{2} \left( 1 + \frac{17.19}{26.88} \right),
               \qquad (d, k_1, k) = (10, 2, 4),\ k' = k,\ T = 5000",
    design: "The ratio of the mean regrets, by the delta method, against half way between the printed ratio \
             .64 and 1. The generator stands for the one of a supplement that is not available, and the \
             printed ratio is that of five instances: what is refuted is this reading. The scale of the \
             generator is right: A1's mean is 28, and 27 in print. The interval of \
             the violation is that of pilots on other seeds.",
    standing: Standing::reading(&[23, 25]).refuted().practical().violated(&[Violation {
        cell: "mean regret of A3 over that of A1",
        at_least: 0.92,
        at_most: 1.21,
    }]),
    mutants: &mutants(&CONTROL),
    experiment: below_a1,
    ..CLAIM
};
