//! Files that are written whole or not at all.

use anyhow::Context as _;
use std::io::Write as _;
use std::path::Path;

/// Writes a file so that a reader sees the old one or the whole new one, never a part.
///
/// # Errors
/// When the folder or the disk refuses; nothing is left behind then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = || format!("cannot write {}: check the folder, its rights and the free space", path.display());
    let mut builder = tempfile::Builder::new();
    // A temporary file is private by default; this one becomes an ordinary file, as far as the umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).with_context(name)?;
    file.write_all(bytes).with_context(name)?;
    file.as_file().sync_all().with_context(name)?;
    file.persist(path).with_context(name)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_write_replaces_the_first_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, b"first, and long").unwrap();
        write_atomically(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let error = write_atomically(Path::new("/no/such/folder/a.txt"), b"x").unwrap_err();
        assert!(error.to_string().contains("/no/such/folder/a.txt"), "{error}");
    }
}
