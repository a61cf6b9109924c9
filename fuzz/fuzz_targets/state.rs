#![no_main]

#[path = "../../crates/algorithms/tests/algorithms/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|text: &str| {
    targets::state(text);
});
