//! The model: what is kept of learning, in a file of a few kilobytes that people can read.

mod file;
mod origin;
mod predict;
mod score;
mod show;
mod spent;

pub use file::Stamp;
pub use origin::{Choice, JournalPlace, Origin};
pub use predict::{Missing, Predictions, Predictor};
pub use show::HALF_WIDTH;
pub use spent::{PanelSpent, Spent, SpentMoney};

use crate::examples::Label;
use crate::frame::{Pick, ReadOptions, column_of_gap};
use lao_algorithms::Inspect;
use lao_algorithms::phases::Decision;
use lao_algorithms::pursuit::Evidence;
use lao_algorithms::trees::Trees;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// A sparse linear predictor, with everything needed to apply it to other tables and to trace its origin.
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
    /// The prediction when every attribute is 0.
    pub intercept: f64,
    /// The mean label of the examples learned from, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_label: Option<f64>,
    /// One entry for each attribute of the support.
    pub coefficients: Vec<Coefficient>,
    /// Trees whose sum a prediction adds to the products; their columns are those of the coefficients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trees: Option<Trees>,
    /// The line on the attributes whose effects are significant, if the predictor is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Line>,
    /// What decided between a line and trees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
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

/// A line that is no predictor of its model.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// let model = lao::Fit::within(5).shape(lao::Shape::Trees).run(&examples)?.model;
/// let line = model.evidence.unwrap();
/// assert!(line.coefficients.len() < model.coefficients.len());
/// assert!(line.coefficients[0].standard_error.is_some());
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The prediction when every attribute is 0.
    pub intercept: f64,
    /// One entry for each attribute of the support.
    pub coefficients: Vec<Coefficient>,
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
    /// Its standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
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
    /// Whether its effect is significant, but the model has its largest number of attributes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shut_out: bool,
}

/// The number of candidates that a model keeps, so that its file stays small.
const CANDIDATES: usize = 20;

/// An attribute of a model.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let bmi = &model.coefficients[0];
/// assert_eq!((bmi.name().as_str(), bmi.word.as_deref()), ("bmi", None));
/// let [low, high] = bmi.interval.unwrap();
/// assert!(0.0 < low && low < bmi.value && bmi.value < high);
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
    /// Its standard error by the examples since the attributes of the model changed last, if the method keeps
    /// count and they are enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Its interval of 95 % by these examples, for a number of examples that was fixed beforehand. It holds
    /// the coefficient in the best linear predictor from the attributes of the model, as a rule, and need not
    /// lie around `value`, which rests on all examples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The longer interval that holds it at all times, with probability 95 %: for whoever looks again and
    /// again while examples come in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anytime_interval: Option<[f64; 2]>,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// For two classes: the share of the larger class, which is what naming it always would get right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub majority: Option<f64>,
    /// For two classes: the probability that an example of the positive class gets a larger prediction than
    /// one of the other class (the area under the receiver operating characteristic).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// For two classes with probabilities: the mean logarithmic loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// For two classes with probabilities: that of a constant, the share of the positive class among the
    /// examples learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_loss_of_share: Option<f64>,
    /// For two classes with probabilities: groups of examples, from small probabilities to large ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibration: Vec<Calibrated>,
}

/// Examples of about the same probability of the positive class.
///
/// ```
/// let rows = (0..600).map(|i| (i * 37 % 100, i * 53 % 100));
/// let rows = rows.map(|(x, u)| format!("{x},{u},{}\n", if x + u > 110 { "ill" } else { "well" }));
/// let table = String::from("crp,other,state\n") + &rows.collect::<String>();
/// let examples = lao::Frame::parse(table.as_bytes(), "ward.csv", &Default::default())?.target("state")?;
/// let holdout = lao::Fit::within(2).run(&examples)?.model.holdout.unwrap();
/// let groups = holdout.calibration;
/// assert_eq!(groups.iter().map(|group| group.examples).sum::<usize>(), holdout.examples);
/// assert!(groups[0].probability < groups[1].probability);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrated {
    /// Their number.
    pub examples: usize,
    /// The mean probability that the model gives.
    pub probability: f64,
    /// The share that is of the class.
    pub share: f64,
}

