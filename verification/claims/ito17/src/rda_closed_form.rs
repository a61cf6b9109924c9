//! Equation (5): the minimizer of dual averaging in closed form.
//!
//! *Why.* The objective is strictly convex; w is the minimizer iff `h + (lambda + mu) w = 0` for some
//! `mu >= 0` with `mu = 0` unless `|w| = 1`. Here `lambda + mu = max(lambda, |h|)`.
//!
//! *The sum.* The text calls h "the average of all estimators"; (5) and Lemma 4 need their sum. With the
//! average w stays near 0.

use lao_algorithms::Task;
use lao_algorithms::ito::{Rda1Params, Rda2Params, Rda3Params, Regularization};
use lao_observation::{Rng, Seed};
use lao_verification_engine::claim::{Claim, Mutant, Shown, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, norm2, tally};
use lao_verification_engine::judge::exact_all;
use lao_verification_engine::probe::ManualSession;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

fn normal(rng: &mut Rng, dim: usize, size: f64) -> Vec<f64> {
    (0..dim)
        .map(|_| {
            let z: f64 = StandardNormal.sample(rng);
            size * z
        })
        .collect()
}

const AVERAGES_THE_GRADIENTS: Mutant =
    Mutant::refuted("averages_the_gradients", "takes h for the average, as the text says");
const NOT_PROJECTED: Mutant = Mutant::refuted("not_projected", "leaves the ball when h exceeds lambda");
const NOT_REGULARIZED: Mutant =
    Mutant::refuted("not_regularized", "goes to the boundary of the ball whatever lambda");
const HALF_THE_PENALTY: Mutant = Mutant::refuted("half_the_penalty", "Algorithm 3 with half of its l1 term");
const REGULARIZES_LIKE_T: Mutant =
    Mutant::refuted("regularizes_like_t", "lets the theorems' lambda_t grow like t");

/// What an arm takes for the minimizer, given what production gives.
fn minimizer(cx: &Context<'_>) -> fn(w: Vec<f64>, h: &[f64], lambda: f64) -> Vec<f64> {
    if cx.commits(&NOT_PROJECTED) {
        |_, h, lambda| h.iter().map(|h| -h / lambda).collect()
    } else if cx.commits(&NOT_REGULARIZED) {
        |_, h, _| h.iter().map(|x| -x / norm2(h).sqrt().max(1e-300)).collect()
    } else {
        |w, _, _| w
    }
}

fn learner(dim: usize, lambda: f64) -> Rda1Params {
    let regularization = Regularization { scale: lambda, power: 0.0 };
    Rda1Params { dim, budget: dim, kept: 0, regularization, radius: 1.0 }
}

/// Fifty gradients told one by one: pairs of h and the sum, of w and (5).
fn sums(cx: &Context<'_>, seed: &Seed) -> anyhow::Result<Vec<(f64, f64)>> {
    let (dim, lambda) = (4, 2.0);
    let average = cx.commits(&AVERAGES_THE_GRADIENTS);
    let (mut rng, mut hand) = (seed.child("data").rng(), ManualSession::new(dim, &seed.child("algorithm")));
    let mut params = learner(dim, lambda);
    params.regularization.power = 0.5;
    let (mut learner, mut sum, mut pairs) = (params.build()?, vec![0.0; dim], Vec::new());
    for t in 1..=50 {
        let w = learner.iterate();
        let mut expected = sum.clone();
        if average {
            expected.iter_mut().for_each(|h| *h /= f64::from(t));
        }
        let divisor = (lambda * f64::from(t).sqrt()).max(norm2(&expected).sqrt());
        pairs.extend(w.iter().zip(&expected).map(|(w, h)| (*w, -h / divisor)));
        pairs.extend(learner.gradient_sum().into_iter().zip(sum.iter().copied()));
        let g = normal(&mut rng, dim, 0.7);
        hand.serve_gradient(&mut learner, &w, &g)?;
        sum.iter_mut().zip(&g).for_each(|(h, g)| *h += g);
    }
    Ok(pairs)
}

