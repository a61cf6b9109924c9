//! Examples: the rows of a table with a label, as attributes of numbers that a learner buys.

mod label;
mod order;
mod prices;
mod stream;

use crate::error::{Error, nearest};
use crate::frame::{Column, Frame, Reading, Values};
use crate::table::Table;
use label::{labels, too_many};
use lao_algorithms::pursuit::LARGEST;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
pub(crate) use stream::Stream;

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
    labels: Vec<f64>,
    notes: Vec<String>,
    reading: Reading,
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
    rows: Arc<Vec<u32>>,
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
/// assert!(train.labels().chain(test.labels()).eq(examples.labels()));
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
    /// Returns the rows of a table that is read by pages, whose label was read.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_pages(parts: PagedParts, positive: Option<&str>) -> Result<Self, Error> {
        let PagedParts { table, name, target, label, attributes, others, mut notes, reading } = parts;
        let (label, labels) = labels(&label, &target, positive, &mut notes)?;
        let names = attributes.iter().map(|(column, word)| match word {
            Some(word) => format!("{column}={word}"),
            None => column.clone(),
        });
        let parts = TableParts {
            table,
            name,
            names: names.collect(),
            target,
            label,
            rows: all_rows(&labels),
            labels,
        };
        let missing = parts.labels.len() - parts.rows.len();
        if missing > 0 {
            notes.push(format!("{missing} rows are left out: they have no `{}`", parts.target));
        }
        let mut examples = Self::from_table(parts)?;
        if let Some(store) = Arc::get_mut(&mut examples.store) {
            (store.attributes, store.others, store.reading) = (attributes, others, reading);
            store.notes = notes.into_iter().map(crate::escape::line).collect();
        }
        Ok(examples)
    }

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
        let mut known = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !known.insert(name.as_str())) {
            return fail(twice, "two attributes have this name; rename one of them".into());
        }
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
        let store =
            Store { table, hash, target, label, names, others, attributes, values, labels, notes, reading };
        Ok(Examples { store: Arc::new(store), rows: Arc::new(rows), weights: None, stop: Arc::default() })
    }

    /// Returns the parts that make examples like these, without weights; the values are shared.
    pub fn parts(&self) -> TableParts {
        let store = &*self.store;
        TableParts {
            table: Arc::clone(&store.values),
            name: store.table.clone(),
            names: store.names.clone(),
            target: store.target.clone(),
            label: store.label.clone(),
            labels: store.labels.clone(),
            rows: self.rows.to_vec(),
        }
    }

    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
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
    pub fn labels(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().map(|&row| self.store.labels[row as usize])
    }

    /// Writes the values of `attributes` of the examples in `places` to `into`, column after column, NaN
    /// where one is missing; a break says that the table ends the stream here.
    pub(crate) fn read(
        &self,
        attributes: &[u32],
        places: Range<usize>,
        into: &mut [f64],
    ) -> Result<ControlFlow<()>, Error> {
        Ok(self.store.values.read(attributes, &self.rows[places], into)?)
    }

    /// Returns the examples in these rows.
    fn of(&self, rows: Vec<u32>) -> Examples {
        Examples { rows: Arc::new(rows), ..self.clone() }
    }

    /// Returns the same examples, whose runs end when `stop` becomes true, as if there were no more examples:
    /// what was learned until then is kept.
    pub fn until(self, stop: Arc<AtomicBool>) -> Examples {
        Examples { stop, ..self }
    }

    /// Gives each example a weight: sums over examples become weighted sums. Only ratios matter. Examples of
    /// weight 0 are left out, and cost nothing.
    ///
    /// Weights are scaled so that their sum is the number of examples of equal weight that say as much,
    /// `(sum w)^2 / sum w^2`: so standard errors, and the level at which attributes are added, stay right.
    ///
    /// ```
    /// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    /// // let table = "diabetes.csv.gz";
    /// let examples = lao::read(table)?.target("progression")?;
    /// let weight = |label: f64| if label > 250.0 { 0.0 } else { 1.0 };
    /// let weights: Vec<f64> = examples.labels().map(weight).collect();
    /// assert_eq!(examples.with_weights(&weights)?.len(), 377);
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is not one finite weight of at least 0 for each example, or all are 0.
    pub fn with_weights(self, weights: &[f64]) -> Result<Examples, Error> {
        let refuse = |value: String, allowed: &str| {
            Err(Error::Choice { what: "weights", value, allowed: allowed.into() })
        };
        if weights.len() != self.len() {
            return refuse(format!("{} weights", weights.len()), "one weight for each example");
        }
        if let Some(wrong) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return refuse(wrong.to_string(), "finite numbers of at least 0");
        }
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(*weight));
        if largest == 0.0 {
            return refuse("0 for every example".into(), "at least one weight above 0");
        }
        let relative = || weights.iter().map(|weight| weight / largest);
        let (sum, squares) = (relative().sum::<f64>(), relative().map(|weight| weight * weight).sum::<f64>());
        let mut of_rows = vec![0.0; self.store.labels.len()];
        let mut rows = Vec::new();
        for (&row, weight) in self.rows.iter().zip(relative()).filter(|(_, weight)| *weight > 0.0) {
            of_rows[row as usize] = weight * sum / squares;
            rows.push(row);
        }
        let equal = rows.len() as f64 == sum;
        Ok(Examples { weights: (!equal).then(|| Arc::new(of_rows)), ..self.of(rows) })
    }

    /// Returns whether the examples have weights.
    pub(crate) fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    /// Returns the mean label; 0 if there are no examples.
    pub(crate) fn mean_label(&self) -> f64 {
        let weight = |row: u32| self.weights.as_ref().map_or(1.0, |weights| weights[row as usize]);
        let all: f64 = self.rows.iter().map(|&row| weight(row)).sum();
        let sum: f64 = self.rows.iter().map(|&row| weight(row) * self.store.labels[row as usize]).sum();
        if all > 0.0 { sum / all } else { 0.0 }
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

/// What is known of a table that is read by pages before a run begins.
#[cfg(feature = "parquet")]
pub(crate) struct PagedParts {
    pub table: Arc<dyn Table>,
    pub name: String,
    pub target: String,
    /// The column of the label.
    pub label: Values,
    /// The column of each attribute and, if the column has words, the word at which the attribute is 1.
    pub attributes: Vec<(String, Option<String>)>,
    /// The other columns.
    pub others: Vec<String>,
    pub notes: Vec<String>,
    pub reading: Reading,
}

/// The smallest difference of the values of a column.
const SMALLEST: f64 = 1e-150;
