//! Tests of kernels, as one program: it links once, and its tests run side by side.

mod long;
mod no_alloc;

use lao_testing::Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;
