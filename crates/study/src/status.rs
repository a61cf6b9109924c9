//! Where a study stands.

use serde::Serialize;

/// An example of which certain attributes are to be bought.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Its number, counted from 1.
    pub number: u64,
    /// What people call it, if they have given it a name.
    pub name: Option<String>,
    /// The names of the attributes, in the order in which their values are told.
    pub attributes: Vec<String>,
    /// The names of the panels to pay, if attributes have prices.
    pub panels: Vec<String>,
    /// What they cost together, if attributes have prices.
    pub cost: Option<f64>,
}

/// Where a study stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Slots handed out so far.
    pub slots: u64,
    /// Examples learned from: told, with their labels.
    pub told: u64,
    /// Slots that are handed out and not told.
    pub open: Vec<u64>,
    /// Slots that are told and have no label yet.
    pub waiting: Vec<u64>,
    /// Slots that came to nothing.
    pub void: u64,
    /// Examples that were known before and imported.
    #[serde(skip_serializing_if = "is_zero")]
    pub imported: u64,
    /// Values bought: those of every slot handed out.
    pub bought: u64,
    /// The money spent: that of every slot handed out. It is absent if attributes have no prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<f64>,
    /// How many more slots may be handed out before some are told.
    pub room: u64,
    /// How many more examples complete the present block, after which the choice is renewed.
    pub to_update: u64,
    /// Updates of the predictor so far.
    pub updates: u64,
    /// The attributes of the predictor.
    pub support: Vec<String>,
    /// Where a plan stands, if there is one: `search`, `contest`, `complete` or `line`, as
    /// [`Phases::stage`](lao::algorithms::phases::Phases) says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<&'static str>,
}

impl Status {
    /// Says where a plan stands, if there is one.
    pub fn stands(&self) -> Option<&'static str> {
        Some(match self.stage? {
            "search" => "attributes are searched for",
            "contest" => "the best attributes are bought complete, to compare a line and trees",
            "complete" => "the best attributes are bought complete, to the end",
            _ => "the line on the significant attributes is kept",
        })
    }
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
