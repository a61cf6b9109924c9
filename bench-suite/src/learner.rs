//! The learners of a scenario.

use crate::offline::{OfflineOnRows, Penalty, RowsBought};
use anyhow::{Context as _, bail};
use lao_algorithms::{AnyParams, METHODS, Method, Money, Task, registry};
use lao_observation::{Budget, Learner};
use serde::Deserialize;
use toml::Value;

/// A learner of a scenario: a name, a method, and those of its parameters that differ from the practical
/// ones.
///
/// The practical parameters follow from a [`Task`]: `dim` and `budget` are those of the scenario; `sparsity`,
/// `radius`, `speed` and `examples` can be given beside the parameters. The default sparsity is half of the
/// budget. A key of the task that does not change the method's parameters is refused. With `safeguard = true`
/// the method finds its scales and step size, and only the keys of the task may be given. The methods
/// `lasso` and `ridge` are [`OfflineOnRows`]; their keys are `rows` and `longest`.
///
/// A key whose value is a table with the single key `grid`, a list, is tuned by scenarios that tune:
/// [`candidates`](Self::candidates) returns a learner for each combination of values.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct LearnerSpec {
    /// The name of the learner in the scenario.
    pub name: String,
    method: String,
    given: toml::Table,
    /// The number of examples that it is told, if the scenario decides it.
    told: Option<u64>,
}

/// A learner of a scenario, with the budget that it must keep to.
pub struct Contender {
    /// The learner.
    pub learner: Box<dyn Learner>,
    /// The limit that its session enforces.
    pub budget: Budget,
}

/// The fields of a [`Task`] that a learner may give.
#[derive(Deserialize)]
struct OwnTask {
    sparsity: Option<usize>,
    radius: Option<f64>,
    speed: Option<f64>,
    examples: Option<u64>,
}

/// The fields of the methods `lasso` and `ridge`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Offline {
    rows: RowsBought,
    /// The largest number of attributes of the predictor; `None` is no limit.
    longest: Option<usize>,
}

const TASK: [&str; 4] = ["sparsity", "radius", "speed", "examples"];

impl TryFrom<toml::Table> for LearnerSpec {
    type Error = String;

    fn try_from(mut given: toml::Table) -> Result<Self, String> {
        let mut text = |key: &str| match given.remove(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text),
            _ => Err(format!("a learner needs the key `{key}`, whose value is a string")),
        };
        let (name, method) = (text("name")?, text("method")?);
        Ok(LearnerSpec { name, method, given, told: None })
    }
}

/// Returns the values of each `{ grid = [...] }` in a table, with the path of keys that leads to it.
fn grids(given: &toml::Table) -> Vec<(Vec<String>, Vec<Value>)> {
    let mut found = Vec::new();
    for (key, value) in given {
        let Value::Table(inner) = value else { continue };
        match inner.get("grid") {
            Some(Value::Array(values)) if inner.len() == 1 => found.push((vec![key.clone()], values.clone())),
            _ => found.extend(grids(inner).into_iter().map(|(mut path, values)| {
                path.insert(0, key.clone());
                (path, values)
            })),
        }
    }
    found
}

/// Puts a value in the place of a grid.
fn put(given: &mut toml::Table, path: &[String], value: &Value) {
    match path {
        [] => {}
        [key] => {
            given.insert(key.clone(), value.clone());
        }
        [key, rest @ ..] => {
            if let Some(Value::Table(inner)) = given.get_mut(key) {
                put(inner, rest, value);
            }
        }
    }
}

impl LearnerSpec {
    /// Returns the learner that is told the number of examples.
    pub fn told(&self, examples: u64) -> LearnerSpec {
        LearnerSpec { told: Some(examples), ..self.clone() }
    }

    /// Returns a learner for each combination of the values of its grids, with these values in words; the
    /// learner alone, and no words, if it has no grid.
    pub fn candidates(&self) -> Vec<(LearnerSpec, String)> {
        let mut found = vec![(self.clone(), String::new())];
        for (path, values) in grids(&self.given) {
            let with = |(spec, words): &(LearnerSpec, String)| {
                let (spec, words) = (spec.clone(), words.clone());
                let name = path.join(".");
                values
                    .iter()
                    .map(|value| {
                        let mut spec = spec.clone();
                        put(&mut spec.given, &path, value);
                        let comma = if words.is_empty() { "" } else { ", " };
                        (spec, format!("{words}{comma}{name} = {value}"))
                    })
                    .collect::<Vec<_>>()
            };
            found = found.iter().flat_map(with).collect();
        }
        found
    }

    /// Returns a fresh learner over `dim` attributes within `budget`, and within the money, if attributes
    /// have prices.
    ///
    /// # Errors
    /// When there is no such method, the parameters do not fit it, or it knows no prices.
    pub fn build(&self, dim: usize, budget: usize, money: Option<&Money>) -> anyhow::Result<Contender> {
        self.contender(dim, budget, money).with_context(|| format!("learner {}", self.name))
    }

