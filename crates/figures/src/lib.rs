//! What reports are made of: figures, numbers as people read them, files that are written whole, folders of
//! results.
//!
//! A [`Figure`] is data and labels only; [`draw`] makes an SVG of it that serves light and dark pages alike.

mod draw;
mod figure;
mod file;
mod folder;
mod number;
mod scale;

pub use draw::{bars, draw, standalone};
pub use figure::{Axis, Figure, Series, Style};
pub use file::{check_writable, write_atomically};
pub use folder::{Layout, OutputFolder};
pub use number::{count, number, p_value, seconds};
