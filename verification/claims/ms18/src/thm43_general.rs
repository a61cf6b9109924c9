//! Theorem 4.3, general case, repaired: whatever the support, Exploitation does not make the gap much larger.
//!
//! *Statement.* For any start, with `eta = 1/(4L)`, `a = 1/(32 kappa)`, `delta_t = delta/(2T)` and
//!
//! ```text
//! B >= max{ 128 T s(s+s*) R^4 log(2s/delta_t)/mu^2, 8 sigma^2 s R^2 eta T log(2s/delta_t)/Delta },
//! ```
//!
//! `gap_T <= (gap_0 + Delta)/(1-a)` with probability at least `1 - delta`. Nothing more is promised: on a
//! wrong support the gap stays where it is.
//!
//! *Why.* Write the corrected (9) as `|e_S|^2 <= A|v|^2 + N`. Display (8) without its negative term and
//! `|v|^2 <= (2/mu) gap` give `gap_t <= (1 + eta A/mu) gap_{t-1} + eta N/2`, hence
//! `gap_T <= (1 + eta A/mu)^T (gap_0 + T eta N/2)`. The first branch makes `T eta A/mu` at most
//! `1/(32 kappa)`, so that the power stays below `1/(1-a)`; the second makes `T eta N/2` at most Delta. The
//! printed proof takes another road and errs three times on it
//! ([`thm43_general_printed`](super::thm43_general_printed)); the order of B that it arrives at is right.
//!
//! *The growth itself.* From the minimum of a wrong support of two attributes the gap grows by `|theta_S|^2`,
//! which is what the noise leaves: `theta_S` starts at 0 and becomes `(1 - 2 eta) theta_S` and eta times an
//! error whose coordinates have the variance `4 (1 + sigma^2)/B` there, up to terms of order `1/B^2`. So its
//! mean is `8 (1 + sigma^2) eta^2/B (1 - (1 - 2 eta)^(2T))/(1 - (1 - 2 eta)^2)`, `(4/7)/B` here, a
//! thousandth of what the theorem allows.

