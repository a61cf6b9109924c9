//! Projections onto the l1 and l2 ball, beside a sort.

mod numbers;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lao_kernels::{project_l1_ball, project_l2_ball};
use numbers::normal;

fn by_sorting(x: &mut [f64], radius: f64) {
    let mut sorted: Vec<f64> = x.iter().map(|value| value.abs()).collect();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (0.0, 0.0);
    for (j, value) in sorted.into_iter().enumerate() {
        sum += value;
        let candidate = (sum - radius) / (j + 1) as f64;
        if value <= candidate {
            break;
        }
        level = candidate;
    }
    x.iter_mut().for_each(|value| *value = value.signum() * (value.abs() - level).max(0.0));
}

fn project(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("project");
    for dim in [500, 50_000, 1_000_000] {
        let x = normal(1, dim);
        // Leaves about a tenth of the entries.
        let radius = 0.03 * dim as f64;
        let mut scratch = Vec::new();
        let id = |name| BenchmarkId::new(name, format!("d={dim}"));
        group.throughput(Throughput::Elements(dim as u64));
        group.bench_function(id("l1"), |bencher| {
            bencher.iter_batched_ref(
                || x.clone(),
                |x| project_l1_ball(x, radius, &mut scratch),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(id("l1, sorting"), |bencher| {
            bencher.iter_batched_ref(|| x.clone(), |x| by_sorting(x, radius), BatchSize::LargeInput);
        });
        group.bench_function(id("l2"), |bencher| {
            bencher.iter_batched_ref(|| x.clone(), |x| project_l2_ball(x, 1.0), BatchSize::LargeInput);
        });
    }
}

criterion_group!(benches, project);
criterion_main!(benches);
