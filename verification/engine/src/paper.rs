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
    /// The errata, in the paper's order.
    pub errata: &'static [Erratum],
}

/// The kind of a remark on a printed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErratumKind {
    /// The print is false, or contradicts itself.
    Error,
    /// The print is true, and a better statement is true too.
    Improvement,
    /// The print leaves something open; this project reads it in one way.
    Reading,
}

/// One erratum, improvement or reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Erratum {
    /// The short name of the paper.
    pub paper: &'static str,
    /// The number of the erratum in the paper, from 1, without gaps; `Standing::errata` refers to it.
    pub number: u32,
    /// Whether the print is false, could be better, or leaves something open.
    pub kind: ErratumKind,
    /// The place in the paper.
    pub place: &'static str,
    /// The text as printed.
    pub printed: &'static str,
    /// The text as it should be.
    pub corrected: &'static str,
    /// The reason, in a sentence or two.
    pub why: &'static str,
}

/// Returns an error of a paper, without the paper's name, which [`in_paper`] adds.
pub const fn row(
    number: u32,
    place: &'static str,
    printed: &'static str,
    corrected: &'static str,
    why: &'static str,
) -> Erratum {
    Erratum { paper: "", number, kind: ErratumKind::Error, place, printed, corrected, why }
}

impl Erratum {
    /// Returns this row as an improvement: the print is true, and the correction says more.
    pub const fn improvement(self) -> Self {
        Erratum { kind: ErratumKind::Improvement, ..self }
    }
    /// Returns this row as a reading: the print leaves open what the correction says.
    pub const fn reading(self) -> Self {
        Erratum { kind: ErratumKind::Reading, ..self }
    }
}

/// Returns the rows as errata of the paper with this short name.
pub const fn in_paper<const N: usize>(paper: &'static str, mut rows: [Erratum; N]) -> [Erratum; N] {
    let mut i = 0;
    while i < N {
        rows[i].paper = paper;
        i += 1;
    }
    rows
}
