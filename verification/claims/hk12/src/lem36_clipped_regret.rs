//! Lemma 3.6: the regret of AELR along its clipped gradient estimates.
//!
//! *Statement.* On every run, after every round, for every `|w*|_1 <= B`:
//! `sum g-bar_t.(w_t - w*) <= B (log(2d)/eta + eta sum p_t.(g-bar_t, -g-bar_t)^2)`; and if
//! `|E_t g~_t^2|_inf <= G^2`, then in the mean `E sum g-bar_t.(w_t - w*) <= B (log(2d)/eta + eta G^2 m)`.
//!
//! *Why.* `w_t = B (p+_t - p-_t)`, so this is Lemma A.1 with the 2d costs `(g-bar, -g-bar)`, which clipping
//! keeps above `-1/eta`; the least summed cost is `-|sum g-bar|_inf`, which is `w*.sum g-bar / B` at the best
//! vertex of the ball. Clipping shrinks squares, so the last sum is at most `G^2 m` in the mean.
//!
//! *Mutants.* Without a clip, with `d = 50`, `k = 1`, `eta = 0.136`, the first round alone costs 50, and the
//! bound is 40.7. A small step on one informative attribute uses up 0.9 of the logarithm.

use crate::setup::problem::Problem;
use crate::setup::rounds::Rounds;
use lao_algorithms::hazan_koren::{AelrParams, Horizon};
use lao_observation::{Rng, Seed};
use lao_verification_engine::claim::{Claim, Fault, Passable, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, minus, sup_norm, tally};
use lao_verification_engine::judge::{FindingKind, PropertyTally, slope};
use rand::RngExt;

/// `4 B^2 (d + k - 1)/k`, the largest second moment of a coordinate of `g~`.
pub(super) fn second_moment(problem: &Problem, draws: usize) -> f64 {
    4.0 * problem.radius.powi(2) * (problem.dim + draws - 1) as f64 / draws as f64
}

/// What an arm does to the run and to the bound.
#[derive(Clone, Copy)]
struct Arm {
    clip: f64,
    descends: bool,
    log: f64,
    second: f64,
    factor: f64,
    pace: f64,
}

const SOUND: Arm = Arm { clip: 1.0, descends: true, log: 1.0, second: 1.0, factor: 1.0, pace: 1.0 };

const FAULTS: [Fault<Arm>; 6] = [
    Fault::refuted("never_clips", "steps along the estimate as it is", Arm { clip: f64::INFINITY, ..SOUND }),
    Fault::refuted(
        "ascends",
        "steps along the clipped estimate, not against it",
        Arm { descends: false, ..SOUND },
    ),
    Fault::refuted("logarithm_cut", "0.8 log(2d) in the bound", Arm { log: 0.8, ..SOUND }),
    Fault::refuted("second_moment_cut", "an eighth of G^2", Arm { second: 0.125, ..SOUND }),
    Fault::refuted(
        "steps_of_half_the_size",
        "the production learner has half the step size",
        Arm { pace: 0.5, ..SOUND },
    ),
    Fault::refuted(
        "ascends_along_64_estimates",
        "steps along 64 times the estimate, which is not clipped",
        Arm { clip: f64::INFINITY, descends: false, factor: 64.0, ..SOUND },
    ),
];

impl Arm {
    fn rounds<'a>(&self, problem: &'a Problem, draws: usize, rounds: u64, step_size: f64) -> Rounds<'a> {
        let Arm { clip, descends, factor, pace, .. } = *self;
        Rounds { problem, draws, rounds, step_size, clip, descends, factor, pace, cripple: None }
    }
}

/// Checks the regret after every round, in units of `B/eta`, and the iterates.
fn check(
    rounds: &Rounds<'_>,
    arm: Arm,
    seed: &Seed,
    [regret, iterates]: &mut [PropertyTally; 2],
) -> anyhow::Result<()> {
    let (dim, radius, eta) = (rounds.problem.dim, rounds.problem.radius, rounds.step_size);
    let log = arm.log * (2.0 * dim as f64).ln();
    let (mut along, mut sum, mut squares) = (0.0, vec![0.0; dim], 0.0);
    rounds.follow(seed, |round| {
        along += dot(round.clipped, round.w) / radius;
        sum.iter_mut().zip(round.clipped).for_each(|(sum, g)| *sum += g);
        squares += round.shares.iter().zip(round.clipped).map(|(p, g)| p * g * g).sum::<f64>();
        // The worst w* is the vertex against the largest sum.
        regret.check(eta * (along + sup_norm(&sum)), log + eta * eta * squares);
        iterates.check_sums(round.off, 0.0, 1.0);
    })
}

fn random(arm: Arm, rng: &mut Rng) -> anyhow::Result<(Problem, usize, u64, f64)> {
    let dim = [3, 5, 20, 50][rng.random_range(0..4)];
    let radius = [0.2, 1.0, 5.0][rng.random_range(0..3)];
    let problem = match rng.random_range(0..4) {
        0 => Problem::axis(dim, radius),
        1 => Problem::signs(dim, radius)?,
        2 => Problem::correlated(dim, radius),
        _ => Problem::rare(dim, 0.2)?,
    };
    let draws = [1, 2, dim, dim + 1][rng.random_range(0..4)];
    let rounds = [1, 10, 100][rng.random_range(0..3)];
    let theorem =
        AelrParams::from_theorem(Horizon { dim, draws, radius: problem.radius, examples: rounds }).step_size;
    // Beyond 700 an exponential that is not clipped overflows.
    let most = if arm.clip > 1.0 { 0.0 } else { 1.6 };
    Ok((problem, draws, rounds, theorem * 10f64.powf(rng.random_range(-1.0..=most))))
}

