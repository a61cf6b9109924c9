//! Tests of readers, designs and sources, as one program: it links once, and its tests run side by side.

mod bad_files;
mod catalog;
mod designs;
mod draws;
mod endless;
mod fuzz;
mod hadamard_counts;
mod hazan_koren_instances;
mod ito_instances;
mod memory;
mod no_alloc;
mod pipes;
mod readers;
mod real_data;
mod take;
mod targets;

use lao_testing::Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;
