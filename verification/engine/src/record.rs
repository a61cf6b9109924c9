//! What an arm of a claim leaves: its judged questions, and all that is reported beside them.

use crate::judge::{Direction, Finding};
use lao_figures::Figure;
use serde::{Deserialize, Serialize};

/// The results of one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmRecord {
    /// The judged questions, in the experiment's order.
    pub cells: Vec<Cell>,
    /// Numbers that are reported and not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Convergence rates to be tracked from version to version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Rate>,
    /// Plots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Why the experiment could not run, if it could not (missing data).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// Whether the experiment did not run because it waits for data that are not here, or not in this tier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_data: bool,
    /// What broke, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of cells that the experiment planned to judge. The level of the claim is split over them
    /// for refutation.
    pub split: usize,
}

impl ArmRecord {
    /// Returns the level at which one cell refutes the claim: `alpha`, split over the cells.
    pub fn refuting_level(&self, alpha: f64) -> f64 {
        alpha / self.split.max(self.cells.len()).max(1) as f64
    }

    /// Returns the names of the cells that are refuted at the level `alpha`, split over the cells. There are
    /// none if the experiment broke.
    pub fn refuted_cells(&self, alpha: f64) -> impl Iterator<Item = &str> {
        let (level, broke) = (self.refuting_level(alpha), self.error.is_some());
        let refuted = move |cell: &&Cell| !broke && cell.finding.p_refute <= level;
        self.cells.iter().filter(refuted).map(|cell| cell.name.as_str())
    }
}

/// One judged question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The setting that was judged: "sigma=30, start=dense".
    pub name: String,
    /// What the judge found.
    pub finding: Finding,
}

/// A number that is reported and not judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The name of the quantity, with its unit.
    pub name: String,
    /// Its value.
    #[serde(with = "crate::judge::nonfinite")]
    pub value: f64,
}

/// A tracked convergence rate, one value per replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The name of the rate: "contraction factor per update", "exponent of samples in 1/eps".
    pub name: String,
    /// The direction that is worse.
    pub worse: Direction,
    /// One value per replicate, in trial order.
    pub replicates: Vec<f64>,
}
