//! Files that are written atomically, and locks.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// The beginning and the end of the names of temporary files. A process that is killed while it writes leaves
/// such a file behind.
const TEMPORARY: (&str, &str) = (".lao-", ".tmp");

/// A file could not be written.
#[derive(Debug)]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// The reason, with a remedy.
    pub cause: io::Error,
}

impl fmt::Display for WriteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot write {}: {}", self.path.display(), self.cause)?;
        match self.cause.kind() {
            // A refusal of this crate has its own remedy.
            io::ErrorKind::Other => Ok(()),
            _ => write!(out, "; check the folder, its rights and the free space"),
        }
    }
}

impl std::error::Error for WriteError {}

/// Writes a file so that a reader sees the old one or the whole new one, never a part. A link stays a link,
/// and the file to which it points is replaced. The new file has the permissions of the old one. The file and
/// its name are on the disk when this returns.
///
/// # Errors
/// When the path names something other than an ordinary file, when the file is read-only, or when the folder
/// or the disk cannot be written. The old file is then unchanged, and no other file is left behind.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write_atomically`], for a file that is written piece by piece.
///
/// # Errors
/// As [`write_atomically`]; and that of `content`.
pub fn write_with(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), WriteError> {
    let write = || {
        let (target, old) = replaced(path)?;
        let mut file = temporary(&target)?;
        let _unfinished = Unfinished::begin(file.path());
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions())?;
        }
        content(file.as_file_mut())?;
        file.as_file().sync_all()?;
        file.persist(&target)?;
        sync_folder(folder_of(&target))
    };
    write().map_err(|cause| WriteError { path: path.to_owned(), cause })
}

/// The file that [`write_atomically`] is writing, if it is.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Says that a file is being written, as long as it lives.
struct Unfinished;

impl Unfinished {
    fn begin(path: &Path) -> Self {
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
        Unfinished
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Removes the file that [`write_atomically`] is writing, for a process that is about to end in the middle of
/// it.
pub fn remove_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    // What cannot be removed stays, as after a kill.
    unfinished.map(std::fs::remove_file);
}

/// Writes a new file by way of another one in the same folder, `unfinished`, which replaces what a process
/// that was killed may have left there. The file and its name are on the disk when this returns.
///
/// # Errors
/// When a file cannot be written; `unfinished` is then removed.
pub fn write_by_way_of(unfinished: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a killed process left is removed; where something else has the name since, nothing is written to
    // it.
    let _ = std::fs::remove_file(unfinished);
    let written = File::create_new(unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(unfinished, path)
    });
    if let Err(cause) = written {
        // The next file that is written replaces what stays.
        let _ = std::fs::remove_file(unfinished);
        return Err(cause);
    }
    sync_folder(folder_of(path))
}

/// Checks, before any work, that [`write_atomically`] can write this file. Nothing is changed.
///
/// # Errors
/// Those that [`write_atomically`] would return, except that of a disk that becomes full.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let check = || temporary(&replaced(path)?.0).map(drop);
    check().map_err(|cause| WriteError { path: path.to_owned(), cause })
}

/// Checks that a path is that of an ordinary file, or of none: a link is followed nowhere, and a pipe would
/// be waited for.
///
/// # Errors
/// When it is something else.
pub fn check_ordinary(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(io::Error::other("it is not an ordinary file: no link, pipe or device is read here")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens an ordinary file to be read.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn open_ordinary(path: &Path) -> io::Result<File> {
    check_ordinary(path)?;
    File::open(path)
}

/// Returns whether two metadata are those of one file; elsewhere than on Unix, whether they may be.
pub fn is_same(a: &Metadata, b: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (a.dev(), a.ino()) == (b.dev(), b.ino())
    }
    #[cfg(not(unix))]
    {
        a.is_file() == b.is_file()
    }
}

/// Opens a file, which is created if necessary, and locks it for this process. The operating system releases
/// the lock when the file is dropped or the process ends.
///
/// # Errors
/// [`TryLockError::WouldBlock`] if another process has the lock.
pub fn lock(path: &Path) -> Result<File, TryLockError> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// Waits until the names of a folder are on the disk.
///
/// # Errors
/// When the folder cannot be opened or synchronized.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix lets a folder be opened; elsewhere the file system sees to it.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Tells whether this is the name of a temporary file that [`write_atomically`] made.
pub(crate) fn is_temporary(name: &str) -> bool {
    let (begin, end) = TEMPORARY;
    name.len() > begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
}

/// Returns the file that a write to `path` replaces, after following links, and its metadata if it exists.
fn replaced(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    let refuse = |reason: &str| Err(io::Error::other(reason.to_owned()));
    let target = match std::fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.is_symlink() {
                return refuse("it is a link that points to nothing; remove it");
            }
            return Ok((path.to_owned(), None));
        }
        Err(error) => return Err(error),
    };
    let old = std::fs::metadata(&target)?;
    if is_part_of_study(&target) {
        return refuse("it is a file of a live study; name another file");
    }
    if !old.is_file() {
        let what = if old.is_dir() { "a folder" } else { "not an ordinary file" };
        return refuse(&format!("it is {what}; name another file"));
    }
    if old.permissions().readonly() {
        return refuse("it is read-only; make it writable or name another file");
    }
    Ok((target, Some(old)))
}

/// Returns whether a file is one of those that a live study consists of.
fn is_part_of_study(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let of_study = ["study.json", "journal.jsonl", "lock", "unfinished"].contains(&name.as_str());
    let folder = folder_of(path);
    let has = |name: &str| folder.join(name).is_file();
    (of_study || name.starts_with("snapshot-")) && has("study.json") && has("journal.jsonl")
}

/// Returns the folder of a file; that of a name alone is the current one.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a temporary file beside `target`.
fn temporary(target: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    // A temporary file is private by default; this one gets the permissions of an ordinary file, within the
    // umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(target))
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
