//! Opening data files: plain, gzip, bzip2 or zip, told apart by their first bytes, never by their name.
//!
//! An input is opened once, and the bytes that tell its packing are read again from memory, so pipes, named
//! pipes, `/dev/stdin` and process substitution give what a file gives. Only zip needs a file, because its
//! directory stands at its end.
//!
//! Decompression stops at a limit, so a small hostile file cannot fill the memory; check sums inside gzip, bzip2 and zip
//! are verified, so damage is an error and never a wrong number.

use super::error::{ArchiveFault, At, FormatError, ReadProblem, shown_name};
use super::limits::MOST_MEMBERS;
use super::text::{self, HEAD, read_full, refuse_packed};
use bzip2::bufread::MultiBzDecoder;
use flate2::Crc;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const BUFFER: usize = 1 << 16;

/// How much a compressed input may unpack to: `min(max_bytes, max(free_bytes, max_ratio * compressed size))`,
/// all members of an archive together. Of a pipe, the compressed size is what has been read of it so far.
///
/// A plain file is not limited; a plain pipe or device, which may be endless, is limited to `max_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes whatever the ratio. Default 16 GiB.
    pub max_bytes: u64,
    /// Most bytes out per byte in. Default 200; real tables compress 3 to 30 times.
    pub max_ratio: u64,
    /// Bytes that are always allowed, since small files may compress very well. Default 64 MiB.
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

/// Which file to read, and how much of it.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// In a zip archive: the member's name, or a pattern where `*` stands for any text. Members that fit are joined in name
    /// order. `None` asks for the only member.
    pub member: Option<String>,
    /// Limits on what is read.
    pub limits: Limits,
}

/// One stream of a file: the file itself, or a member of an archive.
pub struct Part {
    /// Name for messages.
    pub name: String,
    content: Content,
    allowance: Allowance,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("name", &self.name).finish_non_exhaustive()
    }
}

type Stream = Box<dyn Read + Send>;

enum Content {
    /// A file whose length bounds it.
    Plain(Stream),
    /// A pipe or device, which may be endless.
    Endless(Stream),
    Gzip(Stream),
    Bzip2(Stream),
    Member {
        archive: Shared,
        start: u64,
        compressed: u64,
        size: u64,
        crc: u32,
        deflated: bool,
    },
}

/// What one input may unpack to; shared by the members of an archive.
#[derive(Clone)]
struct Allowance {
    spent: Arc<AtomicU64>,
    /// Size of the compressed input; of a pipe, what has been read of it.
    compressed: Arc<AtomicU64>,
    limits: Limits,
}

/// Something with random access, for zip.
trait Seekable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Seekable for T {}

/// Where bytes come from.
enum Input {
    Stream(Stream),
    Seekable(Box<dyn Seekable>),
}

/// The streams of a file, in name order. The path may be a pipe or a device.
pub fn open(path: &Path, opening: &Opening) -> Result<Vec<Part>, FormatError> {
    let file = File::open(path).map_err(|e| FormatError::open(path, e))?;
    open_file(file, &path.display().to_string(), opening)
}

/// The same for a file that is open already. Reading goes on where the file stands.
pub(crate) fn open_file(file: File, name: &str, opening: &Opening) -> Result<Vec<Part>, FormatError> {
    let meta = file.metadata().map_err(|e| FormatError::io(name, At::File, e))?;
    if meta.is_file() {
        open_input(Input::Seekable(Box::new(file)), meta.len(), name, opening)
    } else {
        open_reader(file, name, opening)
    }
}

/// The same for a stream, such as standard input, called `name` in messages. A zip archive is refused, since
/// it cannot be read from its beginning to its end.
pub fn open_reader(
    input: impl Read + Send + 'static,
    name: &str,
    opening: &Opening,
) -> Result<Vec<Part>, FormatError> {
    open_input(Input::Stream(Box::new(input)), 0, name, opening)
}

