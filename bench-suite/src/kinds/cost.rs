//! The kind `cost`: time per example against the number of attributes and against the number of examples,
//! beside a floor.

use super::{Analysis, Job, Kind, Measurement, Rows, best_two};
use crate::data::{DenseRows, Design, whole_rows};
use crate::learner::{Contender, LearnerSpec};
use crate::row::median;
use crate::tier::Size;
use anyhow::{Context as _, ensure};
use lao_figures::{Axis, Figure, Series};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::sample::{SubsetSampler, uniform_draws};
use lao_observation::{BlockBuf, GradientAsk, Scratch, Seed, Session, SessionLimit, Source};
use serde::Deserialize;
use std::time::Instant;

/// The settings of the kind. A whole number of updates with at least `examples` examples is timed, after one
/// update of warm-up, on a virtual design and on a table in memory. The floor is timed beside it: the time of
/// what no learner with these asks can do without (see [`floor`]).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// `s'`, the number of attributes that may be observed of an example.
    budget: usize,
    /// The numbers of attributes, ascending.
    dims: Vec<usize>,
    /// The least number of examples per measurement.
    examples: u64,
    /// The numbers of examples, ascending, up to which the first repetition also takes the time per example,
    /// at the smallest number of attributes.
    #[serde(default)]
    growth: Vec<u64>,
    /// How the table in memory is stored.
    layout: Layout,
    /// The data.
    data: Design,
    /// The learners.
    learners: Vec<LearnerSpec>,
}

/// How a table is stored.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Layout {
    /// Row after row.
    Rows,
    /// Column after column.
    Columns,
}

/// Where the attributes come from, and how its times are named.
struct Storage {
    name: &'static str,
    /// Whether the attributes are in a table, and not computed when they are observed.
    in_memory: bool,
    /// The time per example of the learner.
    time: &'static str,
    /// The floor.
    floor: &'static str,
    /// The time per example over the first `n` examples, by `n`.
    growth: &'static str,
}

/// Attributes that are computed when they are observed.
const VIRTUAL: Storage = Storage {
    name: "virtual",
    in_memory: false,
    time: "ns per example",
    floor: "ns per example, floor",
    growth: "ns per example over n",
};

/// A table that no cache holds, row by row from the start to the end and again.
const MEMORY: Storage = Storage {
    name: "in memory",
    in_memory: true,
    time: "ns per example, in memory",
    floor: "ns per example, floor in memory",
    growth: "ns per example over n, in memory",
};

const STORAGES: [&Storage; 2] = [&VIRTUAL, &MEMORY];

/// The number of values of a table in memory, 256 MiB. A tier with a smaller scale has a smaller table.
const TABLE: u64 = 1 << 25;

impl Cost {
    /// Returns a source of examples that never ends.
    fn source(
        &self,
        storage: &Storage,
        dim: usize,
        size: Size,
        seed: &Seed,
    ) -> anyhow::Result<Box<dyn Source + Send>> {
        let target = self.data.target(dim, seed)?;
        let mut stream = self.data.stream(&target, &seed.child("train"))?;
        if !storage.in_memory {
            return Ok(stream);
        }
        let values = size.scaled(TABLE, 1).min(TABLE);
        let rows = (values as usize / dim).max(8);
        Ok(match self.layout {
            Layout::Rows => {
                let mut values = Vec::with_capacity(rows * dim);
                let labels = whole_rows(&mut *stream, rows, |_, block| {
                    for i in 0..block.rows() {
                        values.extend((0..dim).map(|j| block.column(j)[i]));
                    }
                })?;
                Box::new(lao_datasets::memory::Rows::new(dim, values, labels)?.with_passes(u64::MAX))
            }
            Layout::Columns => {
                let drawn = DenseRows::take(&mut *stream, rows)?;
                let table = lao_datasets::memory::Columns::new(dim, drawn.columns, drawn.labels)?;
                Box::new(table.with_passes(u64::MAX))
            }
        })
    }