/// Algorithm 3's exploring weights after some gradients, against the minimizer with the l1 term: pairs of the
/// two.
fn penalized(cx: &Context<'_>, seed: &Seed) -> anyhow::Result<Vec<(f64, f64)>> {
    const DIM: usize = 5;
    let (scale, penalty) = (1.5, 0.4);
    let told = if cx.commits(&HALF_THE_PENALTY) { 0.5 * penalty } else { penalty };
    let mut params = Rda3Params::from_theorem(&Task { dim: DIM, budget: DIM, ..Task::default() }, told);
    params.explore = Regularization::sqrt(scale);
    let (mut rng, mut hand) = (seed.child("data").rng(), ManualSession::new(DIM, &seed.child("algorithm")));
    let (mut learner, mut sum, mut pairs) = (params.build()?, vec![0.0; DIM], Vec::new());
    let (mut level, mut s) = (0.0, 1.0_f64);
    while s <= 20.0 {
        if !learner.explores() {
            hand.serve(&mut learner, &[0.0; DIM], 0.0)?;
            continue;
        }
        let soft: Vec<f64> = sum.iter().map(|h: &f64| h.signum() * (h.abs() - level).max(0.0)).collect();
        let divisor = (scale * s.sqrt()).max(norm2(&soft).sqrt());
        let w = learner.explorer();
        pairs.extend(w.iter().zip(&soft).map(|(w, u)| (*w, -u / divisor)));
        let g = normal(&mut rng, DIM, 1.0);
        hand.serve_gradient(&mut learner, &w, &g)?;
        sum.iter_mut().zip(&g).for_each(|(h, g)| *h += g);
        (level, s) = (level + penalty * s.powf(-0.25), s + 1.0);
    }
    Ok(pairs)
}

