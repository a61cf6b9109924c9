//! What the user of a fit chooses: one list for Rust, the command, live studies, Python and model files.
//!
//! A new choice is a field of [`Choices`] with its default, a row of [`OPTIONS`] and a function of
//! [`Fit`](crate::Fit); the command makes its option from the row.

use crate::error::Error;
use crate::prices::Prices;
use lao_algorithms::phases::Shape;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What may be bought of an example.
///
/// ```
/// use lao::{Budget, Prices};
///
/// assert_eq!(Budget::parse("5%", None, 60)?, Budget::Attributes(3));
/// let prices = Prices::parse("age,0\nscan,40\n", "prices.csv")?;
/// assert_eq!(Budget::parse("45.5", Some(prices), 2)?.money(), Some(45.5));
/// assert!(Budget::parse("lots", None, 60).unwrap_err().to_string().contains("budget = lots"));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Budget {
    /// A number of attributes; more than there are count as all. A column of words counts once with methods
    /// that [take prices](lao_algorithms::registry::Method::prices), and each of its words with the others.
    Attributes(usize),
    /// An amount of money.
    Money {
        /// The money for one example, in the unit of the prices.
        per_example: f64,
        /// What the columns cost.
        prices: Prices,
    },
}

impl Budget {
    /// Reads a budget: with prices an amount of money, and without them a number of attributes, or a share of
    /// the `columns`, such as `5%`.
    ///
    /// # Errors
    /// When the text is none of these.
    pub fn parse(text: &str, prices: Option<Prices>, columns: usize) -> Result<Self, Error> {
        let refused = |allowed: &str| {
            let (value, allowed) = (text.into(), allowed.into());
            Err(Error::Choice { what: "budget", value, allowed })
        };
        match prices {
            Some(prices) => match text.trim().parse() {
                Ok(per_example) => Ok(Budget::Money { per_example, prices }),
                Err(_) => refused("with prices, give the money for an example, such as 60"),
            },
            // More attributes than there are numbers for are all of them.
            None if text.trim().len() > 18 && text.trim().bytes().all(|byte| byte.is_ascii_digit()) => {
                Ok(Budget::Attributes(usize::MAX))
            }
            None => match (text.trim().parse(), share(text)) {
                (Ok(number), _) => Ok(Budget::Attributes(number)),
                (_, Some(share)) => Ok(Budget::Attributes((columns as f64 * share).ceil() as usize)),
                _ => refused("give a number of attributes, such as 12, or a share of them, such as 10%"),
            },
        }
    }

    /// Returns the money for an example, if the budget is money.
    pub fn money(&self) -> Option<f64> {
        match self {
            Budget::Attributes(_) => None,
            Budget::Money { per_example, .. } => Some(*per_example),
        }
    }
}

/// What can be chosen beside the [budget](Budget): [`OPTIONS`] lists purpose, default and range of each.
///
/// ```
/// use lao::{Budget, Choices, Fit};
///
/// let choices = Choices { level: Some(0.01), seed: 7, ..Choices::default() };
/// let fit = Fit::new(Budget::Attributes(12), choices);
/// // The same:
/// let fit = Fit::within(12).level(0.01).seed(7);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// The name of the method in the registry.
    pub method: String,
    /// The money that a prediction may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_prediction: Option<f64>,
    /// The largest number of attributes of the predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<usize>,
    /// The probability that the predictor ever has an attribute without effect, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// In the place of the level: the expected share of attributes without effect among those that the
    /// predictor ever has, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fdr: Option<f64>,
    /// The columns that the predictor always has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
    /// What the predictor may be.
    #[serde(skip_serializing_if = "is_auto")]
    pub shape: Shape,
    /// The number of further examples that halve the weight of an example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    /// The share of the examples that is held out.
    pub holdout: f64,
    /// How often the examples are gone through.
    pub passes: u64,
    /// Whether the examples come in the order of the table, and the last ones are held out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_order: bool,
    /// The seed from which all draws descend.
    pub seed: u64,
}

impl Default for Choices {
    fn default() -> Self {
        Choices {
            method: "pursuit".into(),
            per_prediction: None,
            longest: None,
            level: None,
            fdr: None,
            always: Vec::new(),
            shape: Shape::Auto,
            half_life: None,
            holdout: 0.1,
            passes: 1,
            in_order: false,
            seed: 1,
        }
    }
}

/// An option of a fit: how users meet a field of [`Choices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceOption {
    /// The field of [`Choices`], and its key in files.
    pub key: &'static str,
    /// The option of the command, without its dashes.
    pub name: &'static str,
    /// The parameter of Python's estimators.
    pub python: &'static str,
    /// The form of its value.
    pub form: Form,
    /// What the value is, in one word for the command's help.
    pub value: &'static str,
    /// What the option does: a sentence that begins with an imperative, without its full stop.
    pub purpose: &'static str,
    /// What happens without it; empty where this is nothing.
    pub default: &'static str,
    /// The values that are allowed.
    pub range: &'static str,
    /// Why live studies do not have it; `None` if they do.
    pub not_in_studies: Option<&'static str>,
}

