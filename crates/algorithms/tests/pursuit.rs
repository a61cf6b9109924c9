//! What Pursuit promises beyond its registry row: on raw columns, and with attributes that are constant,
//! equal, of no effect, or always or never in.

use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_datasets::memory::Columns;
use lao_observation::{Budget, Learner, Row, Seed, Session, SessionEnd, SessionLimit};
use rand::RngExt as _;

const ROWS: usize = 3000;

/// Columns in odd units: attribute 0 is constant, 3 equals 2, 5 is rare. The label is
/// `1000 + 2 (x_1 - x_2 / 100) + 3 x_5` and noise of variance 1.
fn raw() -> (usize, Vec<f64>, Vec<f64>) {
    let mut rng = Seed::root(5).rng();
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let mut columns = vec![vec![7.5; ROWS]];
    columns.push((0..ROWS).map(|_| -40.0 + normal()).collect());
    columns.push((0..ROWS).map(|_| 1e4 + 100.0 * normal()).collect());
    columns.push(columns[2].clone());
    columns.push((0..ROWS).map(|_| normal()).collect());
    columns.push((0..ROWS).map(|_| f64::from(u8::from(normal() > 1.5))).collect());
    (6..12).for_each(|_| columns.push((0..ROWS).map(|_| normal()).collect()));
    let effect = |i: usize| 2.0 * (columns[1][i] - columns[2][i] / 100.0) + 3.0 * columns[5][i];
    let labels = (0..ROWS).map(|i| 1000.0 + effect(i) + normal()).collect();
    (columns.len(), columns.concat(), labels)
}

fn learn(params: PursuitParams, values: Vec<f64>, labels: Vec<f64>) -> Pursuit {
    let (dim, budget) = (params.dim, Budget::PerExample(params.budget));
    let mut learner = params.build().unwrap();
    let source = Columns::new(dim, values, labels).unwrap();
    let mut session = Session::new(source, budget, &Seed::root(6));
    let end = session.run(&mut learner, SessionLimit::never(), |_, _| {}).unwrap();
    assert_eq!(end, SessionEnd::Dry);
    learner
}

#[test]
fn raw_columns_give_coefficients_in_their_own_units() {
    let (dim, values, labels) = raw();
    let learner = learn(PursuitParams::within(dim, 6), values, labels);
    let [first, second, third] = learner.support() else { panic!("{:?}", learner.support()) };
    assert_eq!((*first, *third), (1, 5));
    assert!([2, 3].contains(second), "of two equal attributes one is in the predictor");
    for (j, truth) in [(*first, 2.0), (*second, -0.02), (*third, 3.0)] {
        let known = learner.evidence(j).unwrap();
        let distance = (known.coefficient - truth).abs() / known.standard_error;
        assert!(distance < 5.0 && known.standard_error < 0.1 * truth.abs(), "{known:?} for {truth}");
    }
    assert!((learner.noise() - 1.0).abs() < 0.2, "{}", learner.noise());
    assert_eq!(learner.evidence(0).map(|known| (known.z, known.coefficient)), Some((0.0, 0.0)));
    let (attributes, values) = ([1, *second, 5], [-40.0, 1e4, 1.0]);
    let label = learner.apply(Row { attributes: &attributes, values: &values });
    assert!((label - (1000.0 - 80.0 - 200.0 + 3.0)).abs() < 0.5, "{label}");
}

#[test]
fn attributes_are_always_or_never_in_as_asked() {
    let (dim, values, labels) = raw();
    let params = PursuitParams { always: vec![4, 7], never: vec![1], ..PursuitParams::within(dim, 6) };
    let learner = learn(params, values, labels);
    assert!([4, 7].iter().all(|j| learner.support().contains(j)) && !learner.support().contains(&1));
    assert_eq!(learner.evidence(1).map(|known| known.examples), Some(0));
    assert!(learner.evidence(4).is_some_and(|known| known.z.abs() < 5.0));
}

#[test]
fn labels_without_an_attribute_give_an_empty_predictor() {
    let (dim, values, _) = raw();
    let mut rng = Seed::root(8).rng();
    let labels: Vec<f64> = (0..ROWS).map(|_| rng.random::<f64>()).collect();
    let learner = learn(PursuitParams::within(dim, 6), values, labels);
    assert!(learner.support().is_empty() && (learner.intercept() - 0.5).abs() < 0.05);
}

#[test]
fn two_classes_have_probabilities() {
    let (dim, values, _) = raw();
    let mut rng = Seed::root(9).rng();
    let chance = |x: f64| 1.0 / (1.0 + (-2.0 * x).exp());
    let column = |j: usize, i: usize| values[j * ROWS + i];
    let labels = (0..ROWS).map(|i| if rng.random::<f64>() < chance(column(8, i)) { 1.0 } else { -1.0 });
    let labels: Vec<f64> = labels.collect();
    let learner = learn(PursuitParams::within(dim, 6), values.clone(), labels);
    assert_eq!(learner.support(), [8]);
    for x in [-1.0, 0.0, 1.0] {
        let found = learner.probability(Row { attributes: &[8], values: &[x] });
        assert!((found - chance(x)).abs() < 0.1, "{found} for {}", chance(x));
    }
}

#[test]
fn parameters_that_leave_nothing_to_do_are_refused() {
    let within = || PursuitParams::within(4, 2);
    let refused = [
        (PursuitParams { never: vec![0, 1, 2, 3], ..within() }, "never"),
        (PursuitParams { never: vec![1], always: vec![1], ..within() }, "never"),
        (PursuitParams { always: vec![0, 1], ..within() }, "always"),
        (PursuitParams { always: vec![2, 1], ..within() }, "always"),
        (PursuitParams { level: 0.0, ..within() }, "level"),
        (PursuitParams { longest: Some(0), ..within() }, "longest"),
        (PursuitParams::within(4, 0), "budget"),
        (PursuitParams::within(1 << 27, 2), "budget"),
    ];
    for (params, field) in refused {
        assert_eq!(params.clone().build().map(|_| ()).unwrap_err().field, field, "{params:?}");
    }
}
