//! What is done with a file that may be damaged, here and in `fuzz/`.

use bytes::Bytes;
use lao_parquet::{Cells, ParquetError, ParquetFile};

/// Reads all columns, and some rows of each.
pub fn read(bytes: &[u8]) -> Result<usize, ParquetError> {
    let file = ParquetFile::of(Box::new(Bytes::copy_from_slice(bytes)), "damaged".into())?;
    let (mut read, mut outcome) = (0, Ok(()));
    for column in 0..file.columns().len() {
        for rows in [[0..file.rows().min(1000), 7..9], [130..140, 7..9]] {
            let each = |_, _, cells: Cells<'_>| {
                read += match cells {
                    Cells::Numbers(some) => some.len(),
                    Cells::Texts(some) => some.len(),
                };
            };
            outcome = file.read_ranges(&[column], &rows, each).and(outcome);
        }
        outcome = file.pages(column).map(|_| ()).and(outcome);
    }
    outcome.map(|()| read)
}
