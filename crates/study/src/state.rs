//! What is known: a pure function of the journal.

use crate::description::Description;
use crate::error::StudyError;
use crate::journal::{Given, Record, Row, SlotLabel, digest};
use crate::status::{Slot, Status, is_zero};
use lao::algorithms::Inspect as _;
use lao::algorithms::phases::Phases;
use lao::algorithms::pursuit::{Evidence, LARGEST};
use lao::observation::tariff::pays;
use lao::observation::{Ask, Basket, BlockBuf, LearnError, Learner as _, Request, Rng, Seed, Told};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The state of a study.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    #[serde(with = "crate::learner")]
    learner: Phases,
    rng: Rng,
    /// The attributes that the learner asks for now. A slot that was handed out before may have others.
    asked: Vec<u32>,
    /// How many more examples it asks for.
    wanted: u64,
    /// The slots that are handed out and not learned from.
    slots: BTreeMap<u64, HandedOut>,
    handed_out: u64,
    /// The names of slots that have one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<u64, String>,
    told: u64,
    void: u64,
    bought: u64,
    /// Values that came to nothing.
    #[serde(default)]
    missing: u64,
    /// Examples that were known before and imported.
    #[serde(default, skip_serializing_if = "is_zero")]
    imported: u64,
    /// The hash of each import, so that none is made twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    imports: Vec<String>,
    /// The most attributes bought for one slot.
    most_attributes: usize,
    /// The number of slots for which each panel was bought, if attributes have prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    panels: Vec<u64>,
    /// The most money spent on one slot.
    #[serde(default)]
    most_cost: f64,
}

/// A slot that is handed out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandedOut {
    /// Its attributes, ascending.
    attributes: Vec<u32>,
    /// Its values, if it waits for its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Values>,
}

/// One value per attribute; NaN for one that came to nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Values(#[serde(with = "crate::gaps")] Vec<f64>);

impl State {
    pub fn begin(description: &Description) -> Result<Self, StudyError> {
        let mut state = State {
            learner: description.learner()?,
            rng: Seed::root(description.choices.seed).child("learner").rng(),
            asked: Vec::new(),
            wanted: 0,
            slots: BTreeMap::new(),
            handed_out: 0,
            names: BTreeMap::new(),
            told: 0,
            void: 0,
            bought: 0,
            missing: 0,
            imported: 0,
            imports: Vec::new(),
            most_attributes: 0,
            panels: vec![0; description.panels.len()],
            most_cost: 0.0,
        };
        state.renew();
        Ok(state)
    }

    /// Lets the learner say what it wants next.
    fn renew(&mut self) {
        let mut ask = Ask::new(self.learner.dim());
        self.learner.ask(&mut self.rng, &mut ask);
        if let Request::Values { attributes, examples } = ask.request() {
            self.asked = attributes.to_vec();
            self.wanted = examples;
        }
    }

    /// Returns what a slot with these attributes buys, if attributes have prices.
    fn basket(attributes: &[u32], description: &Description) -> Option<Basket> {
        let money = description.money.as_ref()?;
        let mut basket = Basket::default();
        money.tariff.cost(attributes, &mut basket);
        Some(basket)
    }

    /// Returns the record that hands out so many slots.
    pub fn asking(&self, slots: u64, ahead: bool, description: &Description) -> Record {
        let cost = Self::basket(&self.asked, description).map(|basket| basket.cost());
        let ahead = ahead && slots > self.room();
        Record::Asked { slots, attributes: Some(self.asked.clone()), cost, ahead }
    }

    /// Returns the number of examples that were imported.
    pub fn imported(&self) -> u64 {
        self.imported
    }

    /// Returns the number of values that came to nothing.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Returns the most attributes bought for one slot.
    pub fn most_attributes(&self) -> usize {
        self.most_attributes
    }

    /// Returns the number of slots for which each panel was bought.
    pub fn panels(&self) -> &[u64] {
        &self.panels
    }

