//! The kind `thresholding-curve`: the loss of solvers of finite sums against IFO calls, thresholdings and
//! time; or, with sweeps, the IFO calls until the loss has fallen, as rows, condition number and error
//! change.

use super::orders::{self, Bound, Sweep, reached};
use super::recovery::row;
use super::tuning::Tuning;
use super::{Analysis, Job, Kind, Measurement, Rows};
use crate::data::Design;
use crate::row::{Row, mean_sd, median};
use crate::tier::Size;
use anyhow::{Context as _, bail, ensure};
use lao_algorithms::thresholding::{Shape, Solver, SolverLimit, SolverRow, SolverTask, registry, resume};
use lao_datasets::catalog::Catalog;
use lao_datasets::format::{SparseRows, Table};
use lao_datasets::preprocess::normalize_rows;
use lao_figures::{Axis, Figure, Series, Style};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_kernels::Compressed;
use lao_observation::Seed;
use lao_observation::sample::SubsetSampler;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

const LOSS: &str = "f";
const THRESHOLDS: &str = "thresholdings";
const TIME: &str = "seconds";
const TUNED: &str = "step size by 1/L";
const ROWS: &str = "rows";
/// The number of points of a curve.
const POINTS: u64 = 40;
/// The number of points in which a cost is looked for.
const POINTS_OF_COST: u64 = 400;
/// Gaps are cut off here.
const LEAST_GAP: f64 = 1e-15;

/// The settings of the kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdingCurve {
    /// `k`.
    sparsity: usize,
    /// The IFO calls of a run, in passes over all rows.
    passes: u64,
    #[serde(default)]
    loss: LossName,
    /// `lambda`, for `lambda/2 |x|^2`.
    #[serde(default)]
    ridge: f64,
    /// Whether the gap to the least value found by anyone is drawn, not the value.
    #[serde(default)]
    gap: bool,
    /// The rows: those of a design, or of a dataset of the catalog.
    data: SumData,
    /// The step sizes that are tried, in units of 1/L, L of a component, on draws of their own.
    steps: Vec<f64>,
    /// The quantities that change, one at a time: `rows`, `condition` or `error`.
    #[serde(default)]
    sweeps: Vec<Sweep>,
    /// The gap, as a part of that at zero, to which the cost is counted in sweeps.
    #[serde(default = "moderate")]
    error: f64,
    solvers: Vec<SolverSpec>,
    /// The rows of a dataset, with their labels.
    #[serde(skip)]
    loaded: OnceLock<Result<Arc<SparseRows>, String>>,
    /// The place of the step size that each solver has chosen.
    #[serde(skip)]
    chosen: Tuning,
}

