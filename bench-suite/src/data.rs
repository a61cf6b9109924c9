//! The data of a scenario: a virtual design, a dataset of the catalog, or a CSV file.

use anyhow::{Context as _, bail, ensure};
use lao_datasets::catalog::{Catalog, Loaded};
use lao_datasets::format::csv::{Column, CsvOptions, read_csv};
use lao_datasets::format::{DenseTable, Opening, Table};
use lao_datasets::memory::Columns;
use lao_datasets::preprocess::{
    Centering, Clip, SplitTable, Standardizer, log1p_labels, split_random, two_classes,
};
use lao_datasets::synthetic::{Noise, Normal, Rademacher, UniformAttributes, Virtual};
use lao_finite_sum::DesignMatrix;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Block, BlockBuf, Seed, Source};
use rand::RngExt;
use rand_distr::Distribution;
use serde::Deserialize;
use serde::de::Error as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A virtual design: independent attributes, and labels that are a linear predictor plus normal noise.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// The law of the attributes.
    pub design: AttributeLaw,
    /// The standard deviation of the noise.
    pub noise: f64,
    /// The target's non-zeros, whose places are drawn for each repetition.
    pub support: SupportSpec,
}

/// The non-zeros of a target.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportSpec {
    /// The number of positive non-zeros.
    pub positive: usize,
    /// The number of negative non-zeros.
    pub negative: usize,
    /// The absolute value of the non-zeros.
    pub magnitude: f64,
}

/// The law of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttributeLaw {
    /// Standard normal.
    Normal,
    /// Random signs.
    Rademacher,
    /// Uniform with variance 1.
    Uniform,
}

impl Design {
    /// Returns the number of non-zeros of a target.
    pub fn sparsity(&self) -> usize {
        self.support.positive.saturating_add(self.support.negative)
    }

    /// Returns a target with its non-zeros at random places.
    ///
    /// # Errors
    /// When there are more non-zeros than attributes, or a number of the definition is not finite.
    pub fn target(&self, dim: usize, seed: &Seed) -> anyhow::Result<SparseVector> {
        let SupportSpec { positive, negative, magnitude } = self.support;
        let size = positive.checked_add(negative).filter(|size| *size <= dim);
        let Some(size) = size else {
            bail!("data.support has {positive} + {negative} non-zeros, which exceeds {dim} attributes")
        };
        ensure!(magnitude.is_finite(), "data.support.magnitude = {magnitude}: give a finite number");
        let (mut rng, mut places) = (seed.child("support").rng(), Vec::new());
        SubsetSampler::new(dim).draw(size, &mut rng, &mut places);
        let mut signs = Vec::new();
        SubsetSampler::new(size).draw(negative, &mut rng, &mut signs);
        let value = |i: usize| if signs.contains(&(i as u32)) { -magnitude } else { magnitude };
        Ok(SparseVector::new(dim, places, (0..size).map(value).collect())?)
    }

    /// Returns examples around `target` with autoregressive columns, `x_j = a x_{j-1} + sqrt(1 - a^2) e_j`,
    /// where this design draws `e` and `a` is the `correlation` of neighboring attributes.
    ///
    /// # Errors
    /// When the design refuses its parameters.
    pub fn correlated(
        &self,
        target: &SparseVector,
        correlation: f64,
        rows: usize,
        seed: &Seed,
    ) -> anyhow::Result<DenseRows> {
        // With the zero predictor as target, the labels are the noise alone.
        let mut source = self.stream(&SparseVector::zeros(target.dim()), seed)?;
        let mut drawn = DenseRows::take(&mut *source, rows)?;
        let fresh = (1.0 - correlation * correlation).sqrt();
        for place in rows..drawn.columns.len() {
            drawn.columns[place] = correlation * drawn.columns[place - rows] + fresh * drawn.columns[place];
        }
        for (j, weight) in target.view().iter() {
            let column = &drawn.columns[j as usize * rows..][..rows];
            drawn.labels.iter_mut().zip(column).for_each(|(label, x)| *label += weight * x);
        }
        Ok(drawn)
    }