/// The form of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A whole number of at least 0.
    Count,
    /// A finite number.
    Number,
    /// A share: 5% or 0.05.
    Share,
    /// A word.
    Word,
    /// Words, one for each time that the option is given.
    Words,
    /// No value: the option is there, or not.
    Switch,
}

/// Makes [`OPTIONS`] and its table from rows.
macro_rules! options {
    ($($key:literal, $name:literal, $python:literal, $form:ident $value:literal {
        $purpose:literal, default $default:literal, range $range:literal $(, not in studies: $why:literal)?
    })+) => {
        /// The options of a fit beside budget and prices. The command, live studies and Python offer all of
        /// them; tests hold them to this list.
        ///
        /// | name | default | purpose | range |
        /// |---|---|---|---|
        $(#[doc = concat!(
            "| `--", $name, "`, `", $python, "` | ", $default, " | ", $purpose, " | ", $range, " |"
        )])+
        pub const OPTIONS: &[ChoiceOption] = &[$(ChoiceOption {
            key: $key,
            name: $name,
            python: $python,
            form: Form::$form,
            value: $value,
            purpose: $purpose,
            default: $default,
            range: $range,
            not_in_studies: [$(Some($why),)? None][0],
        },)+];
    };
}

options! {
    "method", "method", "method", Word "METHOD" {
        "Use this method; `lao methods` lists them", default "pursuit", range "a method with a sparse model",
        not in studies: "a study asks as Pursuit does"
    }
    "longest", "most-attributes", "most_attributes", Count "N" {
        "Keep at most this number of attributes in the model",
        default "four fifths of the budget; half of it for other methods than pursuit; what the data choose \
                 for exchange",
        range "from 1"
    }
    "per_prediction", "predict-budget", "predict_budget", Number "MONEY" {
        "Spend at most this amount of money per prediction; this needs prices",
        default "about four fifths of the budget", range "what buys an attribute"
    }
    "level", "level", "level", Share "P%" {
        "Bound the probability that the model ever includes an irrelevant attribute",
        default "5%", range "above 0% and below 100%"
    }
    "fdr", "fdr", "fdr", Share "P%" {
        "Bound the expected share of irrelevant attributes among those that the model ever includes, in the \
         place of the level; it finds more where many attributes matter",
        default "", range "above 0% and below 100%"
    }
    "half_life", "half-life", "half_life", Number "N" {
        "Halve the weight of an example after N further examples, for coefficients that drift; the examples \
         are then taken in the order of the table",
        default "all examples have the same weight", range "from 20"
    }
    "always", "always", "always", Words "COLUMN" {
        "Include this column in every model; can be given more than once", default "", range "an attribute"
    }
    "shape", "shape", "shape", Word "SHAPE" {
        "Predict by a line, by trees, or by what the data choose; pursuit then buys the best attributes \
         complete once it has found them",
        default "auto", range "line, auto or trees"
    }
    "holdout", "holdout", "holdout", Share "P%" {
        "Hold out this share of the examples to measure the error",
        default "10%", range "from 0% to below 100%",
        not in studies: "a study learns from every example"
    }
    "passes", "passes", "passes", Count "N" {
        "Pass over the examples this number of times; more than one pass makes standard errors too small",
        default "1", range "from 1",
        not in studies: "a study sees each example once"
    }
    "in_order", "in-order", "shuffle", Switch "" {
        "Take the examples in the order of the table, and hold out the last ones; use it if rows follow one \
         another in time",
        default "random order", range "",
        not in studies: "the examples of a study have the order in which they come"
    }
    "seed", "seed", "random_state", Count "N" {
        "Derive all random draws from this seed", default "1", range "from 0 to 2^64 - 1"
    }
}

impl ChoiceOption {
    /// Reads the value of the option from a text.
    ///
    /// # Errors
    /// When it has another form; the message says what to give.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let finite = || text.parse().ok().filter(|number: &f64| number.is_finite());
        let (value, wanted) = match self.form {
            Form::Count => (text.parse::<u64>().ok().map(Value::from), "a whole number"),
            Form::Number => (finite().map(Value::from), "a finite number"),
            Form::Share => (share(text).map(Value::from), "a share such as 10% or 0.1"),
            Form::Word | Form::Words => (Some(Value::from(text)), "a word"),
            Form::Switch => (text.parse::<bool>().ok().map(Value::from), "true or false"),
        };
        value.ok_or_else(|| format!("give {wanted}"))
    }
}

