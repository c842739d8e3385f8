//! Serves one connection: HTTP/1.1 or HTTP/2, with or without TLS, with or without a PROXY header before it.
//!
//! hyper implements the protocols; this decides when to close a connection. It closes when the first request takes too
//! long to arrive, when the connection is idle (no request and no bytes written) for too long, and gracefully when the
//! service stops. A connection is never closed while it has a request in progress: request bodies have their own
//! timeout.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::client;
use super::limits::network;
use super::listener::Stream;
use super::proxy_header::{self, Refused};
use super::refused::Explained;
use super::serve::{Answers, Peer};
use crate::config::Edge;
use crate::shares::Shares;

/// The maximum size of a request head. Also bounds how much of a body is buffered.
pub const HEAD_BYTES: usize = 32 * 1024;

/// The maximum number of headers: hyper has space for so many on the stack.
pub const HEADERS: usize = 100;

/// The maximum size of an HTTP/2 head that is read at all. Larger than [`HEAD_BYTES`], so that there is a response that
/// says what is wrong.
const HEAD_BYTES_TAKEN: usize = 48 * 1024;

/// The maximum number of concurrent requests on an HTTP/2 connection.
pub const STREAMS: u32 = 64;

/// HTTP/2 flow control windows: how much one connection, and one request on it, may send before it is read. Small,
/// because anyone can connect.
const CONNECTION_WINDOW: u32 = 256 * 1024;
const STREAM_WINDOW: u32 = 128 * 1024;

/// How much of its responses a peer must take within the idle timeout. Otherwise a peer that takes a byte now and then
/// would keep all the rest in memory.
pub const PIECE: usize = 64 * 1024;

/// The longest time a peer gets to notice that a connection is closing.
const FAREWELL: Duration = Duration::from_secs(1);

/// The timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// From the connection to the head of its first request.
    head: Duration,
    /// Without a request and without a byte written.
    idle: Duration,
}

impl Patience {
    pub(super) fn of(edge: &Edge) -> Self {
        Self { head: edge.header_timeout, idle: edge.idle_timeout }
    }
}

/// What comes before the first request of a connection.
pub(super) struct Opening {
    /// The trusted proxies.
    pub proxies: Arc<[IpNet]>,
    /// Whether their connections begin with a PROXY header.
    pub expects_header: bool,
    /// The connections of each address.
    pub places: Arc<Shares<IpAddr>>,
    /// The acceptor of TLS handshakes, with TLS.
    pub tls: Option<TlsAcceptor>,
    /// How long all that may take.
    pub patience: Patience,
}

/// Serves a connection until it ends. When `stop` becomes true, finishes its requests and closes it. Closes it at once
/// if its address has too many.
pub(super) async fn run<A: Answers>(
    answers: Arc<A>,
    (mut stream, address): (Stream, SocketAddr),
    Opening { proxies, expects_header, places, tls, patience }: Opening,
    stop: watch::Receiver<bool>,
) {
    stream.send_at_once();
    let began = Instant::now();
    let is_trusted = |address: SocketAddr| client::is_trusted(address.ip().to_canonical(), &proxies);
    let mut peer = Sender { address, is_unnamed: false };
    let mut has_own_address = stream.has_own_address();
    if expects_header && is_trusted(address) {
        // Boxed, so that other connections do not reserve space for it.
        match Box::pin(named_by_proxy(&mut stream, address, began + patience.head)).await {
            Some(client) => (peer, has_own_address) = (client, !client.is_unnamed),
            None => return,
        }
    }
    // A trusted proxy and a Unix socket bring all clients from one address: a share would bound the whole service.
    let is_counted = has_own_address && !is_trusted(peer.address);
    let owner = is_counted.then(|| network(peer.address.ip().to_canonical()));
    // Held until the connection ends.
    let Ok(_place) = owner.map(|owner| places.take_now(owner, 1).ok_or(owner)).transpose() else {
        answers.refused_connection();
        return debug!(peer = %peer.address, "a connection was closed: its address has too many");
    };
    let activity = Arc::new(Mutex::new(Activity { open: 0, requests: 0, began, last: began, left: 0 }));
    let stream = Watched { stream, activity: Arc::clone(&activity) };
    match tls {
        None => speak(answers, (stream, false), activity, peer, patience, stop).await,
        // Boxed, so that connections without TLS do not reserve space for it.
        Some(tls) => Box::pin(encrypted(answers, stream, tls, activity, peer, patience, stop)).await,
    }
}

/// Who sends the requests of a connection.
#[derive(Clone, Copy)]
struct Sender {
    address: SocketAddr,
    /// See [`Peer::is_unnamed`].
    is_unnamed: bool,
}

/// Reads the PROXY header of a trusted proxy. Returns the client that it names, or the proxy if it names nobody. `None`
/// means that the connection is to be closed.
async fn named_by_proxy(stream: &mut Stream, proxy: SocketAddr, deadline: Instant) -> Option<Sender> {
    let reason = match timeout_at(deadline, proxy_header::read(stream)).await {
        Ok(Ok(client)) => return Some(Sender { address: client.unwrap_or(proxy), is_unnamed: client.is_none() }),
        Ok(Err(Refused::Closed)) => {
            debug!(peer = %proxy, "a connection ended before its first byte");
            return None;
        }
        Ok(Err(Refused::Malformed(reason))) => reason.to_owned(),
        Ok(Err(Refused::Ended(error))) => format!("it ended within its PROXY header: {error}"),
        Err(_) => "its PROXY header took too long".to_owned(),
    };
    warn!(peer = %proxy, reason, "a connection of a trusted proxy was closed");
    None
}

