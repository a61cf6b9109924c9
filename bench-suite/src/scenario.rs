//! What a scenario is, and the list of them.

use anyhow::{Context as _, bail, ensure};
use lao_algorithms::thresholding::{SolverRow, registry};
use lao_algorithms::{AnyLearner, AnyParams};
use lao_datasets::synthetic::{Noise, Normal, Rademacher, Uniform, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Seed, Source};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All scenarios: name and definition.
pub const ALL: &[(&str, &str)] = &[
    ("ms18-fig1", include_str!("../scenarios/ms18-fig1.toml")),
    ("cost-vs-d", include_str!("../scenarios/cost-vs-d.toml")),
    ("cost-online", include_str!("../scenarios/cost-online.toml")),
    ("recovery-tall", include_str!("../scenarios/recovery-tall.toml")),
    ("recovery-wide", include_str!("../scenarios/recovery-wide.toml")),
];

/// A scenario's definition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name; the file's.
    #[serde(skip)]
    pub name: String,
    /// The definition as it was read.
    #[serde(skip)]
    pub text: String,
    /// One line.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// What is measured.
    pub kind: Kind,
    /// On what.
    pub data: Data,
    /// How much, per tier.
    pub tiers: Tiers,
    /// By whom: a name, a method and its parameters (`dim` and `budget` come from the data); for solvers of finite sums a
    /// name, a solver, how its sparsity is chosen, its step and its passes.
    pub learners: Vec<toml::Table>,
}

/// What is measured and how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Test error against examples seen.
    LearningCurve,
    /// Time per example against the number of attributes.
    Cost,
    /// What solvers of finite sums find, and how long they take.
    Recovery,
}

/// The data of a scenario: a virtual design.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Law of the attributes.
    pub design: Design,
    /// `d`, for kinds that use one.
    pub dim: Option<usize>,
    /// Several `d`, for kinds that vary it.
    #[serde(default)]
    pub dims: Vec<usize>,
    /// `s'`, attributes per example; 0 for kinds at full information.
    #[serde(default)]
    pub budget: usize,
    /// Correlation of neighboring attributes, for kinds that have it.
    #[serde(default)]
    pub correlation: f64,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// Training examples.
    pub train: Option<u64>,
    /// Test examples.
    pub test: Option<u64>,
    /// Examples per measurement.
    pub examples: Option<u64>,
    /// The target's non-zeros, at places drawn anew for each repetition.
    pub support: SupportSpec,
}

/// The non-zeros of a target.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportSpec {
    /// How many are positive.
    pub positive: usize,
    /// How many are negative.
    pub negative: usize,
    /// Their absolute value.
    pub magnitude: f64,
}

/// Law of the attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Independent standard normal.
    Normal,
    /// Independent signs.
    Rademacher,
    /// Independent, uniform with variance 1.
    Uniform,
}

/// How much work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Seconds: does it run?
    Check,
    /// The scenario as it is meant.
    Quick,
    /// More repetitions.
    Full,
}

/// Sizes per tier.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiers {
    check: Size,
    quick: Size,
    full: Size,
}

/// Sizes of one tier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Independent repetitions.
    pub repetitions: u64,
    /// Factor on the numbers of examples.
    pub scale: f64,
}

impl Tiers {
    /// The sizes of a tier.
    pub fn size(&self, tier: Tier) -> Size {
        match tier {
            Tier::Check => self.check,
            Tier::Quick => self.quick,
            Tier::Full => self.full,
        }
    }
}

/// A learner of a scenario, not yet made.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name in the scenario.
    pub name: String,
    table: toml::Table,
}

impl Contender {
    /// A fresh learner over `dim` attributes within `budget`.
    ///
    /// # Errors
    /// When the parameters do not fit the method.
    pub fn learner(&self, dim: usize, budget: usize) -> anyhow::Result<AnyLearner> {
        let mut table = self.table.clone();
        table.insert("dim".into(), toml::Value::Integer(dim as i64));
        // Methods that draw with replacement have numbers of draws in its place.
        if !["draws", "uniform"].iter().any(|draws| table.contains_key(*draws)) {
            table.insert("budget".into(), toml::Value::Integer(budget as i64));
        }
        let params: AnyParams = table.try_into().with_context(|| format!("learner {}", self.name))?;
        params.build().with_context(|| format!("learner {}", self.name))
    }
}

/// A solver of finite sums, as a scenario gives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SolverText {
    solver: String,
    choose: Choose,
    step: f64,
    passes: u64,
}

/// A solver of finite sums and what it is told.
#[derive(Clone, Copy, Debug)]
pub struct SolverSpec {
    /// Which.
    pub row: &'static SolverRow,
    /// Where its sparsity comes from.
    pub choose: Choose,
    /// Step size times the largest smoothness of a component, for solvers that do not choose their own.
    pub step: f64,
    /// IFO calls allowed, as passes over all components.
    pub passes: u64,
}

/// How a sparsity is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// It is that of the target.
    Known,
    /// The best on validation rows, of a path.
    Validation,
}

impl Contender {
    /// The solver of finite sums that this names.
    ///
    /// # Errors
    /// When a key is unknown or missing, there is no such solver, or its step or passes are out of range.
    pub fn solver(&self) -> anyhow::Result<SolverSpec> {
        let text: SolverText =
            self.table.clone().try_into().with_context(|| format!("learner {}", self.name))?;
        let SolverText { solver, choose, step, passes } = text;
        let Some(row) = registry::solver(&solver) else {
            bail!(
                "learner {}: no solver named `{solver}`; see lao_algorithms::thresholding::SOLVERS",
                self.name
            )
        };
        let fits = step > 0.0 && step.is_finite() && passes > 0;
        ensure!(fits, "learner {}: step = {step} and passes = {passes} must be positive", self.name);
        Ok(SolverSpec { row, choose, step, passes })
    }
}

