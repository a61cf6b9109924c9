//! Where a model comes from, and the choices with which it was learned.

use super::Model;
use crate::choices::{Choices, OPTIONS};
use crate::frame::Reading;
use lao_algorithms::AnyParams;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a model was learned: enough to [do it again](crate::Fit::again).
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let origin = &model.origin;
/// assert_eq!((origin.choices.method.as_str(), origin.examples, origin.choices.seed), ("pursuit", 442, 1));
/// assert!(origin.sha256.as_ref().is_some_and(|hash| hash.starts_with("204d81")));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What was chosen.
    #[serde(flatten)]
    pub choices: Choices,
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
    /// What was chosen when the table was read.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
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

/// A choice with which a model was learned.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// let chosen: Vec<String> =
///     model.choices().iter().filter(|choice| !choice.automatic).map(|choice| choice.name.clone()).collect();
/// assert_eq!(chosen, ["budget"]);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The option of `lao fit` that makes the choice, without its dashes, or a parameter of the method for
    /// which there is no option.
    pub name: String,
    /// What was chosen.
    pub value: String,
    /// Whether lao chooses the same where nothing is said.
    pub automatic: bool,
}

impl Model {
    /// Returns the choices with which the model was learned. `lao fit --like` makes all of them again, and
    /// [`Fit::again`](crate::Fit::again) all but `drop` and `na`, which say [how the table was
    /// read](crate::Reading).
    ///
    /// ```
    /// # let mut rows = String::from("age,weight,pulse,pressure\n");
    /// # for i in 0..600u32 {
    /// #     let (a, w, p) = (20 + i * 7 % 60, 50 + i * 11 % 50, 50 + i * 13 % 40);
    /// #     rows += &format!("{a},{w},{p},{}\n", 80.0 + 0.5 * f64::from(a) + f64::from(i * 17 % 7));
    /// # }
    /// # let frame = lao::Frame::parse(rows.as_bytes(), "patients.csv", &Default::default())?;
    /// let model = lao::Fit::within(2).seed(7).run(&frame.target("pressure")?)?.model;
    /// let choices = model.choices();
    /// let of = |name: &str| choices.iter().find(|choice| choice.name == name).unwrap();
    /// assert!(of("method").automatic && of("method").value == "pursuit");
    /// assert!(of("most-attributes").automatic && of("most-attributes").value == "2");
    /// assert!(!of("seed").automatic && of("seed").value == "7");
    /// # Ok::<(), lao::Error>(())
    /// ```
    pub fn choices(&self) -> Vec<Choice> {
        let origin = &self.origin;
        let (chosen, default) = (origin.choices.by_key(), Choices::default().by_key());
        let mut settled = settled(&origin.parameters);
        let mut choices = Vec::new();
        let mut add = |name: &str, value: String, automatic: bool| {
            choices.push(Choice { name: name.into(), value, automatic });
        };
        for option in OPTIONS {
            // A study holds out nothing, and has each example once, in its order.
            if origin.journal.is_some() && option.not_in_studies.is_some() && option.key != "method" {
                continue;
            }
            let own = chosen.get(option.key);
            let by_method = settled.iter().position(|(name, _)| name == option.key);
            let value = by_method.map(|at| settled.remove(at).1).or_else(|| own.map(words));
            if let Some(value) = value {
                add(option.name, value, own == default.get(option.key));
            }
            if option.key == "method" {
                let attributes = origin.budget.map(|most| most.to_string());
                let money = self.spent.money.as_ref().map(|money| money.budget.to_string());
                money.or(attributes).into_iter().for_each(|budget| add("budget", budget, false));
            }
        }
        settled.into_iter().for_each(|(name, value)| add(&name, value, true));
        for (name, list) in [("drop", &origin.reading.without), ("na", &origin.reading.missing)] {
            if !list.is_empty() {
                add(name, list.join(", "), false);
            }
        }
        choices
    }
}

/// Returns a value in words.
fn words(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Bool(true) => "yes".into(),
        // Without decimals where there are none.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

/// Returns the parameters that neither the table nor the budget gives: by the keys of [`Choices`] where these
/// decide them, else by their own names.
fn settled(params: &AnyParams) -> Vec<(String, String)> {
    let by_method = params.settled();
    if !by_method.is_empty() {
        return by_method.into_iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
    }
    let Ok(Value::Object(fields)) = serde_json::to_value(params) else { return Vec::new() };
    let given = ["method", "dim", "budget", "money"];
    let own = fields.into_iter().filter(|(name, value)| !given.contains(&&name[..]) && !value.is_null());
    own.map(|(name, value)| (if name == "sparsity" { "longest".into() } else { name }, value.to_string()))
        .collect()
}
