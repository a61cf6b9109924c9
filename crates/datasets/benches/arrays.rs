//! An NPY array of 2,000 x 20,000 numbers in C order, from bytes in memory to row-major examples. Time per
//! number = reported time / 4 * 10^7 (the throughput counts bytes).
//!
//! `read` decodes alone, `examples` and `stream` also make a finite sum's rows and a source of rows, `table`
//! a finite sum's rows by way of a table. The `copy` beside them is the floor: the same bytes, copied once
//! into fresh memory. The `twin` decodes number by number, and takes the rows out of columns.
//!
//! Outside of `cargo bench`, as in `cargo test --benches`, every benchmark runs once at a hundredth of the
//! size.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lao_datasets::format::npy::read_npy_from;
use lao_datasets::format::{Array, Table};
use lao_datasets::memory::By;
use lao_observation::Seed;
use rand::RngExt;
use std::hint::black_box;

/// Returns the full size in `cargo bench`, and a hundredth of it elsewhere.
fn size(full: usize) -> usize {
    if std::env::args().any(|arg| arg == "--bench") { full } else { full.div_ceil(100) }
}

fn npy(descr: &str, shape: &str, payload: impl Iterator<Item = u8>) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = [b"\x93NUMPY\x01\x00".as_slice(), &[header.len() as u8, 0], header.as_bytes()].concat();
    bytes.extend(payload);
    bytes
}

fn read(bytes: &[u8]) -> Array {
    read_npy_from(bytes, "bench").expect("an array")
}

fn twin(bytes: &[u8], rows: usize, dim: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for cell in bytes[bytes.len() - 8 * rows * dim..].chunks_exact(8) {
        let value = f64::from_le_bytes(cell.try_into().expect("eight bytes"));
        assert!(value.is_finite());
        values.push(value);
    }
    let columns: Vec<f64> = (0..dim).flat_map(|j| values[j..].iter().step_by(dim)).copied().collect();
    (0..rows).flat_map(|i| columns[i..].iter().step_by(rows)).copied().collect()
}

fn arrays(criterion: &mut Criterion) {
    let (rows, dim) = (size(2000), size(20_000));
    let mut rng = Seed::root(1).child("npy").rng();
    let numbers = (0..rows * dim).flat_map(|_| rng.random_range(-1.0..1.0_f64).to_le_bytes());
    let examples = npy("<f8", &format!("({rows}, {dim})"), numbers);
    let labels = npy("<f8", &format!("({rows},)"), (0..rows).flat_map(|i| (i as f64).to_le_bytes()));
    let mut group = criterion.benchmark_group("npy");
    group.sample_size(10).throughput(Throughput::Bytes(examples.len() as u64));
    group.bench_function("copy", |bencher| bencher.iter(|| black_box(&examples).to_vec()));
    group.bench_function("read", |bencher| bencher.iter(|| read(&examples)));
    group.bench_function("examples", |bencher| {
        bencher.iter(|| read(&examples).into_examples(By::Rows).expect("finite numbers"));
    });
    group.bench_function("stream", |bencher| {
        bencher.iter(|| read(&examples).into_rows(read(&labels)).expect("finite numbers"));
    });
    group.bench_function("table", |bencher| {
        bencher.iter(|| {
            let table = read(&examples).into_table(read(&labels)).expect("a table");
            Table::Dense(table).examples(By::Rows).expect("finite numbers")
        });
    });
    group.bench_function("twin", |bencher| bencher.iter(|| twin(&examples, rows, dim)));
    group.finish();
}

criterion_group!(benches, arrays);
criterion_main!(benches);
