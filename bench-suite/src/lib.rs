//! Scenarios: learners times data, measured, recorded, drawn.
//!
//! A scenario is data: a file in `scenarios/` that names a *kind* (what is measured and how it is drawn), a data set or
//! a design, sizes per tier, and learners with their parameters. Adding one is adding a file and a row in
//! [`scenario::ALL`]. A run leaves records (CSV and JSON, one row per measurement) and a page with figures.
//!
//! The clock of a measurement stops while an estimate is scored. Scenarios inform; they do not gate.

pub mod kinds;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
