//! Meters of the attributes that a learner reads and of the numbers that its state holds.

use lao_observation::source::gradient_by_blocks;
use lao_observation::{BlockBuf, GradientAsk, Scratch, Source, SourceError};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A source that counts every read below the session: which attributes of which example were seen.
#[derive(Clone, Debug)]
pub struct Metered<S> {
    inner: S,
    values: u64,
    multiply_adds: u64,
    /// The attributes seen of each example, as bits; they are kept for up to 128 attributes.
    seen: BTreeMap<u64, u128>,
}

impl<S: Source> Metered<S> {
    /// Returns `inner`, with nothing seen yet.
    pub fn new(inner: S) -> Self {
        Metered { inner, values: 0, multiply_adds: 0, seen: BTreeMap::new() }
    }

    /// Returns the number of attribute values read.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Returns the number of multiply-adds in the gradients asked for: per example one for every non-zero of
    /// theta, one for every coordinate of the gradient, and one for the label.
    pub fn multiply_adds(&self) -> u64 {
        self.multiply_adds
    }

    /// Returns the number of distinct attributes seen of each example that was read.
    pub fn attributes_per_example(&self) -> impl Iterator<Item = u32> + '_ {
        self.seen.values().map(|set| set.count_ones())
    }
}

impl<S> Metered<S> {
    /// Returns the attributes seen of each example that was read, ascending.
    pub fn attributes_of_examples(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.seen.values().map(|set| (0..128).filter(|j| set >> j & 1 == 1).collect())
    }
}

impl<S: Source> Source for Metered<S> {
    crate::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let first = self.inner.position();
        let rows = self.inner.observe(attributes, block)?;
        self.values += (rows * attributes.len()) as u64;
        if self.dim() <= 128 {
            let set = attributes.iter().fold(0, |set: u128, &j| set | 1 << j);
            for row in 0..rows as u64 {
                *self.seen.entry(first + row).or_default() |= set;
            }
        }
        Ok(rows)
    }

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        let served = gradient_by_blocks(self, ask, sum, scratch)?;
        self.multiply_adds += served * (ask.theta.len() + ask.attributes.len() + 1) as u64;
        Ok(served)
    }
}

/// Returns the number of numbers in the stored form of a state.
///
/// # Errors
/// When the state cannot be stored.
pub fn numbers(state: &impl Serialize) -> anyhow::Result<usize> {
    Ok(numbers_within(&serde_json::to_value(state)?))
}

/// Returns the number of numbers in a stored state: plain numbers, and floats stored as the 16 hexadecimal
/// digits of their bits.
pub fn numbers_within(stored: &Value) -> usize {
    match stored {
        Value::Array(items) => items.iter().map(numbers_within).sum(),
        Value::Object(fields) => fields.values().map(numbers_within).sum(),
        Value::Number(_) => 1,
        Value::String(text) => usize::from(text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit())),
        _ => 0,
    }
}
