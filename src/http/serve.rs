//! Accepts connections until the service stops, then drains them.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use ipnet::IpNet;
use tokio::pin;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::connection::{self, Opening, Patience};
use super::listener::{Listener, Stream};
use super::reply::Reply;
use super::tls::Tls;
use super::{App, metrics};
use crate::shares::{Bounds, Shares};

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
}

/// Handles the requests of a listener.
pub(super) trait Answers: Send + Sync + 'static {
    /// Handles a request from `peer`. Infallible: errors are responses too.
    fn answer(&self, request: Request<Incoming>, peer: Peer) -> impl Future<Output = Reply> + Send;

    /// Notes a connection that is closed because its address has too many.
    fn refused_connection(&self) {}
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
    let (listener, patience) = (listener.into(), Patience::of(&app.edge));
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
    let patience = Patience::of(&app.edge);
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
    slots: Arc<Semaphore>,
    /// The connections of each address. Nothing waits for its share.
    places: Arc<Shares<IpAddr>>,
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
            slots: Arc::new(Semaphore::new(most)),
            places: Shares::new(Bounds { most, share, waiting: 0, waiting_share: 0 }),
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
            (slot, accepted) = accept(listener, &self.slots) => {
                let opening = Opening {
                    proxies: Arc::clone(&self.proxies),
                    expects_header: self.expects_header,
                    places: Arc::clone(&self.places),
                    tls: self.tls.as_ref().map(|tls| tls.acceptor()),
                    patience: self.patience,
                };
                let (answers, stop) = (Arc::clone(&self.answers), self.stop.subscribe());
                let connection = connection::run(answers, accepted, opening, stop);
                self.open.spawn(async move {
                    connection.await;
                    drop(slot);
                });
            }
            Some(_) = self.open.join_next() => {}
        }
    }
}

/// Accepts the next connection once there is room for it. Until then it waits in the kernel's queue, outside our
/// memory.
async fn accept(listener: &Listener, slots: &Arc<Semaphore>) -> (Option<OwnedSemaphorePermit>, (Stream, SocketAddr)) {
    // The semaphore is never closed.
    let slot = Arc::clone(slots).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok(accepted) => return (slot, accepted),
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