    /// Times one learner and its floor on one storage.
    fn time(
        &self,
        job: &Job,
        size: Size,
        storage: &Storage,
        seed: &Seed,
    ) -> anyhow::Result<Vec<Measurement>> {
        let source = self.source(storage, job.dim, size, seed)?;
        let Contender { mut learner, budget } =
            self.learners[job.contender].build(job.dim, self.budget, None)?;
        let learner = &mut *learner;
        let mut session = Session::new(source, budget, &seed.child("algorithm"));
        session.run(learner, SessionLimit::after_updates(1), |_, _| {})?;

        // The growth takes the longest and varies the least, so that one repetition measures it.
        let grows = job.repetition == 0 && self.dims.first() == Some(&job.dim);
        let growth = if grows { &self.growth[..] } else { &[] };
        let goals = growth.iter().map(|&n| (size.scaled(n, 1), storage.growth));
        let mut goals: Vec<(u64, &str)> =
            goals.chain([(size.scaled(self.examples, 1), storage.time)]).collect();
        goals.sort_unstable();
        let (before, start) = (session.ledger().examples, Instant::now());
        let mut found = Vec::new();
        for (goal, metric) in goals {
            while session.ledger().examples - before < goal {
                session.run(learner, SessionLimit::after_updates(learner.updates() + 1), |_, _| {})?;
            }
            let examples = session.ledger().examples - before;
            let value = start.elapsed().as_nanos() as f64 / examples as f64;
            let examples = if metric == storage.growth { goal } else { examples };
            found.push(Measurement::new(examples, metric, value));
        }

        let ledger = session.ledger();
        let width = ledger.attributes_per_example().round().clamp(1.0, job.dim as f64) as usize;
        let shape = Shape { width, rows: (ledger.examples / ledger.asks.max(1)).max(1) };
        let examples = size.scaled(self.examples, 1);
        let mut source = session.into_source();
        let value = floor(&mut *source, shape, examples, &seed.child("floor"))?;
        found.push(Measurement::new(examples, storage.floor, value));
        Ok(found)
    }
}

/// The shape of an ask: attributes and examples.
#[derive(Clone, Copy)]
struct Shape {
    width: usize,
    rows: u64,
}

/// Returns the time per example, in nanoseconds, of asks of one shape without a learner: attributes are drawn
/// at random, observed, multiplied by the label, and added up in a vector of all attributes at their places.
fn floor(source: &mut dyn Source, shape: Shape, examples: u64, seed: &Seed) -> anyhow::Result<f64> {
    let Shape { width, rows } = shape;
    let (dim, mut rng) = (source.dim(), seed.rng());
    let (mut places, mut block, mut scratch) = (Vec::new(), BlockBuf::new(), Scratch::default());
    let (mut sum, mut of_ask) = (vec![0.0; dim], vec![0.0; width]);
    let (mut sampler, nothing) = (SubsetSampler::new(dim), SparseVector::zeros(dim));
    let theta: SparseView<'_> = nothing.view();
    let (start, mut seen) = (Instant::now(), 0);
    while seen < examples {
        places.clear();
        let served = if rows == 1 {
            uniform_draws(dim, width, &mut rng, &mut places);
            block.reset(width, 1);
            let served = source.observe_draws(&places, &mut block, &mut scratch)?;
            let row = block.single_mut().context("a block of one row is not a row")?;
            of_ask.copy_from_slice(row);
            let label = block.labels_mut()[0];
            places.iter().zip(&of_ask).for_each(|(&j, x)| sum[j as usize] += label * x);
            served as u64
        } else {
            sampler.draw(width, &mut rng, &mut places);
            of_ask.fill(0.0);
            let ask = GradientAsk { theta, attributes: &places, observed: &places, examples: rows };
            let served = source.gradient(ask, &mut of_ask, &mut scratch)?;
            places.iter().zip(&of_ask).for_each(|(&j, x)| sum[j as usize] += x);
            served
        };
        ensure!(served > 0, "the source ran dry after {seen} examples");
        seen += served;
    }
    let elapsed = start.elapsed().as_nanos() as f64;
    std::hint::black_box(&sum);
    Ok(elapsed / seen as f64)
}

