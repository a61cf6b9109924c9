//! A browser as the tests need it: it sends what it is told to, and keeps a cookie.

use lao_pages::{Guard, Server, Stop, StudyPages};
use lao_study::{Description, Study};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A server in a thread of its own, which ends with the test.
pub struct Running {
    pub address: SocketAddr,
    /// The token, and what forms send.
    pub token: String,
    pub form: String,
    stop: Stop,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    pub fn start(
        token: bool,
        serve: impl FnOnce(Server, Guard, Stop) -> std::io::Result<()> + Send + 'static,
    ) -> Self {
        let server = Server::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = server.address();
        let guard = Guard::new(address, &["proxy.example".into()], token).unwrap();
        let token = guard.key().trim_start_matches("?token=").to_owned();
        let form = guard.form_token().to_owned();
        let stop: Stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || serve(server, guard, until)));
        Running { address, token, form, stop, thread }
    }

    /// Sends bytes and returns all that is answered until the other end closes.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // A server that refuses may close before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends a request with these headers besides those that every request has.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let host = if headers.to_ascii_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        let text = format!(
            "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {}\r\n\
             {headers}\r\n{body}",
            body.len()
        );
        Answer::of(&self.raw(text.as_bytes()))
    }

    fn cookie(&self) -> String {
        format!("Cookie: other=1; lao-{}={}\r\n", self.address.port(), self.token)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &self.cookie(), "")
    }

    /// Sends a form as a page of this server does, and follows the advice to see another page.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let fields = [("form", self.form.as_str())].into_iter().chain(fields.iter().copied());
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let headers = format!("{}Origin: http://{}\r\n", self.cookie(), self.address);
        let answer = self.request("POST", path, &headers, &body);
        match answer.header("location") {
            Some(place) if answer.status == 303 => self.get(place),
            _ => answer,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.into(), body: body.into() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Says that a page with this status has a text.
    #[track_caller]
    pub fn has(&self, status: u16, text: &str) -> &Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        assert!(self.body.contains(text), "no `{text}` in\n{}", self.body);
        self
    }

    #[track_caller]
    pub fn lacks(&self, text: &str) -> &Self {
        assert!(!self.body.contains(text), "`{text}` in\n{}", self.body);
        self
    }
}

/// Begins a study of the attributes a to f, of which three are bought.
pub fn begun(folder: &Path) -> PathBuf {
    let names = ["a [mmol]", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
    let place = folder.join("tumor");
    Study::create(&place, Description::new("response", names, 3)).unwrap();
    place
}

/// Serves a study.
pub fn serve(place: &Path, read_only: bool) -> Running {
    let place = place.to_owned();
    Running::start(true, move |server, guard, stop| {
        StudyPages::new(&place, guard.read_only(read_only)).serve(server, &stop)
    })
}

/// Returns the fields of a form with these values.
pub fn typed(names: &[String], values: &[&str], label: &str) -> Vec<(String, String)> {
    let mut fields = vec![("label".to_owned(), label.to_owned())];
    for (i, (name, value)) in names.iter().zip(values).enumerate() {
        fields.push((format!("name-{i}"), name.clone()));
        if *value == "absent" {
            fields.push((format!("absent-{i}"), "yes".into()));
        } else {
            fields.push((format!("value-{i}"), (*value).to_owned()));
        }
    }
    fields
}

pub fn as_fields(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
