//! The kind `peers`: lao_learn, the project's package for Python, beside the packages of other projects, on
//! the same files.
//!
//! A scenario asks one of three questions. *Purchases*: how accurate is a model within a budget of attributes
//! per training row, and how accurate are models from the complete rows that the same purchases pay for, with
//! no more attributes? *Full information*: how long does it take to find a model of k attributes that is as
//! good as the true one? *Disk*: what is read of a wide table in a Parquet file, and how long does a model
//! take?
//! `peers/` has the learners, and all of their settings.
//!
//! Each learner has a process of its own, with the same number of threads. A package that is absent, or
//! fails, leaves rows with the reason.

use super::{Analysis, Job, Kind, Measurement, Rows};
use crate::data::{Data, DenseRows, SparseRows, draw_classes};
use crate::npy;
use crate::row::{Row, median};
use crate::runner::{self, Answer, Request, Runner};
use crate::tier::Size;
use anyhow::{Context as _, anyhow, bail, ensure};
use lao_observation::Seed;
use lao_parquet::{Values, Writing};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

const ERROR: &str = "relative test error";
const READS: &str = "attributes per prediction";
const BOUGHT: &str = "values bought";
const TIME: &str = "seconds";
const FIRST: &str = "seconds of the first fit";
const REACHED: &str = "reached";
const LAST: &str = "seconds of the last run";
const EFFORT: &str = "effort";
const LOSS: &str = "training loss over that of the true support";
const F1: &str = "support F1";
const ATTRIBUTES: &str = "attributes";
const SHARE: &str = "share of the file read";
const EXCESS: &str = "excess risk";
const DROPPED: &str = "files dropped from memory";

/// All measurements that a runner may report.
const METRICS: [&str; 14] =
    [ERROR, READS, BOUGHT, TIME, FIRST, REACHED, LAST, EFFORT, LOSS, F1, ATTRIBUTES, SHARE, EXCESS, DROPPED];

/// The settings of the kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peers {
    question: Question,
    /// The time that a fit may take, in seconds; a fit that takes longer is a row with the reason.
    seconds: f64,
    /// The number of threads of each learner.
    threads: usize,
    /// The Python interpreter; without it, that of the variable LAO_PYTHON, or python3.
    python: Option<PathBuf>,
    /// The data.
    tables: Vec<PeerTable>,
    /// The learners, of which the others are compared with the first.
    learners: Vec<Peer>,
    /// "LEARNER on TABLE" for each pair: all learners on the first table, then those on the next one.
    #[serde(skip)]
    names: Vec<String>,
    #[serde(skip)]
    state: Mutex<State>,
}

/// A question that a scenario asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Question {
    /// Accuracy at equal purchases and equal numbers of attributes in prediction.
    Purchases,
    /// Time to a goal at full information.
    FullInformation,
    /// Bytes and time for a table on disk.
    Disk,
}

impl Question {
    fn name(self) -> &'static str {
        match self {
            Question::Purchases => "purchases",
            Question::FullInformation => "full-information",
            Question::Disk => "disk",
        }
    }
}

/// The data of a table. A learner gets raw rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerTable {
    name: String,
    data: Data,
    /// For data from a design: the number of attributes, of training rows and of test rows, and the
    /// correlation of neighboring attributes.
    dim: Option<usize>,
    train: Option<u64>,
    test: Option<u64>,
    #[serde(default)]
    correlation: f64,
    /// For data from a design: whether the label is a sum of curves and a product, instead of a line.
    #[serde(default)]
    curved: bool,
    /// For data from a design and the question of full information: whether labels are two classes, drawn
    /// with the logistic probability of the linear predictor; and the entries of a row, if rows are sparse.
    #[serde(default)]
    classes: bool,
    entries: Option<usize>,
    /// For the question of purchases: the number of attributes that may be bought of a training row, and the
    /// largest number of attributes of a model.
    budget: Option<usize>,
    longest: Option<usize>,
}

/// A learner, by its name in the scenario and by that in the program of its question.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Peer {
    name: String,
    learner: String,
}

/// What the jobs of a run share.
#[derive(Debug, Default)]
struct State {
    /// The runner of each learner, or the reason why it cannot be started.
    runners: BTreeMap<String, Result<Runner, String>>,
    /// The table and the seed whose files were written last.
    files: Option<(usize, Seed, Result<TempDir, String>)>,
    software: BTreeSet<String>,
}