use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::{ExploitationParams, Guarantee, Problem};
use lao_datasets::synthetic::{Counted, Hadamard, HadamardPairs, Noise, Virtual, WalshRows};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{Budget, Constants, Learner, Seed, SessionLimit};
use lao_verification_engine::claim::{Claim, Mutant, Passable, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::random_support;
use lao_verification_engine::judge::slope::judge_sample;
use lao_verification_engine::judge::{FindingKind, PropertyTally};
use lao_verification_engine::mutants::{Cripple, Crippled};
use lao_verification_engine::probe;
use rand_distr::{Distribution, StandardNormal};

const DIM: usize = 16;
const UPDATES: u64 = 32;
const DELTA: f64 = 0.1;
const SLACK: f64 = 0.01;
/// The mean growth from the minimum over its prediction.
const AS_PREDICTED: (f64, f64) = (0.9, 1.1);
/// The coordinate of the target.
const TARGET: u32 = 3;

/// What an arm changes.
#[derive(Clone, Copy)]
struct Arm {
    batch: Batch,
    step: f64,
    wrong_support: [u32; 2],
    cripple: Option<Cripple>,
}

/// Where the batch size comes from.
#[derive(Clone, Copy, PartialEq)]
enum Batch {
    Theorem,
    Printed,
    Four,
}

const BATCH_OF_FOUR: Mutant = Mutant::refuted("batch_of_four", "takes four examples per update");
const STEP_TWELVE_TIMES: Mutant = Mutant::refuted("step_twelve_times", "steps twelve times 1/(4L)");
const FORGETS_A_FACTOR_OF_UPDATES: Mutant =
    Mutant::refuted("forgets_a_factor_of_updates", "asks for a batch smaller by the number of updates");
const SUPPORT_HOLDS_THE_TARGET: Mutant = Mutant::refuted(
    "support_holds_the_target",
    "starts on a support that holds the target's: the gap must vanish",
);

const STEP_A_FIFTH_LONGER: Mutant = Mutant::refuted("step_a_fifth_longer", "steps by 1.2/(4L)");

impl Arm {
    fn of(cx: &Context<'_>) -> Self {
        Arm {
            batch: if cx.commits(&BATCH_OF_FOUR) { Batch::Four } else { Batch::Theorem },
            step: match () {
                () if cx.commits(&STEP_TWELVE_TIMES) => 12.0,
                () if cx.commits(&STEP_A_FIFTH_LONGER) => 1.2,
                () => 1.0,
            },
            wrong_support: if cx.commits(&SUPPORT_HOLDS_THE_TARGET) { [TARGET, 11] } else { [4, 11] },
            cripple: cx.cripple(),
        }
    }
}

/// First and last gap of a run from `start`, and the batch size.
fn run_with_batch<D: WalshRows + Clone>(
    design: D,
    start: SparseVector,
    arm: Arm,
    seed: &Seed,
) -> anyhow::Result<(f64, f64, f64)> {
    let star = SparseVector::new(DIM, vec![TARGET], vec![1.0])?;
    let truth = Virtual::new(design, star, Noise::Gaussian(1.0), &seed.child("data"))?;
    let (s, gap_0) = (start.len(), truth.gap(start.view()));
    let problem = Problem {
        constants: truth.constants(s),
        dim: DIM,
        sparsity: s,
        step_size: Problem::theorem_step(&truth.constants(s)),
    };
    let size = match arm.batch {
        Batch::Theorem => problem.batch_theorem_43_general(Guarantee {
            updates: UPDATES,
            slack: SLACK * gap_0,
            delta: DELTA,
        }),
        Batch::Printed => printed_batch(&problem, SLACK * gap_0),
        Batch::Four => 4.0,
    };
    let batch = BatchSizes::round_up(size);
    let params = ExploitationParams {
        start,
        budget: s,
        step_size: arm.step * problem.step_size,
        batch: BatchSizes::Constant(batch),
        updates: Some(UPDATES),
    };
    let mut learner = Crippled::new(params.build()?, arm.cripple);
    if arm.cripple.is_some_and(Cripple::stands_still) {
        return Ok((gap_0, truth.gap(learner.coefficients()), batch as f64));
    }
    let mut last = f64::INFINITY;
    let after = |_: &_, theta: SparseView<'_>| last = truth.gap(theta);
    let source = Counted::new(truth.clone())?;
    let end = probe::run(
        source,
        &mut learner,
        Budget::PerExample(s),
        &seed.child("algorithm"),
        SessionLimit::never(),
        after,
    )?;
    Ok((gap_0, if end.is_some() { last } else { f64::INFINITY }, batch as f64))
}

/// First and last gap of a run from `start`.
fn run<D: WalshRows + Clone>(
    design: D,
    start: SparseVector,
    arm: Arm,
    seed: &Seed,
) -> anyhow::Result<(f64, f64)> {
    let (first, last, _) = run_with_batch(design, start, arm, seed)?;
    Ok((first, last))
}

/// Judges the mean growth of the gap from the minimum on a wrong support, from both sides.
fn growth(cx: &mut Context<'_>, arm: Arm) -> anyhow::Result<()> {
    const PER_TRIAL: u64 = 10;
    let cell = "from the minimum on a wrong support: mean growth over what it is";
    let shares = cx.all_trials(cell, cx.size("growth")?, |trial| {
        let mut sum = 0.0;
        for number in 0..PER_TRIAL {
            let seed = trial.seed.child(&format!("run {number}"));
            let (first, last, batch) = run_with_batch(Hadamard::new(DIM)?, wrong_start(arm)?, arm, &seed)?;
            sum += (last - first) * batch * 7.0 / 4.0;
        }
        Ok(sum / PER_TRIAL as f64)
    })?;
    cx.judge(cell, judge_sample(&shares, AS_PREDICTED, cx.alpha(), FindingKind::Mean));
    Ok(cx.settled()?)
}

/// The largest of the three printed branches at `t = T`, the size of a constant batch.
fn printed_batch(problem: &Problem, slack: f64) -> f64 {
    let Constants { smoothness, convexity: mu, bound, noise, sparsity: star } = problem.constants;
    let (s, t, eta) = (problem.sparsity as f64, UPDATES as f64, problem.step_size);
    let many = s * (s + star as f64) * bound.powi(4) * (2.0 * s * 2.0 * t / DELTA).ln();
    let first = 4.0 * t * many * eta * eta / (1.0 - eta * smoothness);
    let second = 16.0 * many * eta * (1.0 - problem.rate()) * t / mu;
    let third = 2.0 * (noise * bound).powi(2) * s * eta * (s * 2.0 * t / DELTA).ln() * t / slack;
    first.max(second).max(third)
}

fn wrong_start(arm: Arm) -> anyhow::Result<SparseVector> {
    Ok(SparseVector::new(DIM, arm.wrong_support.to_vec(), vec![0.0, 0.0])?)
}

/// The algebra of the repair, with the production batch sizes.
fn algebra(cx: &mut Context<'_>) {
    let mut tally = PropertyTally::new();
    for kappa in [1.0, 2.0, 10.0] {
        for (s, star, bound, updates) in [(2, 1, 1.0, 32), (4, 2, 3.0, 64), (50, 7, 0.1, 500)] {
            for sigma in [0.0, 1.0, 1e3] {
                let (smoothness, mu) = (2.0 * kappa, 2.0);
                let constants = Constants { smoothness, convexity: mu, bound, noise: sigma, sparsity: star };
                let (slack, t, size) = (0.3, updates as f64, s as f64);
                let batch = Problem {
                    constants,
                    dim: 100,
                    sparsity: s,
                    step_size: Problem::theorem_step(&constants),
                }
                .batch_theorem_43_general(Guarantee { updates, slack, delta: DELTA });
                let batch = if cx.commits(&FORGETS_A_FACTOR_OF_UPDATES) { batch / t } else { batch };
                let share = 16.0 * size * (2.0 * size * 2.0 * t / DELTA).ln() / batch;
                let (signal, noise) =
                    (share * (size + star as f64) * bound.powi(4), share * (sigma * bound).powi(2));
                let eta = 1.0 / (4.0 * smoothness);
                let growth = (1.0 + eta * signal / mu).powi(updates as i32);
                let a = 1.0 / (32.0 * kappa);
                tally.check(growth, 1.0 / (1.0 - a));
                tally.check(growth * (1.0 + t * eta * noise / 2.0), (1.0 + slack) / (1.0 - a));
            }
        }
    }
    cx.judge("the batch size closes the recursion", tally.finish());
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(6);
    algebra(cx);
    let (arm, most) = (Arm::of(cx), cx.size("trials")?);
    growth(cx, arm)?;
    let within =
        |kappa: f64, (first, last): (f64, f64)| last <= first * (1.0 + SLACK) / (1.0 - 1.0 / (32.0 * kappa));

    cx.prob("from the minimum on a wrong support", DELTA, most, |trial| {
        Ok(within(1.0, run(Hadamard::new(DIM)?, wrong_start(arm)?, arm, &trial.seed)?))
    })?;
    cx.prob("random starts, pairs of correlation 1/3", DELTA, most, |trial| {
        let mut rng = trial.seed.child("start").rng();
        let mut start = SparseVector::zeros(DIM);
        for j in random_support(&mut rng, DIM, 2) {
            start.push(j as u32, StandardNormal.sample(&mut rng));
        }
        Ok(within(2.0, run(HadamardPairs::new(DIM, 1.0 / 3.0)?, start, arm, &trial.seed)?))
    })?;
    cx.prob("the gap stays on a wrong support", DELTA, most, |trial| {
        let (first, last) = run(Hadamard::new(DIM)?, wrong_start(arm)?, arm, &trial.seed)?;
        Ok(last >= 0.9 * first)
    })?;
    // What it does learn: on a support that holds a correlated neighbor of the target, the best coefficient
    // is 1/3, and (1 - 2 eta)^(2T) = 2e-6 is left of the rest of the gap.
    cx.prob("the least gap on a wrong support, pairs of correlation 1/3", DELTA, most, |trial| {
        let start = SparseVector::new(DIM, vec![TARGET ^ 1, 11], vec![2.0, 1.0])?;
        let (_, last) = run(HadamardPairs::new(DIM, 1.0 / 3.0)?, start, arm, &trial.seed)?;
        Ok(last <= (8.0 / 9.0) * (1.0 + SLACK))
    })?;
    if cx.honest() {
        let largest = |arm: Arm| {
            let n = most.min(64);
            let ends = cx.all_trials("growth", n, |trial| {
                run(Hadamard::new(DIM)?, wrong_start(arm)?, arm, &trial.seed)
            })?;
            anyhow::Ok(ends.iter().map(|(first, last)| last / first).fold(0.0, f64::max))
        };
        let (theorem, printed) = (largest(arm)?, largest(Arm { batch: Batch::Printed, ..arm })?);
        cx.note("largest growth of the gap in 64 runs (allowed: 1.043)", theorem);
        cx.note("the same at the printed batch size", printed);
    }
    Ok(())
}

const PASSABLE: [Passable; 2] = [
    Passable {
        cells: "on a wrong support",
        why: "the theorem promises no more than that the gap hardly grows; the cells on the growth itself \
              and on the least gap are about learning",
    },
    Passable {
        cells: "random starts, pairs",
        why: "the theorem promises no more than that the gap hardly grows; the cells on the growth itself \
              and on the least gap are about learning",
    },
];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-thm43-general",
    place: "Theorem 4.3, first case, with a repaired proof",
    sentence: "Whatever the start and the support, the gap of Exploitation after T updates is at most (gap_0 \
               + Delta)/(1-a) with probability at least 1 - delta.",
    formula: r"P\left( \mathcal{L}(\theta_T) - \mathcal{L}(\theta_*) \le \frac{1}{1-\check{\alpha}}
               (\mathcal{L}(\theta_0) - \mathcal{L}(\theta_*) + \Delta) \right) \ge 1 - \delta",
    design: "The algebra of the repaired proof, with the production batch sizes. Then literal runs with \
             noise, s = 2, s* = 1, T = 32, delta = 0.1, Delta a hundredth of the first gap, so that the gap \
             may grow by 4 % in all: from the restricted minimum of a wrong support, where no descent is \
             possible and every error counts, and from random starts on random supports of correlated pairs. \
             A last cell shows that the gap does stay: at least 0.9 of it in at least 0.9 of the runs. A \
             learner that does nothing passes all of these, for the theorem promises no more; so one more \
             cell shows what Exploitation does learn: on the support of a neighbor of correlation 1/3 and a \
             second attribute, started far off, it ends within a hundredth of the least gap there, 8/9. And \
             the mean growth from the minimum, which the noise alone makes, is .9 to 1.1 times (4/7)/B. As a \
             note, the same runs at the printed batch size: the statement survives there, unproved.",
    standing: Standing::corrected(&[22]).literal().learns().passable(&PASSABLE),
    mutants: &[
        BATCH_OF_FOUR,
        STEP_TWELVE_TIMES,
        FORGETS_A_FACTOR_OF_UPDATES,
        SUPPORT_HOLDS_THE_TARGET,
        STEP_A_FIFTH_LONGER,
    ],
    experiment,
};
