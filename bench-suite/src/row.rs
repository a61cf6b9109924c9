//! Rows of a record: measurements, and what is made of several of them.

use serde::{Deserialize, Serialize};

/// One measurement, or the error that a job ended with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the learner or solver in the scenario.
    pub learner: String,
    /// The number of the repetition, from 0.
    pub repetition: u64,
    /// Attributes of an example.
    pub dim: usize,
    /// Examples seen.
    pub examples: u64,
    /// The name of the measurement, with its unit: "test mse", "excess risk", "ns per example" and others;
    /// "error" if the row is an error.
    pub metric: String,
    /// The measurement, or `None` if it is not a number or the row is an error.
    pub value: Option<f64>,
    /// Why the job ended without measurements, if it did.
    pub error: Option<String>,
}

impl Row {
    /// Returns whether the row is a time, which no seed determines.
    pub fn is_time(&self) -> bool {
        self.metric.starts_with("ns ") || self.metric.starts_with("seconds")
    }
}

/// Returns the mean and the sample standard deviation, or `None` if there are no values.
pub fn mean_sd(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    Some((mean, if values.len() > 1 { (spread / (n - 1.0)).sqrt() } else { 0.0 }))
}

/// Returns the median, or `None` if there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some((sorted[half - 1] + sorted[half]) / 2.0),
    }
}