    /// As [`correlated`](Self::correlated), with another function of each attribute of the support, in turn:
    /// a sine, a square, a step, the attribute itself, and its product with the next attribute of the
    /// support.
    ///
    /// # Errors
    /// When the design refuses its parameters.
    pub fn curved(
        &self,
        target: &SparseVector,
        correlation: f64,
        rows: usize,
        seed: &Seed,
    ) -> anyhow::Result<DenseRows> {
        let mut drawn = self.correlated(&SparseVector::zeros(target.dim()), correlation, rows, seed)?;
        let support = target.indices();
        for (place, (j, weight)) in target.view().iter().enumerate() {
            let next = support[(place + 1) % support.len()];
            for row in 0..rows {
                let [x, z] = [j, next].map(|j| drawn.columns[j as usize * rows + row]);
                let part = match place % 5 {
                    0 => (2.0 * x).sin(),
                    1 => (x * x - 1.0) / 2.0,
                    2 => f64::from(u8::from(x > 0.5)),
                    3 => x,
                    _ => x * z,
                };
                drawn.labels[row] += weight * part;
            }
        }
        Ok(drawn)
    }

    /// Returns a target among the attributes that occur most, and sparse rows of length 1, each with so many
    /// `entries`: as words of a text, the attribute of rank r occurs in proportion to 1/(r + 10), in
    /// proportion to the size of a normal number. Labels are as those of dense rows, or two `classes`.
    ///
    /// # Errors
    /// When the design refuses its parameters.
    pub fn words(
        &self,
        (dim, entries): (usize, usize),
        rows: usize,
        classes: bool,
        seed: &Seed,
    ) -> anyhow::Result<(SparseVector, SparseRows)> {
        let frequent = self.target((dim / 20).max(self.sparsity()).min(dim), seed)?;
        let target = SparseVector::new(dim, frequent.indices().to_vec(), frequent.values().to_vec())?;
        let mut rng = seed.child("train").rng();
        let mut sum = 0.0;
        let sums: Vec<f64> = (0..dim)
            .map(|rank| {
                sum += 1.0 / (rank + 10) as f64;
                sum
            })
            .collect();
        let mut drawn = SparseRows { starts: vec![0.0], ..SparseRows::default() };
        let (mut row, noise) = (BTreeMap::new(), rand_distr::Normal::new(0.0, self.noise)?);
        for _ in 0..rows {
            row.clear();
            while row.len() < entries {
                let at = rng.random::<f64>() * sum;
                let size: f64 = rand_distr::StandardNormal.sample(&mut rng);
                row.insert(sums.partition_point(|sum| *sum <= at).min(dim - 1), size.abs() + 1e-3);
            }
            let length = row.values().map(|size| size * size).sum::<f64>().sqrt();
            let of_target = |(j, size): (&usize, &f64)| target.view().get(*j as u32) * size / length;
            drawn.labels.push(row.iter().map(of_target).sum::<f64>() + noise.sample(&mut rng));
            drawn.places.extend(row.keys().map(|j| *j as f64));
            drawn.values.extend(row.values().map(|size| size / length));
            drawn.starts.push(drawn.places.len() as f64);
        }
        if classes {
            draw_classes(&mut drawn.labels, &seed.child("train"));
        }
        Ok((target, drawn))
    }

    /// Returns a stream of examples around `target`.
    ///
    /// # Errors
    /// When the design refuses its parameters.
    pub fn stream(&self, target: &SparseVector, seed: &Seed) -> anyhow::Result<Box<dyn Stream>> {
        let (dim, noise) = (target.dim(), Noise::Gaussian(self.noise));
        Ok(match self.design {
            AttributeLaw::Normal => Box::new(Virtual::new(Normal::new(dim)?, target.clone(), noise, seed)?),
            AttributeLaw::Rademacher => {
                Box::new(Virtual::new(Rademacher::new(dim)?, target.clone(), noise, seed)?)
            }
            AttributeLaw::Uniform => {
                Box::new(Virtual::new(UniformAttributes::new(dim)?, target.clone(), noise, seed)?)
            }
        })
    }
}

/// Returns the table with every value stored, if there are not too many.
fn dense(sparse: &lao_datasets::format::SparseRows) -> Option<DenseTable> {
    const MOST: usize = 1 << 25;
    let rows = sparse.rows();
    let size = rows.checked_mul(sparse.dim).filter(|size| *size <= MOST)?;
    let mut values = vec![0.0; size];
    for i in 0..rows {
        let row = sparse.row(i);
        row.indices.iter().zip(row.values).for_each(|(&j, x)| values[j as usize * rows + i] = *x);
    }
    DenseTable::from_columns(sparse.dim, values, sparse.labels.clone())
}

