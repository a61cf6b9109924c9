//! The kind `learning-curve`: test error, or the regret of predictions made online, against what was seen.

use super::tuning::Tuning;
use super::{Analysis, Job, Kind, Measurement, Rows, best_two};
use crate::data::{Data, Stream};
use crate::learner::{Contender, LearnerSpec};
use crate::row::{Row, mean_sd, median};
use crate::tier::Size;
use anyhow::{Context as _, bail, ensure};
use lao_algorithms::Money;
use lao_figures::{Axis, Figure, Series, Style};
use lao_kernels::SparseVector;
use lao_observation::session::{mean_squared_error, mean_squared_error_of};
use lao_observation::{Basket, Budget, NoUpdate, Seed, Session, SessionLimit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const MSE: &str = "test mse";
const EXCESS: &str = "excess risk";
const TIME: &str = "ns per example";
/// The money spent per example, by the ledger.
const COST: &str = "money per example";
/// What a prediction from the final estimate costs.
const PREDICTION: &str = "money per prediction";
/// The test error of predicting the mean of the training labels.
const MEAN: &str = "test mse of the mean";
/// The number of attributes that a prediction from the final estimate reads.
const SUPPORT: &str = "attributes per prediction";
/// The metric of learners that complete no update, and whose curve is therefore flat.
const MISSING: &str = "examples missing to the first update";
/// The squared errors of the predictions that were made before a label was told, summed up, less those of the
/// target; for a table nothing is subtracted.
const REGRET: &str = "regret";
const LOSS: &str = "cumulated squared error";
/// The beginning of the metric that says what tuning chose.
const TUNED: &str = "tuned: ";
/// The number of points of the curve.
const POINTS: u64 = 30;

/// What is drawn against what was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Measure {
    /// The error on test examples.
    #[default]
    TestError,
    /// The regret of predictions made online, in rounds of one example.
    Regret,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Seen {
    /// Examples.
    #[default]
    Examples,
    /// Attributes: examples times the budget.
    Attributes,
}

/// The settings of the kind. Each learner runs over one training stream and is scored at evenly spaced
/// numbers of examples, on test examples of the same repetition and, where it is known, by the exact excess
/// risk. All learners of a repetition see the same data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningCurve {
    /// `s'`, the number of attributes that may be observed of a training example.
    budget: usize,
    /// The prices, and what an example may cost, if attributes have prices.
    money: Option<Money>,
    /// `d`, for data from a design; a table has its own.
    dim: Option<usize>,
    /// The number of examples in the training stream. For a table, the default is each training row once; if
    /// the number is larger, the rows are repeated.
    train: Option<u64>,
    /// The number of test examples, for data from a design; a table uses all its test rows.
    test: Option<u64>,
    /// What is drawn.
    #[serde(default)]
    measure: Measure,
    /// Against what it is drawn.
    #[serde(default)]
    seen: Seen,
    /// The number of repetitions, with a seed of their own, on which each learner chooses from its grids by
    /// the mean of what is drawn at the end.
    #[serde(default = "one")]
    tuning: u64,
    /// The data.
    data: Data,
    /// The learners.
    learners: Vec<LearnerSpec>,
    /// Which candidate each learner has chosen.
    #[serde(skip)]
    chosen: Tuning,
}

fn one() -> u64 {
    1
}

/// The examples of one repetition.
struct Examples {
    train: Box<dyn Stream>,
    test: Box<dyn Stream>,
    /// The number of examples in the training stream, and that of test examples.
    counts: (u64, u64),
    /// The test error of predicting the mean of the training labels, where it differs from that of the zero
    /// predictor.
    error_of_mean: Option<f64>,
    /// The target, where there is one.
    target: Option<SparseVector>,
}

