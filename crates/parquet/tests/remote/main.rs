//! Files in an object store and on a web server, which fails in every way that it can.

mod server;

use lao_parquet::{Allowance, Cells, ParquetFile, Writing, open_url, write};
use server::{Fault, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{iter, slice};

const COLUMNS: usize = 40;
const ROWS: usize = 3000;

/// Returns a file of numbers, of which the first is `first`.
fn file(first: usize) -> Vec<u8> {
    let column = |j: usize| (0..ROWS).map(|i| (first + i * COLUMNS + j) as f64).collect::<Vec<f64>>();
    let columns: Vec<(String, Vec<f64>)> = (0..COLUMNS).map(|j| (format!("c{j}"), column(j))).collect();
    let columns: Vec<_> = columns.iter().map(|(name, values)| (&name[..], values.into())).collect();
    let mut bytes = Vec::new();
    write(&mut bytes, "file", &columns, &Writing { page: 100, ..Writing::default() }).unwrap();
    bytes
}

/// Returns the values of some columns in two ranges of rows.
fn some(file: &ParquetFile) -> Result<Vec<f64>, String> {
    let mut read = vec![Vec::new(); 6];
    let each = |of: usize, range: usize, cells: Cells<'_>| match cells {
        Cells::Numbers(numbers) => read[2 * of + range].extend_from_slice(numbers),
        Cells::Texts(_) => panic!("these are numbers"),
    };
    file.read_ranges(&[3, 17, 30], &[150..260, 2500..2503], each).map_err(|error| error.to_string())?;
    Ok(read.concat())
}

fn expected(first: usize) -> Vec<f64> {
    let rows = || [150..260, 2500..2503];
    let value = |i: usize, j: usize| (first + i * COLUMNS + j) as f64;
    [3, 17, 30].into_iter().flat_map(|j| rows().into_iter().flatten().map(move |i| value(i, j))).collect()
}

/// Returns what a message says; it has no secret.
#[track_caller]
fn refused<T>(outcome: Result<T, impl ToString>, says: &str) -> String {
    let Err(error) = outcome else { panic!("this should say `{says}`") };
    let message = error.to_string();
    assert!(message.contains(says), "should say `{says}`, but says: {message}");
    for secret in ["SECRETKEY", "PUBLICKEY", "Signature", "hidden", "Authorization"] {
        assert!(!message.contains(secret), "{secret}: {message}");
    }
    message
}

#[test]
fn a_part_of_a_file_costs_a_part_of_its_bytes() {
    let bytes = file(0);
    let server = Server::start(&[("table.parquet", &bytes)], |_| Fault::None);
    let files = open_url(&format!("{}/table.parquet", server.address), &[]).unwrap();
    assert_eq!(some(&files[0]).unwrap(), expected(0));
    let traffic = files[0].traffic();
    assert!(traffic.bytes < bytes.len() as u64 / 3, "{traffic:?} of {}", bytes.len());
    // One request says whether there is such a file.
    assert_eq!(server.requests.load(Relaxed) as u64, traffic.requests + 1);
    let memory = files[0].in_memory().unwrap();
    assert_eq!(some(&memory).unwrap(), expected(0));
    assert_eq!(memory.bytes().map(Result::unwrap).collect::<Vec<_>>().concat(), bytes);
}

#[test]
fn what_is_expected_is_asked_for_once() {
    let bytes = file(0);
    let server = Server::start(&[("table.parquet", &bytes)], |_| Fault::None);
    let files = open_url(&format!("{}/table.parquet", server.address), &[]).unwrap();
    let rows = [150..260, 2500..2503];
    let expect = |next: &[(&[usize], usize)]| {
        let next = next.iter().map(|(columns, range)| (columns.to_vec(), vec![rows[*range].clone()]));
        files[0].expect(&next.collect::<Vec<_>>());
    };
    let requests = || files[0].traffic().requests;
    assert_eq!(some(&files[0]).unwrap(), expected(0));
    let before = requests();
    // Another column is expected and not wanted, and one is wanted that was not expected.
    expect(&[(&[3, 30, 35], 0), (&[3, 30], 1)]);
    assert_eq!(requests(), before + 5);
    for _ in 0..2 {
        // What is expected again is not asked for again.
        expect(&[(&[3, 30], 0), (&[30, 3], 1)]);
        assert_eq!(some(&files[0]).unwrap(), expected(0));
    }
    assert_eq!(requests(), before + 5 + 2 * 2, "two ranges of column 17");
    // Of what was expected and is not wanted, some may be given up before it is sent.
    assert!((requests() - 1..=requests() + 1).contains(&(server.requests.load(Relaxed) as u64)));
    // What is no longer expected is forgotten.
    expect(&[]);
    assert_eq!(some(&files[0]).unwrap(), expected(0));
    assert_eq!(requests(), before + 9 + 6);
    // Neighbors are one request, and nothing is expected of a file in memory.
    expect(&[(&[3], 0), (&[3], 0)]);
    let some_rows: Vec<_> =
        [160..170, 200..210].into_iter().map(|rows| (vec![3], Vec::from([rows]))).collect();
    files[0].expect(&some_rows);
    assert_eq!(requests(), before + 9 + 6 + 1);
    let held = files[0].in_memory().unwrap();
    let first = held.traffic();
    held.expect(&some_rows);
    assert_eq!(held.traffic(), first);
    // Bytes that are limited are not spent on a guess.
    let files = open_url(&format!("{}/table.parquet", server.address), &[]).unwrap();
    let limited = files.into_iter().next().unwrap().within(Allowance::of(1 << 20)).unwrap();
    assert_eq!(some(&limited).unwrap(), expected(0));
    let before = limited.traffic();
    limited.expect(&some_rows);
    assert_eq!(limited.traffic(), before);
}