/// Regret against the best predictor over its bound, and the mean of `p.g-bar^2` over `G^2`.
fn means(rounds: &Rounds<'_>, second: f64, seed: &Seed) -> anyhow::Result<(f64, f64)> {
    let Rounds { problem, rounds: m, step_size: eta, .. } = *rounds;
    let (m, moment) = (m as f64, second * second_moment(problem, rounds.draws));
    let (mut regret, mut squares) = (0.0, 0.0);
    rounds.follow(seed, |round| {
        regret += dot(round.clipped, &minus(round.w, &problem.star));
        squares += round.shares.iter().zip(round.clipped).map(|(p, g)| p * g * g).sum::<f64>();
    })?;
    let bound = problem.radius * ((2.0 * problem.dim as f64).ln() / eta + eta * moment * m);
    Ok((regret / bound, squares / m / moment))
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let arm = cx.arm(SOUND, &FAULTS);
    cx.split(11);
    // An inequality that holds on every run says nothing of what was learned.
    if cx.cripple().is_none() {
        every_round(cx, arm)?;
    }
    in_the_mean(cx, arm)
}

/// The statement on every run, after every round.
fn every_round(cx: &mut Context<'_>, arm: Arm) -> anyhow::Result<()> {
    let [regret, iterates] = tally(cx, "runs", cx.size("runs")?, |trial, tallies| {
        let (problem, draws, rounds, eta) = random(arm, &mut trial.seed.child("setting").rng())?;
        check(&arm.rounds(&problem, draws, rounds, eta), arm, &trial.seed, tallies)
    })?;
    cx.judge("regret after every round", regret.finish());
    cx.judge("iterates are those of the weights", iterates.finish());

    let mut long = [PropertyTally::new(), PropertyTally::new()];
    let (signs, axis) = (Problem::signs(50, 1.0)?, Problem::axis(50, 1.0));
    let eta =
        40.0 * AelrParams::from_theorem(Horizon { dim: 50, draws: 1, radius: 1.0, examples: 200 }).step_size;
    check(&arm.rounds(&signs, 1, 200, eta), arm, &cx.seed("large steps"), &mut long)?;
    cx.judge("large steps, d = 50, k = 1", long[0].finish());
    cx.judge("large steps: iterates", long[1].finish());
    let mut slow = [PropertyTally::new(), PropertyTally::new()];
    check(&arm.rounds(&axis, 50, 1000, 0.01), arm, &cx.seed("small steps"), &mut slow)?;
    cx.judge("small steps, one informative attribute", slow[0].finish());
    Ok(())
}

/// The statement in the mean.
fn in_the_mean(cx: &mut Context<'_>, arm: Arm) -> anyhow::Result<()> {
    let cripple = cx.cripple();
    let (runs, clipped) = (cx.size("mean_runs")?, cx.size("clipped_runs")?);
    let theorem =
        |dim, draws, m| AelrParams::from_theorem(Horizon { dim, draws, radius: 1.0, examples: m }).step_size;
    let (ten, five) = (Problem::signs(10, 1.0)?, Problem::axis(5, 1.0));
    let many = Problem::signs(36, 1.0)?;
    let clips = 0.5 / second_moment(&many, 1).sqrt();
    let settings = [
        ("signs, d = 10, k = 2", arm.rounds(&ten, 2, 2000, theorem(10, 2, 2000)), runs),
        ("axis, d = 5, k = 5", arm.rounds(&five, 5, 500, theorem(5, 5, 500)), runs),
        ("signs, d = 36, k = 1, eta = 1/(2G)", arm.rounds(&many, 1, 100, clips), clipped),
    ];
    for (name, rounds, runs) in settings {
        cx.settled()?;
        let (name, rounds) = (name, &Rounds { cripple, ..rounds });
        let both = cx.all_trials(name, runs, |trial| means(rounds, arm.second, &trial.seed))?;
        let (regret, squares): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
        let below = (f64::NEG_INFINITY, 1.0);
        let alpha = cx.alpha();
        cx.judge(
            &format!("{name}: mean regret over its bound"),
            slope::judge_sample(&regret, below, alpha, FindingKind::Mean),
        );
        // How large the estimates are is not learned.
        if cripple.is_none() {
            cx.judge(
                &format!("{name}: mean of p.g-bar^2 over G^2"),
                slope::judge_sample(&squares, below, alpha, FindingKind::Mean),
            );
        }
    }
    Ok(())
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "signs, d =",
    why: "the bound grows with G^2, which is so large on signs that a learner which stays at zero keeps it; \
          on one informative attribute it does not",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lem36-clipped-regret",
    place: "Lemma 3.6, Supplement A.3",
    sentence: "Along its clipped gradient estimates AELR's regret against any point of the l1 ball is at \
               most B (log(2d)/eta + eta G^2 m).",
    formula: r"\sum_t \bar{g}_t \cdot (w_t - w^*) \le B \left( \frac{\log 2d}{\eta} + \eta \sum_t p_t
               \cdot (\bar{g}'_t)^2 \right), \qquad E \sum_t \bar{g}_t \cdot (w_t - w^*) \le B \left(
               \frac{\log 2d}{\eta} + \eta G^2 m \right)",
    design: "Production AELR at step sizes from a tenth of the theorem's to 40 times it, on four \
             populations, against the worst w* in hindsight, after every round; its iterates must be those \
             of the weights written out beside it. In the mean with w* the best predictor of the population, \
             and G^2 = 4 B^2 (d + k - 1)/k, also at eta = 1/(2G), where clipping is at work. On signs G^2 is \
             so large that a learner which stays at zero keeps the bound too; on one informative attribute \
             it does not.",
    standing: Standing::sound().literal().learns().passable(&PASSABLE),
    mutants: &mutants(&FAULTS),
    experiment,
};
