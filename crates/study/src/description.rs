//! What a study is about; it never changes, but for attributes that join.

use crate::error::StudyError;
use crate::journal::Joining;
use lao::algorithms::Money;
use lao::algorithms::phases::{LEAST_EXAMPLES, Phases, PhasesParams, Shape};
use lao::algorithms::pursuit::PursuitParams;
use lao::{Budget, Choices, Label, OPTIONS, Price, PricedColumns, Prices};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::HashSet;

/// What a study is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The version of the format of the folder.
    pub format: u32,
    /// The version of lao that began the study.
    pub version: String,
    /// What tells the study from all others; [`Study::create`](crate::Study::create) sets it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What is predicted.
    pub target: String,
    /// Whether it is a number, or one of two classes; classes are told as +1 and -1.
    pub label: Label,
    /// The names of the attributes, in their order.
    pub attributes: Vec<String>,
    /// The largest number of attributes bought of an example.
    pub budget: usize,
    /// The prices, and what an example may cost, if attributes have prices; what a prediction may cost is one
    /// of the choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// The names of the panels, if attributes have prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panels: Vec<String>,
    /// The number of examples that is planned. If it is known, the data may choose trees; without it the
    /// predictor is a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<u64>,
    /// The choices; those that a study does not have are the defaults.
    #[serde(flatten, serialize_with = "of_studies")]
    pub choices: Choices,
}

/// The level of a study, unless another one is chosen.
pub(crate) const DEFAULT_LEVEL: f64 = 0.05;

/// Writes the choices that a study has, and the level in any case: the study keeps it.
fn of_studies<S: Serializer>(choices: &Choices, serializer: S) -> Result<S::Ok, S::Error> {
    let level = choices.level.or(Some(DEFAULT_LEVEL));
    let mut keys = Choices { level, ..choices.clone() }.by_key();
    for option in OPTIONS.iter().filter(|option| option.not_in_studies.is_some()) {
        keys.remove(option.key);
    }
    keys.serialize(serializer)
}

impl Description {
    /// The format of the folder of a new study.
    pub const FORMAT: u32 = 1;

    /// Returns the description of a study of a number, with defaults for all but these.
    pub fn new(target: &str, attributes: Vec<String>, budget: usize) -> Self {
        Description {
            format: Self::FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            id: String::new(),
            target: target.into(),
            label: Label::Number,
            attributes,
            budget,
            money: None,
            panels: Vec::new(),
            examples: None,
            choices: Choices::default(),
        }
    }

    /// Returns the description of a study of a number within a budget, with defaults for the rest.
    ///
    /// # Errors
    /// When an attribute has no price, or a price is of no attribute.
    pub fn within(target: &str, attributes: Vec<String>, budget: &Budget) -> Result<Self, lao::Error> {
        let (per_example, prices) = match budget {
            Budget::Attributes(most) => return Ok(Self::new(target, attributes, *most)),
            Budget::Money { per_example, prices } => (*per_example, prices),
        };
        let columns: Vec<&str> = attributes.iter().map(String::as_str).collect();
        let PricedColumns { tariff, panels } = prices.of(&columns, &[target])?;
        let budget = tariff.most_attributes(per_example);
        let money = Some(Money::new(tariff, per_example));
        Ok(Description { money, panels, ..Self::new(target, attributes, budget) })
    }

    fn check_names(&self) -> Result<(), StudyError> {
        let fail = |reason| Err(StudyError::Description { field: "attributes", reason });
        let mut before = HashSet::from([self.target.as_str()]);
        for name in &self.attributes {
            if name.is_empty() || name.contains(['=', ',', '"', '\n', '\r']) {
                return fail(format!("`{name}`: a name has a character at least, and no = , or \""));
            }
            if !before.insert(name) {
                return fail(format!("`{name}` is there twice"));
            }
        }
        Ok(())
    }

