//! CSV parsing, in bytes per second of uncompressed text.
//!
//! - `counts`: 281 columns of small whole numbers, most of them zero, with one decimal, as in BlogFeedback;
//!   `long`: 500 columns of 17 digits.
//! - `rows` gives row after row, `table` a whole table in columns; the `twin` splits strings, and parses
//!   each.
//! - `bzip2`: the counts, compressed; beside it the decompression alone.
//!
//! With `LAO_BENCH_TEXTS=FOLDER` the texts are written there, for a comparison with other readers.
//!
//! Outside of `cargo bench`, as in `cargo test --benches`, every benchmark runs once on a hundredth of the
//! text.

use bzip2::Compression;
use bzip2::read::{BzDecoder, BzEncoder};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lao_datasets::format::Opening;
use lao_datasets::format::csv::{CsvOptions, CsvReader, read_csv};
use lao_observation::Seed;
use rand::Rng as _;
use std::cell::LazyCell;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Lines of `columns` numbers; `number` writes one from random bits.
fn text(columns: usize, number: impl Fn(&mut String, u64)) -> String {
    let size = if std::env::args().any(|arg| arg == "--bench") { 64 << 20 } else { 640 << 10 };
    let mut rng = Seed::root(1).child("csv").rng();
    let mut text = String::new();
    while text.len() < size {
        for column in 0..columns {
            if column > 0 {
                text.push(',');
            }
            number(&mut text, rng.next_u64());
        }
        text.push('\n');
    }
    text
}

fn options() -> CsvOptions {
    CsvOptions { header: false, ..CsvOptions::default() }
}

fn rows(text: &str) -> f64 {
    let mut reader = CsvReader::new(text.as_bytes(), "bench", options());
    let mut sum = 0.0;
    while let Ok(Some(row)) = reader.next_row() {
        sum += row.values.iter().sum::<f64>() + row.label;
    }
    sum
}

fn table(file: &Path) -> usize {
    read_csv(file, &Opening::default(), &options()).expect("a table").rows()
}

fn twin(text: &str) -> f64 {
    let row = |line: &str| -> f64 {
        let values: Vec<f64> = line.split(',').map(|field| field.parse().unwrap_or(0.0)).collect();
        values.iter().sum()
    };
    text.lines().fold(0.0, |sum, line| sum + row(line))
}

fn unpack(packed: &[u8]) -> usize {
    let mut text = Vec::new();
    BzDecoder::new(packed).read_to_end(&mut text).expect("a whole stream")
}

fn bench(criterion: &mut Criterion) {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = std::env::var_os("LAO_BENCH_TEXTS").map_or(scratch.path().to_owned(), PathBuf::from);
    let texts = [
        (
            "counts",
            text(281, |out, bits| {
                let _ = match bits % 8 {
                    0 => write!(out, "{}.0", (bits >> 8) % 1000),
                    1 => write!(out, "1.0"),
                    _ => write!(out, "0.0"),
                };
            }),
        ),
        (
            "long",
            text(500, |out, bits| {
                let _ = write!(out, "{:.16e}", (bits >> 11) as f64 * 0.5_f64.powi(53));
            }),
        ),
    ];
    for (name, text) in &texts {
        assert_eq!(rows(text).to_bits(), twin(text).to_bits());
        let file = folder.join(format!("{name}.csv"));
        std::fs::write(&file, text).expect("room for the text");
        let mut group = criterion.benchmark_group(format!("csv/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
        group.bench_function("rows", |b| b.iter(|| rows(black_box(text))));
        group.bench_function("table", |b| b.iter(|| table(&file)));
        group.bench_function("twin", |b| b.iter(|| twin(black_box(text))));
        group.finish();
    }

    let (name, text) = &texts[0];
    let file = folder.join(format!("{name}.csv.bz2"));
    let packed = LazyCell::new(|| {
        let mut packed = Vec::new();
        BzEncoder::new(text.as_bytes(), Compression::default()).read_to_end(&mut packed).expect("memory");
        std::fs::write(&file, &packed).expect("room for the text");
        packed
    });
    let mut group = criterion.benchmark_group("csv/bzip2");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
    group.bench_function("unpack", |b| b.iter(|| unpack(black_box(&packed))));
    group.bench_function("table", |b| {
        LazyCell::force(&packed);
        b.iter(|| table(&file))
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
