//! Section 3: the expected loss of a predictor.
//!
//! *Why.* The cross term is `E eps (w - w*)'x = 0` by independence.
//!
//! *Assumption (1) as printed* bounds `|w|`, which is no name in it; `|w*|` is meant. That `|y| <= 1` is no
//! substitute: with short x it leaves `|w*|` free, and then no weights of the ball reach `sigma^2`, so that
//! the regret against `w*` grows linearly (the fault `target_outside_the_ball`). Nor does it come for free:
//! with eps independent of x it says `|w*'x| + |eps| <= 1` for all values of the two. Labels that are clipped
//! to \[-1, 1\] instead break independence, and the identity.

use crate::setup::enumerated::{largest, outside, play};
use crate::setup::finite_law::FiniteLaw;
use lao_algorithms::ito::{Rda1, Rda1Params, Regularization};
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{members, minus, norm2};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// What an arm assumes wrongly.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    None,
    NoiseMean,
    NoiseFollows,
    Clips,
    Number,
    FarTarget,
}

/// The law of an arm as probabilities, attributes and labels.
fn examples(law: &FiniteLaw, wrong: Wrong) -> Vec<(f64, Vec<f64>, f64)> {
    let mean: f64 = law.features.iter().map(|(p, x)| p * x[0] * x[0]).sum();
    let label = |x: &[f64], y: f64| match wrong {
        Wrong::NoiseMean => y + 0.1,
        // Of mean zero, and a function of x.
        Wrong::NoiseFollows => y + x[0] * x[0] - mean,
        Wrong::Clips => y.clamp(-1.0, 1.0),
        _ => y,
    };
    law.examples().map(|(p, x, y)| (p, x.to_vec(), label(x, y))).collect()
}

/// `E (prediction - y)^2` when the learner draws `drawn`.
fn risk(learner: &Rda1, drawn: u128, examples: &[(f64, Vec<f64>, f64)]) -> anyhow::Result<f64> {
    let mut risk = 0.0;
    for (p, x, y) in examples {
        risk += p * (play(learner, drawn, x, *y)?.prediction - y).powi(2);
    }
    Ok(risk)
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let wrong = cx.arm(Wrong::None, &FAULTS);
    let each = cx.all_trials("laws", cx.size("laws")?, |trial| {
        let mut rng = trial.seed.child("data").rng();
        let dim = rng.random_range(2..=6);
        let mut law = FiniteLaw::random(&mut rng, dim, dim + 2);
        match wrong {
            // sigma^2 and the labels both know of the larger noise; what is wrong is the clipping.
            Wrong::Clips => law.noise.iter_mut().for_each(|(_, eps)| *eps *= 4.0),
            // |w*| = 3 with |x| <= 1/5: |y| <= 1 as before.
            Wrong::FarTarget => {
                law.w_star.iter_mut().for_each(|w| *w *= 5.0);
                law.features.iter_mut().for_each(|(_, x)| x.iter_mut().for_each(|x| *x *= 0.2));
            }
            _ => {}
        }
        let examples = examples(&law, wrong);
        let variance: f64 = match wrong {
            Wrong::NoiseFollows => {
                let error = |(p, x, y): &(f64, Vec<f64>, f64)| {
                    p * (y - lao_verification_engine::instance::dot(&law.w_star, x)).powi(2)
                };
                examples.iter().map(error).sum()
            }
            _ => law.variance(),
        };

        let budget = rng.random_range(2..=dim);
        let kept = rng.random_range(0..=budget - 2);
        let params = Rda1Params { dim, budget, kept, regularization: Regularization::sqrt(1.0), radius: 1.0 };
        let sum: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect();
        let learner = params.build()?.with_gradient_sum(&sum)?;
        let (w, u) = (learner.iterate(), largest(&learner.iterate(), kept));
        let sets: Vec<u128> = outside(dim, u, budget - kept).collect();
        let drawn = sets[rng.random_range(0..sets.len())];
        let mut restricted = vec![0.0; dim];
        members(u | drawn).for_each(|j| restricted[j] = w[j]);
        let excess = if wrong == Wrong::Number {
            let trace: f64 = law.features.iter().map(|(p, x)| p * norm2(x)).sum();
            trace * norm2(&minus(&restricted, &law.w_star))
        } else {
            law.excess(&restricted)
        };
        let identity = (risk(&learner, drawn, &examples)?, excess + variance);

        // Weights of the ball that are closest to the target: w_1 for h = -w*.
        let params = Rda1Params { budget: dim, kept: 0, ..params };
        let sum: Vec<f64> = law.w_star.iter().map(|w| -w).collect();
        let closest = params.build()?.with_gradient_sum(&sum)?;
        Ok((identity, (risk(&closest, (1 << dim) - 1, &examples)?, variance)))
    })?;
    let identity = each.iter().map(|(identity, _)| *identity);
    cx.judge("E loss = (Dw - w*)'V(Dw - w*) + sigma^2", exact_all(identity, 1e-12));
    cx.judge("weights of the ball reach sigma^2", exact_all(each.iter().map(|(_, least)| *least), 1e-12));
    Ok(())
}

const FAULTS: [Fault<Wrong>; 5] = [
    Fault::refuted("noise_with_a_mean", "adds 0.1 to every label", Wrong::NoiseMean),
    Fault::refuted(
        "noise_follows_features",
        "has noise of mean zero that is a function of x",
        Wrong::NoiseFollows,
    ),
    Fault::refuted("clips_labels", "clips labels with large noise to [-1, 1]", Wrong::Clips),
    Fault::refuted("number_for_the_matrix", "takes E x'x, a number, for V", Wrong::Number),
    Fault::refuted("target_outside_the_ball", "takes a w* of length 3 with short x", Wrong::FarTarget),
];

/// With `|w*| <= 1` and labels that follow the model.
pub const CLAIM: Claim = Claim {
    id: "ito17-expected-loss",
    place: "Section 2, Assumption (1), and Section 3, the expected loss",
    sentence: "If |w*| is at most 1 and the noise is independent of x with mean zero, the expected loss of D \
               w is its distance to w* in V plus sigma^2, and some weights of the unit ball reach sigma^2.",
    formula: r"\|w^*\| \le 1, \; V = E[x x^\top] \;\Rightarrow\; E[\ell_t(D w)] = (D w - w^*)^\top V (D
               w - w^*) + \sigma^2, \quad \min_{\|w\| \le 1} E[\ell_t(w)] = \sigma^2",
    design: "Random laws with finitely many values of x and eps in up to six dimensions; what production \
             Algorithm 1 predicts, for random weights, from a random set that it can look at, and from the \
             weights that are closest to w*.",
    standing: Standing::corrected(&[7, 10])
        .showing(&[Shown { erratum: 10, cell: "weights of the ball reach sigma^2" }]),
    mutants: &mutants(&FAULTS),
    experiment,
};
