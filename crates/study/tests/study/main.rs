//! Tests of live studies, as one program: it links once, and its tests run side by side.

mod beside;
mod golden;
mod history;
mod studies;
