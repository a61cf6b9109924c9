//! The set on which the residual of Theorem 1 is measured.
//!
//! *Corrected.* With `J = supp(x*)` joined by the 2k largest entries of `grad f(x*)` outside `supp(x*)`:
//! `|pi_I g*| <= |pi_J g*|` for every `I = supp(x*)` joined by 2k more coordinates. If `g*` vanishes on
//! `supp(x*)` the 2k largest of all will do.
//!
//! *As printed* J is `supp(x*)` joined by the support of `H_2k(f(x*))`, and `f(x*)` is a number. With
//! `grad f(x*)` in its place take `d = 3`, `k = 1`, `supp(x*) = {1}`, `g* = (3, 2, 1)`: of the 2k = 2 largest
//! entries one lies in `supp(x*)`, so `J = {1, 2}`, while `I = {1, 2, 3}` has `|pi_I g*|^2 = 14 > 13`.

use lao_kernels::{HardThreshold, SparseVector, Threshold};
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{masks, norm2_on, support_of, tally};
use lao_verification_engine::judge::PropertyTally;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// How the set is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// The largest outside `supp(x*)`.
    Outside,
    /// The largest of all.
    OfAll,
}

/// `supp(x*)` and the `size` largest entries of `g`.
fn residual_set(g: &[f64], star: u128, size: usize, choice: Choice) -> anyhow::Result<u128> {
    let hidden = |j: usize| choice == Choice::Outside && star & (1 << j) != 0;
    let shown: Vec<f64> = g.iter().enumerate().map(|(j, g)| if hidden(j) { 0.0 } else { *g }).collect();
    let mut kept = SparseVector::zeros(g.len());
    HardThreshold::default().keep(&shown, size, &mut kept)?;
    Ok(star | support_of(&kept.view().to_dense()))
}

/// Checks every `I`, the union of `supp(x*)` and `more` other coordinates.
fn check(tally: &mut PropertyTally, g: &[f64], star: u128, more: usize, set: u128) {
    for extra in masks(g.len(), more).filter(|extra| extra & star == 0) {
        tally.check(norm2_on(g, star | extra), norm2_on(g, set));
    }
}

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    choice: Choice,
    fewer: usize,
}

const SOUND: Arm = Arm { choice: Choice::Outside, fewer: 0 };

const FAULTS: [Fault<Arm>; 2] = [
    Fault::refuted(
        "largest_of_all",
        "the 2k largest entries, wherever they are",
        Arm { choice: Choice::OfAll, ..SOUND },
    ),
    Fault::refuted("one_index_too_few", "the 2k - 1 largest entries", Arm { fewer: 1, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let Arm { choice, fewer } = cx.arm(SOUND, &FAULTS);
    let n = cx.size("vectors")?;
    let [any, stationary] = tally(cx, "vectors", n, |trial, [any, stationary]| {
        let rng = &mut trial.seed.child("data").rng();
        let dim = rng.random_range(3..=8);
        let sparsity = rng.random_range(1..=(dim - 1) / 2);
        let star: u128 = rng.random_range(0..1_u128 << dim);
        let outside = dim - star.count_ones() as usize;
        let more = (2 * sparsity).min(outside);
        let mut g: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(rng)).collect();
        check(
            any,
            &g,
            star,
            more,
            residual_set(&g, star, (2 * sparsity).min(outside) - fewer.min(more), choice)?,
        );
        lao_verification_engine::instance::members(star).for_each(|j| g[j] = 0.0);
        check(stationary, &g, star, more, residual_set(&g, star, more - fewer.min(more), Choice::OfAll)?);
        Ok(())
    })?;
    cx.judge("any gradient, largest outside the support", any.finish());
    cx.judge("gradient zero on the support, largest of all", stationary.finish());
    Ok(())
}

/// The claim, corrected.
pub const CLAIM: Claim = Claim {
    id: "scsg20-itilde",
    place: "Theorem 1, definition of the set of the residual",
    sentence: "The support of x* and the 2k largest gradient entries outside it carry at least as much of \
               the gradient as any set of that kind.",
    formula: r"\tilde{I} = \mathrm{supp}(x^*) \cup \mathrm{supp}(H_{2k}(\pi_{\mathrm{supp}(x^*)^c}
               \nabla f(x^*))) \Rightarrow \|\pi_I \nabla f(x^*)\| \le \|\pi_{\tilde{I}} \nabla f(x^*)\|",
    design: "Random g* of up to 8 coordinates, every I; the production threshold.",
    standing: Standing::corrected(&[13]),
    mutants: &mutants(&FAULTS),
    experiment,
};

const CONTROL: [Fault<Choice>; 1] =
    [Fault::held("corrected_form", "the 2k largest entries outside the support", Choice::Outside)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let choice = cx.arm(Choice::OfAll, &CONTROL);
    let mut tally = PropertyTally::new();
    let (g, star) = ([3.0, 2.0, 1.0], 0b001);
    check(&mut tally, &g, star, 2, residual_set(&g, star, 2, choice)?);
    cx.judge("d = 3, k = 1, supp(x*) = {1}, gradient (3, 2, 1)", tally.finish());
    Ok(())
}

/// The claim, as printed but for the gradient in place of the number `f(x*)`.
pub const PRINTED: Claim = Claim {
    id: "scsg20-itilde-printed",
    place: "Theorem 1, definition of the set of the residual",
    sentence: "The support of x* and the 2k largest entries of the gradient carry at least as much of it as \
               any set of that kind.",
    formula: r"\tilde{I} = \mathrm{supp}(x^*) \cup \mathrm{supp}(H_{2k}(\nabla f(x^*))) \Rightarrow
               \|\pi_I \nabla f(x^*)\| \le \|\pi_{\tilde{I}} \nabla f(x^*)\|",
    design: "d = 3, k = 1, supp(x*) = {1}, gradient (3, 2, 1): the two largest entries are 1 and 2, and I = \
             {1, 2, 3} has more. The largest outside the support pass the same judge.",
    standing: Standing::printed(&[13]).violated(&VIOLATIONS).showing(&SHOWN),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
};

/// 14 of 13.
const VIOLATIONS: [Violation; 1] =
    [Violation { cell: "d = 3, k = 1, supp(x*) = {1}, gradient (3, 2, 1)", at_least: 1.076, at_most: 1.078 }];

/// Which erratum each cell shows alone.
const SHOWN: [Shown; 1] = [Shown { erratum: 13, cell: "d = 3, k = 1" }];
