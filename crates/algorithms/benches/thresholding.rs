//! The solvers of finite sums on two shapes: 20,242 x 47,236 with 68 entries a row (logistic, k = 1000), and
//! dense least squares with far more rows than columns and the other way round. Supports are spread over all
//! columns at random.
//!
//! `scsg_step` is one inner step with a mini-batch of one row; its `twin` is the same step in dense loops
//! over all d coordinates. `gd_epoch` is one step of GD-HT on sparse rows or columns, in double or single
//! precision; its `twin` works on rows and sorts all coordinates. `htp` runs from zero to the fixed point of
//! support and refitted coefficients; its `twin` has plain loops over double-precision columns.
//!
//! Outside of `cargo bench`, as in `cargo test --benches`, every benchmark runs once at a hundredth of the
//! size.

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use lao_algorithms::thresholding::{
    EpochLength, GdParams, GdStep, ScsgParams, Shape, Solver, SolverEnd, SolverLimit, SolverTask, solve,
};
use lao_finite_sum::loss::logistic_slope;
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_kernels::{Compressed, Element, HardThreshold, SparseVector, Threshold, solve_positive};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Rng, Seed};
use rand::RngExt;
use std::hint::black_box;

const RIDGE: f64 = 1e-5;

/// Returns the full size in `cargo bench`, and a hundredth of it elsewhere.
fn size(full: usize) -> usize {
    if std::env::args().any(|arg| arg == "--bench") { full } else { full.div_ceil(100) }
}

fn normal(rng: &mut Rng) -> f64 {
    // The sum of twelve uniforms is nearly normal, by the central limit theorem.
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

fn subset(dim: usize, size: usize, rng: &mut Rng) -> Vec<u32> {
    let mut drawn = Vec::new();
    SubsetSampler::new(dim).draw(size, rng, &mut drawn);
    drawn.sort_unstable();
    drawn
}

/// Sparse rows of unit length with signs of a planted sparse predictor.
struct Text {
    rows: Compressed<f64>,
    labels: Vec<f64>,
    sparsity: usize,
}

impl Text {
    fn new() -> Text {
        let (n, dim, entries, sparsity) = (size(20_242), size(47_236), size(6800).min(68), size(1000));
        let mut rng = Seed::root(1).child("text").rng();
        let mut sampler = SubsetSampler::new(dim);
        let mut truth = vec![0.0; dim];
        subset(dim, sparsity, &mut rng).iter().for_each(|&j| truth[j as usize] = 10.0 * normal(&mut rng));
        let (mut starts, mut indices, mut values, mut labels) = (vec![0], vec![], vec![], vec![]);
        let mut row = Vec::new();
        for _ in 0..n {
            row.clear();
            sampler.draw(entries, &mut rng, &mut row);
            row.sort_unstable();
            let mut margin = 0.0;
            for &j in &row {
                let value = rng.random_range(0.5..1.5) / (entries as f64).sqrt();
                margin += value * truth[j as usize];
                values.push(value);
            }
            indices.extend_from_slice(&row);
            starts.push(indices.len());
            labels.push(if margin + 0.1 * normal(&mut rng) > 0.0 { 1.0 } else { -1.0 });
        }
        let rows = Compressed::new(dim, starts, indices, values).expect("valid parts");
        Text { rows, labels, sparsity }
    }

    fn single(&self) -> Compressed<f32> {
        let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
        for line in 0..self.rows.lines() {
            let (places, entries) = self.rows.line(line);
            indices.extend_from_slice(places);
            values.extend(entries.iter().map(|&value| value as f32));
            starts.push(indices.len());
        }
        Compressed::new(self.rows.width(), starts, indices, values).expect("valid parts")
    }

    fn sum<T: Element>(&self, examples: DesignMatrix<T>) -> FiniteSum {
        let loss = Loss::logistic(&self.labels).expect("signs");
        FiniteSum::new(examples, loss).and_then(|sum| sum.with_ridge(RIDGE)).expect("labels for all rows")
    }
}

/// The inner step of SCSG-HT as the paper states it, in which every coordinate moves.
struct DenseStep<'a> {
    text: &'a Text,
    x: SparseVector,
    weights: Vec<f64>,
    anchor: Vec<f64>,
    mu: Vec<f64>,
    moved: Vec<f64>,
    threshold: HardThreshold,
}

