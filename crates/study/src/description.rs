//! What a study is about; it never changes.

use crate::error::StudyError;
use lao::algorithms::Money;
use lao::algorithms::pursuit::{Pursuit, PursuitParams};
use lao::{Label, PricedColumns, Prices};
use serde::{Deserialize, Serialize};

/// What a study is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The version of the format of the folder.
    pub format: u32,
    /// The version of lao that began the study.
    pub version: String,
    /// What is predicted.
    pub target: String,
    /// Whether it is a number, or one of two classes; classes are told as +1 and -1.
    pub label: Label,
    /// The names of the attributes, in their order.
    pub attributes: Vec<String>,
    /// The largest number of attributes bought of an example.
    pub budget: usize,
    /// What an example may cost, if attributes have prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// The names of the panels, if attributes have prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panels: Vec<String>,
    /// The largest number of attributes of the predictor; `None` is four fifths of the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<usize>,
    /// The probability with which any attribute without effect is ever in the predictor, at most.
    pub level: f64,
    /// The attributes that the predictor always includes, whatever their effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
    /// The number of further examples after which the weight of an example is halved, for coefficients that
    /// drift; `None` if all examples have the same weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    /// The seed from which all draws descend.
    pub seed: u64,
}

/// The version of the format of a folder.
pub(crate) const FORMAT: u32 = 1;

impl Description {
    /// Returns the description of a study of a number, with defaults for all but these.
    pub fn new(target: &str, attributes: Vec<String>, budget: usize) -> Self {
        Description {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            target: target.into(),
            label: Label::Number,
            attributes,
            budget,
            money: None,
            panels: Vec::new(),
            longest: None,
            level: 0.05,
            always: Vec::new(),
            half_life: None,
            seed: 1,
        }
    }

    /// Returns the description of a study of a number in which an example may cost `money`, by these prices.
    ///
    /// # Errors
    /// When an attribute has no price, or a price is of no attribute.
    pub fn within_money(
        target: &str,
        attributes: Vec<String>,
        money: f64,
        prices: &Prices,
    ) -> Result<Self, lao::Error> {
        let columns: Vec<&str> = attributes.iter().map(String::as_str).collect();
        let PricedColumns { tariff, panels } = prices.of(&columns, &[target])?;
        let budget = tariff.most_attributes(money);
        let money = Some(Money::new(tariff, money));
        Ok(Description { money, panels, ..Self::new(target, attributes, budget) })
    }

    /// Checks the description and builds the learner.
    pub(crate) fn learner(&self) -> Result<Pursuit, StudyError> {
        let fail = |field, reason: String| Err(StudyError::Description { field, reason });
        if self.format != FORMAT {
            return fail("format", format!("{}; a new study has format {FORMAT}", self.format));
        }
        for (i, name) in self.attributes.iter().enumerate() {
            if name.is_empty() || name.contains(['=', ',', '"', '\n', '\r']) {
                return fail(
                    "attributes",
                    format!("`{name}`: a name has a character at least, and no = , or \""),
                );
            }
            if *name == self.target || self.attributes[..i].contains(name) {
                return fail("attributes", format!("`{name}` is there twice"));
            }
        }
        if self.panels.len() != self.money.as_ref().map_or(0, |money| money.tariff.prices().len()) {
            return fail("panels", format!("{} names; each panel of the prices has one", self.panels.len()));
        }
        if let Some(name) = self.always.iter().find(|name| self.attribute(name).is_none()) {
            return fail("always", format!("`{name}` is not an attribute of the study"));
        }
        Ok(self.params().build()?)
    }

    pub(crate) fn params(&self) -> PursuitParams {
        let mut always: Vec<u32> = self.always.iter().filter_map(|name| self.attribute(name)).collect();
        always.sort_unstable();
        always.dedup();
        PursuitParams {
            level: self.level,
            longest: self.longest,
            always,
            half_life: self.half_life,
            money: self.money.clone(),
            ..PursuitParams::within(self.attributes.len(), self.budget)
        }
    }

    /// Returns the place of an attribute.
    pub fn attribute(&self, name: &str) -> Option<u32> {
        self.attributes.iter().position(|other| other == name).map(|place| place as u32)
    }
}
