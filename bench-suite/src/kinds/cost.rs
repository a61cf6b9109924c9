//! The kind `cost`: time per example against the number of attributes.

use super::{Analysis, Job, Kind, Measurement, Rows, best_two};
use crate::data::Design;
use crate::learner::{Contender, LearnerSpec};
use crate::record::median;
use crate::scenario::Size;
use anyhow::ensure;
use lao_figures::{Axis, Figure, Series};
use lao_observation::{BlockBuf, Seed, Session, SessionLimit, Source as _};
use serde::Deserialize;
use std::time::Instant;

const TIME: &str = "ns per example";
const LOOK: &str = "ns per example, source alone";

/// The settings of the kind. A whole number of updates with at least `examples` examples is timed, after one
/// update of warm-up. For reference, the source alone is timed as well, on asks of the same size for as many
/// examples and attributes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// `s'`, the number of attributes that may be observed of an example.
    budget: usize,
    /// The numbers of attributes, ascending.
    dims: Vec<usize>,
    /// The least number of examples per measurement.
    examples: u64,
    /// The data.
    data: Design,
    /// The learners.
    learners: Vec<LearnerSpec>,
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
        for dim in self.dims(0)? {
            self.data.target(dim, &Seed::root(0))?;
            self.learners.iter().try_for_each(|learner| learner.build(dim, self.budget, None).map(drop))?;
        }
        Ok(())
    }

    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let wanted = size.scaled(self.examples, 1);
        let target = self.data.target(job.dim, seed)?;
        let stream = self.data.stream(&target, &seed.child("train"))?;
        let Contender { mut learner, budget } =
            self.learners[job.contender].build(job.dim, self.budget, None)?;
        let learner = &mut *learner;
        let mut session = Session::new(stream, budget, &seed.child("algorithm"));

        session.run(learner, SessionLimit::after_updates(1), |_, _| {})?;
        let (before, start) = (session.ledger().examples, Instant::now());
        loop {
            let next = SessionLimit::after_updates(learner.updates() + 1);
            session.run(learner, next, |_, _| {})?;
            if session.ledger().examples - before >= wanted {
                break;
            }
        }
        let examples = session.ledger().examples - before;
        let with_learner = start.elapsed().as_nanos() as f64 / examples as f64;

        // The source alone answers asks for as many attributes and examples as the learner asked for on
        // average.
        let ledger = session.ledger();
        let width = ledger.attributes_per_example().round().clamp(1.0, job.dim as f64) as usize;
        let most = BlockBuf::preferred_rows(width) as u64;
        let rows = (ledger.examples / ledger.asks.max(1)).clamp(1, most) as usize;
        let attributes: Vec<u32> = (0..width).map(|i| (i * (job.dim / width)) as u32).collect();
        let (mut stream, mut block) = (session.into_source(), BlockBuf::new());
        let (start, mut seen) = (Instant::now(), 0);
        while seen < examples {
            block.reset(width, rows);
            seen += stream.observe(&attributes, &mut block)?.max(1) as u64;
        }
        let alone = start.elapsed().as_nanos() as f64 / seen as f64;
        let row = |metric, value| Measurement { examples, metric, value };
        Ok(vec![row(TIME, with_learner), row(LOOK, alone)])
    }

    /// Draws the median time per example, with the source's own time as reference.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        let (names, dims) = (self.contenders(), &self.dims);
        let middle =
            |name: &str, metric: &str, dim: usize| median(&rows.values(name, metric, |row| row.dim == dim));
        let curve = |name: &str, metric: &str| -> Vec<[f64; 2]> {
            dims.iter().filter_map(|&dim| Some([dim as f64, middle(name, metric, dim)?])).collect()
        };
        let mut series: Vec<Series> =
            names.iter().map(|name| Series::line(name, curve(name, TIME))).collect();
        if let Some(first) = names.first() {
            series.push(Series::bound(&format!("{first}: its source alone"), curve(first, LOOK)));
        }
        let figure = Figure {
            caption: "Median time per example.".into(),
            x: Axis::log("attributes d"),
            y: Axis::log("nanoseconds per example"),
            series,
        };
        let header =
            ["learner", "attributes", "ns per example", "to the fewest attributes", "source alone, ns"];
        let mut table = vec![header.map(String::from).to_vec()];
        let growth = |name: &str, dim: usize| {
            let first = dims.first().and_then(|&dim| middle(name, TIME, dim));
            middle(name, TIME, dim).zip(first).map_or(f64::NAN, |(time, first)| time / first)
        };
        for name in &names {
            for &dim in dims {
                let [time, alone] = [TIME, LOOK].map(|metric| middle(name, metric, dim).unwrap_or(f64::NAN));
                table.push(vec![
                    (*name).into(),
                    dim.to_string(),
                    format!("{time:.0}"),
                    format!("{:.2}", growth(name, dim)),
                    format!("{alone:.0}"),
                ]);
            }
        }
        let last = dims.last().copied().unwrap_or_default();
        let times: Vec<f64> = names.iter().map(|name| middle(name, TIME, last).unwrap_or(f64::NAN)).collect();
        let winner = best_two(&times).map_or_else(String::new, |(best, next)| {
            let next = next.map_or_else(String::new, |next| {
                format!(" The next is {} with {:.0} ns.", names[next], times[next])
            });
            format!(
                "At {last} attributes {} takes the least time per example, {:.0} ns, which is {:.2} times \
                 its time at {} attributes.{next}",
                names[best],
                times[best],
                growth(names[best], last),
                dims.first().copied().unwrap_or_default(),
            )
        });
        Analysis { winner, figures: vec![figure], table }
    }
}
