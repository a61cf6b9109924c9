//! The parts of reports: figures, and numbers formatted for people.
//!
//! A [`Figure`] consists of data and labels only; [`draw`] returns it as an SVG that suits light and dark
//! pages.
//!
//! ```
//! use lao_figures::{Axis, Figure, Series, draw};
//!
//! let figure = Figure {
//!     caption: "Error against examples".into(),
//!     x: Axis::log("examples"),
//!     y: Axis::log("excess risk"),
//!     series: vec![
//!         Series::line("hybrid", vec![[100.0, 0.2], [1000.0, 0.03], [10_000.0, 0.002]]),
//!         Series::bound("theorem", vec![[100.0, 2.0], [10_000.0, 0.02]]),
//!     ],
//! };
//! assert!(draw(&figure)?.starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod draw;
mod figure;
mod number;
mod scale;

pub use draw::{bars, draw, standalone};
pub use figure::{Axis, Figure, Series, Style};
pub use number::{count, number, p_value, seconds};
