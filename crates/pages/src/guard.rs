//! Who may see and send.
//!
//! A page that listens on this machine can still be reached by what others have put into a browser on it. So
//! whoever looks needs the token of this run, which the first address carries and a cookie keeps. A host that
//! is not ours is refused, because the name of a foreign site can be made to lead here. A form needs the
//! form's own token and must come from one of our own pages.

use crate::http::{Reply, Request};
use crate::render::problem;
use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use sha2::{Digest as _, Sha256};
use std::net::SocketAddr;
use subtle::ConstantTimeEq as _;

/// What a request must show.
#[derive(Debug)]
pub struct Guard {
    /// The token; none is needed to look at a model on this machine.
    token: Option<String>,
    /// What a form must send.
    form: String,
    /// The name of the cookie: browsers share cookies among the ports of a host.
    cookie: String,
    /// The names by which this server may be asked for, without ports.
    hosts: Vec<String>,
    /// Whether nothing may be sent.
    read_only: bool,
}

impl Guard {
    /// Returns a guard of a server at an address, which may also be asked for by the names of `hosts`. A
    /// token is drawn by the operating system, if one is needed.
    ///
    /// # Errors
    /// When the system cannot draw a token.
    pub fn new(address: SocketAddr, hosts: &[String], needs_token: bool) -> std::io::Result<Self> {
        let draw = || {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
            Ok::<String, std::io::Error>(hex(&bytes))
        };
        let token = if needs_token { Some(draw()?) } else { None };
        // The form's token says nothing of the other one.
        let secret = token.clone().map_or_else(draw, Ok)?;
        let form = hex(&Sha256::digest(format!("form {secret}"))[..16]);
        let own = [address.ip().to_string(), format!("[{}]", address.ip()), "localhost".into()];
        let hosts = own.iter().chain(hosts).map(|host| host.to_ascii_lowercase()).collect();
        Ok(Guard { token, form, cookie: format!("lao-{}", address.port()), hosts, read_only: false })
    }

    /// Returns this guard of pages on which nothing can be sent.
    pub fn read_only(self, read_only: bool) -> Self {
        Guard { read_only, ..self }
    }

    /// Returns whether nothing can be sent.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns what follows the address in the first request.
    pub fn key(&self) -> String {
        self.token.as_ref().map_or_else(String::new, |token| format!("?token={token}"))
    }

    /// Returns the token that forms carry.
    pub fn form_token(&self) -> &str {
        &self.form
    }

    /// Returns what is replied to a request that may not pass, or one that brings the token.
    pub(crate) fn stop(&self, request: &Request) -> Option<Reply> {
        let host = request.header(header::HOST).to_ascii_lowercase();
        if !self.hosts.contains(&without_port(&host).to_owned()) {
            let why = "this server does not go by that name; name it by --host if it should";
            return Some(problem(StatusCode::MISDIRECTED_REQUEST, "Another host", why));
        }
        if let Some(token) = &self.token {
            let brought = request.query.get("token");
            if !request.sends && is_same(brought, token) {
                let mut reply = Reply::see(&request.place());
                let value = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie);
                reply
                    .headers
                    .extend(HeaderValue::from_str(&value).ok().map(|value| (header::SET_COOKIE, value)));
                return Some(reply);
            }
            let bearer = request.header(header::AUTHORIZATION).strip_prefix("Bearer ").unwrap_or("");
            if !self.kept(request).any(|kept| is_same(kept, token)) && !is_same(bearer, token) {
                let why = "open the address that was printed when the server began: it ends in ?token=...";
                return Some(problem(StatusCode::UNAUTHORIZED, "A token is needed", why));
            }
        }
        if !request.sends {
            return None;
        }
        let forbidden = |title, why| Some(problem(StatusCode::FORBIDDEN, title, why));
        if self.read_only {
            return forbidden("Read only", "this server only shows; it was started with --read-only");
        }
        let origin = request.header(header::ORIGIN).to_ascii_lowercase();
        let own = origin.split_once("://").is_some_and(|(_, rest)| rest == host);
        let site = request.header("sec-fetch-site");
        if !(origin.is_empty() || own) || !["", "same-origin", "none"].contains(&site) {
            return forbidden("Another site", "what is sent must come from a page of this server");
        }
        None
    }

    /// Returns what is replied to a form that does not carry the form's token.
    pub(crate) fn stop_form(&self, request: &Request) -> Option<Reply> {
        let why = "the page is of another run of the server: open it again, and type what you had";
        let known = is_same(request.form().get("form"), &self.form);
        (!known).then(|| problem(StatusCode::FORBIDDEN, "An old page", why))
    }

    /// Returns the tokens of the cookies that a request brings.
    fn kept<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = &'a str> {
        let headers = request.headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = headers.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value)
    }
}

/// Compares in a time that does not tell how much is the same.
fn is_same(given: &str, token: &str) -> bool {
    given.as_bytes().ct_eq(token.as_bytes()).into()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // An address in brackets ends with one.
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_no_part_of_a_host() {
        for (host, name) in [
            ("localhost:8765", "localhost"),
            ("localhost", "localhost"),
            ("127.0.0.1:1", "127.0.0.1"),
            ("[::1]:8765", "[::1]"),
            ("[::1]", "[::1]"),
            ("evil.example:80", "evil.example"),
        ] {
            assert_eq!(without_port(host), name, "{host}");
        }
    }
}
