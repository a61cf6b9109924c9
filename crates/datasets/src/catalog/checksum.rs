//! SHA-256 of files, and checksums recorded beside them.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns the SHA-256 of a file, in lower-case hexadecimal.
pub fn sha256(path: &Path) -> io::Result<String> {
    sha256_of(&mut File::open(path)?)
}

/// Returns the SHA-256 of what an input gives from here on.
pub fn sha256_of(input: &mut impl Read) -> io::Result<String> {
    let mut buffer = vec![0; 1 << 18];
    let mut hash = Sha256::new();
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => hash.update(&buffer[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns where the checksum of a first download is recorded: `NAME.sha256` beside the file.
pub fn record_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    PathBuf::from(name)
}

/// Returns the recorded checksum, if there is one.
pub fn recorded(path: &Path) -> io::Result<Option<String>> {
    /// A record is one line of 64 digits.
    const LONGEST: u64 = 1 << 12;
    match File::open(record_path(path)) {
        Ok(file) => {
            let mut text = String::new();
            file.take(LONGEST).read_to_string(&mut text)?;
            Ok(text.split_whitespace().next().map(str::to_owned))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
