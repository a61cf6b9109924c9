//! Whole learners, from the session to the estimate, each beside its naive twin in the same run.
//!
//! - `columns-*`, `rows-f64`: Exploration over 10^5 examples of 500 attributes, 50 of them observed, with a
//!   scattered support. The throughput counts examples, so its inverse is the time per example. The twins are
//!   plain scalar loops over the same memory.
//! - `hybrid`, `naive`: the other methods, beside loops that do the same with dense vectors.
//! - `pursuit`: Pursuit at several numbers of examples from its start, with Hybrid on the same source beside
//!   it. All is asked for as values, and served from a cache.
//! - `ask`: the time that the session adds to an ask for one example's values, beside the same source and
//!   learner without a session.
//! - `dimension`: Exploration at several d, on signs that are computed when observed. The time per example
//!   must not grow.
//!
//! Outside of `cargo bench`, as in `cargo test --benches`, every benchmark runs once on a hundredth of the
//! examples.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lao_algorithms::murata_suzuki::{ExplorationParams, HybridParams, NaiveParams};
use lao_algorithms::pursuit::PursuitParams;
use lao_algorithms::{BatchSizes, StepSizes, Task};
use lao_datasets::memory::{Columns, Rows};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::{Element, SparseVector, SparseView};
use lao_observation::sample::SubsetSampler;
use lao_observation::{
    Ask, BlockBuf, Budget, LearnError, Learner, Rng, Seed, Session, SessionLimit, Source, SourceError, Told,
};
use rand::RngExt;
use std::hint::black_box;
use std::rc::Rc;

const DIM: usize = 500;
const HALF: usize = 25;
const BUDGET: usize = 2 * HALF;
const BLOCKS: usize = DIM / HALF;
/// The step size is small, so that the scattered support does not change and every pass does the same work.
const STEP: f64 = 1e-6;

fn examples() -> usize {
    if std::env::args().any(|arg| arg == "--bench") { 100_000 } else { 1_000 }
}

fn numbers(name: &str, count: usize) -> Vec<f64> {
    let mut rng = Seed::root(1).child(name).rng();
    (0..count).map(|_| rng.random_range(-1.7..1.7)).collect()
}

fn scattered(dim: usize, size: usize) -> SparseVector {
    let mut places = Vec::new();
    SubsetSampler::new(dim).draw(size, &mut Seed::root(2).rng(), &mut places);
    SparseVector::new(dim, places, vec![1.0; size]).unwrap()
}

fn exploration(dim: usize, batch: u64) -> ExplorationParams {
    let practical = ExplorationParams::practical(&Task {
        dim,
        sparsity: HALF,
        budget: BUDGET,
        speed: 4.0 * STEP,
        ..Task::default()
    })
    .unwrap();
    let start = Some(scattered(dim, HALF));
    ExplorationParams { batch: BatchSizes::Constant(batch), start, ..practical }
}

/// Makes one pass of a fresh learner over a fresh stream.
fn pass<L: Learner>(source: impl Source, mut learner: L, examples: usize) -> L {
    let mut session = Session::new(source, Budget::PerExample(BUDGET), &Seed::root(3));
    session.run(&mut learner, SessionLimit::after_examples(examples as u64), |_, _| {}).unwrap();
    learner
}

/// Returns the gradient at `theta` on `attributes` over the examples `rows`, column after column.
fn twin_columns<T: Element>(
    values: &[T],
    labels: &[f64],
    theta: SparseView<'_>,
    attributes: impl Iterator<Item = usize>,
    rows: std::ops::Range<usize>,
    gradient: &mut [f64],
) {
    let column = |j: usize| &values[j * labels.len()..][rows.clone()];
    let mut residual: Vec<f64> = labels[rows.clone()].iter().map(|y| -y).collect();
    for (j, weight) in theta.iter() {
        residual.iter_mut().zip(column(j as usize)).for_each(|(r, x)| *r += weight * x.to_f64());
    }
    for j in attributes {
        gradient[j] += residual.iter().zip(column(j)).map(|(r, x)| 2.0 * r * x.to_f64()).sum::<f64>();
    }
}

