//! The plan of a run: sizes per claim and tier, the family and the levels.
//!
//! The plan is data in `plan.toml`; unknown keys are refused.

pub use lao_verification_engine::sizes::Sizes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// The amount of work in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunTier {
    /// The default, which takes minutes. Its seed is fixed, so it is a regression test; inconclusive verdicts
    /// are allowed.
    Quick,
    /// A run of an hour, with larger sizes, more cells, and real data where they are found.
    Full,
    /// The full tier with the seed of the day.
    Nightly,
}

impl fmt::Display for RunTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RunTier::Quick => "quick",
            RunTier::Full => "full",
            RunTier::Nightly => "nightly",
        })
    }
}

/// The whole plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Suite-wide settings.
    pub suite: Suite,
    claims: BTreeMap<String, BTreeMap<String, Size>>,
}

/// Suite-wide settings.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Root seed of the quick and full tiers.
    pub seed: u64,
    /// Family-wise level of each family (refuted, holds).
    pub alpha: f64,
    /// The number of claims that the family is planned for, without those that computation alone decides. The
    /// level of one claim is `alpha / family`, and Holm's step-down procedure then sorts the p-values. The
    /// number is fixed in advance, so that adding a paper does not change the levels of another.
    pub family: usize,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum Size {
    Same(u64),
    PerTier(PerTier),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PerTier {
    quick: u64,
    full: u64,
    /// The size at which mutants are tried first, in every tier whose own size is larger.
    mutants: Option<u64>,
}

impl Size {
    fn in_tier(self, tier: RunTier) -> u64 {
        match (self, tier) {
            (Size::Same(size), _) => size,
            (Size::PerTier(sizes), RunTier::Quick) => sizes.quick,
            (Size::PerTier(sizes), RunTier::Full | RunTier::Nightly) => sizes.full,
        }
    }

    fn of_mutants(self) -> Option<u64> {
        match self {
            Size::Same(_) => None,
            Size::PerTier(sizes) => sizes.mutants,
        }
    }
}

/// The reason why a plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The text is not TOML, or has a key that does not exist.
    #[error("plan.toml: {0}")]
    Syntax(#[from] toml::de::Error),
    /// A table is named after a claim that is not registered.
    #[error("plan.toml: [claims.{0}] names no registered claim")]
    UnknownClaim(String),
    /// A setting of the suite is out of range.
    #[error("plan.toml: suite.{field} = {value} must be {allowed}")]
    Suite {
        /// The field.
        field: &'static str,
        /// The value of the field.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
}

impl Plan {
    /// Returns the plan that is compiled in.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn built_in() -> Result<Self, PlanError> {
        if crate::papers::is_complete() {
            Self::parse(Self::TEXT, crate::papers::all().map(|claim| claim.id))
        } else {
            // The plan has tables of papers that are not compiled.
            Self::read(Self::TEXT)
        }
    }

    /// The text of the built-in plan.
    pub const TEXT: &'static str = include_str!("../plan.toml");

    /// Reads a plan in which every table must belong to one of the claims `known`.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn parse<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Result<Self, PlanError> {
        let plan = Self::read(text)?;
        let known: Vec<&str> = known.collect();
        match plan.claims.keys().find(|id| !known.contains(&id.as_str())) {
            Some(id) => Err(PlanError::UnknownClaim(id.clone())),
            None => Ok(plan),
        }
    }

    /// Reads a plan, whatever claims its tables are for.
    fn read(text: &str) -> Result<Self, PlanError> {
        let plan: Plan = toml::from_str(text)?;
        let Suite { alpha, family, .. } = plan.suite;
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(PlanError::Suite { field: "alpha", value: alpha, allowed: "between 0 and 1" });
        }
        if family == 0 {
            return Err(PlanError::Suite { field: "family", value: 0.0, allowed: "at least 1" });
        }
        Ok(plan)
    }

    /// Returns the sizes of a claim in a tier.
    pub fn sizes(&self, claim: &str, tier: RunTier) -> Sizes {
        let table: Vec<_> = self.claims.get(claim).into_iter().flatten().collect();
        let sizes: Sizes = table.iter().map(|(key, size)| ((*key).clone(), size.in_tier(tier))).collect();
        table.iter().fold(sizes, |sizes, (key, size)| match size.of_mutants() {
            Some(of_mutants) => sizes.with_mutants_at(key, of_mutants),
            None => sizes,
        })
    }
}
