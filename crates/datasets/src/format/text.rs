//! Recognizes the content of a stream by its first bytes: a packing, or text in an encoding.

use super::error::ArchiveFault;
use std::io::{self, Read};

/// The number of bytes of the longest signature.
pub(crate) const HEAD: usize = 10;

/// The packings that readers undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Bzip2,
    Zip,
}

impl Packing {
    /// Returns the packing's name and the feature that undoes it, if the crate was built without.
    pub(crate) fn missing_feature(self) -> Option<(&'static str, &'static str)> {
        let (kind, feature, present) = match self {
            Packing::Gzip => ("gzip", "gzip", cfg!(feature = "gzip")),
            Packing::Bzip2 => ("bzip2", "archives", cfg!(feature = "archives")),
            Packing::Zip => ("zip", "archives", cfg!(feature = "archives")),
        };
        (!present).then_some((kind, feature))
    }
}

/// Returns the packing that these first bytes announce, if any. A bzip2 file may be cut off within its
/// signature.
pub(crate) fn packing(head: &[u8]) -> Option<Packing> {
    const BLOCK: [u8; 6] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const EMPTY: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    match head {
        [0x1f, 0x8b, ..] => Some(Packing::Gzip),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Packing::Zip),
        [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] => {
            let rest = &rest[..rest.len().min(BLOCK.len())];
            (BLOCK.starts_with(rest) || EMPTY.starts_with(rest)).then_some(Packing::Bzip2)
        }
        b"BZh" => Some(Packing::Bzip2),
        _ => None,
    }
}

/// Refuses, by its name, a packing that no reader undoes.
pub(crate) fn refuse_packed(head: &[u8]) -> Result<(), ArchiveFault> {
    const SIGNATURES: [(&[u8], &str, &str); 9] = [
        (b"\xfd7zXZ\0", "xz", "`xz -d FILE`"),
        (b"\x28\xb5\x2f\xfd", "zstd", "`zstd -d FILE`"),
        (b"\x04\x22\x4d\x18", "lz4", "`lz4 -d FILE`"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip", "`7z x FILE`"),
        (b"Rar!\x1a\x07", "RAR", "`unrar x FILE`"),
        (b"\x1f\x9d", "compress (.Z)", "`uncompress FILE`"),
        (b"LZIP", "lzip", "`lzip -d FILE`"),
        (b"PK\x07\x08", "split zip", "`zip -s 0 FILE --out WHOLE.zip` joins its parts"),
        (b"MSCF", "Windows cabinet", "`cabextract FILE`"),
    ];
    let found = SIGNATURES.iter().find(|(signature, ..)| head.starts_with(signature));
    found.map_or(Ok(()), |(_, kind, remedy)| Err(ArchiveFault::Packed { kind, remedy }))
}

/// Refuses, by its name, a packing inside of a packing.
pub(crate) fn refuse_nested(head: &[u8]) -> Result<(), ArchiveFault> {
    let (kind, remedy) = match packing(head) {
        Some(Packing::Gzip) => ("gzip", "`gzip -d FILE`, once for each time that it is packed"),
        Some(Packing::Bzip2) => ("bzip2", "`bzip2 -d FILE`, once for each time that it is packed"),
        Some(Packing::Zip) => ("zip", "`unzip FILE`, once for each time that it is packed"),
        None => return Ok(()),
    };
    Err(ArchiveFault::Packed { kind, remedy })
}

/// Refuses, by its name, a content whose first bytes show that it is not text in UTF-8.
fn refuse_foreign(head: &[u8]) -> Result<(), ArchiveFault> {
    refuse_packed(head)?;
    refuse_nested(head)?;
    let foreign = |kind, remedy| Err(ArchiveFault::Foreign { kind, remedy });
    let recode =
        "save it as UTF-8, with `iconv -f UTF-16 -t UTF-8 FILE` or as `CSV UTF-8` from a spreadsheet";
    match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => foreign("text in UTF-16", recode),
        [0, 0, 0xfe, 0xff, ..] => foreign("text in UTF-32", "save it as UTF-8"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => foreign("an NPY array", "read it with `read_npy`"),
        [0x89, b'H', b'D', b'F', ..] => foreign("an HDF5 file", "export its table as CSV"),
        [b'P', b'A', b'R', b'1', ..] => foreign("a Parquet file", "export its table as CSV"),
        [0xd0, 0xcf, 0x11, 0xe0, ..] => foreign("an old Microsoft Office file", "save its sheet as CSV"),
        _ if [&b"<!doctype"[..], b"<html"]
            .iter()
            .any(|tag| head.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))) =>
        {
            foreign("a web page", "fetch the file itself; the address may have given an error page")
        }
        _ => Ok(()),
    }
}

/// Reads into `buffer` until it is full or the input ends; returns the number of bytes.
pub(crate) fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while found < buffer.len() {
        match input.read(&mut buffer[found..]) {
            Ok(0) => break,
            Ok(count) => found += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(found)
}

/// Text without the mark that some programs write before UTF-8. What is no text is an error at the first
/// read.
#[derive(Debug)]
pub(crate) struct Text<R> {
    input: R,
    head: [u8; HEAD],
    at: usize,
    end: usize,
    begun: bool,
}

impl<R: Read> Text<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, head: [0; HEAD], at: 0, end: 0, begun: false }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.begun {
            self.end += read_full(&mut self.input, &mut self.head[self.end..])?;
            let head = &self.head[..self.end];
            refuse_foreign(head).map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault))?;
            self.at = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            self.begun = true;
        }
        if self.at == self.end {
            return self.input.read(buffer);
        }
        let count = (self.end - self.at).min(buffer.len());
        buffer[..count].copy_from_slice(&self.head[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packing_is_told_from_its_first_bytes_even_when_cut_off() {
        assert_eq!(packing(b"\x1f\x8b"), Some(Packing::Gzip));
        for bytes in [&b"BZh"[..], b"BZh9", b"BZh91AY", b"BZh91AY&SY", b"BZh9\x17\x72"] {
            assert_eq!(packing(bytes), Some(Packing::Bzip2), "{bytes:?}");
        }
        for bytes in [&b"BZ"[..], b"BZh0", b"BZhello", b"BZh9,1,2,3", b"", b"PK"] {
            assert_eq!(packing(bytes), None, "{bytes:?}");
        }
    }
}