    /// Returns the most money spent on one slot.
    pub fn most_cost(&self) -> f64 {
        self.most_cost
    }

    /// Returns how many more slots may be handed out.
    fn room(&self) -> u64 {
        self.wanted.saturating_sub(self.slots.len() as u64)
    }

    /// Checks a record against the state, before it is written.
    pub fn check(&self, record: &Record, description: &Description) -> Result<(), StudyError> {
        match record {
            Record::Asked { slots, attributes, cost, ahead } => {
                let named = attributes.as_ref().unwrap_or(&self.asked);
                if *named != self.asked {
                    let first = self.handed_out + 1;
                    let (was, would) = (names(named, description), names(&self.asked, description));
                    let state = format!("was handed out for {was}, where this lao asks for {would}");
                    return Err(StudyError::Slot { slot: first, state });
                }
                let basket = Self::basket(&self.asked, description);
                let due = basket.as_ref().map(Basket::cost);
                let paid = description
                    .money
                    .as_ref()
                    .is_none_or(|money| due.is_some_and(|cost| pays(money.per_example, cost)));
                let within = self.asked.len() <= description.budget && paid && *cost == due;
                let room = if *ahead { LARGEST_ASK } else { self.room() };
                let refused = *slots == 0 || *slots > room || !within;
                let state = || format!("cannot be handed out: {room} may be");
                if refused {
                    Err(StudyError::Slot { slot: self.handed_out + 1, state: state() })
                } else {
                    Ok(())
                }
            }
            Record::Told { slot, values, label } => {
                self.find(*slot, false)?;
                let fail = |reason: String| Err(StudyError::Values { slot: *slot, reason });
                let asked = &self.slots[slot].attributes;
                if values.len() != asked.len() {
                    return fail(format!("{} values for {} attributes", values.len(), asked.len()));
                }
                for (&j, value) in asked.iter().zip(values) {
                    let name = &description.attributes[j as usize];
                    if value.abs() > LARGEST {
                        return fail(format!("{name} = {value:?}: give a number of at most {LARGEST:e}"));
                    }
                }
                if values.iter().all(|value| value.is_nan()) {
                    return fail("nothing came of it; close it without a result (`void`)".into());
                }
                self.check_label(*slot, label.as_ref(), description)
            }
            // Each row is checked when those before it are learned, on a copy of the state.
            Record::ToldAll { .. } | Record::LabeledAll { .. } => Ok(()),
            Record::Labeled { slot, label } => {
                self.find(*slot, true)?;
                self.check_label(*slot, Some(label), description)
            }
            Record::Imported { examples } => self.check_import(examples, description),
            Record::Joined { attributes } => description.joined(attributes).map(|_| ()),
            Record::Void { slot, .. } => {
                let open = self.slots.contains_key(slot);
                let state = || self.state_of(*slot);
                if open { Ok(()) } else { Err(StudyError::Slot { slot: *slot, state: state() }) }
            }
            Record::Named { slot, name } => self.check_name(*slot, name),
        }
    }

    /// Checks the name of a slot. What is told of the slot later, or was told before, changes nothing.
    fn check_name(&self, slot: u64, name: &str) -> Result<(), StudyError> {
        if slot == 0 || slot > self.handed_out {
            return Err(StudyError::Slot { slot, state: self.state_of(slot) });
        }
        self.fit_name(slot, name)
    }

    /// Checks a name that a slot is to have.
    pub fn fit_name(&self, slot: u64, name: &str) -> Result<(), StudyError> {
        let fail = |state: String| Err(StudyError::Slot { slot, state });
        let length = name.chars().count();
        if length == 0 || length > LONGEST_NAME || name.trim() != name {
            return fail(format!("cannot have this name: give 1 to {LONGEST_NAME} characters"));
        }
        if name.chars().any(char::is_control) || lao::is_formula(name) {
            return fail("cannot have this name: give no line break, and no = + - or @ first".into());
        }
        match self.names.iter().find(|(other, known)| **other != slot && *known == name) {
            Some((other, _)) => fail(format!("cannot have this name: slot {other} has it")),
            None => Ok(()),
        }
    }

