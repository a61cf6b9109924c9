//! Bytes that were fetched, as the decoder reads them.

use bytes::{Buf as _, Bytes, buf::Reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The most bytes that a page may unpack to. Writers make pages of about a mebibyte.
const LARGEST_PAGE: u64 = 64 << 20;

/// Ranges of a file that were fetched. A page whose header says that it unpacks to more than the limit is
/// refused before anything is unpacked.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub size: u64,
    /// Where each range begins, ascending, and its bytes.
    pub ranges: Vec<(u64, Bytes)>,
    /// Whether pages are read one by one, each from its header on; otherwise headers are read as streams.
    pub by_page: bool,
    /// Whether the next stream begins with a header; otherwise with what follows one that was peeked at.
    pub at_header: AtomicBool,
}

impl Fetched {
    /// Returns the fetched bytes from a place on.
    pub fn from(&self, start: u64) -> Result<Bytes> {
        let before = &self.ranges[..self.ranges.partition_point(|(begin, _)| *begin <= start)];
        // A range may lie within another one.
        let has = |(begin, bytes): &&(u64, Bytes)| start - begin < bytes.len() as u64;
        let found = before.iter().rev().find(has).or(before.last());
        let inside = found.and_then(|(begin, bytes)| {
            let from = usize::try_from(start - begin).ok()?;
            (from <= bytes.len()).then(|| bytes.slice(from..))
        });
        inside.ok_or_else(|| ParquetError::General("a page lies where its column has none".into()))
    }
}

impl Length for Fetched {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Fetched {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let bytes = self.from(start)?;
        if !self.by_page && self.at_header.load(Relaxed) {
            check_header(&bytes)?;
        }
        Ok(bytes.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.from(start)?;
        if self.by_page {
            check_header(&bytes)?;
        }
        if length > bytes.len() {
            return Err(ParquetError::General("a page reaches beyond its column".into()));
        }
        Ok(bytes.slice(..length))
    }
}

/// Checks what a page unpacks to, by its header: the first three fields of a compact Thrift structure are
/// 32-bit integers, the second of which is this size.
fn check_header(bytes: &[u8]) -> Result<()> {
    const NEXT_INTEGER: u8 = 0x15;
    let damaged = || ParquetError::General("a page has a damaged header".into());
    let mut rest = bytes.iter();
    let mut integer = || {
        if rest.next() != Some(&NEXT_INTEGER) {
            return None;
        }
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = *rest.next()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    };
    let (_kind, unpacked) = (integer().ok_or_else(damaged)?, integer().ok_or_else(damaged)?);
    // Integers are stored zigzag: an even one is twice a number that is not negative.
    if unpacked % 2 == 1 {
        return Err(damaged());
    }
    if unpacked / 2 > LARGEST_PAGE {
        let mebibytes = unpacked >> 21;
        let reason =
            format!("a page unpacks to {mebibytes} MiB, and 64 MiB is the most; write smaller pages");
        return Err(ParquetError::General(reason));
    }
    Ok(())
}
