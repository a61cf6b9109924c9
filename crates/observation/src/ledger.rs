//! Exact counts of what was seen.

use serde::{Deserialize, Serialize};

/// What a session has spent so far. All counts are exact, up to `u64::MAX`, where they stay: a source that
/// serves batches by their counts can be asked for more examples than that.
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
    /// Returns the mean number of attributes per example; 0 before the first example.
    pub fn attributes_per_example(&self) -> f64 {
        if self.examples == 0 { 0.0 } else { self.attributes as f64 / self.examples as f64 }
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
