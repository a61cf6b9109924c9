//! The time per example of methods that estimate the residual. Attributes are served from the cache, so that
//! the time is the method's own. The throughput counts examples, so its inverse is the time per example.
//!
//! - `aerr`, `aelr`, `aer`: 50 uniform draws and one by weight (AER: 25 and 25), at d = 500 and d = 10^6; a
//!   pass is 10^3 examples, and the learner is kept from pass to pass.
//! - `twin`: the updates written with dense vectors, as in the paper, at d = 500.
//! - `session`: the part of the time that the session and its source take, for the same asks.
//! - `floor`: 50 uniform draws, and one addition for each in a plain vector. No method that changes the
//!   weights it draws can take less time on the same machine.
//!
//! Outside of `cargo bench`, as in `cargo test --benches`, every benchmark runs once on a hundredth of the
//! examples.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lao_algorithms::Task;
use lao_algorithms::baselines::AerParams;
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
use lao_kernels::project_l1_ball;
use lao_observation::sample::uniform_draws;
use lao_observation::{
    Ask, BlockBuf, Budget, LearnError, Learner, Rng, Scratch, Seed, Session, SessionLimit, Source,
    SourceError, Told,
};
use rand::RngExt;

const DRAWS: usize = 50;

fn examples() -> u64 {
    if std::env::args().any(|arg| arg == "--bench") { 1_000 } else { 100 }
}

/// A source of signs over sqrt(d), the same 4096 repeated, whose label is attribute 0. The signs fit into the
/// first-level cache.
struct Cached {
    dim: usize,
    table: Vec<f64>,
    next: u64,
}

impl Cached {
    fn new(dim: usize) -> Self {
        let mut rng = Seed::root(1).rng();
        let unit = 1.0 / (dim as f64).sqrt();
        let table = (0..4096).map(|_| if rng.random() { unit } else { -unit }).collect();
        Cached { dim, table, next: 0 }
    }

    fn value(&self, j: u32) -> f64 {
        self.table[(u64::from(j) + 37 * self.next) as usize % 4096]
    }
}

impl Source for Cached {
    fn dim(&self) -> usize {
        self.dim
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let Some(row) = block.single_mut() else { return Ok(0) };
        row.iter_mut().zip(attributes).for_each(|(value, &j)| *value = self.value(j));
        block.labels_mut()[0] = self.value(0);
        block.set_rows(1);
        self.next += 1;
        Ok(1)
    }
    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        _: &mut Scratch,
    ) -> Result<usize, SourceError> {
        self.observe(draws, block)
    }
    fn position(&self) -> u64 {
        self.next
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.next = position;
        Ok(())
    }
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(examples())).sample_size(20);
    group
}

fn learning<L: Learner>(group: &mut BenchmarkGroup<'_, WallTime>, dim: usize, mut learner: L) {
    let mut session = Session::new(Cached::new(dim), Budget::PerExample(DRAWS + 1), &Seed::root(2));
    group.bench_function(BenchmarkId::new("learner", dim), |b| {
        b.iter(|| {
            let until = session.ledger().examples + examples();
            session.run(&mut learner, SessionLimit::after_examples(until), |_, _| {}).unwrap()
        })
    });
}

const DIMS: [usize; 2] = [500, 1_000_000];

/// Draws a place with probability proportional to its weight; returns the first place if all weights are 0.
fn by_weight(weights: &[f64], rng: &mut Rng) -> usize {
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    let passed = |weight: &f64| {
        left -= weight;
        left < 0.0
    };
    weights.iter().position(passed).unwrap_or(0)
}

/// Returns `phi x~` from a draw `j` by weight and uniform draws. `inner` is the estimate of `w.x` per unit of
/// `x_j`.
fn estimate(table: &mut Cached, (j, inner): (usize, f64), rng: &mut Rng) -> Vec<f64> {
    let phi = inner * table.value(j as u32) - table.value(0);
    let mut estimate = vec![0.0; table.dim];
    for _ in 0..DRAWS {
        let i = rng.random_range(0..table.dim as u32);
        estimate[i as usize] += phi * table.dim as f64 / DRAWS as f64 * table.value(i);
    }
    table.next += 1;
    estimate
}

fn twin(group: &mut BenchmarkGroup<'_, WallTime>, mut update: impl FnMut(&mut Cached, &mut Rng)) {
    let (mut table, mut rng) = (Cached::new(DIMS[0]), Seed::root(2).rng());
    group.bench_function(BenchmarkId::new("twin", DIMS[0]), |b| {
        b.iter(|| (0..examples()).for_each(|_| update(&mut table, &mut rng)))
    });
}

fn aerr_twin(group: &mut BenchmarkGroup<'_, WallTime>, params: &AerrParams) {
    let AerrParams { dim, radius, step_size, .. } = *params;
    let (mut w, mut sum) = (vec![0.0; dim], vec![0.0; dim]);
    twin(group, |table, rng| {
        let squares: Vec<f64> = w.iter().map(|w| w * w).collect();
        let j = by_weight(&squares, rng);
        let inner = if w[j] == 0.0 { 0.0 } else { squares.iter().sum::<f64>() / w[j] };
        let gradient = estimate(table, (j, inner), rng);
        sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
        w.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= step_size * g);
        let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        w.iter_mut().for_each(|w| *w *= radius / norm.max(radius));
    });
}

