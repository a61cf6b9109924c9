//! Live studies: the folders of the command `lao study`.

use crate::model::Model;
use crate::prices::Prices;
use lao::Label;
use lao_study::{Description, Given, Joining, Row, Slot, SlotLabel, StudyError};
use pyo3::exceptions::{PyBlockingIOError, PyFileExistsError, PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A live study that this process has open.
#[pyclass(frozen, module = "lao_learn._core")]
pub struct Study(Mutex<Option<lao_study::Study>>);

impl Study {
    fn new(study: Result<lao_study::Study, StudyError>) -> PyResult<Self> {
        Ok(Study(Mutex::new(Some(study.map_err(error)?))))
    }

    /// Calls a function on the open study, without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut lao_study::Study) -> Result<T, StudyError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut study = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let study =
                study.as_mut().ok_or_else(|| PyValueError::new_err("the study is closed; open it anew"))?;
            work(study).map_err(error)
        })
    }
}

#[pymethods]
impl Study {
    /// Begins a study in a folder, which must not exist. The budget is a number of attributes or, with
    /// prices, money. A label that is a class has the names of both, the negative one first.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    #[pyo3(signature = (folder, target, attributes, budget, classes, examples, made, *, prices=None))]
    fn create(
        folder: PathBuf,
        target: &str,
        attributes: Vec<String>,
        budget: f64,
        classes: Option<(String, String)>,
        examples: Option<u64>,
        made: &Bound<'_, PyDict>,
        prices: Option<&Prices>,
    ) -> PyResult<Self> {
        let label =
            classes.map_or(Label::Number, |(negative, positive)| Label::Classes { positive, negative });
        let budget = crate::fit::budget(budget, prices.map(|prices| prices.0.clone()));
        let begun = Description::within(target, attributes, &budget).map_err(crate::fit::error)?;
        let choices = crate::fit::choices(made)?;
        let description = Description { label, examples, choices, ..begun };
        Study::new(lao_study::Study::create(folder, description))
    }

    /// Opens a study.
    #[staticmethod]
    fn open(folder: PathBuf) -> PyResult<Self> {
        Study::new(lao_study::Study::open(folder))
    }

    /// Lets go of the study, and of its lock.
    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn ask(&self, py: Python<'_>, count: u64, ahead: bool) -> PyResult<Vec<SlotParts>> {
        self.with(py, |study| {
            let slots = if ahead { study.ask_ahead(count)? } else { study.ask(count)? };
            Ok(slots.into_iter().map(parts).collect())
        })
    }

    fn open_slots(&self, py: Python<'_>) -> PyResult<Vec<SlotParts>> {
        self.with(py, |study| Ok(study.open_slots().into_iter().map(parts).collect()))
    }

    #[pyo3(signature = (slot, values, label=None))]
    fn tell(&self, py: Python<'_>, slot: u64, values: Vec<f64>, label: Option<f64>) -> PyResult<()> {
        self.with(py, |study| study.tell(slot, &values, label))
    }

    /// Tells slots, values and labels of several rows; all of them are recorded, or none.
    fn tell_all(&self, py: Python<'_>, rows: Vec<(u64, Vec<f64>, Option<f64>)>) -> PyResult<()> {
        let row = |(slot, values, label)| Row { slot, values, label };
        let rows: Vec<Row> = rows.into_iter().map(row).collect();
        self.with(py, |study| study.tell_all(&rows))
    }

    fn label(&self, py: Python<'_>, slot: u64, label: f64) -> PyResult<()> {
        self.with(py, |study| study.label(slot, label))
    }

    /// Tells the labels of several slots; all of them are recorded, or none.
    fn label_all(&self, py: Python<'_>, labels: Vec<(u64, f64)>) -> PyResult<()> {
        let labels: Vec<SlotLabel> =
            labels.into_iter().map(|(slot, label)| SlotLabel { slot, label }).collect();
        self.with(py, |study| study.label_all(&labels))
    }

    /// Adds examples that were known before: places of attributes, values and label of each.
    fn import_all(&self, py: Python<'_>, examples: Vec<(Vec<u32>, Vec<f64>, f64)>) -> PyResult<()> {
        let given = |(attributes, values, label)| Given { attributes, values, label };
        let examples: Vec<Given> = examples.into_iter().map(given).collect();
        self.with(py, |study| study.import(&examples))
    }

    /// Lets attributes join: their names and, if the study has prices, price, panel and further price.
    fn join(&self, py: Python<'_>, attributes: Vec<NewAttribute>) -> PyResult<()> {
        let joining = |(name, price, panel, further)| Joining { name, price, panel, further };
        let attributes: Vec<Joining> = attributes.into_iter().map(joining).collect();
        self.with(py, |study| study.join(&attributes))
    }

