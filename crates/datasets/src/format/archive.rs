//! Opening data files: plain, gzip, bzip2 or zip, told apart by their first bytes, never by their name.
//!
//! Decompression stops at a limit, so a small hostile file cannot fill the memory; check sums inside gzip, bzip2 and zip
//! are verified, so damage is an error and never a wrong number.

use super::error::{ArchiveFault, At, FormatError, shown};
use bzip2::bufread::MultiBzDecoder;
use flate2::Crc;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const BUFFER: usize = 1 << 16;

/// How much a compressed file may unpack to: `min(max_bytes, max(free_bytes, max_ratio * compressed size))`,
/// all members of an archive together. Plain files are not limited.
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
    /// Limits on decompression.
    pub limits: Limits,
}

/// One stream of a file: the file itself, or a member of an archive.
#[derive(Debug)]
pub struct Part {
    /// Name for messages.
    pub name: String,
    path: PathBuf,
    packing: Packing,
    allowance: Allowance,
}

#[derive(Debug)]
enum Packing {
    Plain,
    Gzip,
    Bzip2,
    Zip { start: u64, compressed: u64, size: u64, crc: u32, deflated: bool },
}

/// What is left of the output that one file may unpack to; shared by the members of an archive.
#[derive(Debug, Clone)]
struct Allowance {
    left: Arc<AtomicU64>,
    allowed: u64,
    compressed: u64,
    limits: Limits,
}

/// The streams of a file, in name order.
pub fn open(path: &Path, opening: &Opening) -> Result<Vec<Part>, FormatError> {
    let fail = |e: io::Error| FormatError::open(path, e);
    let mut file = File::open(path).map_err(fail)?;
    let mut magic = Vec::with_capacity(10);
    file.by_ref().take(10).read_to_end(&mut magic).map_err(fail)?;
    let compressed = file.metadata().map_err(fail)?.len();
    let allowed = opening.limits.allowed(compressed);
    let left = Arc::new(AtomicU64::new(allowed));
    let allowance = Allowance { left, allowed, compressed, limits: opening.limits };
    let single = |packing| {
        let name = path.display().to_string();
        Ok(vec![Part { name, path: path.to_owned(), packing, allowance: allowance.clone() }])
    };
    match magic.as_slice() {
        [0x1f, 0x8b, ..] => single(Packing::Gzip),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => single(Packing::Bzip2),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => single(Packing::Bzip2),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => zip_members(path, file, opening, &allowance),
        _ => single(Packing::Plain),
    }
}

fn zip_members(
    path: &Path,
    file: File,
    opening: &Opening,
    allowance: &Allowance,
) -> Result<Vec<Part>, FormatError> {
    let archive_name = path.display().to_string();
    let fault = |fault| FormatError::new(&archive_name, At::File, super::error::Problem::Archive(fault));
    let damaged =
        |e: zip::result::ZipError| fault(ArchiveFault::Damaged { kind: "zip", detail: e.to_string() });
    let mut archive = zip::ZipArchive::new(BufReader::with_capacity(BUFFER, file)).map_err(damaged)?;
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(damaged)?;
        if !member.is_dir() {
            names.push((member.name().map_err(damaged)?.into_owned(), index));
        }
    }
    names.sort();
    let listed = || {
        let first: Vec<&str> = names.iter().take(5).map(|(name, _)| name.as_str()).collect();
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
        let unsupported =
            |form: String| fault(ArchiveFault::Unsupported { member: shown(name.as_bytes()), form });
        if member.encrypted() {
            return Err(unsupported("encrypted".to_owned()));
        }
        let deflated = match member.compression() {
            zip::CompressionMethod::Stored => false,
            zip::CompressionMethod::Deflated => true,
            other => return Err(unsupported(format!("compressed by {other:?}"))),
        };
        let start = member.data_start().ok_or_else(|| unsupported("without data".to_owned()))?;
        let (compressed, size, crc) = (member.compressed_size(), member.size(), member.crc32());
        parts.push(Part {
            name: format!("{archive_name}/{name}"),
            path: path.to_owned(),
            packing: Packing::Zip { start, compressed, size, crc, deflated },
            allowance: allowance.clone(),
        });
    }
    Ok(parts)
}

/// Whether `name` fits `pattern`, where `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(tail) = name.strip_prefix(head) else { return false };
    (0..=tail.len()).any(|cut| tail.is_char_boundary(cut) && fits(rest, &tail[cut..]))
}

impl Part {
    /// A reader of the unpacked bytes. Errors carry an [`ArchiveFault`] where the packing is at fault.
    pub fn reader(&self) -> Result<Box<dyn Read + Send>, FormatError> {
        let fail = |e: io::Error| FormatError::io(&self.name, At::File, e);
        let mut file = File::open(&self.path).map_err(fail)?;
        if let Packing::Zip { start, .. } = self.packing {
            file.seek(SeekFrom::Start(start)).map_err(fail)?;
        }
        let input = BufReader::with_capacity(BUFFER, file);
        let guard = |kind, decoder| Guarded { decoder, kind, allowance: self.allowance.clone() };
        Ok(match self.packing {
            Packing::Plain => Box::new(input),
            Packing::Gzip => Box::new(guard("gzip", Box::new(MultiGzDecoder::new(input)))),
            Packing::Bzip2 => Box::new(guard("bzip2", Box::new(MultiBzDecoder::new(input)))),
            Packing::Zip { compressed, size, crc, deflated, .. } => {
                let bytes = input.take(compressed);
                let decoder: Box<dyn Read + Send> =
                    if deflated { Box::new(DeflateDecoder::new(bytes)) } else { Box::new(bytes) };
                Box::new(guard("zip", Box::new(Verified { decoder, sum: Crc::new(), seen: 0, size, crc })))
            }
        })
    }
}

/// Counts the output against the allowance and gives a decoder's errors their kind.
struct Guarded {
    decoder: Box<dyn Read + Send>,
    kind: &'static str,
    allowance: Allowance,
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match self.decoder.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Err(e),
            Err(e) => {
                let fault = ArchiveFault::Damaged { kind: self.kind, detail: e.to_string() };
                return Err(io::Error::new(io::ErrorKind::InvalidData, fault));
            }
            Ok(count) => count,
        };
        let Allowance { left, allowed, compressed, limits } = &self.allowance;
        let spent =
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count as u64));
        if spent.is_err() {
            let (allowed, compressed) = (*allowed, *compressed);
            let Limits { max_bytes, max_ratio, .. } = *limits;
            let fault = ArchiveFault::TooLarge { allowed, compressed, max_bytes, max_ratio };
            return Err(io::Error::new(io::ErrorKind::InvalidData, fault));
        }
        Ok(count)
    }
}

/// A zip member, whose size and check sum stand in the directory and are compared at its end.
struct Verified {
    decoder: Box<dyn Read + Send>,
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

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(fits("a*.csv", "a-1.csv") && fits("*", "x") && fits("a*b*c", "aXbYbZc") && fits("é*", "é!"));
        assert!(!fits("a*.csv", "b.csv") && !fits("a.csv", "a.csv2") && !fits("a*b", "a"));
    }
}
