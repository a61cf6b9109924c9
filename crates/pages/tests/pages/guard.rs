//! Nothing gets in.

use crate::client::{Answer, begun, serve};
use lao_study::{Description, Study};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PLACES: [&str; 8] =
    ["/", "/slot/1", "/known", "/predict", "/files", "/files/examples.csv", "/files/study.zip", "/nowhere"];

#[test]
fn nothing_is_shown_without_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let running = serve(&begun(folder.path()), false);
    let wrong = "0".repeat(32);
    let cookie = format!("Cookie: lao-{}={wrong}\r\n", running.address.port());
    let short = format!("Cookie: lao-{}={}\r\n", running.address.port(), &running.token[..31]);
    for place in PLACES {
        for headers in ["", &cookie, &short, "Authorization: Bearer x\r\n"] {
            running.request("GET", place, headers, "").has(401, "A token is needed").lacks("tumor");
        }
        running.request("GET", &format!("{place}?token={wrong}"), "", "").has(401, "A token is needed");
        let bearer = format!("Authorization: Bearer {}\r\n", running.token);
        assert_ne!(running.request("GET", place, &bearer, "").status, 401);
    }
    running.request("POST", "/ask", "", "count=1&known=0").has(401, "A token is needed");
    // The address that was printed leads on to one without the token, which a cookie keeps from then on.
    let first = running.request("GET", &format!("/known?token={}", running.token), "", "");
    assert_eq!((first.status, first.header("location")), (303, Some("/known")));
    let cookie = first.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    running.request("GET", "/", &format!("Cookie: {pair}\r\n"), "").has(200, "tumor");
}

#[test]
fn what_another_site_sends_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = begun(folder.path());
    let running = serve(&place, false);
    let (address, form) = (running.address, &running.form);
    let cookie = format!("Cookie: lao-{}={}\r\n", address.port(), running.token);
    let body = format!("form={form}&known=0&count=1");
    let send =
        |headers: &str, body: &str| running.request("POST", "/ask", &format!("{cookie}{headers}"), body);
    let own = format!("Origin: http://{address}\r\n");
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example", "x"]
    {
        send(&format!("Origin: {origin}\r\n"), &body).has(403, "Another site");
    }
    for site in ["cross-site", "same-site"] {
        send(&format!("{own}Sec-Fetch-Site: {site}\r\n"), &body).has(403, "Another site");
    }
    for wrong in ["known=0&count=1".to_owned(), format!("form={}&known=0&count=1", running.token)] {
        send(&own, &wrong).has(403, "An old page");
    }
    // A name that was made to lead here, with all that the browser keeps for this server.
    for host in ["evil.example", "127.0.0.1.evil.example:8765", "", "[::1]evil"] {
        let headers = format!("Host: {host}\r\n{cookie}");
        running.request("GET", "/", &headers, "").has(421, "Another host").lacks("tumor");
    }
    assert_eq!(Study::open(&place).unwrap().status().slots, 0);
    for host in ["localhost:8765", "127.0.0.1", "LOCALHOST", "proxy.example"] {
        running.request("GET", "/", &format!("Host: {host}\r\n{cookie}"), "").has(200, "tumor");
    }
    assert_eq!(send(&own, &body).status, 303);
    // A proxy has its own name and scheme.
    let proxied = "Host: proxy.example\r\nOrigin: https://proxy.example\r\nSec-Fetch-Site: same-origin\r\n";
    assert_eq!(send(proxied, &format!("form={form}&known=1&count=1")).status, 303);
}

#[test]
fn pages_that_only_show_take_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = begun(folder.path());
    drop(Study::open(&place).unwrap().ask(1).unwrap());
    let running = serve(&place, true);
    for place in ["/", "/slot/1", "/known", "/predict", "/files"] {
        running.get(place).has(200, "read only").lacks("method=\"post\"");
    }
    let known = [("known", "1"), ("count", "1")];
    for place in ["/ask", "/slot/1/check", "/slot/1/tell", "/slot/1/void", "/slot/1/name", "/predict"] {
        running.post(place, &known).has(403, "it was started with --read-only");
    }
    assert_eq!(Study::open(&place).unwrap().status().slots, 1);
}

