//! The model: what is kept of learning, in a file of a few kilobytes that people can read.

use crate::error::Error;
use crate::examples::{Examples, Label};
use crate::frame::{Column, Frame, Pick, ReadOptions, Reading, Values, column_of_gap};
use crate::prices::{Price, PricedColumns, Prices};
use lao_algorithms::AnyParams;
use lao_algorithms::pursuit::{Evidence, Pursuit};
use lao_observation::Learner;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

/// The version of the file format.
const FORMAT: u32 = 1;
/// The number of examples whose values are read at once to score a model.
const SCORED_AT_ONCE: usize = 30_000;

/// A sparse linear predictor, with all that is needed to apply it to tables of other layouts and to know
/// where it comes from.
///
/// All numbers are in the units of the table. A model finds its columns by name; only those of its support
/// are needed.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// // let model = lao::Model::load("diabetes.lao.json")?;
/// assert_eq!((model.target.as_str(), model.columns()), ("progression", vec!["bmi", "ltg"]));
/// let text = model.to_json();
/// assert_eq!(lao::Model::from_json(&text).unwrap(), model);
/// assert!(text.len() < 4000, "a file that people can read");
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What wrote the file.
    pub lao: Stamp,
    /// The name of the label's column.
    pub target: String,
    /// What the label is.
    pub label: Label,
    /// The prediction where all coefficients are multiplied by zero.
    pub intercept: f64,
    /// The mean label of the examples learned from, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_label: Option<f64>,
    /// One entry for each attribute of the support.
    pub coefficients: Vec<Coefficient>,
    /// For two classes: the probability of the positive one is `1 / (1 + exp(-(offset + slope p)))`, where p
    /// is the sum of the intercept and the products.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// What learning cost.
    pub spent: Spent,
    /// The error on examples that were never learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<Holdout>,
    /// The error on the examples held out, each time the examples had doubled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Reached>,
    /// The attributes outside the support that are most likely to belong to it, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// How it was learned.
    pub origin: Origin,
}

/// How far a run had come.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let last = model.history.last().unwrap();
/// assert_eq!((last.examples, last.attributes), (398, 1990));
/// assert_eq!(last.mean_squared_error, model.holdout.unwrap().mean_squared_error);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reached {
    /// Examples so far.
    pub examples: u64,
    /// Values bought so far.
    pub attributes: u64,
    /// Money spent so far, if attributes have prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// The mean squared error on the examples held out.
    pub mean_squared_error: f64,
}

/// An attribute outside the support, and the evidence for it.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// // What was looked at, and is not in the model.
/// let likeliest = &model.candidates[0];
/// assert!(likeliest.examples > 100 && !model.columns().contains(&likeliest.name.as_str()));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Its name: `column`, or `column=word`.
    pub name: String,
    /// The number of examples in which it was looked at.
    pub examples: u64,
    /// Its effect beyond the support, in standard deviations.
    pub z: f64,
    /// The number of further examples until it is expected to be added, if its effect is what it seems to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_added: Option<u64>,
}

/// The number of candidates that a model keeps, so that its file stays small.
const CANDIDATES: usize = 20;

/// What wrote a model file.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// assert_eq!((model.lao.format, model.lao.version.as_str()), (1, env!("CARGO_PKG_VERSION")));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// The version of the format.
    pub format: u32,
    /// The version of lao.
    pub version: String,
}

/// An attribute of a model.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let bmi = &model.coefficients[0];
/// assert_eq!((bmi.name().as_str(), bmi.word.as_deref()), ("bmi", None));
/// assert!(bmi.value > 5.0 * bmi.standard_error.unwrap());
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coefficient {
    /// The column.
    pub column: String,
    /// For a column of words: the attribute is 1 where the column has this word, and 0 elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// The coefficient, in units of the label per unit of the attribute.
    pub value: f64,
    /// Its standard error, if the method knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The mean of the attribute over the examples.
    pub mean: f64,
    /// Values beyond these, four standard deviations from the mean, count as if they lay there.
    pub within: Option<[f64; 2]>,
}

