//! Hard thresholding at full information.

use crate::fit::SIGNALS_EVERY;
use crate::table::Table;
use lao::algorithms::thresholding::registry::solver;
use lao::algorithms::thresholding::{
    Choice, ExchangeParams, SOLVERS, Shape, Solver, SolverEnd, SolverLimit, SolverTask, SparsityPath,
    resume_until,
};
use lao::finite_sum::{Coding, FiniteSum, Loss, Predictor, Standardize};
use lao::observation::Seed;
use numpy::{IntoPyArray as _, PyReadonlyArray1};
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Instant;

/// Minimizes a loss over predictors with few coefficients. Returns a dict with one list of indices and values
/// for each output. If the sparsity is to be `chosen`, it is the largest that is tried, each from the answer
/// for one less, and the one of least criterion is returned; with `whole`, nothing ends the path early, and
/// the dict has all of its predictors.
#[pyfunction]
#[pyo3(signature = (table, labels, classes, *, weights, method, sparsity, chosen, whole, step_size, rounds,
                    change, always, groups, certify, ridge, intercept, standardize, seed))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub fn solve<'py>(
    py: Python<'py>,
    table: &Table,
    labels: PyReadonlyArray1<'py, f64>,
    classes: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    method: &str,
    sparsity: usize,
    chosen: bool,
    whole: bool,
    step_size: Option<f64>,
    rounds: u64,
    change: f64,
    always: Vec<u32>,
    groups: Vec<u32>,
    certify: bool,
    ridge: f64,
    intercept: bool,
    standardize: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let Some(row) = solver(method) else {
        let names: Vec<&str> = SOLVERS.iter().map(|row| row.name).collect();
        let text = format!("method = {method}: the solvers are {}", names.join(", "));
        return Err(PyValueError::new_err(text));
    };
    let standardize = match standardize {
        "no" => Standardize::No,
        "scale" => Standardize::Scale,
        "center" => Standardize::CenterAndScale,
        other => {
            let text = format!("standardize = {other}: give \"center\", \"scale\" or \"no\"");
            return Err(PyValueError::new_err(text));
        }
    };
    if !(change.is_finite() && change >= 0.0) {
        return Err(PyValueError::new_err(format!("tol = {change}: give a finite number of at least 0")));
    }
    // A few vectors of all columns are needed; where there is no room for them, nothing is begun.
    let [_, columns] = table.values.shape();
    if Vec::<f64>::new().try_reserve_exact(8 * columns).is_err() {
        return Err(PyMemoryError::new_err(format!("there is no memory for vectors of {columns} columns")));
    }
    let labels = labels.as_array().to_vec();
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let values = table.values();
    let solve = || {
        let refused = |text: String| PyValueError::new_err(text);
        let coding = match classes {
            0 => Coding::Numbers,
            2 => Coding::TwoClasses { negative: 0.0, positive: 1.0 },
            count => Coding::Classes { first: 0, count },
        };
        let mut loss = Loss::coded(&labels, coding).map_err(|error| refused(error.to_string()))?;
        if let Some(weights) = &weights {
            loss = loss.with_weights(weights).map_err(|error| refused(error.to_string()))?;
        }
        let mut sum = values.sum(loss)?;
        sum = sum.with_ridge(ridge).map_err(|error| refused(error.to_string()))?;
        sum = sum.standardized(standardize).map_err(|error| refused(error.to_string()))?;
        if intercept {
            sum = sum.with_intercept();
        }
        let exchange = |task: &SolverTask| {
            let (always, groups) = (always.clone(), groups.clone());
            ExchangeParams { always, groups, certify, ..ExchangeParams::practical(task) }
        };
        let build = |sum: &FiniteSum, sparsity, start| {
            let (shape, task) = (Shape::of(sum), SolverTask { sparsity, step_size, start });
            let built = if certify || !always.is_empty() || !groups.is_empty() {
                exchange(&task).build(shape).map(|solver| Box::new(solver) as Box<dyn Solver>)
            } else {
                (row.build)(shape, &task)
            };
            built.map_err(|error| refused(error.to_string()))
        };
        let least = exchange(&SolverTask::default()).count(always.iter().copied()).max(1);
        let mut solver = build(&sum, if chosen { least } else { sparsity }, None)?;
        let (mut search, mut path) = (SparsityPath::new(least, sparsity), Vec::new());
        if whole {
            search = search.whole();
        }
        let mut rng = Seed::root(seed).child("solver").rng();
        // One round at a time: the draws, and so the bits, are those of one run, and signals are seen.
        let limit = SolverLimit { change: Some(change), ..SolverLimit::after_rounds(1) };
        let (mut done, mut checked, mut begun, mut interrupt) = (0, Instant::now(), 0, None);
        let outcome = loop {
            if done - begun >= rounds {
                break SolverEnd::Rounds;
            }
            let run = resume_until(&mut sum, &mut *solver, &mut rng, limit, || {
                if checked.elapsed() >= SIGNALS_EVERY {
                    interrupt = Python::attach(|py| py.check_signals()).err();
                    checked = Instant::now();
                }
                interrupt.is_some()
            });
            let run = run.map_err(|error| PyArithmeticError::new_err(error.to_string()))?;
            if interrupt.is_some() {
                break run.outcome;
            }
            done += 1;
            // On a path, a model that does not settle is left as it is.
            if run.outcome != SolverEnd::Rounds || chosen && done - begun >= rounds {
                if whole {
                    let stored = sum.to_original_scale(&run.predictor);
                    path.push(stored.map_err(|error| refused(error.to_string()))?);
                }
                search.take(&mut sum, run.predictor).map_err(|error| refused(error.to_string()))?;
                let Some((size, start)) = search.next().filter(|_| chosen) else {
                    break run.outcome;
                };
                solver = build(&sum, size, start)?;
                begun = done;
            }
        };
        let last = match search.best() {
            Some(best) if chosen => best.clone(),
            _ => solver.coefficients().clone(),
        };
        let calls = sum.meter().calls;
        let objective = sum.objective(&last).map_err(|error| refused(error.to_string()))?;
        let stored = sum.to_original_scale(&last).map_err(|error| refused(error.to_string()))?;
        let said = (solver.choice(), solver.is_certified());
        let tried = search.tried().to_vec();
        Ok::<_, PyErr>(((stored, outcome, done, calls, objective, tried, said, path), interrupt))
    };
    let (run, interrupt) = py.detach(|| crate::pool::run(solve))?;
    let (predictor, outcome, done, calls, objective, tried, (choice, is_certified), path) = run;
    let result = PyDict::new(py);
    set_predictor(&result, &predictor)?;
    let path = path.iter().map(|predictor| {
        let entry = PyDict::new(py);
        set_predictor(&entry, predictor)?;
        Ok::<_, PyErr>(entry)
    });
    result.set_item("path", path.collect::<PyResult<Vec<_>>>()?)?;
    result.set_item("rounds", done)?;
    result.set_item("calls", calls)?;
    result.set_item("objective", objective)?;
    result.set_item("criterion", tried.into_pyarray(py))?;
    let choice = choice.map(|Choice { batch, step_size, mini_batch }| {
        let choice = PyDict::new(py);
        choice.set_item("batch", batch)?;
        choice.set_item("step_size", step_size)?;
        choice.set_item("mini_batch", mini_batch)?;
        Ok::<_, PyErr>(choice)
    });
    result.set_item("choice", choice.transpose()?)?;
    result.set_item("certified", is_certified)?;
    let converged = matches!(outcome, SolverEnd::Change | SolverEnd::Settled);
    result.set_item("converged", converged)?;
    result.set_item("interrupt", interrupt.map(|error| error.into_value(py)))?;
    Ok(result)
}

/// Adds indices and values of each output, and the intercepts.
fn set_predictor(dict: &Bound<'_, PyDict>, predictor: &Predictor) -> PyResult<()> {
    let py = dict.py();
    let indices = predictor.coefficients.iter().map(|x| {
        let places: Vec<i64> = x.indices().iter().map(|&j| i64::from(j)).collect();
        places.into_pyarray(py)
    });
    dict.set_item("indices", indices.collect::<Vec<_>>())?;
    let values = predictor.coefficients.iter().map(|x| x.values().to_vec().into_pyarray(py));
    dict.set_item("values", values.collect::<Vec<_>>())?;
    dict.set_item("intercepts", predictor.intercepts.clone().into_pyarray(py))
}
