//! The arithmetic of the Python module `lao_learn`: functions on tables that Python holds. The estimators are
//! plain Python over these functions, so that cloning, pickling and parallel runs are scikit-learn's own.

mod array;
mod fit;
mod learner;
mod prices;
mod solve;
mod study;
mod table;

use pyo3::prelude::*;

/// Arithmetic of `lao_learn`; the estimators are the public face.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::fit::{Stop, fit, fit_file, predict, write};
    #[pymodule_export]
    use super::learner::Learner;
    #[pymodule_export]
    use super::prices::Prices;
    #[pymodule_export]
    use super::solve::solve;
    #[pymodule_export]
    use super::study::Study;
    #[pymodule_export]
    use super::table::Table;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The parameters of an estimator and whether live studies have them, for a test.
        let options = lao::OPTIONS.map(|option| (option.python, option.not_in_studies.is_none()));
        module.add("OPTIONS", options.to_vec())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
