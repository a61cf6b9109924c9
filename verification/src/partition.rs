//! Splits a run over several machines: each runs its part of the claims, and the parts are merged.
//!
//! The forms are those of cargo-nextest: `slice:2/8` takes every eighth claim from the second on, `hash:2/8`
//! those whose id hashes to the second of eight parts, and `time:2/8` balances the parts by the seconds that
//! the claims took when the baseline was blessed last.

use crate::claim::Claim;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// One part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// How claims are divided.
    pub by: PartitionBy,
    /// The part, from 1.
    pub part: usize,
    /// The number of parts.
    pub of: usize,
}

/// How claims are divided into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionBy {
    /// In turn.
    Slice,
    /// By the hash of the id, so that a new claim moves no other.
    Hash,
    /// By the seconds that the claims took, the longest first, each to the part with the least so far.
    Time,
}

/// The error of a text that names no partition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no partition: write slice:K/N, hash:K/N or time:K/N with K from 1 to N, such as slice:1/4")]
pub struct NoPartition(String);

impl FromStr for Partition {
    type Err = NoPartition;

    fn from_str(text: &str) -> Result<Self, NoPartition> {
        let parts = || {
            let (by, numbers) = text.split_once(':')?;
            let (part, of) = numbers.split_once('/')?;
            let by = match by {
                "slice" => PartitionBy::Slice,
                "hash" => PartitionBy::Hash,
                "time" => PartitionBy::Time,
                _ => return None,
            };
            let (part, of) = (part.parse().ok()?, of.parse().ok()?);
            (1..=of).contains(&part).then_some(Partition { by, part, of })
        };
        parts().ok_or_else(|| NoPartition(text.into()))
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.by {
            PartitionBy::Slice => "slice",
            PartitionBy::Hash => "hash",
            PartitionBy::Time => "time",
        };
        write!(f, "{by}:{}/{}", self.part, self.of)
    }
}

/// Seconds per claim of the last blessed run, as `--bless` writes them.
pub const SECONDS: &str = include_str!("../seconds.json");

impl Partition {
    /// Returns the claims of this part, in their order. `seconds` gives the time of a claim; one without a
    /// time counts as the mean of the others.
    pub fn select(self, claims: Vec<&'static Claim>, seconds: &BTreeMap<String, f64>) -> Vec<&'static Claim> {
        let parts = self.parts(&claims, seconds);
        let chosen = claims.into_iter().zip(parts).filter(|(_, part)| *part == self.part - 1);
        chosen.map(|(claim, _)| claim).collect()
    }

    /// Returns the part of each claim, from 0.
    fn parts(self, claims: &[&'static Claim], seconds: &BTreeMap<String, f64>) -> Vec<usize> {
        match self.by {
            PartitionBy::Slice => (0..claims.len()).map(|i| i % self.of).collect(),
            PartitionBy::Hash => claims.iter().map(|claim| hash(claim.id) % self.of).collect(),
            PartitionBy::Time => {
                let known: Vec<f64> = claims.iter().filter_map(|c| seconds.get(c.id).copied()).collect();
                let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
                let time = |i: &usize| seconds.get(claims[*i].id).copied().unwrap_or(mean);
                let mut longest_first: Vec<usize> = (0..claims.len()).collect();
                longest_first.sort_by(|a, b| time(b).total_cmp(&time(a)).then(a.cmp(b)));
                let (mut load, mut parts) = (vec![0.0; self.of], vec![0; claims.len()]);
                for i in longest_first {
                    let least = (0..self.of).min_by(|a, b| f64::total_cmp(&load[*a], &load[*b])).unwrap_or(0);
                    // A claim that took no time still counts, so that parts without times stay even.
                    load[least] += time(&i).max(1e-3);
                    parts[i] = least;
                }
                parts
            }
        }
    }
}

fn hash(id: &str) -> usize {
    Sha256::digest(id).iter().take(4).fold(0, |hash, byte| hash << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers;

    fn all() -> Vec<&'static Claim> {
        papers::all().collect()
    }

    #[test]
    fn every_claim_is_in_exactly_one_part() {
        let seconds: BTreeMap<String, f64> = serde_json::from_str(SECONDS).unwrap();
        for by in ["slice", "hash", "time"] {
            let mut found: Vec<&str> = Vec::new();
            for part in 1..=4 {
                let partition: Partition = format!("{by}:{part}/4").parse().unwrap();
                assert_eq!(partition.to_string(), format!("{by}:{part}/4"));
                let claims = partition.select(all(), &seconds);
                assert!(claims.len() >= all().len() / 16, "{partition}: {} claims", claims.len());
                found.extend(claims.iter().map(|claim| claim.id));
            }
            found.sort_unstable();
            let mut ids: Vec<&str> = all().iter().map(|claim| claim.id).collect();
            ids.sort_unstable();
            assert_eq!(found, ids, "{by}");
        }
    }

    #[test]
    fn times_are_balanced() {
        let claims = all();
        let seconds: BTreeMap<String, f64> =
            claims.iter().enumerate().map(|(i, claim)| (claim.id.into(), (i % 17) as f64)).collect();
        let load = |part| -> f64 {
            let partition = Partition { by: PartitionBy::Time, part, of: 3 };
            partition.select(all(), &seconds).iter().map(|claim| seconds[claim.id]).sum()
        };
        let loads = [load(1), load(2), load(3)];
        let (low, high) = loads.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
        assert!(high - low <= 17.0, "{loads:?}");
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for text in ["", "slice", "slice:0/4", "slice:5/4", "slice:1/0", "count:1/4", "slice:a/4"] {
            let error = text.parse::<Partition>().unwrap_err();
            assert!(error.to_string().contains("slice:1/4"), "{error}");
        }
    }
}
