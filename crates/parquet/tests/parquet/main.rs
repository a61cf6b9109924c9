//! Tests of reading and writing Parquet files.

mod hostile;
mod ranges;
mod target;

use lao_testing::Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;
