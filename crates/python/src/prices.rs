//! What the columns of a table cost.

use crate::fit::error;
use lao::Price;
use pyo3::prelude::*;
use std::path::PathBuf;

type Line = (String, f64, Option<String>, Option<f64>);

/// Prices of columns.
#[pyclass(frozen, module = "lao_learn._core")]
pub struct Prices(pub(crate) lao::Prices);

#[pymethods]
impl Prices {
    /// Takes lines of a column, its price, its panel if it has one, and its price beside others of the panel.
    #[staticmethod]
    fn of(lines: Vec<Line>) -> PyResult<Self> {
        let list =
            lines.into_iter().map(|(column, price, panel, further)| Price { column, price, panel, further });
        lao::Prices::new(list.collect()).map(Prices).map_err(error)
    }

    /// Reads a file of lines `attribute,price[,panel[,further]]`, as the command `lao fit --prices` does.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        lao::Prices::read(path).map(Prices).map_err(error)
    }

    /// Returns the lines.
    fn lines(&self) -> Vec<Line> {
        let line = |Price { column, price, panel, further }| (column, price, panel, further);
        self.0.list().cloned().map(line).collect()
    }

    /// Refuses prices that are not those of these columns. A price of `target` is allowed and not used.
    fn check(&self, columns: Vec<String>, target: &str) -> PyResult<()> {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        self.0.of(&columns, &[target]).map(|_| ()).map_err(error)
    }
}
