//! Reads the files of a dataset, and compares the tables with the manifest's counts.

use super::reading::OpenFiles;
use super::{CatalogError, Dataset, Reading, SplitRule};
use crate::format::Table;
use crate::preprocess::{PreprocessError, SplitTable, split_by_group, split_random};
use lao_observation::Seed;

/// A dataset in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The name in the manifest.
    pub name: String,
    /// Training rows; all rows if the authors give no test set.
    pub train: Table,
    /// The test rows that the authors give.
    pub test: Option<Table>,
    /// The rule by which test rows are split off.
    pub split: SplitRule,
}

impl Loaded {
    /// Returns training and test rows: those that the authors give, or else a split by the manifest's rule,
    /// drawn from `seed`.
    ///
    /// # Errors
    /// Fails when the rule cannot be applied to the rows.
    pub fn into_train_test(self, seed: &Seed) -> Result<SplitTable, PreprocessError> {
        let split = match (self.split, self.test) {
            (_, Some(test)) => return Ok(SplitTable { train: self.train, test }),
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

/// Reads the tables of a dataset and compares their counts with the manifest's.
pub(super) fn load(dataset: &Dataset, files: &OpenFiles<'_>) -> Result<Loaded, CatalogError> {
    let read = |reading: &Reading| reading.read(files, dataset.features);
    let train = read(&dataset.train)?;
    let test = dataset.test.as_ref().map(read).transpose()?;
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

fn expect(dataset: &Dataset, what: &'static str, expected: usize, found: usize) -> Result<(), CatalogError> {
    if expected == found {
        Ok(())
    } else {
        Err(CatalogError::Shape { dataset: dataset.name.clone(), what, expected, found })
    }
}
