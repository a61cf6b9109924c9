//! What a safeguard promises for every method: on raw columns, at any speed, it finds something better than
//! the mean of the labels, or says that it found nothing.

use lao_algorithms::{Growth, METHODS, Method, ModelSize, Safeguarded, TableTask, Task};
use lao_datasets::memory::Columns;
use lao_observation::{Learner, Rng, Row, Seed, Session, SessionEnd, SessionLimit};
use rand::RngExt as _;

const ROWS: usize = 12_000;
const DIM: usize = 12;

/// A table column by column, and its labels.
#[derive(Clone)]
struct Data {
    columns: Vec<Vec<f64>>,
    labels: Vec<f64>,
}

fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Columns as tables have them: all share a factor, some have heavy tails, one is constant, one rare, units
/// differ by ten orders of magnitude. `signal` scales what the label owes to columns 1, 5 and 9.
fn table(signal: f64, seed: u64) -> Data {
    let mut rng = Seed::root(seed).child("table").rng();
    let factor: Vec<f64> = (0..ROWS).map(|_| normal(&mut rng)).collect();
    let mut plain: Vec<Vec<f64>> = Vec::new();
    for j in 0..DIM {
        let mut value = |f: f64| {
            let x = 0.6 * f + 0.8 * normal(&mut rng);
            match j {
                0 => 0.0,
                2 | 5 => x * (0.7 * normal(&mut rng)).exp(),
                3 => f64::from(u8::from(x > 2.0)),
                _ => x,
            }
        };
        plain.push(factor.iter().map(|&f| value(f)).collect());
    }
    let label = |i: usize| signal * (plain[1][i] - plain[5][i] + 0.5 * plain[9][i]);
    let labels = (0..ROWS).map(|i| 5e4 + 300.0 * (label(i) + normal(&mut rng))).collect();
    let unit = |j: usize| 10f64.powi(j as i32 - 5);
    let columns = plain
        .into_iter()
        .enumerate()
        .map(|(j, column)| column.into_iter().map(|x| unit(j) * (x + 20.0)).collect());
    Data { columns: columns.collect(), labels }
}

/// Returns the methods that need a safeguard.
fn guarded() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|method| !method.learns_scales)
}

fn task(method: &Method) -> Task {
    let sparsity = if method.growth == Growth::Exponential { 2 } else { 3 };
    Task { dim: DIM, sparsity, budget: 7, ..Task::default() }
}

fn learn(method: &Method, task: &Task, data: &Data) -> Safeguarded {
    let mut learner = method.safeguarded(task).unwrap();
    let source = Columns::new(DIM, data.columns.concat(), data.labels.clone()).unwrap();
    let mut session = Session::new(source, (method.budget)(task), &Seed::root(2));
    let end = session.run(&mut learner, SessionLimit::never(), |_, _| {});
    assert!(matches!(end, Ok(SessionEnd::Dry | SessionEnd::Finished)), "{}: {end:?}", method.name);
    learner
}

fn predict(learner: &Safeguarded, data: &Data, row: usize) -> f64 {
    let attributes: Vec<u32> = (0..DIM as u32).collect();
    let values: Vec<f64> = data.columns.iter().map(|column| column[row]).collect();
    learner.apply(Row { attributes: &attributes, values: &values })
}

/// The mean squared error on a table, as a part of that of the mean of the labels.
fn relative_error(learner: &Safeguarded, data: &Data) -> f64 {
    let mean = data.labels.iter().sum::<f64>() / ROWS as f64;
    let square = |error: f64| error * error;
    let error: f64 = (0..ROWS).map(|i| square(predict(learner, data, i) - data.labels[i])).sum();
    error / data.labels.iter().map(|y| square(y - mean)).sum::<f64>()
}

#[test]
fn on_raw_columns_every_method_beats_the_mean_or_says_that_it_found_nothing() {
    let (train, test) = (table(1.0, 1), table(1.0, 2));
    let mut found = Vec::new();
    for method in guarded() {
        for speed in [1.0, 1e3] {
            let learner = learn(method, &Task { speed, ..task(method) }, &train);
            let error = relative_error(&learner, &test);
            let what = format!("{} at speed {speed}: relative error {error}", method.name);
            if learner.found() {
                assert!(error < 1.0, "{what}");
                found.push(method.name);
            } else {
                assert!(learner.coefficients().is_empty() && error < 1.01, "{what}");
            }
        }
    }
    // Most of them do find something, and the gradient methods do so at any speed.
    assert!(found.len() > METHODS.len(), "{found:?}");
    for name in ["exploration", "hybrid"] {
        assert_eq!(found.iter().filter(|other| **other == name).count(), 2, "{name}");
    }
}

#[test]
fn steps_that_are_too_large_are_halved() {
    let train = table(1.0, 3);
    for name in ["exploration", "hybrid", "naive"] {
        let method = lao_algorithms::registry::method(name).unwrap();
        let learner = learn(method, &Task { speed: 1e3, ..task(method) }, &train);
        assert!(learner.restarts() > 0 && learner.speed() < 1e3, "{name}: {}", learner.restarts());
    }
}