impl Holdout {
    /// Returns the name of a number that cannot be negative and is.
    fn negative(&self) -> Option<&'static str> {
        let Holdout { mean_squared_error, standard_error, error_of_mean, accuracy, log_loss, .. } = *self;
        let &Holdout { majority, auc, log_loss_of_share, .. } = self;
        let all = [
            ("mean_squared_error", Some(mean_squared_error)),
            ("standard_error", Some(standard_error)),
            ("error_of_mean", Some(error_of_mean)),
            ("accuracy", accuracy),
            ("majority", majority),
            ("auc", auc),
            ("log_loss", log_loss),
            ("log_loss_of_share", log_loss_of_share),
        ];
        all.into_iter().find(|(_, number)| number.is_some_and(|number| number < 0.0)).map(|(name, _)| name)
    }

    /// Returns the part of the label's variance that the model explains.
    pub fn r2(&self) -> f64 {
        1.0 - self.mean_squared_error / self.error_of_mean
    }
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

impl Model {
    /// Returns the model of a learner at work outside of [`Fit`](crate::Fit), such as in a live study.
    pub fn of(learner: &dyn Inspect, about: About) -> Self {
        let About { target, label, attributes, spent, origin } = about;
        let Line { intercept, coefficients } = line_of(learner, &attributes);
        Model {
            lao: Stamp::now(),
            target,
            intercept,
            mean_label: None,
            coefficients,
            trees: learner.trees().cloned(),
            evidence: learner.evident().map(|evident| line_of(evident, &attributes)),
            decision: learner.decision(),
            link: learner
                .link()
                .filter(|_| label != Label::Number)
                .map(|[offset, slope]| Link { offset, slope }),
            label,
            spent,
            holdout: None,
            history: Vec::new(),
            candidates: candidates(learner, &attributes),
            origin,
        }
    }

    /// Returns the columns that a prediction reads, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        let all = self.coefficients.iter().map(|one| one.column.as_str());
        all.filter(|column| known.insert(*column)).collect()
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
        let used = |gap: &String| column_of_gap(gap).is_none_or(|(column, _)| columns.contains(&column));
        let of = |words: bool| {
            let some = self.coefficients.iter().filter(move |one| one.word.is_some() == words);
            some.map(|one| one.column.clone()).collect()
        };
        let mut options = self.origin.reading.options();
        options.missing.retain(used);
        ReadOptions {
            columns: Pick::Only(columns.iter().map(|&name| name.to_owned()).collect()),
            words: of(true),
            numbers: of(false),
            ..options
        }
    }

    /// Returns what a prediction costs: the prices of the panels of the model's columns. `None` if there were
    /// no prices.
    pub fn cost(&self) -> Option<f64> {
        let (columns, money) = (self.columns(), self.spent.money.as_ref()?);
        let reads = |panel: &&PanelSpent| panel.columns.iter().any(|name| columns.contains(&name.as_str()));
        Some(money.panels.iter().filter(reads).map(|panel| panel.price).sum())
    }
}

/// Returns the line of a learner.
fn line_of(learner: &dyn Inspect, attributes: &[(String, Option<String>)]) -> Line {
    let of = |(j, value): (u32, f64)| {
        let (column, word) = attributes.get(j as usize)?.clone();
        let (mean, range) = (learner.mean(j), learner.range(j));
        let known = learner.evidence(j).filter(|_| learner.evident().is_none());
        let estimate = known.and_then(|known| known.estimate);
        let [low, high] = [*range.start(), *range.end()];
        let within = (low > f64::MIN && high < f64::MAX).then_some([low, high]);
        let standard_error = estimate.map(|estimate| estimate.standard_error);
        let interval = estimate.map(|estimate| estimate.interval());
        let anytime_interval = known.and_then(|known| known.anytime_interval());
        Some(Coefficient { column, word, value, standard_error, interval, anytime_interval, mean, within })
    };
    let coefficients = learner.coefficients().iter().filter_map(of).collect();
    Line { intercept: learner.intercept(), coefficients }
}

/// Returns the attributes outside the support that show the largest effects.
fn candidates(learner: &dyn Inspect, attributes: &[(String, Option<String>)]) -> Vec<Candidate> {
    let of = |(j, (column, word)): (u32, &(String, Option<String>))| {
        let known = learner.evidence(j).filter(|known| known.coefficient == 0.0 && known.examples > 0)?;
        let name = word.as_ref().map_or_else(|| column.clone(), |word| format!("{column}={word}"));
        let Evidence { examples, z, until_added, shut_out, .. } = known;
        z.is_finite().then_some(Candidate { name, examples, z, until_added, shut_out })
    };
    let mut all: Vec<Candidate> = (0..).zip(attributes).filter_map(of).collect();
    all.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()));
    all.truncate(CANDIDATES);
    all
}
