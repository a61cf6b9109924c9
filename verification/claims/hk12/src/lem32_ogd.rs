//! Lemma 3.2: the regret of projected online gradient descent, along any gradients.
//!
//! *Why.* A projection brings no point of the ball farther, so
//! `|w_{t+1} - w*|^2 <= |w_t - w*|^2 - 2 eta g_t.(w_t - w*) + eta^2 |g_t|^2`. Add up;
//! `|w_1 - w*|^2 <= 4 B^2`.

use crate::setup::steps::aerr_along;
use lao_algorithms::hazan_koren::{Aerr, AerrParams, Horizon};
use lao_kernels::SparseVector;
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, norm2, tally};
use lao_verification_engine::judge::{PropertyTally, exact_all};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// What an arm does to the step and to the bound.
#[derive(Clone, Copy)]
struct Arm {
    radius: f64,
    step: f64,
    direction: f64,
    first: f64,
    second: f64,
}

const FAULTS: [Fault<Arm>; 5] = [
    Fault::refuted("first_constant_cut", "1.99 B^2/eta in place of 2 B^2/eta", Arm { first: 1.99, ..SOUND }),
    Fault::refuted("second_constant_cut", "0.49 eta in place of eta/2", Arm { second: 0.49, ..SOUND }),
    Fault::refuted("ascends", "steps along +g", Arm { direction: -1.0, ..SOUND }),
    Fault::refuted("step_twice_as_long", "steps by 2 eta, bound with eta", Arm { step: 2.0, ..SOUND }),
    Fault::refuted("ball_too_large", "projects on the ball of radius 1.5 B", Arm { radius: 1.5, ..SOUND }),
];

const SOUND: Arm = Arm { radius: 1.0, step: 1.0, direction: 1.0, first: 2.0, second: 0.5 };

/// A run: its iterates `w_1 ..`, one more than gradients, and the regret and bound that go with a `w*`.
struct Run {
    radius: f64,
    step_size: f64,
    arm: Arm,
    learner: Aerr,
    /// `sum g_t.w_t`, `sum g_t`, `sum |g_t|^2`, `max |w_t|`.
    along: f64,
    sum: Vec<f64>,
    squares: f64,
    farthest: f64,
}

impl Run {
    fn new(start: &[f64], radius: f64, step_size: f64, arm: Arm) -> anyhow::Result<Run> {
        let dim = start.len();
        let params = AerrParams {
            step_size: arm.step * step_size,
            start: Some(SparseVector::from_dense(start)),
            ..AerrParams::from_theorem(Horizon { dim, draws: dim, radius: arm.radius * radius, examples: 1 })
        };
        let (learner, sum) = (params.build()?, vec![0.0; dim]);
        Ok(Run { radius, step_size, arm, learner, along: 0.0, sum, squares: 0.0, farthest: 0.0 })
    }

    fn step(&mut self, gradient: impl FnOnce(&[f64]) -> Vec<f64>) -> anyhow::Result<()> {
        let w = self.learner.iterate();
        let g = gradient(&w);
        self.along += dot(&g, &w);
        self.sum.iter_mut().zip(&g).for_each(|(sum, g)| *sum += g);
        self.squares += norm2(&g);
        let sent: Vec<f64> = g.iter().map(|g| self.arm.direction * g).collect();
        aerr_along(&mut self.learner, &sent)?;
        self.farthest = self.farthest.max(norm2(&self.learner.iterate()).sqrt());
        Ok(())
    }

    /// Regret and its bound, in units of `B^2/eta`.
    fn sides(&self, star: &[f64]) -> (f64, f64) {
        let unit = self.radius * self.radius / self.step_size;
        let regret = self.along - dot(&self.sum, star);
        (regret / unit, self.arm.first + self.arm.second * self.step_size * self.squares / unit)
    }

    /// The comparator with the largest regret.
    fn worst(&self) -> Vec<f64> {
        let norm = norm2(&self.sum).sqrt();
        let factor = if norm > 0.0 { -self.radius / norm } else { 0.0 };
        self.sum.iter().map(|s| factor * s).collect()
    }
}

