//! The amount of work in a run: tiers, and their sizes.

use anyhow::ensure;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The amount of work in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchTier {
    /// A run of seconds, which shows that the scenario runs and nothing else.
    Check,
    /// The scenario at its normal sizes.
    Quick,
    /// The scenario with more repetitions.
    Full,
}

/// Sizes per tier.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiers {
    check: Size,
    quick: Size,
    full: Size,
}

/// Sizes of one tier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Independent repetitions.
    pub repetitions: u64,
    /// A factor by which the numbers of examples are multiplied.
    pub scale: f64,
}

impl Default for Tiers {
    fn default() -> Self {
        let size = |repetitions, scale| Size { repetitions, scale };
        Tiers { check: size(2, 0.1), quick: size(5, 1.0), full: size(20, 1.0) }
    }
}

impl Tiers {
    /// Returns the sizes of a tier.
    pub fn size(&self, tier: BenchTier) -> Size {
        match tier {
            BenchTier::Check => self.check,
            BenchTier::Quick => self.quick,
            BenchTier::Full => self.full,
        }
    }

    /// Checks that the sizes can be run.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        for (name, Size { repetitions, scale }) in
            [("check", self.check), ("quick", self.quick), ("full", self.full)]
        {
            ensure!(repetitions > 0, "tiers.{name}.repetitions = 0: give at least 1");
            let fits = scale > 0.0 && scale <= 1e6;
            ensure!(fits, "tiers.{name}.scale = {scale}: give a factor above 0, at most 1e6");
        }
        Ok(())
    }
}

impl Size {
    /// Returns the number of examples at this size: `examples` times the scale, but at least `least`.
    pub fn scaled(&self, examples: u64, least: u64) -> u64 {
        ((examples as f64 * self.scale).ceil() as u64).max(least)
    }
}

impl fmt::Display for BenchTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BenchTier::Check => "check",
            BenchTier::Quick => "quick",
            BenchTier::Full => "full",
        })
    }
}
