//! The learners of a scenario.

use anyhow::{Context as _, bail};
use lao_algorithms::{AnyLearner, AnyParams, METHODS, Task, registry};
use serde::Deserialize;
use toml::Value;

/// A learner of a scenario: a name, a method, and those of its parameters that differ from the practical
/// ones.
///
/// The practical parameters follow from a [`Task`]: `dim` and `budget` are those of the scenario; `sparsity`,
/// `radius`, `speed` and `examples` can be given beside the parameters. The default sparsity is half of the
/// budget.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct LearnerSpec {
    /// The name of the learner in the scenario.
    pub name: String,
    method: String,
    given: toml::Table,
}

/// The fields of a [`Task`] that a learner may give.
#[derive(Deserialize)]
struct OwnTask {
    sparsity: Option<usize>,
    radius: Option<f64>,
    speed: Option<f64>,
    examples: Option<u64>,
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
        Ok(LearnerSpec { name, method, given })
    }
}

impl LearnerSpec {
    /// Returns a fresh learner over `dim` attributes within `budget`.
    ///
    /// # Errors
    /// When there is no such method, or the parameters do not fit it.
    pub fn build(&self, dim: usize, budget: usize) -> anyhow::Result<AnyLearner> {
        self.params(dim, budget)
            .and_then(|params| Ok(params.build()?))
            .with_context(|| format!("learner {}", self.name))
    }

    fn params(&self, dim: usize, budget: usize) -> anyhow::Result<AnyParams> {
        let Some(row) = registry::method(&self.method) else {
            let known: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
            bail!("no method is named `{}`; the methods are {}", self.method, known.join(", "))
        };
        let own: OwnTask = self.given.clone().try_into()?;
        let mut task = Task { dim, budget, sparsity: budget.div_ceil(2), ..Task::default() };
        task.radius = own.radius;
        task.sparsity = own.sparsity.unwrap_or(task.sparsity);
        task.speed = own.speed.unwrap_or(task.speed);
        task.examples = own.examples.unwrap_or(task.examples);
        let mut params = toml::Table::try_from((row.params)(&task)?)?;
        for (key, value) in &self.given {
            // Keys that belong only to the task are not passed to the method.
            if params.contains_key(key) || !TASK.contains(&key.as_str()) {
                params.insert(key.clone(), value.clone());
            }
        }
        Ok(params.try_into()?)
    }
}
