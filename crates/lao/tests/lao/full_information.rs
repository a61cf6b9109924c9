//! Fits at full information: the method `exchange` against the truth, and what it refuses.

use lao::observation::Seed;
use lao::{Examples, Fit, Fitted, Label, Prices, Shape, TableParts};
use rand::RngExt as _;
use std::sync::Arc;

const DIM: usize = 12;

/// Columns of mean 0, but for that of x7, which is 100, and `3 x2 - 2 (x7 - 100)` with noise of variance 1.
fn data(rows: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = Seed::root(5).child("exchange").rng();
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let mean = |j: usize| if j == 7 { 100.0 } else { 0.0 };
    let columns: Vec<Vec<f64>> = (0..DIM).map(|j| (0..rows).map(|_| mean(j) + normal()).collect()).collect();
    let labels = (0..rows).map(|i| 3.0 * columns[2][i] - 2.0 * (columns[7][i] - 100.0) + normal()).collect();
    (columns, labels)
}

fn examples((columns, labels): (Vec<Vec<f64>>, Vec<f64>), label: Label) -> Examples {
    let rows = (0..labels.len() as u32).collect();
    let names = (0..DIM).map(|j| format!("x{j}")).collect();
    let (table, target) = (Arc::new(columns), "y".into());
    Examples::from_table(TableParts { table, name: "t".into(), names, target, label, labels, rows }).unwrap()
}

fn numbers(rows: usize) -> Examples {
    examples(data(rows), Label::Number)
}

fn exchange() -> Fit {
    Fit::within(DIM).method("exchange")
}

#[test]
fn the_data_choose_the_attributes_and_their_number() {
    let Fitted { model, found, .. } = exchange().run(&numbers(600)).unwrap();
    assert!(found);
    assert_eq!(model.columns(), ["x2", "x7"]);
    assert!((model.coefficients[0].value - 3.0).abs() < 0.15, "{model:?}");
    assert!((model.coefficients[1].value + 2.0).abs() < 0.15, "{model:?}");
    assert!((model.coefficients[1].mean - 100.0).abs() < 0.2);
    assert!(model.holdout.as_ref().unwrap().r2() > 0.9);
    // 540 examples, all of their values.
    assert_eq!((model.spent.examples, model.spent.attributes), (540, 540 * DIM as u64));
    // A model says how to learn it again.
    assert_eq!(Fit::again(&model).unwrap().run(&numbers(600)).unwrap().model, model);
}

#[test]
fn a_number_of_attributes_and_columns_that_are_always_there_are_kept() {
    let four = exchange().most_attributes(4).run(&numbers(600)).unwrap().model;
    assert_eq!(four.columns().len(), 4);
    let always = exchange().always(["x5"]).run(&numbers(600)).unwrap().model;
    assert_eq!(always.columns(), ["x2", "x5", "x7"]);
}

#[test]
fn nothing_is_found_where_there_is_nothing() {
    let (columns, labels) = data(600);
    // The labels are those of other rows.
    let labels = labels.into_iter().rev().collect();
    let fitted = exchange().run(&examples((columns, labels), Label::Number)).unwrap();
    assert!(!fitted.found && fitted.model.columns().is_empty());
}

#[test]
fn classes_have_probabilities() {
    let (columns, labels) = data(900);
    let signs = labels.iter().map(|y| if *y > 1.0 { 1.0 } else { -1.0 }).collect();
    let classes = Label::Classes { positive: "ill".into(), negative: "well".into() };
    let model = exchange().run(&examples((columns, signs), classes)).unwrap().model;
    assert!(["x2", "x7"].iter().all(|name| model.columns().contains(name)), "{:?}", model.columns());
    let holdout = model.holdout.as_ref().unwrap();
    assert!(holdout.log_loss.unwrap() < 0.6 * holdout.log_loss_of_share.unwrap(), "{holdout:?}");
}

#[test]
fn weights_count_as_copies() {
    let (mut columns, mut labels) = data(300);
    let fit = exchange().most_attributes(2).holdout(0.0);
    let weights: Vec<f64> = (0..300).map(|i| if i < 50 { 2.0 } else { 1.0 }).collect();
    let weighted = numbers(300).with_weights(&weights).unwrap();
    let weighted = fit.run(&weighted).unwrap().model;
    for column in &mut columns {
        column.extend_from_within(..50);
    }
    labels.extend_from_within(..50);
    let copied = fit.run(&examples((columns, labels), Label::Number)).unwrap().model;
    for (one, other) in weighted.coefficients.iter().zip(&copied.coefficients) {
        assert_eq!(one.column, other.column);
        assert!((one.value - other.value).abs() < 1e-9, "{one:?}, {other:?}");
    }
    assert!((weighted.intercept - copied.intercept).abs() < 1e-7);
}

#[test]
fn examples_with_gaps_are_passed_over() {
    let (mut columns, labels) = data(600);
    columns[0][..200].fill(f64::NAN);
    let fitted = exchange().holdout(0.0).run(&examples((columns, labels), Label::Number)).unwrap();
    assert_eq!((fitted.model.spent.examples, fitted.model.spent.passed_over), (400, 200));
    assert!(fitted.notes[0].contains("`x0` 200 times"), "{:?}", fitted.notes);
}

#[test]
fn a_learner_goes_on_when_it_was_stored() {
    let examples = numbers(600);
    let fit = exchange().holdout(0.0).in_order();
    let parts = examples.split_in_order(0.5).unwrap();
    let learned = fit.run(&parts.train).unwrap().learned;
    let learned = serde_json::from_str(&serde_json::to_string(&learned).unwrap()).unwrap();
    let [resumed, whole] = [fit.resume(learned, &parts.test, |_| {}).unwrap(), fit.run(&examples).unwrap()]
        .map(|fitted| fitted.model);
    assert_eq!((resumed.coefficients, resumed.intercept), (whole.coefficients, whole.intercept));
    assert_eq!(resumed.spent, whole.spent);
}

#[test]
fn what_exchange_cannot_keep_to_is_refused() {
    let examples = numbers(60);
    let refused = |fit: Fit| fit.run(&examples).unwrap_err().to_string();
    let all =
        Prices::parse(&(0..DIM).map(|j| format!("x{j},1\n")).collect::<String>(), "prices.csv").unwrap();
    let with_prices = |money| Fit::within_money(money, all.clone()).method("exchange");
    for (fit, said) in [
        (Fit::within(5).method("exchange"), "all 12 attributes (100%)"),
        (with_prices(11.0), "at least 12, the price of all attributes"),
        (with_prices(12.0).predict_within(3.0), "per_prediction"),
        (exchange().level(0.01), "only the method `pursuit` takes it"),
        (exchange().half_life(50.0), "only the method `pursuit` takes it"),
        (exchange().shape(Shape::Trees), "only the method `pursuit` has trees"),
        (exchange().passes(2), "1 with the method `exchange`"),
    ] {
        let text = refused(fit);
        assert!(text.contains(said), "{text}");
    }
    let paid = with_prices(12.0).run(&numbers(600)).unwrap().model;
    assert_eq!(paid.cost(), Some(2.0));
}
