//! The learners of a scenario.

use anyhow::Context as _;
use lao_algorithms::{AnyLearner, AnyParams};
use serde::Deserialize;

/// A learner of a scenario: a name, a method and its parameters. `dim` and the budget come from the scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct LearnerSpec {
    /// Its name in the scenario.
    pub name: String,
    params: toml::Table,
}

impl TryFrom<toml::Table> for LearnerSpec {
    type Error = String;

    fn try_from(mut params: toml::Table) -> Result<Self, String> {
        match params.remove("name") {
            Some(toml::Value::String(name)) if !name.is_empty() => Ok(LearnerSpec { name, params }),
            _ => Err("a learner needs a `name`, a text".into()),
        }
    }
}

impl LearnerSpec {
    /// Returns a fresh learner over `dim` attributes within `budget`.
    ///
    /// # Errors
    /// When the parameters do not fit the method.
    pub fn build(&self, dim: usize, budget: usize) -> anyhow::Result<AnyLearner> {
        let mut table = self.params.clone();
        table.insert("dim".into(), toml::Value::Integer(dim as i64));
        // Methods that draw with replacement have numbers of draws in its place.
        if !["draws", "uniform"].iter().any(|draws| table.contains_key(*draws)) {
            table.insert("budget".into(), toml::Value::Integer(budget as i64));
        }
        let params: AnyParams = table.try_into().with_context(|| format!("learner {}", self.name))?;
        params.build().with_context(|| format!("learner {}", self.name))
    }
}
