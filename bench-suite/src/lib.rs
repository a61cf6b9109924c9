//! The bench suite: scenarios, which measure learners on data, and record and draw the measurements.
//!
//! A scenario is a TOML file that names a *kind* (what is measured and how it is drawn), the data, sizes per
//! tier, and learners or solvers with their parameters. The scenarios of the suite are in `scenarios/`; a new
//! one needs a file and a row in [`scenario::SCENARIOS`]. `cargo xtask bench my.toml` runs a scenario from
//! any file, on a dataset of the catalog or on a CSV file. A kind is a file in [`kinds`] and a row in
//! [`kinds::KINDS`].
//!
//! A run writes records with one row per measurement (JSON, and CSV to which each run appends) and a page
//! with figures. A job that fails leaves a row with its error, and the run continues. `BIAS.md` says what is
//! unfair in the scenarios.
//!
//! The kind `peers` compares with packages for Python, which [`runner`] starts as processes of their own.
//!
//! The clock of a measurement stops while an estimate is scored. Scenarios inform and never fail a build.

pub mod data;
pub mod kinds;
pub mod learner;
pub mod npy;
pub mod offline;
pub mod papers;
pub mod record;
pub mod report;
pub mod row;
pub mod run;
pub mod runner;
pub mod scenario;
pub mod tier;
