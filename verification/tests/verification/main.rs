//! Tests of the verification suite, as one program: it links once, and its tests run side by side.

mod conformance;
mod engine;