/// Weights with the theorems' constants over thirty rounds, and (5).
fn theorems(cx: &Context<'_>, seed: &Seed) -> anyhow::Result<Vec<(f64, f64)>> {
    const DIM: usize = 6;
    let power = if cx.commits(&REGULARIZES_LIKE_T) { 1.0 } else { 0.5 };
    let (mut rng, mut hand, mut pairs) =
        (seed.child("data").rng(), ManualSession::new(DIM, &seed.child("algorithm")), Vec::new());
    let mut check = |w: Vec<f64>, h: Vec<f64>, lambda: f64| {
        let divisor = lambda.max(norm2(&h).sqrt());
        pairs.extend(w.iter().zip(&h).map(|(w, h)| (*w, -h / divisor)));
    };
    for (budget, kept) in [(2, 0), (4, 1), (5, 3)] {
        let (q, d) = ((budget - kept) as f64, DIM as f64);
        let scale = 8.0 / (q * (q - 1.0) / (d * (d - 1.0))).sqrt();
        // From inside the ball and, until lambda_t has grown, from its boundary.
        for size in [0.1, 2.0] {
            let h = normal(&mut rng, DIM, size * scale);
            let mut learner =
                Rda1Params::from_theorem(&Task { dim: DIM, sparsity: kept, budget, ..Task::default() })
                    .build()?
                    .with_gradient_sum(&h)?;
            for t in 1..=30 {
                check(learner.iterate(), h.clone(), scale * f64::from(t).powf(power));
                hand.serve(&mut learner, &[0.0; DIM], 0.0)?;
            }
        }
        let mut learner = Rda2Params::from_theorem(&Task { dim: DIM, budget, ..Task::default() }).build()?;
        let (k, mut s) = (budget as f64, 0.0_f64);
        for t in 1..=30 {
            check(learner.iterate(), learner.exploit_sum(), 8.0 * f64::from(t).powf(power));
            if learner.explores() {
                s += 1.0;
                let c = k * (k - 1.0) / (d * (d - 1.0));
                check(learner.explorer(), learner.gradient_sum(), 8.0 * s.powf(power) / c);
            }
            hand.serve(&mut learner, &normal(&mut rng, DIM, 0.4), 1.0)?;
        }
    }
    Ok(pairs)
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let minimizer = minimizer(cx);
    let (mut conditions, n) = (Vec::new(), cx.size("instances")?);
    let found = cx.all_trials("minimiser", n, |trial| {
        let mut rng = trial.seed.child("data").rng();
        let dim = rng.random_range(1..=6);
        let lambda = 10f64.powf(rng.random_range(-2.0..2.0));
        let size = lambda * 10f64.powf(rng.random_range(-1.0..1.0));
        let h = normal(&mut rng, dim, size);
        let w = learner(dim, lambda).build()?.with_gradient_sum(&h)?.iterate();
        Ok((minimizer(w, &h, lambda), h, lambda))
    })?;
    for (w, h, lambda) in &found {
        // The multiplier that the first condition needs, and the three conditions.
        let pull = (norm2(h) / norm2(w)).sqrt();
        conditions.extend(h.iter().zip(w).map(|(h, w)| (h + pull * w, 0.0)));
        conditions.push(((lambda - pull).max(0.0) / pull, 0.0));
        conditions.push(((norm2(w) - 1.0).max(0.0), 0.0));
        conditions.push(((pull / lambda - 1.0).max(0.0) * (1.0 - norm2(w)), 0.0));
    }
    cx.judge("conditions of optimality", exact_all(conditions, 1e-9));
    let [objective] = tally(cx, "competitors", n, |trial, [objective]| {
        let mut rng = trial.seed.child("data").rng();
        let (w, h, lambda) = &found[trial.number as usize];
        let value = |w: &[f64]| dot(h, w) + 0.5 * lambda * norm2(w);
        for _ in 0..10 {
            let mut other = normal(&mut rng, w.len(), 1.0);
            let length: f64 = rng.random_range(0.0..1.0) / norm2(&other).sqrt();
            other.iter_mut().for_each(|x| *x *= length);
            let scale = lambda + norm2(h).sqrt();
            objective.check(value(w) / scale, value(&other) / scale);
        }
        Ok(())
    })?;
    cx.judge("no point of the ball is better", objective.finish());
    let seed = cx.seed("sums");
    cx.judge("h is the sum of the gradients", exact_all(sums(cx, &seed)?, 1e-9));
    cx.judge("with the l1 term of Algorithm 3", exact_all(penalized(cx, &cx.seed("l1"))?, 1e-9));
    cx.judge("with the theorems' lambda_t", exact_all(theorems(cx, &cx.seed("theorems"))?, 1e-9));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-rda-closed-form",
    place: "Equation (5)",
    sentence: "The weights of dual averaging are the negative sum of the gradients over the larger of its \
               norm and lambda, and they minimize h'w + (lambda/2)|w|^2 over the unit ball.",
    formula: r"w_t = \operatorname{argmin}_{\|w\| \le 1} \left\{ \hat{h}_{t-1}^\top w +
               \frac{\lambda_t}{2} \|w\|^2 \right\} = -\frac{\hat{h}_{t-1}}{\max\{\lambda_t,
               \|\hat{h}_{t-1}\|\}}, \quad \hat{h}_{t-1} = \sum_{j<t} \hat{g}_j",
    design: "The production learner, set to random h from far inside to far outside the ball: optimality \
             conditions, and no random point of the ball with a smaller objective. Then fifty gradients told \
             to it one by one: h is their sum, and w follows (5). The l1 term of Algorithm 3 (reconstructed) \
             is checked alike: u = soft(h, Lambda) in place of h. And the weights of Algorithms 1 and 2 with \
             the theorems' constants, round by round, against lambda_t = 8 sqrt(t/C), and 8 sqrt(s)/C and 8 \
             sqrt t.",
    standing: Standing::corrected(&[11])
        .showing(&[Shown { erratum: 11, cell: "h is the sum of the gradients" }]),
    mutants: &[AVERAGES_THE_GRADIENTS, NOT_PROJECTED, NOT_REGULARIZED, HALF_THE_PENALTY, REGULARIZES_LIKE_T],
    experiment,
};