impl Kind for Cost {
    fn label(&self) -> &'static str {
        "cost"
    }

    fn contenders(&self) -> Vec<&str> {
        self.learners.iter().map(|learner| learner.name.as_str()).collect()
    }

    fn needs_idle_machine(&self) -> bool {
        true
    }

    fn dims(&self, _contender: usize) -> anyhow::Result<Vec<usize>> {
        ensure!(!self.dims.is_empty(), "`dims` is empty: give the numbers of attributes");
        Ok(self.dims.clone())
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(self.growth.is_sorted(), "`growth`: give the numbers of examples in ascending order");
        for dim in self.dims(0)? {
            self.data.target(dim, &Seed::root(0))?;
            self.learners.iter().try_for_each(|learner| learner.build(dim, self.budget, None).map(drop))?;
        }
        Ok(())
    }

    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let timed = STORAGES.iter().map(|storage| self.time(job, size, storage, seed));
        Ok(timed.collect::<anyhow::Result<Vec<_>>>()?.concat())
    }

    /// Draws the median time per example against the number of attributes, with the floor, and against the
    /// number of examples.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        let (names, dims) = (self.contenders(), &self.dims);
        let middle = |name: &str, metric: &str, dim: usize| {
            median(&rows.values(name, metric, |row| row.dim == dim)).unwrap_or(f64::NAN)
        };
        let points = |xs: &[usize], y: &dyn Fn(usize) -> f64| -> Vec<[f64; 2]> {
            xs.iter().map(|&x| [x as f64, y(x)]).filter(|[_, y]| y.is_finite()).collect()
        };
        let mut figures = Vec::new();
        for storage in STORAGES {
            let curve = |name, metric| points(dims, &|dim| middle(name, metric, dim));
            let mut series: Vec<Series> =
                names.iter().map(|name| Series::line(name, curve(name, storage.time))).collect();
            for name in &names {
                series.push(Series::bound(&format!("{name}, floor"), curve(name, storage.floor)));
            }
            figures.push(Figure {
                caption: format!("Median time per example and its floor, attributes {}.", storage.name),
                x: Axis::log("attributes d"),
                y: Axis::log("nanoseconds per example"),
                series,
            });
        }
        let over_n = |name: &str, storage: &Storage, n: u64| {
            let found = rows.values(name, storage.growth, |row| row.examples == n);
            median(&found).unwrap_or(f64::NAN)
        };
        for storage in STORAGES {
            let grid = rows.grid(storage.growth);
            if grid.is_empty() {
                continue;
            }
            let curve = |name: &str| -> Vec<[f64; 2]> {
                let points = grid.iter().map(|&n| [n as f64, over_n(name, storage, n)]);
                points.filter(|[_, time]| time.is_finite()).collect()
            };
            figures.push(Figure {
                caption: format!("Time per example over the first n examples, attributes {}.", storage.name),
                x: Axis::log("examples n"),
                y: Axis::log("nanoseconds per example"),
                series: names.iter().map(|name| Series::line(name, curve(name))).collect(),
            });
        }

        let first = dims.first().copied().unwrap_or_default();
        let growth =
            |name: &str, dim: usize| middle(name, VIRTUAL.time, dim) / middle(name, VIRTUAL.time, first);
        let header = ["learner", "storage", "d", "n", "ns per example", "floor, ns", "over the floor"];
        let mut table = vec![header.map(String::from).to_vec()];
        for name in &names {
            for storage in STORAGES {
                let mut line = |dim: usize, n: String, time: f64| {
                    let floor = middle(name, storage.floor, dim);
                    let numbers =
                        [format!("{time:.0}"), format!("{floor:.0}"), format!("{:.2}", time / floor)];
                    let keys = [(*name).into(), storage.name.into(), dim.to_string(), n];
                    table.push(keys.into_iter().chain(numbers).collect());
                };
                for &dim in dims {
                    line(dim, "-".into(), middle(name, storage.time, dim));
                }
                for n in rows.grid(storage.growth) {
                    line(first, n.to_string(), over_n(name, storage, n));
                }
            }
        }
        let last = dims.last().copied().unwrap_or_default();
        let times: Vec<f64> = names.iter().map(|name| middle(name, VIRTUAL.time, last)).collect();
        let winner = best_two(&times).map_or_else(String::new, |(best, next)| {
            let next = next.map_or_else(String::new, |next| {
                format!(" The next is {} with {:.0} ns.", names[next], times[next])
            });
            format!(
                "At {last} attributes {} takes the least time per example, {:.0} ns, which is {:.2} times \
                 its time at {first} attributes.{next}",
                names[best],
                times[best],
                growth(names[best], last),
            )
        });
        Analysis { winner, figures, table }
    }
}
