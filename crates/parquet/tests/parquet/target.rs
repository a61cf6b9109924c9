//! What is done with a file that may be damaged, here and in `fuzz/`.

use bytes::Bytes;
use lao_parquet::{Cells, ParquetError, ParquetFile, Store};
use std::io;
use std::ops::Range;

/// A file in memory.
#[derive(Debug)]
pub struct Memory(pub Bytes);

impl Store for Memory {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }
    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        Ok(ranges.iter().map(|range| self.0.slice(range.start as usize..range.end as usize)).collect())
    }
    fn worth_a_request(&self) -> u64 {
        0
    }
}

/// Reads all columns, and some rows of each.
pub fn read(bytes: &[u8]) -> Result<usize, ParquetError> {
    let file = ParquetFile::of(Box::new(Memory(Bytes::copy_from_slice(bytes))), "damaged".into())?;
    let (mut read, mut outcome) = (0, Ok(()));
    for column in 0..file.columns().len() {
        for rows in [0..file.rows().min(1000), 130..140] {
            let each = |_, cells: Cells<'_>| {
                read += match cells {
                    Cells::Numbers(some) => some.len(),
                    Cells::Texts(some) => some.len(),
                };
            };
            outcome = file.read(&[column], rows, each).and(outcome);
        }
        outcome = file.pages(column).map(|_| ()).and(outcome);
    }
    outcome.map(|()| read)
}