impl DenseStep<'_> {
    fn step(&mut self, eta: f64, rng: &mut Rng) {
        let i = rng.random_range(0..self.text.labels.len());
        let (indices, values) = self.text.rows.line(i);
        let slope = |w: &[f64]| {
            let margin: f64 = indices.iter().zip(values).map(|(&j, value)| w[j as usize] * value).sum();
            logistic_slope(margin, self.text.labels[i])
        };
        let slope = slope(&self.weights) - slope(&self.anchor);
        let entries = self.weights.iter().zip(&self.mu);
        self.moved.clear();
        self.moved.extend(entries.map(|(w, mu)| (1.0 - eta * RIDGE) * w - eta * mu));
        for (&j, value) in indices.iter().zip(values) {
            self.moved[j as usize] -= eta * slope * value;
        }
        self.x.indices().iter().for_each(|&j| self.weights[j as usize] = 0.0);
        self.threshold.keep(&self.moved, self.text.sparsity, &mut self.x).expect("finite");
        self.x.view().iter().for_each(|(j, value)| self.weights[j as usize] = value);
    }
}

fn steps(group: &mut BenchmarkGroup<'_, WallTime>, text: &Text) {
    let mut sum = text.sum(DesignMatrix::compressed_rows(text.rows.clone()));
    let (shape, sparsity, n) = (Shape::of(&sum), text.sparsity, sum.len());
    let eta = 1.0 / sum.component_smoothness();
    let length = EpochLength::Steps(n as u64);
    let params = ScsgParams { sparsity, step_size: eta, batch: n, mini_batch: 1, length, start: None };
    let mut solver = params.build(shape).expect("parameters in range");
    let start = solve(&mut sum, &mut solver, &Seed::root(2), SolverLimit::after_rounds(1)).expect("finite");
    let mut rng = Seed::root(3).rng();
    group.bench_function("scsg_step/b1", |bencher| {
        bencher.iter(|| solver.step(&mut sum, &mut rng).expect("finite"));
    });
    let mut gradient = lao_finite_sum::Gradient::default();
    sum.gradient(lao_finite_sum::Batch::All, &start.predictor, &mut gradient).expect("same shape");
    let x = start.predictor.coefficients[0].clone();
    let mut twin = DenseStep {
        text,
        weights: x.view().to_dense(),
        anchor: x.view().to_dense(),
        mu: gradient.coefficients.swap_remove(0),
        x,
        moved: Vec::new(),
        threshold: HardThreshold::default(),
    };
    group.bench_function("scsg_step/twin", |bencher| bencher.iter(|| twin.step(eta, &mut rng)));
}

/// Makes a step of GD-HT as the paper states it.
fn plain_epoch(text: &Text, eta: f64, x: &mut [f64]) {
    let n = text.labels.len();
    let mut gradient = vec![0.0; x.len()];
    for (i, label) in text.labels.iter().enumerate() {
        let (indices, values) = text.rows.line(i);
        let margin: f64 = indices.iter().zip(values).map(|(&j, value)| x[j as usize] * value).sum();
        let slope = logistic_slope(margin, *label) / n as f64;
        indices.iter().zip(values).for_each(|(&j, value)| gradient[j as usize] += slope * value);
    }
    x.iter_mut().zip(&gradient).for_each(|(x, gradient)| *x -= eta * (gradient + RIDGE * *x));
    let mut order: Vec<u32> = (0..x.len() as u32).collect();
    order.sort_by(|&i, &j| x[j as usize].abs().total_cmp(&x[i as usize].abs()));
    order[text.sparsity..].iter().for_each(|&j| x[j as usize] = 0.0);
}

fn epochs(group: &mut BenchmarkGroup<'_, WallTime>, text: &Text) {
    let single = text.single();
    let mut bench = |name: &str, mut sum: FiniteSum| {
        let eta = 4.0 / sum.component_smoothness();
        let params =
            GdParams { sparsity: text.sparsity, step: GdStep::Fixed(eta), refit: false, start: None };
        let mut solver = params.build(Shape::of(&sum)).expect("parameters in range");
        let mut rng = Seed::root(3).rng();
        group.bench_function(name, |bencher| {
            bencher.iter(|| solver.step(&mut sum, &mut rng).expect("finite"));
        });
    };
    bench("gd_epoch/rows_f64", text.sum(DesignMatrix::compressed_rows(text.rows.clone())));
    bench("gd_epoch/columns_f64", text.sum(DesignMatrix::compressed_columns(text.rows.transpose())));
    bench("gd_epoch/rows_f32", text.sum(DesignMatrix::compressed_rows(single.clone())));
    bench("gd_epoch/columns_f32", text.sum(DesignMatrix::compressed_columns(single.transpose())));
    let (mut x, eta) = (vec![0.0; text.rows.width()], 16.0);
    group.bench_function("gd_epoch/twin", |bencher| bencher.iter(|| plain_epoch(text, eta, &mut x)));
}

/// Independent normal columns and labels of a planted predictor with noise.
struct Regression {
    rows: usize,
    dim: usize,
    columns: Vec<f64>,
    labels: Vec<f64>,
    support: Vec<u32>,
}

