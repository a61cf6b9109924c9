//! A gradient ask of Exploration on tables in memory: 500 attributes, 10^5 examples, 25 scattered support
//! attributes and a block of 25 consecutive ones. Time per example = reported time / 10^5 (the throughput
//! counts examples).
//!
//! Beside each storage its naive twin in the same run: a plain loop over whole columns, a plain loop over
//! rows. Each call asks for other attributes, so they come from memory, not from a cache. `scan-*` reads
//! every number of the rows once, which is the floor where the attributes of an ask lie on most cache lines.

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use lao_datasets::memory::{Columns, Rows};
use lao_kernels::{Element, SparseVector, first_not_finite, merge_into};
use lao_observation::sample::SubsetSampler;
use lao_observation::{GradientAsk, Scratch, Seed, Source};
use rand_distr::{Distribution, StandardNormal};
use std::hint::black_box;

const DIM: usize = 500;
const EXAMPLES: usize = 100_000;
const HALF: usize = 25;

/// The asks of twenty updates, gone through in turn.
struct Asks {
    each: Vec<(SparseVector, Vec<u32>, Vec<u32>)>,
    next: usize,
}

impl Asks {
    fn new() -> Asks {
        let (mut sampler, mut rng) = (SubsetSampler::new(DIM), Seed::root(3).rng());
        let each = (0..DIM / HALF).map(|block| {
            let (mut support, mut observed) = (Vec::new(), Vec::new());
            sampler.draw(HALF, &mut rng, &mut support);
            let attributes: Vec<u32> = (block * HALF..(block + 1) * HALF).map(|j| j as u32).collect();
            merge_into(&support, &attributes, &mut observed);
            (SparseVector::new(DIM, support, vec![0.1; HALF]).unwrap(), attributes, observed)
        });
        Asks { each: each.collect(), next: 0 }
    }

    fn next(&mut self) -> GradientAsk<'_> {
        self.next = (self.next + 1) % self.each.len();
        let (theta, attributes, observed) = &self.each[self.next];
        GradientAsk { theta: theta.view(), attributes, observed, examples: EXAMPLES as u64 }
    }
}

fn normal(seed: u64, count: usize) -> Vec<f64> {
    StandardNormal.sample_iter(Seed::root(seed).rng()).take(count).collect()
}

fn race(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut source: impl Source) {
    let (mut asks, mut sum, mut scratch) = (Asks::new(), vec![0.0; HALF], Scratch::default());
    group.bench_function(name, |bencher| {
        bencher.iter(|| source.seek(0).and_then(|()| source.gradient(asks.next(), &mut sum, &mut scratch)))
    });
}

fn naive_columns<T: Element>(values: &[T], labels: &[f64], ask: GradientAsk<'_>, sum: &mut [f64]) {
    let column = |j: u32| &values[j as usize * EXAMPLES..(j as usize + 1) * EXAMPLES];
    let mut residual: Vec<f64> = labels.iter().map(|y| -y).collect();
    for (j, weight) in ask.theta.iter() {
        for (r, x) in residual.iter_mut().zip(column(j)) {
            *r += weight * x.to_f64();
        }
    }
    for (sum, &j) in sum.iter_mut().zip(ask.attributes) {
        for (r, x) in residual.iter().zip(column(j)) {
            *sum += 2.0 * r * x.to_f64();
        }
    }
}

fn naive_rows(values: &[f64], labels: &[f64], ask: GradientAsk<'_>, sum: &mut [f64]) {
    for (row, label) in values.chunks_exact(DIM).zip(labels) {
        let residual = ask.theta.dot_dense(row) - label;
        for (sum, &j) in sum.iter_mut().zip(ask.attributes) {
            *sum += 2.0 * residual * row[j as usize];
        }
    }
}

fn gradients(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gradient");
    group.throughput(Throughput::Elements(EXAMPLES as u64)).sample_size(40);
    let labels = normal(2, EXAMPLES);
    let values = normal(1, EXAMPLES).repeat(DIM);
    let (mut asks, mut sum) = (Asks::new(), vec![0.0; HALF]);
    group.bench_function("columns-f64-naive", |bencher| {
        bencher.iter(|| naive_columns(black_box(&values), &labels, asks.next(), &mut sum))
    });
    group.bench_function("rows-f64-naive", |bencher| {
        bencher.iter(|| naive_rows(black_box(&values), &labels, asks.next(), &mut sum))
    });
    group.bench_function("scan-f64", |bencher| bencher.iter(|| first_not_finite(black_box(&values))));
    let rows = Rows::new(DIM, values, labels.clone()).unwrap();
    race(&mut group, "rows-f64", rows);

    let columns = Columns::new(DIM, normal(1, EXAMPLES).repeat(DIM), labels.clone()).unwrap();
    let single = columns.to_single().unwrap();
    race(&mut group, "columns-f64", columns);
    race(&mut group, "columns-f32", single);
    let values: Vec<f32> = normal(1, EXAMPLES).repeat(DIM).into_iter().map(|x| x as f32).collect();
    group.bench_function("columns-f32-naive", |bencher| {
        bencher.iter(|| naive_columns(black_box(&values), &labels, asks.next(), &mut sum))
    });
    group.bench_function("scan-f32", |bencher| bencher.iter(|| first_not_finite(black_box(&values))));
    race(&mut group, "rows-f32", Rows::new(DIM, values, labels.clone()).unwrap());
    group.finish();
}

criterion_group!(benches, gradients);
criterion_main!(benches);
