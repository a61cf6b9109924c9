//! Examples: the rows of a table with a label, as attributes of numbers that a learner buys.

mod label;
mod order;
#[cfg(feature = "parquet")]
mod paged;
mod prices;
mod rows;
mod stream;
mod weights;

use crate::error::{Error, nearest};
use crate::frame::{Column, Frame, Reading, Values};
use crate::table::Table;
use label::{Coding, labels, too_many};
use lao_algorithms::pursuit::LARGEST;
use lao_observation::SourceError;
use rows::Rows;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
pub(crate) use stream::Stream;
#[cfg(feature = "parquet")]
pub(crate) use {
    label::Classes,
    paged::{PagedLabel, PagedParts},
    rows::Runs,
};

/// What the label is.
///
/// ```
/// use lao::{Frame, Label, ReadOptions};
///
/// let text = b"age,state\n61,ill\n47,well\n52,ill\n39,well\n";
/// let frame = Frame::parse(text, "patients.csv", &ReadOptions::default())?;
/// let classes = Label::Classes { positive: "ill".into(), negative: "well".into() };
/// assert_eq!(frame.clone().target_class("state", "ill")?.label(), &classes);
/// assert_eq!(frame.target("age")?.label(), &Label::Number);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Label {
    /// A number, which is predicted.
    Number,
    /// One of two classes. Learners are told +1 and -1.
    Classes {
        /// The class that is +1, as the table writes it.
        positive: String,
        /// The class that is -1.
        negative: String,
    },
}

#[derive(Debug)]
struct Store {
    table: String,
    hash: String,
    target: String,
    label: Label,
    names: Vec<String>,
    /// The other columns of the table: the target, and those that were left out.
    others: Vec<String>,
    /// The column of each attribute and, if the column has words, the word at which the attribute is 1.
    attributes: Vec<(String, Option<String>)>,
    values: Arc<dyn Table>,
    labels: Labels,
    notes: Vec<String>,
    reading: Reading,
}

/// Where labels are: NaN where one is missing, and +1 and -1 for two classes.
#[derive(Debug)]
enum Labels {
    /// In memory, one for each row of the table.
    Held(Vec<f64>),
    /// In the table, which reads them with the values of other attributes, as if they were one of them, of
    /// the number `at`. The table has so many `rows`.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "other tables are given labels"))]
    Stored { at: u32, coding: Coding, rows: usize },
}

impl Labels {
    /// Returns the number of rows of the table.
    fn rows(&self) -> usize {
        match self {
            Labels::Held(labels) => labels.len(),
            Labels::Stored { rows, .. } => *rows,
        }
    }
}

/// The parts of which [`Examples`] are made, for a [`Table`] that is no [`Frame`].
///
/// ```
/// use lao::{Examples, Label, TableParts};
/// use std::sync::Arc;
///
/// // Two columns in memory; the third row has no label.
/// let parts = TableParts {
///     table: Arc::new(vec![vec![1.0, 2.0, 3.0, 4.0], vec![0.5, 0.1, 0.4, 0.9]]),
///     name: "sensors".into(),
///     names: vec!["heat".into(), "light".into()],
///     target: "growth".into(),
///     label: Label::Number,
///     labels: vec![2.0, 4.1, f64::NAN, 8.2],
///     rows: vec![0, 1, 2, 3],
/// };
/// assert_eq!(Examples::from_table(parts)?.len(), 3);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableParts {
    /// The values.
    pub table: Arc<dyn Table>,
    /// The name of the table, for the model and for messages.
    pub name: String,
    /// The name of each attribute; no two are equal.
    pub names: Vec<String>,
    /// The name of the label.
    pub target: String,
    /// What the label is.
    pub label: Label,
    /// The label of each row of the table: a number, or +1 and -1 for two classes; NaN where it is missing.
    pub labels: Vec<f64>,
    /// The rows that are examples, in their order. Those whose label is missing are left out.
    pub rows: Vec<u32>,
}

/// Rows with attributes of numbers and a label. A copy shares the values.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// use lao::observation::Seed;
///
/// // let table = "diabetes.csv.gz";
/// let examples = lao::read(table)?.target("progression")?;
/// assert_eq!((examples.len(), examples.names().len()), (442, 10));
/// let split = examples.split(0.25, &Seed::root(1))?;
/// assert_eq!((split.train.len(), split.test.len()), (331, 111));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Examples {
    store: Arc<Store>,
    /// The rows that belong to these examples, in their order.
    rows: Arc<Rows>,
    /// The weight of each row of the table, if rows have weights.
    weights: Option<Arc<Vec<f64>>>,
    /// Ends every stream of these examples when it becomes true.
    stop: Arc<AtomicBool>,
}