impl Choices {
    /// Returns the choices in which these are made, by [key](ChoiceOption::key), and the others are the
    /// defaults.
    ///
    /// ```
    /// let made = serde_json::json!({ "level": 0.01, "always": ["age"] });
    /// let choices = lao::Choices::of(made.as_object().unwrap())?;
    /// assert_eq!((choices.level, choices.always, choices.seed), (Some(0.01), vec!["age".to_owned()], 1));
    ///
    /// let made = serde_json::json!({ "passes": -3 });
    /// let refused = lao::Choices::of(made.as_object().unwrap()).unwrap_err().to_string();
    /// assert_eq!(refused, "passes = -3: give a whole number, from 1");
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such choice, or its value has another form.
    pub fn of(made: &Map<String, Value>) -> Result<Self, Error> {
        for (key, value) in made {
            let Some(option) = OPTIONS.iter().find(|option| option.key == key) else {
                let names: Vec<&str> = OPTIONS.iter().map(|option| option.key).collect();
                let allowed = format!("there is no such choice; the choices are {}", names.join(", "));
                return Err(Error::Choice { what: "choice", value: key.clone(), allowed });
            };
            let alone = Map::from_iter([(key.clone(), value.clone())]);
            if serde_json::from_value::<Choices>(Value::Object(alone)).is_err() {
                let wanted = match option.form {
                    Form::Count => "a whole number",
                    Form::Number => "a finite number",
                    Form::Share => "a share, such as 0.1",
                    Form::Word => "a word",
                    Form::Words => "a list of words",
                    Form::Switch => "true or false",
                };
                let range =
                    if option.range.is_empty() { String::new() } else { format!(", {}", option.range) };
                let (value, allowed) = (value.to_string(), format!("give {wanted}{range}"));
                return Err(Error::Choice { what: option.name, value, allowed });
            }
        }
        serde_json::from_value(Value::Object(made.clone())).map_err(|error| {
            let allowed = "this is a bug of lao; please report it".into();
            Error::Choice { what: "choices", value: error.to_string(), allowed }
        })
    }

    /// Returns the choices by [key](ChoiceOption::key); what was left to the method is absent.
    pub fn by_key(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }

    /// Refuses choices of a fit within `budget` that no method can keep to.
    pub(crate) fn check(&self, budget: &Budget) -> Result<(), Error> {
        let refuse =
            |what, value: String, allowed: &str| Err(Error::Choice { what, value, allowed: allowed.into() });
        if *budget == Budget::Attributes(0) {
            return refuse("budget", "0".into(), "at least one attribute per example");
        }
        if let (Some(money), None) = (self.per_prediction, budget.money()) {
            let allowed = "it needs prices; without them `most-attributes` limits the attributes of a \
                           prediction";
            return refuse("predict-budget", money.to_string(), allowed);
        }
        if !(0.0..1.0).contains(&self.holdout) {
            return refuse("holdout", self.holdout.to_string(), "a share of at least 0 and below 1");
        }
        if self.passes == 0 {
            return refuse("passes", "0".into(), "at least one pass");
        }
        if self.shape == Shape::Trees && (self.passes > 1 || self.half_life.is_some()) {
            let allowed = "line or auto: trees are learned in one pass, without a half-life";
            return refuse("shape", "trees".into(), allowed);
        }
        Ok(())
    }
}

fn is_auto(shape: &Shape) -> bool {
    *shape == Shape::Auto
}

/// Reads a share, with or without a percent sign.
fn share(text: &str) -> Option<f64> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().ok()? * unit;
    (0.0..=1.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_an_option_and_every_option_a_field() {
        let all = Choices {
            per_prediction: Some(1.0),
            longest: Some(1),
            level: Some(0.1),
            fdr: Some(0.2),
            always: vec!["a".into()],
            shape: Shape::Line,
            half_life: Some(20.0),
            in_order: true,
            ..Choices::default()
        };
        let mut fields: Vec<String> = all.by_key().into_iter().map(|(key, _)| key).collect();
        let mut options: Vec<&str> = OPTIONS.iter().map(|option| option.key).collect();
        fields.sort_unstable();
        options.sort_unstable();
        assert_eq!(fields, options);
        assert_eq!(Choices::of(&all.by_key()).unwrap(), all);
    }

    #[test]
    fn the_defaults_that_are_written_are_those_in_use() {
        let default = Choices::default().by_key();
        for option in OPTIONS {
            if let Ok(written) = option.read(option.default).map_err(|_| ())
                && option.form != Form::Words
                && !["level", "shape"].contains(&option.key)
            {
                assert_eq!(default.get(option.key), Some(&written), "{}", option.name);
            }
        }
    }
}
