//! Lemma 3.3, first part: AERR's gradient estimate is unbiased.
//!
//! *Why.* Every `i_r` is uniform, so `E d x[i_r] e_{i_r} = x`. `j` has probability `w_j^2/|w|^2` and weight
//! `|w|^2/w_j`, so `E phi = sum_j w_j x_j - y`; a `j` with `w_j = 0` is never drawn and contributes nothing
//! to `w.x`. The two are independent, so the mean of the product is the product of the means. At `w = 0`,
//! where the law of `j` is undefined, `phi = -y`.
//!
//! *One mutant.* Reuse of `i_1` as `j`, with the weight that goes with it, leaves both factors unbiased and
//! only their product wrong.

use crate::setup::estimates::{
    Arm, REPEATS_A_DRAW, REUSES_A_UNIFORM_DRAW, aerr_at, judge_sampler, judge_unbiased, predictor,
};
use crate::setup::faults;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::mutants::TwoSampleEstimates;

const FAULTS: [Fault<Arm>; 6] = [
    Fault::refuted(
        "forgets_the_factor_d",
        "takes the mean of the drawn attributes for x~",
        Arm { fault: Some(faults::no_factor_d), ..Arm::SOUND },
    ),
    Fault::refuted(
        "sums_over_draws",
        "adds up the k draws in place of their mean",
        Arm { fault: Some(sum_over_draws), ..Arm::SOUND },
    ),
    Fault::refuted(
        "forgets_the_weight",
        "estimates w.x by w_j x_j, without |w|^2/w_j^2",
        Arm { fault: Some(faults::no_weight), ..Arm::SOUND },
    ),
    Fault::refuted(
        "draws_by_absolute_value",
        "draws j by |w_j|, and keeps the weight |w|^2/w_j",
        Arm { weight: Some(f64::abs), ..Arm::SOUND },
    ),
    REUSES_A_UNIFORM_DRAW,
    REPEATS_A_DRAW,
];

/// `x~` is the sum over the draws, and not their mean.
fn sum_over_draws(estimates: &mut TwoSampleEstimates<'_>) {
    let k = estimates.draws as f64;
    estimates.direction.iter_mut().for_each(|(_, x)| *x *= k);
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(8);
    let arm = cx.arm(Arm::SOUND, &FAULTS);
    judge_unbiased(cx, &arm, |rng, kind, draws, (x, _)| aerr_at(&predictor(rng, x.len(), kind), draws))?;
    cx.settled()?;
    judge_sampler(cx, &arm, aerr_at(&[0.7, -0.5, 0.3, 0.0, -0.35, 0.4], 3)?)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lem33-unbiased",
    place: "Lemma 3.3, first part, Supplement A.1",
    sentence: "AERR's estimates of the example, of the residual and of the gradient are unbiased, for every \
               predictor and example.",
    formula: r"\mathbb{E}_t[\tilde{x}_t] = x_t, \quad \mathbb{E}_t[\tilde\varphi_t] = w_t \cdot x_t -
               y_t, \quad \mathbb{E}_t[\tilde{g}_t] = (w_t \cdot x_t - y_t) x_t",
    design: "All draws of two to four attributes, one to three uniform ones, for random w, x, y of no \
             particular size: w without zeros, with one, with a millionth, and w = 0. The production learner \
             is asked with these draws, told the example, and its step is read off. Differences are relative \
             to the mean absolute value. That the learner draws as it should is a matter of chance: six \
             attributes, three uniform draws, tests of the law of j, of pairs of draws, and of the mean of \
             the estimates.",
    standing: Standing::sound().with_errata(&[8]).literal(),
    mutants: &mutants(&FAULTS),
    experiment,
};
