//! What is measured, and how it is drawn: one file per kind, and a row in [`KINDS`].

mod cost;
mod learning_curve;
mod recovery;

use crate::record::Row;
use crate::scenario::Size;
use lao_figures::Figure;
use lao_observation::Seed;
use serde::Deserialize;
use std::fmt;
use std::path::Path;
use toml::de::{Deserializer, Error};

/// A kind of measurement with the settings of a scenario.
///
/// The rows of a run are those of all jobs: each contender, in each repetition, at each number of attributes.
pub trait Kind: fmt::Debug + Send + Sync {
    /// Returns what is measured, for people: "learning curve".
    fn label(&self) -> &'static str;

    /// Returns the names of the learners or solvers, in the order of the definition.
    fn contenders(&self) -> Vec<&str>;

    /// Whether the result is a time, so that jobs must not run beside each other.
    fn needs_idle_machine(&self) -> bool;

    /// Makes paths in the settings relative to the folder of the definition.
    fn resolve(&mut self, _folder: &Path) {}

    /// Returns the numbers of attributes that are measured.
    ///
    /// # Errors
    /// When the data cannot be loaded.
    fn dims(&self) -> anyhow::Result<Vec<usize>>;

    /// Loads the data and makes each learner or solver once.
    ///
    /// # Errors
    /// When data are missing or malformed, or parameters are refused.
    fn check(&self) -> anyhow::Result<()>;

    /// Does one job.
    ///
    /// # Errors
    /// When a session fails or a step diverges: the job then leaves a row with the error.
    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>>;

    /// Sums up the rows of a run.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis;
}

/// A kind, for scenarios to name.
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
    KindRow { name: "recovery", read: read::<recovery::Recovery> },
];

fn read<K: Kind + for<'de> Deserialize<'de> + 'static>(
    settings: Deserializer<'_>,
) -> Result<Box<dyn Kind>, Error> {
    Ok(Box::new(K::deserialize(settings)?))
}

/// One unit of work, the smallest that is worth a thread.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Whose turn it is: a place in [`Kind::contenders`].
    pub contender: usize,
    /// Which repetition, from 0.
    pub repetition: u64,
    /// On how many attributes.
    pub dim: usize,
}

/// One number that a job found.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Examples seen.
    pub examples: u64,
    /// What was measured, with its unit: "test mse", "ns per example", ...
    pub metric: &'static str,
    /// The measurement.
    pub value: f64,
}

/// What a kind makes of its rows.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Who won, in one or two sentences.
    pub winner: String,
    /// Drawn.
    pub figures: Vec<Figure>,
    /// Header and rows of a table.
    pub table: Vec<Vec<String>>,
}

/// The rows of a run, for a kind to look things up in.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a>(pub &'a [Row]);

impl<'a> Rows<'a> {
    /// Returns the values of a metric of one contender, of the rows that `fits` picks, in the order of
    /// repetitions.
    pub fn values(&self, contender: &str, metric: &str, fits: impl Fn(&Row) -> bool) -> Vec<f64> {
        let of = |row: &&Row| row.learner == contender && row.metric == metric && fits(row);
        self.0.iter().filter(of).filter_map(|row| row.value).collect()
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

/// Returns the place of the best by `score`, where smaller is better, and that of the next; contenders
/// without a finite score do not take part.
pub(crate) fn best_two(scores: &[f64]) -> Option<(usize, Option<usize>)> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| scores[i].is_finite()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    Some((*order.first()?, order.get(1).copied()))
}
