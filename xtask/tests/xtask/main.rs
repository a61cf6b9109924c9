//! Tests of the verbs of `cargo xtask`, as one program: it links once, and its tests run side by side.

mod baseline;
mod cli;
mod common;
mod contributing;
mod folders;
mod output;
mod seeds;
