//! Claims about the suite's own judges, and about the defaults of the registries.

use crate::claim::Claim;

mod defaults;
mod level;

/// The claims.
pub const CLAIMS: &[Claim] = &[level::CLAIM, defaults::LEARNERS, defaults::SOLVERS_CLAIM];
