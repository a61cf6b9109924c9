//! Exact counts of what was observed.

use serde::{Deserialize, Serialize};

/// The counts of a session so far. Counts are exact up to `u64::MAX`, where they stop: a source that serves
/// batches by their counts can serve more examples than that. Money is a sum of rounded numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Examples drawn from the source for learning.
    pub examples: u64,
    /// Attribute values seen, summed over those examples.
    pub attributes: u64,
    /// Labels seen.
    pub labels: u64,
    /// Asks served.
    pub asks: u64,
    /// Bytes of the values and labels seen, in the source's own storage.
    pub bytes: u64,
    /// The most distinct attributes seen of one example.
    pub most_attributes: usize,
    /// Money spent, by the [`Tariff`](crate::Tariff) of the session; 0 without one.
    #[serde(default)]
    pub cost: f64,
    /// The most money spent on one example.
    #[serde(default)]
    pub most_cost: f64,
    /// Predictions made before the label was told (online protocol).
    pub predictions: u64,
    /// The sum of squared errors of those predictions.
    pub squared_loss: f64,
}

impl Ledger {
    /// Returns the mean number of attributes per example; 0 before the first example.
    pub fn attributes_per_example(&self) -> f64 {
        if self.examples == 0 { 0.0 } else { self.attributes as f64 / self.examples as f64 }
    }

    /// Adds the money for examples of this cost.
    pub(crate) fn pay(&mut self, examples: u64, cost: f64) {
        // The sum stays a finite number, so that a checkpoint can hold it.
        self.cost = (self.cost + examples as f64 * cost).min(f64::MAX);
        self.most_cost = self.most_cost.max(cost.min(f64::MAX));
    }

    pub(crate) fn count(&mut self, examples: u64, attributes: usize, value_bytes: u64) {
        let add = |total: &mut u64, more: u64| *total = total.saturating_add(more);
        add(&mut self.examples, examples);
        add(&mut self.attributes, examples.saturating_mul(attributes as u64));
        add(&mut self.labels, examples);
        add(&mut self.bytes, examples.saturating_mul((attributes as u64 + 1).saturating_mul(value_bytes)));
        self.most_attributes = self.most_attributes.max(attributes);
    }
}