/// The training rows of a table.
enum TrainRows {
    Dense(DenseRows),
    Sparse(SparseRows),
}

/// The rows of a table in one repetition.
struct Files {
    train: TrainRows,
    test: DenseRows,
    /// The attributes that determine the label, where they are known.
    support: Option<Vec<u32>>,
}

impl PeerTable {
    fn dim(&self) -> anyhow::Result<usize> {
        match &self.data {
            Data::Design(_) => self.dim.context("`dim` is missing: give the number of attributes"),
            Data::Table(table) => table.stated_dim(),
        }
    }

    fn check(&self, question: Question) -> anyhow::Result<()> {
        let dim = self.dim()?;
        let a = self.correlation;
        ensure!((0.0..1.0).contains(&a), "correlation = {a}: give a number of [0, 1)");
        match &self.data {
            Data::Design(design) => {
                design.target(dim, &Seed::root(0))?;
                self.train.context("`train` is missing: give the number of training rows")?;
                let entries = self.entries.unwrap_or(1);
                ensure!((1..=dim / 2).contains(&entries), "entries = {entries}: give 1 to {}", dim / 2);
                ensure!(
                    question == Question::FullInformation || !self.classes && self.entries.is_none(),
                    "`classes` and `entries` are for the question of full information: remove the keys"
                );
            }
            Data::Table(_) => ensure!(
                self.dim.is_none()
                    && self.train.is_none()
                    && self.test.is_none()
                    && a == 0.0
                    && !self.classes
                    && !self.curved
                    && self.entries.is_none(),
                "`dim`, `train`, `test`, `correlation`, `curved`, `classes` and `entries` are for designs: \
                 remove the keys"
            ),
        }
        match (question, &self.data, self.budget, self.longest) {
            (Question::Purchases, data, Some(budget), Some(longest)) => {
                ensure!(
                    0 < longest && longest <= budget && budget <= dim,
                    "longest = {longest} and budget = {budget}: give 1 <= longest <= budget <= {dim}"
                );
                let design = matches!(data, Data::Design(_));
                ensure!(!design || self.test.is_some(), "`test` is missing: give the number of test rows");
            }
            (Question::Purchases, ..) => bail!("`budget` and `longest` are missing: give both"),
            (Question::Disk, _, Some(budget), None) => {
                ensure!(0 < budget && budget <= dim, "budget = {budget}: give 1 to {dim}");
                let given = self.test.is_some() || self.curved;
                ensure!(!given, "`test` and `curved` are for the question of purchases: remove the keys");
            }
            (Question::Disk, ..) => bail!("give `budget` without `longest`"),
            (Question::FullInformation, Data::Design(_), None, None) => {
                ensure!(self.test.is_none(), "`test` is for the question of purchases: remove the key");
            }
            (Question::FullInformation, Data::Table(_), ..) => {
                bail!("the question of full information needs data from a design, whose support is known")
            }
            (Question::FullInformation, ..) => {
                bail!("`budget` and `longest` are for the question of purchases: remove the keys")
            }
        }
        Ok(())
    }

    fn files(&self, size: Size, seed: &Seed) -> anyhow::Result<Files> {
        match &self.data {
            Data::Design(design) => {
                let count = |rows: Option<u64>| usize::try_from(rows.map_or(0, |rows| size.scaled(rows, 20)));
                let (train_rows, dim, train_seed) = (count(self.train)?, self.dim()?, seed.child("train"));
                if let Some(entries) = self.entries {
                    let (target, rows) = design.words((dim, entries), train_rows, self.classes, seed)?;
                    let (train, support) = (TrainRows::Sparse(rows), Some(target.indices().to_vec()));
                    return Ok(Files { train, test: DenseRows::default(), support });
                }
                let target = design.target(dim, seed)?;
                let rows = |rows: usize, seed: &Seed| {
                    if self.curved {
                        design.curved(&target, self.correlation, rows, seed)
                    } else {
                        design.correlated(&target, self.correlation, rows, seed)
                    }
                };
                let mut train = rows(train_rows, &train_seed)?;
                if self.classes {
                    draw_classes(&mut train.labels, &train_seed);
                }
                let test = rows(count(self.test)?, &seed.child("test"))?;
                let support = Some(target.indices().to_vec());
                Ok(Files { train: TrainRows::Dense(train), test, support })
            }
            Data::Table(table) => {
                let [train, test] = table.raw_train_test(seed)?;
                Ok(Files { train: TrainRows::Dense(train), test, support: None })
            }
        }
    }

