//! The scenario of the comparisons in Figures 1 and 2: sparse least squares with noise, five methods, a
//! budget of IFO calls.
//!
//! *Setting.* n = 1000 normal rows of d = 200 columns with neighboring correlation .5, ten signs as truth,
//! noise .3, k = 20, start at zero. Budgets of n, 4n and 20n calls hold inside an epoch: no step is begun
//! that would go beyond. (One epoch of SVRG-HT costs 3n calls; whoever lets it finish gives it three times
//! the smallest budget.)
//!
//! *Steps.* Single-component steps but for GD-HT and HSG-HT (20 components at first, a twentieth more each
//! step); SVRG-HT makes n steps an epoch; SCSG-HT has B = n/10. Step sizes are powers of two times 1e-4,
//! chosen for each method and budget by the mean log gap on tuning seeds. The winners of that are written
//! down here, and used as they are unless the tier says how many tuning seeds to use.

use crate::setup::runs::shown;
use lao_algorithms::thresholding::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, SolveError, Solver, SolverLimit,
    SolverProgress, SolverTask, SvrgParams, solve,
};
use lao_finite_sum::FiniteSum;
use lao_observation::Seed;
use lao_verification_engine::context::{Context, View};
use lao_verification_engine::instance::quadratics::{Shared, predictor};
use lao_verification_engine::instance::regression::{Regression, spread_signs};
use lao_verification_engine::judge::paired;
use lao_verification_engine::mutants::Cripple;
use std::sync::Arc;

/// n.
pub(crate) const N: u64 = 1000;
pub(crate) const DIM: usize = 200;
/// k.
pub(crate) const SPARSITY: usize = 20;
const STAR: usize = 10;
const NOISE: f64 = 0.3;

/// What log gaps are cut off at.
const LEAST: f64 = 1e-14;

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Gd,
    Sg,
    Hsg,
    Svrg,
    ScsgOne,
    ScsgTwo,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Gd => "GD-HT",
            Method::Sg => "SG-HT",
            Method::Hsg => "HSG-HT",
            Method::Svrg => "SVRG-HT",
            Method::ScsgOne => "SCSG-HT, option I",
            Method::ScsgTwo => "SCSG-HT, option II",
        }
    }

    /// The step size that tuning found for a budget of 1, 4 or 20 passes.
    pub fn tuned(self, passes: u64) -> f64 {
        let powers = match self {
            Method::Gd => [12, 11, 11],
            Method::Sg => [6, 5, 3],
            Method::Hsg => [10, 10, 11],
            // With n calls SVRG-HT makes no step.
            Method::Svrg => [0, 4, 5],
            Method::ScsgOne => [6, 5, 3],
            Method::ScsgTwo => [6, 5, 4],
        };
        let place = [1, 4, 20].iter().position(|budget| *budget == passes).unwrap_or(2);
        power(powers[place])
    }

    fn grid(self) -> std::ops::RangeInclusive<i32> {
        if matches!(self, Method::Gd | Method::Hsg) { 6..=12 } else { 0..=7 }
    }

    /// The production solver, with steps of single components where it has mini-batches.
    pub fn solver(self, step_size: f64, sum: &FiniteSum) -> anyhow::Result<Box<dyn Solver>> {
        self.solver_with(step_size, 1, sum)
    }

    /// The production solver, with mini-batches of this size where it has any.
    pub fn solver_with(
        self,
        step_size: f64,
        mini_batch: usize,
        sum: &FiniteSum,
    ) -> anyhow::Result<Box<dyn Solver>> {
        let (sparsity, start, shape) = (SPARSITY, None, Shape::of(sum));
        let scsg = |length| {
            let batch = sum.len() / 10;
            ScsgParams { sparsity, step_size, batch, mini_batch, length, start: None }.build(shape)
        };
        Ok(match self {
            Method::Gd => {
                let step = GdStep::Fixed(step_size);
                Box::new(GdParams { sparsity, step, refit: false, start }.build(shape)?)
            }
            Method::Sg => Box::new(SgParams { sparsity, step_size, batch: 1, start }.build(shape)?),
            Method::Hsg => {
                let (first, growth) = (20.0, 1.05);
                Box::new(HsgParams { sparsity, step_size, first, growth, start }.build(shape)?)
            }
            Method::Svrg => {
                let steps = (sum.len() / mini_batch) as u64;
                Box::new(SvrgParams { sparsity, step_size, mini_batch, steps, start }.build(shape)?)
            }
            Method::ScsgOne => Box::new(scsg(EpochLength::Geometric)?),
            Method::ScsgTwo => Box::new(scsg(EpochLength::Ratio)?),
        })
    }
}

fn power(exponent: i32) -> f64 {
    1e-4 * 2.0_f64.powi(exponent)
}

