//! The manifest: the known facts about each dataset, as data.

use super::reading::Reading;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Component, Path};

/// The manifest of the project, part of the library so that it works outside a checkout.
const EMBEDDED: &str = include_str!("manifest.toml");

/// All datasets that the project knows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// One entry per dataset.
    #[serde(rename = "dataset")]
    pub datasets: Vec<Dataset>,
}

/// One dataset: where its files are and what they hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// Short name, as in `cargo xtask data fetch NAME`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Training rows, or all rows where no test set is given.
    pub rows: usize,
    /// Rows of the given test set.
    #[serde(default)]
    pub test_rows: usize,
    /// Number of attributes.
    pub features: usize,
    /// Entries of the training rows other than 0, where known.
    pub nonzeros: Option<usize>,
    /// What the label is.
    pub target: String,
    /// License, or that none is stated.
    pub license: String,
    /// Where the data are described, or whom to cite.
    pub source: String,
    /// What a user must know before using the data.
    #[serde(default)]
    pub notes: String,
    /// The rule by which test rows are split off.
    pub split: SplitRule,
    /// How to read the training rows.
    pub train: Reading,
    /// How to read the given test rows.
    pub test: Option<Reading>,
    /// The files. Several entries with one id are alternatives.
    #[serde(rename = "file")]
    pub files: Vec<FileEntry>,
}

/// The rule by which test rows are split off from the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SplitRule {
    /// The authors give a test set.
    Given,
    /// A fraction of the rows, drawn at random.
    Random {
        /// Fraction of rows for testing.
        test_fraction: f64,
    },
    /// A fraction of the groups, each group on one side.
    ByGroup {
        /// Fraction of groups for testing.
        test_fraction: f64,
    },
}

/// One file of a dataset.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// What the file is in its dataset; entries that share an id are alternatives.
    pub id: String,
    /// Path below a data folder.
    pub path: String,
    /// Size in bytes, where known.
    pub bytes: Option<u64>,
    /// SHA-256 in lower-case hexadecimal, where known.
    pub sha256: Option<String>,
    /// The official addresses, in the order in which they are tried. Without an address, the file cannot be
    /// downloaded.
    #[serde(default)]
    pub urls: Vec<String>,
}

/// A manifest that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Not TOML of the expected shape.
    #[error("the manifest is malformed: {0}")]
    Syntax(#[from] toml::de::Error),
    /// Well-formed but contradictory.
    #[error("dataset `{dataset}` of the manifest: {problem}")]
    Entry {
        /// The dataset.
        dataset: String,
        /// What contradicts what.
        problem: String,
    },
}

impl Manifest {
    /// Returns the manifest that comes with the library.
    pub fn embedded() -> Result<Self, ManifestError> {
        Self::parse(EMBEDDED)
    }

    /// Returns a manifest from its text.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self = toml::from_str(text)?;
        let mut names = HashSet::new();
        for dataset in &manifest.datasets {
            let twice = !names.insert(&dataset.name);
            let problem = if twice { Some("the name occurs twice".to_owned()) } else { dataset.problem() };
            if let Some(problem) = problem {
                return Err(ManifestError::Entry { dataset: dataset.name.clone(), problem });
            }
        }
        Ok(manifest)
    }
}

/// Returns whether a path stays below the folder that it is joined to, on every system.
fn stays_below(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != ".." && !part.contains(['\\', ':', '\0']);
    path.split('/').all(plain) && Path::new(path).components().all(|c| matches!(c, Component::Normal(_)))
}

impl Dataset {
    /// Returns the ids of all files that are needed to load the dataset, each once.
    pub fn file_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for reading in std::iter::once(&self.train).chain(&self.test) {
            for id in reading.file_ids() {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        ids
    }

    /// Returns the alternatives for a file id, in order of preference.
    pub fn alternatives<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a FileEntry> {
        self.files.iter().filter(move |file| file.id == id)
    }

    fn problem(&self) -> Option<String> {
        let ids = self.file_ids();
        let is_hash = |h: &str| h.len() == 64 && h.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if let Some(problem) = std::iter::once(&self.train).chain(&self.test).find_map(Reading::problem) {
            return Some(problem);
        }
        if let Some(id) = ids.iter().find(|id| self.alternatives(id).next().is_none()) {
            return Some(format!("no file has the id `{id}`"));
        }
        if let Some(file) = self.files.iter().find(|f| !ids.contains(&f.id.as_str())) {
            return Some(format!("the file id `{}` is not used", file.id));
        }
        if let Some(file) = self.files.iter().find(|file| !stays_below(&file.path)) {
            return Some(format!("path `{}` must stay below the data folder", file.path));
        }
        if let Some(hash) = self.files.iter().filter_map(|f| f.sha256.as_ref()).find(|h| !is_hash(h)) {
            return Some(format!("sha256 `{hash}` must be 64 lower-case hexadecimal digits"));
        }
        match self.split {
            SplitRule::Given if self.test.is_none() => Some("split rule `given` needs a test set".to_owned()),
            SplitRule::Random { test_fraction: f } | SplitRule::ByGroup { test_fraction: f }
                if !(f > 0.0 && f < 1.0) =>
            {
                Some(format!("test_fraction is {f}, but must lie strictly between 0 and 1"))
            }
            _ => None,
        }
    }
}
