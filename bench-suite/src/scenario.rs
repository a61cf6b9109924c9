//! Scenarios, their definitions, and the list of the suite's scenarios.

use crate::kinds::{self, Kind};
use crate::tier::Tiers;
use anyhow::{Context as _, anyhow, bail, ensure};
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

/// The scenarios of the suite, each with its name and definition.
pub const SCENARIOS: &[(&str, &str)] = &[
    ("ms18-fig1", include_str!("../scenarios/ms18-fig1.toml")),
    ("ms18-fig1-small", include_str!("../scenarios/ms18-fig1-small.toml")),
    ("ms18-fig2", include_str!("../scenarios/ms18-fig2.toml")),
    ("ms18-table1", include_str!("../scenarios/ms18-table1.toml")),
    ("ms18-table1-dantzig", include_str!("../scenarios/ms18-table1-dantzig.toml")),
    ("ito17-fig1", include_str!("../scenarios/ito17-fig1.toml")),
    ("ito17-fig2", include_str!("../scenarios/ito17-fig2.toml")),
    ("ito17-fig3", include_str!("../scenarios/ito17-fig3.toml")),
    ("ito17-table2", include_str!("../scenarios/ito17-table2.toml")),
    ("ito17-table3", include_str!("../scenarios/ito17-table3.toml")),
    ("hk12-fig1", include_str!("../scenarios/hk12-fig1.toml")),
    ("hk12-fig2", include_str!("../scenarios/hk12-fig2.toml")),
    ("hk12-table1", include_str!("../scenarios/hk12-table1.toml")),
    ("scsg20-fig1", include_str!("../scenarios/scsg20-fig1.toml")),
    ("scsg20-fig2-rcv1", include_str!("../scenarios/scsg20-fig2-rcv1.toml")),
    ("scsg20-fig2-real-sim", include_str!("../scenarios/scsg20-fig2-real-sim.toml")),
    ("scsg20-fig2-mnist", include_str!("../scenarios/scsg20-fig2-mnist.toml")),
    ("scsg20-fig2-news20", include_str!("../scenarios/scsg20-fig2-news20.toml")),
    ("scsg20-table1", include_str!("../scenarios/scsg20-table1.toml")),
    ("diabetes", include_str!("../scenarios/diabetes.toml")),
    ("diabetes-prices", include_str!("../scenarios/diabetes-prices.toml")),
    ("digits", include_str!("../scenarios/digits.toml")),
    ("cost-vs-d", include_str!("../scenarios/cost-vs-d.toml")),
    ("cost-online", include_str!("../scenarios/cost-online.toml")),
    ("recovery-tall", include_str!("../scenarios/recovery-tall.toml")),
    ("recovery-wide", include_str!("../scenarios/recovery-wide.toml")),
    ("peers-purchases", include_str!("../scenarios/peers-purchases.toml")),
    ("peers-full-information", include_str!("../scenarios/peers-full-information.toml")),
    ("disk", include_str!("../scenarios/disk.toml")),
];

/// A scenario, which says what is measured, on which data, for which learners or solvers.
///
/// The definition of a scenario is a TOML file. Four keys are the same for all scenarios: `title`, `source`,
/// `kind` and `tiers`. The other keys are the settings of the kind, which are one struct in the kind's file;
/// a key that the kind does not have is an error.
#[derive(Debug)]
pub struct Scenario {
    /// The name of the scenario, which is that of its file.
    pub name: String,
    /// The definition as it was read.
    pub text: String,
    /// A title of one line.
    pub title: String,
    /// The source of the scenario, such as a figure of a paper.
    pub source: String,
    /// The sizes per tier.
    pub tiers: Tiers,
    /// The kind of measurement, with its settings.
    pub kind: Box<dyn Kind>,
}

/// The keys that all scenarios have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    title: String,
    #[serde(default = "own")]
    source: String,
    kind: String,
    #[serde(default)]
    tiers: Tiers,
}

/// Returns the source of a scenario whose definition names none.
fn own() -> String {
    "own data".into()
}

const HEAD: [&str; 4] = ["title", "source", "kind", "tiers"];

impl Scenario {
    /// Returns all scenarios of the suite.
    ///
    /// # Errors
    /// When a definition is malformed.
    pub fn all() -> anyhow::Result<Vec<Self>> {
        SCENARIOS.iter().map(|(name, text)| Self::parse(name, text)).collect()
    }