fn aelr_twin(group: &mut BenchmarkGroup<'_, WallTime>, params: &AelrParams) {
    let AelrParams { dim, radius, step_size, .. } = *params;
    let (mut u, mut w, mut sum) = (vec![0.0_f64; dim], vec![0.0_f64; dim], vec![0.0; dim]);
    twin(group, |table, rng| {
        let sizes: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        let j = by_weight(&sizes, rng);
        let inner = if w[j] == 0.0 { 0.0 } else { sizes.iter().sum::<f64>() * w[j].signum() };
        let gradient = estimate(table, (j, inner), rng);
        sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
        u.iter_mut().zip(&gradient).for_each(|(u, g)| *u -= (step_size * g).clamp(-1.0, 1.0));
        let total: f64 = u.iter().map(|u| u.cosh()).sum();
        w.iter_mut().zip(&u).for_each(|(w, u)| *w = radius * u.sinh() / total);
    });
}

fn aerr(criterion: &mut Criterion) {
    let mut group = group(criterion, "aerr");
    for dim in DIMS {
        let params = AerrParams::from_theorem(Horizon { dim, draws: DRAWS, radius: 1.0, examples: 100_000 });
        if dim == DIMS[0] {
            aerr_twin(&mut group, &params);
        }
        learning(&mut group, dim, params.build().unwrap());
    }
}

fn aelr(criterion: &mut Criterion) {
    let mut group = group(criterion, "aelr");
    for dim in DIMS {
        let params = AelrParams::from_theorem(Horizon { dim, draws: DRAWS, radius: 1.0, examples: 100_000 });
        if dim == DIMS[0] {
            aelr_twin(&mut group, &params);
        }
        learning(&mut group, dim, params.build().unwrap());
    }
}

fn aer_twin(group: &mut BenchmarkGroup<'_, WallTime>, params: &AerParams) {
    let AerParams { dim, uniform, weighted, regularization, radius, .. } = *params;
    let (mut w, mut sum, mut scratch, mut t) = (vec![0.0; dim], vec![0.0; dim], Vec::new(), 0.0);
    twin(group, |table, rng| {
        t += 1.0;
        let sizes: Vec<f64> = w.iter().map(|w: &f64| w.abs()).collect();
        let signs =
            (0..weighted).map(|_| by_weight(&sizes, rng)).map(|j| w[j].signum() * table.value(j as u32));
        let inner = sizes.iter().sum::<f64>() / weighted as f64 * signs.sum::<f64>();
        let step = 2.0 * (inner - table.value(0)) / (regularization * t);
        sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
        w.iter_mut().for_each(|w| *w *= 1.0 - 1.0 / t);
        for _ in 0..uniform {
            let i = rng.random_range(0..dim as u32);
            w[i as usize] -= step * dim as f64 / uniform as f64 * table.value(i);
        }
        table.next += 1;
        if let Some(radius) = radius {
            project_l1_ball(&mut w, radius, &mut scratch).unwrap();
        }
    });
}

fn aer(criterion: &mut Criterion) {
    let mut group = group(criterion, "aer");
    for dim in DIMS {
        let params = AerParams::practical(&Task {
            dim,
            budget: DRAWS,
            radius: Some(1.0),
            examples: 100_000,
            ..Task::default()
        })
        .unwrap();
        if dim == DIMS[0] {
            aer_twin(&mut group, &params);
        }
        learning(&mut group, dim, params.build().unwrap());
    }
}

/// A learner that draws and asks, but learns nothing.
struct Looker {
    dim: usize,
    seen: u64,
}

impl Learner for Looker {
    fn dim(&self) -> usize {
        self.dim
    }
    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        let draws = ask.values(1);
        uniform_draws(self.dim, DRAWS, rng, draws);
        draws.push(7);
    }
    fn tell(&mut self, _: Told<'_>) -> Result<(), LearnError> {
        self.seen += 1;
        Ok(())
    }
    fn coefficients(&self) -> lao_kernels::SparseView<'_> {
        unreachable!("nobody looks")
    }
    fn updates(&self) -> u64 {
        self.seen
    }
}

fn session(criterion: &mut Criterion) {
    let mut group = group(criterion, "session");
    for dim in DIMS {
        learning(&mut group, dim, Looker { dim, seen: 0 });
    }
}

fn floor(criterion: &mut Criterion) {
    let mut group = group(criterion, "floor");
    for dim in DIMS {
        let (mut vector, mut draws, mut rng) = (vec![1.0; dim], Vec::new(), Seed::root(2).rng());
        group.bench_function(BenchmarkId::new("additions", dim), |b| {
            b.iter(|| {
                for _ in 0..examples() {
                    draws.clear();
                    uniform_draws(dim, DRAWS, &mut rng, &mut draws);
                    draws.iter().for_each(|&j| vector[j as usize] += 0.5);
                }
                vector[0]
            })
        });
    }
}

criterion_group!(benches, floor, session, aerr, aelr, aer);
criterion_main!(benches);
