//! Accepts connections until told to stop, and then lets them finish.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::pin;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::{App, connection};

/// How a service ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every request was answered.
    Wholly,
    /// So many connections were cut at the deadline.
    Cut(usize),
}

/// Serves what comes in at `listener`. When `told_to_stop` is done, `/readyz` says so; after the delay of the settings
/// no more connections are accepted, those that are there finish their requests, and what is left at the deadline is
/// cut.
pub async fn serve(app: Arc<App>, listener: TcpListener, told_to_stop: impl Future<Output = ()>) -> Drained {
    let slots = Arc::new(Semaphore::new(app.edge.max_connections as usize));
    let (stop, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let drain = async {
        told_to_stop.await;
        app.draining.store(true, Ordering::Relaxed);
        sleep(app.edge.drain_delay).await;
    };
    pin!(drain);
    loop {
        tokio::select! {
            () = &mut drain => break,
            (slot, stream, peer) = accept(&listener, &slots) => {
                let connection = connection::run(Arc::clone(&app), stream, peer, stopping.clone());
                connections.spawn(async move {
                    connection.await;
                    drop(slot);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    stop.send_replace(true);
    let all = async { while connections.join_next().await.is_some() {} };
    match timeout(app.edge.drain_deadline, all).await {
        Ok(()) => Drained::Wholly,
        Err(_) => {
            let left = connections.len();
            connections.shutdown().await;
            Drained::Cut(left)
        }
    }
}

/// The next connection, once there is room for it. Until then it waits in the kernel, where it takes no memory of
/// ours.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> (Option<OwnedSemaphorePermit>, TcpStream, SocketAddr) {
    // The semaphore is never closed.
    let slot = Arc::clone(slots).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (slot, stream, peer),
            // The client was gone before its turn.
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                // No more files, most likely: it passes when connections end.
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
