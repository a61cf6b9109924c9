//! Tests of sessions, draws and sources, as one program: it links once, and its tests run side by side.

mod draws;
mod laws;
mod sample_laws;
mod session;
mod sources;
mod stored;
mod streams;
