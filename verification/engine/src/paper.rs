//! The contribution of a paper to the suite: its claims, and the errors in print.

use crate::claim::Claim;

/// One paper with its claims and errata, as a crate of claims exports it.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// The short name, which is the first part of the ids of the paper's claims.
    pub name: &'static str,
    /// The authors and the year.
    pub title: &'static str,
    /// The symbols that the errata use.
    pub notation: &'static str,
    /// The claims, in the paper's order.
    pub claims: &'static [Claim],
    /// The text of the paper's `errata.toml`; empty if there is none.
    pub errata: &'static str,
}
