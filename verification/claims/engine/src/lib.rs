//! Claims about the suite's own judges, and about the defaults and speeds of the registries.

use lao_verification_engine::claim::Claim;

mod defaults;
mod exchange;
mod level;
mod level_in_use;
mod speed;

/// The claims.
pub const CLAIMS: &[Claim] = &[
    level::CLAIM,
    level_in_use::CLAIM,
    defaults::LEARNERS,
    defaults::SOLVERS_CLAIM,
    exchange::CLAIM,
    speed::LEARNERS,
    speed::SOLVERS_CLAIM,
];