    /// Writes the files of a repetition into a new folder.
    fn write(&self, question: Question, size: Size, seed: &Seed) -> anyhow::Result<TempDir> {
        if question == Question::Disk {
            return self.write_table(size, seed);
        }
        let Files { train, test, support } = self.files(size, seed)?;
        let folder = tempfile::tempdir().context("cannot make a folder for the data of the peers")?;
        let path = |name: &str| folder.path().join(format!("{name}.npy"));
        match &train {
            TrainRows::Dense(train) => write_dense(folder.path(), "train", train)?,
            TrainRows::Sparse(SparseRows { starts, places, values, labels }) => {
                let shape = [labels.len() as f64, self.dim()? as f64];
                let lists: [(&str, &[f64]); 5] = [
                    ("shape", &shape),
                    ("starts", starts),
                    ("places", places),
                    ("values", values),
                    ("train-y", labels),
                ];
                for (name, list) in lists {
                    npy::write(&path(name), &[list.len()], list)?;
                }
            }
        }
        write_dense(folder.path(), "test", &test)?;
        if let Some(support) = support {
            let places: Vec<f64> = support.into_iter().map(f64::from).collect();
            npy::write(&path("support"), &[places.len()], &places)?;
        }
        Ok(folder)
    }
}

/// Writes the rows of one part of a table.
fn write_dense(folder: &Path, name: &str, rows: &DenseRows) -> anyhow::Result<()> {
    let path = |what: &str| folder.join(format!("{name}-{what}.npy"));
    let count = rows.labels.len();
    let dim = rows.columns.len().checked_div(count).unwrap_or_default();
    npy::write(&path("x"), &[count, dim], &rows.columns)?;
    npy::write(&path("y"), &[count], &rows.labels)
}

impl PeerTable {
    /// Writes the table of a repetition as a Parquet file of numbers in single precision, in short pages, and
    /// the true coefficients, if they are known, or else test rows, into a new folder.
    fn write_table(&self, size: Size, seed: &Seed) -> anyhow::Result<TempDir> {
        let folder = tempfile::tempdir().context("cannot make a folder for the data of the peers")?;
        let drawn = match &self.data {
            Data::Design(design) => {
                let rows = usize::try_from(self.train.map_or(0, |rows| size.scaled(rows, 20)))?;
                let target = design.target(self.dim()?, seed)?;
                npy::write(&folder.path().join("theta.npy"), &[target.dim()], &target.view().to_dense())?;
                design.correlated(&target, self.correlation, rows, &seed.child("train"))?
            }
            Data::Table(table) => {
                let [train, test] = table.raw_train_test(seed)?;
                write_dense(folder.path(), "test", &test)?;
                train
            }
        };
        let rows = drawn.labels.len();
        let names: Vec<String> = (0..self.dim()?).map(|j| format!("x{j}")).collect();
        let columns = names.iter().zip(drawn.columns.chunks(rows.max(1)));
        let mut columns: Vec<(&str, Values<'_>)> =
            columns.map(|(name, column)| (name.as_str(), column.into())).collect();
        columns.push(("y", (&drawn.labels).into()));
        let file = BufWriter::new(File::create(folder.path().join("table.parquet"))?);
        // As `lao data --rewrite` does.
        let page = (rows / 1600).clamp(64, 1024);
        lao_parquet::write(
            file,
            "the table",
            &columns,
            &Writing { page, single: true, ..Writing::default() },
        )?;
        Ok(folder)
    }
}

impl State {
    /// Returns the folder of a table in one repetition. Its files are written once for all learners.
    fn folder(
        &mut self,
        (place, table): (usize, &PeerTable),
        question: Question,
        size: Size,
        seed: &Seed,
    ) -> anyhow::Result<PathBuf> {
        let known = |files: &&(usize, Seed, _)| files.0 == place && files.1 == *seed;
        if self.files.as_ref().filter(known).is_none() {
            // The folder of the last table is removed before the next one is written.
            self.files = None;
            let folder = table.write(question, size, seed).map_err(|error| format!("{error:#}"));
            self.files = Some((place, seed.clone(), folder));
        }
        match self.files.as_ref().map(|(_, _, folder)| folder) {
            Some(Ok(folder)) => Ok(folder.path().to_owned()),
            Some(Err(error)) => bail!("{error}"),
            None => bail!("the data of the peers are not there"),
        }
    }
}

impl Peers {
    fn pair(&self, contender: usize) -> (usize, &PeerTable, &Peer) {
        let place = contender / self.learners.len();
        (place, &self.tables[place], &self.learners[contender % self.learners.len()])
    }