    /// Checks the description and builds the learner.
    pub(crate) fn learner(&self) -> Result<Phases, StudyError> {
        let fail = |field, reason: String| Err(StudyError::Description { field, reason });
        if self.format != Self::FORMAT {
            return fail("format", format!("{}; a new study has format {}", self.format, Self::FORMAT));
        }
        self.check_names()?;
        if self.panels.len() != self.money.as_ref().map_or(0, |money| money.tariff.prices().len()) {
            return fail("panels", format!("{} names; each panel of the prices has one", self.panels.len()));
        }
        let (own, default) = (self.choices.by_key(), Choices::default().by_key());
        for option in OPTIONS {
            let why = option.not_in_studies.filter(|_| own.get(option.key) != default.get(option.key));
            if let Some(why) = why {
                return fail(option.key, format!("a study does not have this choice: {why}"));
            }
        }
        if self.choices.per_prediction.is_some() && self.money.is_none() {
            return fail("per_prediction", "it is an amount of money, and needs prices".into());
        }
        if let Some(name) = self.choices.always.iter().find(|name| self.attribute(name).is_none()) {
            return fail("always", format!("`{name}` is not an attribute of the study"));
        }
        if self.choices.fdr.is_some() && self.choices.level.is_some_and(|level| level != DEFAULT_LEVEL) {
            return fail("fdr", "it takes the place of the level: give one of them".into());
        }
        let shape = self.choices.shape;
        if shape == Shape::Trees && self.examples.is_none() {
            let why = "trees need the number of examples that is planned (--examples N)";
            return fail("shape", why.into());
        }
        if shape == Shape::Trees && self.choices.half_life.is_some() {
            return fail("shape", "trees have no half-life; it is for lines".into());
        }
        if let Some(few) = self.examples.filter(|examples| *examples < LEAST_EXAMPLES) {
            let allowed = format!("at least {LEAST_EXAMPLES}; with fewer the predictor is a line");
            return fail("examples", format!("{few}: allowed is {allowed}, and needs no plan"));
        }
        Ok(PhasesParams { pursuit: self.params(), examples: self.examples, shape }.build()?)
    }

    pub(crate) fn params(&self) -> PursuitParams {
        let Choices { longest, level, fdr, half_life, per_prediction, ref always, .. } = self.choices;
        let mut always: Vec<u32> = always.iter().filter_map(|name| self.attribute(name)).collect();
        always.sort_unstable();
        always.dedup();
        let money = self.money.clone();
        let money =
            money.map(|money| Money { per_prediction: per_prediction.or(money.per_prediction), ..money });
        let level = level.unwrap_or(DEFAULT_LEVEL);
        let within = PursuitParams::within(self.attributes.len(), self.budget);
        PursuitParams { level, fdr, longest, always, half_life, money, ..within }
    }

    /// Returns the prices of the attributes; none if they have none.
    pub fn prices(&self) -> Vec<Price> {
        let Some(Money { tariff, .. }) = &self.money else { return Vec::new() };
        let price = |(j, column): (u32, &String)| {
            let panel = tariff.panel(j).unwrap_or_default();
            let name = |panel: u32| self.panels.get(panel as usize).cloned();
            let own = tariff.prices()[panel as usize];
            let (panel, further) = match tariff.fee(panel) {
                Some(fee) => (name(fee), Some(own)),
                None if tariff.members(panel).len() == 1 => (name(panel).filter(|name| name != column), None),
                None => (name(panel), None),
            };
            Price { column: column.clone(), price: tariff.price(j), panel, further }
        };
        (0..).zip(&self.attributes).map(price).collect()
    }

    /// Returns the description with attributes that join.
    pub(crate) fn joined(&self, attributes: &[Joining]) -> Result<Self, StudyError> {
        let fail = |reason| Err(StudyError::Join { reason });
        if attributes.is_empty() {
            return fail("give the name of an attribute at least".into());
        }
        let mut next = self.clone();
        next.attributes.extend(attributes.iter().map(|one| one.name.clone()));
        let mut prices = self.prices();
        for Joining { name, price, panel, further } in attributes {
            match (price, &self.money) {
                (Some(price), Some(_)) => {
                    let (column, panel) = (name.clone(), panel.clone());
                    prices.push(Price { column, price: *price, panel, further: *further });
                }
                (None, None) => {}
                (None, Some(_)) => return fail(format!("`{name}` needs a price, as the others have one")),
                (Some(_), None) => return fail(format!("`{name}` has a price, and the others have none")),
            }
        }
        next.check_names()?;
        if let Some(money) = &mut next.money {
            let columns: Vec<&str> = next.attributes.iter().map(String::as_str).collect();
            let priced = Prices::new(prices).and_then(|prices| prices.of(&columns, &[]));
            match priced {
                Ok(PricedColumns { tariff, panels }) => {
                    next.budget = next.budget.max(tariff.most_attributes(money.per_example));
                    (money.tariff, next.panels) = (tariff, panels);
                }
                Err(error) => return fail(error.to_string()),
            }
        }
        Ok(next)
    }

    /// Returns the place of an attribute.
    pub fn attribute(&self, name: &str) -> Option<u32> {
        self.attributes.iter().position(|other| other == name).map(|place| place as u32)
    }
}