fn twin_rows(values: &[f64], labels: &[f64], theta: SparseView<'_>, gradient: &mut [f64]) {
    let batch = labels.len() / BLOCKS;
    for (i, (row, label)) in values.chunks_exact(DIM).zip(labels).enumerate() {
        let block = (i / batch).min(BLOCKS - 1) * HALF;
        let residual = theta.iter().map(|(j, weight)| weight * row[j as usize]).sum::<f64>() - label;
        for j in block..block + HALF {
            gradient[j] += 2.0 * residual * row[j];
        }
    }
}

/// Returns `H_s(theta - scale g)`, by sorting.
fn twin_update(theta: SparseView<'_>, gradient: &[f64], scale: f64) -> SparseVector {
    let mut dense = theta.to_dense();
    dense.iter_mut().zip(gradient).for_each(|(t, g)| *t -= scale * g);
    let mut order: Vec<usize> = (0..dense.len()).collect();
    order.sort_by(|&a, &b| dense[b].abs().total_cmp(&dense[a].abs()));
    order[HALF..].iter().for_each(|&j| dense[j] = 0.0);
    SparseVector::from_dense(&dense)
}

fn assert_close(a: SparseView<'_>, b: SparseView<'_>) {
    assert_eq!(a.indices(), b.indices());
    a.values().iter().zip(b.values()).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} is not {b}"));
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(examples() as u64)).sample_size(30);
    group
}

fn columns<T: Element>(criterion: &mut Criterion, name: &str, convert: fn(f64) -> T) {
    let (n, labels) = (examples(), numbers("labels", examples()));
    let values: Vec<T> = numbers("values", n * DIM).into_iter().map(convert).collect();
    let source = Columns::new(DIM, values.clone(), labels.clone()).unwrap();
    let (batch, start) = (n / BLOCKS, scattered(DIM, HALF));
    let learner = exploration(DIM, batch as u64).build().unwrap();
    let twin = || {
        let mut gradient = vec![0.0; DIM];
        for i in 0..BLOCKS {
            let (block, rows) = (i * HALF..(i + 1) * HALF, i * batch..(i + 1) * batch);
            twin_columns(&values, &labels, start.view(), block, rows, &mut gradient);
        }
        twin_update(start.view(), &gradient, STEP / batch as f64)
    };
    assert_close(pass(source.clone(), learner.clone(), n).coefficients(), twin().view());
    let mut group = group(criterion, name);
    group.bench_function("exploration", |b| b.iter(|| pass(source.clone(), learner.clone(), n)));
    group.bench_function("twin", |b| b.iter(twin));
}

fn rows(criterion: &mut Criterion) {
    let (n, labels) = (examples(), numbers("labels", examples()));
    let values = numbers("values", n * DIM);
    let source = Rows::new(DIM, values.clone(), labels.clone()).unwrap();
    let (batch, start) = (n / BLOCKS, scattered(DIM, HALF));
    let learner = exploration(DIM, batch as u64).build().unwrap();
    let twin = || {
        let mut gradient = vec![0.0; DIM];
        twin_rows(&values, &labels, start.view(), &mut gradient);
        twin_update(start.view(), &gradient, STEP / batch as f64)
    };
    assert_close(pass(source.clone(), learner.clone(), n).coefficients(), twin().view());
    let mut group = group(criterion, "rows-f64");
    group.bench_function("exploration", |b| b.iter(|| pass(source.clone(), learner.clone(), n)));
    group.bench_function("twin", |b| b.iter(twin));
}

/// Returns parameters with which two fifths of `n` examples explore, and three fifths refine in three
/// updates.
fn hybrid_params(n: usize) -> HybridParams {
    let (explore, exploit) = (n * 2 / 5 / BLOCKS, n / 5);
    HybridParams {
        explore_batch: BatchSizes::Constant(explore as u64),
        exploit_batch: BatchSizes::Constant(exploit as u64),
        start: Some(scattered(DIM, HALF)),
        ..HybridParams::practical(&Task {
            dim: DIM,
            sparsity: HALF,
            budget: BUDGET,
            speed: 4.0 * STEP,
            ..Task::default()
        })
        .unwrap()
    }
}

