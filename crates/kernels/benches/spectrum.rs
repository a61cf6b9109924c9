//! Restricted eigenvalues by enumeration, per support, beside a general eigenvalue routine for each
//! submatrix.

mod numbers;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lao_kernels::RestrictedSpectrum;
use numbers::normal;

/// The Gram matrix of 40 random examples.
fn gram(dim: usize) -> Vec<f64> {
    let x = normal(1, 40 * dim);
    let entry = |i: usize, j: usize| x.chunks_exact(dim).map(|row| row[i] * row[j]).sum::<f64>();
    (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect()
}

fn spectrum(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("spectrum");
    const DIM: usize = 14;
    let matrix = gram(DIM);
    for (k, supports) in [(2, 91), (4, 1001), (6, 3003)] {
        group.throughput(Throughput::Elements(supports));
        group.bench_function(BenchmarkId::new("enumeration", k), |bencher| {
            bencher.iter(|| RestrictedSpectrum::of(&matrix, DIM, k));
        });
        group.bench_function(BenchmarkId::new("faer for each", k), |bencher| {
            bencher.iter(|| {
                let (mut smallest, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
                for mask in (0_u32..1 << DIM).filter(|mask| mask.count_ones() as usize == k) {
                    let inside: Vec<usize> = (0..DIM).filter(|&j| mask >> j & 1 == 1).collect();
                    let sub: Vec<f64> = inside
                        .iter()
                        .flat_map(|&i| inside.iter().map(move |&j| (i, j)))
                        .map(|(i, j)| matrix[i * DIM + j])
                        .collect();
                    let sub = faer::MatRef::from_row_major_slice(&sub, k, k);
                    if let Ok(values) = sub.self_adjoint_eigenvalues(faer::Side::Lower) {
                        smallest = smallest.min(values[0]);
                        largest = largest.max(values[k - 1]);
                    }
                }
                (smallest, largest)
            });
        });
    }
}

criterion_group!(benches, spectrum);
criterion_main!(benches);
