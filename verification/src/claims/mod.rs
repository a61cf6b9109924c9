//! The claims, one file each, one folder per paper.

pub mod engine;
pub mod hk12;
pub mod ito17;
pub mod ms18;
pub mod scsg20;

use crate::claim::Claim;

/// All registered claims, in the order of the papers.
pub fn all() -> impl Iterator<Item = &'static Claim> {
    let papers = [hk12::CLAIMS, ito17::CLAIMS, ms18::CLAIMS, scsg20::CLAIMS, engine::CLAIMS];
    papers.into_iter().flatten()
}

/// The claim with this id.
pub fn find(id: &str) -> Option<&'static Claim> {
    all().find(|claim| claim.id == id)
}

/// The registered id that a misspelt or shortened name most likely means, if one is near.
pub fn nearest(name: &str) -> Option<&'static str> {
    let score = |id: &str| {
        let short = id.split_once('-').map_or(id, |(_, rest)| rest);
        strsim::jaro_winkler(name, id).max(strsim::jaro_winkler(name, short))
    };
    let ranked = all().map(|claim| (score(claim.id), claim.id));
    ranked.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.75).map(|(_, id)| id)
}
