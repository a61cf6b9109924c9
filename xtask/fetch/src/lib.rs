//! Downloads of the catalog's files: resumed, checked, and moved into place in one step.
//!
//! Bytes are written to `NAME.part` beside the target. This file is renamed when size and checksum are right,
//! and removed when they are wrong. A `Range` request resumes a transfer that was cut off, if a checksum is
//! known that can show whether both parts belong together; otherwise the partial file is removed.

use lao_datasets::catalog::checksum::{record_path, recorded, sha256_of};
use lao_datasets::catalog::{Catalog, CatalogError, FileEntry, Found};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_RANGE};

/// An observer of downloads. `()` ignores all messages.
pub trait DownloadProgress {
    /// Receives the start of a transfer: its address, the number of bytes that were received before, and the
    /// total number, if it is known.
    fn start(&mut self, _url: &str, _already: u64, _total: Option<u64>) {}
    /// Receives the number of bytes that have arrived since the last call.
    fn advance(&mut self, _bytes: u64) {}
    /// Receives a message for the user.
    fn note(&mut self, _message: &str) {}
}

impl DownloadProgress for () {}

/// Downloads the missing files of a dataset into the cache, and checks them.
///
/// # Errors
/// [`CatalogError`]; a cut-off transfer is resumed by the next call.
pub fn fetch<'a>(
    catalog: &'a Catalog,
    name: &str,
    progress: &mut dyn DownloadProgress,
) -> Result<Found<'a>, CatalogError> {
    for (entry, target) in catalog.to_fetch(name)? {
        fetch_file(entry, &target, progress)?;
    }
    catalog.find(name)
}

/// Downloads one file to `target`, from the first of its addresses that works. An error is that of the last
/// address.
fn fetch_file(
    entry: &FileEntry,
    target: &Path,
    progress: &mut dyn DownloadProgress,
) -> Result<(), CatalogError> {
    let io_error = |path: &Path| {
        let path = path.to_owned();
        move |source| CatalogError::Io { path, source }
    };
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(io_error(folder))?;
    }
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let file = match lao_files::lock(&part) {
        Ok(file) => file,
        Err(TryLockError::WouldBlock) => return Err(CatalogError::Busy { path: part }),
        Err(TryLockError::Error(source)) => return Err(CatalogError::Io { path: part, source }),
    };
    let mut download = Download { entry, target, part: &part, file, progress };
    let mut outcome = Ok(());
    for url in &entry.urls {
        outcome = download.attempt(url);
        match &outcome {
            Ok(()) => return Ok(()),
            // The next address cannot help against a local fault.
            Err(CatalogError::Io { .. }) => break,
            Err(_) => {}
        }
    }
    let resumable = entry.sha256.is_some() && download.file.metadata().is_ok_and(|meta| meta.len() > 0);
    if !resumable {
        fs::remove_file(&part).map_err(io_error(&part))?;
    }
    outcome
}

struct Download<'a> {
    entry: &'a FileEntry,
    target: &'a Path,
    part: &'a Path,
    file: File,
    progress: &'a mut dyn DownloadProgress,
}

