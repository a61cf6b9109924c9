//! The unit tests of this crate, in the modules that have some. The crate itself has `test = false`: for a
//! few tests all of its claims would be compiled a second time.

#![allow(dead_code, reason = "most of what the modules have is for claims")]

#[path = "../src/defaults.rs"]
mod defaults;
#[path = "../src/speed.rs"]
mod speed;
