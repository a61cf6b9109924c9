//! The kind `recovery`: the support and coefficients that a solver of finite sums finds on a correlated
//! design, and the time that it takes.

use super::{Analysis, Job, Kind, Measurement, Rows, best_two};
use crate::data::Design;
use crate::row::{mean_sd, median};
use crate::tier::Size;
use anyhow::{Context as _, ensure};
use lao_algorithms::thresholding::{Shape, SolverLimit, SolverRow, SolverTask, path, registry, solve};
use lao_figures::{Axis, Figure, Series};
use lao_finite_sum::{FiniteSum, Loss, Predictor};
use lao_observation::Seed;
use serde::Deserialize;
use serde::de::Error as _;
use std::time::Instant;

const F1: &str = "support F1";
const ERROR: &str = "relative error of coefficients";
const SPARSITY: &str = "sparsity";
const TIME: &str = "ns per run";

/// The sparsities among which validation chooses, in quarters of the true one.
const QUARTERS: [usize; 7] = [1, 2, 3, 4, 5, 6, 8];

/// The settings of the kind. The columns are those of an autoregressive design,
/// `x_j = a x_{j-1} + sqrt(1 - a^2) e_j`, where the data's design draws `e`; the labels are those of a target
/// with noise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// `d`.
    dim: usize,
    /// `a`, the correlation of neighboring attributes.
    correlation: f64,
    /// The number of rows on which the solver runs.
    train: u64,
    /// The number of validation rows.
    validation: u64,
    /// The data.
    data: Design,
    /// The solvers.
    solvers: Vec<SolverSpec>,
}

/// A solver of a scenario with its settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SolverSpec {
    name: String,
    /// Name in the registry of solvers.
    #[serde(deserialize_with = "row")]
    solver: &'static SolverRow,
    /// The way in which the sparsity is chosen.
    choose: Choose,
    /// The step size times the largest smoothness of a component, for solvers that do not choose their own
    /// step size.
    step: f64,
    /// The allowed number of IFO calls, in passes over all components.
    passes: u64,
}

/// A way to choose the sparsity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Choose {
    /// The sparsity is that of the target.
    Known,
    /// The sparsity is the one of a path that is best on the validation rows.
    Validation,
}

pub(super) fn row<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<&'static SolverRow, D::Error> {
    let name = String::deserialize(deserializer)?;
    registry::solver(&name).ok_or_else(|| {
        let known: Vec<&str> = registry::SOLVERS.iter().map(|row| row.name).collect();
        D::Error::custom(format!("no solver is named `{name}`; the solvers are {}", known.join(", ")))
    })
}

