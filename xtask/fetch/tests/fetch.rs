//! Downloads from a server on the loopback address that this test starts: good, damaged, cut off, missing,
//! resumed.

use lao_datasets::catalog::{Catalog, CatalogError, Folders, Manifest, Place};
use lao_fetch::{DownloadProgress, fetch};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

const TEXT: &str = "1 1:0.5 3:2\n-1 2:1\n1 3:4\n";
const SHA256: &str = "92ab6fdb8a8be5a0ae07a561e2e553c1b830e6148ea9b57fdb2fdfe2af6d5e75";

/// What the server does with a request.
#[derive(Clone, Copy)]
enum Answer {
    /// The whole text.
    Whole,
    /// Headers for the whole text, then only so many bytes of it.
    CutAfter(usize),
    /// From the byte asked for on, or all of it.
    Resume,
    /// A range that was not asked for.
    WrongRange,
    /// 416.
    NotSatisfiable,
    /// A status without a body.
    Status(u16),
    /// No length, closed after so many bytes.
    WithoutLength(usize),
    /// Not HTTP.
    Garbage,
}

struct Server {
    url: String,
    ranges: Arc<Mutex<Vec<Option<usize>>>>,
}

/// Answers one request per answer, then closes.
fn serve(answers: Vec<Answer>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/file", listener.local_addr().unwrap());
    let ranges = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ranges);
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut range = None;
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let line = line.unwrap().to_ascii_lowercase();
                if let Some(from) = line.strip_prefix("range: bytes=") {
                    range = from.trim_end_matches('-').parse().ok();
                }
                if line.is_empty() {
                    break;
                }
            }
            seen.lock().unwrap().push(range);
            let (all, length) = (TEXT.as_bytes(), TEXT.len());
            let partial = |from: usize| {
                format!("206 Partial Content\r\nContent-Range: bytes {from}-{}/{length}", length - 1)
            };
            let (status, announced, body) = match (answer, range) {
                (Answer::Whole, _) | (Answer::Resume, None) => ("200 OK".to_owned(), Some(length), all),
                (Answer::CutAfter(count), _) => ("200 OK".to_owned(), Some(length), &all[..count]),
                (Answer::Resume, Some(from)) => (partial(from), Some(length - from), &all[from..]),
                (Answer::WrongRange, _) => (partial(1), Some(length - 1), &all[1..]),
                (Answer::NotSatisfiable, _) => ("416 Range Not Satisfiable".to_owned(), Some(0), &all[..0]),
                (Answer::Status(code), _) => (format!("{code} No"), Some(0), &all[..0]),
                (Answer::WithoutLength(count), _) => ("200 OK".to_owned(), None, &all[..count]),
                (Answer::Garbage, _) => {
                    stream.write_all(b"\x00\x01 not a protocol\r\n\r\n").unwrap();
                    continue;
                }
            };
            let announced = announced.map_or(String::new(), |n| format!("Content-Length: {n}\r\n"));
            write!(stream, "HTTP/1.1 {status}\r\n{announced}Connection: close\r\n\r\n").unwrap();
            stream.write_all(body).unwrap();
        }
    });
    Server { url, ranges }
}

/// A catalog of one dataset in a cache folder of its own.
struct World {
    folder: tempfile::TempDir,
    catalog: Catalog,
}

fn world(urls: &[&str], known: &str) -> World {
    let folder = tempfile::tempdir().unwrap();
    let urls = urls.iter().map(|url| format!("{url:?}")).collect::<Vec<_>>().join(", ");
    let manifest = format!(
        r#"
        [[dataset]]
        name = "tiny"
        title = "three rows"
        rows = 3
        features = 3
        target = "sign"
        license = "none"
        source = "this test"
        split = {{ rule = "random", test_fraction = 0.5 }}
        train = {{ format = "libsvm", file = "all" }}
        [[dataset.file]]
        id = "all"
        path = "sub/tiny"
        urls = [{urls}]
        {known}
        "#
    );
    let folders = Folders { cache: Some(folder.path().to_owned()), ..Folders::default() };
    World { catalog: Catalog::new(Manifest::parse(&manifest).unwrap(), folders), folder }
}

fn known() -> String {
    format!("bytes = {}\nsha256 = {SHA256:?}", TEXT.len())
}

impl World {
    fn fetch(&self) -> Result<(), CatalogError> {
        fetch(&self.catalog, "tiny", &mut ()).map(|_| ())
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("sub/tiny")
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path().join("sub"))
            .map(|entries| entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
            .unwrap_or_default();
        names.sort();
        names
    }
}