    fn name(&self, py: Python<'_>, slot: u64, name: &str) -> PyResult<()> {
        self.with(py, |study| study.name(slot, name))
    }

    fn void(&self, py: Python<'_>, slot: u64, reason: &str) -> PyResult<()> {
        self.with(py, |study| study.void(slot, reason))
    }

    /// Replays the whole journal and compares; returns the number of its lines.
    fn verify(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |study| study.verify())
    }

    /// Returns the model so far.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        self.with(py, |study| {
            let (model, description) = (study.model(), study.description());
            let places = model.coefficients.iter().filter_map(|one| description.attribute(&one.column));
            let places = places.collect();
            Ok(Model::new(model, places))
        })
    }

    /// Returns target, attributes, budget, and the two classes, the negative one first.
    #[expect(clippy::type_complexity, reason = "Python unpacks the tuple")]
    fn description(&self, py: Python<'_>) -> PyResult<(String, Vec<String>, f64, Option<(String, String)>)> {
        self.with(py, |study| {
            let Description { target, attributes, budget, money, label, .. } = study.description().clone();
            let classes = match label {
                Label::Number => None,
                Label::Classes { positive, negative } => Some((negative, positive)),
            };
            let budget = money.map_or(budget as f64, |money| money.per_example);
            Ok((target, attributes, budget, classes))
        })
    }

    /// Returns the price, the panel, and the price beside others of the panel, of each attribute, and the
    /// money for a prediction if it was chosen; None if attributes have no prices.
    fn prices(&self, py: Python<'_>) -> PyResult<Option<StudyPrices>> {
        self.with(py, |study| {
            let Description { panels, money, choices, .. } = study.description();
            let Some(money) = money else { return Ok(None) };
            let of = |j: u32| {
                let panel = money.tariff.panel(j).unwrap_or_default();
                let fee = money.tariff.fee(panel);
                let further = fee.and_then(|_| money.tariff.prices().get(panel as usize).copied());
                let name = panels.get(fee.unwrap_or(panel) as usize).cloned().unwrap_or_default();
                (money.tariff.price(j), name, further)
            };
            let all = (0..money.tariff.dim() as u32).map(of).collect();
            Ok(Some((all, choices.per_prediction)))
        })
    }

    /// Returns where the study stands.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (status, recovery) = self.with(py, |study| Ok((study.status(), study.recovery())))?;
        let result = PyDict::new(py);
        result.set_item("slots", status.slots)?;
        result.set_item("told", status.told)?;
        result.set_item("open", status.open)?;
        result.set_item("waiting", status.waiting)?;
        result.set_item("void", status.void)?;
        result.set_item("imported", status.imported)?;
        result.set_item("bought", status.bought)?;
        if let Some(spent) = status.spent {
            result.set_item("spent", spent)?;
        }
        result.set_item("room", status.room)?;
        result.set_item("to_update", status.to_update)?;
        result.set_item("updates", status.updates)?;
        result.set_item("support", status.support)?;
        if let Some(stage) = status.stage {
            result.set_item("stage", stage)?;
        }
        let recovered = PyDict::new(py);
        recovered.set_item("snapshot", recovery.snapshot)?;
        recovered.set_item("replayed", recovery.replayed)?;
        recovered.set_item("cut", recovery.cut)?;
        result.set_item("recovered", recovered)?;
        Ok(result)
    }

    /// Returns what is known of each attribute, as arrays.
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = self.with(py, |study| Ok(study.evidence()))?;
        crate::learner::arrays(py, &known)
    }
}

/// The number of a slot, its attributes, its panels, what they cost, and its name.
type SlotParts = (u64, Vec<String>, Vec<String>, Option<f64>, Option<String>);

/// The price and the panel of each attribute, and the money for a prediction.
type NewAttribute = (String, Option<f64>, Option<String>, Option<f64>);
type StudyPrices = (Vec<(f64, String, Option<f64>)>, Option<f64>);

fn parts(slot: Slot) -> SlotParts {
    (slot.number, slot.attributes, slot.panels, slot.cost, slot.name)
}

/// Returns an error of a study as one of Python.
fn error(error: StudyError) -> PyErr {
    let text = error.to_string();
    match error {
        StudyError::File { .. }
        | StudyError::Unwritten { .. }
        | StudyError::Changed { .. }
        | StudyError::ReadOnly(_) => PyOSError::new_err(text),
        StudyError::Locked(_) => PyBlockingIOError::new_err(text),
        StudyError::Exists(_) => PyFileExistsError::new_err(text),
        StudyError::NoStudy(_) => PyFileNotFoundError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
