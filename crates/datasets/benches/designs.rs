//! What it costs to look at virtual examples.
//!
//! - `observe`: 50 attributes of 500, `theta*` among them, in blocks of 327 rows (what the default gradient
//!   asks for); the reported throughput counts observed values, so its inverse is the time per attribute.
//!   Beside it the naive twin: a generator drawn from value by value.
//! - `single`: blocks of one row, as an online learner asks for.
//! - `draws`: 51 attributes drawn with replacement of one row, as AERR asks for; beside it the default
//!   answer, which sorts the draws first.
//! - `batch`: the gradient over B examples of a Hadamard design by counts; beside it the loop over 10^5
//!   examples.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lao_datasets::synthetic::*;
use lao_kernels::SparseVector;
use lao_observation::source::observe_draws_sorted;
use lao_observation::{BlockBuf, GradientAsk, Scratch, Seed, Source};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::hint::black_box;

const DIM: usize = 512;
const OBSERVED: usize = 50;

fn designs() -> Vec<(&'static str, Box<dyn Design>)> {
    vec![
        ("rademacher", Box::new(Rademacher::new(DIM).unwrap())),
        ("uniform", Box::new(UniformAttributes::new(DIM).unwrap())),
        ("normal", Box::new(Normal::new(DIM).unwrap())),
        ("hadamard", Box::new(Hadamard::new(DIM).unwrap())),
        ("hadamard-pairs", Box::new(HadamardPairs::new(DIM, 0.5).unwrap())),
        ("correlated-pairs", Box::new(CorrelatedPairs::new(DIM, 0.5).unwrap())),
        ("centered", Box::new(Centered::new(DIM).unwrap())),
        ("equicorrelated-blocks", Box::new(EquicorrelatedBlocks::new(DIM, 8, 0.5).unwrap())),
    ]
}

fn attributes() -> Vec<u32> {
    (0..OBSERVED as u32).map(|i| i * 10 + i % 7).collect()
}

fn source(design: Box<dyn Design>) -> Virtual<Box<dyn Design>> {
    let star = SparseVector::new(DIM, attributes()[..5].to_vec(), vec![1.0; 5]).unwrap();
    Virtual::new(design, star, Noise::Gaussian(1.0), &Seed::root(1)).unwrap()
}

fn observe(criterion: &mut Criterion) {
    let attributes = attributes();
    for (name, rows) in [("observe", 327), ("single", 1)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements((OBSERVED * rows) as u64));
        for (design, law) in designs() {
            let (mut source, mut block) = (source(law), BlockBuf::new());
            group.bench_function(design, |bencher| {
                bencher.iter(|| {
                    block.reset(OBSERVED, rows);
                    source.observe(&attributes, &mut block)
                })
            });
        }
        let (mut rng, mut values) = (Seed::root(1).rng(), vec![0.0; OBSERVED * rows]);
        group.bench_function("naive-rademacher", |bencher| {
            bencher.iter(|| {
                values.fill_with(|| if rng.random::<bool>() { 1.0 } else { -1.0 });
                black_box(&values);
            })
        });
        group.bench_function("naive-uniform", |bencher| {
            bencher.iter(|| {
                values.fill_with(|| rng.random_range(-1.7..1.7));
                black_box(&values);
            })
        });
        group.bench_function("naive-normal", |bencher| {
            bencher.iter(|| {
                values.fill_with(|| StandardNormal.sample(&mut rng));
                black_box(&values);
            })
        });
        group.finish();
    }
}

fn draws(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("draws");
    let mut rng = Seed::root(2).rng();
    let draws: Vec<u32> = (0..51).map(|_| rng.random_range(0..DIM as u32)).collect();
    for (design, law) in designs() {
        let (mut source, mut block, mut scratch) = (source(law), BlockBuf::new(), Scratch::default());
        group.bench_function(design, |bencher| {
            bencher.iter(|| {
                block.reset(draws.len(), 1);
                source.observe_draws(&draws, &mut block, &mut scratch)
            })
        });
        group.bench_function(format!("{design}, sorted"), |bencher| {
            bencher.iter(|| {
                block.reset(draws.len(), 1);
                observe_draws_sorted(&mut source, &draws, &mut block, &mut scratch)
            })
        });
    }
    group.finish();
}

fn batch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("batch");
    let dim = 2048;
    let star = SparseVector::new(dim, vec![3], vec![1.0]).unwrap();
    let block: Vec<u32> = (0..512).collect();
    let theta = SparseVector::new(dim, (0..1025).collect(), vec![0.1; 1025]).unwrap();
    let every: Vec<u32> = (0..1025).collect();
    let (mut sum, mut scratch) = (vec![0.0; 512], Scratch::default());
    let ask = |examples| GradientAsk { theta: theta.view(), attributes: &block, observed: &every, examples };
    for noise in [Noise::Gaussian(1.0), Noise::Signs(1.0)] {
        let plain = Virtual::new(Hadamard::new(dim).unwrap(), star.clone(), noise, &Seed::root(1)).unwrap();
        let mut counted = Counted::new(plain).unwrap();
        let name = if noise == Noise::Gaussian(1.0) { "gaussian" } else { "signs" };
        for (size, examples) in [("1e5", 100_000), ("1e10", 10_000_000_000), ("1e15", 1_000_000_000_000_000)]
        {
            group.bench_function(format!("counted-{name}-{size}"), |bencher| {
                bencher.iter(|| {
                    counted.seek(0).and_then(|()| counted.gradient(ask(examples), &mut sum, &mut scratch))
                })
            });
        }
    }
    let mut plain =
        Virtual::new(Hadamard::new(dim).unwrap(), star, Noise::Gaussian(1.0), &Seed::root(1)).unwrap();
    group.sample_size(10);
    group.bench_function("looped-gaussian-1e5", |bencher| {
        bencher.iter(|| plain.gradient(ask(100_000), &mut sum, &mut scratch))
    });
    let mut x = vec![1.0; dim];
    group.bench_function("fwht", |bencher| {
        bencher.iter(|| {
            x.fill(1.0);
            fwht(black_box(&mut x));
        })
    });
    let mut counts = vec![0; dim];
    let mut rng = Seed::root(1).rng();
    group.bench_function("row-counts-1e10", |bencher| {
        bencher.iter(|| row_counts(&mut rng, 10_000_000_000, 0.5, black_box(&mut counts)))
    });
    group.finish();
}

criterion_group!(benches, observe, draws, batch);
criterion_main!(benches);
