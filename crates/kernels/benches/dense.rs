//! The gradient of the squared loss over column-major memory, as Exploration asks for it: the residual of 25
//! columns and the sums of 25 others, scattered among 500, with 10^5 examples. Beside it, a plain loop over
//! columns of the whole length, and the memory bandwidth: one sum over the same columns.
//!
//! Time per example = reported time / 10^5. Each call takes other columns, so they come from memory, not from
//! a cache.

mod numbers;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lao_kernels::{Element, TILE, axpy_column, dot_column, gradient_block, residual};
use numbers::normal;
use std::hint::black_box;

const DIM: usize = 500;
const EXAMPLES: usize = 100_000;
const HALF: usize = 25;

/// Column-major memory, with the columns to be used next.
struct Table<T> {
    values: Vec<T>,
    labels: Vec<f64>,
    order: Vec<usize>,
    next: usize,
}

impl<T: Element> Table<T> {
    fn new(convert: impl Fn(f64) -> T) -> Table<T> {
        let pattern: Vec<T> = normal(1, EXAMPLES).into_iter().map(convert).collect();
        let key = normal(2, DIM);
        let mut order: Vec<usize> = (0..DIM).collect();
        order.sort_by(|&i, &j| key[i].total_cmp(&key[j]));
        Table { values: pattern.repeat(DIM), labels: normal(3, EXAMPLES), order, next: 0 }
    }

    /// Moves on to fifty other columns.
    fn advance(&mut self) {
        self.next = (self.next + 2 * HALF) % DIM;
    }

    fn columns(&self, half: usize) -> &[usize] {
        let from = self.next + half * HALF;
        &self.order[from..from + HALF]
    }

    fn rows(&self, column: usize, from: usize, to: usize) -> &[T] {
        &self.values[column * EXAMPLES + from..column * EXAMPLES + to]
    }
}

fn tiled<T: Element>(table: &Table<T>, tile: usize, r: &mut [f64], sums: &mut [f64]) {
    for from in (0..EXAMPLES).step_by(tile) {
        let to = EXAMPLES.min(from + tile);
        let r = &mut r[..to - from];
        let weighted = table.columns(0).iter().map(|&column| (table.rows(column, from, to), 0.1));
        residual(weighted, &table.labels[from..to], r);
        gradient_block(table.columns(1).iter().map(|&column| table.rows(column, from, to)), r, sums);
    }
}

fn plain<T: Element>(table: &Table<T>, r: &mut [f64], sums: &mut [f64]) {
    r.copy_from_slice(&table.labels);
    for &column in table.columns(0) {
        for (r, x) in r.iter_mut().zip(table.rows(column, 0, EXAMPLES)) {
            *r += 0.1 * x.to_f64();
        }
    }
    for (sum, &column) in sums.iter_mut().zip(table.columns(1)) {
        *sum += table.rows(column, 0, EXAMPLES).iter().zip(&*r).map(|(x, r)| x.to_f64() * r).sum::<f64>();
    }
}

/// Sums the fifty columns and does nothing else.
fn read_only<T: Element>(table: &Table<T>) -> f64 {
    let sum = |column: usize| {
        let (chunks, _) = table.rows(column, 0, EXAMPLES).as_chunks::<16>();
        let mut acc = [0.0; 16];
        chunks.iter().for_each(|chunk| acc.iter_mut().zip(chunk).for_each(|(acc, x)| *acc += x.to_f64()));
        acc.iter().sum::<f64>()
    };
    (0..2).flat_map(|half| table.columns(half)).map(|&column| sum(column)).sum()
}

fn gradient<T: Element>(criterion: &mut Criterion, precision: &str, convert: impl Fn(f64) -> T) {
    let mut group = criterion.benchmark_group(format!("gradient/{precision}"));
    let mut table = Table::new(convert);
    let (mut r, mut sums) = (vec![0.0; EXAMPLES], vec![0.0; HALF]);
    group.sample_size(30);
    group.throughput(Throughput::Bytes((EXAMPLES * 2 * HALF * size_of::<T>()) as u64));
    for tile in [256, 1024, TILE, 4096] {
        group.bench_function(format!("tile {tile}"), |bencher| {
            bencher.iter(|| {
                table.advance();
                tiled(&table, tile, &mut r[..tile], &mut sums);
            });
        });
    }
    group.bench_function("plain loop", |bencher| {
        bencher.iter(|| {
            table.advance();
            plain(&table, &mut r, &mut sums);
        });
    });
    group.bench_function("read only", |bencher| {
        bencher.iter(|| {
            table.advance();
            black_box(read_only(&table))
        });
    });
}

fn in_memory(criterion: &mut Criterion) {
    gradient(criterion, "f64", |x| x);
    gradient(criterion, "f32", |x| x as f32);
}

fn in_cache(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("column in cache");
    let (column, mut r) = (normal(1, 1000), normal(2, 1000));
    group.throughput(Throughput::Bytes(16 * 1000));
    group.bench_function("dot", |bencher| bencher.iter(|| dot_column(black_box(&column), black_box(&r))));
    group.bench_function("dot, iterator sum", |bencher| {
        bencher.iter(|| black_box(&column).iter().zip(black_box(&r)).map(|(x, r)| x * r).sum::<f64>());
    });
    group.bench_function("axpy", |bencher| {
        bencher.iter(|| axpy_column(black_box(&mut r), black_box(&column), 1e-9))
    });
}

criterion_group!(benches, in_memory, in_cache);
criterion_main!(benches);
