//! Hard thresholding, cold and warm, beside selection among indices and a sort.
//!
//! `warm` thresholds vectors that differ from call to call by a tenth of their scale, as iterates do.

mod numbers;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lao_kernels::{HardThreshold, SparseVector, Threshold};
use numbers::normal;
use std::hint::black_box;

/// Orders all indices by magnitude and keeps the first.
fn sorting(dense: &[f64], s: usize) -> SparseVector {
    let mut order: Vec<u32> = (0..dense.len() as u32).collect();
    order.sort_by(|&i, &j| dense[j as usize].abs().total_cmp(&dense[i as usize].abs()).then(i.cmp(&j)));
    keep(dense, &mut order[..s])
}

/// Selects among indices.
fn selecting(dense: &[f64], s: usize) -> SparseVector {
    let mut order: Vec<u32> = (0..dense.len() as u32).collect();
    order.select_nth_unstable_by(s - 1, |&i, &j| {
        dense[j as usize].abs().total_cmp(&dense[i as usize].abs()).then(i.cmp(&j))
    });
    keep(dense, &mut order[..s])
}

fn keep(dense: &[f64], indices: &mut [u32]) -> SparseVector {
    indices.sort_unstable();
    let mut kept = SparseVector::zeros(dense.len());
    indices.iter().for_each(|&j| kept.push(j, dense[j as usize]));
    kept
}

fn threshold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("threshold");
    for (dim, s) in
        [(500, 10), (500, 50), (50_000, 50), (50_000, 5_000), (1_000_000, 50), (1_000_000, 100_000)]
    {
        let base = normal(1, dim);
        let drift: Vec<Vec<f64>> = (2..10)
            .map(|seed| base.iter().zip(normal(seed, dim)).map(|(x, noise)| x + 0.1 * noise).collect())
            .collect();
        let id = |name| BenchmarkId::new(name, format!("d={dim} s={s}"));
        group.throughput(Throughput::Elements(dim as u64));
        let mut kept = SparseVector::zeros(dim);
        for name in ["cold", "warm"] {
            group.bench_function(id(name), |bencher| {
                let mut call = 0;
                let mut threshold = HardThreshold::default();
                bencher.iter(|| {
                    if name == "cold" {
                        threshold = HardThreshold::default();
                    }
                    call = (call + 1) % drift.len();
                    threshold.keep(black_box(&drift[call]), s, &mut kept)
                });
            });
        }
        group.bench_function(id("selecting"), |bencher| bencher.iter(|| selecting(black_box(&base), s)));
        if dim <= 50_000 {
            group.bench_function(id("sorting"), |bencher| bencher.iter(|| sorting(black_box(&base), s)));
        }
    }
}

criterion_group!(benches, threshold);
criterion_main!(benches);
