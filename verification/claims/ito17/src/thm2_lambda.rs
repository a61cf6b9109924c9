//! Theorem 2, equation (7): the bound with its step size, in runs.
//!
//! *Statement.* `E R_T <= 24/sigma_d^2 sqrt(d(d-1)/(q(q-1))) sqrt(T+1)` with `q = k' - k_1`. The statement
//! takes `lambda_t = 8 sqrt(t)/C`, the proof `8 sqrt(C t)`; its derivation needs `8 sqrt(t/C)`
//! ([`thm2_lambda_algebra`](super::thm2_lambda_algebra)).
//!
//! *What can be seen.* The two misprints leave a derivation without its conclusion, but no run that refutes
//! it: the bound is so far above the regret of all three that (7) is true of each, here, and of the predictor
//! zero. So the three are judged by the smaller of (7) and half of the regret of that predictor.
//!
//! *Tightness.* Without the noise, about .003, .02 and .001 for `8 sqrt(t/C)`, `8 sqrt(t)/C` and
//! `8 sqrt(C t)`.

use crate::setup::regret::{Trials, VIEWS, view};
use crate::setup::theorem2::{Ascends, Shape};
use lao_algorithms::Task;
use lao_algorithms::ito::{Rda1Params, Regularization};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;

const SHAPES: [Shape; 2] = [Shape { dim: 3, kept: 1, budget: 3 }, Shape { dim: 4, kept: 1, budget: 3 }];

const FAULTS: [Fault<bool>; 1] =
    [Fault::refuted("ascends_the_gradient", "turns every gradient estimate around", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (runs, ascends, shown) = (cx.size("runs")?, cx.arm(false, &FAULTS), view(cx.cripple()));
    let played = Trials::of(cx, "losses")?;
    let of = [(SHAPES[0], cx.size("rounds")?), (SHAPES[1], cx.size("rounds_of_four")?)];
    let judged = of.iter().filter(|(_, rounds)| *rounds > 0).count();
    cx.split(3 * judged);
    for (shape, rounds) in of.into_iter().filter(|(_, rounds)| *rounds > 0) {
        let Shape { dim, kept, budget } = shape;
        let c = shape.floor();
        let seven = 24.0 * dim as f64 * ((rounds as f64 + 1.0) / c).sqrt();
        let bound = seven.min(shape.half_of_zero(rounds)) + Shape::noise(rounds);
        let production =
            Rda1Params::from_theorem(&Task { dim, sparsity: kept, budget, ..Task::default() }).regularization;
        let steps = [
            ("8 sqrt(t/C), production's", production),
            ("8 sqrt(t)/C, the statement's", Regularization::sqrt(8.0 / c)),
            ("8 sqrt(C t), the proof's", Regularization::sqrt(8.0 * c.sqrt())),
        ];
        for (name, regularization) in steps {
            let cell = format!("{}, {name}", shape.name());
            cx.mean(&cell, bound, runs, |trial| {
                let learner = shape.algorithm_1(regularization).build()?;
                if ascends {
                    let losses =
                        shape.losses(Ascends(learner), &VIEWS[..1], (budget, rounds), &trial.seed)?;
                    return Ok(losses[0]);
                }
                let play = || shape.losses(learner, &VIEWS, (budget, rounds), &trial.seed);
                Ok(played.get(&cell, trial.number, play)?[shown])
            })?;
            cx.settled()?;
        }
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-thm2-lambda",
    place: "Theorem 2, equation (7)",
    sentence: "The expected regret of Algorithm 1 is at most 24/sigma_d^2 sqrt((T+1)/C), with the step size \
               that the proof needs and with the two that are printed.",
    formula: r"\mathbb{E} R_T \le \frac{24}{\sigma_d^2} \sqrt{\frac{d(d-1)}{(k'-k_1)(k'-k_1-1)}} \sqrt{T+1}",
    design: "Signs over sqrt d, a target of norm .9 and noise .1; production's step size and the two printed \
             ones; mean losses over independent runs. (7) is below the trivial 4 sigma_1^2 T from T = 8750 \
             on at (d, k, k') = (3, 1, 3), the smallest useful shape, and from T = 55,300 on at (4, 1, 3), \
             which is left to the full tier. The predictor zero satisfies it there, so what is judged is the \
             smaller of (7) and half of the regret of that predictor.",
    standing: Standing::corrected(&[2, 3]).literal().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
