//! The kinds of measurement, which say what is measured and how it is drawn. Each kind is a file and a row in
//! [`KINDS`].

mod cost;
mod learning_curve;
mod orders;
mod peers;
mod recovery;
mod sample_complexity;
mod thresholding_curve;
mod tuning;

use crate::row::Row;
use crate::tier::Size;
use lao_figures::Figure;
use lao_observation::Seed;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use toml::de::{Deserializer, Error};

/// A kind of measurement with the settings of a scenario.
///
/// A run consists of one job for each contender, repetition and number of attributes; its rows are those of
/// all jobs.
pub trait Kind: fmt::Debug + Send + Sync {
    /// Returns the name of the kind for people, such as "learning curve".
    fn label(&self) -> &'static str;

    /// Returns the names of the learners or solvers, in the order of the definition.
    fn contenders(&self) -> Vec<&str>;

    /// Returns whether the result is a time, so that jobs must not run in parallel.
    fn needs_idle_machine(&self) -> bool;

    /// Resolves paths in the settings relative to the folder of the definition.
    fn resolve(&mut self, _folder: &Path) {}

    /// Returns the numbers of attributes at which a contender is measured.
    ///
    /// # Errors
    /// When the data cannot be loaded.
    fn dims(&self, contender: usize) -> anyhow::Result<Vec<usize>>;

    /// Returns what the measurements so far depended on besides this program: versions of other programs, and
    /// their limits.
    fn software(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks the settings by loading the data and building each learner or solver once.
    ///
    /// # Errors
    /// When data are missing or malformed, or parameters are refused.
    fn check(&self) -> anyhow::Result<()>;

    /// Runs one job and returns its measurements.
    ///
    /// # Errors
    /// When a session fails or a step diverges. The job then leaves a row with the error.
    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>>;

    /// Returns by repetition what is drawn of a contender after this part of the run; smaller is better.
    fn drawn(&self, _rows: &Rows<'_>, _contender: &str, _part: f64) -> BTreeMap<u64, f64> {
        BTreeMap::new()
    }

    /// Returns the exponents of a contender's cost in a quantity, one for each repetition.
    fn exponents(&self, _rows: &Rows<'_>, _contender: &str, _of: &str) -> Vec<f64> {
        Vec::new()
    }

    /// Returns the data, in words, if the definition does not say which they are.
    ///
    /// # Errors
    /// When the catalog does not know a dataset.
    fn data(&self) -> anyhow::Result<Option<String>> {
        Ok(None)
    }

    /// Returns the figures, the table and the conclusion from the rows of a run.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis;
}

/// A kind with the name that scenarios use for it.
pub struct KindRow {
    /// The value of the key `kind`.
    pub name: &'static str,
    /// Reads the settings of a scenario.
    pub read: fn(Deserializer<'_>) -> Result<Box<dyn Kind>, Error>,
}

/// All kinds.
pub const KINDS: &[KindRow] = &[
    KindRow { name: "learning-curve", read: read::<learning_curve::LearningCurve> },
    KindRow { name: "cost", read: read::<cost::Cost> },
    KindRow { name: "peers", read: read::<peers::Peers> },
    KindRow { name: "recovery", read: read::<recovery::Recovery> },
    KindRow { name: "sample-complexity", read: read::<sample_complexity::SampleComplexity> },
    KindRow { name: "thresholding-curve", read: read::<thresholding_curve::ThresholdingCurve> },
];

fn read<K: Kind + for<'de> Deserialize<'de> + 'static>(
    settings: Deserializer<'_>,
) -> Result<Box<dyn Kind>, Error> {
    Ok(Box::new(K::deserialize(settings)?))
}

/// One unit of work, which runs on one thread.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The contender, as an index into [`Kind::contenders`].
    pub contender: usize,
    /// The number of the repetition, from 0.
    pub repetition: u64,
    /// The number of attributes.
    pub dim: usize,
}

/// One number that a job measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Examples seen.
    pub examples: u64,
    /// The name of the measurement, with its unit: "test mse", "ns per example" and others.
    pub metric: Cow<'static, str>,
    /// The measurement.
    pub value: f64,
}

impl Measurement {
    /// Returns a measurement after so many examples.
    pub fn new(examples: u64, metric: impl Into<Cow<'static, str>>, value: f64) -> Self {
        Measurement { examples, metric: metric.into(), value }
    }
}

/// The conclusions that a kind draws from its rows.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The best contender, in one or two sentences.
    pub winner: String,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The header and the rows of the table.
    pub table: Vec<Vec<String>>,
}

/// The rows of a run, in which a kind looks up values.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a>(pub &'a [Row]);

impl<'a> Rows<'a> {
    /// Returns the values of a metric of one contender in the rows that `fits` accepts, in the order of
    /// repetitions.
    pub fn values(&self, contender: &str, metric: &str, fits: impl Fn(&Row) -> bool) -> Vec<f64> {
        let of = |row: &&Row| row.learner == contender && row.metric == metric && fits(row);
        self.0.iter().filter(of).filter_map(|row| row.value).collect()
    }

    /// Returns the number of repetitions.
    pub fn repetitions(&self) -> u64 {
        self.0.iter().map(|row| row.repetition + 1).max().unwrap_or(0)
    }

    /// Returns the numbers of examples at which a metric was measured, ascending.
    pub fn grid(&self, metric: &str) -> Vec<u64> {
        let of = |row: &&Row| row.metric == metric;
        let mut grid: Vec<u64> = self.0.iter().filter(of).map(|row| row.examples).collect();
        grid.sort_unstable();
        grid.dedup();
        grid
    }
}

/// Returns the index of the smallest score, which is the best, and that of the next one. Scores that are not
/// finite are ignored.
pub(crate) fn best_two(scores: &[f64]) -> Option<(usize, Option<usize>)> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| scores[i].is_finite()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    Some((*order.first()?, order.get(1).copied()))
}
