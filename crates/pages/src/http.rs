//! Requests and replies.

use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// A request that was read whole.
#[derive(Debug)]
pub struct Request {
    /// Whether it sends something: its method is POST. Others only look.
    pub sends: bool,
    /// The parts of its path, decoded.
    pub path: Vec<String>,
    /// What follows the path.
    pub query: Form,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// The fields of a form, in their order.
#[derive(Clone, Debug, Default)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `name=value&name=value`.
    pub fn parse(text: &[u8]) -> Self {
        Form(url::form_urlencoded::parse(text).into_owned().collect())
    }

    /// Returns the field of a name, without space around it; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.trim())
    }
}

impl Request {
    /// Returns the fields that the body sends.
    pub fn form(&self) -> Form {
        Form::parse(&self.body)
    }

    /// Returns a header as text; empty if there is none, or it is no text.
    pub fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// Returns the path as it can be asked for again.
    pub fn place(&self) -> String {
        let part =
            |part: &String| -> String { url::form_urlencoded::byte_serialize(part.as_bytes()).collect() };
        format!("/{}", self.path.iter().map(part).collect::<Vec<_>>().join("/"))
    }
}

/// What is answered.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Vec<u8>,
}

impl Reply {
    fn of(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Self {
        Reply { status, headers: vec![(header::CONTENT_TYPE, HeaderValue::from_static(kind))], body }
    }

    /// A page of HTML.
    pub fn page(status: StatusCode, html: String) -> Self {
        Self::of(status, "text/html; charset=utf-8", html.into_bytes())
    }

    /// JSON for a program.
    pub fn json(status: StatusCode, value: &serde_json::Value) -> Self {
        Self::of(status, "application/json", format!("{value}\n").into_bytes())
    }

    /// The sheet of styles.
    pub fn styles(text: &'static str) -> Self {
        Self::of(StatusCode::OK, "text/css; charset=utf-8", text.as_bytes().to_vec())
    }

    /// A file to be kept, with its name.
    pub fn file(name: &str, kind: &'static str, bytes: Vec<u8>) -> Self {
        let mut reply = Self::of(StatusCode::OK, kind, bytes);
        // Names of files are ours, without quotes.
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
            reply.headers.push((header::CONTENT_DISPOSITION, value));
        }
        reply
    }

    /// The advice to ask for another page, so that what was sent is not sent again by reloading.
    pub fn see(place: &str) -> Self {
        let mut reply = Self::of(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", Vec::new());
        if let Ok(value) = HeaderValue::from_str(place) {
            reply.headers.push((header::LOCATION, value));
        }
        reply
    }
}
