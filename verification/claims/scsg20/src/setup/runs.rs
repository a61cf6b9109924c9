//! Runs of production solvers that a claim looks into, round by round.

use lao_algorithms::thresholding::{EpochLength, ScsgParams, SolveError, Solver};
use lao_finite_sum::{FiniteSum, Meter, Predictor};
use lao_observation::Seed;
use lao_verification_engine::context::BLOCK;
use lao_verification_engine::instance::quadratics::predictor;
use lao_verification_engine::judge::{Finding, Flow, MeanJudge};

/// SCSG-HT with option I from zero.
pub(crate) fn option_one(sparsity: usize, step_size: f64, batch: usize, mini_batch: usize) -> ScsgParams {
    let length = EpochLength::Geometric;
    ScsgParams { sparsity, step_size, batch, mini_batch, length, start: None }
}

/// The same with option II.
pub(crate) fn option_two(sparsity: usize, step_size: f64, batch: usize, mini_batch: usize) -> ScsgParams {
    ScsgParams { length: EpochLength::Ratio, ..option_one(sparsity, step_size, batch, mini_batch) }
}

/// Runs a solver and shows `after` every completed round, until it says that this is enough or `rounds` are
/// done. False when a step diverged.
pub(crate) fn each_round(
    sum: &mut FiniteSum,
    solver: &mut dyn Solver,
    seed: &Seed,
    rounds: u64,
    mut after: impl FnMut(&Predictor, Meter) -> bool,
) -> anyhow::Result<bool> {
    let mut rng = seed.rng();
    for round in 1..=rounds {
        while solver.rounds() < round {
            match solver.step(sum, &mut rng) {
                Ok(_) => {}
                Err(SolveError::Diverged(_)) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        let x = solver.coefficients();
        if x.norm_squared() > 1e100 {
            return Ok(false);
        }
        if after(x, sum.meter()) {
            break;
        }
    }
    Ok(true)
}

/// `|x - x*|^2` after each of so many rounds; infinite from where a step diverged.
pub(crate) fn distances(
    sum: &mut FiniteSum,
    solver: &mut dyn Solver,
    seed: &Seed,
    star: &[f64],
    rounds: u64,
) -> anyhow::Result<Vec<f64>> {
    let (star, mut curve) = (predictor(star), Vec::new());
    each_round(sum, solver, seed, rounds, |x, _| {
        curve.push(x.distance_squared(&star));
        false
    })?;
    curve.resize(rounds as usize, f64::INFINITY);
    Ok(curve)
}

/// Judges `E X <= bound` for `X >= 0` from values of a fixed number of runs. Refutation needs nothing else;
/// support rests on `X <= cap`, and is ruled out by a value beyond it. The finding is one of `cells`.
pub(crate) fn mean_below(bound: f64, cap: f64, (alpha, cells): (f64, usize), values: &[f64]) -> Finding {
    let n = values.len() as u64;
    let feed = |mut judge: MeanJudge| {
        for block in values.chunks(BLOCK) {
            if judge.push_block(block) == Flow::Stop {
                break;
            }
        }
        judge.finish()
    };
    let split = alpha / cells as f64;
    let mut finding = feed(MeanJudge::new(bound, split, n));
    finding.p_support = 1.0;
    if values.iter().all(|x| *x <= cap) && finding.p_refute > split {
        let capped = feed(MeanJudge::new(bound, alpha, n).with_upper(cap));
        (finding.p_support, finding.log_e_support) = (capped.p_support, capped.log_e_support);
        (finding.engine, finding.interval) = (capped.engine, capped.interval);
    }
    finding
}

/// IFO calls until the squared distance to `star` is at most `eps`, looked at after every step or after every
/// round, and between two looks taken along the line on which the distance's logarithm falls; infinite when
/// that takes more than `most` calls.
pub(crate) fn calls_to(
    sum: &mut FiniteSum,
    solver: &mut dyn Solver,
    seed: &Seed,
    (star, eps): (&Predictor, f64),
    every_step: bool,
    most: u64,
) -> anyhow::Result<f64> {
    let (mut rng, mut round) = (seed.rng(), solver.rounds());
    let look = |sum: &FiniteSum, solver: &mut dyn Solver| {
        (sum.meter().calls as f64, solver.coefficients().distance_squared(star))
    };
    let mut before = look(sum, solver);
    while sum.meter().calls < most {
        match solver.step(sum, &mut rng) {
            Ok(_) => {}
            Err(SolveError::Diverged(_)) => return Ok(f64::INFINITY),
            Err(error) => return Err(error.into()),
        }
        if every_step || solver.rounds() > round {
            let now = look(sum, solver);
            if now.1 <= eps {
                let passed = (before.1 / eps).ln() / (before.1 / now.1).ln();
                return Ok(before.0 + (now.0 - before.0) * passed);
            }
            before = now;
        }
        round = solver.rounds();
    }
    Ok(f64::INFINITY)
}
