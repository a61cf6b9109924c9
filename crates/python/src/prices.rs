//! What the columns of a table cost.

use crate::fit::error;
use lao::Price;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Prices of columns.
#[pyclass(frozen, module = "lao_learn._core")]
pub struct Prices(pub(crate) lao::Prices);

#[pymethods]
impl Prices {
    /// Takes lines of a column, its price, and its panel if it has one.
    #[staticmethod]
    fn of(lines: Vec<(String, f64, Option<String>)>) -> PyResult<Self> {
        let list = lines.into_iter().map(|(column, price, panel)| Price { column, price, panel });
        lao::Prices::new(list.collect()).map(Prices).map_err(error)
    }

    /// Reads a file of lines `attribute,price[,panel]`, as the command `lao fit --prices` does.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        lao::Prices::read(path).map(Prices).map_err(error)
    }

    /// Returns the lines.
    fn lines(&self) -> Vec<(String, f64, Option<String>)> {
        self.0.list().cloned().map(|Price { column, price, panel }| (column, price, panel)).collect()
    }

    /// Refuses prices that are not those of these columns. A price of `target` is allowed and not used.
    fn check(&self, columns: Vec<String>, target: &str) -> PyResult<()> {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        self.0.of(&columns, &[target]).map(|_| ()).map_err(error)
    }
}