    fn check_label(
        &self,
        slot: u64,
        label: Option<&f64>,
        description: &Description,
    ) -> Result<(), StudyError> {
        let Some(label) = label else { return Ok(()) };
        let fail = |reason: String| Err(StudyError::Values { slot, reason });
        unfit_label(*label, description).map_or(Ok(()), fail)
    }

    /// Checks examples that are to be imported.
    fn check_import(&self, examples: &[Given], description: &Description) -> Result<(), StudyError> {
        let fail = |example, reason| Err(StudyError::Import { example, reason });
        if examples.is_empty() {
            return fail(None, "there are no examples".into());
        }
        for (k, Given { attributes, values, label }) in (1..).zip(examples) {
            let dim = description.attributes.len();
            let ascend = attributes.is_sorted_by(|a, b| a < b);
            if attributes.len() != values.len() || !ascend || attributes.iter().any(|&j| j as usize >= dim) {
                return fail(
                    Some(k),
                    "give each attribute once, in the order of the study, and its value".into(),
                );
            }
            if attributes.is_empty() {
                return fail(Some(k), "none of its attributes is known".into());
            }
            for (&j, value) in attributes.iter().zip(values) {
                if value.is_nan() || value.abs() > LARGEST {
                    let name = &description.attributes[j as usize];
                    return fail(
                        Some(k),
                        format!("{name} = {value:?}: give a number of at most {LARGEST:e}"),
                    );
                }
            }
            if let Some(reason) = unfit_label(*label, description) {
                return fail(Some(k), reason);
            }
        }
        if self.imports.contains(&hash(examples)) {
            return fail(None, "the study has these examples already".into());
        }
        Ok(())
    }

    /// Finds a slot that waits for its label, or one that waits for its values.
    fn find(&self, slot: u64, for_label: bool) -> Result<(), StudyError> {
        match self.slots.get(&slot) {
            Some(slot) if slot.values.is_some() == for_label => Ok(()),
            _ => Err(StudyError::Slot { slot, state: self.state_of(slot) }),
        }
    }

    fn state_of(&self, slot: u64) -> String {
        match self.slots.get(&slot) {
            Some(HandedOut { values: None, .. }) => "has no values yet; tell them".into(),
            Some(_) => "is told and waits for its label; a wrong value can no longer be changed".into(),
            None if slot >= 1 && slot <= self.handed_out => {
                "is told with its label already, or closed without a result; neither can be changed".into()
            }
            None => format!("was never handed out; there are {}", self.handed_out),
        }
    }

    /// Lets attributes join: `new` is the description with them.
    pub fn join(&mut self, old: &Description, new: &Description) -> Result<(), StudyError> {
        let more = new.attributes.len() - old.attributes.len();
        let tariff = new.money.as_ref().map(|money| money.tariff.clone());
        let refused = |error: lao::algorithms::ParamError| StudyError::Join { reason: error.to_string() };
        self.learner.join(more, tariff).map_err(refused)?;
        if let (Some(old), Some(new)) = (&old.money, &new.money) {
            // Panels may have other places now; the attributes of the beginning have not.
            let mut panels = vec![0; new.tariff.prices().len()];
            for (j, panel) in (0..old.tariff.dim() as u32).filter_map(|j| Some((j, old.tariff.panel(j)?))) {
                let now = new.tariff.panel(j).unwrap_or_default();
                panels[now as usize] = self.panels[panel as usize];
                if let (Some(fee), Some(now)) = (old.tariff.fee(panel), new.tariff.fee(now)) {
                    panels[now as usize] = self.panels[fee as usize];
                }
            }
            self.panels = panels;
        }
        Ok(())
    }

