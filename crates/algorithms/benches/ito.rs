//! The methods of Ito et al., from the session to the estimate, at 50 observed attributes, 25 of them kept.
//!
//! Attributes come from a small table that stays in the cache. The throughput counts examples, so its inverse
//! is the time per example. `d500` and `d1000000` have the same methods; their times may differ by memory
//! access, since weights are scattered, but not by work. `reference` is the dense reference of Algorithm 1,
//! which costs O(d + k'^2) per example.
//!
//! Outside of `cargo bench`, as in `cargo test --benches`, every benchmark runs once at d = 500.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lao_algorithms::Task;
use lao_algorithms::ito::{Rda1Params, reference::Rda1Reference};
use lao_algorithms::reference::{Drawn, Reference, Seen};
use lao_algorithms::registry::method;
use lao_observation::sample::SubsetSampler;
use lao_observation::{BlockBuf, Budget, Rng, Scratch, Seed, Session, Source, SourceError};
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

/// Returns a set that Algorithm 1 may observe at `w`: the largest weights, and others at random.
fn observed(w: &[f64], sampler: &mut SubsetSampler, rng: &mut Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..w.len() as u32).collect();
    let rank = |&i: &u32, &j: &u32| w[j as usize].abs().total_cmp(&w[i as usize].abs()).then(i.cmp(&j));
    order.select_nth_unstable_by(KEPT, rank);
    let (largest, others) = order.split_at(KEPT);
    let mut places = Vec::new();
    sampler.draw(BUDGET - KEPT, rng, &mut places);
    largest.iter().copied().chain(places.iter().map(|&place| others[place as usize])).collect()
}

fn measured() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

fn at(criterion: &mut Criterion, dim: usize) {
    let mut group = criterion.benchmark_group(format!("ito/d{dim}"));
    group.throughput(Throughput::Elements(EXAMPLES)).sample_size(20);
    let radius = Some(5.0);
    let task = Task { dim, sparsity: KEPT, budget: BUDGET, radius, ..Task::default() };
    let learners = ["rda1", "rda2", "rda3", "greedy", "uniform"].map(|name| {
        let row = method(name).expect("a method of the registry");
        (name, row.build(&task).expect("parameters in range"))
    });
    for (name, mut learner) in learners {
        let mut session = Session::new(Table::new(dim), Budget::PerExample(BUDGET), &Seed::root(2));
        let mut serve = |examples: u64| {
            for _ in 0..examples {
                session.step(&mut learner, u64::MAX).unwrap();
            }
        };
        // The first rounds are left out, since in these many attributes change places and square rounds are
        // frequent.
        serve(if measured() { 100_000 } else { 0 });
        group.bench_function(name, |b| b.iter(|| serve(EXAMPLES)));
    }
    let rounds = if dim > 1000 { 10 } else { EXAMPLES };
    group.throughput(Throughput::Elements(rounds)).sample_size(10);
    let params = Rda1Params::practical(&task).expect("parameters in range");
    let mut reference = Rda1Reference::new(&params).expect("parameters in range");
    let (mut sampler, mut table) = (SubsetSampler::new(dim - KEPT), Table::new(dim));
    let mut rng = Seed::root(2).rng();
    group.bench_function("reference", |b| {
        b.iter(|| {
            for _ in 0..rounds {
                let x: Vec<f64> = (0..dim as u32).map(|j| table.value(j)).collect();
                let asked = &observed(&reference.coefficients(), &mut sampler, &mut rng);
                let seen = Seen { x: &x, label: table.label(), asked, drawn: Drawn::Listed };
                reference.see(&seen).expect("a set that the method may observe");
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
