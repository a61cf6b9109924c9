//! Studies with long journals.
//!
//! - `open`: a study is opened from a snapshot, and without one, from all lines of its journal.
//! - `step`: a slot is asked for, told or labeled; each line is on the disk before the next.
//!
//! Outside of `cargo bench` the journals are short.

#[path = "../tests/study/beside/mod.rs"]
#[allow(dead_code, reason = "each program uses its part")]
mod beside;

use beside::{description, snapshots, step};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lao_study::Study;
use std::fs;

fn lines() -> u64 {
    if std::env::args().any(|argument| argument == "--bench") { 100_000 } else { 500 }
}

fn open(c: &mut Criterion) {
    // In memory, if possible: there, waiting for the disk takes no time.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let at = folder.path().join("s");
    let mut study = Study::create(&at, description()).unwrap();
    (0..lines()).for_each(|_| {
        step(&mut study);
    });
    drop(study);
    let mut group = c.benchmark_group("open");
    group.sample_size(10).throughput(Throughput::Elements(lines()));
    group.bench_function("from a snapshot", |b| b.iter(|| Study::open(&at).unwrap()));
    let without = || snapshots(&at).iter().for_each(|path| fs::remove_file(path).unwrap());
    group.bench_function("from the journal", |b| {
        b.iter_batched(without, |()| Study::open(&at).unwrap(), BatchSize::PerIteration);
    });
    group.finish();
}

fn steps(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create(folder.path().join("s"), description()).unwrap();
    c.bench_function("step", |b| b.iter(|| step(&mut study)));
}

criterion_group!(benches, open, steps);
criterion_main!(benches);
