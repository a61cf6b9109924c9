//! Section 4: the observed part of the Gram matrix, whose printed form has one number on its diagonal.
//!
//! *Statement.* The paper sets `X~_t = D_t x_t'x_t D_t`. With column vectors `x'x` is the number `|x|^2`, so
//! that would be `|x|^2 D_t`, a diagonal matrix that depends on attributes which were not observed. The next
//! line needs `D_t x_t x_t' D_t`: divided by `p_ij` it is an unbiased estimate of `x x'`, and X w can be
//! formed from what was seen.

use lao_algorithms::ito::gram::Observe;
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, masks, members, norm2};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Judges `E X w = x x'w`, with the observed products or with `|x|^2 D`.
fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let number_on_the_diagonal = cx.arm(false, &FAULTS);
    let each = cx.all_trials("random", cx.size("instances")?, |trial| {
        let mut rng = trial.seed.child("data").rng();
        let dim = rng.random_range(3..=6);
        let budget = rng.random_range(2..=dim);
        let mut normal = || -> Vec<f64> { (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect() };
        let (w, x) = (normal(), normal());
        let law = Observe { dim, budget, kept: 0 };
        let (mut mean, mut out) = (vec![0.0; dim], Vec::new());
        let sets = masks(dim, budget).count() as f64;
        for set in masks(dim, budget) {
            let seen = |v: &[f64]| members(set).map(|i| v[i]).collect::<Vec<f64>>();
            if number_on_the_diagonal {
                out = seen(&w).into_iter().map(|w| norm2(&x) * w / law.joint(1)).collect();
            } else {
                law.estimates().gram_times(&seen(&x), &seen(&w), 0, &mut out);
            }
            members(set).zip(&out).for_each(|(i, value)| mean[i] += value / sets);
        }
        let along = dot(&x, &w);
        Ok(mean.into_iter().zip(x).map(|(mean, x)| (mean, x * along)).collect::<Vec<_>>())
    })?;
    cx.judge("E X w = x x'w", exact_all(each.into_iter().flatten(), 1e-10));
    Ok(())
}

const FAULTS: [Fault<bool>; 1] =
    [Fault::refuted("number_on_the_diagonal", "takes x'x, a number, for x x'", true)];

/// With the products of observed attributes.
pub const CLAIM: Claim = Claim {
    id: "ito17-masked-gram",
    place: "Section 4, computing the gradient estimate",
    sentence: "With X~ = D x x' D, divided entry by entry by the pair probabilities, X is an unbiased \
               estimate of x x'.",
    formula: r"\tilde{X} = D x x^\top D \;\Rightarrow\; E[\tilde{x}_{ij}/p_{ij}] = x_i x_j",
    design: "Random (w, x), all sets of k' of d attributes: the expectation of X w over the sets, through \
             the production estimate, against x (x'w). In the printed form |x|^2 D takes the place of the \
             observed products.",
    standing: Standing::corrected(&[9]).showing(&[Shown { erratum: 9, cell: "E X w = x x'w" }]),
    mutants: &mutants(&FAULTS),
    experiment,
};
