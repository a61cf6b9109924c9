//! Files in object stores and on web servers, of which ranges of bytes are requested.

use crate::error::ParquetError;
use crate::file::ParquetFile;
use crate::store::{Answer, Store, public_url};
use bytes::Bytes;
use object_store::http::HttpBuilder;
use object_store::path::Path as Place;
use object_store::{
    ClientConfigKey, ClientOptions, Error, GetOptions, GetResult, ObjectMeta, ObjectStore, ObjectStoreScheme,
};
use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, LazyLock};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use url::Url;

/// Requests that wait for an answer at the same time.
const AT_ONCE: usize = 128;
/// Files of a folder whose footers are read at the same time.
const FILES_AT_ONCE: usize = 8;
/// Beginnings of the names of variables that say how a store is reached.
const OF_STORES: [&str; 3] = ["aws_", "azure_", "google_"];

/// A file in an object store or on a web server. Requests that fail for a reason that may pass are sent
/// again, ten times at most and with growing pauses, and so is the rest of an answer that was cut off. One
/// that has no answer after 30 seconds has failed. All requests are for the version of the file that was
/// opened.
struct RemoteFile {
    name: String,
    store: Arc<dyn ObjectStore>,
    place: Place,
    size: u64,
    /// The tag of this version, if the store gives one that can be asked for.
    version: Option<String>,
}

impl fmt::Debug for RemoteFile {
    // A store holds credentials.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RemoteFile").field("name", &self.name).field("size", &self.size).finish()
    }
}

/// Opens the Parquet file at a URL, or, if there is none, all those below it as in a folder, in the order of
/// their names: `s3://`, `gs://`, `az://` and `abfs://` are object stores, `http://` and `https://` web
/// servers, whose URLs may be signed and which have no folders. What a store must know, such as
/// `AWS_ACCESS_KEY_ID`, `AWS_REGION` and `AWS_ENDPOINT_URL`, is read from the environment; `options` go
/// before it, under the same names or without their beginning (`("timeout", "5s")`).
///
/// # Errors
/// When there is no such file, it cannot be read, or it is no Parquet file. No message has a secret.
pub fn open_url(url: &str, options: &[(String, String)]) -> Result<Vec<ParquetFile>, ParquetError> {
    let name = public_url(url);
    let failed = |cause| ParquetError::File { file: name.clone(), cause };
    let wrong = |error| failed(io::Error::new(ErrorKind::InvalidInput, format!("this is no URL: {error}")));
    let parsed = Url::parse(url).map_err(wrong)?;
    let (store, place) = store(&parsed, options).map_err(|error| failed(said(&error)))?;
    let has_folders = !matches!(parsed.scheme(), "http" | "https");
    if has_folders && parsed.path().ends_with('/') {
        return folder(&name, &store, place);
    }
    let (asked, at) = (Arc::clone(&store), place.clone());
    let first = wait(async move { get(&*asked, &at, None, 0..4).await.map(|answer| answer.meta) });
    match first.map_err(failed)? {
        Ok(meta) => Ok(vec![opened(name.clone(), store, place, &meta)?]),
        Err(Error::NotFound { .. }) if has_folders => folder(&name, &store, place),
        Err(error) => Err(failed(said(&error))),
    }
}

/// Opens the Parquet files that lie directly in a folder.
fn folder(name: &str, store: &Arc<dyn ObjectStore>, place: Place) -> Result<Vec<ParquetFile>, ParquetError> {
    let failed = |cause| ParquetError::File { file: name.to_owned(), cause };
    let asked = Arc::clone(store);
    let listed = wait(async move { parts(&*asked, &place).await }).map_err(failed)?;
    let parts = listed.map_err(|error| failed(said(&error)))?;
    if parts.is_empty() {
        let reason = "there is no such file, and none below it whose name ends in .parquet";
        return Err(failed(io::Error::new(ErrorKind::NotFound, reason)));
    }
    let folder = name.trim_end_matches('/');
    let open = |meta: &ObjectMeta| {
        let name = format!("{folder}/{}", meta.location.filename().unwrap_or_default());
        opened(name, Arc::clone(store), meta.location.clone(), meta)
    };
    let mut files = Vec::with_capacity(parts.len());
    for some in parts.chunks(FILES_AT_ONCE) {
        let opened: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|meta| scope.spawn(|| open(meta))).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for file in opened {
            files.push(file.map_err(|_| failed(io::Error::other("reading a footer was given up")))??);
        }
    }
    Ok(files)
}

fn opened(
    name: String,
    store: Arc<dyn ObjectStore>,
    place: Place,
    meta: &ObjectMeta,
) -> Result<ParquetFile, ParquetError> {
    // A weak tag says that two versions mean the same, not that they have the same bytes.
    let version = meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
    let file = RemoteFile { name: name.clone(), store, place, size: meta.size, version };
    ParquetFile::of(Box::new(file), name)
}

/// Returns the Parquet files that lie directly in a folder.
async fn parts(store: &dyn ObjectStore, folder: &Place) -> Result<Vec<ObjectMeta>, Error> {
    let mut parts = store.list_with_delimiter(Some(folder)).await?.objects;
    let ends = |meta: &ObjectMeta| matches!(meta.location.extension(), Some("parquet" | "pq"));
    parts.retain(ends);
    parts.sort_unstable_by(|a, b| a.location.cmp(&b.location));
    Ok(parts)
}

