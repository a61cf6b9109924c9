//! The registry of papers and their claims.
//!
//! Each paper is a crate under `verification/claims`, with one file per claim. Each is a feature of this
//! crate; by default all are compiled. The crate `engine` has the claims about the suite itself, and is
//! always compiled.

use crate::claim::Claim;
use crate::paper::Paper;

/// All papers, by year; what this project claims of its own method comes last.
pub const PAPERS: &[Paper] = &[
    #[cfg(feature = "hk12")]
    lao_claims_hk12::PAPER,
    #[cfg(feature = "ito17")]
    lao_claims_ito17::PAPER,
    #[cfg(feature = "ms18")]
    lao_claims_ms18::PAPER,
    #[cfg(feature = "scsg20")]
    lao_claims_scsg20::PAPER,
    #[cfg(feature = "pursuit")]
    lao_claims_pursuit::PAPER,
];

/// Returns whether the claims of all papers are compiled.
pub const fn is_complete() -> bool {
    PAPERS.len() == 5
}

/// Returns all registered claims, in the order of the papers; the claims about the suite itself come last.
pub fn all() -> impl Iterator<Item = &'static Claim> {
    PAPERS.iter().flat_map(|paper| paper.claims).chain(lao_claims_engine::CLAIMS)
}

/// Returns the claim with this id.
pub fn find(id: &str) -> Option<&'static Claim> {
    all().find(|claim| claim.id == id)
}

/// Returns the registered id that a misspelt or shortened name most likely means, if one is similar enough.
pub fn nearest(name: &str) -> Option<&'static str> {
    let score = |id: &str| {
        let short = id.split_once('-').map_or(id, |(_, rest)| rest);
        strsim::jaro_winkler(name, id).max(strsim::jaro_winkler(name, short))
    };
    let ranked = all().map(|claim| (score(claim.id), claim.id));
    ranked.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.75).map(|(_, id)| id)
}