fn hybrid(criterion: &mut Criterion) {
    let (n, labels) = (examples(), numbers("labels", examples()));
    let values = numbers("values", n * DIM);
    let source = Columns::new(DIM, values.clone(), labels.clone()).unwrap();
    let (explore, exploit) = (n * 2 / 5 / BLOCKS, n / 5);
    let start = scattered(DIM, HALF);
    let learner = hybrid_params(n).build().unwrap();
    let twin = || {
        let (mut gradient, mut theta) = (vec![0.0; DIM], start.clone());
        for i in 0..BLOCKS {
            let (block, rows) = (i * HALF..(i + 1) * HALF, i * explore..(i + 1) * explore);
            twin_columns(&values, &labels, theta.view(), block, rows, &mut gradient);
        }
        theta = twin_update(theta.view(), &gradient, STEP / explore as f64);
        for i in 2..5 {
            gradient.fill(0.0);
            let support = theta.indices().iter().map(|&j| j as usize);
            twin_columns(
                &values,
                &labels,
                theta.view(),
                support,
                i * exploit..(i + 1) * exploit,
                &mut gradient,
            );
            theta = twin_update(theta.view(), &gradient, STEP / exploit as f64);
        }
        theta
    };
    assert_close(pass(source.clone(), learner.clone(), n).coefficients(), twin().view());
    let mut group = group(criterion, "hybrid");
    group.bench_function("hybrid", |b| b.iter(|| pass(source.clone(), learner.clone(), n)));
    group.bench_function("twin", |b| b.iter(twin));
}

/// A source whose columns are one column of 2^17 numbers, each from another row on. The label is the sum of
/// every twentieth attribute, and noise.
#[derive(Clone)]
struct Shifted {
    column: Rc<[f64]>,
    labels: Rc<[f64]>,
    position: u64,
}

impl Shifted {
    const ROWS: usize = 1 << 17;
    const SHIFT: usize = 97;

    fn new() -> Self {
        let (column, noise) = (numbers("values", Self::ROWS), numbers("noise", Self::ROWS));
        let value = |i: usize, j: usize| column[(i + Self::SHIFT * j) % Self::ROWS];
        let effects = |i: usize| (0..DIM).step_by(DIM / HALF).map(|j| value(i, j)).sum::<f64>();
        let labels = (0..Self::ROWS).map(|i| effects(i) + noise[i]).collect();
        Shifted { column: column.into(), labels, position: 0 }
    }
}

impl Source for Shifted {
    fn dim(&self) -> usize {
        DIM
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = block.capacity();
        let copy = |from: &[f64], shift: usize, to: &mut [f64]| {
            let start = (self.position as usize + shift) % Self::ROWS;
            let head = rows.min(Self::ROWS - start);
            to[..head].copy_from_slice(&from[start..][..head]);
            to[head..rows].copy_from_slice(&from[..rows - head]);
        };
        for (c, &j) in attributes.iter().enumerate() {
            copy(&self.column, Self::SHIFT * j as usize, block.column_mut(c));
        }
        copy(&self.labels, 0, block.labels_mut());
        block.set_rows(rows);
        self.position += rows as u64;
        Ok(rows)
    }
    fn position(&self) -> u64 {
        self.position
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.position = position;
        Ok(())
    }
}

fn pursuit(criterion: &mut Criterion) {
    let (n, source) = (examples(), Shifted::new());
    let mut group = criterion.benchmark_group("pursuit");
    group.sample_size(10).throughput(Throughput::Elements(n as u64));
    let learner = hybrid_params(n).build().unwrap();
    group.bench_function(BenchmarkId::new("hybrid", n), |b| {
        b.iter(|| pass(source.clone(), learner.clone(), n))
    });
    let learner = PursuitParams::within(DIM, BUDGET).build().unwrap();
    for n in [n / 10, n, 10 * n] {
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("pursuit", n), |b| {
            b.iter(|| pass(source.clone(), learner.clone(), n))
        });
    }
}