/// Returns the store of a URL, and the place in it.
fn store(url: &Url, options: &[(String, String)]) -> Result<(Arc<dyn ObjectStore>, Place), Error> {
    // The library that encrypts connections; it stays if a program has chosen one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (scheme, _) = ObjectStoreScheme::parse(url)?;
    // The query of a signed URL belongs to each request.
    if scheme == ObjectStoreScheme::Http || url.query().is_some() {
        let known =
            options.iter().filter_map(|(key, value)| Some((key.parse::<ClientConfigKey>().ok()?, value)));
        let client = known.fold(ClientOptions::new(), |client, (key, value)| client.with_config(key, value));
        let client = client.with_allow_http(url.scheme() == "http");
        let store = HttpBuilder::new().with_url(url.as_str()).with_client_options(client).build()?;
        return Ok((Arc::new(store), Place::default()));
    }
    let environment = std::env::vars_os().filter_map(|(key, value)| {
        let (key, value) = (key.into_string().ok()?.to_ascii_lowercase(), value.into_string().ok()?);
        OF_STORES.iter().any(|begin| key.starts_with(begin)).then_some((key, value))
    });
    let (store, place) = object_store::parse_url_opts(url, environment.chain(options.iter().cloned()))?;
    Ok((store.into(), place))
}

/// Requests a range of bytes.
async fn get(
    store: &dyn ObjectStore,
    place: &Place,
    version: Option<String>,
    range: Range<u64>,
) -> Result<GetResult, Error> {
    let options = GetOptions { if_match: version, range: Some(range.into()), ..GetOptions::default() };
    store.get_opts(place, options).await
}

/// Work that is given up when this is dropped.
#[derive(Debug)]
struct Begun(AbortHandle);

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Begins `work`, and returns where its outcome will come.
fn begin<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> io::Result<(Receiver<T>, Begun)> {
    static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
        Builder::new_multi_thread().worker_threads(1).thread_name("lao-remote").enable_all().build()
    });
    let runtime = RUNTIME.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
    let (tell, told) = sync_channel(1);
    let task = runtime.spawn(async move { tell.send(work.await) });
    Ok((told, Begun(task.abort_handle())))
}

/// Waits for `work`, on whatever thread this is.
fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let (told, _begun) = begin(work)?;
    told.recv().map_err(|_| io::Error::other("the request was given up"))
}

impl RemoteFile {
    /// Requests a range of bytes.
    fn request(&self, range: &Range<u64>) -> io::Result<Answer> {
        static PERMITS: Semaphore = Semaphore::const_new(AT_ONCE);
        let (store, place) = (Arc::clone(&self.store), self.place.clone());
        let (version, range) = (self.version.clone(), range.clone());
        let (told, request) = begin(async move {
            let _permit = PERMITS.acquire().await.map_err(io::Error::other)?;
            let answer = get(&*store, &place, version, range.clone()).await.map_err(|error| said(&error))?;
            let bytes = answer.bytes().await.map_err(|error| said(&error))?;
            let is_whole = bytes.len() as u64 == range.end - range.start;
            let cut_off = "an answer has fewer bytes than asked for";
            is_whole.then_some(bytes).ok_or_else(|| io::Error::new(ErrorKind::UnexpectedEof, cut_off))
        })?;
        Ok(Answer { told, request: Box::new(request) })
    }
}

impl Store for RemoteFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let answers = ranges.iter().map(|range| self.request(range)).collect::<io::Result<Vec<_>>>()?;
        answers.into_iter().map(Answer::wait).collect()
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn begin(&self, ranges: &[Range<u64>]) -> Vec<Answer> {
        ranges.iter().map_while(|range| self.request(range).ok()).collect()
    }

    fn worth_a_request(&self) -> u64 {
        1 << 12
    }
}

/// Returns what an error says to a user. The answer of a server may repeat what it was sent, such as a key,
/// so that nothing of it is said.
fn said(error: &Error) -> io::Error {
    let (kind, text) = match error {
        Error::NotFound { .. } => (ErrorKind::NotFound, "there is no such file".to_owned()),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            let text = "access is refused; credentials are read from the environment, such as \
                        AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for public files \
                        AWS_SKIP_SIGNATURE=true";
            (ErrorKind::PermissionDenied, text.to_owned())
        }
        Error::Precondition { .. } => {
            (ErrorKind::Other, "the file was replaced while it was read; start again".to_owned())
        }
        Error::NotSupported { .. } => {
            let text = "the server gives no parts of files; download the file";
            (ErrorKind::Unsupported, text.to_owned())
        }
        other => match cause(other) {
            // Of a bucket that is not there the answer to a request for its list.
            text if text.contains("404 Not Found") => {
                (ErrorKind::NotFound, "there is no such file, and no such bucket".into())
            }
            text => (ErrorKind::Other, text),
        },
    };
    io::Error::new(kind, text)
}

/// Returns the innermost cause of an error, as far as it repeats neither a URL nor an answer.
fn cause(error: &Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    // What a server sent follows on its status.
    let text = innermost.to_string();
    let text: Vec<&str> = text.splitn(3, ": ").take(2).collect();
    let text = text.join(": ");
    let is_said = |word: &&str| !word.contains("://") && !word.contains('?');
    text.split_whitespace().filter(is_said).take(40).collect::<Vec<_>>().join(" ")
}
