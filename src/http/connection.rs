//! Serves one connection: HTTP/1.1 or HTTP/2, with or without TLS, with or without a PROXY header before it.
//!
//! hyper implements the protocols; this decides when to close a connection. It closes when the first request takes too
//! long to arrive, when the connection is idle (no request and no answer taken) for too long, when it sends too much from
//! which nothing comes, and gracefully when the service stops. [`activity`](super::activity) counts, and
//! [`admission`](super::admission) closes one for another.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::Builder;
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::activity::{Activity, Closed, FAREWELL};
use super::admission::{ConnectionGuard, Owner};
use super::client;
use super::listener::Stream;
use super::proxy_header::{self, Refused};
use super::refused::Explained;
use super::serve::{Admitted, Answers, Peer};
use super::streamed;
use super::upload::Upload;
use crate::config::Edge;

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

/// The timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// From the connection to the head of its first request.
    pub head: Duration,
    /// Without a request, and without a piece of an answer taken.
    pub idle: Duration,
}

impl From<&Edge> for Patience {
    fn from(edge: &Edge) -> Self {
        Self { head: edge.header_timeout, idle: edge.idle_timeout }
    }
}

/// What comes before the first request of a connection.
pub(super) struct Opening {
    /// The trusted proxies.
    pub proxies: Arc<[IpNet]>,
    /// Whether their connections begin with a PROXY header.
    pub expects_header: bool,
    /// The place of the connection, held until it ends.
    pub place: ConnectionGuard,
    /// What happens on it.
    pub activity: Arc<Activity>,
    /// The acceptor of TLS handshakes, with TLS.
    pub tls: Option<TlsAcceptor>,
    /// How long all that may take.
    pub patience: Patience,
}

/// Serves a connection until it ends. When `stop` becomes true, finishes its requests and closes it. Closes it at once
/// if a PROXY header names a client who has too many.
pub(super) async fn run<A: Answers>(
    answers: Arc<A>,
    (mut stream, address): (Stream, SocketAddr),
    Opening { proxies, expects_header, place, activity, tls, patience }: Opening,
    stop: watch::Receiver<bool>,
) {
    stream.send_at_once();
    let is_trusted = |address: SocketAddr| client::is_trusted(address.ip().to_canonical(), &proxies);
    let mut peer = Sender { address, is_unnamed: false, is_proxy: false };
    if expects_header && is_trusted(address) {
        // Boxed, so that other connections do not reserve space for it.
        match Box::pin(named_by_proxy(&mut stream, address, activity.began() + patience.head)).await {
            Some(client) => peer = client,
            None => return,
        }
        if !peer.is_unnamed && !is_trusted(peer.address) {
            let owner = Owner::client(peer.address.ip());
            if !place.give_to(owner) {
                return refuse(&*answers, peer.address);
            }
            activity.belongs_to(owner);
        }
    }
    peer.is_proxy = is_trusted(peer.address);
    let stream = Watched { stream, activity: Arc::clone(&activity) };
    match tls {
        None => speak(answers, (stream, false), activity, peer, patience, stop).await,
        // Boxed, so that connections without TLS do not reserve space for it.
        Some(tls) => Box::pin(encrypted(answers, stream, tls, activity, peer, patience, stop)).await,
    }
}

/// Notes that a connection is closed because its address has too many.
pub(super) fn refuse(answers: &impl Answers, address: SocketAddr) {
    answers.refused_connection();
    debug!(peer = %address, "a connection was closed: its address has too many");
}

/// Who sends the requests of a connection.
#[derive(Clone, Copy)]
struct Sender {
    address: SocketAddr,
    /// See [`Peer::is_unnamed`].
    is_unnamed: bool,
    /// Whether it is a trusted proxy. Its connection has requests of many clients, so it stays open when one of them has too
    /// many.
    is_proxy: bool,
}