fn message(outcome: Result<(), CatalogError>, parts: &[&str]) {
    let text = outcome.unwrap_err().to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn a_good_download_is_checked_moved_into_place_and_loads() {
    let server = serve(vec![Answer::Whole]);
    let world = world(&[&server.url], &known());
    assert!(matches!(world.catalog.find("tiny"), Err(CatalogError::Missing { .. })));
    let found = fetch(&world.catalog, "tiny", &mut ()).unwrap();
    assert_eq!(found.files["all"].place, Place::Cache);
    assert_eq!(world.files(), ["tiny"]);
    assert_eq!(world.catalog.load("tiny").unwrap().train.labels(), [1.0, -1.0, 1.0]);
    // A second fetch finds the file: the server has no further answer.
    world.fetch().unwrap();
}

#[test]
fn progress_is_told_every_byte() {
    #[derive(Default)]
    struct Log(u64, Option<u64>);
    impl DownloadProgress for Log {
        fn start(&mut self, _: &str, _: u64, total: Option<u64>) {
            self.1 = total;
        }
        fn advance(&mut self, bytes: u64) {
            self.0 += bytes;
        }
    }
    let server = serve(vec![Answer::Whole]);
    let mut log = Log::default();
    fetch(&world(&[&server.url], &known()).catalog, "tiny", &mut log).unwrap();
    assert_eq!((log.0, log.1), (TEXT.len() as u64, Some(TEXT.len() as u64)));
}

#[test]
fn a_wrong_checksum_is_an_error_and_leaves_nothing() {
    let server = serve(vec![Answer::Whole]);
    let other = "0".repeat(64);
    let world = world(&[&server.url], &format!("sha256 = {other:?}"));
    message(world.fetch(), &[&server.url, "SHA-256", SHA256, &other, "removed"]);
    assert_eq!(world.files(), [""; 0]);
}

#[test]
fn a_cut_off_download_keeps_its_beginning_and_is_resumed_by_range() {
    let server = serve(vec![Answer::CutAfter(10), Answer::Resume]);
    let world = world(&[&server.url], &known());
    message(world.fetch(), &[&server.url, "cut off after 10 bytes of 25", "fetch again"]);
    assert_eq!(world.files(), ["tiny.part"]);
    world.fetch().unwrap();
    assert_eq!(*server.ranges.lock().unwrap(), [None, Some(10)]);
    assert_eq!(fs::read_to_string(world.target()).unwrap(), TEXT);
    assert_eq!(world.files(), ["tiny"]);
}

#[test]
fn a_server_that_does_not_resume_sends_all_again() {
    let server = serve(vec![Answer::CutAfter(10), Answer::Whole]);
    let world = world(&[&server.url], &known());
    world.fetch().unwrap_err();
    world.fetch().unwrap();
    assert_eq!(fs::read_to_string(world.target()).unwrap(), TEXT);
}

#[test]
fn a_beginning_that_the_server_refuses_is_given_up() {
    let server = serve(vec![Answer::CutAfter(10), Answer::NotSatisfiable, Answer::Whole]);
    let world = world(&[&server.url], &known());
    world.fetch().unwrap_err();
    world.fetch().unwrap();
    assert_eq!(*server.ranges.lock().unwrap(), [None, Some(10), None]);
}

#[test]
fn a_beginning_of_another_file_is_found_out_by_the_checksum() {
    let server = serve(vec![Answer::Resume]);
    let world = world(&[&server.url], &known());
    fs::create_dir_all(world.folder.path().join("sub")).unwrap();
    fs::write(world.folder.path().join("sub/tiny.part"), "2 1:0.5").unwrap();
    message(world.fetch(), &["SHA-256", "removed"]);
    assert_eq!(world.files(), [""; 0]);
}

#[test]
fn a_part_that_was_not_asked_for_is_refused() {
    let server = serve(vec![Answer::WrongRange]);
    let world = world(&[&server.url], &known());
    message(world.fetch(), &[&server.url, "another part"]);
    assert_eq!(world.files(), [""; 0]);
}

#[test]
fn a_missing_address_is_an_error_and_leaves_nothing() {
    let server = serve(vec![Answer::Status(404)]);
    let world = world(&[&server.url], &known());
    message(world.fetch(), &[&server.url, "404", "by hand", "sub/tiny"]);
    assert_eq!(world.files(), [""; 0]);
}

#[test]
fn the_next_address_is_tried() {
    let (bad, good) = (serve(vec![Answer::Status(503)]), serve(vec![Answer::Whole]));
    let world = world(&[&bad.url, &good.url], &known());
    world.fetch().unwrap();
    assert_eq!(world.files(), ["tiny"]);
}

#[test]
fn an_unreachable_server_and_one_that_speaks_no_http_are_errors() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unreachable = world(&[&format!("http://{closed}/file")], &known());
    message(unreachable.fetch(), &["cannot be reached", "check the connection"]);
    let server = serve(vec![Answer::Garbage]);
    let garbage = world(&[&server.url], &known());
    message(garbage.fetch(), &[&server.url, "cannot be reached"]);
    assert_eq!((unreachable.files(), garbage.files()), (vec![], vec![]));
}