/// The rows and labels of one replicate, and what is known of their minimum.
#[derive(Debug)]
pub(crate) struct Problem {
    pub sum: FiniteSum,
    /// The least value of f found so far: at first, by HTP from zero and from the truth.
    pub least: f64,
}

impl Problem {
    /// Draws one.
    pub fn draw(seed: &Seed) -> anyhow::Result<Problem> {
        let star = spread_signs(DIM, STAR);
        let data = Regression { components: N as usize, correlation: 0.5, star, noise: NOISE, twice: false };
        let mut sum = data.draw(seed)?;
        let mut least = f64::INFINITY;
        for start in [None, Some(predictor(&data.star))] {
            let task = SolverTask { sparsity: SPARSITY, start, ..SolverTask::default() };
            let mut solver = GdParams::practical(&task).build(Shape::of(&sum))?;
            let run = solve(&mut sum, &mut solver, seed, SolverLimit::after_rounds(100))?;
            least = least.min(sum.objective(&run.predictor)?);
        }
        Ok(Problem { sum, least })
    }

    /// `f` in each view of a solver's estimate when each of these budgets, ascending, is spent; infinite from
    /// where a step diverged.
    pub fn run(
        &mut self,
        solver: &mut dyn Solver,
        (views, seed): (&[View], &Seed),
        budgets: &[u64],
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        let (mut rng, mut all) = (seed.rng(), vec![vec![f64::INFINITY; budgets.len()]; views.len()]);
        let start = solver.coefficients().clone();
        self.sum.reset_meter();
        for (place, budget) in budgets.iter().enumerate() {
            while self.sum.meter().calls + solver.next_calls(&self.sum) <= *budget {
                match solver.step(&mut self.sum, &mut rng) {
                    Ok(SolverProgress::Settled) => break,
                    Ok(_) => {}
                    Err(SolveError::Diverged(_)) => return Ok(all),
                    Err(error) => return Err(error.into()),
                }
            }
            for (view, values) in views.iter().zip(&mut all) {
                let value = self.sum.objective(&shown(*view, &start, solver.coefficients()))?;
                values[place] = if value.is_finite() { value } else { f64::INFINITY };
            }
        }
        Ok(all)
    }

    /// `ln(f - f* + 1e-14)`.
    pub fn log_gap(&self, value: f64) -> f64 {
        log_gap(value, self.least)
    }
}

/// The least of some values and of one more.
fn least<'a>(first: f64, values: impl Iterator<Item = &'a f64>) -> f64 {
    values.copied().fold(first, f64::min)
}

fn log_gap(value: f64, least: f64) -> f64 {
    (value - least + LEAST).ln()
}

/// The step size of a method for a budget: as written down if there are no tuning seeds, else tuned again on
/// so many. Mutants take what is written down.
pub(crate) fn step_size(
    cx: &mut Context<'_>,
    method: Method,
    passes: u64,
    seeds: u64,
) -> anyhow::Result<f64> {
    if seeds == 0 || !cx.honest() {
        return Ok(method.tuned(passes));
    }
    let gaps = cx.all_trials("tuning", seeds, |trial| {
        let mut problem = Problem::draw(&trial.seed.child("data"))?;
        let mut values = Vec::new();
        for exponent in method.grid() {
            let mut solver = method.solver(power(exponent), &problem.sum)?;
            let seed = trial.seed.child("algorithm");
            values.extend(problem.run(solver.as_mut(), (&[None], &seed), &[passes * N])?.swap_remove(0));
        }
        let least = least(problem.least, values.iter());
        Ok(values.iter().map(|value| log_gap(*value, least)).collect::<Vec<f64>>())
    })?;
    let mean = |place: usize| gaps.iter().map(|gaps| gaps[place]).sum::<f64>();
    let best = method.grid().zip(0..).min_by(|a, b| mean(a.1).total_cmp(&mean(b.1)));
    let step = best.map_or(method.tuned(passes), |(exponent, _)| power(exponent));
    cx.note(&format!("step size of {}, budget {passes} n", method.name()), step);
    Ok(step)
}

/// A method with its step size.
pub(crate) type Tuned = (Method, f64);

/// What is wrong with the method under test.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Wrong {
    /// Its step size has this factor.
    Step(f64),
    /// It competes with itself.
    AgainstItself,
    /// GD-HT takes its place in the long run.
    FullGradients,
}

/// What the fault multiplies the step size of the method under test with.
pub(crate) fn step_factor(wrong: Option<Wrong>) -> f64 {
    match wrong {
        Some(Wrong::Step(factor)) => factor,
        Some(Wrong::AgainstItself | Wrong::FullGradients) | None => 1.0,
    }
}