/// Runs the naive method and its twin, which keeps a dense estimate and sorts all of it after every example.
fn naive(criterion: &mut Criterion) {
    let n = examples() / 10;
    let (labels, values) = (numbers("labels", n), numbers("values", n * DIM));
    let source = Rows::new(DIM, values.clone(), labels.clone()).unwrap();
    let start = scattered(DIM, HALF);
    let params = NaiveParams {
        step_size: StepSizes::Constant(STEP),
        start: Some(start.clone()),
        ..NaiveParams::practical(&Task {
            dim: DIM,
            sparsity: HALF,
            budget: BUDGET,
            speed: 4.0 * STEP,
            ..Task::default()
        })
        .unwrap()
    };
    let learner = params.build().unwrap();
    let twin = || {
        let (mut sampler, mut rng, mut drawn) = (SubsetSampler::new(DIM), Seed::root(3).rng(), Vec::new());
        let (mut theta, mut gradient) = (start.clone(), vec![0.0; DIM]);
        for (row, label) in values.chunks_exact(DIM).zip(&labels) {
            drawn.clear();
            sampler.draw(HALF, &mut rng, &mut drawn);
            let residual = theta.view().dot_dense(row) - label;
            gradient.fill(0.0);
            for &j in &drawn {
                gradient[j as usize] = 2.0 * residual * row[j as usize] * (DIM / HALF) as f64;
            }
            theta = twin_update(theta.view(), &gradient, STEP);
        }
        theta
    };
    let mut group = group(criterion, "naive");
    group.throughput(Throughput::Elements(n as u64));
    group.bench_function("naive", |b| b.iter(|| pass(source.clone(), learner.clone(), n)));
    group.bench_function("twin", |b| b.iter(twin));
}

/// A source that answers with whatever the block holds.
struct Blank(u64);

impl Source for Blank {
    fn dim(&self) -> usize {
        DIM
    }
    fn observe(&mut self, _: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        block.set_rows(1);
        self.0 += 1;
        Ok(1)
    }
    fn position(&self) -> u64 {
        self.0
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.0 = position;
        Ok(())
    }
}

/// A learner that asks for the same attributes of every example.
struct Looker {
    attributes: Vec<u32>,
    theta: SparseVector,
    seen: u64,
}

impl Learner for Looker {
    fn dim(&self) -> usize {
        DIM
    }
    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        ask.values(1).extend_from_slice(&self.attributes);
    }
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        if let Told::Values(block) = black_box(told) {
            self.seen += block.rows() as u64;
        }
        Ok(())
    }
    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }
    fn updates(&self) -> u64 {
        0
    }
}

fn ask(criterion: &mut Criterion) {
    let attributes = scattered(DIM, BUDGET).indices().to_vec();
    let mut learner = Looker { attributes: attributes.clone(), theta: SparseVector::zeros(DIM), seen: 0 };
    let mut group = criterion.benchmark_group("ask");
    let mut session = Session::new(Blank(0), Budget::PerExample(BUDGET), &Seed::root(3));
    group.bench_function("session", |b| b.iter(|| session.step(&mut learner, u64::MAX).unwrap()));
    let (mut source, mut block, mut ask) = (Blank(0), BlockBuf::new(), Ask::new(DIM));
    let mut rng = Seed::root(3).rng();
    group.bench_function("twin", |b| {
        b.iter(|| {
            learner.ask(&mut rng, &mut ask);
            block.reset(BUDGET, 1);
            source.observe(black_box(&attributes), &mut block).unwrap();
            learner.tell(Told::Values(block.view(&attributes))).unwrap();
        })
    });
}

fn dimension(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dimension");
    let dims: &[usize] = if examples() < 10_000 { &[1_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    for &dim in dims {
        let (learner, batch) = (exploration(dim, 16).build().unwrap(), 16);
        let update = dim / HALF * batch;
        let law = Rademacher::new(dim).unwrap();
        let source = Virtual::new(law, scattered(dim, 10), Noise::Gaussian(1.0), &Seed::root(4)).unwrap();
        group.throughput(Throughput::Elements(update as u64)).sample_size(10);
        group.bench_function(BenchmarkId::new("exploration", dim), |b| {
            b.iter(|| pass(source.clone(), learner.clone(), update))
        });
    }
}

fn in_columns(criterion: &mut Criterion) {
    columns(criterion, "columns-f64", |x| x);
    columns(criterion, "columns-f32", |x| x as f32);
}

criterion_group!(benches, in_columns, rows, hybrid, pursuit, naive, ask, dimension);
criterion_main!(benches);
