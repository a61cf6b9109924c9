//! Ito et al. 2017.

use crate::claim::Claim;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[];