/// A method with its fault, and its rivals, tuned for so many passes.
pub(crate) fn with_rivals(
    cx: &mut Context<'_>,
    (method, wrong): (Method, Option<Wrong>),
    rivals: &[Method],
    passes: u64,
) -> anyhow::Result<Vec<Tuned>> {
    let seeds = cx.size("tuning_seeds")?;
    let mut methods = vec![(method, step_factor(wrong) * step_size(cx, method, passes, seeds)?)];
    for &rival in rivals {
        let itself = wrong == Some(Wrong::AgainstItself);
        methods.push(if itself { methods[0] } else { (rival, step_size(cx, rival, passes, seeds)?) });
    }
    Ok(methods)
}

/// The log gaps of several tuned methods on the same data when each of these budgets is spent, per replicate
/// and method. A crippled arm cripples the first method of every so many: the ones that are said to be ahead.
pub(crate) fn compare(
    cx: &Context<'_>,
    cell: &str,
    replicates: u64,
    (methods, every): (&[Tuned], usize),
    budgets: &[u64],
) -> anyhow::Result<Vec<Vec<Vec<f64>>>> {
    let (ahead, rivals): (Vec<usize>, Vec<usize>) = (0..methods.len()).partition(|place| place % every == 0);
    // Crippled learners show the runs of the sound one. All solvers start at zero, so that the learner that
    // stays at its start is the one that predicts zero.
    let views = [None, Some(Cripple::GoesOneHundredth), Some(Cripple::PredictsZero)];
    let view =
        cx.cripple().map(|cripple| if cripple.stands_still() { Cripple::PredictsZero } else { cripple });
    let place = views.iter().position(|shown| *shown == view).unwrap_or(0);
    let ahead = runs(cx, cell, replicates, (methods, &ahead, &views), budgets)?;
    let rivals = runs(cx, cell, replicates, (methods, &rivals, &[None]), budgets)?;
    let both = ahead.iter().zip(&*rivals).map(|(ahead, rivals)| {
        let (ahead, rivals) = (&ahead[place], &rivals[0]);
        let least = ahead.least.min(rivals.least);
        let (mut ahead, mut rivals) = (ahead.values.iter(), rivals.values.iter());
        let next = |place| if place % every == 0 { ahead.next() } else { rivals.next() };
        let log_gaps = |values: &Vec<f64>| values.iter().map(|value| log_gap(*value, least)).collect();
        (0..methods.len()).filter_map(next).map(log_gaps).collect()
    });
    Ok(both.collect())
}

/// What some methods reach on the same data: `f` at each budget, and the least value found.
struct Reached {
    values: Vec<Vec<f64>>,
    least: f64,
}

/// Runs the methods at some places of a list, and returns what each replicate reaches in each view. Arms that
/// run the same methods share the runs: the name of the runs has all that they depend on.
fn runs(
    cx: &Context<'_>,
    cell: &str,
    replicates: u64,
    (methods, places, views): (&[Tuned], &[usize], &[View]),
    budgets: &[u64],
) -> anyhow::Result<Arc<Vec<Vec<Reached>>>> {
    let chosen: Vec<(usize, Tuned)> = places.iter().map(|&place| (place, methods[place])).collect();
    // All arms see the same data: they are drawn once.
    let problems = cx.shared(&format!("problems of {cell}"), || {
        cx.all_trials(cell, replicates, |trial| {
            let Problem { sum, least } = Problem::draw(&trial.seed.child("data"))?;
            Ok((Shared::new(sum), least))
        })
    })?;
    cx.shared(&format!("{cell} {chosen:?} {views:?} {budgets:?}"), || {
        cx.all_trials(cell, replicates, |trial| {
            let (sum, least_known) = &problems[trial.number as usize];
            let mut problem = Problem { sum: sum.sum(), least: *least_known };
            let mut all: Vec<Reached> =
                views.iter().map(|_| Reached { values: Vec::new(), least: problem.least }).collect();
            for (place, (method, step_size)) in &chosen {
                let mut solver = method.solver(*step_size, &problem.sum)?;
                // A stream of its own for each, so that a method can be compared with itself.
                let seed = trial.seed.child("algorithm").trial(*place as u64);
                let found = problem.run(solver.as_mut(), (views, &seed), budgets)?;
                for (reached, values) in all.iter_mut().zip(found) {
                    reached.least = least(reached.least, values.iter());
                    reached.values.push(values);
                }
            }
            Ok(all)
        })
    })
}

/// One method's log gaps at one of the budgets, over replicates.
pub(crate) fn at(runs: &[Vec<Vec<f64>>], method: usize, budget: usize) -> Vec<f64> {
    runs.iter().map(|methods| methods[method][budget]).collect()
}

/// Judges that one method's gaps are below another's on the same data, given their logarithms.
pub(crate) fn judge_below(cx: &mut Context<'_>, cell: &str, logs: &[f64], rival: &[f64]) {
    let [gaps, rival] = [logs, rival].map(|logs| logs.iter().map(|log| log.exp()).collect::<Vec<f64>>());
    cx.judge(cell, paired::better(&gaps, &rival, cx.alpha()));
}

/// The mean of values of which some may be infinite.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
