//! Test error against examples seen.

use super::{Analysis, Job};
use crate::record::{Row, mean_sd, median};
use crate::scenario::{Scenario, Size};
use anyhow::Context as _;
use lao_figures::{Axis, Figure, Series, Style};
use lao_kernels::SparseVector;
use lao_observation::session::mean_squared_error;
use lao_observation::{Budget, Learner as _, NoUpdate, Seed, Session, SessionLimit};
use std::time::{Duration, Instant};

const MSE: &str = "test mse";
const EXCESS: &str = "excess risk";
const TIME: &str = "ns per example";
/// Written of learners that complete no update, and so draw a flat line at the start.
const MISSING: &str = "examples missing to the first update";
/// Points of the curve.
const POINTS: u64 = 30;

/// Runs one learner over one training stream and scores its estimate at evenly spaced numbers of examples, on test
/// examples of the same repetition and by the exact excess risk. All learners of a repetition see the same data.
///
/// # Errors
/// When `train`, `test` or `dim` is missing or a session fails.
pub fn measure(scenario: &Scenario, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Row>> {
    let data = &scenario.data;
    let seed = seed.trial(job.repetition);
    let scaled = |n: Option<u64>, field: &str| -> anyhow::Result<u64> {
        let n = n.with_context(|| format!("scenarios/{}.toml: data.{field} is needed", scenario.name))?;
        Ok(((n as f64 * size.scale).ceil() as u64).max(1))
    };
    let (train, test) = (scaled(data.train, "train")?, scaled(data.test, "test")?);
    let target = data.target(job.dim, &seed)?;
    let mut examination = data.stream(&target, &seed.child("test"))?;
    let stream = data.stream(&target, &seed.child("train"))?;

    let mut learner = job.contender.learner(job.dim, data.budget)?;
    let budget = Budget::PerExample(data.budget);
    let mut session = Session::new(stream, budget, &seed.child("algorithm"));
    let mut rows = Vec::new();
    let grid = |i: u64| train * i / POINTS;
    let (mut next, mut current) = (0u64, learner.coefficients().to_owned_vector());
    let mut score = |theta: &SparseVector, at: u64| -> anyhow::Result<()> {
        examination.seek(0)?;
        let mse = mean_squared_error(theta.view(), &mut examination, budget, test)?;
        let excess = examination.excess(theta.view());
        for (metric, value) in [(MSE, mse.unwrap_or(f64::NAN)), (EXCESS, excess)] {
            rows.push(Row::of(scenario, job, at, metric, value));
        }
        Ok(())
    };

    // The clock stands still while estimates are scored.
    let (start, mut scoring, mut trouble) = (Instant::now(), Duration::ZERO, None);
    session.run(&mut learner, SessionLimit::after_examples(train), |ledger, learner| {
        let pause = Instant::now();
        while next < POINTS && grid(next) < ledger.examples {
            trouble = trouble.take().or(score(&current, grid(next)).err());
            next += 1;
        }
        current.copy_from(learner.coefficients());
        scoring += pause.elapsed();
    })?;
    let spent = start.elapsed().saturating_sub(scoring);
    while next <= POINTS {
        score(&current, grid(next))?;
        next += 1;
    }
    if let Some(error) = trouble {
        return Err(error);
    }
    let seen = session.ledger().examples.max(1);
    rows.push(Row::of(scenario, job, seen, TIME, spent.as_nanos() as f64 / seen as f64));
    if let Some(NoUpdate { missing: Some(missing) }) = NoUpdate::of(&learner) {
        rows.push(Row::of(scenario, job, seen, MISSING, missing as f64));
    }
    Ok(rows)
}

/// Curves of means with two standard deviations, and a table of final values.
pub fn analyze(scenario: &Scenario, rows: &[Row]) -> Analysis {
    let names: Vec<&str> = scenario.learners.iter().filter_map(|table| table.get("name")?.as_str()).collect();
    let values = |name: &str, metric: &str, at: u64| -> Vec<f64> {
        let fits = |row: &&Row| row.learner == name && row.metric == metric && row.examples == at;
        rows.iter().filter(fits).map(|row| row.value).collect()
    };
    let mut grid: Vec<u64> = rows.iter().filter(|row| row.metric == MSE).map(|row| row.examples).collect();
    grid.sort_unstable();
    grid.dedup();
    let curve = |name: &&str| {
        let (mut points, mut interval) = (Vec::new(), Vec::new());
        for &at in &grid {
            if let Some((mean, sd)) = mean_sd(&values(name, MSE, at)) {
                points.push([at as f64, mean]);
                interval.push([(mean - 2.0 * sd).max(mean / 10.0), mean + 2.0 * sd]);
            }
        }
        Series { name: (*name).into(), style: Style::Line, points, interval }
    };
    let mut series: Vec<Series> = names.iter().map(curve).collect();
    let ends = [grid.first(), grid.last()].into_iter().flatten();
    let floor = scenario.data.noise.powi(2);
    series.push(Series::bound("noise: the target's own error", ends.map(|&n| [n as f64, floor]).collect()));
    let idle = |name: &&str| {
        let of = |row: &&Row| row.learner == *name && row.metric == MISSING;
        let missing = rows.iter().filter(of).map(|row| row.value).reduce(f64::max)?;
        Some(format!(" No update was completed by {name}: the first needs {missing} more examples."))
    };
    let idle: String = names.iter().filter_map(idle).collect();
    let figure = Figure {
        caption: format!("{}. Means with two standard deviations.{idle}", scenario.title),
        x: Axis::linear("examples seen"),
        y: Axis::log("mean squared error on test examples"),
        series,
    };

    let mut table: Vec<Vec<String>> = vec![
        ["learner", "final test error", "2 sd", "excess risk", "2 sd", "ns per example"]
            .map(String::from)
            .into(),
    ];
    let last = grid.last().copied().unwrap_or_default();
    for name in names {
        let (mse, mse_sd) = mean_sd(&values(name, MSE, last)).unwrap_or((f64::NAN, f64::NAN));
        let (excess, excess_sd) = mean_sd(&values(name, EXCESS, last)).unwrap_or((f64::NAN, f64::NAN));
        let time: Vec<f64> = rows
            .iter()
            .filter(|row| row.learner == name && row.metric == TIME)
            .map(|row| row.value)
            .collect();
        table.push(vec![
            name.into(),
            format!("{mse:.4}"),
            format!("{:.4}", 2.0 * mse_sd),
            format!("{excess:.4}"),
            format!("{:.4}", 2.0 * excess_sd),
            format!("{:.0}", median(&time).unwrap_or(f64::NAN)),
        ]);
    }
    Analysis { figures: vec![figure], table }
}