/// Performs the TLS handshake, then serves HTTP.
async fn encrypted<A: Answers>(
    answers: Arc<A>,
    stream: Watched,
    tls: TlsAcceptor,
    activity: Arc<Mutex<Activity>>,
    peer: Sender,
    patience: Patience,
    stop: watch::Receiver<bool>,
) {
    let began = lock(&activity).began;
    let stream = match timeout_at(began + patience.head, tls.accept(stream)).await {
        Ok(Ok(stream)) => Box::new(stream),
        Ok(Err(error)) => return debug!(peer = %peer.address, %error, "a handshake failed"),
        Err(_) => return debug!(peer = %peer.address, "a handshake took too long"),
    };
    speak(answers, (stream, true), activity, peer, patience, stop).await;
}

/// The HTTP settings and limits.
fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // hyper would start this timeout right after each response, also on idle connections.
    builder.http1().header_read_timeout(None).max_buf_size(HEAD_BYTES);
    builder
        .http2()
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEAD_BYTES_TAKEN as u32)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .initial_stream_window_size(STREAM_WINDOW);
    builder
}

/// Serves HTTP on a stream, with or without TLS.
async fn speak<A: Answers>(
    answers: Arc<A>,
    (stream, is_encrypted): (impl AsyncRead + AsyncWrite + Send + Unpin + 'static, bool),
    activity: Arc<Mutex<Activity>>,
    peer: Sender,
    patience: Patience,
    mut stop: watch::Receiver<bool>,
) {
    let service = service_fn(|request: Request<Incoming>| {
        let (answers, answering) = (Arc::clone(&answers), Answering::begin(&activity));
        // Boxed, because an idle connection would reserve space for it too.
        Box::pin(async move {
            let Sender { address, is_unnamed } = peer;
            let reply = answers.answer(request, Peer { address: address.ip(), is_unnamed, is_encrypted }).await;
            drop(answering);
            Ok::<_, Infallible>(reply.map(Full::new))
        })
    });

    let builder = builder();
    let mut connection = pin!(builder.serve_connection(TokioIo::new(Explained::new(stream)), service));
    let mut ending: Option<Instant> = None;
    // The interval of checks. Each response moves the due time, and while a request is in progress there is none.
    let look = patience.head.min(patience.idle);
    loop {
        let due = |activity: &Activity| {
            let (since, rest) = match (ending, activity.requests) {
                (Some(ending), _) => (ending.max(activity.last), FAREWELL.min(patience.idle)),
                // Bytes written before the first response are protocol frames. A peer can provoke those forever, so
                // they do not count.
                (None, 0) => (activity.began, patience.head),
                (None, _) => (activity.last, patience.idle),
            };
            (activity.open == 0).then(|| since + rest)
        };
        let next = Instant::now() + look;
        let next = due(&lock(&activity)).map_or(next, |due| due.min(next));
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    debug!(peer = %peer.address, error, "a connection failed");
                }
                return;
            }
            _ = stop.wait_for(|stop| *stop), if ending.is_none() => {}
            () = sleep_until(next) => {
                if due(&lock(&activity)).is_none_or(|due| due > Instant::now()) {
                    continue;
                }
                // Without a single request there is nothing to close gracefully.
                if ending.is_some() || lock(&activity).requests == 0 {
                    return;
                }
            }
        }
        connection.as_mut().graceful_shutdown();
        ending = Some(Instant::now());
    }
}

/// The activity on a connection.
struct Activity {
    /// Requests in progress.
    open: usize,
    /// Requests so far.
    requests: u64,
    /// When the connection was accepted.
    began: Instant,
    /// When a response, or [`PIECE`] bytes of one, was last sent.
    last: Instant,
    /// The bytes sent since then.
    left: usize,
}

impl Activity {
    fn note(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes);
        if self.left >= PIECE {
            self.rest();
        }
    }

    fn rest(&mut self) {
        (self.last, self.left) = (Instant::now(), 0);
    }
}

fn lock(activity: &Mutex<Activity>) -> MutexGuard<'_, Activity> {
    activity.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request in progress.
struct Answering(Arc<Mutex<Activity>>);

impl Answering {
    fn begin(activity: &Arc<Mutex<Activity>>) -> Self {
        let mut now = lock(activity);
        now.open += 1;
        now.requests += 1;
        Self(Arc::clone(activity))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut activity = lock(&self.0);
        activity.open -= 1;
        activity.rest();
    }
}

/// A stream that records when bytes are sent.
struct Watched {
    stream: Stream,
    activity: Arc<Mutex<Activity>>,
}

impl Watched {
    fn note(&self, written: &io::Result<usize>) {
        if let Ok(bytes) = written {
            lock(&self.activity).note(*bytes);
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        self.note(&written);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices));
        self.note(&written);
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_a_little_now_and_then_takes_nothing() {
        let began = Instant::now();
        let mut activity = Activity { open: 0, requests: 1, began, last: began, left: 0 };
        activity.note(PIECE - 1);
        assert_eq!((activity.last, activity.left), (began, PIECE - 1));
        activity.note(1);
        assert_eq!(activity.left, 0);
        assert!(activity.last >= began);
    }
}
