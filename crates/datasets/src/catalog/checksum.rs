//! SHA-256 of files, and checksums recorded beside them.

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// SHA-256 of a file, in lower-case hexadecimal.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 18];
    let mut hash = Sha256::new();
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where the checksum of a first download is recorded: `NAME.sha256` beside the file.
pub(crate) fn record_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    PathBuf::from(name)
}

/// The recorded checksum, if there is one.
pub(crate) fn recorded(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(record_path(path)) {
        Ok(text) => Ok(text.split_whitespace().next().map(str::to_owned)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