impl LearningCurve {
    fn examples(&self, dim: usize, size: Size, seed: &Seed) -> anyhow::Result<Examples> {
        match &self.data {
            Data::Design(design) => {
                let count = |n: Option<u64>, key: &str| {
                    let n =
                        n.with_context(|| format!("`{key}` is missing: give the number of its examples"))?;
                    anyhow::Ok(size.scaled(n, 1))
                };
                let test = match self.measure {
                    Measure::TestError => self.test,
                    Measure::Regret => Some(0),
                };
                let counts = (count(self.train, "train")?, count(test, "test")?);
                let target = design.target(dim, seed)?;
                let test = design.stream(&target, &seed.child("test"))?;
                let train = design.stream(&target, &seed.child("train"))?;
                Ok(Examples { train, test, counts, error_of_mean: None, target: Some(target) })
            }
            Data::Table(table) => {
                if self.dim.is_some() || self.test.is_some() {
                    bail!("`dim` and `test` are for designs: a table has its own attributes and test rows")
                }
                let rows = table.train_test(seed)?;
                let length = size.scaled(self.train.unwrap_or(rows.train.rows() as u64), 1);
                let counts = (length, rows.test.rows() as u64);
                let train = Box::new(rows.train.with_passes(u64::MAX));
                Ok(Examples {
                    train,
                    test: Box::new(rows.test),
                    counts,
                    error_of_mean: Some(rows.error_of_mean),
                    target: None,
                })
            }
        }
    }

    /// Returns the candidate that is best on the repetitions for tuning.
    fn choose(&self, job: &Job, size: Size, of: &[(LearnerSpec, String)]) -> anyhow::Result<usize> {
        if of.len() == 1 {
            return Ok(0);
        }
        self.chosen.choose(job.contender, "", || {
            let tuning = Seed::root(0).child("tuning");
            let score = |spec: &LearnerSpec| -> anyhow::Result<f64> {
                let mut sum = 0.0;
                for repetition in 0..self.tuning.max(1) {
                    let curve = self.curve(spec, job.dim, size, &tuning.trial(repetition), 1);
                    // A step that diverges is no choice.
                    let Ok(curve) = curve else { return Ok(f64::INFINITY) };
                    let last = curve.iter().rfind(|row| row.metric == self.metric());
                    sum += last.map_or(f64::INFINITY, |row| row.value);
                }
                Ok(sum)
            };
            of.iter().map(|(spec, _)| score(spec)).collect()
        })
    }

    /// Returns the metric that is drawn.
    fn metric(&self) -> &'static str {
        match (self.measure, &self.data) {
            (Measure::TestError, _) => MSE,
            (Measure::Regret, Data::Design(_)) => REGRET,
            (Measure::Regret, Data::Table(_)) => LOSS,
        }
    }

    /// Runs a learner over the training stream, and scores it at so many numbers of examples.
    fn curve(
        &self,
        spec: &LearnerSpec,
        dim: usize,
        size: Size,
        seed: &Seed,
        points: u64,
    ) -> anyhow::Result<Vec<Measurement>> {
        let Examples { train: stream, test: mut examination, counts: (train, test), error_of_mean, target } =
            self.examples(dim, size, seed)?;
        let Contender { mut learner, budget } = spec.build(stream.dim(), self.budget, self.money.as_ref())?;
        let learner = &mut *learner;
        let mut session = Session::new(stream, budget, &seed.child("algorithm"));
        if let Some(money) = &self.money {
            session = session.priced(money.tariff.clone())?;
        }
        if self.measure == Measure::Regret {
            session = session.online();
        }
        // The same stream once more, for the loss of the target.
        let mut twin = match (self.measure, target) {
            (Measure::Regret, Some(target)) => Some((self.examples(dim, size, seed)?.train, target)),
            _ => None,
        };
        let mut of_target = 0.0;
        let mut rows = Vec::new();
        let grid = |i: u64| (u128::from(train) * u128::from(i) / u128::from(points)) as u64;
        let (mut spent, mut before) = (Duration::ZERO, 0);
        for at in (0..=points).map(grid) {
            // The clock stops while estimates are scored.
            let start = Instant::now();
            session.run(learner, SessionLimit::after_examples(at), |_, _| {})?;
            spent += start.elapsed();
            if self.measure == Measure::Regret {
                let ledger = session.ledger();
                ensure!(
                    ledger.predictions == at,
                    "{} predicts {} of {at} labels: it asks for more than one example at a time",
                    spec.name,
                    ledger.predictions
                );
                if let Some((stream, target)) = twin.as_mut().filter(|_| at > before) {
                    let (view, rounds) = (target.view(), at - before);
                    let error = mean_squared_error(view, stream, Budget::Unlimited, rounds)?;
                    of_target += rounds as f64 * error.context("the stream is dry")?;
                }
                before = at;
                rows.push(Measurement::new(at, self.metric(), ledger.squared_loss - of_target));
                continue;
            }
            examination.seek(0)?;
            // The budget is that of training. The number of attributes that a prediction reads is measured
            // separately.
            let mse = mean_squared_error_of(learner, &mut examination, Budget::Unlimited, test)?;
            rows.push(Measurement::new(at, MSE, mse.unwrap_or(f64::NAN)));
            if let Some(value) = examination.excess(learner.coefficients()) {
                rows.push(Measurement::new(at, EXCESS, value));
            }
        }
        let seen = session.ledger().examples.max(1);
        let cost = session.ledger().cost / seen as f64;
        let mut last = |metric, value| rows.push(Measurement::new(seen, metric, value));
        last(TIME, spent.as_nanos() as f64 / seen as f64);
        last(SUPPORT, learner.coefficients().len() as f64);
        if let Some(money) = &self.money {
            last(COST, cost);
            last(PREDICTION, money.tariff.cost(learner.coefficients().indices(), &mut Basket::default()));
        }
        if let Some(error) = error_of_mean {
            last(MEAN, error);
        }
        if let Some(NoUpdate { missing: Some(missing) }) = NoUpdate::of(learner) {
            last(MISSING, missing as f64);
        }
        Ok(rows)
    }
}

