//! Tests of the bench suite, as one program: it links once, and its tests run side by side.

mod peers;
mod scenarios;
