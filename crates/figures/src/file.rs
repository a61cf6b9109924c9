//! Files that are written atomically: completely or not at all.

use anyhow::{Context as _, bail};
use std::fs::Metadata;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The beginning and the end of the names of temporary files. A process that is killed while it writes leaves
/// such a file behind.
const TEMPORARY: (&str, &str) = (".lao-", ".tmp");

/// Writes a file so that a reader sees the old one or the whole new one, never a part. A link stays a link,
/// and the file to which it points is replaced. The new file has the permissions of the old one.
///
/// # Errors
/// When the path names something other than an ordinary file, when the file is read-only, or when the folder
/// or the disk cannot be written. The old file is then unchanged, and no other file is left behind.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let (target, old) = replaced(path)?;
    let name = || refusal(path);
    let mut file = temporary(&target).with_context(name)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions()).with_context(name)?;
    }
    file.write_all(bytes).with_context(name)?;
    file.as_file().sync_all().with_context(name)?;
    file.persist(&target).with_context(name)?;
    Ok(())
}

/// Checks, before any work, that [`write_atomically`] can write this file. Nothing is changed.
///
/// # Errors
/// Those that [`write_atomically`] would return, except that of a disk that becomes full.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    let (target, _) = replaced(path)?;
    temporary(&target).with_context(|| refusal(path))?;
    Ok(())
}

/// Tells whether this is the name of a temporary file that [`write_atomically`] made.
pub(crate) fn is_temporary(name: &str) -> bool {
    let (begin, end) = TEMPORARY;
    name.len() > begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
}

fn refusal(path: &Path) -> String {
    format!("cannot write {}: check the folder, its rights and the free space", path.display())
}

/// Returns the file that a write to `path` replaces, after following links, and its metadata if it exists.
fn replaced(path: &Path) -> anyhow::Result<(PathBuf, Option<Metadata>)> {
    let target = match std::fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.is_symlink() {
                bail!("cannot write {}: it is a link that points to nothing; remove it", path.display());
            }
            return Ok((path.to_owned(), None));
        }
        Err(error) => return Err(error).with_context(|| refusal(path)),
    };
    let old = std::fs::metadata(&target).with_context(|| refusal(path))?;
    if !old.is_file() {
        let what = if old.is_dir() { "a folder" } else { "not an ordinary file" };
        bail!("cannot write {}: it is {what}; name another file", path.display());
    }
    if old.permissions().readonly() {
        bail!("cannot write {}: it is read-only; make it writable or name another file", path.display());
    }
    Ok((target, Some(old)))
}

/// Returns a temporary file beside `target`.
fn temporary(target: &Path) -> io::Result<NamedTempFile> {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    // A temporary file is private by default; this one gets the permissions of an ordinary file, within the
    // umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_write_replaces_the_first_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, b"first, and long").unwrap();
        check_writable(&path).unwrap();
        write_atomically(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let path = Path::new("/no/such/folder/a.txt");
        for error in [write_atomically(path, b"x").unwrap_err(), check_writable(path).unwrap_err()] {
            assert!(error.to_string().contains("/no/such/folder/a.txt"), "{error}");
        }
    }

    #[test]
    fn what_is_no_ordinary_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub");
        std::fs::create_dir(&path).unwrap();
        for error in [write_atomically(&path, b"x").unwrap_err(), check_writable(&path).unwrap_err()] {
            assert!(error.to_string().contains("it is a folder"), "{error}");
        }
        #[cfg(unix)]
        assert!(write_atomically(Path::new("/dev/null"), b"x").unwrap_err().to_string().contains("ordinary"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_read_only_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.txt");
        std::fs::write(&path, "mine").unwrap();
        let mut rights = std::fs::metadata(&path).unwrap().permissions();
        rights.set_readonly(true);
        std::fs::set_permissions(&path, rights).unwrap();
        for error in [write_atomically(&path, b"x").unwrap_err(), check_writable(&path).unwrap_err()] {
            assert!(error.to_string().contains("read-only"), "{error}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        std::fs::remove_file(&file).unwrap();
        assert!(write_atomically(&link, b"x").unwrap_err().to_string().contains("points to nothing"));
    }
}