/// Replaces each label, a log odds, by the class 1 or 0, which is drawn with its probability.
pub fn draw_classes(labels: &mut [f64], seed: &Seed) {
    let mut rng = seed.child("classes").rng();
    for label in labels {
        *label = f64::from(rng.random::<f64>() < 1.0 / (1.0 + (-*label).exp()));
    }
}

/// Examples with few attributes, row after row: compressed sparse rows.
#[derive(Clone, Debug, Default)]
pub struct SparseRows {
    /// The number of entries before each row, and of all rows.
    pub starts: Vec<f64>,
    /// The attribute of each entry; they ascend within a row.
    pub places: Vec<f64>,
    /// The value of each entry.
    pub values: Vec<f64>,
    /// The labels.
    pub labels: Vec<f64>,
}

/// Examples with all attributes, column after column: value (i, j) is at `j * labels.len() + i`.
#[derive(Clone, Debug, Default)]
pub struct DenseRows {
    /// The attributes.
    pub columns: Vec<f64>,
    /// The labels.
    pub labels: Vec<f64>,
}

impl DenseRows {
    /// Returns the rows in the layout in which a solver is fastest, and the labels: row after row for random
    /// steps, and column after column for whole gradients.
    ///
    /// # Errors
    /// When a value is not finite.
    pub fn laid_out(self, by_rows: bool) -> anyhow::Result<(DesignMatrix<f64>, Vec<f64>)> {
        let DenseRows { columns, labels } = self;
        let rows = labels.len();
        let dim = columns.len() / rows.max(1);
        let examples = if by_rows {
            let row = |i| columns.iter().skip(i).step_by(rows).copied();
            DesignMatrix::rows(rows, dim, (0..rows).flat_map(row).collect())?
        } else {
            DesignMatrix::columns(rows, dim, columns)?
        };
        Ok((examples, labels))
    }

    /// Returns the next `rows` examples of a source.
    ///
    /// # Errors
    /// When the source fails or ends before.
    pub fn take(source: &mut dyn Source, rows: usize) -> anyhow::Result<Self> {
        let dim = source.dim();
        let mut columns = vec![0.0; rows * dim];
        let labels = whole_rows(source, rows, |at, block| {
            for j in 0..dim {
                let column = block.column(j);
                columns[j * rows + at..][..column.len()].copy_from_slice(column);
            }
        })?;
        Ok(DenseRows { columns, labels })
    }
}

/// Observes all attributes of the next `rows` examples, block by block. Gives `take` each block and the
/// number of examples before it. Returns the labels.
///
/// # Errors
/// When the source fails or ends before.
pub fn whole_rows(
    source: &mut dyn Source,
    rows: usize,
    mut take: impl FnMut(usize, &Block<'_>),
) -> anyhow::Result<Vec<f64>> {
    let dim = source.dim();
    let attributes: Vec<u32> = (0..dim as u32).collect();
    let (mut labels, mut block) = (Vec::new(), BlockBuf::new());
    while labels.len() < rows {
        let at = labels.len();
        block.reset(dim, BlockBuf::preferred_rows(dim).min(rows - at));
        ensure!(source.observe(&attributes, &mut block)? > 0, "the source ran dry after {at} of {rows} rows");
        let view = block.view(&attributes);
        labels.extend_from_slice(view.labels());
        take(at, &view);
    }
    Ok(labels)
}

/// A source of examples that may know the exact excess risk of a predictor.
pub trait Stream: Source + Send {
    /// Returns the excess risk `(theta - theta*)' Sigma (theta - theta*)`, or `None` where `theta*` and
    /// `Sigma` are unknown.
    fn excess(&self, _theta: SparseView<'_>) -> Option<f64> {
        None
    }
}

impl<D: lao_datasets::synthetic::Design> Stream for Virtual<D> {
    fn excess(&self, theta: SparseView<'_>) -> Option<f64> {
        Some(self.gap(theta))
    }
}

impl Stream for Columns<f64> {}

/// The data of a scenario.
#[derive(Clone, Debug)]
pub enum Data {
    /// `design = "normal"`, ...: see [`Design`].
    Design(Design),
    /// `dataset = "diabetes"` or `file = "patients.csv"`: see [`TableData`].
    Table(TableData),
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = toml::Table::deserialize(deserializer)?;
        let has = |key: &str| table.contains_key(key);
        match [has("design"), has("dataset"), has("file")] {
            [true, false, false] => table.try_into().map(Data::Design),
            [false, true, false] | [false, false, true] => table.try_into().map(Data::Table),
            _ => return Err(D::Error::custom("data needs one of the keys `design`, `dataset` and `file`")),
        }
        .map_err(|error| D::Error::custom(error.message()))
    }
}