    /// Asks the runner of a learner, which is started if it does not run.
    fn ask(&self, state: &mut State, learner: &str, request: &Request) -> anyhow::Result<Answer> {
        let start = || {
            let python = self.python.clone().unwrap_or_else(runner::python);
            let threads = self.threads.to_string();
            let arguments = [self.question.name(), learner, &threads];
            let patience = Duration::try_from_secs_f64(self.seconds)?;
            Runner::start(&python, &runner::program(), &arguments, patience)
        };
        if let Some(Ok(runner)) = state.runners.get_mut(learner)
            && !runner.is_alive()
        {
            state.runners.remove(learner);
        }
        let runner = state
            .runners
            .entry(learner.into())
            .or_insert_with(|| start().map_err(|error| format!("{error:#}")))
            .as_mut()
            .map_err(|error| anyhow!("{error}"))?;
        state.software.extend(runner.software.iter().cloned());
        runner.ask(request)
    }
}

impl Kind for Peers {
    fn label(&self) -> &'static str {
        "comparison with other packages"
    }

    fn contenders(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn needs_idle_machine(&self) -> bool {
        true
    }

    fn resolve(&mut self, folder: &Path) {
        for table in &mut self.tables {
            if let Data::Table(data) = &mut table.data {
                data.resolve(folder);
            }
        }
        if let Some(python) = self.python.as_mut().filter(|python| python.components().count() > 1) {
            *python = folder.join(&python);
        }
        let pair = |table: &PeerTable, peer: &Peer| format!("{} on {}", peer.name, table.name);
        self.names =
            self.tables.iter().flat_map(|table| self.learners.iter().map(|peer| pair(table, peer))).collect();
    }

    fn dims(&self, contender: usize) -> anyhow::Result<Vec<usize>> {
        Ok(vec![self.pair(contender).1.dim()?])
    }

    fn software(&self) -> Vec<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.software.iter().cloned().collect()
    }

    /// Checks the settings. Packages and data that are absent are no reason to refuse a run.
    fn check(&self) -> anyhow::Result<()> {
        let seconds = self.seconds;
        ensure!(seconds > 0.0 && seconds <= 1e6, "seconds = {seconds}: give a time above 0, at most 1e6");
        ensure!(self.threads > 0, "threads = 0: give at least 1");
        for table in &self.tables {
            table.check(self.question).with_context(|| format!("table {}", table.name))?;
        }
        Ok(())
    }

    fn measure(&self, job: &Job, size: Size, seed: &Seed) -> anyhow::Result<Vec<Measurement>> {
        let (place, table, peer) = self.pair(job.contender);
        let seed = seed.child("table").child(&table.name);
        // Jobs run one after the other, so nothing waits here.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = state.folder((place, table), self.question, size, &seed)?;
        let request = Request {
            table: table.name.clone(),
            repetition: job.repetition,
            folder,
            // A number of 31 bits is a seed for all packages.
            seed: (seed.child("algorithm").words()[0] >> 33) as u32,
            seconds: self.seconds,
            budget: table.budget,
            longest: table.longest,
            classes: table.classes,
            noise: match &table.data {
                Data::Design(design) => Some(design.noise),
                Data::Table(_) => None,
            },
        };
        let Answer { examples, measurements } = self.ask(&mut state, &peer.learner, &request)?;
        let measured = |(name, value): (String, Option<f64>)| {
            let metric = METRICS.iter().find(|metric| **metric == name);
            let metric =
                metric.ok_or_else(|| anyhow!("the runner reports `{name}`; known are {METRICS:?}"))?;
            Ok(Measurement::new(examples, *metric, value.unwrap_or(f64::NAN)))
        };
        measurements.into_iter().map(measured).collect()
    }