#[test]
fn a_file_larger_than_the_manifest_says_is_stopped() {
    let server = serve(vec![Answer::Whole]);
    let world = world(&[&server.url], &format!("bytes = 5\nsha256 = {SHA256:?}"));
    message(world.fetch(), &["size in bytes", "more than 5", "removed"]);
    assert_eq!(world.files(), [""; 0]);
}

#[test]
fn without_a_length_the_size_and_checksum_tell_that_the_file_is_short() {
    let server = serve(vec![Answer::WithoutLength(10)]);
    let world = world(&[&server.url], &known());
    message(world.fetch(), &["size in bytes of 10, not 25"]);
    assert_eq!(world.files(), [""; 0]);
}

#[test]
fn the_first_download_records_an_unknown_checksum_and_a_later_one_must_match() {
    #[derive(Default)]
    struct Notes(String);
    impl DownloadProgress for Notes {
        fn note(&mut self, message: &str) {
            self.0.push_str(message);
        }
    }
    let server = serve(vec![Answer::Whole, Answer::Whole, Answer::WithoutLength(10)]);
    let world = world(&[&server.url], "");
    let mut notes = Notes::default();
    fetch(&world.catalog, "tiny", &mut notes).unwrap();
    assert!(notes.0.contains(SHA256) && notes.0.contains("tiny.sha256"), "{}", notes.0);
    assert_eq!(world.files(), ["tiny", "tiny.sha256"]);
    world.catalog.load("tiny").unwrap();

    fs::remove_file(world.target()).unwrap();
    world.fetch().unwrap();
    fs::remove_file(world.target()).unwrap();
    message(world.fetch(), &["SHA-256", SHA256, "changed"]);
    assert_eq!(world.files(), ["tiny.sha256"]);
}

#[test]
fn a_cut_off_download_without_checksum_keeps_nothing() {
    let server = serve(vec![Answer::CutAfter(10)]);
    let world = world(&[&server.url], "");
    message(world.fetch(), &["cut off after 10 bytes of 25", "nothing was kept"]);
    assert_eq!(world.files(), [""; 0]);
}

#[test]
fn a_second_fetch_at_the_same_time_is_refused() {
    let world = world(&["http://127.0.0.1:9/unused"], &known());
    fs::create_dir_all(world.folder.path().join("sub")).unwrap();
    let part = fs::File::create(world.folder.path().join("sub/tiny.part")).unwrap();
    part.lock().unwrap();
    message(world.fetch(), &["tiny.part", "another process"]);
}

#[test]
fn damaged_files_at_hand_are_refused_before_they_are_read() {
    let world = world(&["http://127.0.0.1:9/unused"], &known());
    fs::create_dir_all(world.folder.path().join("sub")).unwrap();
    fs::write(world.target(), TEXT.replace('4', "5")).unwrap();
    message(world.catalog.load("tiny").map(|_| ()), &["sub/tiny", SHA256, "fetch it again"]);
    message(world.fetch(), &["sub/tiny", SHA256]);
    fs::write(world.target(), "1 1:1\n").unwrap();
    message(world.catalog.find("tiny").map(|_| ()), &["sub/tiny", "6 bytes", "25"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let template = world(&["http://127.0.0.1:9/unused"], &known());
    let folders = Folders { cache: Some(file.path().to_owned()), ..Folders::default() };
    let manifest = Manifest { datasets: template.catalog.datasets().to_vec() };
    let outcome = fetch(&Catalog::new(manifest.clone(), folders), "tiny", &mut ()).map(|_| ());
    message(outcome, &[file.path().to_str().unwrap(), "check that the path exists"]);
    let nowhere = fetch(&Catalog::new(manifest, Folders::default()), "tiny", &mut ()).map(|_| ());
    message(nowhere, &["XDG_CACHE_HOME"]);
}
