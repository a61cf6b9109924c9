//! A web server that is also a small object store, and fails as it is told to.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is answered.
    None,
    /// The server is busy.
    Busy,
    /// Half of the answer is sent.
    CutOff,
    /// The answer comes after the client has given up.
    Slow,
    /// Access is refused, with an answer that repeats what was sent.
    Refused,
    /// The whole file is sent, whatever was asked for.
    Whole,
}

/// The files, and what happens to the n-th request.
pub struct Server {
    pub address: String,
    pub files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    pub requests: Arc<AtomicUsize>,
}

impl Server {
    pub fn start(files: &[(&str, &[u8])], fault: impl Fn(usize) -> Fault + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let of = |(name, bytes): &(&str, &[u8])| ((*name).to_owned(), bytes.to_vec());
        let files: Arc<Mutex<BTreeMap<_, _>>> = Arc::new(Mutex::new(files.iter().map(of).collect()));
        let (requests, fault) = (Arc::new(AtomicUsize::new(0)), Arc::new(fault));
        let (served, count) = (Arc::clone(&files), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (served, count, fault) = (Arc::clone(&served), Arc::clone(&count), Arc::clone(&fault));
                thread::spawn(move || {
                    let stream = stream?;
                    let mut reader = BufReader::new(stream.try_clone()?);
                    while let Some(request) = request(&mut reader) {
                        let fault = fault(count.fetch_add(1, Relaxed));
                        if !answer(&stream, &request, &served.lock().unwrap().clone(), fault)? {
                            break;
                        }
                    }
                    stream.shutdown(Shutdown::Both)
                });
            }
        });
        Server { address, files, requests }
    }

    /// Returns options that make this the object store.
    pub fn options(&self) -> Vec<(String, String)> {
        let options = [
            ("aws_endpoint", self.address.as_str()),
            ("aws_region", "here"),
            ("aws_access_key_id", "PUBLICKEY"),
            ("aws_secret_access_key", "SECRETKEY"),
            ("allow_http", "true"),
            ("timeout", "300ms"),
        ];
        options.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec()
    }
}

struct Request {
    method: String,
    path: String,
    query: String,
    range: Option<[usize; 2]>,
    if_match: Option<String>,
    all: String,
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut all = String::new();
    while !all.ends_with("\r\n\r\n") {
        if reader.read_line(&mut all).ok()? == 0 {
            return None;
        }
    }
    let header = |name: &str| {
        let of = |line: &str| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        };
        all.lines().find_map(of)
    };
    let mut words = all.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.trim_start_matches('/').to_owned(), query.to_owned());
    let range = header("range").and_then(|range| {
        let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some([from.parse().ok()?, to.parse().ok()?])
    });
    let if_match = header("if-match");
    Some(Request { method, path, query, range, if_match, all })
}

/// Answers; returns whether the connection stays open.
fn answer(
    mut stream: &TcpStream,
    request: &Request,
    files: &BTreeMap<String, Vec<u8>>,
    fault: Fault,
) -> std::io::Result<bool> {
    let mut send = |status: &str, headers: &str, body: &[u8], sent: usize| {
        let length = body.len();
        write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n")?;
        stream.write_all(&body[..sent])?;
        stream.flush()
    };
    match fault {
        Fault::Busy => {
            send("503 Service Unavailable", "", b"busy", 4)?;
            return Ok(true);
        }
        Fault::Refused => {
            let body =
                format!("<Error><Sent>{}?{}{}</Sent></Error>", request.path, request.query, request.all);
            send("403 Forbidden", "", body.as_bytes(), body.len())?;
            return Ok(true);
        }
        Fault::Slow => thread::sleep(Duration::from_millis(600)),
        Fault::None | Fault::CutOff | Fault::Whole => {}
    }
    if request.query.contains("list-type=2") {
        let body = list(files, &request.path, &request.query);
        send("200 OK", "Content-Type: application/xml\r\n", body.as_bytes(), body.len())?;
        return Ok(true);
    }
    let Some(bytes) = files.get(&request.path) else {
        send("404 Not Found", "", b"<Error><Code>NoSuchKey</Code></Error>", 37)?;
        return Ok(true);
    };
    let tag = tag_of(bytes);
    if request.if_match.as_ref().is_some_and(|wanted| *wanted != tag) {
        send("412 Precondition Failed", "", b"", 0)?;
        return Ok(true);
    }
    let modified = "Last-Modified: Tue, 03 Nov 2026 10:00:00 GMT\r\n";
    let [from, to] = request.range.map_or([0, bytes.len()], |[from, to]| [from, (to + 1).min(bytes.len())]);
    let (status, body) = match request.range.filter(|_| fault != Fault::Whole) {
        Some(_) => ("206 Partial Content", &bytes[from..to]),
        None => ("200 OK", &bytes[..]),
    };
    let range = match status {
        "200 OK" => String::new(),
        _ => format!("Content-Range: bytes {from}-{}/{}\r\n", to - 1, bytes.len()),
    };
    let sent = if request.method == "HEAD" { 0 } else { body.len() };
    let sent = if fault == Fault::CutOff { sent / 2 } else { sent };
    send(status, &format!("ETag: {tag}\r\n{modified}{range}"), body, sent)?;
    Ok(fault != Fault::CutOff)
}

/// Returns the tag of a version of a file.
fn tag_of(bytes: &[u8]) -> String {
    format!("\"{:x}-{}\"", bytes.len(), bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>())
}

fn list(files: &BTreeMap<String, Vec<u8>>, bucket: &str, query: &str) -> String {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or("");
    let prefix = prefix.replace("%2F", "/");
    let bucket = bucket.trim_end_matches('/');
    let of = |(name, bytes): (&String, &Vec<u8>)| {
        let key = name.strip_prefix(bucket)?.strip_prefix('/')?;
        let inside = key.strip_prefix(&prefix)?;
        (!inside.contains('/')).then(|| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-03T10:00:00.000Z</LastModified>\
                 <ETag>{}</ETag><Size>{}</Size></Contents>",
                tag_of(bytes),
                bytes.len()
            )
        })
    };
    let contents: String = files.iter().filter_map(of).collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>")
}
