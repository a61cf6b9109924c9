//! LibSVM parsing, in bytes per second of uncompressed text, beside a twin that splits strings.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lao_datasets::format::libsvm::{LibsvmOptions, LibsvmReader};
use lao_observation::Seed;
use rand::Rng as _;
use std::fmt::Write as _;
use std::hint::black_box;

/// Rows of 80 entries; `entry` writes one value from random bits.
fn text(entry: impl Fn(&mut String, u64)) -> String {
    let mut rng = Seed::root(1).child("libsvm").rng();
    let mut text = String::new();
    while text.len() < 16 << 20 {
        text.push_str(if rng.next_u64().is_multiple_of(2) { "-1" } else { "1" });
        let mut index = 0;
        for _ in 0..80 {
            index += 1 + rng.next_u64() % 500;
            let _ = write!(text, " {index}:");
            entry(&mut text, rng.next_u64());
        }
        text.push('\n');
    }
    text
}

fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (0.5f64).powi(53)
}

fn parse(text: &str) -> f64 {
    let mut reader = LibsvmReader::new(text.as_bytes(), "bench", LibsvmOptions::default());
    let mut sum = 0.0;
    while let Ok(Some(row)) = reader.next_row() {
        sum += row.label + row.values.iter().sum::<f64>();
    }
    sum
}

fn twin(text: &str) -> f64 {
    let mut sum = 0.0;
    for line in text.lines() {
        let mut tokens = line.split_ascii_whitespace();
        sum += tokens.next().and_then(|label| label.parse::<f64>().ok()).unwrap_or(0.0);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (index, value) in tokens.filter_map(|token| token.split_once(':')) {
            indices.push(index.parse::<u32>().unwrap_or(0));
            values.push(value.parse::<f64>().unwrap_or(0.0));
        }
        sum += values.iter().sum::<f64>() + f64::from(u32::from(indices.is_empty()));
    }
    sum
}

fn bench(criterion: &mut Criterion) {
    let texts = [
        ("counts", text(|out, bits| out.push_str(&(1 + bits % 9).to_string()))),
        ("eight-digits", text(|out, bits| out.push_str(&format!("{:.7e}", unit(bits))))),
        ("shortest", text(|out, bits| out.push_str(&format!("{:?}", unit(bits))))),
    ];
    for (name, text) in &texts {
        assert_eq!(parse(text).to_bits(), twin(text).to_bits());
        let mut group = criterion.benchmark_group(format!("libsvm/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
        group.bench_function("reader", |b| b.iter(|| parse(black_box(text))));
        group.bench_function("twin", |b| b.iter(|| twin(black_box(text))));
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
