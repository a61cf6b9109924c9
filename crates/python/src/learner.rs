//! The learner, which Python keeps to learn more later.

use lao::Learned;
use lao::algorithms::pursuit::Evidence;
use numpy::{IntoPyArray as _, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A learner that has learned. It is pickled by its stored form.
#[pyclass(frozen, module = "lao_learn._core")]
pub struct Learner(Mutex<Learned>);

impl Learner {
    pub fn new(learned: Learned) -> Self {
        Learner(Mutex::new(learned))
    }

    /// Returns a copy of the learner.
    pub fn learned(&self) -> Learned {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Learned> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Learner {
    /// Reads the stored form.
    #[staticmethod]
    fn restore(bytes: &[u8]) -> PyResult<Self> {
        let damaged = |error| PyValueError::new_err(format!("the stored learner is damaged: {error}"));
        serde_json::from_slice(bytes).map(Learner::new).map_err(damaged)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let stored = serde_json::to_vec(&*self.lock());
        let stored = stored.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let restore = py.get_type::<Learner>().getattr("restore")?;
        Ok((restore, (PyBytes::new(py, &stored),)))
    }

    /// The number of attributes of an example.
    #[getter]
    fn dim(&self) -> usize {
        self.lock().dim()
    }

    /// Returns what is known of each attribute as arrays: `examples`, `z`, `coefficient`, `standard_error`,
    /// `low` and `high` (the ends of its interval for all times; NaN where there is none yet) and
    /// `until_added` (infinite where no effect shows). None if the method keeps no count.
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let learned = self.lock();
        let known: Option<Vec<_>> = (0..learned.dim() as u32).map(|j| learned.evidence(j)).collect();
        known.map(|known| arrays(py, &known)).transpose()
    }
}

/// Returns what is known of each attribute as arrays.
pub fn arrays<'py>(py: Python<'py>, known: &[Evidence]) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    let column = |of: &dyn Fn(&Evidence) -> f64| -> Bound<'py, PyArray1<f64>> {
        known.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
    };
    arrays.set_item("examples", column(&|known| known.examples as f64))?;
    arrays.set_item("z", column(&|known| known.z))?;
    arrays.set_item("coefficient", column(&|known| known.coefficient))?;
    let error = |known: &Evidence| known.estimate.map_or(f64::NAN, |estimate| estimate.standard_error);
    arrays.set_item("standard_error", column(&error))?;
    let end = |known: &Evidence, at: usize| known.anytime_interval().map_or(f64::NAN, |ends| ends[at]);
    arrays.set_item("low", column(&|known| end(known, 0)))?;
    arrays.set_item("high", column(&|known| end(known, 1)))?;
    let until = |known: &Evidence| known.until_added.map_or(f64::INFINITY, |examples| examples as f64);
    arrays.set_item("until_added", column(&until))?;
    Ok(arrays)
}
