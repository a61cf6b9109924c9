//! What a paper hands to the suite: its claims, and what is wrong in print.

use crate::claim::Claim;

/// One paper: what a crate of claims is there to say.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Short name, the first part of its claims' ids.
    pub name: &'static str,
    /// Authors and year.
    pub title: &'static str,
    /// Symbols that the errata use.
    pub notation: &'static str,
    /// In the paper's order.
    pub claims: &'static [Claim],
    /// In the paper's order.
    pub errata: &'static [Erratum],
}

/// One erratum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Erratum {
    /// Short name of the paper.
    pub paper: &'static str,
    /// Its number in the paper, from 1, without gaps; `Claim::errata` refers to it.
    pub number: u32,
    /// Where it is.
    pub place: &'static str,
    /// What is printed.
    pub printed: &'static str,
    /// What should be.
    pub corrected: &'static str,
    /// Why, in a sentence or two.
    pub why: &'static str,
}

/// One row of a paper's errata: number, place, what is printed, what should be, and why. [`in_paper`] adds
/// the paper.
pub const fn row(
    number: u32,
    place: &'static str,
    printed: &'static str,
    corrected: &'static str,
    why: &'static str,
) -> Erratum {
    Erratum { paper: "", number, place, printed, corrected, why }
}

/// The rows as errata of the paper with this short name.
pub const fn in_paper<const N: usize>(paper: &'static str, mut rows: [Erratum; N]) -> [Erratum; N] {
    let mut i = 0;
    while i < N {
        rows[i].paper = paper;
        i += 1;
    }
    rows
}
