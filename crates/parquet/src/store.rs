//! Where the bytes of a file come from.

use bytes::Bytes;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A file of which ranges of bytes can be read: on disk, or over a network.
pub trait Store: fmt::Debug + Send + Sync {
    /// Returns the number of bytes of the file.
    fn size(&self) -> u64;

    /// Reads ranges of bytes, each of which lies in the file.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>>;

    /// Returns the largest gap between two ranges for which one longer request costs less than two.
    fn worth_a_request(&self) -> u64;
}

/// What was read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes.
    pub bytes: u64,
    /// Requests: ranges of bytes that were read at once.
    pub requests: u64,
}

impl Traffic {
    /// Returns this and `other` together.
    pub fn and(self, other: Traffic) -> Traffic {
        let Traffic { bytes, requests } = other;
        Traffic { bytes: self.bytes.saturating_add(bytes), requests: self.requests.saturating_add(requests) }
    }
}

/// A file on disk.
#[derive(Debug)]
pub struct LocalFile {
    file: Mutex<File>,
    size: u64,
}

impl LocalFile {
    /// Opens a file.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok(LocalFile { file: Mutex::new(file), size })
    }
}

impl Store for LocalFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |range: &Range<u64>| {
            file.seek(SeekFrom::Start(range.start))?;
            let length = range.end.saturating_sub(range.start);
            let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
            file.read_exact(&mut bytes)?;
            Ok(Bytes::from(bytes))
        };
        ranges.iter().map(read).collect()
    }

    fn worth_a_request(&self) -> u64 {
        1 << 12
    }
}