impl Kind for LearningCurve {
    fn label(&self) -> &'static str {
        "learning curve"
    }

    fn contenders(&self) -> Vec<&str> {
        self.learners.iter().map(|learner| learner.name.as_str()).collect()
    }

    fn needs_idle_machine(&self) -> bool {
        false
    }

    fn resolve(&mut self, folder: &Path) {
        if let Data::Table(table) = &mut self.data {
            table.resolve(folder);
        }
    }

    fn dims(&self, _contender: usize) -> anyhow::Result<Vec<usize>> {
        Ok(vec![match &self.data {
            Data::Design(_) => self.dim.context("`dim` is missing: give the number of attributes")?,
            Data::Table(table) => table.dim()?,
        }])
    }

    fn check(&self) -> anyhow::Result<()> {
        let smallest = Size { repetitions: 1, scale: f64::MIN_POSITIVE };
        for dim in self.dims(0)? {
            let examples = self.examples(dim, smallest, &Seed::root(0))?;
            for (learner, _) in self.learners.iter().flat_map(LearnerSpec::candidates) {
                learner.build(examples.train.dim(), self.budget, self.money.as_ref())?;
            }
        }
        Ok(())
    }

    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let candidates = self.learners[job.contender].candidates();
        let (spec, words) = &candidates[self.choose(job, size, &candidates)?];
        let mut rows = self.curve(spec, job.dim, size, seed, POINTS)?;
        if !words.is_empty() {
            rows.push(Measurement::new(0, format!("{TUNED}{words}"), 1.0));
        }
        Ok(rows)
    }

    fn drawn(&self, rows: &Rows<'_>, contender: &str, part: f64) -> BTreeMap<u64, f64> {
        let (metric, grid) = (self.metric(), rows.grid(self.metric()));
        let Some(&at) = grid.get(((grid.len().max(1) - 1) as f64 * part).round() as usize) else {
            return BTreeMap::new();
        };
        let of = |row: &&Row| row.learner == contender && row.metric == metric && row.examples == at;
        rows.0.iter().filter(of).filter_map(|row| Some((row.repetition, row.value?))).collect()
    }

    fn data(&self) -> anyhow::Result<Option<String>> {
        match &self.data {
            Data::Design(_) => Ok(None),
            Data::Table(table) => table.name().map(Some),
        }
    }

    /// Draws curves of means with two standard deviations, and makes a table of final values.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        let metric = self.metric();
        let (names, grid) = (self.contenders(), rows.grid(metric));
        let per_example = match self.seen {
            Seen::Examples => 1.0,
            Seen::Attributes => self.budget as f64,
        };
        let curve = |name: &&str| {
            let (mut points, mut interval) = (Vec::new(), Vec::new());
            for &at in &grid {
                if let Some((mean, sd)) = mean_sd(&rows.values(name, metric, |row| row.examples == at)) {
                    points.push([per_example * at as f64, mean]);
                    let low = if self.measure == Measure::Regret { f64::NEG_INFINITY } else { mean / 10.0 };
                    interval.push([(mean - 2.0 * sd).max(low), mean + 2.0 * sd]);
                }
            }
            Series { name: (*name).into(), style: Style::Line, points, interval }
        };
        let mut series: Vec<Series> = names.iter().map(curve).collect();
        let across = |level: f64| {
            [grid.first(), grid.last()]
                .into_iter()
                .flatten()
                .map(|&n| [per_example * n as f64, level])
                .collect()
        };
        let of_mean: Vec<f64> = names.iter().flat_map(|name| rows.values(name, MEAN, |_| true)).collect();
        if self.measure == Measure::TestError {
            series.push(match &self.data {
                Data::Design(design) => {
                    Series::bound("noise: the target's own error", across(design.noise.powi(2)))
                }
                Data::Table(_) => Series::bound(
                    "the mean of the training labels",
                    across(mean_sd(&of_mean).map_or(f64::NAN, |(mean, _)| mean)),
                ),
            });
        }
        let idle = |name: &&str| {
            let missing = rows.values(name, MISSING, |_| true).into_iter().reduce(f64::max)?;
            Some(format!(" No update was completed by {name}: the first needs {missing} more examples."))
        };
        let idle: String = names.iter().filter_map(idle).collect();
        let x = match (self.measure, self.seen) {
            (Measure::Regret, _) => "rounds",
            (_, Seen::Examples) => "examples seen",
            (_, Seen::Attributes) => "attributes seen",
        };
        let (what, y) = match metric {
            MSE => ("test error", Axis::log("mean squared error on test examples")),
            REGRET => ("regret", Axis::linear("regret against the target")),
            _ => ("cumulated error", Axis::linear("cumulated squared error of predictions")),
        };
        let tuned = |name: &&str| {
            let row = rows.0.iter().find(|row| row.learner == *name && row.metric.starts_with(TUNED))?;
            Some(format!(" {name}: {}.", &row.metric[TUNED.len()..]))
        };
        let tuned: String = names.iter().filter_map(tuned).collect();
        let tuned = if tuned.is_empty() { tuned } else { format!(" Chosen on other data:{tuned}") };
        let figure = Figure {
            caption: format!("Mean {what} and two standard deviations of the repetitions.{idle}{tuned}"),
            x: Axis::linear(x),
            y,
            series,
        };

        let last = grid.last().copied().unwrap_or_default();
        let at_end = |name: &str, metric: &str| rows.values(name, metric, |row| row.examples == last);
        let header = [
            "learner",
            match metric {
                MSE => "final test error",
                other => other,
            },
            "2 sd",
            "excess risk",
            "2 sd",
            "attributes per prediction",
            "ns per example",
        ];
        let mut table: Vec<Vec<String>> = vec![header.map(String::from).into()];
        let of_money: &[&str] = if self.money.is_some() { &[COST, PREDICTION] } else { &[] };
        table[0].extend(of_money.iter().map(|metric| (*metric).into()));
        for name in &names {
            let [mse, excess] = [metric, EXCESS].map(|metric| mean_sd(&at_end(name, metric)));
            let four = |x: Option<f64>| x.map_or_else(|| "-".into(), |x| format!("{x:.4}"));
            let whole = |metric| {
                let middle = median(&rows.values(name, metric, |_| true));
                middle.map_or_else(|| "-".into(), |x| format!("{x:.0}"))
            };
            table.push(vec![
                (*name).into(),
                four(mse.map(|(mean, _)| mean)),
                four(mse.map(|(_, sd)| 2.0 * sd)),
                four(excess.map(|(mean, _)| mean)),
                four(excess.map(|(_, sd)| 2.0 * sd)),
                whole(SUPPORT),
                whole(TIME),
            ]);
            let two = |metric: &&str| {
                let mean = mean_sd(&rows.values(name, metric, |_| true));
                mean.map_or_else(|| "-".into(), |(mean, _)| format!("{mean:.2}"))
            };
            table.last_mut().into_iter().for_each(|line| line.extend(of_money.iter().map(two)));
        }

        let finals: Vec<Vec<f64>> = names.iter().map(|name| at_end(name, metric)).collect();
        let means: Vec<f64> =
            finals.iter().map(|errors| mean_sd(errors).map_or(f64::NAN, |(mean, _)| mean)).collect();
        let winner = best_two(&means).map_or_else(String::new, |(best, next)| {
            let next = next.map_or_else(String::new, |next| {
                let pairs = finals[best].iter().zip(&finals[next]);
                let worse = pairs.clone().filter(|(best, next)| next > best).count();
                let (name, mean, of) = (names[next], means[next], pairs.count());
                format!(" The next is {name} with {mean:.4}; it is worse in {worse} of {of} repetitions.")
            });
            let (name, mean) = (names[best], means[best]);
            format!("{name} has the lowest mean {what} after {last} examples, {mean:.4}.{next}")
        });
        Analysis { winner, figures: vec![figure], table }
    }
}