/// The rows of a dataset of the catalog, or of a CSV file. Attributes are standardized and labels are
/// centered with the training rows of each repetition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableData {
    /// Name in the catalog (`cargo xtask data list`).
    dataset: Option<String>,
    /// Path of a CSV file with a header.
    file: Option<PathBuf>,
    /// The name of the file's column of labels.
    label: Option<String>,
    /// The data that take the place of a dataset that is not at hand.
    stand_in: Option<Box<TableData>>,
    /// The two classes that are kept, if labels are classes: the first becomes +1, the second -1.
    classes: Option<[f64; 2]>,
    /// Whether the label is replaced by log(1 + label).
    #[serde(default)]
    log_labels: bool,
    /// The largest absolute value of a standardized attribute; larger ones are clipped.
    clip: Option<f64>,
    /// The share of the rows that each repetition uses as test rows, if the dataset has no test rows of its
    /// own. The default for a file is 0.25.
    test_fraction: Option<f64>,
    #[serde(skip)]
    loaded: OnceLock<Result<Arc<Loaded>, String>>,
}

/// The training and test rows of one repetition.
#[derive(Debug)]
pub struct TrainTest {
    /// The training rows, in an order drawn from the repetition's seed.
    pub train: Columns<f64>,
    /// The test rows, in the order of the table.
    pub test: Columns<f64>,
    /// The mean squared error, on the test rows, of predicting the mean of the training labels.
    pub error_of_mean: f64,
}

impl TableData {
    /// Makes the path of a file relative to `folder`.
    pub fn resolve(&mut self, folder: &Path) {
        if let Some(file) = &mut self.file {
            *file = folder.join(&file);
        }
    }

    /// Returns the table, which is loaded at the first call.
    ///
    /// # Errors
    /// When the dataset or the file is missing or malformed.
    pub fn load(&self) -> anyhow::Result<&Loaded> {
        self.find()?;
        let loaded = self.loaded.get_or_init(|| {
            self.at_hand().and_then(Self::read).map(Arc::new).map_err(|error| format!("{error:#}"))
        });
        match loaded {
            Ok(loaded) => Ok(loaded),
            Err(error) => bail!("{error}"),
        }
    }

    /// Returns the data that are read: these, or those that stand in for them.
    fn at_hand(&self) -> anyhow::Result<&TableData> {
        match (&self.stand_in, &self.dataset) {
            (Some(other), Some(name)) if !Catalog::from_env()?.has(name)? => other.at_hand(),
            _ => Ok(self),
        }
    }

    /// Returns an error that says where a dataset was looked for, if it is not at hand.
    fn find(&self) -> anyhow::Result<()> {
        if let Some(name) = &self.at_hand()?.dataset {
            Catalog::from_env()?.find(name)?;
        }
        Ok(())
    }

    /// Returns the name of the data that are read.
    ///
    /// # Errors
    /// When the catalog does not know a dataset.
    pub fn name(&self) -> anyhow::Result<String> {
        let own = |data: &TableData| {
            let file = || data.file.as_ref().map_or_else(String::new, |file| file.display().to_string());
            data.dataset.clone().unwrap_or_else(file)
        };
        let read = self.at_hand()?;
        if std::ptr::eq(read, self) {
            return Ok(own(self));
        }
        Ok(format!("{} in the place of {}", own(read), own(self)))
    }