/// The same for an input with random access, such as bytes in memory behind a [`Cursor`].
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
    let (rest, endless) = match input {
        Input::Stream(_) if packing == Some(text::Packing::Zip) => return Err(fault(ArchiveFault::Piped)),
        Input::Seekable(file) if packing == Some(text::Packing::Zip) => {
            return zip_members(name, Shared::new(file), opening, &allowance);
        }
        Input::Seekable(file) => (file as Stream, false),
        Input::Stream(input) => {
            let count = Arc::clone(&allowance.compressed);
            (Box::new(Counted { input, count }) as Stream, true)
        }
    };
    let whole = Box::new(Cursor::new(head).chain(rest));
    let content = match packing {
        Some(text::Packing::Gzip) => Content::Gzip(whole),
        Some(text::Packing::Bzip2) => Content::Bzip2(whole),
        _ if endless => Content::Endless(whole),
        _ => Content::Plain(whole),
    };
    Ok(vec![Part { name: name.to_owned(), content, allowance }])
}

fn zip_members(
    archive_name: &str,
    shared: Shared,
    opening: &Opening,
    allowance: &Allowance,
) -> Result<Vec<Part>, FormatError> {
    let fault = |fault| FormatError::new(archive_name, At::File, ReadProblem::Archive(fault));
    let damaged = |e: zip::result::ZipError| match e {
        zip::result::ZipError::Io(e) if e.raw_os_error().is_some() => {
            FormatError::io(archive_name, At::File, e)
        }
        e => fault(ArchiveFault::Damaged { kind: "zip", detail: e.to_string() }),
    };
    let reader = BufReader::with_capacity(BUFFER, shared.clone());
    let mut archive = zip::ZipArchive::new(reader).map_err(damaged)?;
    if archive.len() > MOST_MEMBERS {
        return Err(fault(ArchiveFault::TooManyMembers { found: archive.len(), limit: MOST_MEMBERS }));
    }
    if archive.has_duplicate_names() {
        return Err(fault(ArchiveFault::SameNames));
    }
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(damaged)?;
        if !member.is_dir() {
            names.push((member.name().map_err(damaged)?.into_owned(), index));
        }
    }
    names.sort();
    let listed = || {
        let first: Vec<String> = names.iter().take(5).map(|(name, _)| shown_name(name)).collect();
        let more = if names.len() > first.len() { ", ..." } else { "" };
        format!("{}{more}", first.join(", "))
    };
    let chosen: Vec<_> = match &opening.member {
        Some(wanted) => names.iter().filter(|(name, _)| fits(wanted, name)).collect(),
        None if names.len() > 1 => return Err(fault(ArchiveFault::ManyMembers { members: listed() })),
        None => names.iter().collect(),
    };
    if chosen.is_empty() {
        let wanted = opening.member.clone().unwrap_or_else(|| "*".to_owned());
        return Err(fault(ArchiveFault::NoMember { wanted, members: listed() }));
    }
    let mut parts = Vec::with_capacity(chosen.len());
    for (name, index) in chosen {
        let member = archive.by_index_raw(*index).map_err(damaged)?;
        let unsupported = |form: String| fault(ArchiveFault::Unsupported { member: shown_name(name), form });
        if member.encrypted() {
            return Err(unsupported("encrypted".to_owned()));
        }
        let deflated = match member.compression() {
            zip::CompressionMethod::Stored => false,
            zip::CompressionMethod::Deflated => true,
            zip::CompressionMethod::DEFLATE64 => {
                return Err(unsupported("compressed by Deflate64".to_owned()));
            }
            other => return Err(unsupported(format!("compressed by another method ({other:?})"))),
        };
        let start = member.data_start().ok_or_else(|| unsupported("without data".to_owned()))?;
        let (compressed, size, crc) = (member.compressed_size(), member.size(), member.crc32());
        let archive = shared.clone();
        parts.push(Part {
            name: format!("{archive_name}/{}", shown_name(name)),
            content: Content::Member { archive, start, compressed, size, crc, deflated },
            allowance: allowance.clone(),
        });
    }
    Ok(parts)
}

