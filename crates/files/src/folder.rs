//! A folder of results, which one run at a time writes, and in which only files that this program wrote are
//! removed.
//!
//! Two files mark such a folder. `.lao-output` lists, by name, every file that was written there; only listed
//! files may be replaced or removed. `.lao-lock` is locked by the run that writes; the file stays, and the
//! operating system releases the lock when the process ends for whatever reason.
//!
//! | the folder | what happens |
//! |---|---|
//! | is missing, or holds no file | it is marked |
//! | is marked | files that are not listed are left alone; where one stands in the way, the run is refused |
//! | holds anything else | the run is refused |
//!
//! A run is refused before the first file is touched.

use crate::file::{is_temporary, write_atomically};
use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LIST: &str = ".lao-output";
const LOCK: &str = ".lao-lock";
const REMEDY: &str = "choose another folder with --out";

/// A folder of results that this process has locked.
#[derive(Debug)]
pub struct OutputFolder {
    root: PathBuf,
    list: List,
    /// Holds the lock until the folder is dropped.
    _lock: File,
}

/// The content of `.lao-output`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// The verb that writes into the folder.
    verb: String,
    /// The files that were written or are about to be, as relative paths with `/` between the parts.
    files: BTreeSet<String>,
}

impl OutputFolder {
    /// Locks the folder for this process, and creates and marks it if necessary. It holds the results of one
    /// `verb` only, for example `verify`.
    ///
    /// # Errors
    /// When the folder holds files that this verb did not write, another process uses the folder, or it
    /// cannot be written. In these cases nothing in the folder is changed.
    pub fn open(root: &Path, verb: &'static str) -> anyhow::Result<Self> {
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let shown = root.display();
        // A folder that is refused must not be marked, not even by the file for the lock.
        if !root.join(LOCK).exists() {
            contents(root, verb)?;
        }
        fs::create_dir_all(root).with_context(|| format!("cannot create {shown}: {REMEDY}"))?;
        let lock = lock(root)?;
        // Another run may have used the folder before the lock was taken, so the list is read again under the
        // lock.
        let list = contents(root, verb)?;
        let folder = OutputFolder { root: root.to_owned(), list, _lock: lock };
        folder.remove_temporary_files()?;
        folder.save()?;
        Ok(folder)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Adds files that this run is going to write to the list, and creates their folders.
    ///
    /// # Errors
    /// When one of the names belongs to another file, a folder or a link, or a folder cannot be written.
    pub fn announce(&mut self, names: impl IntoIterator<Item = String>) -> anyhow::Result<()> {
        let names: Vec<String> = names.into_iter().collect();
        for name in &names {
            ensure!(is_name(name), "`{name}` is not a name of a file in a folder of results");
            let path = self.root.join(name);
            match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_file() || !self.list.files.contains(name) => bail!(
                    "{} stands in the way: this program did not write it; move it away, or {REMEDY}",
                    path.display()
                ),
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot look at {}", path.display()));
                }
                _ => {}
            }
        }
        let folders: BTreeSet<PathBuf> =
            names.iter().filter_map(|name| self.root.join(name).parent().map(Path::to_owned)).collect();
        for folder in folders {
            let refused = || format!("cannot write in {}: {REMEDY}", folder.display());
            fs::create_dir_all(&folder).with_context(refused)?;
            crate::check_writable(&folder.join(LIST)).with_context(refused)?;
        }
        let before = self.list.files.len();
        self.list.files.extend(names);
        if self.list.files.len() > before { self.save() } else { Ok(()) }
    }

    /// Writes a file that was [announced](Self::announce), completely or not at all.
    ///
    /// # Errors
    /// When the file was not announced, or cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        ensure!(self.list.files.contains(name), "`{name}` is written without having been announced");
        Ok(write_atomically(&self.root.join(name), bytes)?)
    }

    /// Removes the listed files whose names `which` accepts.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove(&mut self, which: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        let gone: Vec<String> = self.list.files.iter().filter(|name| which(name)).cloned().collect();
        for name in &gone {
            let path = self.root.join(name);
            // A folder or a link with the name of a listed file is not the file that was written.
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
                fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        gone.iter().for_each(|name| _ = self.list.files.remove(name));
        if gone.is_empty() { Ok(()) } else { self.save() }
    }

    fn save(&self) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(&self.list)?;
        text.push(b'\n');
        let refused = || format!("cannot write in {}: {REMEDY}", self.root.display());
        write_atomically(&self.root.join(LIST), &text).with_context(refused)
    }

    /// Removes the temporary files of a process that was killed while it wrote.
    fn remove_temporary_files(&self) -> anyhow::Result<()> {
        let mut folders: BTreeSet<PathBuf> = [self.root.clone()].into();
        folders.extend(
            self.list.files.iter().filter_map(|name| self.root.join(name).parent().map(Path::to_owned)),
        );
        for entry in folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            let ours = entry.file_name().to_str().is_some_and(is_temporary);
            if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                let path = entry.path();
                fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// Returns the list of a folder: the list that it has, or a new one for a folder that this verb may use.
fn contents(root: &Path, verb: &str) -> anyhow::Result<List> {
    let (shown, path) = (root.display(), root.join(LIST));
    match fs::read_to_string(&path) {
        Ok(text) => {
            let list: Option<List> = serde_json::from_str(&text).ok();
            let list = list.filter(|list| list.files.iter().all(|name| is_name(name)));
            let list = list.with_context(|| {
                format!(
                    "{} is not a list that this version wrote: {REMEDY}, or remove this one",
                    path.display()
                )
            })?;
            ensure!(list.verb == verb, "{shown} holds results of `cargo xtask {}`: {REMEDY}", list.verb);
            return Ok(list);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(error).with_context(|| format!("{shown} is not a folder: {REMEDY}"));
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}: {REMEDY}", path.display())),
    }
    if let Some(file) = any_file(root).with_context(|| format!("cannot look into {shown}: {REMEDY}"))? {
        bail!(
            "{shown} holds files that `cargo xtask {verb}` did not write, such as {}: choose a new or empty \
             folder with --out; nothing was changed",
            file.display()
        );
    }
    Ok(List { verb: verb.into(), files: BTreeSet::new() })
}

/// Returns a file in the folder or its subfolders that is not a mark of this program, or `None` if there is
/// none.
fn any_file(folder: &Path) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut below = Vec::new();
    for entry in entries {
        let entry = entry?;
        let ours = entry.file_name().to_str().is_some_and(|name| name == LOCK || is_temporary(name));
        match entry.file_type()?.is_dir() {
            true => below.push(entry.path()),
            false if ours => {}
            false => return Ok(Some(entry.path())),
        }
    }
    for folder in below {
        if let Some(file) = any_file(&folder)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Returns whether a name stays inside the folder and is not that of a mark.
fn is_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty()
        && !name.contains('\\')
        && parts.all(
            |part| matches!(part, Component::Normal(part) if !part.to_string_lossy().starts_with(".lao-")),
        )
}

/// Locks the folder for this process, and writes the process and the time into the lock file.
fn lock(root: &Path) -> anyhow::Result<File> {
    let (shown, path) = (root.display(), root.join(LOCK));
    let refused = || format!("cannot write {}: {REMEDY}", path.display());
    let mut file = match crate::lock(&path) {
        Ok(file) => file,
        Err(TryLockError::WouldBlock) => {
            bail!("{shown} is in use by {}: wait for it to end, or {REMEDY}", holder(&path))
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}: {REMEDY}", path.display()));
        }
    };
    file.set_len(0).with_context(refused)?;
    writeln!(file, "{} {}", std::process::id(), now().as_secs()).with_context(refused)?;
    Ok(file)
}

/// Returns a description of the process that holds the lock, as far as it can be read.
fn holder(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut words = text.split_whitespace().map(str::parse::<u64>);
    match (words.next(), words.next()) {
        (Some(Ok(process)), Some(Ok(since))) => {
            let ago = now().saturating_sub(Duration::from_secs(since));
            format!("process {process}, which started {} s ago", ago.as_secs())
        }
        _ => "another process".into(),
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests;