impl Kind for Recovery {
    fn label(&self) -> &'static str {
        "recovery"
    }

    fn contenders(&self) -> Vec<&str> {
        self.solvers.iter().map(|solver| solver.name.as_str()).collect()
    }

    fn needs_idle_machine(&self) -> bool {
        true
    }

    fn dims(&self, _contender: usize) -> anyhow::Result<Vec<usize>> {
        Ok(vec![self.dim])
    }

    fn check(&self) -> anyhow::Result<()> {
        let a = self.correlation;
        ensure!((0.0..1.0).contains(&a), "correlation = {a}: give a number of [0, 1)");
        self.data.target(self.dim, &Seed::root(0))?;
        for SolverSpec { name, step, passes, .. } in &self.solvers {
            let fits = *step > 0.0 && step.is_finite() && *passes > 0;
            ensure!(fits, "solver {name}: step = {step} and passes = {passes} must be positive");
        }
        Ok(())
    }

    /// Runs the solver once, with the true sparsity or along a path of sparsities from which a validation set
    /// chooses.
    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let (target, spec) = (self.data.target(job.dim, seed)?, &self.solvers[job.contender]);
        let sum = |rows: usize, name: &str| {
            let drawn = self.data.correlated(&target, self.correlation, rows, &seed.child(name))?;
            let (examples, labels) = drawn.laid_out(spec.solver.random)?;
            anyhow::Ok(FiniteSum::new(examples, Loss::least_squares(labels)?)?)
        };
        let rows = size.scaled(self.train, 10);
        let mut train = sum(rows as usize, "train")?;
        let mut validation = sum(size.scaled(self.validation, 10) as usize, "validation")?;
        let step_size = spec.step / train.component_smoothness();
        let calls = spec.passes.saturating_mul(train.len() as u64);
        let stop = SolverLimit { calls: Some(calls), ..SolverLimit::default() };
        let draws = seed.child("algorithm");

        let start = Instant::now();
        let found: Predictor = match spec.choose {
            Choose::Known => {
                let task = SolverTask { sparsity: target.len(), step_size: Some(step_size), start: None };
                let mut solver = (spec.solver.build)(Shape::of(&train), &task)?;
                solve(&mut train, &mut *solver, &draws, stop)?.predictor
            }
            Choose::Validation => {
                let grid = QUARTERS.map(|quarters| (target.len() * quarters).div_ceil(4));
                let shape = Shape::of(&train);
                let build = |sparsity, start| {
                    (spec.solver.build)(shape, &SolverTask { sparsity, step_size: Some(step_size), start })
                };
                let mut best = (f64::INFINITY, Predictor::default());
                for point in path(&mut train, &grid, build, &draws, stop)? {
                    let loss = validation.objective(&point.run.predictor)?;
                    if loss < best.0 {
                        best = (loss, point.run.predictor);
                    }
                }
                best.1
            }
        };
        let spent = start.elapsed().as_nanos() as f64;
        let x = found.coefficients.first().context("a predictor without outputs")?;
        let hits = x.indices().iter().filter(|j| target.indices().binary_search(j).is_ok()).count();
        let truth = Predictor { coefficients: vec![target.clone()], intercepts: vec![0.0] };
        let error = (found.distance_squared(&truth) / target.view().norm_squared()).sqrt();
        let f1 = 2.0 * hits as f64 / (x.len() + target.len()) as f64;
        let metrics = [(F1, f1), (ERROR, error), (SPARSITY, x.len() as f64), (TIME, spent)];
        Ok(metrics.map(|(metric, value)| Measurement::new(rows, metric, value)).to_vec())
    }

    /// Draws the means of what was found against the median time.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        let names = self.contenders();
        let values = |name: &str, metric: &str| rows.values(name, metric, |_| true);
        let mean =
            |name: &str, metric: &str| mean_sd(&values(name, metric)).map_or(f64::NAN, |(mean, _)| mean);
        let seconds = |name: &str| median(&values(name, TIME)).unwrap_or(f64::NAN) / 1e9;
        let header = ["solver", "support F1", "relative error", "sparsity", "milliseconds"];
        let mut table = vec![header.map(String::from).to_vec()];
        for name in &names {
            table.push(vec![
                (*name).into(),
                format!("{:.3}", mean(name, F1)),
                format!("{:.4}", mean(name, ERROR)),
                format!("{:.1}", mean(name, SPARSITY)),
                format!("{:.2}", 1e3 * seconds(name)),
            ]);
        }
        let point = |name: &&str| Series::points(name, vec![[seconds(name), mean(name, F1)]]);
        let figure = Figure {
            caption: "Mean F1 of the support against median time.".into(),
            x: Axis::log("seconds"),
            y: Axis::linear("support F1"),
            series: names.iter().map(point).collect(),
        };
        let missed: Vec<f64> = names.iter().map(|name| 1.0 - mean(name, F1)).collect();
        let winner = best_two(&missed).map_or_else(String::new, |(best, _)| {
            // Differences of F1 below .01 are ignored.
            let close = |i: &usize| missed[*i] <= missed[best] + 0.01;
            let times: Vec<f64> = names.iter().map(|name| seconds(name)).collect();
            let fastest = (0..names.len()).filter(close).min_by(|&a, &b| times[a].total_cmp(&times[b]));
            let fastest = fastest.unwrap_or(best);
            format!(
                "{} has the highest mean F1 of the support, {:.3}. Of the solvers within .01 of it {} is the \
                 fastest: {:.2} ms.",
                names[best],
                mean(names[best], F1),
                names[fastest],
                1e3 * times[fastest],
            )
        });
        Analysis { winner, figures: vec![figure], table }
    }
}