    fn read(&self) -> anyhow::Result<Loaded> {
        if let Some(fraction) = self.test_fraction {
            let fits = fraction > 0.0 && fraction < 1.0;
            ensure!(fits, "data.test_fraction = {fraction}: give a share between 0 and 1");
        }
        let mut loaded = match (&self.dataset, &self.file) {
            (Some(name), _) => {
                ensure!(
                    self.label.is_none(),
                    "data.label: remove the key, since the catalog knows the label of `{name}`"
                );
                Catalog::from_env()?.load(name)?
            }
            (None, Some(file)) => {
                let label = self
                    .label
                    .clone()
                    .context("data.label is missing: give the name of the column of labels")?;
                let options = CsvOptions { target: Column::Name(label), ..CsvOptions::default() };
                let rows = Table::Dense(read_csv(file, &Opening::default(), &options)?);
                let split = lao_datasets::catalog::SplitRule::Random { test_fraction: 0.25 };
                Loaded { name: file.display().to_string(), train: rows, test: None, split }
            }
            (None, None) => bail!("data needs one of the keys `dataset` and `file`"),
        };
        for rows in std::iter::once(&mut loaded.train).chain(&mut loaded.test) {
            if let Some([positive, negative]) = self.classes {
                *rows = two_classes(rows, positive, negative)?;
            }
            if let Table::Sparse(sparse) = &*rows
                && let Some(dense) = dense(sparse)
            {
                *rows = Table::Dense(dense);
            }
            let Table::Dense(table) = rows else {
                bail!("{}: the table is sparse, and too large to store every value", loaded.name)
            };
            if self.log_labels {
                log1p_labels(&mut table.labels)?;
            }
        }
        Ok(loaded)
    }

    /// Returns the number of attributes that the catalog states, or that of the file.
    ///
    /// # Errors
    /// When the catalog does not know the dataset, or as [`load`](Self::load) for a file.
    pub fn stated_dim(&self) -> anyhow::Result<usize> {
        match &self.dataset {
            Some(name) => Ok(Catalog::from_env()?.dataset(name)?.features),
            None => self.dim(),
        }
    }

    /// Returns the number of attributes of the table. Attributes that are constant on the training rows are
    /// dropped in each repetition.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn dim(&self) -> anyhow::Result<usize> {
        Ok(self.load()?.train.dim())
    }

    /// Returns the training and test rows of one repetition, in the order of the table.
    fn split(&self, seed: &Seed) -> anyhow::Result<SplitTable> {
        let loaded = self.load()?;
        let split = seed.child("split");
        Ok(match (self.test_fraction, &loaded.test) {
            (Some(fraction), None) => {
                split_random(loaded.train.rows(), fraction, &split)?.apply(&loaded.train)?
            }
            (Some(_), Some(_)) => {
                bail!("data.test_fraction: remove the key, since `{}` has test rows of its own", loaded.name)
            }
            (None, _) => loaded.clone().into_train_test(&split)?,
        })
    }

    /// Splits and orders the rows of one repetition as [`train_test`](Self::train_test) does, and leaves
    /// their values as they are. Returns training and test rows.
    ///
    /// # Errors
    /// As [`load`](Self::load), or when there are too few rows, or if values were to be clipped.
    pub fn raw_train_test(&self, seed: &Seed) -> anyhow::Result<[DenseRows; 2]> {
        ensure!(self.clip.is_none(), "data.clip: remove the key, since the rows are not standardized");
        let SplitTable { train, test } = self.split(seed)?;
        let (train, test) = train.dense().zip(test.dense()).context("the table is not dense")?;
        let mut shuffled = Columns::try_from(train)?.shuffled(&seed.child("order"));
        let all = |rows: &mut Columns<f64>| {
            let count = rows.rows();
            DenseRows::take(rows, count)
        };
        Ok([all(&mut shuffled)?, all(&mut Columns::try_from(test)?)?])
    }

    /// Splits, standardizes and orders the rows of one repetition.
    ///
    /// # Errors
    /// As [`load`](Self::load), or when there are too few rows.
    pub fn train_test(&self, seed: &Seed) -> anyhow::Result<TrainTest> {
        let SplitTable { train, test } = self.split(seed)?;
        let (train, test) = train.dense().zip(test.dense()).context("the table is not dense")?;
        let (standardizer, centering) = (Standardizer::fit(train)?, Centering::fit(&train.labels)?);
        let prepare = |table: &DenseTable| -> anyhow::Result<Columns<f64>> {
            let mut table = standardizer.apply(table)?;
            centering.apply(&mut table.labels);
            if let Some(most) = self.clip {
                Clip::new(-most, most)?.apply(table.values_mut());
            }
            Ok(Columns::try_from(&table)?)
        };
        let (train, test_rows) = (prepare(train)?, prepare(test)?);
        let labels = test.labels.iter().map(|label| label - centering.mean);
        let error_of_mean = labels.map(|label| label * label).sum::<f64>() / test.rows() as f64;
        Ok(TrainTest { train: train.shuffled(&seed.child("order")), test: test_rows, error_of_mean })
    }
}
