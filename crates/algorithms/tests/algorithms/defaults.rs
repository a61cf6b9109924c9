//! The practical parameters of every learner are what its documentation says, number by number. A claim that
//! compares methods does not notice if one of them is run at half its step size.

use lao_algorithms::{METHODS, Task};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a default may depend on: `d`, `s`, `s'`, the radius, the number of examples, and the speed.
struct Sizes {
    d: f64,
    s: f64,
    budget: f64,
    radius: f64,
    m: f64,
    speed: f64,
}

/// `C = k (k-1)/(d (d-1))`, the probability that two attributes are among k of d.
fn pair(d: f64, k: f64) -> f64 {
    k * (k - 1.0) / (d * (d - 1.0))
}

/// The step size of AERR with k uniform draws: the theorem's in the unit `|x|^2 = d`, and at least a quarter
/// of the largest that contracts.
fn of_aerr(at: &Sizes, k: f64) -> f64 {
    let Sizes { d, m, speed, .. } = *at;
    let theorem = (k / (2.0 * d * m)).sqrt() / d;
    speed * theorem.max(2.0 * k / (d * d * (d + k)) / 4.0)
}

/// The logarithm of the number of supports of s of d attributes.
fn log_supports(at: &Sizes) -> f64 {
    (0..at.s as u32).map(|i| ((at.d - f64::from(i)) / (at.s - f64::from(i))).ln()).sum()
}

/// A number of a method's parameters, and its default as the method's documentation has it.
type Default = (&'static str, &'static str, fn(&Sizes) -> f64);

const DEFAULTS: &[Default] = &[
    ("pursuit", "level", |_| 0.05),
    ("pursuit", "longest", |at| at.s),
    ("exploration", "step_size", |at| at.speed / 4.0),
    ("exploration", "batch.geometric.first", |at| 10.0 * at.s),
    ("exploration", "batch.geometric.growth", |_| 1.15),
    ("exploitation", "step_size", |at| at.speed / 4.0),
    ("exploitation", "batch.geometric.first", |at| 20.0 * at.s),
    ("exploitation", "batch.geometric.growth", |_| 1.5),
    ("hybrid", "step_size", |at| at.speed / 4.0),
    ("hybrid", "explore_updates", |_| 1.0),
    ("hybrid", "explore_batch.geometric.first", |at| 4.0 * at.s),
    ("hybrid", "explore_batch.geometric.growth", |_| 1.5),
    ("hybrid", "exploit_updates", |_| 3.0),
    ("hybrid", "exploit_batch.geometric.first", |at| 20.0 * at.s),
    ("hybrid", "exploit_batch.geometric.growth", |_| 1.5),
    ("naive", "step_size.inverse.c", |at| 10.0 * at.speed),
    ("naive", "step_size.inverse.offset", |at| 1500.0 * at.d / (at.budget - at.s)),
    ("aerr", "draws", |at| at.budget - 1.0),
    ("aerr", "radius", |at| at.radius),
    ("aerr", "step_size", |at| of_aerr(at, at.budget - 1.0)),
    ("aelr", "draws", |at| at.budget - 1.0),
    ("aelr", "radius", |at| at.radius),
    ("aelr", "step_size", |at| {
        let k = at.budget - 1.0;
        at.speed / at.radius * (k * (2.0 * at.d).ln() / (at.m * (at.d + k - 1.0))).sqrt()
    }),
    ("aesvr", "draws", |at| at.budget - 2.0),
    ("aesvr", "radius", |at| at.radius),
    ("aesvr", "insensitivity", |_| 0.0),
    ("aesvr", "smoothing", |at| 2.0 * at.radius * at.d.sqrt()),
    ("aesvr", "repetitions", |_| 4.0),
    ("aesvr", "step_size", |at| {
        let smoothing = 2.0 * at.radius * at.d.sqrt();
        of_aerr(at, at.budget - 2.0) * smoothing * std::f64::consts::PI.sqrt() / 2.0
    }),
    ("aer", "uniform", |at| (at.budget / 2.0).floor()),
    ("aer", "weighted", |at| (at.budget / 2.0).ceil()),
    ("aer", "radius", |at| at.radius),
    ("aer", "burn_in", |_| 0.0),
    ("aer", "regularization", |at| {
        let (k, Sizes { d, m, speed, .. }) = ((at.budget / 2.0).floor(), at);
        ((1.0 + m.ln()) * d * (d + k) / (k * m)).sqrt() / speed
    }),
    ("rda1", "kept", |at| at.s),
    ("rda1", "radius", |at| at.radius),
    ("rda1", "regularization.power", |_| 0.5),
    ("rda1", "regularization.scale", |at| 1.0 / (at.speed * pair(at.d, at.budget - at.s).sqrt())),
    ("rda2", "radius", |at| at.radius),
    ("rda2", "explore.power", |_| 0.5),
    ("rda2", "explore.scale", |at| 8.0 / (at.speed * pair(at.d, at.budget))),
    ("rda2", "exploit.power", |_| 0.5),
    ("rda2", "exploit.scale", |at| 4.0 / at.speed),
    ("rda3", "radius", |at| at.radius),
    ("rda3", "explore.power", |_| 0.5),
    ("rda3", "explore.scale", |at| 8.0 / (at.speed * pair(at.d, at.budget))),
    ("rda3", "exploit.power", |_| 0.5),
    ("rda3", "exploit.scale", |at| 4.0 / at.speed),
    ("rda3", "penalty", |_| 0.5),
    ("greedy", "radius", |at| at.radius),
    ("greedy", "regularization.power", |_| 0.5),
    ("greedy", "regularization.scale", |at| 4.0 / at.speed),
    ("uniform", "radius", |at| at.radius),
    ("uniform", "regularization.power", |_| 0.5),
    ("uniform", "regularization.scale", |at| 1.0 / (at.speed * pair(at.d, at.budget).sqrt())),
    ("dantzig", "scale", |_| 0.1),
    ("dantzig", "noise", |_| 0.0),
    ("dantzig", "examples", |at| at.m),
    ("omp", "examples", |at| at.m),
    ("fkk", "radius", |at| at.radius),
    ("fkk", "hedge_rate", |at| 16.0 * pair(at.d, at.budget - at.s) * (log_supports(at) / at.m).sqrt()),
    ("fkk", "step_size", |at| at.speed * pair(at.d, at.budget - at.s) / at.m.sqrt()),
    ("online-ridge", "radius", |at| at.radius),
    ("online-ridge", "step_size", |at| at.speed / (4.0 * at.d)),
    ("online-lasso", "radius", |at| at.radius),
    ("online-lasso", "step_size", |at| at.speed / (4.0 * at.d * at.radius)),
];

