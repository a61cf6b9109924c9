//! Connections: how many, how long, how much, and their end.

use crate::http::{Form, Reply, Request};
use crate::render::problem;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The connections that are served at a time; others wait.
const CONNECTIONS: usize = 256;
/// The most bytes of the headers of a request, and of its body.
const HEADERS: usize = 32 << 10;
const BODY: usize = 16 << 20;
/// How long the headers of a request may take, and its body.
const SLOW: Duration = Duration::from_secs(5);
/// How long a connection may last. A reader who takes nothing holds it no longer.
const LONG: Duration = Duration::from_secs(300);
/// How often the server looks whether it is to end, and how long it then waits for what it is doing.
const LOOK: Duration = Duration::from_millis(100);
const LAST: Duration = Duration::from_secs(5);

/// Becomes true when the server is to end.
pub type Stop = Arc<AtomicBool>;

/// What answers requests.
pub trait Pages: Send + Sync + 'static {
    /// Answers a request. It may take its time: it has a thread of its own.
    fn answer(&self, request: Request) -> Reply;
}

/// A server that listens and serves nothing yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens at an address; port 0 is any that is free.
    ///
    /// # Errors
    /// When the address is not one of this machine, or another program has it.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address })
    }

    /// Returns the address at which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves pages until it is to end.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub(crate) fn serve(self, pages: impl Pages, stop: &Stop) -> io::Result<()> {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads.min(4))
            .max_blocking_threads(2 * threads + 2)
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let accepting = tokio::spawn(accept(listener, Arc::new(pages)));
            ended(stop).await;
            accepting.abort();
            Ok::<(), io::Error>(())
        })?;
        runtime.shutdown_timeout(LAST);
        Ok(())
    }
}

async fn ended(stop: &Stop) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}

async fn accept(listener: tokio::net::TcpListener, pages: Arc<impl Pages>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // Nobody closes the semaphore.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The system has no more files; some will be closed.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        // A prediction is small, and is not to wait for more to be sent.
        let _ = stream.set_nodelay(true);
        let pages = Arc::clone(&pages);
        tokio::spawn(async move {
            let service = service_fn(move |request| reply(request, Arc::clone(&pages)));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(SLOW)
                .max_buf_size(HEADERS)
                .serve_connection(TokioIo::new(stream), service);
            // What goes wrong with a connection, its other end notices.
            let _ = timeout(LONG, connection).await;
            drop(place);
        });
    }
}

async fn reply(
    request: hyper::Request<Incoming>,
    pages: Arc<impl Pages>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let plain = |status, why| problem(status, "This cannot be answered", why);
    let reply = match timeout(SLOW, read(request)).await {
        Err(_) => plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
        Ok(Err(status)) => plain(status, "the request has a method, a size or a form that is not served"),
        Ok(Ok(request)) => {
            let answered = tokio::task::spawn_blocking(move || pages.answer(request)).await;
            answered.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "please report this error"))
        }
    };
    Ok(finished(reply))
}

/// Reads a request whole.
async fn read(request: hyper::Request<Incoming>) -> Result<Request, StatusCode> {
    let (parts, body) = request.into_parts();
    let sends = match parts.method {
        Method::GET | Method::HEAD => false,
        Method::POST => true,
        _ => return Err(StatusCode::METHOD_NOT_ALLOWED),
    };
    let body = match Limited::new(body, BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => return Err(StatusCode::BAD_REQUEST),
    };
    let path = parts.uri.path().split('/').filter(|part| !part.is_empty());
    // A part is decoded as a field is; no page has a plus in its path.
    let decoded = |part| Form::parse(format!("={part}").as_bytes()).get("").to_owned();
    Ok(Request {
        sends,
        path: path.map(decoded).collect(),
        query: Form::parse(parts.uri.query().unwrap_or("").as_bytes()),
        headers: parts.headers,
        body,
    })
}

/// Adds what browsers must know of every page: nothing is loaded from elsewhere, run, framed, kept or told.
fn finished(reply: Reply) -> Response<Full<Bytes>> {
    const ALWAYS: [(HeaderName, &str); 7] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers do not say from where a form comes.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    headers.extend(reply.headers);
    headers.extend(ALWAYS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}
