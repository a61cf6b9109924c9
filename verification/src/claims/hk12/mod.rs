//! Hazan & Koren 2012.

use crate::claim::Claim;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[];
