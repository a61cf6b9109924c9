//! Claims about the suite's own judges.

use crate::claim::Claim;

mod level;

/// The claims about the judges.
pub const CLAIMS: &[Claim] = &[level::CLAIM];