    /// Returns the named scenarios, in the order of the names, or all scenarios of the suite if none is
    /// named. A name that ends in `.toml` is the path of a definition.
    ///
    /// # Errors
    /// When a name is unknown (the error suggests the nearest one) or is given twice, or a definition cannot
    /// be read.
    pub fn select(names: &[String]) -> anyhow::Result<Vec<Self>> {
        if names.is_empty() {
            return Self::all();
        }
        let mut selected: Vec<Scenario> = Vec::new();
        for name in names {
            let scenario = if name.ends_with(".toml") {
                Self::read(Path::new(name))?
            } else {
                let found = SCENARIOS.iter().find(|(known, _)| known == name);
                let (name, text) = found.ok_or_else(|| anyhow!(unknown(name)))?;
                Self::parse(name, text)?
            };
            let twice = selected.iter().any(|other| other.name == scenario.name);
            ensure!(!twice, "two scenarios are called `{}`: run one after the other", scenario.name);
            selected.push(scenario);
        }
        Ok(selected)
    }

    /// Reads a definition from a file. Paths in it are relative to the file's folder.
    ///
    /// # Errors
    /// When the file cannot be read, its name has other characters than letters, digits, `-`, `_` and `.` or
    /// is that of a scenario of the suite, or its text is not a definition.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
        ensure!(
            !name.is_empty() && !name.starts_with('.') && name.chars().all(plain),
            "{shown}: the folder of the results has the file's name; use letters, digits, `-`, `_` and `.` \
             only"
        );
        let known = SCENARIOS.iter().any(|(known, _)| *known == name);
        ensure!(!known, "{shown}: `{name}` is a scenario of the suite; give the file another name");
        Self::parse_in(name, &text, path.parent().unwrap_or(Path::new("")))
            .with_context(|| format!("{shown} is not a scenario"))
    }

    /// Reads a definition of the suite.
    ///
    /// # Errors
    /// When the text is not TOML, or has an unknown key or a value out of range; the error shows the line.
    pub fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        Self::parse_in(name, text, Path::new("")).with_context(|| format!("scenarios/{name}.toml"))
    }

    fn parse_in(name: &str, text: &str, folder: &Path) -> anyhow::Result<Self> {
        // The settings are read separately from the common keys, so that each struct can refuse keys that it
        // does not know.
        let mut head = DeTable::parse(text)?;
        let span = head.span();
        let (of_head, of_kind) = std::mem::take(head.get_mut())
            .into_iter()
            .partition::<DeTable<'_>, _>(|(key, _)| HEAD.contains(&key.get_ref().as_ref()));
        *head.get_mut() = of_head;
        let settings = Spanned::new(span, of_kind);
        let located = |mut error: toml::de::Error| {
            error.set_input(Some(text));
            error
        };
        let Head { title, source, kind, tiers } =
            Head::deserialize(Deserializer::from(head)).map_err(located)?;
        tiers.check()?;
        let Some(read) = kinds::KINDS.iter().find(|known| known.name == kind).map(|known| known.read) else {
            let known: Vec<&str> = kinds::KINDS.iter().map(|known| known.name).collect();
            bail!("kind = \"{kind}\" is unknown; the kinds are {}", known.join(", "))
        };
        let mut kind = read(Deserializer::from(settings)).map_err(located)?;
        kind.resolve(folder);
        Ok(Scenario { name: name.into(), text: text.into(), title, source, tiers, kind })
    }

    /// Checks that the scenario can run, by loading its data and building each learner or solver once.
    ///
    /// # Errors
    /// When data are missing or malformed, two contenders have one name, or parameters are refused.
    pub fn check(&self) -> anyhow::Result<()> {
        let names = self.kind.contenders();
        ensure!(
            !names.is_empty(),
            "{}: there is no contender: name at least one learner or solver",
            self.name
        );
        for (i, name) in names.iter().enumerate() {
            ensure!(
                !names[..i].contains(name),
                "{}: two contenders are called `{name}`: rename one",
                self.name
            );
        }
        self.kind.check().with_context(|| self.name.clone())
    }
}

fn unknown(name: &str) -> String {
    // Of equally near names the first one is taken.
    let ranked = SCENARIOS.iter().rev().map(|(known, _)| (strsim::jaro_winkler(name, known), *known));
    let nearest = ranked.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.7);
    let hint = nearest.map_or_else(String::new, |(_, near)| format!("; did you mean `{near}`?"));
    format!(
        "no scenario named `{name}`{hint} (--list shows all; a definition of your own is named by its path, \
         which ends in .toml)"
    )
}
