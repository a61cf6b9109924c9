//! `lao study serve` and `lao serve` as programs: side by side with commands, killed, and where the disk is
//! full.

use lao_study::{Description, Study};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
struct Server {
    child: Child,
    host: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server by a command, and waits until it says where it is.
fn start(mut command: Command) -> Server {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().rsplit(": ").next().unwrap().to_owned();
    let (host, token) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    Server { child, host: host.into(), token: token.trim_start_matches("?token=").into() }
}

fn lao() -> PathBuf {
    assert_cmd::cargo::cargo_bin("lao")
}

fn serve(study: &Path) -> Server {
    let mut command = Command::new(lao());
    command.args(["study", "serve", "--port", "0", "-S"]).arg(study);
    start(command)
}

impl Server {
    /// Sends a request and returns the answer; empty if the server is gone.
    fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> String {
        let (host, token, length) = (&self.host, &self.token, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let Ok(mut stream) = TcpStream::connect(host) else { return String::new() };
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    fn get(&self, path: &str) -> String {
        self.send("GET", path, "text/plain", "")
    }

    /// Sends a form as the page of today, or of an example, has it.
    fn post(&self, page: &str, path: &str, fields: &str) -> String {
        let text = self.get(page);
        let form = text.split("name=\"form\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        let known = text.split("name=\"known\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        let body = format!("form={}&known={}&{fields}", form.unwrap_or_default(), known.unwrap_or_default());
        self.send("POST", path, "application/x-www-form-urlencoded", &body)
    }
}

fn begin(folder: &Path) -> PathBuf {
    let study = folder.join("s");
    Study::create(&study, Description::new("y", vec!["a".into(), "b".into()], 2)).unwrap();
    study
}

fn command(study: &Path, words: &[&str]) -> (Option<i32>, String) {
    let (verb, rest) = words.split_first().unwrap();
    let output = Command::new(lao()).args(["study", verb, "-S"]).arg(study).args(rest).output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn pages_and_commands_are_used_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let study = begin(folder.path());
    let server = serve(&study);
    assert!(server.post("/", "/ask", "count=1&name=P-1").contains("location: /slot/1"));
    assert_eq!(command(&study, &["open"]), (Some(0), "slot 1 (P-1): a, b\n".into()));
    assert_eq!(command(&study, &["ask", "--name", "P-2"]).1, "slot 2 (P-2): a, b\n");
    let (status, said) = command(&study, &["ask", "--name", "P-2"]);
    assert!(status == Some(2) && said.contains("slot 2 has it"), "{said}");
    assert_eq!(command(&study, &["name", "2", "P-2b"]).1, "slot 2: named P-2b\n");
    assert!(server.get("/").contains("<bdi>P-2b</bdi>"));
    assert_eq!(command(&study, &["tell", "1", "a=1", "b=2"]).0, Some(0));
    assert!(server.get("/slot/1").contains("The label"));
    let told = server.post("/slot/2", "/slot/2/tell", "name-0=a&value-0=1,5&name-1=b&value-1=2&label=3");
    assert!(told.contains("location: /slot/2?done=told"), "{told}");
    let (_, text) = command(&study, &["status"]);
    assert!(text.contains("1 complete, 0 open, 1 waiting"), "{text}");
    assert_eq!(command(&study, &["verify"]).0, Some(0));
}

#[test]
fn what_a_page_says_is_recorded_outlives_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let study = begin(folder.path());
    for slot in 1..=8 {
        let mut server = serve(&study);
        assert!(server.post("/", "/ask", "count=1&name=").contains("location: /slot/"));
        let (page, place) = (format!("/slot/{slot}"), format!("/slot/{slot}/tell"));
        let fields = format!("name-0=a&value-0={slot}&name-1=b&value-1=2&label={slot}");
        let told = server.post(&page, &place, &fields);
        assert!(told.contains("done=told"), "{told}");
        // As by kill -9.
        server.child.kill().unwrap();
        drop(server);
        assert_eq!(Study::open(&study).unwrap().status().told, slot);
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_what_was_typed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let study = begin(folder.path());
    let mut open = Study::open(&study).unwrap();
    // The journal has about 960 bytes, of the 1024 that it may have.
    open.ask(1).unwrap();
    while std::fs::metadata(study.join("journal.jsonl")).unwrap().len() < 900 {
        let slots = open.status().slots;
        open.name(1, &format!("patient {}", "x".repeat(slots as usize))).unwrap();
    }
    drop(open);
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "bash"]).arg(lao());
    command.args(["study", "serve", "--port", "0", "-S"]).arg(&study);
    let server = start(command);
    let told = server.post("/slot/1", "/slot/1/tell", "name-0=a&value-0=1,25&name-1=b&value-1=2&label=3");
    assert!(told.starts_with("HTTP/1.1 507"), "{told}");
    for text in ["nothing was recorded; make room on the disk", "value=\"1,25\"", "value=\"3\""] {
        assert!(told.contains(text), "no {text} in {told}");
    }
    assert_eq!(Study::open(&study).unwrap().status().open, [1]);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_server_and_a_port_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let study = begin(folder.path());
    let mut server = serve(&study);
    let port = server.host.rsplit(':').next().unwrap().to_owned();
    let (status, said) = command(&study, &["serve", "--port", &port]);
    assert!(status == Some(2) && said.contains("choose another by --port"), "{said}");
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let (status, said) = command(folder.path(), &["serve", "--port", "0"]);
    assert!(status == Some(2) && said.contains("is not a study"), "{said}");
}

#[test]
fn a_model_is_served_with_the_bits_of_predict() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    let run = |words: &[&str]| {
        let output = Command::new(lao()).current_dir(at).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["fit", table, "--target", "progression", "--budget", "5", "-o", "m.lao.json"]);
    std::fs::write(at.join("new.csv"), "bmi,ltg\n30.1,4.9\n,5.25\n").unwrap();
    let expected = run(&["predict", "m.lao.json", "new.csv", "--json"]);
    let mut command = Command::new(lao());
    command.current_dir(at).args(["serve", "m.lao.json", "--port", "0"]);
    let server = start(command);
    assert_eq!(server.token, "");
    let rows = "{\"rows\": [{\"bmi\": 30.1, \"ltg\": 4.9}, {\"bmi\": null, \"ltg\": 5.25}]}";
    let answer = server.send("POST", "/predict", "application/json", rows);
    assert_eq!(answer.split_once("\r\n\r\n").unwrap().1, expected);
}