/// Reads the PROXY header of a trusted proxy. Returns the client that it names, or the proxy if it names nobody. `None`
/// means that the connection is to be closed.
async fn named_by_proxy(stream: &mut Stream, proxy: SocketAddr, deadline: Instant) -> Option<Sender> {
    let reason = match timeout_at(deadline, proxy_header::read(stream)).await {
        Ok(Ok(client)) => {
            let (address, is_unnamed) = (client.unwrap_or(proxy), client.is_none());
            return Some(Sender { address, is_unnamed, is_proxy: false });
        }
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
    activity: Arc<Activity>,
    peer: Sender,
    patience: Patience,
    stop: watch::Receiver<bool>,
) {
    let stream = match timeout_at(activity.began() + patience.head, tls.accept(stream)).await {
        Ok(Ok(stream)) => Box::new(stream),
        Ok(Err(error)) => return debug!(peer = %peer.address, %error, "a handshake failed"),
        Err(_) => return debug!(peer = %peer.address, "a handshake took too long"),
    };
    speak(answers, (stream, true), activity, peer, patience, stop).await;
}

/// The HTTP settings and limits.
fn builder<A>(streams: Streams<A>) -> Builder<Streams<A>> {
    let mut builder = Builder::new(streams);
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
    activity: Arc<Activity>,
    peer: Sender,
    patience: Patience,
    stop: watch::Receiver<bool>,
) {
    let streams = Streams { answers: Arc::clone(&answers), activity: Arc::clone(&activity), patience };
    let service = service_fn(|request: Request<Incoming>| {
        let (answers, answering) = (Arc::clone(&answers), activity.request(request.version()));
        let request = request.map(|body| Upload::new(body, &activity, &answering));
        let Sender { address, is_unnamed, .. } = peer;
        let peer = Peer { address: address.ip(), is_unnamed, is_encrypted, is_alone: answering.is_alone };
        // Counted before the request gets a task, because many can arrive at once.
        let admitted = answers.admit(&request, peer);
        if matches!(admitted, Admitted::Crowded) {
            activity.end(Closed::Memory);
        }
        // Boxed, because an idle connection would reserve space for it too.
        Box::pin(async move {
            let mut reply = answers.answer(request, peer, admitted).await;
            let more = streamed::take(&mut reply);
            Ok::<_, Infallible>(reply.map(|answer| match more {
                None => answering.answered(answer),
                Some(more) => answering.streamed(answer, more),
            }))
        })
    });
    let builder = builder(streams);
    let connection = pin!(builder.serve_connection(TokioIo::new(Explained::new(stream)), service));
    let is_at_once = |why| why == Closed::Flood || why == Closed::Memory && !peer.is_proxy;
    let ended =
        drive(connection, |connection| connection.graceful_shutdown(), is_at_once, &activity, patience, stop).await;
    if let Some(why) = activity.why() {
        answers.closed(why);
        debug!(peer = %peer.address, reason = why.name(), "a connection was closed");
    } else if let Err(error) = ended {
        debug!(peer = %peer.address, error, "a connection failed");
    }
}

/// Drives a connection until it ends, or is to be closed. `finish` makes it take no more requests. For a reason that
/// `is_at_once`, the connection closes without answering those that it has.
async fn drive<C: Future<Output = Result<(), E>>, E>(
    mut connection: Pin<&mut C>,
    finish: impl Fn(Pin<&mut C>),
    is_at_once: impl Fn(Closed) -> bool,
    activity: &Activity,
    patience: Patience,
    mut stop: watch::Receiver<bool>,
) -> Result<(), E> {
    let mut ending: Option<Instant> = None;
    // The interval of checks. Each response moves the due time, and while a request is in progress there is none.
    let look = patience.head.min(patience.idle);
    loop {
        let next = Instant::now() + if ending.is_some() { look.min(FAREWELL) } else { look };
        let next = activity.due(ending, patience).map_or(next, |due| due.min(next));
        tokio::select! {
            ended = connection.as_mut() => return ended,
            _ = stop.wait_for(|stop| *stop), if ending.is_none() => {}
            () = activity.ended(), if ending.is_none() => {
                if activity.why().is_some_and(&is_at_once) {
                    return Ok(());
                }
            }
            () = sleep_until(next) => {
                if activity.due(ending, patience).is_none_or(|due| due > Instant::now()) {
                    continue;
                }
                // Without a single request there is nothing to close gracefully.
                if ending.is_some() || !activity.has_begun() {
                    return Ok(());
                }
                if activity.is_stalled(patience) {
                    activity.end(Closed::Stalled);
                }
            }
        }
        finish(connection.as_mut());
        ending = Some(Instant::now());
    }
}

/// Runs the requests of a connection of HTTP/2. A request whose answer its client does not take is reset.
struct Streams<A> {
    answers: Arc<A>,
    activity: Arc<Activity>,
    patience: Patience,
}

impl<A> Clone for Streams<A> {
    fn clone(&self) -> Self {
        Self { answers: Arc::clone(&self.answers), activity: Arc::clone(&self.activity), patience: self.patience }
    }
}

impl<A: Answers, F: Future<Output = ()> + Send + 'static> Executor<F> for Streams<A> {
    fn execute(&self, request: F) {
        let (begun, answers, patience) = (self.activity.take_begun(), Arc::clone(&self.answers), self.patience.idle);
        tokio::spawn(async move {
            let mut request = pin!(request);
            let (mut steps, mut timer) = (None, None);
            let end = poll_fn(|cx| {
                if request.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Some(()));
                }
                let now = begun.as_ref().and_then(|stream| stream.steps());
                if now != steps {
                    (steps, timer) = (now, Some(Box::pin(sleep(patience))));
                }
                match &mut timer {
                    Some(timer) => timer.as_mut().poll(cx).map(|()| None),
                    None => Poll::Pending,
                }
            });
            if end.await.is_none() {
                answers.closed(Closed::Stalled);
            }
        });
    }
}

/// A stream that records when bytes are received and sent.
struct Watched {
    stream: Stream,
    activity: Arc<Activity>,
}

impl Watched {
    fn note(&self, written: &io::Result<usize>) {
        if let Ok(bytes) = written {
            self.activity.sent(*bytes);
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        Poll::Ready(self.activity.received(buffer.filled().len() - before, Instant::now()))
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
