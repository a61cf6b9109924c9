//! Every reader on mutated files: the functions of `targets` on the corpus of `tests/corpus`.
//!
//! Every file of the corpus is run as it is; then as many mutants as `LAO_FUZZ_CASES` says (3000 by default,
//! some seconds in all) are made of them. For a long run: `LAO_FUZZ_CASES=1000000 cargo test --release --test
//! datasets fuzz`. A case is named by its number and always the same. An input that fails belongs into the
//! corpus. Coverage-guided fuzzing of the same targets is in `fuzz/`.

use crate::targets;
use lao_observation::{Rng, Seed};
use lao_testing::peak;
use rand::RngExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

/// No mutant grows longer.
const LONGEST: usize = 4096;

/// What a target may hold at its peak, of which bzip2 takes the most, and per byte of input.
const MOST_HELD: usize = 24 << 20;
const MOST_HELD_PER_BYTE: usize = 512;

/// Pieces that mean something to some format, so that mutants get past the first bytes.
const WORDS: [&[u8]; 44] = [
    b"\n",
    b"\r",
    b"\r\n",
    b"\"",
    b"\"\"",
    b",",
    b";",
    b"\t",
    b" ",
    b"#",
    b":",
    b"0",
    b"-",
    b"1e",
    b"nan",
    b"inf",
    b"1e999",
    b"-0",
    b"1e-400",
    b"4294967295",
    b"4294967296",
    b"18446744073709551616",
    b"99999999999999999999",
    b"0:1",
    b"1:1",
    b"qid:1",
    b"y",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\0",
    b"\x1f\x8b\x08",
    b"BZh9",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"PK\x01\x02",
    b"\x93NUMPY",
    b"'descr': '<f8'",
    b"'shape': (",
    b"True",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\0\0\0\x01",
    b"[[dataset]]",
    b"{ ",
];

fn cases() -> u64 {
    let set = std::env::var("LAO_FUZZ_CASES").ok();
    set.map_or(3000, |text| text.parse().expect("LAO_FUZZ_CASES must be a whole number"))
}

/// The files of a format, in name order.
fn corpus(format: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(format);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "the corpus of {format} is missing");
    files
}

fn below(rng: &mut Rng, bound: usize) -> usize {
    rng.random_range(0..bound.max(1))
}

/// A place in `bytes`, and a length from there on, mostly short.
fn span(rng: &mut Rng, bytes: &[u8]) -> std::ops::Range<usize> {
    let start = below(rng, bytes.len() + 1);
    let most = if below(rng, 4) == 0 { bytes.len() } else { 8 };
    start..(start + below(rng, most + 1)).min(bytes.len())
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, files: &[(String, Vec<u8>)]) {
    let at = below(rng, bytes.len() + 1);
    let word = WORDS[below(rng, WORDS.len())];
    match below(rng, 9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << below(rng, 8),
        1 if at < bytes.len() => bytes[at] = below(rng, 256) as u8,
        2 => bytes.insert(at, below(rng, 256) as u8),
        3 => {
            bytes.splice(at..at, word.iter().copied());
        }
        4 => {
            let end = (at + word.len()).min(bytes.len());
            bytes.splice(at..end, word.iter().copied());
        }
        5 => {
            let gone = span(rng, bytes);
            bytes.drain(gone);
        }
        6 => {
            let twice = span(rng, bytes);
            let copy = bytes[twice].to_vec();
            bytes.splice(at..at, copy);
        }
        7 => {
            let other = &files[below(rng, files.len())].1;
            let piece = span(rng, other);
            bytes.splice(at..at, other[piece].iter().copied());
        }
        _ => bytes.truncate(at),
    }
}

#[track_caller]
fn fuzz(format: &str, target: fn(&[u8])) {
    let files = corpus(format);
    let run = |name: &dyn std::fmt::Display, bytes: &[u8]| {
        let (outcome, held) = peak(|| catch_unwind(AssertUnwindSafe(|| target(bytes))));
        assert!(outcome.is_ok(), "{format}, {name} fails: b\"{}\"", bytes.escape_ascii());
        let most = MOST_HELD + MOST_HELD_PER_BYTE * bytes.len();
        assert!(held <= most, "{format}, {name} holds {held} bytes: b\"{}\"", bytes.escape_ascii());
    };
    for (name, bytes) in &files {
        run(&format_args!("file {name}"), bytes);
    }
    let start = Instant::now();
    let seed = Seed::root(10).child("fuzz").child(format);
    for case in 0..cases() {
        let mut rng = seed.trial(case).rng();
        let mut bytes = files[below(&mut rng, files.len())].1.clone();
        for _ in 0..=below(&mut rng, 6) {
            mutate(&mut rng, &mut bytes, &files);
            bytes.truncate(LONGEST);
        }
        run(&format_args!("case {case}"), &bytes);
    }
    eprintln!("{format}: {} files, {} mutants in {:.1?}", files.len(), cases(), start.elapsed());
}

#[test]
fn csv() {
    fuzz("csv", targets::csv);
}

#[test]
fn libsvm() {
    fuzz("libsvm", targets::libsvm);
}

#[test]
fn idx() {
    fuzz("idx", targets::idx);
}

#[test]
fn npy() {
    fuzz("npy", targets::npy);
}

#[test]
fn archive() {
    fuzz("archive", targets::archive);
}

#[test]
fn manifest() {
    fuzz("manifest", targets::manifest);
}
