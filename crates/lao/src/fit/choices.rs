//! The choices with which a model was learned: those of its user, and those of lao.

use super::Fit;
use crate::model::Model;
use lao_algorithms::AnyParams;
use lao_algorithms::pursuit::PursuitParams;
use serde_json::Value;

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

/// An option of a fit. The command, live studies and Python offer all of them; tests hold them to this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceOption {
    /// The option of `lao fit`, without its dashes.
    pub name: &'static str,
    /// The parameter of Python's estimators.
    pub python: &'static str,
    /// Why live studies do not have it; `None` if they do.
    pub not_in_studies: Option<&'static str>,
}

/// The options of a fit.
pub const OPTIONS: [ChoiceOption; 12] = {
    const fn everywhere(name: &'static str, python: &'static str) -> ChoiceOption {
        ChoiceOption { name, python, not_in_studies: None }
    }
    const fn of_tables(name: &'static str, python: &'static str, why: &'static str) -> ChoiceOption {
        ChoiceOption { name, python, not_in_studies: Some(why) }
    }
    [
        everywhere("budget", "budget"),
        everywhere("prices", "prices"),
        everywhere("predict-budget", "predict_budget"),
        everywhere("most-attributes", "most_attributes"),
        everywhere("level", "level"),
        everywhere("always", "always"),
        everywhere("half-life", "half_life"),
        everywhere("seed", "random_state"),
        of_tables("method", "method", "a study asks as Pursuit does"),
        of_tables("holdout", "holdout", "a study learns from every example"),
        of_tables("passes", "passes", "a study sees each example once"),
        of_tables("in-order", "shuffle", "the examples of a study have the order in which they come"),
    ]
};

impl Model {
    /// Returns the choices with which the model was learned. `lao fit --like` makes all of them again, and
    /// [`Fit::again`] all but `drop` and `na`, which say [how the table was read](crate::Reading).
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
    /// assert!(of("most-attributes").automatic && of("most-attributes").value == "1");
    /// assert!(!of("seed").automatic && of("seed").value == "7");
    /// # Ok::<(), lao::Error>(())
    /// ```
    pub fn choices(&self) -> Vec<Choice> {
        let (origin, default) = (&self.origin, Fit::within(1));
        let mut choices = Vec::new();
        let mut add = |name: &str, value: String, automatic: bool| {
            choices.push(Choice { name: name.into(), value, automatic });
        };
        add("method", origin.method.clone(), origin.method == default.method);
        match (&self.spent.money, origin.budget) {
            (Some(money), _) => add("budget", money.budget.to_string(), false),
            (None, Some(budget)) => add("budget", budget.to_string(), false),
            (None, None) => {}
        }
        match &origin.parameters {
            AnyParams::Pursuit(params) => {
                add("most-attributes", params.largest_support().to_string(), origin.longest.is_none());
                if self.spent.money.is_some() {
                    let money = params.most_per_prediction().to_string();
                    add("predict-budget", money, origin.per_prediction.is_none());
                }
                add("level", params.level.to_string(), params.level == PursuitParams::within(1, 1).level);
                if let Some(examples) = params.half_life {
                    add("half-life", examples.to_string(), false);
                }
            }
            params => {
                for (name, value) in fields(params) {
                    match &name[..] {
                        "sparsity" => add("most-attributes", value, origin.longest.is_none()),
                        _ => add(&name, value, true),
                    }
                }
            }
        }
        let lists =
            [("always", &origin.always), ("drop", &origin.reading.without), ("na", &origin.reading.missing)];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            add(name, list.join(", "), false);
        }
        // A live study holds out nothing, and has each example once, in its order.
        if origin.journal.is_none() {
            add("holdout", origin.holdout.to_string(), origin.holdout == default.holdout);
            add("passes", origin.passes.to_string(), origin.passes == default.passes);
            if origin.in_order {
                add("in-order", "yes".into(), false);
            }
        }
        add("seed", origin.seed.to_string(), origin.seed == default.seed);
        choices
    }
}

/// Returns the parameters of a method that neither the table nor the budget gives.
fn fields(params: &AnyParams) -> Vec<(String, String)> {
    let Ok(Value::Object(fields)) = serde_json::to_value(params) else { return Vec::new() };
    let given = ["method", "dim", "budget", "money"];
    let own = fields.into_iter().filter(|(name, value)| !given.contains(&&name[..]) && !value.is_null());
    own.map(|(name, value)| (name, value.to_string())).collect()
}
