//! Examples that were asked for before the last update and come after it: their attributes are those of an
//! older block. They are learned from with the block that is filled when they come.
//!
//! *Proved*: which attributes are observed of such an example follows from examples before it, as for any
//! other one; so the sums over the examples in which j was observed are what they would be without delay, and
//! the boundary of significance, which holds for any number of looks, holds for them.

use super::moments::Gap;
use super::{LARGEST, NAME, Pursuit};
use crate::state;
use lao_observation::LearnError;
use lao_observation::stored::Damaged;
use lao_observation::tariff::pays;
use serde::{Deserialize, Serialize};

/// An example of an older block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Late {
    /// The attributes that were observed, ascending, and their values.
    pub attributes: Vec<u32>,
    pub values: Vec<f64>,
    /// The attributes that were asked for and are missing, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
    pub label: f64,
    /// Whether the learner never asked for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_given: bool,
}

impl Pursuit {
    /// Learns from an example for which it asked before its last update. A value is NaN if it could not be
    /// had.
    ///
    /// # Errors
    /// [`LearnError::NotFinite`], [`LearnError::Diverged`] and [`LearnError::NotAsked`], as
    /// [`tell`](lao_observation::Learner::tell); the learner is then as it was before.
    pub fn tell_late(&mut self, attributes: &[u32], values: &[f64], label: f64) -> Result<(), LearnError> {
        let asked = "the values of a set of attributes that was asked for before";
        let told = "values of other attributes";
        if attributes.len() != values.len() || !self.may_observe(attributes) {
            return Err(LearnError::NotAsked { told, asked });
        }
        let both = || attributes.iter().copied().zip(values.iter().copied());
        let missing = both().filter(|(_, x)| x.is_nan()).map(|(j, _)| j).collect();
        let (attributes, values) = both().filter(|(_, x)| !x.is_nan()).unzip();
        self.keep_late(Late { attributes, values, missing, label, is_given: false })
    }

    /// Learns from an example for which it never asked: one whose values were known before, and cost nothing,
    /// so that the budget does not limit them. A value is NaN if it is not known; those of attributes that
    /// are never observed are passed over. Which of the values are known may depend on them, but not on the
    /// label beyond what they say of it.
    ///
    /// # Errors
    /// [`LearnError::NotFinite`] and [`LearnError::Diverged`], as [`tell`](lao_observation::Learner::tell),
    /// and [`LearnError::NotAsked`] before it was asked for the first time, if the attributes do not ascend
    /// or there are none of the dimension, or if their number is not that of the values; the learner is then
    /// as it was before.
    pub fn tell_given(&mut self, attributes: &[u32], values: &[f64], label: f64) -> Result<(), LearnError> {
        if attributes.len() != values.len() || !state::is_set(attributes, self.params.dim) {
            let (asked, told) = ("one value for each attribute, in ascending order", "something else");
            return Err(LearnError::NotAsked { told, asked });
        }
        let is_never = |j: &u32| self.params.never.binary_search(j).is_ok();
        let both = attributes.iter().copied().zip(values.iter().copied());
        let (attributes, values) = both.filter(|(j, x)| !x.is_nan() && !is_never(j)).unzip();
        self.keep_late(Late { attributes, values, missing: Vec::new(), label, is_given: true })
    }

    /// Adds an example to the block, if its numbers are finite and not too large.
    fn keep_late(&mut self, late: Late) -> Result<(), LearnError> {
        if self.order.is_empty() {
            let (asked, told) = ("nothing yet: the random order is drawn by the first `ask`", "an example");
            return Err(LearnError::NotAsked { told, asked });
        }
        let Late { attributes, values, label, .. } = &late;
        for (attribute, &value) in attributes.iter().map(|&j| Some(j)).zip(values).chain([(None, label)]) {
            if !value.is_finite() {
                return Err(LearnError::NotFinite { attribute, value });
            }
            if value.abs() > LARGEST {
                let attribute = attribute.unwrap_or_default() as usize;
                return Err(LearnError::Diverged { update: self.done + 1, attribute, value });
            }
        }
        self.late.push(late);
        if self.examples_left() == 0 {
            self.update();
        }
        Ok(())
    }

    /// Returns whether an example of which these attributes are observed keeps to the parameters.
    pub(crate) fn may_observe(&self, attributes: &[u32]) -> bool {
        let params = &self.params;
        let paid = params.money.as_ref().is_none_or(|money| {
            pays(money.per_example, money.tariff.cost(attributes, &mut lao_observation::Basket::default()))
        });
        let never = attributes.iter().any(|j| params.never.binary_search(j).is_ok());
        state::is_set(attributes, params.dim) && attributes.len() <= params.budget && paid && !never
    }

    /// Adds the late examples to the sums, one by one.
    pub(super) fn take_in_late(&mut self) {
        for Late { attributes, values, missing, label, .. } in std::mem::take(&mut self.late) {
            let columns = &mut self.scratch.columns;
            columns.clear();
            columns.extend(self.support.iter().chain(&self.pool));
            let watched = columns.len();
            let others = attributes.iter().chain(&missing).filter(|j| !columns[..watched].contains(j));
            let others: Vec<u32> = others.copied().collect();
            columns.extend(others);
            self.values.clear();
            self.values.resize(super::moments::groups(columns.len()), [0.0; 4]);
            self.gaps.clear();
            for (c, j) in columns.iter().enumerate() {
                match attributes.binary_search(j) {
                    Ok(at) => self.values[c / 4][c % 4] = values[at],
                    Err(_) => self.gaps.push(Gap { row: 0, column: c as u32 }),
                }
            }
            self.labels.clear();
            self.labels.push(label);
            self.weights.clear();
            let not_asked =
                |j: &&u32| attributes.binary_search(j).is_err() && missing.binary_search(j).is_err();
            let not_asked: Vec<u32> = columns.iter().filter(not_asked).copied().collect();
            self.take_in();
            not_asked.iter().for_each(|&j| self.moments.was_not_asked(j));
            for j in attributes.iter().chain(&missing) {
                if let Err(place) = self.asked.binary_search(j) {
                    self.asked.insert(place, *j);
                }
            }
        }
    }

    /// Checks the late examples of a stored state.
    pub(super) fn validate_late(&self) -> Result<(), Damaged> {
        let fits = |late: &Late| {
            let mut all = [&late.attributes[..], &late.missing[..]].concat();
            all.sort_unstable();
            let small = late.values.iter().chain([&late.label]).all(|x| x.abs() <= LARGEST);
            let sets =
                [&late.attributes, &late.missing].iter().all(|set| state::is_set(set, self.params.dim));
            let allowed = if late.is_given { late.missing.is_empty() } else { self.may_observe(&all) };
            late.values.len() == late.attributes.len() && small && sets && allowed
        };
        Damaged::unless(self.late.iter().all(fits), NAME, || "a late example is none that was asked for")
    }
}