    fn contender(&self, dim: usize, budget: usize, money: Option<&Money>) -> anyhow::Result<Contender> {
        let penalty = match self.method.as_str() {
            "lasso" => Some(Penalty::Lasso),
            "ridge" => Some(Penalty::Ridge),
            _ => None,
        };
        if let Some(penalty) = penalty {
            let Offline { rows, longest } = self.given.clone().try_into()?;
            let share = match money {
                Some(Money { tariff, per_example, .. }) => tariff.prices().iter().sum::<f64>() / per_example,
                None => dim as f64 / budget.max(1) as f64,
            };
            let learner = OfflineOnRows::new(penalty, dim, share, rows, longest.unwrap_or(dim));
            return Ok(Contender { budget: learner.budget(), learner: Box::new(learner) });
        }
        let Some(row) = registry::method(&self.method) else {
            let known: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
            bail!("no method is named `{}`; the methods are lasso, ridge, {}", self.method, known.join(", "))
        };
        let mut within = Budget::PerExample(budget);
        let mut given = self.given.clone();
        if let Some(money) = money {
            within = Budget::Priced { per_example: money.per_example };
        }
        let task = |given: &toml::Table| {
            let task = task(given, dim, budget, money)?;
            anyhow::Ok(Task { examples: self.told.unwrap_or(task.examples), ..task })
        };
        match given.remove("safeguard") {
            Some(Value::Boolean(true)) => {
                if let Some(key) = given.keys().find(|key| !TASK.contains(&key.as_str())) {
                    bail!(
                        "`{key}` cannot be given beside `safeguard`, which chooses it; allowed are {TASK:?}"
                    )
                }
                refuse_unused(row, &given, task)?;
                let learner = row.safeguarded(&task(&given)?)?;
                Ok(Contender { learner: Box::new(learner), budget: within })
            }
            None | Some(Value::Boolean(false)) => {
                refuse_unused(row, &given, task)?;
                let learner = params(row, &given, &task(&given)?)?.build()?;
                Ok(Contender { learner: Box::new(learner), budget: within })
            }
            Some(other) => bail!("safeguard = {other}: give true or false"),
        }
    }
}

fn task(given: &toml::Table, dim: usize, budget: usize, money: Option<&Money>) -> anyhow::Result<Task> {
    let own: OwnTask = given.clone().try_into()?;
    let (sparsity, money) = (budget.div_ceil(2), money.cloned());
    let mut task = Task { dim, budget, sparsity, money, ..Task::default() };
    task.radius = own.radius;
    task.sparsity = own.sparsity.unwrap_or(task.sparsity);
    task.speed = own.speed.unwrap_or(task.speed);
    task.examples = own.examples.unwrap_or(task.examples);
    Ok(task)
}

/// Refuses a key of the task on which the parameters do not depend, because the method does not use it or
/// because another key takes its place: a scenario would state what has no effect.
fn refuse_unused(
    row: &Method,
    given: &toml::Table,
    task: impl Fn(&toml::Table) -> anyhow::Result<Task>,
) -> anyhow::Result<()> {
    // Parameters that are not allowed are refused when the learner is built, with a better message.
    let chosen = |given: &toml::Table| params(row, given, &task(given).ok()?).ok();
    let Some(as_given) = chosen(given) else { return Ok(()) };
    for key in TASK {
        let Some(value) = given.get(key) else { continue };
        let changed = |other: Value| {
            let mut given = given.clone();
            given.insert(key.into(), other);
            chosen(&given)
        };
        let others: Vec<AnyParams> = others(value).into_iter().filter_map(changed).collect();
        if !others.is_empty() && others.iter().all(|other| *other == as_given) {
            bail!(
                "`{key} = {value}` has no effect on the parameters of the method `{}`; remove the key",
                row.name
            )
        }
    }
    Ok(())
}

/// Returns values of a key of the task that differ from the given one.
fn others(value: &Value) -> Vec<Value> {
    match *value {
        Value::Integer(n) => [n.saturating_add(1), n - n.signum(), n.saturating_mul(2), n / 2]
            .into_iter()
            .filter(|other| *other != n)
            .map(Value::Integer)
            .collect(),
        Value::Float(x) => vec![Value::Float(2.0 * x), Value::Float(0.5 * x)],
        _ => Vec::new(),
    }
}

fn params(row: &Method, given: &toml::Table, task: &Task) -> anyhow::Result<AnyParams> {
    let mut params = toml::Table::try_from((row.params)(task)?)?;
    for (key, value) in given {
        // Keys that belong only to the task are not passed to the method.
        if params.contains_key(key) || !TASK.contains(&key.as_str()) {
            params.insert(key.clone(), value.clone());
        }
    }
    Ok(params.try_into()?)
}