#[test]
fn a_page_that_was_expected_lies_between_two_that_were_not() {
    let bytes = file(0);
    let server = Server::start(&[("table.parquet", &bytes)], |_| Fault::None);
    let files = open_url(&format!("{}/table.parquet", server.address), &[]).unwrap();
    let (middle, rows, mut read) = (200..300, 100..400, Vec::new());
    files[0].expect(&[(vec![3], iter::once(middle).collect())]);
    let each = |_: usize, _: usize, cells: Cells<'_>| match cells {
        Cells::Numbers(numbers) => read.extend_from_slice(numbers),
        Cells::Texts(_) => panic!("these are numbers"),
    };
    files[0].read_ranges(&[3], slice::from_ref(&rows), each).unwrap();
    assert_eq!(read, (100..400).map(|i| (i * COLUMNS + 3) as f64).collect::<Vec<_>>());
}

#[test]
fn what_was_expected_and_failed_is_asked_for_again() {
    let bytes = file(7);
    let from = Arc::new(AtomicUsize::new(usize::MAX));
    let refused = Arc::clone(&from);
    let server =
        Server::start(&[("table.parquet", &bytes)], move |n| match n.checked_sub(refused.load(Relaxed)) {
            Some(0..6) => Fault::Refused,
            _ => Fault::None,
        });
    let files = open_url(&format!("{}/table.parquet", server.address), &[]).unwrap();
    assert_eq!(some(&files[0]).unwrap(), expected(7));
    let begin = server.requests.load(Relaxed);
    from.store(begin, Relaxed);
    files[0].expect(&[(vec![3, 17, 30], vec![150..260, 2500..2503])]);
    assert_eq!(some(&files[0]).unwrap(), expected(7));
    assert_eq!(server.requests.load(Relaxed), begin + 12);
}

#[test]
fn what_fails_for_a_while_is_asked_for_again() {
    let bytes = file(7);
    let fault = |n| match n % 11 {
        2 => Fault::Busy,
        5 => Fault::CutOff,
        8 => Fault::Slow,
        _ => Fault::None,
    };
    let server = Server::start(&[("bucket/table.parquet", &bytes)], fault);
    let files = open_url("s3://bucket/table.parquet", &server.options()).unwrap();
    for _ in 0..4 {
        assert_eq!(some(&files[0]).unwrap(), expected(7));
    }
    let options = [("timeout".to_owned(), "300ms".to_owned())];
    let files = open_url(&format!("{}/bucket/table.parquet", server.address), &options).unwrap();
    for _ in 0..4 {
        assert_eq!(some(&files[0]).unwrap(), expected(7));
    }
}

#[test]
fn a_folder_is_its_parts_in_the_order_of_their_names() {
    let parts: Vec<Vec<u8>> = (0..12).map(|part| file(1000 * part)).collect();
    let names: Vec<String> = (0..12).map(|part| format!("bucket/table/part-{part:02}.parquet")).collect();
    let mut files: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(parts.iter().map(|p| &p[..])).collect();
    files.extend([("bucket/table/_SUCCESS", &b""[..]), ("bucket/table/deeper/x.parquet", b"other")]);
    let server = Server::start(&files, |_| Fault::None);
    for url in ["s3://bucket/table", "s3://bucket/table/"] {
        let files = open_url(url, &server.options()).unwrap();
        assert_eq!(files.len(), 12);
        for (part, file) in files.iter().enumerate() {
            assert_eq!(some(file).unwrap(), expected(1000 * part));
            assert_eq!(file.name(), format!("s3://bucket/table/part-{part:02}.parquet"));
        }
    }
    refused(open_url("s3://bucket/nothing", &server.options()), "s3://bucket/nothing: there is no such file");
}

