//! Gathers and scatters beside plain loops, and the gradient over row-major memory: 25 + 25 scattered
//! attributes of 10^5 rows of 500.

mod numbers;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lao_kernels::{gather_dot, row_gather_dot, row_gather_gradient, scatter_axpy};
use numbers::normal;
use std::hint::black_box;

fn naive(indices: &[u32], values: &[f64], dense: &[f64]) -> f64 {
    indices.iter().zip(values).map(|(&index, value)| value * dense[index as usize]).sum()
}

/// `m` of `dim` indices, ascending.
fn some_of(dim: usize, m: usize) -> Vec<u32> {
    let key = normal(1, dim);
    let mut order: Vec<u32> = (0..dim as u32).collect();
    order.sort_by(|&i, &j| key[i as usize].total_cmp(&key[j as usize]));
    order.truncate(m);
    order.sort_unstable();
    order
}

fn gather(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gather");
    for (dim, m) in [(500, 10), (500, 25), (500, 100), (50_000, 100), (1_000_000, 100_000)] {
        let (indices, values, mut dense) = (some_of(dim, m), normal(2, m), normal(3, dim));
        let id = |name| BenchmarkId::new(name, format!("d={dim} m={m}"));
        group.throughput(Throughput::Elements(m as u64));
        group.bench_function(id("dot"), |bencher| {
            bencher.iter(|| gather_dot(black_box(&indices), &values, &dense))
        });
        group.bench_function(id("dot, naive"), |bencher| {
            bencher.iter(|| naive(black_box(&indices), &values, &dense))
        });
        group.bench_function(id("scatter"), |bencher| {
            bencher.iter(|| scatter_axpy(black_box(&mut dense), black_box(&indices), &values, 1e-9));
        });
    }
}

fn rows(criterion: &mut Criterion) {
    const DIM: usize = 500;
    const EXAMPLES: usize = 100_000;
    let mut group = criterion.benchmark_group("row-major gradient");
    let rows = normal(1, EXAMPLES).repeat(DIM);
    let (labels, values) = (normal(2, EXAMPLES), normal(3, 25));
    let all = some_of(DIM, 50);
    let (support, block): (Vec<u32>, Vec<u32>) =
        (all.iter().copied().step_by(2).collect(), all.iter().copied().skip(1).step_by(2).collect());
    let mut sums = vec![0.0; 25];
    group.sample_size(20);
    group.throughput(Throughput::Elements(EXAMPLES as u64));
    for tile in [1, 16, 64] {
        let mut r = vec![0.0; tile];
        group.bench_function(format!("tile {tile}"), |bencher| {
            bencher.iter(|| {
                for (rows, labels) in rows.chunks(tile * DIM).zip(labels.chunks(tile)) {
                    let r = &mut r[..labels.len()];
                    row_gather_dot(rows, DIM, &support, &values, labels, r);
                    row_gather_gradient(rows, DIM, &block, r, &mut sums);
                }
            });
        });
    }
    group.bench_function("plain loop", |bencher| {
        bencher.iter(|| {
            for (row, label) in rows.chunks_exact(DIM).zip(&labels) {
                let r = naive(&support, &values, row) - label;
                for (sum, &j) in sums.iter_mut().zip(&block) {
                    *sum += r * row[j as usize];
                }
            }
        });
    });
}

criterion_group!(benches, gather, rows);
criterion_main!(benches);
