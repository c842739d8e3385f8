//! Accepts connections until the service stops, then drains them.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use tokio::net::{TcpListener, TcpStream};
use tokio::pin;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::connection::{self, Patience};
use super::reply::Reply;
use super::tls::Tls;
use super::{App, metrics};

/// The maximum number of connections to the metrics listener.
const METRICS_CONNECTIONS: usize = 16;

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
    /// Its address.
    pub address: IpAddr,
    /// Whether TLS ends here.
    pub is_encrypted: bool,
}

/// Handles the requests of a listener.
pub(super) trait Answers: Send + Sync + 'static {
    /// Handles a request from `peer`. Infallible: errors are responses too.
    fn answer(&self, request: Request<Incoming>, peer: Peer) -> impl Future<Output = Reply> + Send;
}

/// Serves `listener`, with TLS if `tls` is given. When `told_to_stop` resolves, `/readyz` reports it. After the
/// configured delay no more connections are accepted, and open ones finish their requests. Connections that remain at
/// the deadline are cut.
pub async fn serve(
    app: Arc<App>,
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    told_to_stop: impl Future<Output = ()>,
) -> Drained {
    let patience = Patience::of(&app.edge);
    let mut connections = Connections::new(Arc::clone(&app), app.edge.max_connections as usize, patience, tls);
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
pub async fn serve_metrics(app: Arc<App>, listener: TcpListener) -> Infallible {
    let patience = Patience::of(&app.edge);
    let mut connections = Connections::new(Arc::new(metrics::Page(app)), METRICS_CONNECTIONS, patience, None);
    loop {
        connections.next(&listener).await;
    }
}

/// The connections of a listener.
struct Connections<A> {
    answers: Arc<A>,
    slots: Arc<Semaphore>,
    patience: Patience,
    tls: Option<Arc<Tls>>,
    stop: watch::Sender<bool>,
    open: JoinSet<()>,
}

impl<A: Answers> Connections<A> {
    fn new(answers: Arc<A>, most: usize, patience: Patience, tls: Option<Arc<Tls>>) -> Self {
        let slots = Arc::new(Semaphore::new(most));
        Self { answers, slots, patience, tls, stop: watch::Sender::new(false), open: JoinSet::new() }
    }

    /// Waits until a connection arrives or ends.
    async fn next(&mut self, listener: &TcpListener) {
        tokio::select! {
            (slot, stream, peer) = accept(listener, &self.slots) => {
                let tls = self.tls.as_ref().map(|tls| tls.acceptor());
                let (answers, stop) = (Arc::clone(&self.answers), self.stop.subscribe());
                let connection = connection::run(answers, stream, tls, peer, self.patience, stop);
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
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> (Option<OwnedSemaphorePermit>, TcpStream, SocketAddr) {
    // The semaphore is never closed.
    let slot = Arc::clone(slots).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (slot, stream, peer),
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