#[test]
fn every_reply_forbids_what_pages_do_not_need() {
    let folder = tempfile::tempdir().unwrap();
    let running = serve(&begun(folder.path()), false);
    let with_token = PLACES.map(|place| running.get(place));
    let others =
        [running.request("GET", "/", "", ""), running.request("PUT", "/", "", ""), running.get("/style.css")];
    for answer in with_token.iter().chain(&others) {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", answer.head);
        }
        // No page has what the policy would stop.
        answer.lacks("<script").lacks(" style=").lacks("<style").lacks(" onclick");
        assert!(answer.header("access-control-allow-origin").is_none());
    }
}

#[test]
fn names_are_shown_as_text_whatever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a&b <i>");
    let long = "x".repeat(10_000);
    let names =
        ["<script>alert(1)</script>", "' autofocus '", "</td><td>", "\u{202e}gp.exe", "{{ form }}", &long];
    let description = Description::new("<img src=x onerror=y>", names.map(str::to_owned).to_vec(), 6);
    let mut study = Study::create(&place, description).unwrap();
    drop(study.ask(1).unwrap());
    drop(study);
    let running = serve(&place, false);
    for place in ["/", "/slot/1", "/known", "/predict", "/files"] {
        let page = running.get(place);
        page.has(200, "a&amp;b &lt;i&gt;").lacks("<script").lacks("<img").lacks("' autofocus").lacks("<i>");
    }
    running.get("/slot/1").has(200, "&lt;script&gt;").has(200, "{{ form }}").has(200, &long);
}

#[test]
fn no_path_reaches_the_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let running = serve(&begun(folder.path()), false);
    for path in [
        "/files/study.json",
        "/files/journal.jsonl",
        "/files/../study.json",
        "/files/..%2fstudy.json",
        "/files/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/files//etc/passwd",
        "/files/examples.csv%00.html",
        "/slot/1/../../files",
        "/slot/-1",
        "/slot/99999999999999999999999",
        "/slot/1e3",
        "/slot/0",
        "/slot/5",
    ] {
        running.get(path).has(404, "no such page");
    }
}

#[test]
fn what_is_too_large_too_slow_or_no_request_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = begun(folder.path());
    let running = serve(&place, false);
    let status = |bytes: &[u8]| Answer::of(&running.raw(bytes)).status;
    let head = format!("POST /ask HTTP/1.1\r\nHost: {}\r\n", running.address);
    let too_long = format!("{head}X: {}\r\n\r\n", "x".repeat(100_000));
    assert_eq!(status(too_long.as_bytes()), 431);
    let too_many: String = (0..1000).map(|i| format!("X{i}: 1\r\n")).collect();
    assert_eq!(status(format!("{head}{too_many}\r\n").as_bytes()), 431);
    let too_large = [
        format!("{head}Content-Length: 20000000\r\nConnection: close\r\n\r\n").as_bytes(),
        &[b'x'; 20_000_000],
    ]
    .concat();
    assert_eq!(status(&too_large), 413);
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    let chunked =
        format!("{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{}0\r\n\r\n", chunk.repeat(18));
    assert_eq!(status(chunked.as_bytes()), 413);
    for garbage in [&b"\x16\x03\x01\x02\x00\x01"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"] {
        assert_eq!(status(garbage), 400, "{garbage:?}");
    }
    let two_lengths = format!("{head}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde");
    assert_eq!(status(two_lengths.as_bytes()), 400);
    for method in ["PUT", "DELETE", "TRACE", "OPTIONS", "PATCH"] {
        assert_eq!(running.request(method, "/", "", "").status, 405, "{method}");
    }
    // Those who say nothing, or little, are hung up on; others are served meanwhile.
    let begin = Instant::now();
    let mut slow: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(running.address).unwrap()).collect();
    slow[0].write_all(head.as_bytes()).unwrap();
    slow[1].write_all(format!("{head}Content-Length: 10\r\n\r\nab").as_bytes()).unwrap();
    running.get("/").has(200, "tumor");
    assert!(begin.elapsed() < Duration::from_secs(4));
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(begin.elapsed() < Duration::from_secs(25), "{:?}", begin.elapsed());
    assert_eq!(Study::open(&place).unwrap().status().slots, 0);
}
