#![no_main]

#[path = "../../crates/parquet/tests/parquet/target.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = target::read(bytes);
});
