//! Learning within a budget, and prediction.

use crate::learner::Learner;
use crate::prices::Prices;
use crate::table::{Table, Values};
use lao::observation::SourceError;
use lao::{
    Budget, Choices, Coefficient, Error, Examples, Fit, Fitted, Form, Label, Model, OPTIONS, SpentMoney,
    TableParts,
};
use numpy::{IntoPyArray as _, PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often Python's signals are looked at.
pub const SIGNALS_EVERY: Duration = Duration::from_millis(20);

/// Ends fits in other threads, which see no signals, as an interrupt does.
#[pyclass(frozen, module = "lao_learn._core")]
#[derive(Default)]
pub struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Stop::default()
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A table under watch: what is read is counted, and an interrupt ends the stream of examples.
#[derive(Debug)]
struct Watched {
    values: Arc<dyn Values>,
    /// Whether another thread has ended the run.
    stop: Arc<AtomicBool>,
    /// How many values of each attribute were read.
    reads: Vec<AtomicU64>,
    /// What was read, if it is kept.
    kept: Option<Mutex<Vec<Purchase>>>,
    state: Mutex<State>,
}

/// Values of some attributes in some rows, column after column.
#[derive(Debug)]
struct Purchase {
    attributes: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

#[derive(Debug)]
struct State {
    checked: Instant,
    /// What a signal handler raised.
    interrupt: Option<PyErr>,
    /// What reading raised.
    failure: Option<PyErr>,
}

impl Watched {
    fn new(values: Arc<dyn Values>, stop: Option<&Stop>, keep: bool) -> Self {
        let stop = stop.map_or_else(Arc::default, |stop| Arc::clone(&stop.0));
        let [_, dim] = values.shape();
        let reads = (0..dim).map(|_| AtomicU64::new(0)).collect();
        let state = State { checked: Instant::now(), interrupt: None, failure: None };
        Watched { values, stop, reads, kept: keep.then(Mutex::default), state: Mutex::new(state) }
    }

    /// Returns what was bought of these attributes, row by row of the whole table, NaN where a value was not
    /// bought; `None` if it was not kept.
    fn bought(&self, attributes: &[u32]) -> Option<Vec<f64>> {
        let kept = self.kept.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let ([rows, _], width) = (self.values.shape(), attributes.len());
        let mut table = vec![f64::NAN; rows * width];
        for Purchase { attributes: of, rows, values } in &*kept {
            for (j, column) in of.iter().zip(values.chunks_exact(rows.len().max(1))) {
                if let Ok(place) = attributes.binary_search(j) {
                    rows.iter().zip(column).for_each(|(&row, &x)| table[row as usize * width + place] = x);
                }
            }
        }
        Some(table)
    }

    /// Returns whether a signal has come, which is looked at every now and then.
    fn interrupted(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.interrupt.is_none() && state.checked.elapsed() >= SIGNALS_EVERY {
            state.interrupt = Python::attach(|py| py.check_signals()).err();
            if self.stop.load(Ordering::Relaxed) {
                state.interrupt = Some(PyKeyboardInterrupt::new_err(()));
            }
            state.checked = Instant::now();
        }
        state.interrupt.is_some()
    }
}

impl lao::Table for Watched {
    fn dim(&self) -> usize {
        self.reads.len()
    }

    fn read(
        &self,
        attributes: &[u32],
        rows: &[u32],
        into: &mut [f64],
    ) -> Result<ControlFlow<()>, SourceError> {
        if self.interrupted() {
            return Ok(ControlFlow::Break(()));
        }
        for &j in attributes {
            if let Some(reads) = self.reads.get(j as usize) {
                reads.fetch_add(rows.len() as u64, Ordering::Relaxed);
            }
        }
        if let Err(error) = self.values.read(attributes, rows, into) {
            let message = error.to_string();
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            // A table that lies elsewhere may see the signal first.
            if Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) {
                state.interrupt = Some(error);
                return Ok(ControlFlow::Break(()));
            }
            state.failure = Some(error);
            let example = rows.first().map_or(0, |&row| u64::from(row));
            return Err(SourceError::Read { example, message });
        }
        if let Some(kept) = &self.kept {
            let (attributes, rows, values) = (attributes.to_vec(), rows.to_vec(), into.to_vec());
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(Purchase { attributes, rows, values });
        }
        Ok(ControlFlow::Continue(()))
    }

    fn pages(&self) -> Option<&[u32]> {
        self.values.paged()?.pages()
    }

    fn blocks_ahead(&self) -> usize {
        self.values.paged().map_or(0, |table| table.blocks_ahead())
    }

    fn expect(&self, next: &[(Vec<u32>, Vec<u32>)]) {
        if let Some(table) = self.values.paged() {
            table.expect(next);
        }
    }

    fn traffic(&self) -> Option<lao::Traffic> {
        self.values.paged()?.traffic()
    }
}

/// Returns a budget: a number of attributes or, with prices, money.
pub fn budget(budget: f64, prices: Option<lao::Prices>) -> Budget {
    match prices {
        Some(prices) => Budget::Money { per_example: budget, prices },
        None => Budget::Attributes(budget as usize),
    }
}

/// Reads the choices in a dict, by the names of the estimators' parameters. None, and what is not there, is
/// the default.
pub fn choices(made: &Bound<'_, PyDict>) -> PyResult<Choices> {
    let mut choices = serde_json::Map::new();
    for option in OPTIONS {
        let Some(given) = made.get_item(option.python)?.filter(|given| !given.is_none()) else { continue };
        let (value, wanted) = match option.form {
            Form::Count => (given.extract::<u64>().ok().map(Value::from), "a whole number of at least 0"),
            Form::Number | Form::Share => {
                let finite = given.extract().ok().filter(|number: &f64| number.is_finite());
                (finite.map(Value::from), "a finite number")
            }
            Form::Word => (given.extract::<String>().ok().map(Value::from), "a str"),
            Form::Words => (given.extract::<Vec<String>>().ok().map(Value::from), "a list of str"),
            // Python's switch says whether the rows are shuffled, and not that they are in order.
            Form::Switch => (given.is_truthy().ok().map(|shuffle| Value::from(!shuffle)), "True or False"),
        };
        let Some(value) = value else {
            return Err(PyValueError::new_err(format!(
                "{} = {}: give {wanted}",
                option.python,
                given.repr()?
            )));
        };
        choices.insert(option.key.into(), value);
    }
    Choices::of(&choices).map_err(error)
}

/// Learns from the rows of a table. The budget is a number of attributes or, with prices, money. Returns a
/// dict with the model and all that is shown of it. With `keep` this is also what was bought of the model's
/// attributes: an array with a line for each row of the table, NaN where a value was not bought.
#[pyfunction]
#[pyo3(signature = (table, labels, rows, names, target, classes, budget, made, *, weights=None, prices=None,
                    start=None, stop=None, keep=false))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub fn fit<'py>(
    py: Python<'py>,
    table: &Table,
    labels: PyReadonlyArray1<'py, f64>,
    rows: Option<PyReadonlyArray1<'py, u32>>,
    names: Vec<String>,
    target: String,
    classes: Option<[String; 2]>,
    budget: f64,
    made: &Bound<'py, PyDict>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    prices: Option<&Prices>,
    start: Option<&Learner>,
    stop: Option<&Stop>,
    keep: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let labels = labels.as_array().to_vec();
    let rows = match rows {
        Some(rows) => rows.as_array().to_vec(),
        None => (0..u32::try_from(labels.len()).map_err(|_| too_long(labels.len()))?).collect(),
    };
    let label = classes.map_or(Label::Number, |[negative, positive]| Label::Classes { positive, negative });
    let watched = Arc::new(Watched::new(table.values(), stop, keep));
    let values: Arc<dyn lao::Table> = Arc::<Watched>::clone(&watched);
    let fit = Fit::new(self::budget(budget, prices.map(|prices| prices.0.clone())), choices(made)?);
    let start = start.map(Learner::learned);
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let (mut history, name) = (Vec::new(), String::from("a table in Python"));
    let done = py.detach(|| {
        let mut examples =
            Examples::from_table(TableParts { table: values, name, names, target, label, labels, rows })?;
        if let Some(weights) = weights {
            examples = examples.with_weights(&weights)?;
        }
        let say = |now: lao::Progress<'_>| {
            let error =
                now.holdout.map_or([f64::NAN; 2], |held| [held.mean_squared_error, held.standard_error]);
            history.push([
                now.examples as f64,
                now.attributes as f64,
                now.support as f64,
                error[0],
                error[1],
                now.money.unwrap_or(f64::NAN),
            ]);
        };
        let fitted = match start {
            Some(start) => fit.resume(start, &examples, say),
            None => fit.run_with(&examples, say),
        };
        fitted.map(|fitted| (fitted, examples))
    });
    let mut state = watched.state.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(failure) = state.failure.take() {
        return Err(failure);
    }
    let (fitted, examples) = done.map_err(error)?;
    let result = result(py, &fitted, &examples)?;
    let series = PyDict::new(py);
    let keys = ["examples", "attributes", "support", "error", "standard_error", "money"];
    let known = keys.len() - usize::from(prices.is_none());
    for (i, key) in keys.into_iter().take(known).enumerate() {
        let column: Vec<f64> = history.iter().map(|point| point[i]).collect();
        series.set_item(key, column.into_pyarray(py))?;
    }
    result.set_item("history", series)?;
    let reads: Vec<u64> = watched.reads.iter().map(|reads| reads.load(Ordering::Relaxed)).collect();
    result.set_item("reads", reads.into_pyarray(py))?;
    let mut support: Vec<u32> =
        result.get_item("indices")?.map(|list| list.extract()).transpose()?.unwrap_or_default();
    support.sort_unstable();
    let bought = watched.bought(&support).map(|values| {
        let [rows, _] = watched.values.shape();
        values.into_pyarray(py).reshape([rows, support.len()])
    });
    result.set_item("bought", bought.transpose()?)?;
    result.set_item("learner", Bound::new(py, Learner::new(fitted.learned))?)?;
    result.set_item("interrupt", state.interrupt.take().map(|error| error.into_value(py)))?;
    Ok(result)
}

