//! Reading the files of a dataset, and holding them to the manifest's counts.

use super::{CatalogError, Dataset, FoundFile, ManifestError, Reading, SplitRule};
use crate::format::libsvm::LibsvmOptions;
use crate::format::{Opening, Part, Table, csv, idx, libsvm, open_file};
use crate::preprocess::{PreprocessError, split_by_group, split_random};
use lao_observation::Seed;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};

/// A dataset in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Name in the manifest.
    pub name: String,
    /// Training rows; all rows if the authors give no test set.
    pub train: Table,
    /// The test rows that the authors give.
    pub test: Option<Table>,
    /// How test rows are to be set apart.
    pub split: SplitRule,
}

impl Loaded {
    /// Training and test rows: the authors' where given, otherwise drawn by the manifest's rule from `seed`.
    pub fn into_train_test(self, seed: &Seed) -> Result<(Table, Table), PreprocessError> {
        let split = match (self.split, self.test) {
            (_, Some(test)) => return Ok((self.train, test)),
            (SplitRule::Random { test_fraction }, None) => {
                split_random(self.train.rows(), test_fraction, seed)?
            }
            (SplitRule::ByGroup { test_fraction }, None) => {
                let groups = self.train.dense().and_then(|table| table.groups.as_deref());
                split_by_group(groups.unwrap_or_default(), test_fraction, seed)?
            }
            (SplitRule::Given, None) => {
                return Err(PreprocessError::TooFew { what: "given test sets", found: 0, needed: 1 });
            }
        };
        split.apply(&self.train)
    }
}

/// The files of a dataset by id, each open.
pub(super) type Opened<'a> = BTreeMap<&'a str, (&'a FoundFile<'a>, File)>;

pub(super) fn load(dataset: &Dataset, files: &Opened<'_>) -> Result<Loaded, CatalogError> {
    let train = read(dataset, files, &dataset.train)?;
    let test = dataset.test.as_ref().map(|reading| read(dataset, files, reading)).transpose()?;
    expect(dataset, "the number of rows", dataset.rows, train.rows())?;
    expect(dataset, "the number of features", dataset.features, train.dim())?;
    if let Some(nonzeros) = dataset.nonzeros {
        expect(dataset, "the number of nonzeros", nonzeros, train.nonzeros())?;
    }
    if let Some(test) = &test {
        expect(dataset, "the number of test rows", dataset.test_rows, test.rows())?;
        expect(dataset, "the number of test features", dataset.features, test.dim())?;
    }
    Ok(Loaded { name: dataset.name.clone(), train, test, split: dataset.split })
}

fn read(dataset: &Dataset, files: &Opened<'_>, reading: &Reading) -> Result<Table, CatalogError> {
    Ok(match reading {
        Reading::Libsvm { file, zero_based } => {
            let dim = u32::try_from(dataset.features).unwrap_or(u32::MAX);
            let options = LibsvmOptions { dim: Some(dim), zero_based: *zero_based };
            let (name, parts) = parts(dataset, files, file, None)?;
            Table::Sparse(libsvm::read_parts(parts, &name, &options)?)
        }
        Reading::Csv { file, member, options } => {
            let (name, parts) = parts(dataset, files, file, member.as_ref())?;
            Table::Dense(csv::read_parts(parts, &name, options)?)
        }
        Reading::Idx { file, labels } => {
            let [examples, labels] = [file, labels].map(|id| {
                let (name, parts) = parts(dataset, files, id, None)?;
                Ok::<_, CatalogError>(idx::read_parts(parts, &name)?)
            });
            Table::Dense(examples?.into_table(labels?)?)
        }
    })
}

/// The streams of a file, from its beginning, and its name. Training and test rows may come from one file,
/// one after the other.
fn parts(
    dataset: &Dataset,
    files: &Opened<'_>,
    id: &str,
    member: Option<&String>,
) -> Result<(String, Vec<Part>), CatalogError> {
    let Some((found, file)) = files.get(id) else {
        let problem = format!("no file has the id `{id}`");
        return Err(ManifestError::Entry { dataset: dataset.name.clone(), problem }.into());
    };
    let fail = |source| CatalogError::Io { path: found.path.clone(), source };
    let mut file = file.try_clone().map_err(fail)?;
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    let name = found.path.display().to_string();
    let opening = Opening { member: member.cloned(), ..Opening::default() };
    let parts = open_file(file, &name, &opening)?;
    Ok((name, parts))
}

fn expect(dataset: &Dataset, what: &'static str, expected: usize, found: usize) -> Result<(), CatalogError> {
    if expected == found {
        Ok(())
    } else {
        Err(CatalogError::Shape { dataset: dataset.name.clone(), what, expected, found })
    }
}
