//! The sizes of an experiment, which the plan gives.

use serde::Serialize;
use std::collections::BTreeMap;

/// The sizes of one claim in one tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    by_key: BTreeMap<String, u64>,
    /// The smaller sizes at which mutants are tried first, for some of the keys.
    of_mutants: BTreeMap<String, u64>,
}

impl Sizes {
    /// Returns the size with this key, or `None` when the plan has no such key.
    pub fn get(&self, key: &str) -> Option<u64> {
        self.by_key.get(key).copied()
    }

    /// Returns all keys and sizes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.by_key.iter().map(|(key, &size)| (key.as_str(), size))
    }

    /// Returns these sizes, with the mutants first tried at `size` for this key. A size that is not smaller
    /// than the one for all arms changes nothing.
    pub fn with_mutants_at(mut self, key: &str, size: u64) -> Self {
        if self.get(key).is_some_and(|all| size < all) {
            self.of_mutants.insert(key.into(), size);
        }
        self
    }

    /// Returns the sizes at which the mutants are tried first, if they are smaller than those of the other
    /// arms.
    pub fn of_mutants(&self) -> Option<Sizes> {
        if self.of_mutants.is_empty() {
            return None;
        }
        let mut by_key = self.by_key.clone();
        by_key.extend(self.of_mutants.clone());
        Some(Sizes { by_key, of_mutants: BTreeMap::new() })
    }
}

impl FromIterator<(String, u64)> for Sizes {
    fn from_iter<I: IntoIterator<Item = (String, u64)>>(sizes: I) -> Self {
        Sizes { by_key: sizes.into_iter().collect(), of_mutants: BTreeMap::new() }
    }
}