/// Examples in two parts, such as those to learn from and those to judge a model by.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// // let table = "diabetes.csv.gz";
/// let examples = lao::read(table)?.target("progression")?;
/// let lao::TrainTest { train, test } = examples.split_in_order(0.5)?;
/// assert_eq!([train.labels()?, test.labels()?].concat(), examples.labels()?);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrainTest {
    /// The examples to learn from.
    pub train: Examples,
    /// The others.
    pub test: Examples,
}

impl Examples {
    pub(crate) fn new(frame: Frame, target: &str, positive: Option<&str>) -> Result<Self, Error> {
        let mut notes = frame.notes().to_vec();
        let (label, labels) = labels(&frame.column(target)?.values, target, positive, &mut notes)?;
        let (mut names, mut attributes, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (table, hash, reading) =
            (frame.name().to_owned(), frame.hash().to_owned(), frame.reading().clone());
        let mut others: Vec<String> = frame.names().map(str::to_owned).collect();
        // The columns move: there is no second copy of the table.
        for Column { name, values: column } in frame.into_columns() {
            if name == target {
                continue;
            }
            match column {
                Values::Numbers(numbers) => {
                    let mut known = numbers.iter().filter(|x| !x.is_nan());
                    let first = known.next();
                    if known.all(|x| Some(x) == first) {
                        notes.push(format!("`{name}` is left out: it is constant"));
                        continue;
                    }
                    // Squares of larger and smaller numbers are none.
                    let (low, high) =
                        numbers.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (x.min(a), x.max(b)));
                    if high - low < SMALLEST || low < -LARGEST || high > LARGEST {
                        notes.push(format!(
                            "`{name}` is left out: its values lie from {low:e} to {high:e}; \
                             give it in another unit"
                        ));
                        continue;
                    }
                    names.push(name.clone());
                    attributes.push((name.clone(), None));
                    values.push(numbers);
                }
                Values::Words { words, .. } if words.len() < 2 => {
                    notes.push(format!("`{name}` is left out: it is constant"));
                }
                Values::Words { words, places } => {
                    // Of two words one says all.
                    for (place, word) in words.iter().enumerate().skip(usize::from(words.len() == 2)) {
                        let is = |&at: &u32| match at as usize {
                            at if at >= words.len() => f64::NAN,
                            at => f64::from(u8::from(at == place)),
                        };
                        names.push(format!("{name}={word}"));
                        attributes.push((name.clone(), Some(word.clone())));
                        values.push(places.iter().map(is).collect());
                    }
                }
                Values::Others(why) => notes.push(format!("`{name}` is left out: {why}")),
                Values::TooManyWords(first) => {
                    notes.push(format!("`{name}` is left out: it has {}", too_many(first.as_ref())));
                }
            }
        }
        if names.is_empty() {
            let said = notes.iter().map(|note| format!("; {note}")).collect::<String>();
            let reason = format!("no other column can be an attribute: each is constant or free text{said}");
            return Err(Error::Column { column: target.into(), reason });
        }
        let mut known = HashMap::new();
        for (name, (column, _)) in names.iter().zip(&attributes) {
            if let Some(other) = known.insert(name.as_str(), column) {
                let reason = format!(
                    "its attribute `{name}` has the name of one of column `{other}`; rename a column, or \
                     leave one out by --drop"
                );
                return Err(Error::Column { column: column.clone(), reason });
            }
        }
        let rows = all_rows(&labels);
        let missing = labels.len() - rows.len();
        if missing > 0 {
            notes.push(format!("{missing} rows are left out: they have no `{target}`"));
        }
        let used: HashSet<&str> = attributes.iter().map(|(column, _)| column.as_str()).collect();
        others.retain(|name| !used.contains(name.as_str()));
        let notes = notes.into_iter().map(crate::escape::line).collect();
        let (target, values) = (target.to_owned(), Arc::new(values));
        let (labels, rows) = (Labels::Held(labels), Rows::Listed(rows));
        let store =
            Store { table, hash, target, label, names, others, attributes, values, labels, notes, reading };
        Ok(Examples { store: Arc::new(store), rows: Arc::new(rows), weights: None, stop: Arc::default() })
    }