fn random_run(arm: Arm, rng: &mut Rng) -> anyhow::Result<Run> {
    let dim = [1, 2, 5, 20][rng.random_range(0..4)];
    let steps = [1, 10, 200][rng.random_range(0..3)];
    let radius = [0.3, 1.0, 7.0][rng.random_range(0..3)];
    let step_size = 10f64.powf(rng.random_range(-3.0..1.0));
    let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
    let mut start: Vec<f64> = (0..dim).map(|_| normal(rng)).collect();
    let shrink = radius * rng.random::<f64>() / norm2(&start).sqrt();
    start.iter_mut().for_each(|w| *w *= shrink);
    let mut run = Run::new(&start, radius, step_size, arm)?;
    for _ in 0..steps {
        let size = (2f64.sqrt() * normal(rng)).exp();
        let g: Vec<f64> = (0..dim).map(|_| size * normal(rng)).collect();
        run.step(|_| g)?;
    }
    Ok(run)
}

/// From `-B u` to `B u` in `steps` equal steps.
fn walk(arm: Arm, steps: u32, radius: f64, step_size: f64) -> anyhow::Result<(f64, f64)> {
    let u = [0.48, -0.6, 0.64];
    let times = |factor: f64| u.map(|u| factor * u).to_vec();
    // A hair inside, so that rounding does not put the start outside the ball.
    let radius_in = radius * (1.0 - 1e-15);
    let mut run = Run::new(&times(-radius_in), radius, step_size, arm)?;
    for _ in 0..steps {
        run.step(|_| times(-2.0 * radius / (f64::from(steps) * step_size)))?;
    }
    Ok(run.sides(&times(radius)))
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let arm = cx.arm(SOUND, &FAULTS);
    let sequences = cx.size("sequences")?;
    let [regret, norm] = tally(cx, "sequences", sequences, |trial, [regret, norm]| {
        let run = random_run(arm, &mut trial.seed.child("data").rng())?;
        let (lhs, rhs) = run.sides(&run.worst());
        regret.check(lhs, rhs);
        norm.check(run.farthest / run.radius, 1.0);
        Ok(())
    })?;
    cx.judge("regret, random gradients", regret.finish());
    cx.judge("iterates in the ball", norm.finish());

    let mut walks = Vec::new();
    for steps in [1, 2, 50] {
        for (radius, step_size) in [(0.3, 0.01), (1.0, 3.0), (7.0, 0.5)] {
            walks.push(walk(arm, steps, radius, step_size)?);
        }
    }
    let mut bounded = PropertyTally::new();
    walks.iter().for_each(|&(lhs, rhs)| _ = bounded.check(lhs, rhs));
    cx.judge("regret, walk across the ball", bounded.finish());
    cx.judge("equality on that walk", exact_all(walks, 1e-9));

    let mut away = PropertyTally::new();
    for (radius, step_size) in [(1.0, 0.1), (7.0, 2.0)] {
        let mut run = Run::new(&[radius], radius, step_size, arm)?;
        for _ in 0..20 {
            run.step(|w| vec![if w[0] < 0.0 { -radius } else { radius } / step_size])?;
        }
        let (lhs, rhs) = run.sides(&[0.0]);
        away.check(lhs, rhs);
    }
    cx.judge("regret, gradients away from zero", away.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lem32-ogd",
    place: "Lemma 3.2, display (4)",
    sentence: "Projected gradient descent with a constant step has regret at most 2B^2/eta plus eta/2 times \
               the sum of squared gradients against any point of the ball, along any gradients, and never \
               leaves the ball.",
    formula: r"\sum_{t=1}^m g_t \cdot (w_t - w^*) \le \frac{2B^2}{\eta} + \frac{\eta}{2} \sum_{t=1}^m
               \|g_t\|_2^2",
    design: "The production AERR steps along sequences of our choice. Heavy-tailed random ones in 1 to 20 \
             dimensions against the worst w* in hindsight, -B s/|s| with s = sum g_t; the instance of \
             equality, w_1 = -B u, w* = B u, g_t = -(2B/(m eta)) u, which walks from one to the other; and \
             gradients that always point away from zero.",
    standing: Standing::sound(),
    mutants: &mutants(&FAULTS),
    experiment,
};
