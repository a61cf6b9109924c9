#![no_main]

#[path = "../../crates/datasets/tests/datasets/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::csv(bytes));
