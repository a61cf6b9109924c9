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
        let records = self.records()?;
        let named = records.iter().filter_map(|record| match record {
            Record::Asked { attributes, .. } => Some(attributes.clone()),
            _ => None,
        });
        // A journal that does not name them leaves them to the learner.
        let asked: Vec<Vec<u32>> = match named.collect() {
            Some(asked) => asked,
            None => self.asked()?,
        };
        let (mut entries, mut asked): (Vec<Entry>, _) = (Vec::new(), asked.into_iter());
        for record in &records {
            match record {
                Record::Asked { slots, .. } => {
                    let attributes = asked.next().unwrap_or_default();
                    for _ in 0..*slots {
                        entries.push(Entry {
                            number: entries.len() as u64 + 1,
                            name: None,
                            attributes: attributes.clone(),
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
                Record::Named { slot, name } => {
                    if let Some(entry) = at(&mut entries, *slot) {
                        entry.name = Some(name.clone());
                    }
                }
                Record::Imported { .. } | Record::Joined { .. } => {}
            }
        }
        Ok(entries)
    }

    /// Returns the attributes of the slots of each line that hands some out, as the learner chooses them.
    fn asked(&self) -> Result<Vec<Vec<u32>>, StudyError> {
        let (mut asked, mut slots) = (Vec::new(), 0);
        self.replay(|record, state, _| {
            if let Record::Asked { slots: more, .. } = record {
                slots += more;
                asked.push(state.attributes(slots).to_vec());
            }
        })?;
        Ok(asked)
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