#[test]
fn a_signed_url_keeps_its_query_to_itself() {
    let bytes = file(0);
    let server = Server::start(&[("table.parquet", &bytes)], |n| match n {
        0..40 => Fault::None,
        _ => Fault::Refused,
    });
    let url = format!("{}/table.parquet?X-Amz-Signature=hidden", server.address);
    let files = open_url(&url, &[]).unwrap();
    assert_eq!(some(&files[0]).unwrap(), expected(0));
    assert_eq!(files[0].name(), format!("{}/table.parquet", server.address));
    assert!(!format!("{files:?}").contains("hidden"));
    let outcome = (0..40).try_for_each(|_| some(&files[0]).map(|_| ()));
    refused(outcome, "access is refused; credentials are read from the environment");
    let user = url.replace("http://", "http://somebody:hidden@").replace("table", "none");
    refused(open_url(&user, &[]), "access is refused");
    refused(open_url("http://somebody:hidden@[/table?hidden", &[]), "http://[/table: this is no URL");
    for url in ["s3://hidden:hidden@", "s3://?hidden", "ftp://hidden@host/table#hidden", "http://?hidden"] {
        refused(open_url(url, &[]), "");
    }
}

#[test]
fn each_failure_that_stays_is_told_with_its_remedy() {
    let bytes = file(0);
    let at = |server: &Server, name: &str| open_url(&format!("{}/{name}", server.address), &[]);
    let sound =
        Server::start(&[("table.parquet", &bytes), ("words.txt", b"words of somebody")], |_| Fault::None);
    refused(at(&sound, "none.parquet"), "/none.parquet: there is no such file");
    refused(at(&sound, "words.txt"), "this is no Parquet file");
    let whole = Server::start(&[("table.parquet", &bytes)], |_| Fault::Whole);
    refused(at(&whole, "table.parquet"), "the server gives no parts of files; download the file");
    let closed = Server::start(&[("bucket/table.parquet", &bytes)], |_| Fault::Refused);
    refused(open_url("s3://bucket/table.parquet", &closed.options()), "AWS_ACCESS_KEY_ID");
    // A file that is replaced while it is read is not one table.
    let files = at(&sound, "table.parquet").unwrap();
    assert_eq!(some(&files[0]).unwrap(), expected(0));
    sound.files.lock().unwrap().insert("table.parquet".into(), file(1));
    refused(some(&files[0]), "the file was replaced while it was read; start again");
}

/// A process that ends with the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a request without a signature, which moto takes; returns the status.
fn put(address: &str, path: &str, body: &[u8]) -> std::io::Result<String> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address)?;
    let length = body.len();
    write!(
        stream,
        "PUT {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split_whitespace().nth(1).unwrap_or_default().to_owned())
}

/// The server of moto, which has the answers of Amazon S3. `LAO_MOTO` is a Python that has moto; without it
/// the test is skipped, and says so.
#[test]
fn an_object_store_that_others_wrote_serves_a_file_and_a_folder() {
    let Some(python) = std::env::var_os("LAO_MOTO") else {
        eprintln!("SKIPPED: LAO_MOTO names no Python that has moto");
        return;
    };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let mut command = std::process::Command::new(python);
    command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
    let quiet = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let _server = Running(quiet.spawn().unwrap());
    let created = (0..600).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        put(&address, "/bucket", b"").ok()
    });
    assert_eq!(created.as_deref(), Some("200"));
    for part in 0..3 {
        let path = format!("/bucket/table/part-{part}.parquet");
        assert_eq!(put(&address, &path, &file(1000 * part)).unwrap(), "200");
    }
    let options = [
        ("aws_endpoint", format!("http://{address}")),
        ("aws_region", "us-east-1".into()),
        ("aws_access_key_id", "PUBLICKEY".into()),
        ("aws_secret_access_key", "SECRETKEY".into()),
        ("allow_http", "true".into()),
    ];
    let options = options.map(|(key, value)| (key.to_owned(), value)).to_vec();
    let files = open_url("s3://bucket/table", &options).unwrap();
    assert_eq!(files.len(), 3);
    for (part, file) in files.iter().enumerate() {
        assert_eq!(some(file).unwrap(), expected(1000 * part));
    }
    let one = open_url("s3://bucket/table/part-1.parquet", &options).unwrap();
    assert_eq!(some(&one[0]).unwrap(), expected(1000));
    refused(open_url("s3://bucket/nothing.parquet", &options), "there is no such file");
    refused(open_url("s3://nobody/table.parquet", &options), "there is no such file");
}
