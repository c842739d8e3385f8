//! Accepts connections until the service stops, then drains them.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::Request;
use ipnet::IpNet;
use tokio::pin;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tracing::warn;

use super::activity::{Activity, Closed};
use super::admission::{Admission, Owner, Refusal};
use super::connection::{self, Opening, Patience};
use super::heads::{self, Head};
use super::limits::Key;
use super::listener::{Listener, Stream};
use super::reply::Reply;
use super::tls::Tls;
use super::upload::Upload;
use super::{App, client, metrics};
use crate::shares::{Hold, Shares};

/// The maximum number of connections to the metrics listener.
pub const METRICS_CONNECTIONS: usize = 16;

/// The result of draining a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every request was answered.
    Wholly,
    /// This many connections were cut at the deadline.
    Cut(usize),
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    /// Its address, or the one that a PROXY header names.
    pub address: IpAddr,
    /// Whether a PROXY header was read and names nobody. The address is the proxy's then, but the bytes may be those of any
    /// client, so its headers are not believed.
    pub is_unnamed: bool,
    /// Whether TLS ends here.
    pub is_encrypted: bool,
    /// Whether its connection has no other request in progress, and no answer that waits to be sent.
    pub is_alone: bool,
}

/// Whether there is room for a request.
#[derive(Debug)]
pub(super) enum Admitted {
    /// It is alone on its connection and is not counted.
    Free,
    /// There is room, which the hold keeps for it.
    Room(Hold<Key>),
    /// There is no room.
    Crowded,
}

/// Handles the requests of a listener.
pub(super) trait Answers: Send + Sync + 'static {
    /// Counts a request that shares its connection. Called before anything else is done for the request.
    fn admit(&self, _request: &Request<Upload>, _peer: Peer) -> Admitted {
        Admitted::Free
    }

    /// Handles a request from `peer`. Infallible: errors are responses too.
    fn answer(&self, request: Request<Upload>, peer: Peer, admitted: Admitted) -> impl Future<Output = Reply> + Send;

    /// Notes a connection that is closed because its address has too many.
    fn refused_connection(&self) {}

    /// Notes a connection, or a stream of one, that is closed before its client has finished.
    fn closed(&self, _why: Closed) {}
}

/// Serves `listener`, with TLS if `tls` is given. When `told_to_stop` resolves, `/readyz` reports it. After the
/// configured delay no more connections are accepted, and open ones finish their requests. Connections that remain at
/// the deadline are cut.
pub async fn serve(
    app: Arc<App>,
    listener: impl Into<Listener>,
    tls: Option<Arc<Tls>>,
    told_to_stop: impl Future<Output = ()>,
) -> Drained {
    let (listener, patience) = (listener.into(), Patience::from(&app.edge));
    let (most, share) = (app.edge.max_connections as usize, app.edge.connections_of_address());
    let mut connections = Connections::new(Arc::clone(&app), most, share, patience);
    connections.tls = tls;
    connections.proxies = app.edge.trusted_proxies.as_slice().into();
    connections.expects_header = listener.expects_header;
    let drain = async {
        told_to_stop.await;
        app.draining.store(true, Ordering::Relaxed);
        sleep(app.edge.drain_delay).await;
    };
    pin!(drain);
    loop {
        tokio::select! {
            () = &mut drain => break,
            () = connections.next(&listener) => app.metrics.connections(connections.open.len()),
        }
    }
    drop(listener);
    connections.stop.send_replace(true);
    let mut open = connections.open;
    let all = async { while open.join_next().await.is_some() {} };
    match timeout(app.edge.drain_deadline, all).await {
        Ok(()) => Drained::Wholly,
        Err(_) => {
            let left = open.len();
            open.shutdown().await;
            Drained::Cut(left)
        }
    }
}

/// Serves the metrics of `app` on `listener`. Runs until it is dropped.
pub async fn serve_metrics(app: Arc<App>, listener: impl Into<Listener>) -> Infallible {
    let patience = Patience::from(&app.edge);
    // Usually one address asks, so its share is all.
    let most = METRICS_CONNECTIONS;
    let mut connections = Connections::new(Arc::new(metrics::Page(app)), most, most, patience);
    let listener = listener.into();
    loop {
        connections.next(&listener).await;
    }
}

/// The connections of a listener.
struct Connections<A> {
    answers: Arc<A>,
    admission: Arc<Admission>,
    /// The long heads of each address.
    heads: Arc<Shares<IpAddr>>,
    patience: Patience,
    tls: Option<Arc<Tls>>,
    /// The trusted proxies.
    proxies: Arc<[IpNet]>,
    /// Whether their connections begin with a PROXY header.
    expects_header: bool,
    stop: watch::Sender<bool>,
    open: JoinSet<()>,
}

impl<A: Answers> Connections<A> {
    /// At most `most` connections, and `share` of one address, without TLS and proxies.
    fn new(answers: Arc<A>, most: usize, share: usize, patience: Patience) -> Self {
        Self {
            answers,
            admission: Admission::new(most, share),
            heads: Shares::new(heads::BOUNDS),
            patience,
            tls: None,
            proxies: Arc::default(),
            expects_header: false,
            stop: watch::Sender::new(false),
            open: JoinSet::new(),
        }
    }

    /// Waits until a connection arrives or ends.
    async fn next(&mut self, listener: &Listener) {
        tokio::select! {
            accepted = accept(listener) => self.admit(accepted).await,
            Some(_) = self.open.join_next() => {}
        }
    }

    /// Serves a connection as soon as there is room for it. Until then the next ones wait in the kernel's queue, outside our
    /// memory.
    async fn admit(&mut self, (stream, address): (Stream, SocketAddr)) {
        let is_of_many = !stream.has_own_address() || client::is_trusted(address.ip().to_canonical(), &self.proxies);
        let owner = if is_of_many { Owner::of_many(address.ip()) } else { Owner::client(address.ip()) };
        let activity = Activity::begin(Instant::now(), Head::new(&self.heads, owner));
        let place = loop {
            match self.admission.admit(owner, &activity, Instant::now()) {
                Ok((place, is_anothers)) => {
                    if is_anothers {
                        self.answers.closed(Closed::Room);
                    }
                    break place;
                }
                Err(Refusal::Share) => return connection::refuse(&*self.answers, address),
                Err(Refusal::Full) => self.admission.room().await,
            }
        };
        let id = place.id();
        let opening = Opening {
            proxies: Arc::clone(&self.proxies),
            expects_header: self.expects_header,
            place,
            activity,
            tls: self.tls.as_ref().map(|tls| tls.acceptor()),
            patience: self.patience,
        };
        let (answers, stop) = (Arc::clone(&self.answers), self.stop.subscribe());
        let end = self.open.spawn(connection::run(answers, (stream, address), opening, stop));
        self.admission.is_closed_by(id, end);
    }
}

/// Accepts the next connection.
async fn accept(listener: &Listener) -> (Stream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client disconnected while it waited.
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                // Probably out of file descriptors: wait for connections to end.
                warn!(%error, "a connection cannot be accepted");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