    /// Makes a table of medians over the repetitions.
    fn analyze(&self, rows: &Rows<'_>) -> Analysis {
        let head: &[&str] = match self.question {
            Question::Purchases => &[
                "table",
                "learner",
                "relative test error",
                "lower than the first",
                "attributes per prediction",
            ],
            Question::FullInformation => {
                &["table", "learner", "runs that reach the goal", "training loss", "support F1", "attributes"]
            }
            Question::Disk => &["table", "learner", SHARE, EXCESS, ERROR, ATTRIBUTES],
        };
        let times = ["seconds", "least", "most", "seconds of the first fit"];
        let mut table = vec![head.iter().chain(&times).map(|name| (*name).into()).collect::<Vec<String>>()];
        for (contender, name) in self.names.iter().enumerate() {
            let (_, data, peer) = self.pair(contender);
            let first = &self.names[contender - contender % self.learners.len()];
            let values = |metric| rows.values(name, metric, |_| true);
            let middle = |metric, digits| digits_of(median(&values(metric)), digits);
            let mut line = vec![data.name.clone(), peer.name.clone()];
            if self.question == Question::Disk {
                line.extend([middle(SHARE, 4), middle(EXCESS, 6), middle(ERROR, 3), middle(ATTRIBUTES, 0)]);
            } else if self.question == Question::Purchases {
                let better = match paired(rows, name, first) {
                    pairs if pairs.is_empty() || name == first => "-".into(),
                    pairs => format!("{} of {}", pairs.iter().filter(|x| **x < 0.0).count(), pairs.len()),
                };
                line.extend([middle(ERROR, 3), better, middle(READS, 1)]);
            } else {
                let reached = values(REACHED);
                let runs = format!("{} of {}", reached.iter().filter(|x| **x == 1.0).count(), reached.len());
                line.extend([runs, middle(LOSS, 3), middle(F1, 3), middle(ATTRIBUTES, 0)]);
            }
            let seconds = values(TIME);
            let [least, most] = [f64::min, f64::max].map(|of| seconds.iter().copied().reduce(of));
            line.extend([median(&seconds), least, most].map(|value| digits_of(value, 4)));
            line.push(digits_of(values(FIRST).first().copied(), 3));
            table.push(line);
        }
        let winner = match self.question {
            Question::Purchases => {
                "Medians over the repetitions, of the error relative to that of the mean label; the first \
                 learner of each table is compared with the others on the same rows."
            }
            Question::FullInformation => {
                "Medians over the repetitions; the time is that of the first run that reaches the goal, a \
                 training loss within 1% of that of least squares on the true support."
            }
            Question::Disk => {
                "Medians over the repetitions, of the bytes that were read in those of the file, of the \
                 squared distance from the true coefficients, or of the error relative to that of the mean \
                 label, and of the seconds from the closed file to the model."
            }
        };
        Analysis { winner: winner.into(), figures: Vec::new(), table }
    }
}

/// Returns a number with so many digits after the point, or a dash. The large number of a run that diverged
/// is in powers of ten.
fn digits_of(value: Option<f64>, digits: usize) -> String {
    match value {
        None => "-".into(),
        Some(value) if value.abs() >= 1e6 => format!("{value:.0e}"),
        Some(value) => format!("{value:.digits$}"),
    }
}

/// Returns the error of one contender less that of another, in each repetition in which both have one.
fn paired(rows: &Rows<'_>, name: &str, other: &str) -> Vec<f64> {
    let error = |name: &str, repetition: u64| {
        let is = |row: &&Row| row.learner == name && row.metric == ERROR && row.repetition == repetition;
        rows.0.iter().find(is).and_then(|row| row.value)
    };
    let repetitions: BTreeSet<u64> = rows.0.iter().map(|row| row.repetition).collect();
    let pair = |repetition: u64| Some(error(name, repetition)? - error(other, repetition)?);
    repetitions.into_iter().filter_map(pair).collect()
}
