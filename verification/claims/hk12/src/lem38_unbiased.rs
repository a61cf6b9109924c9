//! Lemma 3.8, first part: AELR's gradient estimate, before it is clipped, is unbiased.
//!
//! *Why.* As for AERR ([`lem33_unbiased`](super::lem33_unbiased)), with another law of `j`: probability
//! `|w_j|/|w|_1`, value `|w|_1 sign(w_j) x_j`, whose mean is `sum_j w_j x_j`. `w_1 = 0` always: there
//! `phi = -y` (erratum 8).

use crate::setup::estimates::{
    Arm, REPEATS_A_DRAW, REUSES_A_UNIFORM_DRAW, aelr_at, judge_sampler, judge_unbiased, predictor,
};
use crate::setup::faults;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::sup_norm;
use rand::RngExt;

const FAULTS: [Fault<Arm>; 6] = [
    Fault::refuted(
        "forgets_the_factor_d",
        "takes the mean of the drawn attributes for x~",
        Arm { fault: Some(faults::no_factor_d), ..Arm::SOUND },
    ),
    Fault::refuted(
        "forgets_the_sign",
        "estimates w.x by |w|_1 x_j, whatever the sign of w_j",
        Arm { fault: Some(faults::no_sign), ..Arm::SOUND },
    ),
    Fault::refuted(
        "forgets_the_norm",
        "estimates w.x by w_j x_j, with j drawn by |w_j|",
        Arm { fault: Some(faults::no_weight), ..Arm::SOUND },
    ),
    Fault::refuted(
        "draws_by_square",
        "draws j by w_j^2, and keeps the weight |w|_1 sign(w_j)",
        Arm { weight: Some(|w| w * w), ..Arm::SOUND },
    ),
    REUSES_A_UNIFORM_DRAW,
    REPEATS_A_DRAW,
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(8);
    let arm = cx.arm(Arm::SOUND, &FAULTS);
    judge_unbiased(cx, &arm, |rng, kind, draws, (x, y)| {
        let (dim, radius) = (x.len(), [0.2, 1.0, 5.0][rng.random_range(0..3)]);
        let u: Vec<f64> = predictor(rng, dim, kind).iter().map(|u| 0.5 * u).collect();
        // |phi| is at most d B |x|_inf + |y| in every arm, and one more where x~ is read off.
        let (d, most) = (dim as f64, sup_norm(x));
        let largest = d * draws as f64 * most * (d * radius * most + y.abs() + 1.0);
        aelr_at(&u, draws, radius, largest)
    })?;
    cx.settled()?;
    judge_sampler(cx, &arm, aelr_at(&[2.0, -1.2, 0.3, 0.0, -0.4, 0.5], 3, 1.5, 100.0)?)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lem38-unbiased",
    place: "Lemma 3.8, first part, Supplement A.5",
    sentence: "AELR's estimates of the example, of the residual and, before clipping, of the gradient are \
               unbiased, for every predictor and example.",
    formula: r"\mathbb{E}_t[\tilde{x}_t] = x_t, \quad \mathbb{E}_t[\tilde\varphi_t] = w_t \cdot x_t -
               y_t, \quad \mathbb{E}_t[\tilde{g}_t] = (w_t \cdot x_t - y_t) x_t",
    design: "All draws of two to four attributes, one to three uniform ones, radius 1/5, 1 and 5. The \
             production learner is brought to w = B sinh(u)/sum cosh(u) by steps of its own, for random u \
             without zeros, with one, with a millionth, and u = 0, then asked and told, with a step size so \
             small that nothing is clipped; the step in u is recovered from w before and after. The law of \
             the draws that it makes by itself, by sampling.",
    standing: Standing::sound().with_errata(&[8]).literal(),
    mutants: &mutants(&FAULTS),
    experiment,
};
