//! Time per example against the number of attributes.

use super::{Analysis, Job};
use crate::record::{Row, median};
use crate::scenario::{Scenario, Size};
use anyhow::Context as _;
use lao_figures::{Axis, Figure, Series};
use lao_observation::{BlockBuf, Budget, Learner as _, Seed, Session, SessionLimit};
use std::time::Instant;

const TIME: &str = "ns per example";
const LOOK: &str = "ns per example, source alone";

/// Times a whole number of updates, and at least the scenario's number of examples, after one update of warm-up. As
/// twin, the source alone hands out values of as many examples and attributes, in asks of the same size.
///
/// # Errors
/// When `examples` is missing or a session fails.
pub fn measure(scenario: &Scenario, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Row>> {
    let data = &scenario.data;
    let seed = seed.trial(job.repetition);
    let wanted = data.examples.with_context(|| format!("scenarios/{}.toml: data.examples", scenario.name))?;
    let wanted = ((wanted as f64 * size.scale).ceil() as u64).max(1);
    let target = data.target(job.dim, &seed)?;
    let stream = data.stream(&target, &seed.child("train"))?;
    let mut learner = job.contender.learner(job.dim, data.budget)?;
    let mut session = Session::new(stream, Budget::PerExample(data.budget), &seed.child("algorithm"));

    session.run(&mut learner, SessionLimit::after_updates(1), |_, _| {})?;
    let (before, start) = (session.ledger().examples, Instant::now());
    loop {
        let next = SessionLimit::after_updates(learner.updates() + 1);
        session.run(&mut learner, next, |_, _| {})?;
        if session.ledger().examples - before >= wanted {
            break;
        }
    }
    let examples = session.ledger().examples - before;
    let with_learner = start.elapsed().as_nanos() as f64 / examples as f64;
    let row = |metric: &str, value: f64| Row::of(scenario, job, examples, metric, value);

    // The twin: blocks of as many attributes and examples as the learner asked for on average.
    let ledger = session.ledger();
    let width = ledger.attributes_per_example().round().clamp(1.0, job.dim as f64) as usize;
    let room =
        (ledger.examples / ledger.asks.max(1)).clamp(1, BlockBuf::preferred_rows(width) as u64) as usize;
    let attributes: Vec<u32> = (0..width).map(|i| (i * (job.dim / width)) as u32).collect();
    let (mut stream, mut block) = (session.into_source(), BlockBuf::new());
    let (start, mut seen) = (Instant::now(), 0);
    while seen < examples {
        block.reset(width, room);
        seen += stream.observe(&attributes, &mut block)?.max(1) as u64;
    }
    let alone = start.elapsed().as_nanos() as f64 / seen as f64;
    Ok(vec![row(TIME, with_learner), row(LOOK, alone)])
}

/// Median time per example, with the source's own time as reference.
pub fn analyze(scenario: &Scenario, rows: &[Row]) -> Analysis {
    let names: Vec<&str> = scenario.learners.iter().filter_map(|table| table.get("name")?.as_str()).collect();
    let middle = |name: &str, metric: &str, dim: usize| {
        let fits = |row: &&Row| row.learner == name && row.metric == metric && row.dim == dim;
        median(&rows.iter().filter(fits).map(|row| row.value).collect::<Vec<_>>())
    };
    let dims = &scenario.data.dims;
    let curve = |name: &str, metric: &str| -> Vec<[f64; 2]> {
        dims.iter().filter_map(|&dim| Some([dim as f64, middle(name, metric, dim)?])).collect()
    };
    let mut series: Vec<Series> = names.iter().map(|name| Series::line(name, curve(name, TIME))).collect();
    if let Some(first) = names.first() {
        series.push(Series::bound(&format!("{first}: its source alone"), curve(first, LOOK)));
    }
    let figure = Figure {
        caption: format!("{}. Medians.", scenario.title),
        x: Axis::log("attributes d"),
        y: Axis::log("nanoseconds per example"),
        series,
    };
    let header = ["learner", "attributes", "ns per example", "to the fewest attributes", "source alone, ns"];
    let mut table = vec![header.map(String::from).to_vec()];
    for name in names {
        let first = dims.first().and_then(|&dim| middle(name, TIME, dim)).unwrap_or(f64::NAN);
        for &dim in dims {
            let [time, alone] = [TIME, LOOK].map(|metric| middle(name, metric, dim).unwrap_or(f64::NAN));
            let ratio = format!("{:.2}", time / first);
            table.push(vec![
                name.into(),
                dim.to_string(),
                format!("{time:.0}"),
                ratio,
                format!("{alone:.0}"),
            ]);
        }
    }
    Analysis { figures: vec![figure], table }
}