    /// Returns the rows of a table as examples. Nothing but the labels is read.
    ///
    /// # Errors
    /// When there is not one name for each attribute, two names are equal, a row has no label, or a label is
    /// infinite or belongs to no class.
    pub fn from_table(parts: TableParts) -> Result<Self, Error> {
        let TableParts { table: values, name: table, names, target, label, labels, mut rows } = parts;
        let fail = |column: &str, reason: String| Err(Error::Column { column: column.into(), reason });
        if names.is_empty() || names.len() != values.dim() {
            let (found, dim) = (names.len(), values.dim());
            return fail(&target, format!("{found} names for {dim} attributes; give one name for each"));
        }
        check_names(&names)?;
        if let Some(row) = rows.iter().find(|row| **row as usize >= labels.len()) {
            return fail(&target, format!("row {row} has no label; there are {} labels", labels.len()));
        }
        rows.retain(|&row| !labels[row as usize].is_nan());
        let strange = |y: f64| y.is_infinite() || (label != Label::Number && y.abs() != 1.0);
        if let Some((row, y)) = rows.iter().map(|&row| (row, labels[row as usize])).find(|&(_, y)| strange(y))
        {
            return fail(&target, format!("the label of row {row} is {y}; give a finite number or a class"));
        }
        let attributes = names.iter().map(|name| (name.clone(), None)).collect();
        let (hash, notes, others) = (String::new(), Vec::new(), vec![target.clone()]);
        let reading = Reading::default();
        let is_paged = values.pages().is_some();
        let rows = if is_paged { Rows::in_runs(rows.into_iter()) } else { Rows::Listed(rows) };
        let labels = Labels::Held(labels);
        let store =
            Store { table, hash, target, label, names, others, attributes, values, labels, notes, reading };
        Ok(Examples { store: Arc::new(store), rows: Arc::new(rows), weights: None, stop: Arc::default() })
    }

    /// Returns the parts that make examples like these, without weights; the values are shared.
    ///
    /// # Errors
    /// When the labels, if they are not in memory, cannot be read.
    pub fn parts(&self) -> Result<TableParts, Error> {
        let store = &*self.store;
        let labels = match &store.labels {
            Labels::Held(labels) => labels.clone(),
            Labels::Stored { rows, .. } => {
                let mut labels = vec![f64::NAN; *rows];
                let mut places = self.rows.iter();
                self.each_label(0..self.len(), |y| {
                    if let Some(row) = places.next() {
                        labels[row as usize] = y;
                    }
                })?;
                labels
            }
        };
        Ok(TableParts {
            table: Arc::clone(&store.values),
            name: store.table.clone(),
            names: store.names.clone(),
            target: store.target.clone(),
            label: store.label.clone(),
            labels,
            rows: self.rows.iter().collect(),
        })
    }

    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// Returns the names of the attributes: of a column with words there is one for each word, `column=word`.
    pub fn names(&self) -> &[String] {
        &self.store.names
    }

    /// Returns what the label is.
    pub fn label(&self) -> &Label {
        &self.store.label
    }

    /// Returns the name of the label's column.
    pub fn target(&self) -> &str {
        &self.store.target
    }

