//! Exact counts of what was seen.

use serde::{Deserialize, Serialize};

/// What a session has spent so far. All counts are exact.
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
    /// Predictions made before the label was told (online protocol).
    pub predictions: u64,
    /// Sum of squared errors of those predictions.
    pub squared_loss: f64,
}

impl Ledger {
    /// Mean attributes per example; 0 before the first example.
    pub fn attributes_per_example(&self) -> f64 {
        if self.examples == 0 { 0.0 } else { self.attributes as f64 / self.examples as f64 }
    }

    pub(crate) fn count(&mut self, examples: u64, attributes: usize, value_bytes: u64) {
        self.examples += examples;
        self.attributes += examples * attributes as u64;
        self.labels += examples;
        self.bytes += examples * (attributes as u64 + 1) * value_bytes;
        self.most_attributes = self.most_attributes.max(attributes);
    }
}
