//! Liang, Tong, Zhu & Bi 2020.

use crate::claim::Claim;

mod def1_geometric;

/// The claims of the paper, in the paper's order.
pub const CLAIMS: &[Claim] = &[def1_geometric::CLAIM];
