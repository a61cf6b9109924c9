//! Samplers of indices.

mod sum_tree;
mod uniform;

pub use sum_tree::{BLOCK, SumTree, block};
pub use uniform::uniform_draws;

use crate::seed::Rng;
use crate::stored::{Damaged, Validate};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// A sampler of uniform subsets of `0..dim`, in time O(size log size) for each.
///
/// It keeps a permutation, and shuffles a prefix of it for each draw (partial Fisher-Yates). The shuffled
/// prefix of *any* permutation is a uniform subset, so that the permutation is never reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct SubsetSampler {
    permutation: Vec<u32>,
}

crate::stored!(SubsetSampler);

impl Validate for SubsetSampler {
    fn validate(&self) -> Result<(), Damaged> {
        let mut seen = vec![false; self.permutation.len()];
        let is_new = |&j: &u32| seen.get_mut(j as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        let ok = self.permutation.iter().all(is_new);
        Damaged::unless(ok, "sampler of subsets", || {
            format!("its list is no permutation of 0..{}", self.permutation.len())
        })
    }
}

impl SubsetSampler {
    /// Returns a sampler over `0..dim`.
    pub fn new(dim: usize) -> Self {
        SubsetSampler { permutation: (0..dim as u32).collect() }
    }

    /// Returns `d`, the number of indices that subsets are drawn from.
    pub fn dim(&self) -> usize {
        self.permutation.len()
    }

    /// Appends a uniformly drawn subset of `size` indices (all of them if `size >= dim`), sorted, to `into`.
    pub fn draw(&mut self, size: usize, rng: &mut Rng, into: &mut Vec<u32>) {
        let dim = self.permutation.len();
        let size = size.min(dim);
        for i in 0..size {
            let j = rng.random_range(i..dim);
            self.permutation.swap(i, j);
        }
        let start = into.len();
        into.extend_from_slice(&self.permutation[..size]);
        into[start..].sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn every_subset_is_equally_frequent() {
        // Chi-square over the C(5,2) = 10 subsets, 20_000 draws; 27.88 is its 0.999 quantile at 9 degrees.
        let (mut sampler, mut rng) = (SubsetSampler::new(5), Seed::root(5).rng());
        let (mut counts, mut drawn) = (std::collections::BTreeMap::new(), Vec::new());
        for _ in 0..20_000 {
            drawn.clear();
            sampler.draw(2, &mut rng, &mut drawn);
            assert!(drawn[0] < drawn[1]);
            *counts.entry(drawn.clone()).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 10);
        let statistic: f64 = counts.values().map(|&n| (f64::from(n) - 2000.0).powi(2) / 2000.0).sum();
        assert!(statistic < 27.88, "chi-square {statistic}");
    }

    #[test]
    fn a_stored_list_that_is_no_permutation_is_refused() {
        for text in ["[0,0]", "[1,2]", "[4000000000]", "[-1]"] {
            let stored = format!(r#"{{"permutation":{text}}}"#);
            assert!(serde_json::from_str::<SubsetSampler>(&stored).is_err(), "{text}");
        }
        assert_eq!(serde_json::from_str::<SubsetSampler>(r#"{"permutation":[1,0]}"#).unwrap().dim(), 2);
    }

    #[test]
    fn asking_for_too_many_gives_all() {
        let mut drawn = Vec::new();
        SubsetSampler::new(3).draw(9, &mut Seed::root(1).rng(), &mut drawn);
        assert_eq!(drawn, [0, 1, 2]);
    }
}
