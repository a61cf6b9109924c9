//! Tables in Parquet files, of which a fit reads the pages that it buys.

use crate::fit::error;
use crate::table::{Table, Values};
use lao::{Label, Pick, ReadOptions, TableParts};
use numpy::{IntoPyArray as _, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// The values of a table that is read page by page.
#[derive(Debug)]
struct Paged {
    table: Arc<dyn lao::Table>,
    rows: usize,
}

impl Values for Paged {
    fn shape(&self) -> [usize; 2] {
        [self.rows, self.table.dim()]
    }

    fn read(&self, attributes: &[u32], rows: &[u32], into: &mut [f64]) -> PyResult<()> {
        // What lies on a disk ends no stream.
        let read = self.table.read(attributes, rows, into);
        read.map(|_| ()).map_err(|cause| PyValueError::new_err(cause.to_string()))
    }

    fn paged(&self) -> Option<&dyn lao::Table> {
        Some(&*self.table)
    }
}

/// A table, the names of its columns, its labels (NaN where one is missing), the two classes if the labels
/// are +1 and -1, and what was left out.
type Opened<'py> = (Table, Vec<String>, Bound<'py, PyArray1<f64>>, Option<[String; 2]>, Vec<String>);

/// Opens Parquet files, or folders of them, as one table, and reads the label.
#[pyfunction]
#[pyo3(signature = (paths, target, drop, positive=None))]
pub fn open_parquet<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    target: &str,
    drop: Vec<String>,
    positive: Option<&str>,
) -> PyResult<Opened<'py>> {
    let options = ReadOptions { columns: Pick::Without(drop), ..ReadOptions::default() };
    let open = || {
        let table = lao::open_parts(&paths, &options)?;
        match positive {
            Some(class) => table.target_class(target, class),
            None => table.target(target),
        }
    };
    let examples = py.detach(open).map_err(error)?;
    let TableParts { table, names, label, labels, .. } = py.detach(|| examples.parts()).map_err(error)?;
    // A truth value is a number here, as in a frame.
    let plain = |name: String| name.strip_suffix("=true").map_or(name.clone(), str::to_owned);
    let classes = match label {
        Label::Number => None,
        Label::Classes { positive, negative } => Some([negative, positive]),
    };
    let values = Arc::new(Paged { table, rows: labels.len() });
    let names = names.into_iter().map(plain).collect();
    Ok((Table { values }, names, labels.into_pyarray(py), classes, examples.notes().to_vec()))
}
