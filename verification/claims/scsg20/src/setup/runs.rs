//! Runs of production solvers that a claim looks into, round by round.

use lao_algorithms::thresholding::{EpochLength, ScsgParams, SolveError, Solver};
use lao_finite_sum::{FiniteSum, Meter, Predictor};
use lao_kernels::SparseVector;
use lao_observation::Seed;
use lao_verification_engine::context::{BLOCK, View, still};
use lao_verification_engine::instance::quadratics::predictor;
use lao_verification_engine::judge::slope::judge_sample;
use lao_verification_engine::judge::{Finding, FindingKind, Flow, MeanJudge};
use lao_verification_engine::mutants::Cripple;

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

/// What a crippled solver that began at `start` says of its iterate; the iterate itself if it is sound.
pub(crate) fn shown(cripple: Option<Cripple>, start: &Predictor, x: &Predictor) -> Predictor {
    let mut shown = x.clone();
    let Some(cripple) = cripple else { return shown };
    for (place, estimate) in shown.coefficients.iter_mut().enumerate() {
        let mut dense = estimate.view().to_dense();
        let start = start.coefficients.get(place).map_or_else(Vec::new, |start| start.view().to_dense());
        cripple.estimate(&start, &mut dense);
        *estimate = SparseVector::from_dense(&dense);
    }
    shown
}

/// `|x - x*|^2` after each of so many rounds; infinite from where a step diverged.
pub(crate) fn distances(
    sum: &mut FiniteSum,
    solver: &mut dyn Solver,
    (cripple, seed): (Option<Cripple>, &Seed),
    star: &[f64],
    rounds: u64,
) -> anyhow::Result<Vec<f64>> {
    Ok(shown_distances(sum, solver, (&[cripple], seed), star, rounds)?.swap_remove(0))
}

/// The same in each of several views of the estimate.
pub(crate) fn shown_distances(
    sum: &mut FiniteSum,
    solver: &mut dyn Solver,
    (views, seed): (&[View], &Seed),
    star: &[f64],
    rounds: u64,
) -> anyhow::Result<Vec<Vec<f64>>> {
    let (star, mut curves) = (predictor(star), vec![Vec::with_capacity(rounds as usize); views.len()]);
    let start = solver.coefficients().clone();
    if let Some(view) = still(views) {
        return Ok(vec![vec![squared_error(view, &start, &start, &star); rounds as usize]]);
    }
    each_round(sum, solver, seed, rounds, |x, _| {
        for (view, curve) in views.iter().zip(&mut curves) {
            curve.push(squared_error(*view, &start, x, &star));
        }
        false
    })?;
    curves.iter_mut().for_each(|curve| curve.resize(rounds as usize, f64::INFINITY));
    Ok(curves)
}

/// The squared distance to `star` of what a view shows of the iterate x of a solver that began at `start`.
pub(crate) fn squared_error(view: View, start: &Predictor, x: &Predictor, star: &Predictor) -> f64 {
    match view {
        None => x.distance_squared(star),
        Some(_) => shown(view, start, x).distance_squared(star),
    }
}

/// Judges `E X <= bound` for `X >= 0` from values of a fixed number of runs, one of `cells`. Refutation needs
/// nothing else. Support comes from Hall's test or, where X is almost surely at most `cap`, from betting.
pub(crate) fn mean_below(
    (bound, cap): (f64, Option<f64>),
    (alpha, cells): (f64, usize),
    values: &[f64],
) -> Finding {
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
    let judge = MeanJudge::new(bound, split, n);
    let mut finding = feed(match cap {
        Some(cap) => judge.with_upper(cap),
        None => judge,
    });
    // The runs were made: the estimate is that of all of them, also where the bet was won early.
    if values.iter().all(|x| x.is_finite()) {
        finding.estimate = values.iter().sum::<f64>() / n as f64;
        finding.tightness = Some(finding.estimate / bound);
    }
    finding
}

/// Judges that the mean of these values, which were `start` at first, is `exact` within the share `margin`:
/// of what is left of the start where that is less than half, and else of what has gone.
pub(crate) fn near(values: &[f64], (start, exact): (f64, f64), margin: f64, alpha: f64) -> Finding {
    let share = |value: &f64| match exact > 0.5 * start {
        true => (start - value) / (start - exact),
        false => value / exact,
    };
    let shares: Vec<f64> = values.iter().map(share).collect();
    judge_sample(&shares, (1.0 - margin, 1.0 + margin), alpha, FindingKind::Mean)
}

/// IFO calls until the squared distance to `star` is at most `eps`, looked at after every step or after every
/// round, and between two looks taken along the line on which the distance's logarithm falls; `most` when
/// that takes more than `most` calls. In each view; the run ends when the first view has arrived, since what
/// a crippled solver says stays near its start.
pub(crate) fn calls_to(
    sum: &mut FiniteSum,
    solver: &mut dyn Solver,
    (views, seed): (&[View], &Seed),
    (star, eps): (&Predictor, f64),
    every_step: bool,
    most: u64,
) -> anyhow::Result<Vec<f64>> {
    let (mut rng, mut round) = (seed.rng(), solver.rounds());
    let (start, mut found) = (solver.coefficients().clone(), vec![None; views.len()]);
    let mut before: Vec<f64> = views.iter().map(|view| squared_error(*view, &start, &start, star)).collect();
    let mut calls_before = sum.meter().calls as f64;
    // A solver that stands still never arrives.
    let end = if still(views).is_some() { 0 } else { most };
    while found.first().is_some_and(Option::is_none) && sum.meter().calls < end {
        match solver.step(sum, &mut rng) {
            Ok(_) => {}
            Err(SolveError::Diverged(_)) => break,
            Err(error) => return Err(error.into()),
        }
        if every_step || solver.rounds() > round {
            let (calls, x) = (sum.meter().calls as f64, solver.coefficients());
            for ((view, before), found) in views.iter().zip(&mut before).zip(&mut found) {
                let now = squared_error(*view, &start, x, star);
                if now <= eps && found.is_none() {
                    let passed = (*before / eps).ln() / (*before / now).ln();
                    *found = Some(calls_before + (calls - calls_before) * passed);
                }
                *before = now;
            }
            calls_before = calls;
        }
        round = solver.rounds();
    }
    Ok(found.into_iter().map(|calls| calls.unwrap_or(most as f64)).collect())
}
