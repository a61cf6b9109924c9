//! Tests of the library `lao`, as one program: it links once, and its tests run side by side.

mod full_information;
mod gaps;
mod handed_on;
#[cfg(feature = "parquet")]
mod parquet;
mod resume;
mod tables;