impl Coefficient {
    /// Returns the name of the attribute: `column`, or `column=word`.
    pub fn name(&self) -> String {
        self.word.as_ref().map_or_else(|| self.column.clone(), |word| format!("{}={word}", self.column))
    }
}

/// A logistic function of the prediction.
///
/// ```
/// # let mut rows = String::from("age,weight,state\n");
/// # for i in 0..600u32 {
/// #     let age = 20 + i * 7 % 60;
/// #     let state = if age + i * 13 % 20 > 60 { "ill" } else { "well" };
/// #     rows += &format!("{age},{},{state}\n", 50 + i * 11 % 50);
/// # }
/// # let frame = lao::Frame::parse(rows.as_bytes(), "patients.csv", &Default::default())?;
/// // let frame = lao::read("patients.csv")?;
/// let model = lao::Fit::within(2).run(&frame.target_class("state", "ill")?)?.model;
/// let link = model.link.unwrap();
/// let likely = |p: f64| 1.0 / (1.0 + (-(link.offset + link.slope * p)).exp());
/// assert_eq!(model.probability(0.5), Some(likely(0.5)));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The logarithm of the odds where the prediction is 0.
    pub offset: f64,
    /// How fast they grow with the prediction.
    pub slope: f64,
}

/// What learning cost.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let spent = &model.spent;
/// assert_eq!((spent.examples, spent.attributes, spent.most_attributes), (398, 1990, 5));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Examples of which attributes were bought.
    pub examples: u64,
    /// Values that were bought. A column of words that is bought as a whole is one value.
    pub attributes: u64,
    /// The largest number of values of one example.
    pub most_attributes: usize,
    /// Examples that were passed over because they lacked a value that was asked for.
    pub passed_over: u64,
    /// In a live study: examples that came to nothing after attributes of them were bought. They are among
    /// `examples`, and what was bought of them among `attributes`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub void: u64,
    /// Where attributes have prices: the money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<SpentMoney>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The money that learning cost.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let blood = ["tc", "ldl", "hdl", "tch", "ltg"].map(|name| format!("{name},8,blood\n")).concat();
/// # let prices = lao::Prices::parse(&format!("age,0\nsex,0\nbmi,1\nbp,1\nglu,4\n{blood}"), "prices.csv")?;
/// # let model = lao::Fit::within_money(11.0, prices).run(&examples)?.model;
/// let money = model.spent.money.as_ref().unwrap();
/// assert!(money.most <= money.budget && money.budget == 11.0);
/// assert_eq!(money.bought().map(|panel| panel.cost()).sum::<f64>(), money.total);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpentMoney {
    /// In all.
    pub total: f64,
    /// The most for one example.
    pub most: f64,
    /// The budget for one example.
    pub budget: f64,
    /// What could be bought, panel by panel, and for how many examples it was.
    pub panels: Vec<PanelSpent>,
}

/// A panel, or a column that is bought alone, and how often it was bought.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let blood = ["tc", "ldl", "hdl", "tch", "ltg"].map(|name| format!("{name},8,blood\n")).concat();
/// # let prices = lao::Prices::parse(&format!("age,0\nsex,0\nbmi,1\nbp,1\nglu,4\n{blood}"), "prices.csv")?;
/// # let model = lao::Fit::within_money(11.0, prices).run(&examples)?.model;
/// let panels = &model.spent.money.as_ref().unwrap().panels;
/// let blood = panels.iter().find(|panel| panel.name == "blood").unwrap();
/// assert_eq!((blood.price, blood.columns.len()), (8.0, 5));
/// assert_eq!(blood.cost(), 8.0 * blood.examples as f64);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelSpent {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its price, for one example.
    pub price: f64,
    /// The number of examples for which it was bought.
    pub examples: u64,
}

impl PanelSpent {
    /// Returns the money spent on this panel.
    pub fn cost(&self) -> f64 {
        self.price * self.examples as f64
    }

