//! The sizes of an experiment, which the plan gives.

use serde::Serialize;
use std::collections::BTreeMap;

/// The sizes of one claim in one tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes(BTreeMap<String, u64>);

impl Sizes {
    /// Returns the size with this key, or `None` when the plan has no such key.
    pub fn get(&self, key: &str) -> Option<u64> {
        self.0.get(key).copied()
    }

    /// Returns all keys and sizes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(key, &size)| (key.as_str(), size))
    }
}

impl FromIterator<(String, u64)> for Sizes {
    fn from_iter<I: IntoIterator<Item = (String, u64)>>(sizes: I) -> Self {
        Sizes(sizes.into_iter().collect())
    }
}