/// Whether `name` fits `pattern`, where `*` stands for any text. Time is linear in both: the text before the
/// first star and the text behind the last are fixed, and each text between stars may be taken where it is
/// found first.
fn fits(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    let Some(mut rest) = rest.strip_suffix(last) else { return false };
    pieces.all(|piece| match rest.split_once(piece) {
        _ if piece.is_empty() => true,
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

impl Part {
    /// A reader of the unpacked bytes. Errors carry an [`ArchiveFault`] where the packing is at fault.
    pub fn reader(self) -> Result<Box<dyn Read + Send>, FormatError> {
        let Self { name, content, allowance } = self;
        let buffered = |input| BufReader::with_capacity(BUFFER, input);
        let (kind, decoder): (_, Stream) = match content {
            Content::Plain(input) => return Ok(input),
            Content::Endless(input) => (None, input),
            Content::Gzip(input) => (Some("gzip"), Box::new(MultiGzDecoder::new(buffered(input)))),
            Content::Bzip2(input) => (Some("bzip2"), Box::new(MultiBzDecoder::new(buffered(input)))),
            Content::Member { mut archive, start, compressed, size, crc, deflated } => {
                archive.seek(SeekFrom::Start(start)).map_err(|e| FormatError::io(&name, At::File, e))?;
                let bytes = buffered(Box::new(archive) as Stream).take(compressed);
                let decoder: Stream =
                    if deflated { Box::new(DeflateDecoder::new(bytes)) } else { Box::new(bytes) };
                (Some("zip"), Box::new(Verified { decoder, sum: Crc::new(), seen: 0, size, crc }))
            }
        };
        Ok(Box::new(Guarded { decoder, kind, allowance }))
    }
}

/// Counts the bytes that pass.
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

/// One reader of a file that several readers share; each has its own position.
#[derive(Clone)]
struct Shared {
    input: Arc<Mutex<Box<dyn Seekable>>>,
    position: u64,
}

impl Shared {
    fn new(input: Box<dyn Seekable>) -> Self {
        Self { input: Arc::new(Mutex::new(input)), position: 0 }
    }
}

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.seek(SeekFrom::Start(self.position))?;
        let count = input.read(buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if let SeekFrom::Current(_) = to {
            input.seek(SeekFrom::Start(self.position))?;
        }
        self.position = input.seek(to)?;
        Ok(self.position)
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

/// A zip member, whose size and check sum stand in the directory and are compared at its end.
struct Verified {
    decoder: Stream,
    sum: Crc,
    seen: u64,
    size: u64,
    crc: u32,
}

impl Read for Verified {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        self.sum.update(&buffer[..count]);
        self.seen += count as u64;
        let ended = count == 0 && !buffer.is_empty();
        if ended && (self.sum.sum() != self.crc || self.seen != self.size) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "size or check sum differ from the directory's",
            ));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::fits;
    use proptest::prelude::*;

    /// The definition: a star stands for each text in turn.
    fn naive(pattern: &str, name: &str) -> bool {
        let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
        let Some(tail) = name.strip_prefix(head) else { return false };
        (0..=tail.len()).any(|cut| tail.is_char_boundary(cut) && naive(rest, &tail[cut..]))
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(fits("a*.csv", "a-1.csv") && fits("*", "x") && fits("a*b*c", "aXbYbZc") && fits("é*", "é!"));
        assert!(!fits("a*.csv", "b.csv") && !fits("a.csv", "a.csv2") && !fits("a*b", "a"));
        assert!(!fits("aa*aa", "aaa") && fits("aa*aa", "aaaa") && fits("", "") && fits("**", ""));
    }

    #[test]
    fn many_stars_take_no_longer_than_one() {
        // Trying each text for each star takes more steps here than there are seconds in a century.
        let name = "a".repeat(100_000);
        assert!(!fits(&format!("{}b", "*a".repeat(14)), &name));
        assert!(!fits(&format!("{}b*", "*a".repeat(40_000)), &name));
        assert!(fits(&"*a".repeat(40_000), &name));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_pattern_fits_as_the_definition_says(pattern in "[ab*é]{0,8}", name in "[abé]{0,8}") {
            prop_assert_eq!(fits(&pattern, &name), naive(&pattern, &name));
        }
    }
}
