//! Lends connections to PostgreSQL.
//!
//! A connection that has finished its statement returns as it is. One that is left within a statement or within a change
//! is settled first, in the background.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout, timeout_at};

use super::connection::Connection;
use super::{ACQUIRE, Hosts, Locks};
use crate::db::lock::lock;
use crate::db::{Error, Pool};

/// How long a connection that is settled may take to respond before it is closed.
const SETTLE: Duration = Duration::from_secs(2);

/// Idle connections are closed after this time.
const IDLE: Duration = Duration::from_secs(600);

/// Connections are closed after this time: the server's memory for one grows with its use.
const LIFETIME: Duration = Duration::from_secs(1800);

/// The wait before the second attempt to connect. It doubles with each attempt.
const PAUSE: Duration = Duration::from_millis(10);

/// Connections to one server.
pub(in crate::db) struct Connections {
    pub(in crate::db) hosts: Arc<Hosts>,
    locks: Locks,
    most: u32,
    places: Arc<Semaphore>,
    /// Ordered by last use, the most recent last.
    idle: Mutex<Vec<Idle>>,
    closed: AtomicBool,
}

struct Idle {
    connection: Arc<Connection>,
    since: Instant,
}

impl Connections {
    /// A pool that connects on demand. Must be called within a tokio runtime.
    pub(in crate::db) fn new(hosts: &Arc<Hosts>, most: u32, locks: Locks) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(most as usize));
        let (hosts, idle, closed) = (Arc::clone(hosts), Mutex::default(), AtomicBool::new(false));
        let connections = Arc::new(Self { hosts, locks, most, places, idle, closed });
        tokio::spawn(close_idle(Arc::downgrade(&connections)));
        connections
    }

    /// Waits for a place, and takes a connection. Also returns whether the connection is new.
    pub(in crate::db) async fn lend(&self) -> Result<(OwnedSemaphorePermit, Arc<Connection>, bool), Error> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Error::NoConnection);
        }
        let until = Instant::now() + ACQUIRE;
        let place = timeout_at(until.into(), Arc::clone(&self.places).acquire_owned())
            .await
            .map_err(|_| Error::NoConnection)?;
        let (connection, is_new) = self.connection(until).await?;
        Ok((place.map_err(|_| Error::NoConnection)?, connection, is_new))
    }

    /// The state of the pool.
    pub(in crate::db) fn state(&self, name: &'static str) -> Pool {
        Pool::of(name, self.most, &self.places, || lock(&self.idle).len())
    }

    /// Waits for all connections to be returned, then closes them.
    pub(in crate::db) async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let _over = self.places.acquire_many(self.most).await;
        self.places.close();
        let idle = std::mem::take(&mut *lock(&self.idle));
        close_all(idle.into_iter().map(|idle| idle.connection)).await;
    }

    /// A connection, and whether it is new.
    pub(in crate::db) async fn connection(&self, until: Instant) -> Result<(Arc<Connection>, bool), Error> {
        match self.idle() {
            Some(connection) => Ok((connection, false)),
            None => {
                let connected =
                    timeout_at(until.into(), Box::pin(self.connect())).await.map_err(|_| Error::NoConnection)??;
                Ok((Arc::new(connected), true))
            }
        }
    }

    /// The most recently used of the idle connections.
    fn idle(&self) -> Option<Arc<Connection>> {
        loop {
            let Idle { connection, .. } = lock(&self.idle).pop()?;
            if self.keeps(&connection) {
                return Some(connection);
            }
            close(connection, None);
        }
    }

    /// Takes out the connections that have been idle for so long.
    fn idle_for(&self, time: Duration) -> Vec<Arc<Connection>> {
        let mut idle = lock(&self.idle);
        let kept = idle.iter().position(|idle| idle.since.elapsed() < time).unwrap_or(idle.len());
        idle.drain(..kept).map(|idle| idle.connection).collect()
    }

    /// Whether a connection can be used again.
    fn keeps(&self, connection: &Connection) -> bool {
        connection.is_reusable() && connection.opened >= self.hosts.since() && connection.opened.elapsed() < LIFETIME
    }

    /// Connects. Tries again while the server starts.
    async fn connect(&self) -> Result<Connection, Error> {
        let mut pause = PAUSE;
        loop {
            // Read before the host: if the host changes in between, the connection counts as one to the old host.
            let opened = Instant::now();
            match Connection::open(self.hosts.host(), self.locks, opened).await {
                Err(error) if is_starting(&error) => sleep(pause).await,
                connected => return connected,
            }
            pause = (pause * 2).min(ACQUIRE / 5);
        }
    }

    /// Whether it is closed.
    pub(in crate::db) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Takes a connection back that has nothing left to do.
    pub(in crate::db) fn take_back(&self, connection: Arc<Connection>, place: OwnedSemaphorePermit) {
        if self.closed.load(Ordering::Relaxed) || !self.keeps(&connection) {
            return close(connection, Some(place));
        }
        lock(&self.idle).push(Idle { connection, since: Instant::now() });
        // Only now, so that whoever waits for a place finds the connection.
        drop(place);
    }

    /// Ends what a connection does, and takes it back. If the server does not respond, cancels the statement and closes
    /// the connection. Does not cancel a commit: a server that waits for a standby would stop waiting, and show a change
    /// that the standby may not have.
    pub(in crate::db) fn settle_later(
        self: &Arc<Self>,
        connection: Arc<Connection>,
        place: OwnedSemaphorePermit,
        is_committing: bool,
    ) {
        let Ok(runtime) = Handle::try_current() else { return };
        let home = Arc::clone(self);
        runtime.spawn(async move {
            // Answered after everything that was sent before it. Outside of a transaction the server only warns.
            match timeout(SETTLE, connection.script("ROLLBACK")).await {
                Ok(Ok(())) => home.take_back(connection, place),
                Err(_) if !is_committing => {
                    drop(place);
                    // A statement that waits for a lock does not notice that its connection was closed.
                    connection.cancel().await;
                }
                Ok(Err(_)) | Err(_) => {}
            }
        });
    }
}

/// Whether another attempt to connect may succeed: the server is starting, or has no connection left, or what stands
/// before it has another server.
fn is_starting(error: &Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, UnexpectedEof};
    let passing = [ConnectionRefused, ConnectionReset, ConnectionAborted, UnexpectedEof, BrokenPipe];
    match error {
        Error::Lost { kind, .. } => passing.contains(kind),
        error => matches!(error.sqlstate(), Some("57P03" | "53300")),
    }
}

/// Closes a connection in the background, and then frees its place.
fn close(connection: Arc<Connection>, place: Option<OwnedSemaphorePermit>) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            close_all([connection]).await;
            drop(place);
        });
    }
}

async fn close_all(connections: impl IntoIterator<Item = Arc<Connection>>) {
    for connection in connections {
        if let Some(connection) = Arc::into_inner(connection) {
            Box::pin(connection.close()).await;
        }
    }
}

/// Closes connections that were idle for [`IDLE`]. Ends with the pool.
async fn close_idle(connections: Weak<Connections>) {
    loop {
        sleep(IDLE / 10).await;
        let Some(connections) = connections.upgrade() else { return };
        close_all(connections.idle_for(IDLE)).await;
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connections").field(&self.hosts).finish()
    }
}
