//! A model and the places of its attributes in the table that it was learned from.

use crate::fit::{SIGNALS_EVERY, error, too_long};
use crate::table::Table;
use lao::{Coefficient, Predictor};
use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::time::Instant;

/// A model. It is pickled by the text of its file.
#[pyclass(frozen, module = "lao_learn._core")]
pub struct Model {
    model: lao::Model,
    /// The place of the column of each coefficient.
    places: Vec<u32>,
}

impl Model {
    pub fn new(model: lao::Model, places: Vec<u32>) -> Self {
        Model { model, places }
    }
}

#[pymethods]
impl Model {
    /// Reads the text of a model file.
    #[staticmethod]
    fn restore(text: &str, places: Vec<u32>) -> PyResult<Self> {
        let damaged = |reason| PyValueError::new_err(format!("the stored model is damaged: {reason}"));
        lao::Model::from_json(text).map(|model| Model { model, places }).map_err(damaged)
    }

    #[expect(clippy::type_complexity, reason = "pickle unpacks the tuple")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, Vec<u32>))> {
        let restore = py.get_type::<Model>().getattr("restore")?;
        Ok((restore, (self.model.to_json(), self.places.clone())))
    }

    /// The text of the model file.
    #[getter]
    fn json(&self) -> String {
        self.model.to_json()
    }

    /// The names of the columns that a prediction reads.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.model.columns().into_iter().map(str::to_owned).collect()
    }

    /// The places of these columns in the table.
    #[getter]
    fn places(&self) -> Vec<u32> {
        self.places.clone()
    }

    /// Returns the model as an ONNX file.
    fn onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.model.to_onnx().map_err(|why| PyValueError::new_err(why.to_string()))?;
        Ok(PyBytes::new(py, &file))
    }

    /// Writes the model file, completely or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(path).map_err(error)
    }

    /// Predicts rows of a table, by default all, from the columns of the model. A value that is missing
    /// counts as the mean, or is an error.
    #[pyo3(signature = (table, missing, rows=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        missing: &str,
        rows: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        predict(py, self.model.predictor(), &self.places, table, missing, rows)
    }
}

/// An intercept and coefficients in units of the columns of a table.
#[pyclass(frozen, module = "lao_learn._core")]
pub struct Linear {
    intercept: f64,
    coefficients: Vec<Coefficient>,
    places: Vec<u32>,
}

#[pymethods]
impl Linear {
    #[new]
    fn new(indices: Vec<u32>, values: Vec<f64>, intercept: f64) -> Self {
        let coefficient = |value| Coefficient {
            column: String::new(),
            word: None,
            value,
            standard_error: None,
            interval: None,
            anytime_interval: None,
            mean: f64::NAN,
            within: None,
        };
        Linear { intercept, coefficients: values.into_iter().map(coefficient).collect(), places: indices }
    }

    /// Predicts the rows of a table; a value that is missing is an error.
    fn predict<'py>(&self, py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let line = Predictor { intercept: self.intercept, coefficients: &self.coefficients, trees: None };
        predict(py, line, &self.places, table, "error", None)
    }
}

/// Predicts rows of a table, given the places of the attributes.
fn predict<'py>(
    py: Python<'py>,
    predictor: Predictor<'_>,
    places: &[u32],
    table: &Table,
    missing: &str,
    rows: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let [all, dim] = table.values.shape();
    if places.len() != predictor.coefficients.len() || places.iter().any(|&j| j as usize >= dim) {
        return Err(PyValueError::new_err("the model does not fit the table"));
    }
    let rows = match rows {
        Some(rows) => rows.as_array().to_vec(),
        None => (0..u32::try_from(all).map_err(|_| too_long(all))?).collect(),
    };
    if rows.iter().any(|&row| row as usize >= all) {
        return Err(PyValueError::new_err(format!("a row is not below {all}, the number of rows")));
    }
    let (source, refuses) = (table.values(), missing == "error");
    let predicted = py.detach(|| {
        let mut checked = Instant::now();
        let read = |range: Range<usize>, into: &mut [f64]| {
            if checked.elapsed() >= SIGNALS_EVERY {
                Python::attach(|py| py.check_signals())?;
                checked = Instant::now();
            }
            let rows = &rows[range];
            source.read(places, rows, into)?;
            match into.iter().position(|x| x.is_nan()).filter(|_| refuses) {
                Some(at) => Err(lacking(rows[at % rows.len()], places[at / rows.len()])),
                None => Ok(ControlFlow::Continue(())),
            }
        };
        let mut predicted = Vec::with_capacity(rows.len());
        let take = |_, sums: &[f64], _: &[bool]| predicted.extend_from_slice(sums);
        // What Python holds ends no stream.
        let _ = predictor.predict_rows(rows.len(), read, take)?;
        Ok::<_, PyErr>(predicted)
    })?;
    Ok(predicted.into_pyarray(py))
}

fn lacking(row: u32, attribute: u32) -> PyErr {
    PyValueError::new_err(format!(
        "Input X contains NaN: row {row} lacks attribute {attribute}, which the model needs; fill it or, if \
         the estimator has this parameter, set missing=\"skip\""
    ))
}