    /// Returns the price of each of its columns.
    fn prices(&self) -> impl Iterator<Item = Price> {
        let is_alone = self.columns.len() == 1 && self.columns[0] == self.name;
        let panel = (!is_alone).then(|| self.name.clone());
        let price = self.price;
        self.columns.iter().map(move |column| Price { column: column.clone(), price, panel: panel.clone() })
    }
}

impl SpentMoney {
    /// Returns the panels that were bought.
    pub fn bought(&self) -> impl Iterator<Item = &PanelSpent> {
        self.panels.iter().filter(|panel| panel.examples > 0)
    }

    /// Returns the prices by which it was bought.
    ///
    /// # Errors
    /// When they contradict each other, which those of a run do not.
    pub fn prices(&self) -> Result<Prices, Error> {
        Prices::new(self.panels.iter().flat_map(PanelSpent::prices).collect())
    }

    /// Returns what was bought by these prices: each panel for its number of examples in `bought`.
    /// `attributes` has the column of each attribute; `most` is the most for one example, and `budget` the
    /// limit.
    pub fn of(
        priced: &PricedColumns,
        bought: &[u64],
        attributes: &[(String, Option<String>)],
        most: f64,
        budget: f64,
    ) -> Self {
        let columns = |panel: u32| {
            let of = |&j: &u32| attributes.get(j as usize).map(|(column, _)| column.clone());
            let mut columns: Vec<String> = priced.tariff.members(panel).iter().filter_map(of).collect();
            columns.dedup();
            columns
        };
        let all = (0..).zip(&priced.panels).zip(priced.tariff.prices().iter().zip(bought));
        let panels: Vec<PanelSpent> = all
            .map(|((panel, name), (&price, &examples))| PanelSpent {
                name: name.clone(),
                columns: columns(panel),
                price,
                examples,
            })
            .collect();
        SpentMoney { total: panels.iter().map(PanelSpent::cost).sum(), most, budget, panels }
    }

    /// Returns what was spent in all, where `before` was spent by earlier runs with the same prices.
    pub(crate) fn after(mut self, before: Option<&SpentMoney>) -> Self {
        let Some(before) = before else { return self };
        for earlier in &before.panels {
            match self.panels.iter_mut().find(|panel| panel.name == earlier.name) {
                Some(panel) => panel.examples = panel.examples.saturating_add(earlier.examples),
                None => self.panels.push(earlier.clone()),
            }
        }
        self.total = self.panels.iter().map(PanelSpent::cost).sum();
        self.most = self.most.max(before.most);
        self
    }
}

/// The error on examples that were never learned from.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let holdout = model.holdout.unwrap();
/// assert_eq!(holdout.examples, 44);
/// assert_eq!(holdout.r2(), 1.0 - holdout.mean_squared_error / holdout.error_of_mean);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holdout {
    /// Their number.
    pub examples: usize,
    /// The mean squared error, for two classes against +1 and -1.
    pub mean_squared_error: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The mean squared error of predicting the mean label of the examples learned from.
    pub error_of_mean: f64,
    /// For two classes: the share of correct predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// For two classes with probabilities: the mean logarithmic loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
}

impl Holdout {
    /// Returns the name of a number that cannot be negative and is.
    fn negative(&self) -> Option<&'static str> {
        let Holdout { mean_squared_error, standard_error, error_of_mean, accuracy, log_loss, .. } = *self;
        let all = [
            ("mean_squared_error", Some(mean_squared_error)),
            ("standard_error", Some(standard_error)),
            ("error_of_mean", Some(error_of_mean)),
            ("accuracy", accuracy),
            ("log_loss", log_loss),
        ];
        all.into_iter().find(|(_, number)| number.is_some_and(|number| number < 0.0)).map(|(name, _)| name)
    }

    /// Returns the part of the label's variance that the model explains.
    pub fn r2(&self) -> f64 {
        1.0 - self.mean_squared_error / self.error_of_mean
    }
}

