//! What happened, by the journal: every slot with what came of it, and what was known after each update.

use crate::error::StudyError;
use crate::journal::{Record, Row, SlotLabel};
use crate::study::Study;
use lao::algorithms::pursuit::Evidence;

/// A slot that was handed out, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number, counted from 1.
    pub number: u64,
    /// What people call it, if they have given it a name.
    pub name: Option<String>,
    /// The attributes that were bought, by their places in the description, ascending.
    pub attributes: Vec<u32>,
    /// One value for each of them, NaN for one that came to nothing; `None` until they are told.
    pub values: Option<Vec<f64>>,
    /// The label, once it is told.
    pub label: Option<f64>,
    /// Why it was closed without a result, if it was.
    pub void: Option<String>,
}

/// What was known after an update.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Examples learned from so far, imported ones included.
    pub told: u64,
    /// The money spent so far, if attributes have prices.
    pub spent: Option<f64>,
    /// The evidence for each attribute.
    pub evidence: Vec<Evidence>,
}

impl Study {
    /// Returns all slots, in the order of their numbers.
    ///
    /// # Errors
    /// When the journal cannot be read any more.
    pub fn entries(&self) -> Result<Vec<Entry>, StudyError> {
        let mut entries: Vec<Entry> = Vec::new();
        let (state, _) = self.replay(|record, state, _| match record {
            Record::Asked { slots, .. } => {
                for _ in 0..*slots {
                    let number = entries.len() as u64 + 1;
                    entries.push(Entry {
                        number,
                        name: None,
                        attributes: state.attributes(number).to_vec(),
                        values: None,
                        label: None,
                        void: None,
                    });
                }
            }
            Record::Told { slot, values, label } => told(&mut entries, *slot, values, *label),
            Record::ToldAll { rows } => {
                for Row { slot, values, label } in rows {
                    told(&mut entries, *slot, values, *label);
                }
            }
            Record::Labeled { slot, label } => labeled(&mut entries, *slot, *label),
            Record::LabeledAll { labels } => {
                for SlotLabel { slot, label } in labels {
                    labeled(&mut entries, *slot, *label);
                }
            }
            Record::Void { slot, reason } => {
                if let Some(entry) = at(&mut entries, *slot) {
                    entry.void = Some(reason.clone());
                }
            }
            Record::Named { .. } | Record::Imported { .. } | Record::Joined { .. } => {}
        })?;
        for entry in &mut entries {
            entry.name = state.name(entry.number).map(str::to_owned);
        }
        Ok(entries)
    }

    /// Returns what was known after each update of the predictor.
    ///
    /// # Errors
    /// When the journal cannot be read any more.
    pub fn course(&self) -> Result<Vec<Known>, StudyError> {
        let (mut course, mut updates) = (Vec::new(), 0);
        self.replay(|_, state, description| {
            let status = state.status(description);
            if status.updates != updates {
                updates = status.updates;
                let (told, spent) = (status.told + status.imported, status.spent);
                course.push(Known { told, spent, evidence: state.evidence() });
            }
        })?;
        Ok(course)
    }
}

fn at(entries: &mut [Entry], slot: u64) -> Option<&mut Entry> {
    entries.get_mut(usize::try_from(slot).ok()?.checked_sub(1)?)
}

fn told(entries: &mut [Entry], slot: u64, values: &[f64], label: Option<f64>) {
    if let Some(entry) = at(entries, slot) {
        (entry.values, entry.label) = (Some(values.to_vec()), label);
    }
}

fn labeled(entries: &mut [Entry], slot: u64, label: f64) {
    if let Some(entry) = at(entries, slot) {
        entry.label = Some(label);
    }
}
