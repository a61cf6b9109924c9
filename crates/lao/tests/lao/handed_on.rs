//! What a model hands on to the fit that repeats it, choice by choice.

use lao::{Budget, Choices, Examples, Fit, Frame, Model, OPTIONS, Price, Prices};
use serde_json::{Map, Value};

/// A value of each option that is not its default, with which the table can be fitted; and the others that it
/// needs.
const CHOSEN: &[(&str, &str)] = &[
    ("method", r#"{"method": "hybrid"}"#),
    ("longest", r#"{"longest": 2}"#),
    ("per_prediction", r#"{"per_prediction": 3.0}"#),
    ("level", r#"{"level": 0.2}"#),
    ("fdr", r#"{"fdr": 0.3}"#),
    ("half_life", r#"{"half_life": 300.0, "in_order": true}"#),
    ("always", r#"{"always": ["c", "e"]}"#),
    ("shape", r#"{"shape": "line"}"#),
    ("holdout", r#"{"holdout": 0.3}"#),
    ("passes", r#"{"passes": 2}"#),
    ("in_order", r#"{"in_order": true}"#),
    ("seed", r#"{"seed": 77}"#),
];

/// A plant's 600 rows: the label is a - b, and noise that is a function of the row.
fn examples() -> Examples {
    let mut rows = String::from("a,b,c,d,e,y\n");
    for i in 0..600u32 {
        let column = |by: u32, of: u32| f64::from(i * by % of) / f64::from(of);
        let values = [column(7, 61), column(11, 53), column(13, 47), column(17, 43), column(19, 41)];
        let label = values[0] - values[1] + 0.1 * column(23, 37);
        rows += &values.map(|value| value.to_string()).join(",");
        rows += &format!(",{label}\n");
    }
    Frame::parse(rows.as_bytes(), "plant.csv", &Default::default()).unwrap().target("y").unwrap()
}

fn made(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// Fits, stores the model, reads it, and repeats the fit of what was read.
fn repeated(fit: &Fit, examples: &Examples) -> (Model, Fit, Model) {
    let model = fit.run(examples).unwrap().model;
    let stored = serde_json::to_string(&model).unwrap();
    let read: Model = serde_json::from_str(&stored).unwrap();
    let again = Fit::again(&read).unwrap();
    let model_again = again.run(examples).unwrap().model;
    (read, again, model_again)
}

#[test]
fn every_choice_reaches_the_fit_that_is_repeated() {
    let examples = examples();
    for option in OPTIONS {
        let row = CHOSEN.iter().find(|(key, _)| *key == option.key);
        let (_, text) = row.unwrap_or_else(|| panic!("`{}` has no row in CHOSEN", option.key));
        let choices = Choices::of(&made(text)).unwrap();
        let default = Choices::default().by_key();
        let key = |choices: &Choices| choices.by_key().get(option.key).cloned();
        assert_ne!(key(&choices), default.get(option.key).cloned(), "{} has its default", option.key);
        let prices = ["a", "b", "c", "d", "e"].map(|name| Price::of(name, 1.0));
        let prices = Prices::new(prices.to_vec()).unwrap();
        let budget = match option.key {
            "per_prediction" => Budget::Money { per_example: 4.0, prices },
            _ => Budget::Attributes(4),
        };
        let fit = Fit::new(budget, choices.clone());
        let (read, again, model) = repeated(&fit, &examples);
        assert_eq!(key(&read.origin.choices), key(&choices), "the model has another `{}`", option.key);
        assert_eq!(model, read, "`{}`: the fit that is repeated gives another model", option.key);
        assert_eq!(again.budget(), fit.budget(), "`{}`", option.key);
    }
    assert_eq!(CHOSEN.len(), OPTIONS.len());
}

#[test]
fn a_choice_that_is_lost_would_show() {
    // Each of the choices changes what is stored: the test above compares something.
    let examples = examples();
    let plain = serde_json::to_value(Fit::within(4).run(&examples).unwrap().model).unwrap();
    for (key, text) in CHOSEN.iter().filter(|(key, _)| *key != "per_prediction") {
        let fit = Fit::new(Budget::Attributes(4), Choices::of(&made(text)).unwrap());
        let model = serde_json::to_value(fit.run(&examples).unwrap().model).unwrap();
        assert_ne!(model, plain, "{key}");
    }
}
