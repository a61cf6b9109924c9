//! How the tables of the manifest are read: a struct of settings per format.

use super::{CatalogError, FoundFile, ManifestError};
use crate::format::csv::{Column, CsvOptions};
use crate::format::libsvm::LibsvmOptions;
use crate::format::{Opening, Part, Table, csv, idx, libsvm, npy, open_file};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};

/// How to read one table. A format is a variant here, with its line in `Reading::format`, and the
/// implementation of `ReadTable` for its settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "format", rename_all = "lowercase")]
pub enum Reading {
    /// LibSVM text.
    Libsvm(LibsvmReading),
    /// CSV text.
    Csv(CsvReading),
    /// Two IDX files.
    Idx(IdxReading),
    /// An NPY file, or two.
    Npy(NpyReading),
}

impl Reading {
    fn format(&self) -> &dyn ReadTable {
        match self {
            Reading::Libsvm(reading) => reading,
            Reading::Csv(reading) => reading,
            Reading::Idx(reading) => reading,
            Reading::Npy(reading) => reading,
        }
    }

    /// Returns the ids of the files that the table is read from.
    pub fn file_ids(&self) -> Vec<&str> {
        self.format().file_ids()
    }

    /// Returns what contradicts what in the settings, if anything does.
    pub(super) fn problem(&self) -> Option<String> {
        self.format().problem()
    }

    /// Reads the table, which has `features` attributes.
    pub(super) fn read(&self, files: &OpenFiles<'_>, features: usize) -> Result<Table, CatalogError> {
        self.format().read(files, features)
    }
}

/// What a format does with its settings.
trait ReadTable {
    /// Returns the ids of the files that the table is read from.
    fn file_ids(&self) -> Vec<&str>;

    /// Returns what contradicts what in the settings, if anything does.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Reads the table, which has `features` attributes.
    fn read(&self, files: &OpenFiles<'_>, features: usize) -> Result<Table, CatalogError>;
}

/// LibSVM text; the dataset's `features` bound the indices.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibsvmReading {
    /// Id of the file.
    pub file: String,
    /// Whether the file counts its indices from 0.
    #[serde(default)]
    pub zero_based: bool,
}

impl ReadTable for LibsvmReading {
    fn file_ids(&self) -> Vec<&str> {
        vec![&self.file]
    }

    fn read(&self, files: &OpenFiles<'_>, features: usize) -> Result<Table, CatalogError> {
        let dim = u32::try_from(features).unwrap_or(u32::MAX);
        let options = LibsvmOptions { dim: Some(dim), zero_based: self.zero_based };
        let (name, parts) = files.parts(&self.file, None)?;
        Ok(Table::Sparse(libsvm::read_parts(parts, &name, &options)?))
    }
}

/// CSV text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsvReading {
    /// Id of the file.
    pub file: String,
    /// Member or pattern, in a zip archive.
    pub member: Option<String>,
    /// Header, target, dropped columns.
    #[serde(default)]
    pub options: CsvOptions,
}

impl ReadTable for CsvReading {
    fn file_ids(&self) -> Vec<&str> {
        vec![&self.file]
    }

    fn read(&self, files: &OpenFiles<'_>, _: usize) -> Result<Table, CatalogError> {
        let (name, parts) = files.parts(&self.file, self.member.as_deref())?;
        Ok(Table::Dense(csv::read_parts(parts, &name, &self.options)?))
    }
}

/// An IDX file of examples, one along the first axis, and one of labels.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdxReading {
    /// Id of the file of examples.
    pub file: String,
    /// Id of the file of labels.
    pub labels: String,
}

impl ReadTable for IdxReading {
    fn file_ids(&self) -> Vec<&str> {
        vec![&self.file, &self.labels]
    }

    fn read(&self, files: &OpenFiles<'_>, _: usize) -> Result<Table, CatalogError> {
        let [examples, labels] = [&self.file, &self.labels].map(|id| {
            let (name, parts) = files.parts(id, None)?;
            Ok::<_, CatalogError>(idx::read_parts(parts, &name)?)
        });
        Ok(Table::Dense(examples?.into_table(labels?)?))
    }
}

/// An NPY file of examples, one along the first axis. A second file holds the labels, or one of the columns
/// does.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NpyReading {
    /// Id of the file of examples.
    pub file: String,
    /// Id of the file of labels, if there is one.
    pub labels: Option<String>,
    /// Without such a file, the column of the label: an index from 0, or `{ last = 0 }`. Default: the last.
    pub target: Option<Column>,
    /// Member, in a zip archive such as NPZ.
    pub member: Option<String>,
}

impl ReadTable for NpyReading {
    fn file_ids(&self) -> Vec<&str> {
        std::iter::once(&self.file).chain(&self.labels).map(String::as_str).collect()
    }

    fn problem(&self) -> Option<String> {
        let both = self.labels.is_some() && self.target.is_some();
        both.then(|| {
            "the labels are either those of the file `labels` or those of the column `target`: give one"
                .into()
        })
    }

    fn read(&self, files: &OpenFiles<'_>, _: usize) -> Result<Table, CatalogError> {
        let array = |id: &str, member| {
            let (name, parts) = files.parts(id, member)?;
            Ok::<_, CatalogError>(npy::read_parts(parts, &name)?)
        };
        let examples = array(&self.file, self.member.as_deref())?;
        let last = Column::FromEnd { last: 0 };
        Ok(Table::Dense(match &self.labels {
            Some(labels) => examples.into_table(array(labels, None)?)?,
            None => examples.into_table_labeled_by(self.target.as_ref().unwrap_or(&last))?,
        }))
    }
}

/// The files of a dataset by id, each open.
pub(super) struct OpenFiles<'a> {
    /// Name of the dataset.
    pub dataset: &'a str,
    /// What was found, and opened.
    pub files: BTreeMap<&'a str, (&'a FoundFile<'a>, File)>,
}

impl OpenFiles<'_> {
    /// Returns the name of a file and its streams from its beginning. Training and test rows may come from
    /// one file, one after the other.
    fn parts(&self, id: &str, member: Option<&str>) -> Result<(String, Vec<Part>), CatalogError> {
        let Some((found, file)) = self.files.get(id) else {
            let problem = format!("no file has the id `{id}`");
            return Err(ManifestError::Entry { dataset: self.dataset.to_owned(), problem }.into());
        };
        let fail = |source| CatalogError::Io { path: found.path.clone(), source };
        let mut file = file.try_clone().map_err(fail)?;
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        let name = found.path.display().to_string();
        let opening = Opening { member: member.map(str::to_owned), ..Opening::default() };
        let parts = open_file(file, &name, &opening)?;
        Ok((name, parts))
    }
}
