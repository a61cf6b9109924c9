//! Where the bytes of a file come from.

use bytes::Bytes;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Receiver;

/// A file of which ranges of bytes can be read: on disk, or over a network.
pub trait Store: fmt::Debug + Send + Sync {
    /// Returns the number of bytes of the file.
    fn size(&self) -> u64;

    /// Reads ranges of bytes, each of which lies in the file.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>>;

    /// Returns whether an answer takes so long that requests are worth [beginning](Self::begin) early.
    fn is_slow(&self) -> bool {
        false
    }

    /// Begins to read ranges of bytes, and returns where the bytes of each will come, up to the first that
    /// cannot be requested.
    fn begin(&self, _ranges: &[Range<u64>]) -> Vec<Answer> {
        Vec::new()
    }

    /// Returns the largest gap between two ranges for which one longer request costs less than two.
    fn worth_a_request(&self) -> u64;
}

/// Where the bytes of a request will come. The request is given up when this is dropped.
#[derive(Debug)]
pub struct Answer {
    /// Where the bytes come.
    pub told: Receiver<io::Result<Bytes>>,
    /// What gives up the request.
    pub request: Box<dyn fmt::Debug + Send>,
}

impl Answer {
    /// Waits for the bytes.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn wait(self) -> io::Result<Bytes> {
        self.told.recv().unwrap_or_else(|_| Err(io::Error::other("the request was given up")))
    }
}

/// Ranges of bytes that were requested before they are wanted, by where they begin.
#[derive(Debug, Default)]
pub(crate) struct Ahead(BTreeMap<u64, Coming>);

#[derive(Debug)]
struct Coming {
    end: u64,
    answer: Option<Answer>,
    /// The bytes, once they were waited for.
    bytes: Option<Bytes>,
}

impl Ahead {
    pub fn add(&mut self, range: Range<u64>, answer: Answer) {
        self.0.insert(range.start, Coming { end: range.end, answer: Some(answer), bytes: None });
    }

    /// Forgets what is of no use for some wanted ranges, and returns those of them that were not requested.
    pub fn keep(&mut self, mut wanted: Vec<Range<u64>>) -> Vec<Range<u64>> {
        let mut used = HashSet::new();
        wanted.retain(|part| match self.with(part) {
            Some((begin, _)) => {
                used.insert(begin);
                false
            }
            None => true,
        });
        self.0.retain(|begin, _| used.contains(begin));
        wanted
    }

    /// Waits for the bytes of a range; there are none if it was not requested, or if the request failed.
    pub fn wait(&mut self, part: &Range<u64>) -> Option<Bytes> {
        let (begin, coming) = self.with(part)?;
        if let Some(answer) = coming.answer.take() {
            coming.bytes = answer.wait().ok();
        }
        let [from, to] = [part.start, part.end].map(|at| (at - begin) as usize);
        coming.bytes.as_ref().filter(|bytes| to <= bytes.len()).map(|bytes| bytes.slice(from..to))
    }

    /// Returns the requested range of which this one is a part, and where it begins.
    fn with(&mut self, part: &Range<u64>) -> Option<(u64, &mut Coming)> {
        let (begin, coming) = self.0.range_mut(..=part.start).next_back()?;
        (part.end <= coming.end).then_some((*begin, coming))
    }
}

/// A file in memory.
impl Store for Bytes {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let slice = |range: &Range<u64>| {
            let ends = [range.start, range.end].map(|end| usize::try_from(end).unwrap_or(usize::MAX));
            let inside = ends[0] <= ends[1] && ends[1] <= self.len();
            inside.then(|| self.slice(ends[0]..ends[1])).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        };
        ranges.iter().map(slice).collect()
    }

    fn worth_a_request(&self) -> u64 {
        0
    }
}

/// Returns a URL without what may be secret: the user, and the query, which has the signature of a signed
/// URL.
pub fn public_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
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

/// The bytes that may still be read of all files that share it.
#[derive(Clone, Debug)]
pub struct Allowance(Arc<AtomicU64>);

impl Allowance {
    /// Allows so many bytes.
    pub fn of(bytes: u64) -> Self {
        Allowance(Arc::new(bytes.into()))
    }

    /// Takes some of the bytes, if there are as many.
    ///
    /// # Errors
    /// The bytes that are left.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), u64> {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).map(|_| ())
    }
}

/// A file on disk. Several ranges are read by several threads, so that a disk that is asked for many places
/// has many to choose from.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    size: u64,
}

/// Reads the bytes from a place on.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Reads the bytes from a place on. One thread reads at a time, since a file has one position.
#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

impl LocalFile {
    /// Opens a file.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok(LocalFile { file, size })
    }
}

impl Store for LocalFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        const WORTH_A_THREAD: usize = 4;
        let read = |range: &Range<u64>| {
            let length = range.end.saturating_sub(range.start);
            let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
            read_at(&self.file, &mut bytes, range.start)?;
            Ok(Bytes::from(bytes))
        };
        if ranges.len() < WORTH_A_THREAD {
            ranges.iter().map(read).collect()
        } else {
            ranges.par_iter().map(read).collect()
        }
    }

    fn worth_a_request(&self) -> u64 {
        // Of neighboring pages of a column those between two wanted ones are not worth their bytes.
        1 << 9
    }
}
