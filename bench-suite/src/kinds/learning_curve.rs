//! The kind `learning-curve`: test error against examples seen.

use super::{Analysis, Job, Kind, Measurement, Rows, best_two};
use crate::data::{Data, Stream};
use crate::learner::{Contender, LearnerSpec};
use crate::row::{mean_sd, median};
use crate::tier::Size;
use anyhow::{Context as _, bail};
use lao_algorithms::Money;
use lao_figures::{Axis, Figure, Series, Style};
use lao_observation::session::mean_squared_error_of;
use lao_observation::{Basket, Budget, NoUpdate, Seed, Session, SessionLimit};
use serde::Deserialize;
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
/// The number of points of the curve.
const POINTS: u64 = 30;

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
    /// The data.
    data: Data,
    /// The learners.
    learners: Vec<LearnerSpec>,
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
                let counts = (count(self.train, "train")?, count(self.test, "test")?);
                let target = design.target(dim, seed)?;
                let test = design.stream(&target, &seed.child("test"))?;
                let train = design.stream(&target, &seed.child("train"))?;
                Ok(Examples { train, test, counts, error_of_mean: None })
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
                })
            }
        }
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
            for learner in &self.learners {
                learner.build(examples.train.dim(), self.budget, self.money.as_ref())?;
            }
        }
        Ok(())
    }

    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let Examples { train: stream, test: mut examination, counts: (train, test), error_of_mean } =
            self.examples(job.dim, size, seed)?;
        let Contender { mut learner, budget } =
            self.learners[job.contender].build(stream.dim(), self.budget, self.money.as_ref())?;
        let learner = &mut *learner;
        let mut session = Session::new(stream, budget, &seed.child("algorithm"));
        if let Some(money) = &self.money {
            session = session.priced(money.tariff.clone())?;
        }
        let mut rows = Vec::new();
        let grid = |i: u64| (u128::from(train) * u128::from(i) / u128::from(POINTS)) as u64;
        let mut spent = Duration::ZERO;
        for at in (0..=POINTS).map(grid) {
            // The clock stops while estimates are scored.
            let start = Instant::now();
            session.run(learner, SessionLimit::after_examples(at), |_, _| {})?;
            spent += start.elapsed();
            examination.seek(0)?;
            // The budget is that of training. The number of attributes that a prediction reads is measured
            // separately.
            let mse = mean_squared_error_of(learner, &mut examination, Budget::Unlimited, test)?;
            rows.push(Measurement { examples: at, metric: MSE, value: mse.unwrap_or(f64::NAN) });
            if let Some(value) = examination.excess(learner.coefficients()) {
                rows.push(Measurement { examples: at, metric: EXCESS, value });
            }
        }
        let seen = session.ledger().examples.max(1);
        let cost = session.ledger().cost / seen as f64;
        let mut last = |metric, value| rows.push(Measurement { examples: seen, metric, value });
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

    /// Draws curves of means with two standard deviations, and makes a table of final values.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        let (names, grid) = (self.contenders(), rows.grid(MSE));
        let curve = |name: &&str| {
            let (mut points, mut interval) = (Vec::new(), Vec::new());
            for &at in &grid {
                if let Some((mean, sd)) = mean_sd(&rows.values(name, MSE, |row| row.examples == at)) {
                    points.push([at as f64, mean]);
                    interval.push([(mean - 2.0 * sd).max(mean / 10.0), mean + 2.0 * sd]);
                }
            }
            Series { name: (*name).into(), style: Style::Line, points, interval }
        };
        let mut series: Vec<Series> = names.iter().map(curve).collect();
        let across = |level: f64| {
            [grid.first(), grid.last()].into_iter().flatten().map(|&n| [n as f64, level]).collect()
        };
        let of_mean: Vec<f64> = names.iter().flat_map(|name| rows.values(name, MEAN, |_| true)).collect();
        series.push(match &self.data {
            Data::Design(design) => {
                Series::bound("noise: the target's own error", across(design.noise.powi(2)))
            }
            Data::Table(_) => Series::bound(
                "the mean of the training labels",
                across(mean_sd(&of_mean).map_or(f64::NAN, |(mean, _)| mean)),
            ),
        });
        let idle = |name: &&str| {
            let missing = rows.values(name, MISSING, |_| true).into_iter().reduce(f64::max)?;
            Some(format!(" No update was completed by {name}: the first needs {missing} more examples."))
        };
        let idle: String = names.iter().filter_map(idle).collect();
        let figure = Figure {
            caption: format!("Mean test error and two standard deviations of the repetitions.{idle}"),
            x: Axis::linear("examples seen"),
            y: Axis::log("mean squared error on test examples"),
            series,
        };

        let last = grid.last().copied().unwrap_or_default();
        let at_end = |name: &str, metric: &str| rows.values(name, metric, |row| row.examples == last);
        let header = [
            "learner",
            "final test error",
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
            let [mse, excess] = [MSE, EXCESS].map(|metric| mean_sd(&at_end(name, metric)));
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

        let finals: Vec<Vec<f64>> = names.iter().map(|name| at_end(name, MSE)).collect();
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
            format!("{name} has the lowest mean test error after {last} examples, {mean:.4}.{next}")
        });
        Analysis { winner, figures: vec![figure], table }
    }
}
