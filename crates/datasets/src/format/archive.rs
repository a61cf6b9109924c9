//! Opens data files: plain, gzip, bzip2 or zip. Their first bytes distinguish them, never their name.
//!
//! An input is opened once, and the bytes that show its packing are read again from memory. Therefore pipes,
//! named pipes, `/dev/stdin` and process substitution give the same result as a file. Only zip needs a file,
//! because its directory is at its end.
//!
//! Decompression stops at a limit, so that a small hostile file cannot fill the memory. Check sums inside
//! gzip, bzip2 and zip are verified, so that damage is an error and never a wrong number.
//!
//! bzip2 is the slowest of the three, and yet one thread unpacks it: the decoders that use several want the
//! whole input, in memory or mapped, before the first byte is out, while a pipe is read as it comes, and the
//! limit holds for what has been unpacked so far.
//!
//! The features of the crate decide what is unpacked: `gzip`, a default one, and `archives` for bzip2 and
//! zip. A file that needs an absent feature is refused with the name of the feature
//! ([`ArchiveFault::Feature`]).

use super::error::{ArchiveFault, At, FormatError, ReadProblem};
use super::text::{self, HEAD, Packing, read_full, refuse_packed};
#[cfg(feature = "archives")]
use super::zip;
use std::fmt;
use std::fs::File;
#[cfg(feature = "gzip")]
use std::io::BufReader;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "gzip")]
pub(super) const BUFFER: usize = 1 << 16;

/// The largest size that a compressed input may unpack to: `min(max_bytes, max(free_bytes, max_ratio *
/// compressed size))`, all members of an archive together. Of a pipe, the compressed size is what has been
/// read of it so far.
///
/// A plain file is not limited; a plain pipe or device, which may be endless, is limited to `max_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of bytes, whatever the ratio. The default is 16 GiB.
    pub max_bytes: u64,
    /// The largest number of unpacked bytes per compressed byte. The default is 200; real tables compress 3
    /// to 30 times.
    pub max_ratio: u64,
    /// The number of bytes that is always allowed, since small files may compress very well. The default is
    /// 64 MiB.
    pub free_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 16 << 30, max_ratio: 200, free_bytes: 64 << 20 }
    }
}

impl Limits {
    fn allowed(&self, compressed: u64) -> u64 {
        self.max_bytes.min(self.free_bytes.max(self.max_ratio.saturating_mul(compressed)))
    }
}

/// The choice of a member, and the limits of a file that is opened.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// In a zip archive: the member's name, or a pattern where `*` stands for any text. Members that fit are
    /// joined in name order. `None` asks for the only member.
    pub member: Option<String>,
    /// Limits on what is read.
    pub limits: Limits,
}

/// One stream of a file: the file itself, or a member of an archive.
pub struct Part {
    /// Name for messages.
    pub name: String,
    pub(super) content: Content,
    pub(super) allowance: Allowance,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("name", &self.name).finish_non_exhaustive()
    }
}

pub(super) type Stream = Box<dyn Read + Send>;

pub(super) enum Content {
    /// A file whose length bounds it.
    Plain(Stream),
    /// A pipe or device, which may be endless.
    Endless(Stream),
    #[cfg(feature = "gzip")]
    Gzip(Stream),
    #[cfg(feature = "archives")]
    Bzip2(Stream),
    #[cfg(feature = "archives")]
    Zip(zip::Member),
}

/// The allowance of one input, which the members of an archive share.
#[derive(Clone)]
pub(super) struct Allowance {
    spent: Arc<AtomicU64>,
    /// Size of the compressed input; of a pipe, what has been read of it.
    compressed: Arc<AtomicU64>,
    limits: Limits,
}

/// An input with random access, for zip.
pub(super) trait Seekable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Seekable for T {}

/// The origin of the bytes.
enum Input {
    Stream(Stream),
    Seekable(Box<dyn Seekable>),
}

/// Returns the streams of a file, in name order. The path may be a pipe or a device.
pub fn open(path: &Path, opening: &Opening) -> Result<Vec<Part>, FormatError> {
    let file = File::open(path).map_err(|e| FormatError::open(path, e))?;
    open_file(file, &path.display().to_string(), opening)
}

/// Returns the same for a file that is open already. Reading goes on where the file stands.
pub(crate) fn open_file(file: File, name: &str, opening: &Opening) -> Result<Vec<Part>, FormatError> {
    let meta = file.metadata().map_err(|e| FormatError::io(name, At::File, e))?;
    if meta.is_file() {
        open_input(Input::Seekable(Box::new(file)), meta.len(), name, opening)
    } else {
        open_reader(file, name, opening)
    }
}

/// Returns the same for a stream, such as standard input, called `name` in messages. A zip archive is
/// refused, since it cannot be read from its beginning to its end.
pub fn open_reader(
    input: impl Read + Send + 'static,
    name: &str,
    opening: &Opening,
) -> Result<Vec<Part>, FormatError> {
    open_input(Input::Stream(Box::new(input)), 0, name, opening)
}