/// Adds the numbers of a value to the list, each with the path to it. Lists of the start are no defaults.
fn numbers(value: &Value, path: &str, into: &mut BTreeMap<String, f64>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| *name != "start") {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                numbers(value, &path, into);
            }
        }
        Value::Number(number) => drop(into.insert(path.into(), number.as_f64().unwrap())),
        _ => {}
    }
}

#[test]
fn every_default_is_the_number_that_the_documentation_states() {
    // With few examples the step size of AERR is the theorem's, with many the one that contracts.
    for (d, s, budget, radius, m, speed) in
        [(100, 5, 20, Some(3.0), 5000, 2.0), (400, 6, 61, None, 100_000_000, 1.0)]
    {
        let task = Task { dim: d, sparsity: s, budget, radius, examples: m, speed, start: None, money: None };
        let at = Sizes {
            d: d as f64,
            s: s as f64,
            budget: budget as f64,
            radius: radius.unwrap_or(s as f64),
            m: m as f64,
            speed,
        };
        for row in METHODS {
            let params = serde_json::to_value((row.params)(&task).unwrap()).unwrap();
            let mut found = BTreeMap::new();
            numbers(&params, "", &mut found);
            // The task itself.
            for (name, of_task) in [("dim", at.d), ("sparsity", at.s), ("budget", at.budget)] {
                if let Some(value) = found.remove(name) {
                    assert_eq!(value, of_task, "{} {name}", row.name);
                }
            }
            for (_, field, default) in DEFAULTS.iter().filter(|(name, ..)| *name == row.name) {
                let Some(value) = found.remove(*field) else { panic!("{} has no {field}", row.name) };
                let expected = default(&at);
                let close = (value - expected).abs() <= 1e-12 * expected.abs();
                assert!(close, "{} {field}: {value}, and its documentation has {expected}", row.name);
            }
            assert!(found.is_empty(), "{}: no default is stated for {found:?}", row.name);
        }
    }
}