impl Regression {
    fn new(rows: usize, dim: usize, sparsity: usize) -> Regression {
        let mut rng = Seed::root(4).child("regression").rng();
        let columns: Vec<f64> = (0..rows * dim).map(|_| normal(&mut rng)).collect();
        let support = subset(dim, sparsity, &mut rng);
        let mut labels: Vec<f64> = (0..rows).map(|_| 0.5 * normal(&mut rng)).collect();
        for &j in &support {
            let weight = if rng.random::<bool>() { 1.0 } else { -1.0 } * rng.random_range(0.5..1.5);
            let column = &columns[j as usize * rows..][..rows];
            labels.iter_mut().zip(column).for_each(|(y, x)| *y += weight * x);
        }
        Regression { rows, dim, columns, labels, support }
    }

    fn sum<T: Element>(&self, values: Vec<T>) -> FiniteSum {
        let loss = Loss::least_squares(self.labels.clone()).expect("finite");
        let examples = DesignMatrix::columns(self.rows, self.dim, values).expect("the shape");
        FiniteSum::new(examples, loss).expect("labels for all rows")
    }

    /// Returns the same sum over rows.
    fn sum_of_rows(&self) -> FiniteSum {
        let loss = Loss::least_squares(self.labels.clone()).expect("finite");
        let row = |i: usize| self.columns[i..].iter().step_by(self.rows).copied();
        let examples = DesignMatrix::rows(self.rows, self.dim, (0..self.rows).flat_map(row).collect());
        FiniteSum::new(examples.expect("the shape"), loss).expect("labels for all rows")
    }

    /// Runs HTP in plain loops.
    fn twin(&self) -> Vec<f64> {
        let (n, k) = (self.rows, self.support.len());
        let column = |j: u32| &self.columns[j as usize * n..][..n];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut x, mut support) = (vec![0.0; self.dim], Vec::new());
        for _ in 0..20 {
            let mut residual = self.labels.clone();
            for &j in &support {
                let weight = x[j as usize];
                residual.iter_mut().zip(column(j)).for_each(|(r, z)| *r -= weight * z);
            }
            let step = |j: u32| x[j as usize] + dot(column(j), &residual) / n as f64;
            let mut order: Vec<(u32, f64)> = (0..self.dim as u32).map(|j| (j, step(j).abs())).collect();
            order.sort_by(|a, b| b.1.total_cmp(&a.1));
            let mut next: Vec<u32> = order[..k].iter().map(|&(j, _)| j).collect();
            next.sort_unstable();
            if next == support {
                break;
            }
            support = next;
            let mut gram: Vec<f64> = Vec::with_capacity(k * k);
            support.iter().for_each(|&a| gram.extend(support.iter().map(|&b| dot(column(a), column(b)))));
            let mut right: Vec<f64> = support.iter().map(|&j| dot(column(j), &self.labels)).collect();
            solve_positive(&mut gram, &mut right);
            x.fill(0.0);
            support.iter().zip(right).for_each(|(&j, value)| x[j as usize] = value);
        }
        x
    }
}

fn pursuits(group: &mut BenchmarkGroup<'_, WallTime>) {
    for (rows, dim, sparsity) in [(20_000, 500, 25), (2000, 20_000, 50)] {
        let data = Regression::new(size(rows), size(dim), size(sparsity));
        let name = format!("htp/{rows}x{dim}");
        let single: Vec<f32> = data.columns.iter().map(|&value| value as f32).collect();
        let sums = [
            ("f64", data.sum(data.columns.clone())),
            ("f32", data.sum(single)),
            ("rows_f64", data.sum_of_rows()),
        ];
        for (storage, mut sum) in sums {
            let task = SolverTask { sparsity: data.support.len(), ..SolverTask::default() };
            let params = GdParams::practical(&task);
            group.bench_function(format!("{name}/{storage}"), |bencher| {
                bencher.iter(|| {
                    let mut solver = params.clone().build(Shape::of(&sum)).expect("parameters in range");
                    let stop = SolverLimit::after_rounds(20);
                    let run = solve(&mut sum, &mut solver, &Seed::root(1), stop).expect("finite");
                    assert_eq!(run.outcome, SolverEnd::Settled);
                    run.predictor
                });
            });
        }
        group.bench_function(format!("{name}/twin"), |bencher| bencher.iter(|| black_box(data.twin())));
    }
}

fn thresholding(criterion: &mut Criterion) {
    let text = Text::new();
    let mut group = criterion.benchmark_group("thresholding");
    steps(&mut group, &text);
    group.sample_size(20);
    epochs(&mut group, &text);
    pursuits(&mut group);
    group.finish();
}

criterion_group!(benches, thresholding);
criterion_main!(benches);
