//! The practical scenario of Figures 1 and 2, at a size that every tier can run: least squares on AR(.5) rows, n = 1000, d = 200, ten
//! signs, noise .3, k = 20, from zero.
//!
//! The paper's data sets and machines are not at issue here, its statements about orderings are. Budgets are enforced inside
//! epochs: no method takes a call more than it may. Step sizes come from one grid, chosen for each budget by the mean log gap at its end on
//! tuning seeds of their own; the full tier tunes again, the quick one has the winners. `f*` is the best value that any method, or GD-HT
//! with refit from zero and from the truth, has reached on the data.

use crate::context::{Context, Trial};
use crate::instance::quadratics::predictor;
use crate::instance::regression::{Regression, spread_signs};
use lao_algorithms::thresholding::{
    EpochLength, GdParams, HsgParams, ScsgParams, SgParams, Shape, SolveError, Solver, Stop, SvrgParams,
    solve,
};
use lao_observation::{FiniteSum, Seed};

pub(super) const N: usize = 1000;
const DIM: usize = 200;
const K: usize = 20;
const NONZEROS: usize = 10;

/// A method of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Hsg,
    Sg,
    Svrg,
    /// SCSG-HT, B = n/10, option I.
    One,
    /// SCSG-HT, B = n/10, option II.
    Two,
}

pub(super) const METHODS: [Method; 5] = [Method::Hsg, Method::Sg, Method::Svrg, Method::One, Method::Two];

/// IFO calls at which gaps are taken, in units of n. Step sizes are tuned for a budget: 1, 4 or 20.
pub(super) const MARKS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 20.0];

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Hsg => "HSG-HT",
            Method::Sg => "SG-HT",
            Method::Svrg => "SVRG-HT",
            Method::One => "SCSG-HT I",
            Method::Two => "SCSG-HT II",
        }
    }

    /// The winner of the tuning for a budget.
    pub fn step(self, budget: f64) -> f64 {
        let steps = match self {
            Method::Hsg => [0.16, 0.16, 0.16],
            Method::Sg => [0.01, 0.0025, 0.000625],
            // After n calls it has made no step yet.
            Method::Svrg => [0.005, 0.00125, 0.005],
            Method::One | Method::Two => [0.005, 0.005, 0.00125],
        };
        steps[if budget <= 1.0 {
            0
        } else if budget <= 4.0 {
            1
        } else {
            2
        }]
    }

    pub fn solver(self, step_size: f64, shape: Shape) -> anyhow::Result<Box<dyn Solver>> {
        let scsg = |length| {
            ScsgParams { sparsity: K, step_size, batch: N / 10, mini_batch: 1, length, start: None }
                .check(shape)
        };
        Ok(match self {
            Method::Hsg => Box::new(
                HsgParams { sparsity: K, step_size, first: 20.0, growth: 1.05, start: None }.check(shape)?,
            ),
            Method::Sg => Box::new(SgParams { sparsity: K, step_size, batch: 1, start: None }.check(shape)?),
            Method::Svrg => Box::new(
                SvrgParams { sparsity: K, step_size, mini_batch: 1, steps: N as u64, start: None }
                    .check(shape)?,
            ),
            Method::One => Box::new(scsg(EpochLength::Geometric)?),
            Method::Two => Box::new(scsg(EpochLength::Ratio)?),
        })
    }
}

/// Data of one trial with its truth.
pub(super) fn data(seed: &Seed) -> anyhow::Result<FiniteSum> {
    let star = spread_signs(DIM, NONZEROS);
    Regression { components: N, correlation: 0.5, star, noise: 0.3, twice: false }.draw(&seed.child("data"))
}

/// Values of f when the calls of each mark up to the budget are spent; infinite from where a step diverged.
fn values(sum: &FiniteSum, solver: &mut dyn Solver, seed: &Seed, budget: f64) -> anyhow::Result<Vec<f64>> {
    let (mut sum, mut rng, mut values) = (sum.clone(), seed.rng(), Vec::new());
    sum.reset_meter();
    let marks = MARKS.partition_point(|mark| *mark <= budget);
    while values.len() < marks {
        let budget = (MARKS[values.len()] * N as f64) as u64;
        if sum.meter().calls + solver.next_calls(&sum) > budget {
            values.push(sum.score(solver.coefficients())?);
            continue;
        }
        match solver.step(&mut sum, &mut rng) {
            Ok(_) => {}
            Err(SolveError::Diverged(_)) => break,
            Err(error) => return Err(error.into()),
        }
    }
    values.resize(marks, f64::INFINITY);
    Ok(values)
}

/// The best value of GD-HT with refit, from zero and from the truth.
pub(super) fn reference(sum: &FiniteSum, seed: &Seed) -> anyhow::Result<f64> {
    let mut best = f64::INFINITY;
    for start in [None, Some(predictor(&spread_signs(DIM, NONZEROS)))] {
        let mut sum = sum.clone();
        let mut solver = GdParams { start, ..GdParams::practical(K) }.check(Shape::of(&sum))?;
        let run = solve(&mut sum, &mut solver, seed, Stop::after_rounds(60), false)?;
        best = best.min(sum.score(&run.predictor)?);
    }
    Ok(best)
}

/// One contestant: a method and its step size.
pub(super) type Entry = (Method, f64);

/// Log gaps of every trial: `gaps[trial][entry][mark]`.
pub(super) fn run(
    cx: &Context<'_>,
    cell: &str,
    trials: u64,
    entries: &[Entry],
    budget: f64,
) -> anyhow::Result<Vec<Vec<Vec<f64>>>> {
    cx.all_trials(cell, trials, |trial: &Trial| {
        let sum = data(&trial.seed)?;
        let mut all = Vec::new();
        for (i, (method, step)) in entries.iter().enumerate() {
            let mut solver = method.solver(*step, Shape::of(&sum))?;
            let seed = trial.seed.child("algorithm").trial(i as u64);
            all.push(values(&sum, solver.as_mut(), &seed, budget)?);
        }
        let least = all
            .iter()
            .flatten()
            .copied()
            .filter(|value| value.is_finite())
            .fold(reference(&sum, &trial.seed)?, f64::min);
        let gap = |value: f64| if value.is_finite() { (value - least + 1e-14).ln() } else { f64::INFINITY };
        Ok(all.into_iter().map(|values| values.into_iter().map(gap).collect()).collect())
    })
}

/// The winners for a budget, tuned again where the tier has tuning seeds.
pub(super) fn tuned(cx: &Context<'_>, budget: f64) -> anyhow::Result<Vec<Entry>> {
    let seeds = cx.size("tuning_seeds")?;
    if seeds == 0 {
        return Ok(METHODS.map(|method| (method, method.step(budget))).to_vec());
    }
    let grid: Vec<f64> = (0..12).map(|i| 0.64 * 0.5_f64.powi(i)).collect();
    let mut winners = Vec::new();
    for method in METHODS {
        let entries: Vec<Entry> = grid.iter().map(|step| (method, *step)).collect();
        let gaps = run(cx, "tuning", seeds, &entries, budget)?;
        let mean = |i: usize| {
            gaps.iter().map(|trial| trial[i].last().copied().unwrap_or(f64::INFINITY)).sum::<f64>()
        };
        let best = (0..grid.len()).min_by(|&i, &j| mean(i).total_cmp(&mean(j))).unwrap_or(0);
        winners.push((method, grid[best]));
    }
    Ok(winners)
}