    /// Applies a record that was checked. After an error the state is of no use.
    pub fn apply(&mut self, record: &Record, description: &Description) -> Result<(), StudyError> {
        match record {
            Record::Asked { slots, .. } => {
                if let Some(basket) = Self::basket(&self.asked, description) {
                    basket.panels().iter().for_each(|&panel| self.panels[panel as usize] += slots);
                    self.most_cost = self.most_cost.max(basket.cost());
                }
                for _ in 0..*slots {
                    self.handed_out += 1;
                    let slot = HandedOut { attributes: self.asked.clone(), values: None };
                    self.slots.insert(self.handed_out, slot);
                }
                self.bought += slots * self.asked.len() as u64;
                self.most_attributes = self.most_attributes.max(self.asked.len());
                Ok(())
            }
            Record::Told { slot, values, label: None } => {
                if let Some(slot) = self.slots.get_mut(slot) {
                    slot.values = Some(Values(values.clone()));
                }
                Ok(())
            }
            Record::Told { slot, values, label: Some(label) } => self.learn(*slot, values, *label),
            Record::ToldAll { rows } => rows.iter().try_for_each(|row| {
                let Row { slot, values, label } = row.clone();
                let told = Record::Told { slot, values, label };
                self.check(&told, description)?;
                self.apply(&told, description)
            }),
            Record::Labeled { slot, label } => {
                let told = self.slots.get(slot).and_then(|slot| slot.values.clone());
                self.learn(*slot, &told.map_or_else(Vec::new, |Values(values)| values), *label)
            }
            Record::LabeledAll { labels } => labels.iter().try_for_each(|&SlotLabel { slot, label }| {
                let labeled = Record::Labeled { slot, label };
                self.check(&labeled, description)?;
                self.apply(&labeled, description)
            }),
            Record::Imported { examples } => {
                for (k, Given { attributes, values, label }) in (1..).zip(examples) {
                    let failed = |reason: LearnError| StudyError::Import {
                        example: Some(k),
                        reason: reason.to_string(),
                    };
                    self.learner.tell_given(attributes, values, *label).map_err(failed)?;
                    self.renew();
                }
                self.imported += examples.len() as u64;
                self.imports.push(hash(examples));
                Ok(())
            }
            Record::Joined { attributes } => self.join(description, &description.joined(attributes)?),
            Record::Void { slot, .. } => {
                self.slots.remove(slot);
                self.void += 1;
                Ok(())
            }
            Record::Named { slot, name } => {
                self.names.insert(*slot, name.clone());
                Ok(())
            }
        }
    }

    fn learn(&mut self, slot: u64, values: &[f64], label: f64) -> Result<(), StudyError> {
        let failed = |reason: LearnError| StudyError::Learn { slot, reason };
        let Some(HandedOut { attributes, .. }) = self.slots.remove(&slot) else { return Ok(()) };
        if attributes == self.asked {
            let mut block = BlockBuf::new();
            block.reset(attributes.len(), 1);
            for (c, value) in values.iter().enumerate() {
                block.column_mut(c)[0] = *value;
            }
            block.labels_mut()[0] = label;
            block.set_rows(1);
            self.learner.tell(Told::Values(block.view(&attributes))).map_err(failed)?;
        } else {
            self.learner.tell_late(&attributes, values, label).map_err(failed)?;
        }
        self.missing += values.iter().filter(|value| value.is_nan()).count() as u64;
        self.told += 1;
        self.renew();
        Ok(())
    }

    /// Returns a slot that is handed out and not told.
    pub fn slot(&self, number: u64, description: &Description) -> Result<Slot, StudyError> {
        self.find(number, false)?;
        let found = self.slots(std::iter::once(number), description).pop();
        found.ok_or_else(|| StudyError::Slot { slot: number, state: self.state_of(number) })
    }