    /// Returns what was left out of the table, and why, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.store.notes
    }

    /// Returns the number of columns that the attributes come from: a column of words is several attributes.
    pub fn columns(&self) -> usize {
        let mut columns: Vec<&str> =
            self.store.attributes.iter().map(|(column, _)| column.as_str()).collect();
        // The attributes of a column are neighbors.
        columns.dedup();
        columns.len()
    }

    /// Returns what was chosen when the table was read.
    pub(crate) fn reading(&self) -> &Reading {
        &self.store.reading
    }

    /// Returns the attributes of some columns, ascending.
    ///
    /// # Errors
    /// When there is no attribute of such a column.
    pub(crate) fn places(&self, columns: &[String]) -> Result<Vec<u32>, Error> {
        let Store { attributes, .. } = &*self.store;
        for column in columns {
            if !attributes.iter().any(|(other, _)| other == column) {
                let near = nearest(column, attributes.iter().map(|(other, _)| other.as_str()));
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let reason = format!("no attribute comes from such a column{near}");
                return Err(Error::Column { column: column.clone(), reason });
            }
        }
        let among = |(_, (column, _)): &(u32, &(String, _))| columns.contains(column);
        Ok((0..).zip(attributes).filter(among).map(|(j, _)| j).collect())
    }

    pub(crate) fn table(&self) -> (&str, &str) {
        (&self.store.table, &self.store.hash)
    }

    /// Returns the column and the word of each attribute.
    pub(crate) fn attributes(&self) -> Vec<(String, Option<String>)> {
        self.store.attributes.clone()
    }

    /// Returns the column of each attribute, by its number; nothing if each column is one attribute.
    pub(crate) fn groups(&self) -> Vec<u32> {
        let attributes = &self.store.attributes;
        // The attributes of a column are neighbors.
        let is_new = |j: usize| j == 0 || attributes[j].0 != attributes[j - 1].0;
        let columns = (0..attributes.len()).scan(0, |next, j| {
            *next += u32::from(is_new(j));
            Some(*next - 1)
        });
        let columns: Vec<u32> = columns.collect();
        if columns.len() == self.columns() { Vec::new() } else { columns }
    }

    /// Returns the labels.
    ///
    /// # Errors
    /// When they are not in memory and cannot be read.
    pub fn labels(&self) -> Result<Vec<f64>, Error> {
        let mut labels = Vec::with_capacity(self.len());
        self.each_label(0..self.len(), |y| labels.push(y))?;
        Ok(labels)
    }

    /// Tells the labels at some places. There are fewer if the table ends the stream.
    pub(crate) fn each_label(&self, places: Range<usize>, mut each: impl FnMut(f64)) -> Result<(), Error> {
        /// Rows whose labels are read at once.
        const AT_ONCE: usize = 1 << 16;
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for start in places.clone().step_by(AT_ONCE) {
            self.rows.copy(start..places.end.min(start + AT_ONCE), &mut rows);
            if self.read_rows(&[], &rows, &mut labels)?.is_break() {
                break;
            }
            (0..rows.len()).for_each(|r| each(self.label_of(&rows, r, &labels)));
        }
        Ok(())
    }

    /// Reads the values of `attributes` in some rows, column after column, and a column of labels after them
    /// if they are not in memory.
    fn read_rows(
        &self,
        attributes: &[u32],
        rows: &[u32],
        into: &mut Vec<f64>,
    ) -> Result<ControlFlow<()>, SourceError> {
        let values = &self.store.values;
        match self.store.labels {
            Labels::Held(_) => {
                into.resize(attributes.len() * rows.len(), 0.0);
                if into.is_empty() {
                    Ok(ControlFlow::Continue(()))
                } else {
                    values.read(attributes, rows, into)
                }
            }
            Labels::Stored { at, .. } => {
                let asked = [attributes, &[at]].concat();
                into.resize(asked.len() * rows.len(), 0.0);
                values.read(&asked, rows, into)
            }
        }
    }

    /// Begins to fetch what [`read_rows`](Self::read_rows) is likely to read: of some attributes some rows,
    /// and so on.
    fn expect(&self, mut expected: Vec<(Vec<u32>, Vec<u32>)>) {
        if let Labels::Stored { at, .. } = self.store.labels {
            expected.iter_mut().for_each(|(attributes, _)| attributes.push(at));
        }
        self.store.values.expect(&expected);
    }

    /// Returns the label of one of some rows that were [read](Self::read_rows).
    fn label_of(&self, rows: &[u32], r: usize, read: &[f64]) -> f64 {
        match &self.store.labels {
            Labels::Held(labels) => labels[rows[r] as usize],
            Labels::Stored { coding, .. } => coding.label(read[read.len() - rows.len() + r]),
        }
    }

    /// Writes the values of `attributes` of the examples in `places` to `into`, column after column, NaN
    /// where one is missing, and tells the labels; a break says that the table ends the stream here.
    pub(crate) fn read(
        &self,
        attributes: &[u32],
        places: Range<usize>,
        into: &mut [f64],
        each_label: impl FnMut(f64),
    ) -> Result<ControlFlow<()>, Error> {
        let (mut rows, mut read) = (Vec::new(), Vec::new());
        self.rows.copy(places, &mut rows);
        let read_on = self.read_rows(attributes, &rows, &mut read)?;
        into.copy_from_slice(&read[..into.len()]);
        (0..rows.len()).map(|r| self.label_of(&rows, r, &read)).for_each(each_label);
        Ok(read_on)
    }

    /// Returns the examples in these rows.
    fn of(&self, rows: Rows) -> Examples {
        Examples { rows: Arc::new(rows), ..self.clone() }
    }

    /// Returns the same examples, whose runs end when `stop` becomes true, as if there were no more examples:
    /// what was learned until then is kept.
    pub fn until(self, stop: Arc<AtomicBool>) -> Examples {
        Examples { stop, ..self }
    }

    /// Returns the examples as a stream, `passes` times over; with `gaps`, an example comes without what it
    /// lacks.
    pub(crate) fn stream(&self, passes: u64, gaps: bool) -> Stream {
        Stream::new(self.clone(), passes, gaps)
    }
}

/// Returns the rows that have a label.
fn all_rows(labels: &[f64]) -> Vec<u32> {
    (0..).zip(labels).filter(|(_, y)| !y.is_nan()).map(|(row, _)| row).collect()
}

/// Checks that no two attributes have one name.
fn check_names(names: &[String]) -> Result<(), Error> {
    let mut known = HashSet::new();
    let Some(twice) = names.iter().find(|name| !known.insert(name.as_str())) else { return Ok(()) };
    Err(Error::Column {
        column: twice.clone(),
        reason: "two attributes have this name; rename one of them".into(),
    })
}

/// The smallest difference of the values of a column.
const SMALLEST: f64 = 1e-150;