/// Returns what there is to say of a model, as plain arrays.
fn result<'py>(py: Python<'py>, fitted: &Fitted, examples: &Examples) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let Model { intercept, coefficients, link, spent, holdout, .. } = &fitted.model;
    let place = |name: &str| examples.names().iter().position(|other| other == name).unwrap_or(0) as u32;
    let list = |of: &dyn Fn(&Coefficient) -> f64| -> Bound<'py, PyArray1<f64>> {
        coefficients.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
    };
    let indices: Vec<u32> = coefficients.iter().map(|one| place(&one.column)).collect();
    result.set_item("indices", indices.clone().into_pyarray(py))?;
    result.set_item("values", list(&|one| one.value))?;
    result.set_item("errors", list(&|one| one.standard_error.unwrap_or(f64::NAN)))?;
    let interval = |one: &Coefficient| one.anytime_interval.unwrap_or([f64::NAN; 2]);
    result.set_item("intervals", coefficients.iter().map(interval).collect::<Vec<_>>())?;
    result.set_item("intercept", *intercept)?;
    result.set_item("link", link.map(|link| (link.offset, link.slope)))?;
    let cost = PyDict::new(py);
    cost.set_item("examples", spent.examples)?;
    cost.set_item("attributes", spent.attributes)?;
    cost.set_item("most_attributes", spent.most_attributes)?;
    cost.set_item("missing", spent.missing)?;
    cost.set_item("passed_over", spent.passed_over)?;
    if let Some(traffic) = spent.traffic {
        cost.set_item("bytes", traffic.bytes)?;
        cost.set_item("bytes_of_table", traffic.of)?;
        cost.set_item("requests", traffic.requests)?;
    }
    if let Some(money @ SpentMoney { total, most, .. }) = &spent.money {
        cost.set_item("money", total)?;
        cost.set_item("most_money", most)?;
        let lines = money.bought().map(|panel| {
            let line = PyDict::new(py);
            line.set_item("panel", &panel.name)?;
            line.set_item("columns", &panel.columns)?;
            line.set_item("price", panel.price)?;
            line.set_item("examples", panel.examples)?;
            line.set_item("money", panel.cost())?;
            Ok(line)
        });
        cost.set_item("panels", lines.collect::<PyResult<Vec<_>>>()?)?;
    }
    result.set_item("spent", cost)?;
    result.set_item("cost", fitted.model.cost())?;
    let held = holdout.as_ref().map(|held| {
        let out = PyDict::new(py);
        out.set_item("examples", held.examples)?;
        out.set_item("mean_squared_error", held.mean_squared_error)?;
        out.set_item("standard_error", held.standard_error)?;
        out.set_item("r2", held.accuracy.is_none().then(|| held.r2()))?;
        out.set_item("accuracy", held.accuracy)?;
        out.set_item("majority", held.majority)?;
        out.set_item("auc", held.auc)?;
        out.set_item("log_loss", held.log_loss)?;
        out.set_item("log_loss_of_share", held.log_loss_of_share)?;
        let groups = held.calibration.iter().map(|group| (group.examples, group.probability, group.share));
        out.set_item("calibration", groups.collect::<Vec<_>>())?;
        Ok::<_, PyErr>(out)
    });
    result.set_item("holdout", held.transpose()?)?;
    let decision = fitted.model.decision.map(|decision| {
        let out = PyDict::new(py);
        let errors = ["pursuit", "ridge", "trees"].into_iter().zip(decision.errors).into_py_dict(py)?;
        out.set_item("chosen", decision.chosen.name())?;
        out.set_item("rows", decision.rows)?;
        out.set_item("errors", errors)?;
        Ok::<_, PyErr>(out)
    });
    result.set_item("decision", decision.transpose()?)?;
    result.set_item("found", fitted.found)?;
    result.set_item("notes", &fitted.notes)?;
    result.set_item("model", Bound::new(py, crate::model::Model::new(fitted.model.clone(), indices))?)?;
    Ok(result)
}

/// Learns from a table in a file, as the command `lao fit` does, and returns the text of the model file.
#[pyfunction]
#[pyo3(signature = (path, target, budget, made, *, prices=None))]
pub fn fit_file(
    py: Python<'_>,
    path: PathBuf,
    target: &str,
    budget: f64,
    made: &Bound<'_, PyDict>,
    prices: Option<PathBuf>,
) -> PyResult<String> {
    let prices = prices.map(lao::Prices::read).transpose().map_err(error)?;
    let fit = Fit::new(self::budget(budget, prices), choices(made)?);
    let learn = || Ok(fit.run(&lao::read(path)?.target(target)?)?.model.to_json());
    py.detach(|| crate::pool::run(learn)).map_err(error)
}

pub fn too_long(rows: usize) -> PyErr {
    PyValueError::new_err(format!("the table has {rows} rows; a table has at most 4294967295"))
}

/// Returns an error of lao as one of Python.
pub fn error(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::File { cause, .. } => PyErr::from(std::io::Error::new(cause.kind(), text)),
        _ => PyValueError::new_err(text),
    }
}
