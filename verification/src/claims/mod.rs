//! The claims, one file each, one folder per paper.

pub mod ms18;

use crate::claim::Claim;

/// All registered claims, in the order of the papers.
pub fn all() -> impl Iterator<Item = &'static Claim> {
    ms18::CLAIMS.iter()
}

/// The claim with this id.
pub fn find(id: &str) -> Option<&'static Claim> {
    all().find(|claim| claim.id == id)
}