/// How a model was learned: enough to [do it again](crate::Fit::again).
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let origin = &model.origin;
/// assert_eq!((origin.method.as_str(), origin.examples, origin.seed), ("pursuit", 442, 1));
/// assert!(origin.sha256.as_ref().is_some_and(|hash| hash.starts_with("204d81")));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The name of the method.
    pub method: String,
    /// Whether the method was behind a safeguard.
    pub safeguarded: bool,
    /// The parameters of the method within.
    pub parameters: AnyParams,
    /// The name of the table, or of the folder of the study.
    pub table: String,
    /// The SHA-256 hash of the table's text. A live study has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// For a live study: the lines of its journal from which the model follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalPlace>,
    /// The attributes of the table or of the study.
    pub attributes: usize,
    /// The examples of the table, those held out included; those that a live study learned from.
    pub examples: usize,
    /// The most attributes that could be bought of an example; `None` where the budget is money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<usize>,
    /// The money that a prediction may cost, if it was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_prediction: Option<f64>,
    /// The largest number of attributes of the predictor, if it was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<usize>,
    /// The columns that the predictor had to have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
    /// What was chosen when the table was read.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// The share of examples held out.
    pub holdout: f64,
    /// How often the examples were gone through.
    pub passes: u64,
    /// Whether they came in the order of the table, and the last ones were held out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_order: bool,
    /// The seed.
    pub seed: u64,
}

/// A place in the journal of a live study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalPlace {
    /// The number of lines up to this place.
    pub lines: u64,
    /// The hash that stands in the last of them (`chain`), which depends on all of them and on the study's
    /// description; before the first line, the hash of the description.
    pub chain: String,
}

/// What a model has to know beside what its learner knows.
#[derive(Clone, Debug)]
pub struct About {
    /// The name of the label's column.
    pub target: String,
    /// What the label is.
    pub label: Label,
    /// The column, and the word if there is one, of each attribute of the learner.
    pub attributes: Vec<(String, Option<String>)>,
    /// What learning cost.
    pub spent: Spent,
    /// How it was learned.
    pub origin: Origin,
}

/// What a prediction does about a value that is missing.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// use lao::{Frame, Missing};
///
/// let fresh = Frame::parse(b"bmi,ltg\n30,4.9\n?,4.9\n", "fresh.csv", &model.read_options())?;
/// let of_mean = model.predict(&fresh, Missing::Mean)?;
/// assert!(of_mean.values[1] < of_mean.values[0]);
/// assert!(model.predict(&fresh, Missing::Refuse)?.values[1].is_nan());
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// It uses the mean of the attribute.
    #[default]
    Mean,
    /// There is no prediction for the row.
    Refuse,
}

/// Predictions for the rows of a table.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let fresh = lao::Frame::parse(b"bmi,ltg\n30,4.9\n?,4.9\n", "fresh.csv", &model.read_options())?;
/// let predicted = model.predict(&fresh, lao::Missing::Mean)?;
/// assert_eq!((predicted.values.len(), predicted.incomplete), (2, 1));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// One per row: of the label or, for two classes, of the sum whose sign tells the class. NaN where the
    /// row was refused.
    pub values: Vec<f64>,
    /// Rows of which a value was missing.
    pub incomplete: usize,
}

impl Model {
    /// Returns the model of a learner at work outside of [`Fit`](crate::Fit), such as in a live study.
    pub fn of_pursuit(learner: &Pursuit, about: About) -> Self {
        let known = |j: u32| learner.evidence(j).map(|known| known.standard_error);
        let within = |j: u32| (learner.mean(j), learner.range(j));
        let [offset, slope] = learner.link();
        let candidates = candidates(learner, &about.attributes);
        let model = Self::of(learner, known, within, Some(Link { offset, slope }), about);
        Model { candidates, ..model }
    }

