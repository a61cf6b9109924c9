//! The suite on itself: claims about its own judges.

use crate::claim::Claim;

mod level;

/// The claims about the judges.
pub const CLAIMS: &[Claim] = &[level::CLAIM];