impl Download<'_> {
    fn attempt(&mut self, url: &str) -> Result<(), CatalogError> {
        let complete =
            self.entry.bytes.is_some_and(|bytes| self.length().is_ok_and(|length| length == bytes));
        if !complete {
            self.transfer(url)?;
        }
        self.file.sync_all().map_err(|e| self.io(e))?;
        self.verify(url)?;
        fs::rename(self.part, self.target).map_err(|e| self.io(e))
    }

    /// Downloads the rest of the file, or all of it if the server does not resume.
    fn transfer(&mut self, url: &str) -> Result<(), CatalogError> {
        let mut already = self.length()?;
        let too_long = self.entry.bytes.is_some_and(|bytes| already > bytes);
        if self.entry.sha256.is_none() || too_long {
            already = self.restart()?;
        }
        let mut response = self.request(url, already)?;
        if response.status() == 416 && already > 0 {
            // The partial file is not the beginning of the file on the server.
            already = self.restart()?;
            response = self.request(url, already)?;
        }
        match response.status().as_u16() {
            200 => already = self.restart()?,
            206 if already > 0 && range_start(&response) == Some(already) => {}
            206 => {
                return Err(
                    self.network(url, "it sent another part of the file than was asked for".to_owned())
                );
            }
            status => {
                let target = self.target.to_owned();
                return Err(CatalogError::Status { url: url.to_owned(), status, target });
            }
        }
        let announced = header(&response, CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        let total = announced.map(|length| already.saturating_add(length));
        self.progress.start(url, already, total.or(self.entry.bytes));
        self.file.seek(SeekFrom::Start(already)).map_err(|e| self.io(e))?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        let mut found = already;
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) if total.is_none_or(|total| found >= total) => break,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return Err(self.cut_off(url, found, total)),
                Ok(count) => count,
            };
            self.file.write_all(&buffer[..count]).map_err(|e| self.io(e))?;
            found += count as u64;
            self.progress.advance(count as u64);
            if let Some(expected) = self.entry.bytes.filter(|&expected| found > expected) {
                let found = format!("more than {expected}");
                return Err(self.wrong(url, "a size in bytes of", expected.to_string(), found));
            }
        }
        Ok(())
    }

    fn request(&self, url: &str, already: u64) -> Result<ureq::http::Response<ureq::Body>, CatalogError> {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(30)))
            .timeout_per_read(Some(Duration::from_secs(60)))
            .user_agent(concat!("lao/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let mut request = agent.get(url).header("accept-encoding", "identity");
        if already > 0 {
            request = request.header("range", format!("bytes={already}-"));
        }
        request.call().map_err(|e| self.network(url, e.to_string()))
    }

    /// Compares size and checksum; a file without known checksum has the one of its first download recorded.
    fn verify(&mut self, url: &str) -> Result<(), CatalogError> {
        let length = self.length()?;
        if let Some(expected) = self.entry.bytes.filter(|&expected| expected != length) {
            return Err(self.wrong(url, "a size in bytes of", expected.to_string(), length.to_string()));
        }
        // Through the file that is locked and was written, which the path need not name any more.
        self.file.seek(SeekFrom::Start(0)).map_err(|e| self.io(e))?;
        let found = sha256_of(&mut self.file).map_err(|e| self.io(e))?;
        let expected = match &self.entry.sha256 {
            Some(known) => Some(known.clone()),
            None => recorded(self.target).map_err(|e| self.io(e))?,
        };
        match expected {
            Some(expected) if expected == found => Ok(()),
            Some(expected) => Err(self.wrong(url, "SHA-256", expected, found)),
            None => {
                let record = record_path(self.target);
                lao_files::write_atomically(&record, format!("{found}\n").as_bytes())
                    .map_err(|error| CatalogError::Io { path: error.path, source: error.cause })?;
                let place = record.display();
                self.progress.note(&format!(
                    "no checksum is known for {url}: this first download's, {found}, is recorded in {place}, \
                     and a later download must match it"
                ));
                Ok(())
            }
        }
    }

    /// A complete file that is wrong cannot be resumed: it is emptied, and removed in the end.
    fn wrong(&mut self, url: &str, what: &'static str, expected: String, found: String) -> CatalogError {
        match self.restart() {
            Ok(_) => CatalogError::WrongDownload { url: url.to_owned(), what, expected, found },
            Err(error) => error,
        }
    }

    fn cut_off(&self, url: &str, found: u64, expected: Option<u64>) -> CatalogError {
        let kept = match self.entry.sha256 {
            Some(_) => "what has come is kept: fetch again to resume",
            None => "nothing was kept, since no checksum is known to resume by: fetch again",
        };
        CatalogError::CutOff { url: url.to_owned(), found, expected, kept }
    }

    fn network(&self, url: &str, detail: String) -> CatalogError {
        CatalogError::Network { url: url.to_owned(), detail, target: self.target.to_owned() }
    }

    fn io(&self, source: io::Error) -> CatalogError {
        CatalogError::Io { path: self.part.to_owned(), source }
    }

    fn length(&self) -> Result<u64, CatalogError> {
        self.file.metadata().map(|meta| meta.len()).map_err(|e| self.io(e))
    }

    fn restart(&self) -> Result<u64, CatalogError> {
        self.file.set_len(0).map_err(|e| self.io(e))?;
        Ok(0)
    }
}

fn header(response: &ureq::http::Response<ureq::Body>, name: ureq::http::HeaderName) -> Option<&str> {
    response.headers().get(name)?.to_str().ok()
}

/// Returns the first byte of a `Content-Range: bytes FIRST-LAST/TOTAL`.
fn range_start(response: &ureq::http::Response<ureq::Body>) -> Option<u64> {
    header(response, CONTENT_RANGE)?.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}
