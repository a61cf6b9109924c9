//! The arithmetic of the Python module `lao_learn`: functions on tables that Python holds. The estimators are
//! plain Python over these functions, so that cloning, pickling and parallel runs are scikit-learn's own.

mod array;
mod fit;
mod learner;
mod model;
mod paged;
mod pool;
mod prices;
mod solve;
mod study;
mod table;

use pyo3::prelude::*;

/// Arithmetic of `lao_learn`; the estimators are the public face.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::fit::{Stop, fit, fit_file};
    #[pymodule_export]
    use super::learner::Learner;
    #[pymodule_export]
    use super::model::{Linear, Model};
    #[pymodule_export]
    use super::paged::open_parquet;
    #[pymodule_export]
    use super::prices::Prices;
    #[pymodule_export]
    use super::solve::solve;
    #[pymodule_export]
    use super::study::Study;
    #[pymodule_export]
    use super::table::Table;

    use pyo3::prelude::*;
    use std::ffi::OsString;

    /// Runs the command `lao` with these arguments, of which the first is the name of the program, and
    /// returns its exit status.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| lao_cli::run(arguments))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::pool::remember_process();
        // The parameters of the estimators: purpose, default, range, and whether live studies have them.
        let of = |option: &lao::ChoiceOption| {
            let in_studies = option.not_in_studies.is_none();
            (option.python, option.purpose, option.default, option.range, in_studies)
        };
        module.add("OPTIONS", lao::OPTIONS.iter().map(of).collect::<Vec<_>>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
