//! What a solver of finite sums finds on a correlated design, and how long it takes.

use super::{Analysis, Job};
use crate::record::{Row, mean_sd, median};
use crate::scenario::{Choose, Scenario, Size};
use anyhow::{Context as _, ensure};
use lao_algorithms::thresholding::{SolverLimit, SolverTask, path, solve};
use lao_figures::{Axis, Figure, Series};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, Predictor};
use lao_kernels::SparseVector;
use lao_observation::{BlockBuf, Seed};
use std::time::Instant;

const F1: &str = "support F1";
const ERROR: &str = "relative error of coefficients";
const SPARSITY: &str = "sparsity";
const TIME: &str = "ns per run";

/// Sparsities that validation chooses from, as quarters of the true one.
const QUARTERS: [usize; 7] = [1, 2, 3, 4, 5, 6, 8];

/// Columns of an autoregressive design, `x_j = a x_{j-1} + sqrt(1 - a^2) e_j` with the design's e, and labels around `target`.
fn examples(
    scenario: &Scenario,
    target: &SparseVector,
    rows: usize,
    seed: &Seed,
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let (data, dim) = (&scenario.data, target.dim());
    let a = data.correlation;
    ensure!((0.0..1.0).contains(&a), "scenarios/{}.toml: data.correlation must lie in [0, 1)", scenario.name);
    let fresh = (1.0 - a * a).sqrt();
    // Labels of the zero predictor are the noise alone.
    let mut source = data.stream(&SparseVector::zeros(dim), seed)?;
    let attributes: Vec<u32> = (0..dim as u32).collect();
    let (mut columns, mut labels, mut block) = (vec![0.0; rows * dim], Vec::new(), BlockBuf::new());
    while labels.len() < rows {
        let at = labels.len();
        block.reset(dim, BlockBuf::preferred_rows(dim).min(rows - at));
        let size = source.observe(&attributes, &mut block)?;
        ensure!(size > 0, "the design ran dry after {at} rows");
        let view = block.view(&attributes);
        labels.extend_from_slice(view.labels());
        for j in 0..dim {
            for (i, e) in view.column(j).iter().enumerate() {
                let place = j * rows + at + i;
                columns[place] = if j == 0 { *e } else { a * columns[place - rows] + fresh * e };
            }
        }
    }
    for (j, weight) in target.view().iter() {
        let column = &columns[j as usize * rows..][..rows];
        labels.iter_mut().zip(column).for_each(|(label, x)| *label += weight * x);
    }
    Ok((columns, labels))
}

/// One run: with the true sparsity, or along a path of sparsities of which a validation set chooses.
///
/// # Errors
/// When the definition lacks `train` or `test`, or the solver refuses or diverges.
pub fn measure(scenario: &Scenario, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Row>> {
    let (data, seed) = (&scenario.data, seed.trial(job.repetition));
    let count = |rows: Option<u64>, what: &str| {
        let rows = rows.with_context(|| format!("scenarios/{}.toml: data.{what}", scenario.name))?;
        anyhow::Ok(((rows as f64 * size.scale).ceil() as usize).max(10))
    };
    let (target, spec) = (data.target(job.dim, &seed)?, job.contender.solver()?);
    let sum = |rows: usize, name: &str| {
        let (columns, labels) = examples(scenario, &target, rows, &seed.child(name))?;
        // Each solver gets the layout that suits it.
        let examples = if spec.row.random {
            let row = |i| columns.iter().skip(i).step_by(rows).copied();
            DesignMatrix::rows(rows, job.dim, (0..rows).flat_map(row).collect())?
        } else {
            DesignMatrix::columns(rows, job.dim, columns)?
        };
        anyhow::Ok(FiniteSum::new(examples, Loss::least_squares(labels)?)?)
    };
    let rows = count(data.train, "train")?;
    let mut train = sum(rows, "train")?;
    let mut validation = sum(count(data.test, "test")?, "validation")?;
    let step_size = spec.step / train.component_smoothness();
    let stop = SolverLimit { calls: Some(spec.passes * train.len() as u64), ..SolverLimit::default() };
    let draws = seed.child("algorithm");

    let start = Instant::now();
    let found: Predictor = match spec.choose {
        Choose::Known => {
            let task = SolverTask { sparsity: target.len(), step_size, start: None };
            let mut solver = (spec.row.build)(&train, &task)?;
            solve(&mut train, &mut *solver, &draws, stop, false)?.predictor
        }
        Choose::Validation => {
            let grid = QUARTERS.map(|quarters| (target.len() * quarters).div_ceil(4));
            let shape = train.clone();
            let build =
                |sparsity, start| (spec.row.build)(&shape, &SolverTask { sparsity, step_size, start });
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
    Ok(metrics.map(|(metric, value)| Row::of(scenario, job, rows as u64, metric, value)).to_vec())
}

/// Means of what was found beside the median time.
pub fn analyze(scenario: &Scenario, rows: &[Row]) -> Analysis {
    let names: Vec<&str> = scenario.learners.iter().filter_map(|table| table.get("name")?.as_str()).collect();
    let values = |name: &str, metric: &str| -> Vec<f64> {
        let fits = |row: &&Row| row.learner == name && row.metric == metric;
        rows.iter().filter(fits).map(|row| row.value).collect()
    };
    let mean = |name: &str, metric: &str| mean_sd(&values(name, metric)).map_or(f64::NAN, |(mean, _)| mean);
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
        caption: format!("{}. Mean F1 against median time.", scenario.title),
        x: Axis::log("seconds"),
        y: Axis::linear("support F1"),
        series: names.iter().map(point).collect(),
    };
    Analysis { figures: vec![figure], table }
}
