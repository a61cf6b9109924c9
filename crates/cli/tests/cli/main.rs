//! Tests of the command `lao`, as one program: it links once, and its tests run side by side.

mod book;
mod command;
mod export;
mod goldens;
mod oracle;
mod parity;
mod parquet;
mod serve;
mod study;
mod tables;
