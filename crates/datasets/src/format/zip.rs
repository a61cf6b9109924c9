//! Zip archives: the members of a file, each as a stream.

use super::archive::{Allowance, BUFFER, Content, Opening, Part, Seekable, Stream};
use super::error::{ArchiveFault, At, FormatError, ReadProblem};
use super::limits::MOST_MEMBERS;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// A member that is not read yet.
pub(super) struct Member {
    /// The archive, at the first byte of the member.
    archive: Shared,
    /// The number of bytes of the archive that the member takes.
    compressed: u64,
    /// Its size and check sum, as the directory has them.
    size: u64,
    crc: u32,
    deflated: bool,
}

impl Member {
    /// Returns a reader of the unpacked bytes, which compares size and check sum at their end.
    pub(super) fn reader(self) -> Stream {
        let Member { archive, compressed, size, crc, deflated } = self;
        let bytes = BufReader::with_capacity(BUFFER, archive).take(compressed);
        let decoder: Stream = if deflated { Box::new(DeflateDecoder::new(bytes)) } else { Box::new(bytes) };
        Box::new(Verified { decoder, sum: Crc::new(), seen: 0, size, crc })
    }
}

/// Returns the members of an archive that the opening asks for, in name order.
pub(super) fn members(
    input: Box<dyn Seekable>,
    archive_name: &str,
    opening: &Opening,
    allowance: &Allowance,
) -> Result<Vec<Part>, FormatError> {
    let shared = Shared { input: Arc::new(Mutex::new(input)), position: 0 };
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
    if names.iter().any(|(name, _)| name == "xl/workbook.xml") {
        return Err(fault(ArchiveFault::Workbook));
    }
    // What a Mac adds beside each file is no table.
    let of_mac = |name: &str| name.starts_with("__MACOSX/") || name.ends_with(".DS_Store");
    if names.iter().any(|(name, _)| !of_mac(name)) {
        names.retain(|(name, _)| !of_mac(name));
    }
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
        let position = member.data_start().ok_or_else(|| unsupported("without data".to_owned()))?;
        let (compressed, size, crc) = (member.compressed_size(), member.size(), member.crc32());
        let archive = Shared { position, ..shared.clone() };
        parts.push(Part {
            name: format!("{archive_name}/{}", shown_name(name)),
            content: Content::Zip(Member { archive, compressed, size, crc, deflated }),
            allowance: allowance.clone(),
        });
    }
    Ok(parts)
}

/// Returns whether `name` fits `pattern`, where `*` stands for any text. Time is linear in both: the text
/// before the first star and the text behind the last are fixed, and each text between stars may be taken
/// where it is found first.
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

/// Returns a file name as it appears in a message, so that it can be copied from there: uncut unless it is
/// absurdly long.
fn shown_name(name: &str) -> String {
    const LONGEST: usize = 200;
    let legible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut text: String = name.chars().take(LONGEST).map(legible).collect();
    if name.chars().nth(LONGEST).is_some() {
        text.push_str("...");
    }
    text
}

/// One reader of a file that several readers share; each has its own position.
#[derive(Clone)]
struct Shared {
    input: Arc<Mutex<Box<dyn Seekable>>>,
    position: u64,
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
