//! Murata & Suzuki 2018.

use crate::claim::Claim;

mod grad_unbiased;

/// The claims of the paper and its supplement, in the paper's order.
pub const CLAIMS: &[Claim] = &[grad_unbiased::CLAIM];