    /// Returns the model of a learner whose coefficients are in the units of the data. `errors` returns the
    /// standard error of a coefficient, `within` the mean and the range of an attribute.
    pub(crate) fn of(
        learner: &dyn Learner,
        errors: impl Fn(u32) -> Option<f64>,
        within: impl Fn(u32) -> (f64, RangeInclusive<f64>),
        link: Option<Link>,
        about: About,
    ) -> Self {
        let About { target, label, attributes, spent, origin } = about;
        let coefficient = |(j, value): (u32, f64)| {
            let (column, word) = attributes.get(j as usize)?.clone();
            let (mean, range) = within(j);
            let [low, high] = [*range.start(), *range.end()];
            let within = (low > f64::MIN && high < f64::MAX).then_some([low, high]);
            Some(Coefficient { column, word, value, standard_error: errors(j), mean, within })
        };
        Model {
            lao: Stamp { format: FORMAT, version: env!("CARGO_PKG_VERSION").into() },
            target,
            intercept: learner.intercept(),
            mean_label: None,
            coefficients: learner.coefficients().iter().filter_map(coefficient).collect(),
            link: link.filter(|_| label != Label::Number),
            label,
            spent,
            holdout: None,
            history: Vec::new(),
            candidates: Vec::new(),
            origin,
        }
    }

    /// Predicts every row of a table. Only the columns of the support are read; others may be absent.
    ///
    /// # Errors
    /// When a column of the support is not in the table, or has words in the place of numbers.
    pub fn predict(&self, frame: &Frame, missing: Missing) -> Result<Predictions, Error> {
        let mut values = vec![self.intercept; frame.rows()];
        let mut incomplete = vec![false; frame.rows()];
        let absent: Vec<&str> =
            self.columns().into_iter().filter(|column| frame.column(column).is_err()).collect();
        if let [_, _, ..] = absent[..] {
            let reason = format!("the model needs them, and {} lacks them", frame.name());
            return Err(Error::Columns { columns: absent.iter().map(|&name| name.into()).collect(), reason });
        }
        for coefficient in &self.coefficients {
            let column = frame.column(&coefficient.column)?;
            for (row, (sum, lacks)) in values.iter_mut().zip(&mut incomplete).enumerate() {
                let x = coefficient.of(column, row)?;
                *lacks |= x.is_nan();
                *sum +=
                    coefficient.value * if x.is_nan() { coefficient.mean } else { coefficient.clamped(x) };
            }
        }
        if missing == Missing::Refuse {
            values.iter_mut().zip(&incomplete).filter(|(_, lacks)| **lacks).for_each(|(y, _)| *y = f64::NAN);
        }
        let incomplete = incomplete.into_iter().filter(|lacks| *lacks).count();
        Ok(Predictions { values, incomplete })
    }

    /// Returns the probability of the positive class for a predicted sum, if the model has two classes and
    /// knows it.
    pub fn probability(&self, predicted: f64) -> Option<f64> {
        let Link { offset, slope } = self.link?;
        Some(1.0 / (1.0 + (-(offset + slope * predicted)).exp()))
    }

    /// Returns the class that a predicted sum stands for; `None` for a label of numbers.
    pub fn class(&self, predicted: f64) -> Option<&str> {
        match &self.label {
            Label::Number => None,
            Label::Classes { positive, negative } => {
                Some(if predicted > self.threshold() { positive } else { negative })
            }
        }
    }

    /// Returns the sum above which a row belongs to the positive class.
    pub(crate) fn threshold(&self) -> f64 {
        self.link.map_or(0.0, |link| -link.offset / link.slope.max(1e-300))
    }