fn moderate() -> f64 {
    1e-4
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LossName {
    #[default]
    Squares,
    Logistic,
    Softmax,
}

/// The rows of a sum.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum SumData {
    /// Autoregressive columns and a target, as in [`Recovery`](super::recovery::Recovery).
    Design { dim: usize, rows: u64, correlation: f64, columns: Design },
    /// The training rows of the first of these datasets that is at hand, at most so many, each divided by its
    /// norm.
    Dataset { dataset: Vec<String>, most_rows: u64 },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SolverSpec {
    name: String,
    /// Name in the registry of solvers.
    #[serde(deserialize_with = "row")]
    solver: &'static SolverRow,
    /// Whether the solver chooses its own step size, which is then not tuned.
    #[serde(default)]
    own_step: bool,
    #[serde(default)]
    bounds: Vec<Bound>,
}

/// What a run is like at one time.
struct Mark {
    calls: u64,
    thresholds: u64,
    seconds: f64,
    loss: f64,
}

impl ThresholdingCurve {
    /// Returns the sum of a repetition, in which one quantity of a sweep has another value.
    fn sum(
        &self,
        size: Size,
        sweep: Option<(&str, f64)>,
        seed: &Seed,
        by_rows: bool,
    ) -> anyhow::Result<FiniteSum> {
        let (examples, labels) = match &self.data {
            SumData::Design { dim, rows, correlation, columns } => {
                let (mut rows, mut a) = (size.scaled(*rows, 10) as usize, *correlation);
                match sweep {
                    Some(("rows", value)) => rows = size.scaled(value as u64, 10) as usize,
                    // The spectrum of the columns lies between (1 - a)/(1 + a) and its reciprocal.
                    Some(("condition", value)) => a = (value.sqrt() - 1.0) / (value.sqrt() + 1.0),
                    Some(("error", _)) | None => {}
                    Some((other, _)) => bail!("sweeps.of = \"{other}\": give rows, condition or error"),
                }
                let target = columns.target(*dim, seed)?;
                columns.correlated(&target, a, rows, &seed.child("train"))?.laid_out(by_rows)?
            }
            SumData::Dataset { dataset, most_rows } => {
                ensure!(sweep.is_none_or(|(of, _)| of == "error"), "a dataset has its rows");
                let most = size.scaled(*most_rows, 200) as usize;
                let name = at_hand(dataset)?;
                let rows = self.loaded.get_or_init(|| {
                    let rows = dataset_rows(&name, *most_rows as usize);
                    rows.map(Arc::new).map_err(|error| format!("{error:#}"))
                });
                let rows = rows.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?;
                let (examples, labels) = first(rows, most)?;
                (DesignMatrix::compressed_rows(examples), labels)
            }
        };
        let loss = match self.loss {
            LossName::Squares => Loss::least_squares(labels)?,
            LossName::Logistic => Loss::logistic(&labels)?,
            LossName::Softmax => Loss::softmax(&labels)?,
        };
        Ok(FiniteSum::new(examples, loss)?.with_ridge(self.ridge)?)
    }

    /// Builds a solver whose step size is so many times 1/L.
    fn solver(&self, spec: &SolverSpec, sum: &FiniteSum, step: f64) -> anyhow::Result<Box<dyn Solver>> {
        let step_size = (!spec.own_step).then(|| step / sum.component_smoothness());
        let task = SolverTask { sparsity: self.sparsity, step_size, start: None };
        Ok((spec.solver.build)(Shape::of(sum), &task)?)
    }

    /// Runs a solver to the end of its calls and returns what it was like at so many times.
    fn run(
        &self,
        sum: &mut FiniteSum,
        solver: &mut dyn Solver,
        seed: &Seed,
        points: u64,
    ) -> anyhow::Result<Vec<Mark>> {
        let (calls, mut rng) = (self.passes.saturating_mul(sum.len() as u64), seed.rng());
        sum.reset_meter();
        let (mut marks, mut seconds) = (Vec::new(), 0.0);
        for point in 0..=points {
            let start = Instant::now();
            // The limit is one of the calls from here on; what a long step could not use is kept for it.
            let all = (u128::from(calls) * u128::from(point) / u128::from(points)) as u64;
            let stop = SolverLimit::after_calls(all.saturating_sub(sum.meter().calls));
            // A step that diverges ends the curve.
            let ended = resume(sum, solver, &mut rng, stop).is_err();
            seconds += start.elapsed().as_secs_f64();
            let meter = sum.meter();
            let loss = sum.objective(solver.coefficients()).unwrap_or(f64::INFINITY);
            marks.push(Mark { calls: meter.calls, thresholds: meter.thresholds, seconds, loss });
            if ended || !loss.is_finite() {
                break;
            }
        }
        Ok(marks)
    }

    /// Returns the step size that ends with the least loss, on the rows of another repetition.
    fn choose(&self, contender: usize, size: Size, sweep: Option<(&str, f64)>) -> anyhow::Result<f64> {
        let spec = &self.solvers[contender];
        if spec.own_step || self.steps.len() == 1 {
            return Ok(self.steps.first().copied().unwrap_or(1.0));
        }
        let place = self.chosen.choose(contender, &format!("{sweep:?}"), || {
            let seed = Seed::root(0).child("tuning");
            let score = |step: &f64| -> anyhow::Result<f64> {
                let mut sum = self.sum(size, sweep, &seed, spec.solver.random)?;
                let mut solver = self.solver(spec, &sum, *step)?;
                let marks = self.run(&mut sum, &mut *solver, &seed.child("algorithm"), 1)?;
                let loss = marks.last().map_or(f64::INFINITY, |mark| mark.loss);
                Ok(loss)
            };
            self.steps.iter().map(score).collect()
        })?;
        Ok(self.steps[place])
    }

    /// Returns the IFO calls until the gap is a part of what it was at zero, at each value of each sweep.
    fn costs(&self, contender: usize, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let (spec, mut found) = (&self.solvers[contender], Vec::new());
        // By IFO calls, the gap as a part of that at zero.
        let curve = |sweep: Option<(&str, f64)>| -> anyhow::Result<Vec<(f64, f64)>> {
            let step = self.choose(contender, size, sweep)?;
            let mut sum = self.sum(size, sweep, seed, spec.solver.random)?;
            let least = self.least(&mut sum, seed)?;
            let mut solver = self.solver(spec, &sum, step)?;
            let marks = self.run(&mut sum, &mut *solver, &seed.child("algorithm"), POINTS_OF_COST)?;
            let first = marks.first().map_or(f64::NAN, |mark| mark.loss) - least;
            let part = |mark: &Mark| (mark.calls as f64, ((mark.loss - least) / first).max(LEAST_GAP));
            Ok(marks.iter().map(part).collect())
        };
        for sweep in &self.sweeps {
            // One curve has all errors.
            let of_errors = if sweep.of == "error" { Some(curve(None)?) } else { None };
            for &value in &sweep.values {
                let cost = match &of_errors {
                    Some(curve) => reached(curve, value),
                    None => reached(&curve(Some((&sweep.of, value)))?, self.error),
                };
                let (metric, cost) = (orders::metric(&sweep.of, value), cost.unwrap_or(f64::NAN));
                found.push(Measurement::new(cost as u64, metric, cost));
            }
        }
        Ok(found)
    }

    /// Returns the least value that exchanges find.
    fn least(&self, sum: &mut FiniteSum, seed: &Seed) -> anyhow::Result<f64> {
        let solver = registry::solver("exchange").context("there is no solver `exchange`")?;
        let task = SolverTask { sparsity: self.sparsity, ..SolverTask::default() };
        let mut solver = (solver.build)(Shape::of(sum), &task)?;
        resume(sum, &mut *solver, &mut seed.rng(), SolverLimit::after_rounds(100))?;
        let least = sum.objective(solver.coefficients())?;
        sum.reset_meter();
        Ok(least)
    }
}

/// Returns the first rows, and their labels.
fn first(rows: &SparseRows, count: usize) -> anyhow::Result<(Compressed<f64>, Vec<f64>)> {
    let count = count.min(rows.rows());
    let end = rows.starts[count];
    let (starts, indices) = (rows.starts[..=count].to_vec(), rows.indices[..end].to_vec());
    let examples = Compressed::new(rows.dim, starts, indices, rows.values[..end].to_vec())?;
    Ok((examples, rows.labels[..count].to_vec()))
}

/// Returns the first of some datasets that is at hand.
fn at_hand(datasets: &[String]) -> anyhow::Result<String> {
    let catalog = Catalog::from_env()?;
    for name in datasets {
        if catalog.has(name)? {
            return Ok(name.clone());
        }
    }
    let first = datasets.first().context("data.dataset: name at least one dataset")?;
    // The error says where it was looked for.
    catalog.find(first)?;
    Ok(first.clone())
}

/// Returns training rows of a dataset in a random order, each divided by its norm.
fn dataset_rows(name: &str, most: usize) -> anyhow::Result<SparseRows> {
    let table = Catalog::from_env()?.load(name)?.train;
    let (rows, dim, mut order) = (table.rows(), table.dim(), Vec::new());
    let mut rng = Seed::root(0).child("rows").rng();
    SubsetSampler::new(rows).draw(most.min(rows), &mut rng, &mut order);
    let mut taken = SparseRows { starts: vec![0], dim, ..SparseRows::default() };
    for i in order.into_iter().map(|i| i as usize) {
        match &table {
            Table::Sparse(sparse) => {
                let row = sparse.row(i);
                taken.indices.extend_from_slice(row.indices);
                taken.values.extend_from_slice(row.values);
                taken.labels.push(sparse.labels[i]);
            }
            Table::Dense(dense) => {
                for (j, x) in (0..dim).map(|j| (j, dense.column(j)[i])).filter(|(_, x)| *x != 0.0) {
                    taken.indices.push(j as u32);
                    taken.values.push(x);
                }
                taken.labels.push(dense.labels[i]);
            }
        }
        taken.starts.push(taken.indices.len());
    }
    normalize_rows(&mut taken);
    Ok(taken)
}

impl Kind for ThresholdingCurve {
    fn label(&self) -> &'static str {
        "thresholding curve"
    }

    fn contenders(&self) -> Vec<&str> {
        self.solvers.iter().map(|solver| solver.name.as_str()).collect()
    }

    fn needs_idle_machine(&self) -> bool {
        self.sweeps.is_empty()
    }

    fn dims(&self, _contender: usize) -> anyhow::Result<Vec<usize>> {
        Ok(vec![match &self.data {
            SumData::Design { dim, .. } => *dim,
            SumData::Dataset { dataset, .. } => Catalog::from_env()?.dataset(&at_hand(dataset)?)?.features,
        }])
    }

    fn check(&self) -> anyhow::Result<()> {
        let steps = !self.steps.is_empty() && self.steps.iter().all(|step| *step > 0.0 && step.is_finite());
        ensure!(steps && self.passes > 0, "steps and passes must be positive");
        let smallest = Size { repetitions: 1, scale: f64::MIN_POSITIVE };
        for (of, value) in self.sweeps.iter().flat_map(|s| s.values.iter().map(|v| (s.of.as_str(), *v))) {
            self.sum(smallest, Some((of, value)), &Seed::root(0), true)?;
        }
        let sum = self.sum(smallest, None, &Seed::root(0), true)?;
        self.solvers.iter().try_for_each(|spec| self.solver(spec, &sum, 1.0).map(drop))
    }

    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        if !self.sweeps.is_empty() {
            return self.costs(job.contender, size, seed);
        }
        let spec = &self.solvers[job.contender];
        let step = self.choose(job.contender, size, None)?;
        let mut sum = self.sum(size, None, seed, spec.solver.random)?;
        let mut solver = self.solver(spec, &sum, step)?;
        let marks = self.run(&mut sum, &mut *solver, &seed.child("algorithm"), POINTS)?;
        let mut found = vec![Measurement::new(0, ROWS, sum.len() as f64)];
        if !spec.own_step {
            found.push(Measurement::new(0, TUNED, step));
        }
        for Mark { calls, thresholds, seconds, loss } in marks {
            let metrics = [(LOSS, loss), (THRESHOLDS, thresholds as f64), (TIME, seconds)];
            found.extend(metrics.map(|(metric, value)| Measurement::new(calls, metric, value)));
        }
        Ok(found)
    }

    fn drawn(&self, rows: &Rows<'_>, contender: &str, part: f64) -> BTreeMap<u64, f64> {
        let calls = part * self.passes as f64 * rows_of_sum(rows);
        let of = |row: &&Row| row.learner == contender && row.metric == LOSS && row.examples as f64 <= calls;
        // The last one of each repetition stays.
        rows.0.iter().filter(of).filter_map(|row| Some((row.repetition, row.value?))).collect()
    }

    fn exponents(&self, rows: &Rows<'_>, contender: &str, of: &str) -> Vec<f64> {
        orders::exponents(rows, contender, of, &self.sweeps)
    }

    fn data(&self) -> anyhow::Result<Option<String>> {
        match &self.data {
            SumData::Design { .. } => Ok(None),
            SumData::Dataset { dataset, .. } => at_hand(dataset).map(Some),
        }
    }

    /// Draws losses against IFO calls, thresholdings and time: the mean of the logarithm over repetitions.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        if !self.sweeps.is_empty() {
            let contenders: Vec<(&str, &[Bound])> =
                self.solvers.iter().map(|solver| (solver.name.as_str(), &solver.bounds[..])).collect();
            return orders::analyze(rows, &contenders, &self.sweeps, "IFO calls");
        }
        let names = self.contenders();
        let least = |repetition: u64| -> f64 {
            let of = |row: &&Row| row.repetition == repetition && row.metric == LOSS;
            rows.0.iter().filter(of).filter_map(|row| row.value).fold(f64::INFINITY, f64::min)
        };
        let n = rows_of_sum(rows);
        let repetitions = rows.repetitions();
        // By contender and repetition: calls by n, thresholdings, seconds and the value that is drawn.
        let curve = |name: &str, repetition: u64| -> Vec<[f64; 4]> {
            let of = |metric: &'static str| {
                let of = move |row: &&Row| {
                    row.learner == name && row.repetition == repetition && row.metric == metric
                };
                rows.0.iter().filter(of)
            };
            let (floor, gap) = (least(repetition), self.gap);
            of(LOSS)
                .zip(of(THRESHOLDS))
                .zip(of(TIME))
                .map(|((f, thresholds), seconds)| {
                    let f = f.value.unwrap_or(f64::INFINITY);
                    let y = if gap { (f - floor).max(LEAST_GAP) } else { f };
                    let number = |row: &Row| row.value.unwrap_or(f64::NAN);
                    [thresholds.examples as f64 / n, number(thresholds), number(seconds), y]
                })
                .collect()
        };
        let curves: Vec<Vec<Vec<[f64; 4]>>> =
            names.iter().map(|name| (0..repetitions).map(|r| curve(name, r)).collect()).collect();
        let drawn = |x: usize| {
            let series = |(name, curves): (&&str, &Vec<Vec<[f64; 4]>>)| {
                let length = curves.iter().map(Vec::len).min().unwrap_or(0);
                let mean = |at: usize, c: usize| {
                    curves.iter().map(|curve| curve[at][c]).sum::<f64>() / curves.len().max(1) as f64
                };
                let log = |at: usize| {
                    let sum: f64 = curves.iter().map(|curve| curve[at][3].ln()).sum();
                    (sum / curves.len().max(1) as f64).exp()
                };
                let points = (0..length).map(|at| [mean(at, x), log(at)]).collect();
                Series { name: (*name).into(), style: Style::Line, points, interval: Vec::new() }
            };
            names.iter().zip(&curves).map(series).collect()
        };
        let value = if self.gap { "f - f*" } else { "f" };
        let figure = |x: usize, label: &str| Figure {
            caption: format!("{value} against {label}: geometric means of {repetitions} repetitions."),
            x: Axis::linear(label),
            y: Axis::log(value),
            series: drawn(x),
        };
        let figures = vec![figure(0, "IFO calls / n"), figure(1, "hard thresholdings"), figure(2, "seconds")];
        let header = ["solver", "step by 1/L", value, "2 sd of its ln", "thresholdings", "seconds"];
        let mut table = vec![header.map(String::from).to_vec()];
        let mut finals = Vec::new();
        for (name, curves) in names.iter().zip(&curves) {
            let last: Vec<[f64; 4]> = curves.iter().filter_map(|curve| curve.last().copied()).collect();
            let column = |c: usize| last.iter().map(|mark| mark[c]).collect::<Vec<f64>>();
            let logs: Vec<f64> = column(3).iter().map(|y| y.ln()).collect();
            let (mean, sd) = mean_sd(&logs).unwrap_or((f64::INFINITY, f64::NAN));
            let step = rows.values(name, TUNED, |_| true).first().copied();
            finals.push(mean);
            table.push(vec![
                (*name).into(),
                step.map_or_else(|| "its own".into(), |step| format!("{step}")),
                format!("{:.3e}", mean.exp()),
                format!("{:.2}", 2.0 * sd),
                format!("{:.0}", median(&column(1)).unwrap_or(f64::NAN)),
                format!("{:.3}", median(&column(2)).unwrap_or(f64::NAN)),
            ]);
        }
        let winner = super::best_two(&finals).map_or_else(String::new, |(best, _)| {
            format!("{} has the least {value} after {} passes.", names[best], self.passes)
        });
        Analysis { winner, figures, table }
    }
}

/// Returns the number of rows of the sum.
fn rows_of_sum(rows: &Rows<'_>) -> f64 {
    rows.0.iter().find(|row| row.metric == ROWS).and_then(|row| row.value).unwrap_or(1.0)
}
