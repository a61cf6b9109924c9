//! The unit tests of this crate, in the modules that have some. The crate itself has `test = false`: for a
//! few tests all of its claims would be compiled a second time.

#![allow(dead_code, reason = "most of what the modules have is for claims")]

#[path = "../src/lem41_second_moment.rs"]
mod lem41_second_moment;
#[path = "../src/linear_time.rs"]
mod linear_time;
#[path = "../src/setup/mod.rs"]
mod setup;