    /// Scores the model on examples of the same table. There is no score without examples, or if the table
    /// ends the stream. The error is compared with that of the [mean label](Self::mean_label) or, if it is
    /// not known, of the mean label of these examples.
    ///
    /// # Errors
    /// When the examples have another label, or lack an attribute of the model.
    pub fn score(&self, examples: &Examples) -> Result<Option<Holdout>, Error> {
        let mut places = Vec::new();
        for coefficient in &self.coefficients {
            let name = coefficient.name();
            let Some(j) = examples.names().iter().position(|other| *other == name) else {
                let reason = "the model needs it, and the examples lack it".into();
                return Err(Error::Column { column: name, reason });
            };
            places.push(j as u32);
        }
        let n = examples.len();
        if n == 0 {
            return Ok(None);
        }
        let of_these = || examples.labels().sum::<f64>() / n as f64;
        let mean_label = self.mean_label.unwrap_or_else(of_these);
        let mut sums = [0.0; 5];
        let mut values = Vec::new();
        for (at, label) in examples.labels().enumerate() {
            if at % SCORED_AT_ONCE == 0 {
                let read = examples.values(&places, at..n.min(at + SCORED_AT_ONCE))?;
                let Some(read) = read else { return Ok(None) };
                values = read;
            }
            let rows = (n - (at - at % SCORED_AT_ONCE)).min(SCORED_AT_ONCE);
            let of = |(c, &x): (&Coefficient, &f64)| c.value * if x.is_nan() { c.mean } else { c.clamped(x) };
            let row = values.iter().skip(at % SCORED_AT_ONCE).step_by(rows);
            let predicted = self.intercept + self.coefficients.iter().zip(row).map(of).sum::<f64>();
            let error = (predicted - label) * (predicted - label);
            let class = self.class(predicted) == self.class_of_label(label);
            let log = self
                .probability(predicted)
                .map_or(0.0, |p| -(if label > 0.0 { p } else { 1.0 - p }).max(1e-15).ln());
            let more = [error, error * error, (label - mean_label).powi(2), f64::from(u8::from(class)), log];
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        let [error, square, of_mean, correct, log] = sums.map(|sum| sum / n as f64);
        let classes = self.label != Label::Number;
        Ok(Some(Holdout {
            examples: n,
            mean_squared_error: error,
            standard_error: ((square - error * error).max(0.0) / n as f64).sqrt(),
            error_of_mean: of_mean,
            accuracy: classes.then_some(correct),
            log_loss: self.link.map(|_| log),
        }))
    }

    fn class_of_label(&self, label: f64) -> Option<&str> {
        match &self.label {
            Label::Number => None,
            Label::Classes { positive, negative } => Some(if label > 0.0 { positive } else { negative }),
        }
    }

    /// Returns the columns that a prediction reads, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for coefficient in &self.coefficients {
            if !columns.contains(&coefficient.column.as_str()) {
                columns.push(&coefficient.column);
            }
        }
        columns
    }

    /// Returns how to read a table for [`predict`](Self::predict): only the columns that it needs, with what
    /// stood for a missing value when the model was learned.
    ///
    /// ```no_run
    /// let model = lao::Model::load("patients.lao.json")?;
    /// let fresh = lao::read_with("new.csv", &model.read_options())?;
    /// let predicted = model.predict(&fresh, lao::Missing::Mean)?;
    /// # Ok::<(), lao::Error>(())
    /// ```
    pub fn read_options(&self) -> ReadOptions {
        let columns = self.columns();
        let used = |gap: &&String| column_of_gap(gap).is_none_or(|(column, _)| columns.contains(&column));
        let missing = self.origin.reading.missing.iter().filter(used).cloned().collect();
        let columns = Pick::Only(columns.iter().map(|&name| name.to_owned()).collect());
        ReadOptions { columns, missing, ..ReadOptions::default() }
    }

    /// Returns what a prediction costs: the prices of the panels of the model's columns. `None` if there were
    /// no prices.
    pub fn cost(&self) -> Option<f64> {
        let (columns, money) = (self.columns(), self.spent.money.as_ref()?);
        let reads = |panel: &&PanelSpent| panel.columns.iter().any(|name| columns.contains(&name.as_str()));
        Some(money.panels.iter().filter(reads).map(|panel| panel.price).sum())
    }

    /// Returns the text of the model file.
    pub fn to_json(&self) -> String {
        let text = self.text();
        debug_assert!(text.is_ok(), "JSON can hold a model, which has numbers and names only: {text:?}");
        text.unwrap_or_default()
    }

    fn text(&self) -> Result<String, serde_json::Error> {
        Ok(on_one_line(&serde_json::to_string_pretty(self)?) + "\n")
    }

    /// Reads the text of a model file, and checks it.
    ///
    /// # Errors
    /// When the text is no model, with the line and the reason.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Begin {
            lao: Stamp,
        }
        let begin: Begin = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if begin.lao.format != FORMAT {
            let Stamp { format, version } = begin.lao;
            return Err(format!(
                "its format is {format}, written by lao {version}; this is lao {}, which reads format \
                 {FORMAT}",
                env!("CARGO_PKG_VERSION")
            ));
        }
        let model: Model = serde_json::from_str(text).map_err(|error| error.to_string())?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        for (i, one) in self.coefficients.iter().enumerate() {
            let name = one.name();
            if self.coefficients[..i].iter().any(|other| other.name() == name) {
                return Err(format!("the attribute `{name}` is there twice"));
            }
            if one.within.is_some_and(|[low, high]| low > high) {
                return Err(format!("the range of `{name}` is empty"));
            }
            if one.standard_error.is_some_and(|error| error < 0.0) {
                return Err(format!("the standard error of `{name}` is negative"));
            }
        }
        if let Some(Link { slope, .. }) = self.link.filter(|link| link.slope <= 0.0) {
            return Err(format!("the slope of its link is {slope}; it must be above 0"));
        }
        if let Some(name) = self.holdout.and_then(|holdout| holdout.negative()) {
            return Err(format!("`{name}` of its held-out error is negative"));
        }
        for panel in self.spent.money.iter().flat_map(|money| &money.panels) {
            if panel.price < 0.0 {
                return Err(format!("the price of `{}` is negative", panel.name));
            }
        }
        Ok(())
    }

    /// Writes the model to a file, completely or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        let text = self.text().map_err(|error| failed(error.into()))?;
        lao_files::write_atomically(path, text.as_bytes()).map_err(|error| failed(error.cause))
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// When the file cannot be read or is no model.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|cause| Error::File { path: path.to_owned(), cause })?;
        let text = String::from_utf8_lossy(&bytes);
        Self::from_json(&text).map_err(|reason| Error::Model { path: path.to_owned(), reason })
    }
}

