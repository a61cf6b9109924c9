//! Damaged files give errors: no panic, and no more memory than pages may take.

use crate::target::read;
use bytes::Bytes;
use lao_parquet::ParquetFile;
use lao_testing::largest;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

pub const FILES: [&[u8]; 3] = [
    include_bytes!("files/dictionaries.parquet"),
    include_bytes!("files/deltas.parquet"),
    include_bytes!("files/plain.parquet"),
];

#[test]
fn damaged_files_are_refused_or_read_without_a_panic_and_within_the_limit() {
    const LARGEST: usize = 64 << 20;
    const RUNS: usize = 3000;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut refused = 0;
    for run in 0..RUNS {
        let mut bytes = FILES[run % FILES.len()].to_vec();
        let footer =
            bytes.len() - 8 - u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
        for _ in 0..=rng.random_range(0..4) {
            let at = if rng.random() {
                rng.random_range(4..footer)
            } else {
                rng.random_range(footer..bytes.len() - 8)
            };
            match rng.random_range(0..4) {
                0 => bytes[at] ^= 1 << rng.random_range(0..8),
                1 => bytes[at] = rng.random(),
                2 => bytes[at] = [0, 0x7f, 0x80, 0xff][rng.random_range(0..4)],
                _ => {
                    let end = bytes.len().min(at + rng.random_range(1..6));
                    bytes[at..end].fill(0xff);
                }
            }
        }
        let (outcome, most) = largest(|| read(&bytes));
        assert!(most <= LARGEST, "run {run}: a block of {most} bytes");
        refused += usize::from(outcome.is_err());
    }
    assert!(2 * refused > RUNS, "{refused} of {RUNS} files were refused");
}

#[test]
fn a_panic_of_the_caller_stays_one() {
    let file = ParquetFile::of(Box::new(Bytes::from_static(FILES[0])), "whole".into()).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        file.read(&[0], 0..10, |_, _| panic!("the caller's"))
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"the caller's"));
}