    /// Returns the slots with these numbers.
    pub fn slots(&self, numbers: impl Iterator<Item = u64>, description: &Description) -> Vec<Slot> {
        let name = |&j: &u32| description.attributes[j as usize].clone();
        let slot = |number| {
            let attributes = &self.slots.get(&number)?.attributes;
            let basket = Self::basket(attributes, description);
            let bought = basket.iter().flat_map(Basket::panels);
            let panels = bought.map(|&panel| description.panels[panel as usize].clone()).collect();
            let attributes = attributes.iter().map(name).collect();
            let (name, cost) = (self.names.get(&number).cloned(), basket.as_ref().map(Basket::cost));
            Some(Slot { number, name, attributes, panels, cost })
        };
        numbers.filter_map(slot).collect()
    }

    pub fn handed_out(&self) -> u64 {
        self.handed_out
    }

    /// Returns the name of a slot.
    pub fn name(&self, slot: u64) -> Option<&str> {
        self.names.get(&slot).map(String::as_str)
    }

    /// Returns the attributes of a slot that is handed out and not learned from.
    pub fn attributes(&self, slot: u64) -> &[u32] {
        self.slots.get(&slot).map_or(&[], |slot| &slot.attributes)
    }

    pub fn learner(&self) -> &Phases {
        &self.learner
    }

    pub fn status(&self, description: &Description) -> Status {
        let open = |told: bool| {
            let of = self.slots.iter().filter(move |(_, slot)| slot.values.is_some() == told);
            of.map(|(slot, _)| *slot).collect()
        };
        Status {
            slots: self.handed_out,
            told: self.told,
            open: open(false),
            waiting: open(true),
            void: self.void,
            imported: self.imported,
            bought: self.bought,
            spent: description.money.as_ref().map(|money| {
                let paid = self.panels.iter().zip(money.tariff.prices());
                paid.map(|(slots, price)| *slots as f64 * price).sum()
            }),
            room: self.room(),
            to_update: self.wanted,
            updates: self.learner.updates(),
            support: self
                .learner
                .coefficients()
                .indices()
                .iter()
                .map(|&j| description.attributes[j as usize].clone())
                .collect(),
            stage: self.learner.is_planned().then(|| self.learner.stage()),
        }
    }

    /// Returns what is known of every attribute.
    pub fn evidence(&self) -> Vec<Evidence> {
        (0..self.learner.dim() as u32).filter_map(|j| self.learner.evidence(j)).collect()
    }

    /// Checks what the parts of a stored state must have in common.
    pub fn fits(&self, description: &Description) -> bool {
        let dim = description.attributes.len();
        self.learner.dim() == dim
            && self.asked.iter().all(|&j| (j as usize) < dim)
            && self.slots.keys().chain(self.names.keys()).all(|&slot| slot >= 1 && slot <= self.handed_out)
            && self.slots.values().all(|slot| {
                let told = slot.values.as_ref().is_none_or(|Values(v)| v.len() == slot.attributes.len());
                told && slot.attributes.iter().all(|&j| (j as usize) < dim)
            })
            && self.panels.len() == description.panels.len()
    }
}

/// Returns why a label is none of the study.
fn unfit_label(label: f64, description: &Description) -> Option<String> {
    let target = &description.target;
    if description.label != lao::Label::Number && label.abs() != 1.0 {
        return Some(format!("{target} = {label}: a class is told as 1 or -1"));
    }
    (label.is_nan() || label.abs() > LARGEST)
        .then(|| format!("{target} = {label:?}: give a number of at most {LARGEST:e}"))
}

/// Returns the hash of examples that are imported together.
fn hash(examples: &[Given]) -> String {
    digest(&serde_json::to_vec(examples).unwrap_or_default())
}

/// Returns the names of attributes.
fn names(attributes: &[u32], description: &Description) -> String {
    let name = |&j: &u32| description.attributes.get(j as usize).map_or("(no attribute)", String::as_str);
    attributes.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The most characters of the name of a slot.
const LONGEST_NAME: usize = 100;
/// The most slots that are handed out at once, ahead of the results.
const LARGEST_ASK: u64 = 1_000_000;
