//! What is measured, and how it is drawn: one file per kind.

pub mod cost;
pub mod learning_curve;
pub mod recovery;

use crate::record::Row;
use crate::scenario::{Contender, Kind, Scenario, Size};
use lao_figures::Figure;
use lao_observation::Seed;

/// What a kind makes of its rows.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Drawn.
    pub figures: Vec<Figure>,
    /// Header and rows of a table.
    pub table: Vec<Vec<String>>,
}

/// One unit of work, the smallest that is worth a thread.
#[derive(Clone, Debug)]
pub struct Job {
    /// By whom.
    pub contender: Contender,
    /// Which repetition.
    pub repetition: u64,
    /// On how many attributes.
    pub dim: usize,
}

/// The jobs of a scenario.
///
/// # Errors
/// When the definition lacks what the kind needs.
pub fn jobs(scenario: &Scenario, size: Size) -> anyhow::Result<Vec<Job>> {
    let dims = if scenario.data.dims.is_empty() {
        scenario.data.dim.into_iter().collect()
    } else {
        scenario.data.dims.clone()
    };
    let mut jobs = Vec::new();
    for repetition in 0..size.repetitions {
        for contender in scenario.contenders()? {
            jobs.extend(dims.iter().map(|&dim| Job { contender: contender.clone(), repetition, dim }));
        }
    }
    Ok(jobs)
}

/// Whether the jobs of a kind must not run beside each other.
pub fn alone(kind: Kind) -> bool {
    matches!(kind, Kind::Cost | Kind::Recovery)
}

/// Measures.
///
/// # Errors
/// When the definition does not fit the kind or a session fails.
pub fn measure(scenario: &Scenario, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Row>> {
    match scenario.kind {
        Kind::LearningCurve => learning_curve::measure(scenario, job, size, seed),
        Kind::Cost => cost::measure(scenario, job, size, seed),
        Kind::Recovery => recovery::measure(scenario, job, size, seed),
    }
}

/// Sums up.
pub fn analyze(scenario: &Scenario, rows: &[Row]) -> Analysis {
    match scenario.kind {
        Kind::LearningCurve => learning_curve::analyze(scenario, rows),
        Kind::Cost => cost::analyze(scenario, rows),
        Kind::Recovery => recovery::analyze(scenario, rows),
    }
}