impl Scenario {
    /// Tries a learner on `dim` attributes.
    ///
    /// # Errors
    /// When its parameters are refused.
    pub fn accepts(&self, contender: &Contender, dim: usize) -> anyhow::Result<()> {
        match self.kind {
            Kind::Recovery => contender.solver().map(|_| ()),
            Kind::LearningCurve | Kind::Cost => contender.learner(dim, self.data.budget).map(|_| ()),
        }
    }

    /// All scenarios, parsed.
    ///
    /// # Errors
    /// When a definition is malformed.
    pub fn all() -> anyhow::Result<Vec<Self>> {
        ALL.iter().map(|(name, text)| Self::parse(name, text)).collect()
    }

    /// The scenarios of these names, in the order of the list; all, if none is named.
    ///
    /// # Errors
    /// When a name is unknown; the error suggests the nearest.
    pub fn select(names: &[String]) -> anyhow::Result<Vec<Self>> {
        for name in names {
            ensure!(ALL.iter().any(|(known, _)| known == name), "{}", unknown(name));
        }
        let mut selected = Self::all()?;
        selected.retain(|scenario| names.is_empty() || names.contains(&scenario.name));
        ensure!(!selected.is_empty(), "no scenario is selected: nothing to run");
        Ok(selected)
    }

    /// Reads a definition and tries each learner on it.
    ///
    /// # Errors
    /// When it is not TOML, has an unknown key, or a learner's parameters are refused.
    pub fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        let mut scenario: Scenario =
            toml::from_str(text).with_context(|| format!("scenarios/{name}.toml"))?;
        (scenario.name, scenario.text) = (name.into(), text.into());
        ensure!(!scenario.learners.is_empty(), "scenarios/{name}.toml: no [[learners]]");
        let dim = scenario.data.dim.or(scenario.data.dims.first().copied());
        let Some(dim) = dim else { bail!("scenarios/{name}.toml: data.dim or data.dims is needed") };
        for contender in scenario.contenders()? {
            scenario.accepts(&contender, dim).with_context(|| format!("scenarios/{name}.toml"))?;
        }
        Ok(scenario)
    }

    /// The learners, by name.
    ///
    /// # Errors
    /// When one has no name.
    pub fn contenders(&self) -> anyhow::Result<Vec<Contender>> {
        let named = |table: &toml::Table| {
            let mut table = table.clone();
            match table.remove("name") {
                Some(toml::Value::String(name)) => Ok(Contender { name, table }),
                _ => bail!("scenarios/{}.toml: a learner has no name", self.name),
            }
        };
        self.learners.iter().map(named).collect()
    }
}

fn unknown(name: &str) -> String {
    let ranked = ALL.iter().map(|(known, _)| (strsim::jaro_winkler(name, known), *known));
    let nearest = ranked.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.7);
    let hint = nearest.map_or_else(String::new, |(_, near)| format!("; did you mean `{near}`?"));
    format!("no scenario named `{name}`{hint} (--list shows all)")
}

impl Data {
    /// A target with its non-zeros at random places.
    ///
    /// # Errors
    /// When there are more non-zeros than attributes.
    pub fn target(&self, dim: usize, seed: &Seed) -> anyhow::Result<SparseVector> {
        let SupportSpec { positive, negative, magnitude } = self.support;
        let size = positive + negative;
        ensure!(size <= dim, "a support of {size} does not fit {dim} attributes");
        let (mut rng, mut places) = (seed.child("support").rng(), Vec::new());
        SubsetSampler::new(dim).draw(size, &mut rng, &mut places);
        let mut signs = Vec::new();
        SubsetSampler::new(size).draw(negative, &mut rng, &mut signs);
        let value = |i: usize| if signs.contains(&(i as u32)) { -magnitude } else { magnitude };
        Ok(SparseVector::new(dim, places, (0..size).map(value).collect())?)
    }

    /// A stream of examples around `target`.
    ///
    /// # Errors
    /// When the design refuses its parameters.
    pub fn stream(&self, target: &SparseVector, seed: &Seed) -> anyhow::Result<Box<dyn Stream>> {
        let (dim, noise) = (target.dim(), Noise::Gaussian(self.noise));
        Ok(match self.design {
            Design::Normal => Box::new(Virtual::new(Normal::new(dim)?, target.clone(), noise, seed)?),
            Design::Rademacher => Box::new(Virtual::new(Rademacher::new(dim)?, target.clone(), noise, seed)?),
            Design::Uniform => Box::new(Virtual::new(Uniform::new(dim)?, target.clone(), noise, seed)?),
        })
    }
}

/// A source that knows its exact excess risk.
pub trait Stream: Source + Send {
    /// `(theta - theta*)' Sigma (theta - theta*)`.
    fn excess(&self, theta: SparseView<'_>) -> f64;
}

impl<D: lao_datasets::synthetic::Design> Stream for Virtual<D> {
    fn excess(&self, theta: SparseView<'_>) -> f64 {
        self.gap(theta)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tier::Check => "check",
            Tier::Quick => "quick",
            Tier::Full => "full",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::LearningCurve => "learning curve",
            Kind::Cost => "cost",
            Kind::Recovery => "recovery",
        })
    }
}