#[test]
fn labels_without_an_attribute_give_the_mean() {
    for seed in 10..13 {
        let (train, test) = (table(0.0, seed), table(0.0, seed + 100));
        for method in guarded() {
            let learner = learn(method, &task(method), &train);
            let error = relative_error(&learner, &test);
            // Chance may find something, which then must be small.
            assert!(error < 1.02, "{} with seed {seed}: {error}", method.name);
        }
    }
}

/// The same table in other units, and with other origins.
fn in_other_units(data: &Data, shift: f64) -> Data {
    let mut other = data.clone();
    for (j, column) in other.columns.iter_mut().enumerate() {
        let scale = 2f64.powi(3 * j as i32 - 20);
        column.iter_mut().for_each(|x| *x = scale * (*x + shift * j as f64));
    }
    other.labels.iter_mut().for_each(|y| *y = 1024.0 * *y - 1e4 * shift);
    other
}

#[test]
fn units_change_nothing_but_units() {
    let data = table(1.0, 5);
    let other = in_other_units(&data, 0.0);
    for method in guarded() {
        let (one, two) = (learn(method, &task(method), &data), learn(method, &task(method), &other));
        assert_eq!(one.found(), two.found(), "{}", method.name);
        // Powers of two leave all bits but the exponents.
        for row in 0..20 {
            let (a, b) = (predict(&one, &data, row), predict(&two, &other, row) / 1024.0);
            assert!((a - b).abs() < 1e-6, "{}: {a} and {b}; labels vary by 300", method.name);
        }
    }
}

#[test]
fn origins_change_nothing_but_the_intercept() {
    let data = table(1.0, 5);
    let other = in_other_units(&data, 100.0);
    for method in guarded() {
        let (one, two) = (learn(method, &task(method), &data), learn(method, &task(method), &other));
        assert_eq!(one.found(), two.found(), "{}", method.name);
        // Rounding may turn a draw by weight, so that two runs differ as if their seeds did.
        let (a, b) = (relative_error(&one, &data), relative_error(&two, &other));
        assert!((a - b).abs() < 0.15, "{}: {a} and {b}", method.name);
    }
}

#[test]
fn a_stored_run_goes_on_with_the_same_bits() {
    let data = table(1.0, 6);
    let source = || Columns::new(DIM, data.columns.concat(), data.labels.clone()).unwrap();
    for method in guarded() {
        let (task, limit) = (task(method), SessionLimit::after_examples(4000));
        let mut straight = method.safeguarded(&task).unwrap();
        let mut session = Session::new(source(), (method.budget)(&task), &Seed::root(2));
        let mut stored = None;
        for examples in [31, 777, 1801] {
            session.run(&mut straight, SessionLimit::after_examples(examples), |_, _| {}).unwrap();
            stored = Some(serde_json::to_string(&(session.checkpoint(), &straight)).unwrap());
        }
        session.run(&mut straight, limit, |_, _| {}).unwrap();
        let (checkpoint, mut resumed): (_, Safeguarded) = serde_json::from_str(&stored.unwrap()).unwrap();
        let mut session = Session::resume(source(), checkpoint).unwrap();
        session.run(&mut resumed, limit, |_, _| {}).unwrap();
        let text = |learner: &Safeguarded| serde_json::to_string(learner).unwrap();
        assert!(text(&resumed) == text(&straight), "{}", method.name);
    }
}

#[test]
fn a_refit_makes_more_of_the_same_examples() {
    let method = lao_algorithms::registry::method("hybrid").unwrap();
    let data = table(2.0, 7);
    let learner = learn(method, &task(method), &data);
    assert_eq!(learner.coefficients().indices(), [1, 5, 9]);
    let noise = 1.0 / (1.0 + 4.0 * 2.0);
    assert!(relative_error(&learner, &table(2.0, 8)) < 2.0 * noise);
}

#[test]
fn a_table_has_a_safeguard_unless_the_method_learns_scales() {
    for method in METHODS.iter().filter(|method| method.model != ModelSize::Dense) {
        let (learner, _) = method.for_table(&TableTask::within(DIM, 7)).unwrap();
        assert_eq!(learner.is_safeguarded(), !method.learns_scales, "{}", method.name);
        assert_eq!(method.safeguarded(&task(method)).is_err(), method.learns_scales, "{}", method.name);
    }
}

#[test]
fn a_safeguard_refuses_what_its_method_refuses() {
    for method in guarded() {
        let wrong = Task { budget: DIM + 1, sparsity: DIM + 1, ..task(method) };
        let refused = [method.safeguarded(&wrong).is_err(), method.build(&wrong).is_err()];
        assert_eq!(refused[0], refused[1], "{}", method.name);
    }
}