/// Returns the same for an input with random access, such as bytes in memory behind a [`Cursor`].
pub fn open_seekable(
    mut input: impl Read + Seek + Send + 'static,
    name: &str,
    opening: &Opening,
) -> Result<Vec<Part>, FormatError> {
    let fail = |e| FormatError::io(name, At::File, e);
    let here = input.stream_position().map_err(fail)?;
    let size = input.seek(SeekFrom::End(0)).map_err(fail)?;
    input.seek(SeekFrom::Start(here)).map_err(fail)?;
    open_input(Input::Seekable(Box::new(input)), size, name, opening)
}

fn open_input(mut input: Input, size: u64, name: &str, opening: &Opening) -> Result<Vec<Part>, FormatError> {
    let fail = |e| FormatError::io(name, At::File, e);
    let fault = |fault| FormatError::new(name, At::File, ReadProblem::Archive(fault));
    let mut head = vec![0; HEAD];
    let found = match &mut input {
        Input::Stream(stream) => read_full(stream, &mut head),
        Input::Seekable(file) => read_full(file, &mut head),
    };
    head.truncate(found.map_err(fail)?);
    refuse_packed(&head).map_err(fault)?;
    let compressed = match input {
        Input::Stream(_) => head.len() as u64,
        Input::Seekable(_) => size,
    };
    let allowance = Allowance {
        spent: Arc::default(),
        compressed: Arc::new(AtomicU64::new(compressed)),
        limits: opening.limits,
    };
    let packing = text::packing(&head);
    if let Some((kind, feature)) = packing.and_then(Packing::missing_feature) {
        return Err(fault(ArchiveFault::Feature { kind, feature }));
    }
    let (rest, endless) = match input {
        Input::Stream(_) if packing == Some(Packing::Zip) => return Err(fault(ArchiveFault::Piped)),
        #[cfg(feature = "archives")]
        Input::Seekable(file) if packing == Some(Packing::Zip) => {
            return zip::members(file, name, opening, &allowance);
        }
        Input::Seekable(file) => (file as Stream, false),
        Input::Stream(input) => {
            let count = Arc::clone(&allowance.compressed);
            (Box::new(Counted { input, count }) as Stream, true)
        }
    };
    let whole = Box::new(Cursor::new(head).chain(rest));
    let content = match packing {
        #[cfg(feature = "gzip")]
        Some(Packing::Gzip) => Content::Gzip(whole),
        #[cfg(feature = "archives")]
        Some(Packing::Bzip2) => Content::Bzip2(whole),
        _ if endless => Content::Endless(whole),
        _ => Content::Plain(whole),
    };
    Ok(vec![Part { name: name.to_owned(), content, allowance }])
}

impl Part {
    /// Returns a reader of the unpacked bytes. Its errors carry an [`ArchiveFault`] where the packing is at
    /// fault.
    pub fn reader(self) -> Box<dyn Read + Send> {
        let Self { content, allowance, .. } = self;
        #[cfg(feature = "gzip")]
        let buffered = |input| BufReader::with_capacity(BUFFER, input);
        let (kind, decoder): (_, Stream) = match content {
            Content::Plain(input) => return input,
            Content::Endless(input) => (None, input),
            #[cfg(feature = "gzip")]
            Content::Gzip(input) => {
                (Some("gzip"), Box::new(flate2::bufread::MultiGzDecoder::new(buffered(input))))
            }
            #[cfg(feature = "archives")]
            Content::Bzip2(input) => {
                (Some("bzip2"), Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(input))))
            }
            #[cfg(feature = "archives")]
            Content::Zip(member) => (Some("zip"), member.reader()),
        };
        Box::new(Guarded { decoder, kind, allowance })
    }
}

/// A reader that counts the bytes that pass.
struct Counted {
    input: Stream,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Counts the output against the allowance and gives a decoder's errors their kind. `kind` is `None` for
/// plain bytes.
struct Guarded {
    decoder: Stream,
    kind: Option<&'static str>,
    allowance: Allowance,
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let fault = |fault| Err(io::Error::new(io::ErrorKind::InvalidData, fault));
        let count = match (self.decoder.read(buffer), self.kind) {
            (Ok(count), _) => count,
            (Err(e), Some(kind)) if e.kind() != io::ErrorKind::Interrupted && e.raw_os_error().is_none() => {
                return fault(ArchiveFault::Damaged { kind, detail: e.to_string() });
            }
            // The input failed, not what it holds.
            (Err(e), _) => return Err(e),
        };
        let Allowance { spent, compressed, limits } = &self.allowance;
        let spent = spent.fetch_add(count as u64, Ordering::Relaxed).saturating_add(count as u64);
        let Limits { max_bytes, max_ratio, .. } = *limits;
        let compressed = compressed.load(Ordering::Relaxed);
        match self.kind {
            None if spent > max_bytes => fault(ArchiveFault::TooLong { max_bytes }),
            Some(_) if spent > limits.allowed(compressed) => {
                let allowed = limits.allowed(compressed);
                fault(ArchiveFault::TooLarge { allowed, compressed, max_bytes, max_ratio })
            }
            _ => Ok(count),
        }
    }
}