impl Coefficient {
    /// Returns a value of the attribute as it counts: cut at the ends of [`within`](Self::within).
    pub(crate) fn clamped(&self, x: f64) -> f64 {
        self.within.map_or(x, |[low, high]| x.clamp(low, high))
    }

    /// Returns the attribute of a row; NaN if it is missing.
    fn of(&self, column: &Column, row: usize) -> Result<f64, Error> {
        let fail = |reason: &str| Error::Column { column: column.name.clone(), reason: reason.into() };
        match (&self.word, &column.values) {
            (None, Values::Numbers(numbers)) => Ok(numbers[row]),
            (None, _) => Err(fail("the model needs numbers there, and the table has words")),
            (Some(word), Values::Words { words, places }) => {
                let own = words.get(places[row] as usize);
                Ok(own.map_or(f64::NAN, |own| f64::from(u8::from(own == word))))
            }
            // A column whose words look like numbers in this table.
            (Some(word), Values::Numbers(numbers)) => {
                let x = numbers[row];
                let same = word.parse::<f64>().is_ok_and(|word| word == x);
                Ok(if x.is_nan() { x } else { f64::from(u8::from(same)) })
            }
            (Some(_), Values::TooManyWords(_)) => {
                Err(fail("the table has too many different words there for the model's column of words"))
            }
        }
    }
}

/// The half-width of an interval that holds 95 % of a normal law, in standard errors.
pub const HALF_WIDTH: f64 = 1.96;

impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.label {
            Label::Number => writeln!(out, "{} =", self.target)?,
            Label::Classes { positive, .. } => {
                writeln!(out, "{} is {positive} where this is positive:", self.target)?
            }
        }
        let name = |c: &Coefficient| c.name();
        let width = self.coefficients.iter().map(|c| name(c).chars().count()).max().unwrap_or(0);
        writeln!(out, "  {:>12}", figure(self.intercept))?;
        for c in &self.coefficients {
            let error = c
                .standard_error
                .map_or_else(String::new, |error| format!("  +- {}", figure(HALF_WIDTH * error)));
            writeln!(out, "  {:>12} * {:<width$}{error}", signed(c.value), name(c))?;
        }
        if let Some(holdout) = &self.holdout {
            let Holdout { examples, mean_squared_error, standard_error, .. } = holdout;
            let (error, doubt) = (figure(*mean_squared_error), figure(HALF_WIDTH * standard_error));
            write!(out, "on {examples} examples held out: mean squared error {error} +- {doubt}")?;
            write!(out, ", R2 {:.3}", holdout.r2())?;
            holdout.accuracy.map_or(Ok(()), |share| write!(out, ", {:.1} % correct", 100.0 * share))?;
            holdout.log_loss.map_or(Ok(()), |loss| write!(out, ", log loss {loss:.3}"))?;
            writeln!(out)?;
        }
        let Spent { examples, attributes, most_attributes, passed_over, void, ref money } = self.spent;
        write!(out, "bought {attributes} values of {examples} examples, at most {most_attributes} of one")?;
        if passed_over > 0 {
            let examples = if passed_over == 1 { "example" } else { "examples" };
            write!(out, "; skipped {passed_over} {examples} with missing values")?;
        }
        if self.origin.journal.is_some() {
            write!(out, "; {} of them were learned from", self.origin.examples)?;
        }
        if void > 0 {
            write!(out, ", {void} closed without a result")?;
        }
        if let (Some(money), Some(cost)) = (money, self.cost()) {
            let [total, most, budget, cost] = [money.total, money.most, money.budget, cost].map(figure);
            write!(out, "\nspent {total}, at most {most} of the budget of {budget} on one example; ")?;
            write!(out, "a prediction costs {cost}")?;
        }
        let has_errors = self.coefficients.iter().any(|c| c.standard_error.is_some());
        if has_errors || self.holdout.is_some() {
            write!(out, "\n+- is the half-width of a 95 % interval")?;
        }
        writeln!(out)
    }
}

/// Puts each list of numbers or words on one line of an indented JSON text, which has one value per line.
fn on_one_line(text: &str) -> String {
    let (mut out, mut lines) = (String::with_capacity(text.len()), text.lines().peekable());
    while let Some(line) = lines.next() {
        out += line;
        if line.ends_with('[') {
            // Lists within lists and objects begin with a bracket.
            let ends = |line: &&str| line.ends_with(['[', '{', ']', '}']) || line.ends_with("],");
            let mut values: Vec<&str> = Vec::new();
            while let Some(value) = lines.next_if(|line| !ends(line)) {
                values.push(value.trim_start());
            }
            if lines.peek().is_some_and(|line| line.trim_start().starts_with(']')) {
                out += &values.join(" ");
                out += lines.next().unwrap_or_default().trim_start();
            } else {
                values.iter().for_each(|value| out.extend(["\n", value]));
            }
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns the attributes outside the support that show the largest effects.
fn candidates(learner: &Pursuit, attributes: &[(String, Option<String>)]) -> Vec<Candidate> {
    let of = |(j, (column, word)): (u32, &(String, Option<String>))| {
        let known = learner.evidence(j).filter(|known| known.coefficient == 0.0 && known.examples > 0)?;
        let name = word.as_ref().map_or_else(|| column.clone(), |word| format!("{column}={word}"));
        let Evidence { examples, z, until_added, .. } = known;
        z.is_finite().then_some(Candidate { name, examples, z, until_added })
    };
    let mut all: Vec<Candidate> = (0..).zip(attributes).filter_map(of).collect();
    all.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()));
    all.truncate(CANDIDATES);
    all
}

/// Returns a number with four significant digits.
pub(crate) fn figure(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{x:.digits$}")
    } else {
        format!("{x:.3e}")
    }
}

fn signed(x: f64) -> String {
    if x < 0.0 { figure(x) } else { format!("+{}", figure(x)) }
}
