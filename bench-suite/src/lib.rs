//! Scenarios: learners times data, measured, recorded, drawn.
//!
//! A scenario is data: a TOML file that names a *kind* (what is measured and how it is drawn), the data,
//! sizes per tier, and learners or solvers with their parameters. Those of the suite lie in `scenarios/`;
//! adding one is adding a file and a row in [`scenario::SCENARIOS`]. `cargo xtask bench my.toml` runs a file
//! from anywhere, on a dataset of the catalog or on a file of one's own. A kind is a file in [`kinds`] and a
//! row in [`kinds::KINDS`].
//!
//! A run leaves records (CSV, to which each run appends, and JSON; one row per measurement) and a page with
//! figures. A job that fails is a row with its error, and the run goes on. `BIAS.md` says what is unfair.
//!
//! The clock of a measurement stops while an estimate is scored. Scenarios inform; they do not gate.

pub mod data;
pub mod kinds;
pub mod learner;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
