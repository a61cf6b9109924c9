//! The methods of Ito et al., from the session to the estimate, at 50 observed attributes, 25 of them kept.
//!
//! Attributes come from a small table that stays in the cache; the throughput counts examples, so its inverse
//! is the time per example. `d500` and `d1000000` hold the same methods: their times may differ by the memory
//! that weights are scattered over, not by work. `twin` is Algorithm 1 in ten dense lines, O(d + k'^2) per
//! example.
//!
//! Outside of `cargo bench` (`cargo test --benches`) everything runs once at d = 500.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lao_algorithms::Task;
use lao_algorithms::ito::{GreedyParams, Rda1Params, Rda2Params, Rda3Params, UniformParams};
use lao_observation::sample::SubsetSampler;
use lao_observation::{BlockBuf, Budget, Learner, Scratch, Seed, Session, Source, SourceError};
use rand::RngExt;

const BUDGET: usize = 50;
const KEPT: usize = 25;
const EXAMPLES: u64 = 1000;
const TABLE: usize = 4096;

/// Attribute `j` of example `t` is entry `j + 7 t` of the table, modulo its length; the label is the sum of
/// 25 attributes.
struct Table {
    dim: usize,
    values: Vec<f64>,
    labels: Vec<f64>,
    position: u64,
}

impl Table {
    fn new(dim: usize) -> Self {
        let mut rng = Seed::root(1).rng();
        let values: Vec<f64> = (0..TABLE).map(|_| rng.random_range(-1.7..1.7)).collect();
        let sum = |first: usize| (0..KEPT).map(|a| values[(first + 17 * a) % TABLE]).sum();
        let labels = (0..TABLE).map(sum).collect();
        Table { dim, values, labels, position: 0 }
    }

    fn value(&self, j: u32) -> f64 {
        self.values[(u64::from(j) + 7 * self.position) as usize % TABLE]
    }

    fn label(&self) -> f64 {
        self.labels[(7 * self.position) as usize % TABLE]
    }
}

impl Source for Table {
    fn dim(&self) -> usize {
        self.dim
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let Some(row) = block.single_mut() else { return Ok(0) };
        row.iter_mut().zip(attributes).for_each(|(value, &j)| *value = self.value(j));
        block.labels_mut()[0] = self.label();
        block.set_rows(1);
        self.position += 1;
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
        self.position
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.position = position;
        Ok(())
    }
}

/// Algorithm 1, as it is written down.
struct Twin {
    h: Vec<f64>,
    t: f64,
    sampler: SubsetSampler,
}

impl Twin {
    fn round(&mut self, scale: f64, table: &Table, rng: &mut lao_observation::Rng) {
        let d = self.h.len();
        let norm = self.h.iter().map(|h| h * h).sum::<f64>().sqrt();
        let w: Vec<f64> = self.h.iter().map(|h| -h / norm.max(scale * self.t.sqrt())).collect();
        let mut order: Vec<u32> = (0..d as u32).collect();
        order.select_nth_unstable_by(KEPT, |&i, &j| w[j as usize].abs().total_cmp(&w[i as usize].abs()));
        let (inside, outside) = order.split_at(KEPT);
        let mut set = Vec::new();
        self.sampler.draw(BUDGET - KEPT, rng, &mut set);
        let set: Vec<u32> =
            inside.iter().copied().chain(set.iter().map(|&place| outside[place as usize])).collect();
        let (q, n) = ((BUDGET - KEPT) as f64, (d - KEPT) as f64);
        let p = [1.0, q / n, q * (q - 1.0) / (n * (n - 1.0))];
        for (a, &i) in set.iter().enumerate() {
            let pair = |(b, &j): (usize, &u32)| {
                let outside = if a == b {
                    usize::from(a >= KEPT)
                } else {
                    usize::from(a >= KEPT) + usize::from(b >= KEPT)
                };
                table.value(i) * table.value(j) * w[j as usize] / p[outside]
            };
            let row: f64 = set.iter().enumerate().map(pair).sum();
            self.h[i as usize] += 2.0 * (row - table.label() * table.value(i) / p[usize::from(a >= KEPT)]);
        }
        self.t += 1.0;
    }
}

fn measured() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

fn at(criterion: &mut Criterion, dim: usize) {
    let mut group = criterion.benchmark_group(format!("ito/d{dim}"));
    group.throughput(Throughput::Elements(EXAMPLES)).sample_size(20);
    let rda1 = Rda1Params::practical(&Task {
        dim,
        sparsity: KEPT,
        budget: BUDGET,
        radius: Some(5.0),
        ..Task::default()
    })
    .unwrap();
    let learners: [(&str, Box<dyn Learner>); 5] = [
        ("rda1", Box::new(rda1.build().unwrap())),
        (
            "rda2",
            Box::new(
                Rda2Params::practical(&Task { dim, budget: BUDGET, radius: Some(5.0), ..Task::default() })
                    .unwrap()
                    .build()
                    .unwrap(),
            ),
        ),
        (
            "rda3",
            Box::new(
                Rda3Params::practical(&Task { dim, budget: BUDGET, radius: Some(5.0), ..Task::default() })
                    .unwrap()
                    .build()
                    .unwrap(),
            ),
        ),
        (
            "greedy",
            Box::new(
                GreedyParams::practical(&Task { dim, budget: BUDGET, radius: Some(5.0), ..Task::default() })
                    .unwrap()
                    .build()
                    .unwrap(),
            ),
        ),
        (
            "uniform",
            Box::new(
                UniformParams::practical(&Task { dim, budget: BUDGET, radius: Some(5.0), ..Task::default() })
                    .unwrap()
                    .build()
                    .unwrap(),
            ),
        ),
    ];
    for (name, mut learner) in learners {
        let mut session = Session::new(Table::new(dim), Budget::PerExample(BUDGET), &Seed::root(2));
        let mut serve = |examples: u64| {
            for _ in 0..examples {
                session.step(&mut *learner, u64::MAX).unwrap();
            }
        };
        // Past the first rounds, in which everything is new: attributes change places, square rounds are
        // frequent.
        serve(if measured() { 100_000 } else { 0 });
        group.bench_function(name, |b| b.iter(|| serve(EXAMPLES)));
    }
    let rounds = if dim > 1000 { 10 } else { EXAMPLES };
    group.throughput(Throughput::Elements(rounds)).sample_size(10);
    let sampler = SubsetSampler::new(dim - KEPT);
    let (mut twin, mut table) = (Twin { h: vec![0.0; dim], t: 1.0, sampler }, Table::new(dim));
    let mut rng = Seed::root(2).rng();
    group.bench_function("twin", |b| {
        b.iter(|| {
            for _ in 0..rounds {
                twin.round(rda1.regularization.scale, &table, &mut rng);
                table.position += 1;
            }
        })
    });
}

fn ito(criterion: &mut Criterion) {
    at(criterion, 500);
    if measured() {
        at(criterion, 1_000_000);
    }
}

criterion_group!(benches, ito);
criterion_main!(benches);
