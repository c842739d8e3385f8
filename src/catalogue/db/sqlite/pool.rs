//! Lends connections to an SQLite file, and checkpoints. The connection that writes has a pool of its own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::checkpointer::Checkpointer;
use super::connection::{Connection, Failure};
use super::group_commit::Flushes;
use super::log_length::LogLength;
use super::watch::Stop;
use crate::db::lock::lock;
use crate::db::{Error, PATIENCE, Pool};

/// The maximum number of concurrent transactions: one for each admitted request ([`crate::db::QUICK_READS`],
/// [`crate::db::SLOW_READS`]), as many for what pages read as for slow requests, and one for an export or the figures of
/// deploys.
const SNAPSHOTS: u32 = (crate::db::QUICK_READS + 2 * crate::db::SLOW_READS + 1) as u32;

/// The maximum number of idle connections. Single statements need a few more than the transactions. They never wait for
/// a permit: tokens are checked and deploys recorded however many long queries run.
const CONNECTIONS: usize = SNAPSHOTS as usize + 2;

/// A write transaction waits this long for the one before it.
const TURN: Duration = Duration::from_secs(30);

/// Reads are held back for this long at most after the last one has ended, while the rest of the log is copied.
const HELD: Duration = Duration::from_secs(10);

/// Idle connections are closed after this time.
const IDLE: Duration = Duration::from_secs(10);

/// Connections to one file: those that read, or the one that writes.
pub(in crate::db) struct Connections {
    pub(in crate::db) file: PathBuf,
    /// Of the connection that writes: the flushes of its log.
    flushes: Option<Arc<Flushes>>,
    /// Of the connection that writes: how long its log may become.
    log: Option<LogLength>,
    /// Ordered by last use, the most recent last.
    idle: Mutex<Vec<Idle>>,
    /// The maximum number of concurrent transactions.
    most: u32,
    places: Arc<Semaphore>,
    closed: AtomicBool,
    /// Of the connection that writes: what copies the log beside it.
    checkpointer: Arc<tokio::sync::Mutex<Option<Checkpointer>>>,
    is_checkpointing: AtomicBool,
}

/// An idle connection.
struct Idle {
    connection: Connection,
    since: Instant,
}

/// A leased connection, returned when dropped.
pub(in crate::db) struct Lease {
    connection: Option<Connection>,
    pub(in crate::db) home: Arc<Connections>,
    /// Whether the first statement begins a transaction.
    pub(in crate::db) in_transaction: bool,
    _place: Option<OwnedSemaphorePermit>,
}

impl Connections {
    /// A pool of connections that read an existing file. Opens them on demand. Must be called within a tokio runtime.
    pub(in crate::db) fn reading(file: PathBuf) -> Arc<Self> {
        let connections = Self::new(file, SNAPSHOTS, None, None);
        tokio::spawn(close_idle(Arc::downgrade(&connections)));
        connections
    }

    /// A pool of the one connection that writes to an existing file. Opens it on demand, and again if it was lost.
    pub(in crate::db) fn writing(file: PathBuf, log: LogLength) -> Arc<Self> {
        Self::new(file, 1, Some(Arc::default()), Some(log))
    }

    fn new(file: PathBuf, most: u32, flushes: Option<Arc<Flushes>>, log: Option<LogLength>) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(most as usize));
        let (idle, closed) = (Mutex::default(), AtomicBool::new(false));
        let (checkpointer, is_checkpointing) = (Arc::default(), AtomicBool::new(false));
        Arc::new(Self { file, flushes, log, idle, most, places, closed, checkpointer, is_checkpointing })
    }

    /// Lends a connection to a transaction that reads. Waits for a permit if there are too many.
    pub(in crate::db) async fn lend(self: &Arc<Self>) -> Result<Lease, Error> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Error::NoConnection)?;
        self.lease(Some(place), true)
    }

    /// Lends the connection that writes to a transaction, after the one before it.
    pub(in crate::db) async fn lend_in_turn(self: &Arc<Self>) -> Result<Lease, Error> {
        let place = Arc::clone(&self.places).acquire_owned();
        let place = timeout(TURN, place).await.map_err(|_| Error::NoConnection)?;
        self.lease(Some(place.map_err(|_| Error::NoConnection)?), false)
    }

    /// Lends a connection to a single statement.
    pub(in crate::db) fn lend_at_once(self: &Arc<Self>) -> Result<Lease, Error> {
        self.lease(None, false)
    }

    fn lease(self: &Arc<Self>, place: Option<OwnedSemaphorePermit>, in_transaction: bool) -> Result<Lease, Error> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Error::NoConnection);
        }
        if self.flushes.as_ref().is_some_and(|flushes| flushes.have_failed()) {
            return Err(Error::DiskFailed);
        }
        // The most recently used connection has the warmest page cache.
        let idle = lock(&self.idle).pop();
        let connection = match idle {
            Some(Idle { connection, .. }) => connection,
            None => match &self.flushes {
                Some(flushes) => Connection::writing(&self.file, flushes)?,
                None => Connection::reading(&self.file)?,
            },
        };
        Ok(Lease { connection: Some(connection), home: Arc::clone(self), in_transaction, _place: place })
    }

    /// Waits until no transaction runs. Later ones wait until the permit is dropped.
    pub(in crate::db) async fn hold_back(&self) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(&self.places).acquire_many_owned(self.most).await.map_err(|_| Error::NoConnection)
    }

    /// The state of the pool.
    pub(in crate::db) fn state(&self, name: &'static str) -> Pool {
        Pool::of(name, self.most, &self.places, || lock(&self.idle).len())
    }

    /// Waits for all transactions to end, then closes all connections.
    pub(in crate::db) async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let _over = self.places.acquire_many(self.most).await;
        self.places.close();
        lock(&self.idle).clear();
        self.checkpointer.lock().await.take();
    }

    /// Begins to copy the log into the database's file if it has so many pages that it is long, unless that is being
    /// done. If it fails, the next commit tries again.
    pub(in crate::db) fn begin_checkpoint(self: Arc<Self>, pages: i32) {
        let is_long = self.log.as_ref().is_some_and(|log| log.is_long(pages));
        if !is_long || self.is_checkpointing.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            let held = match &self.log {
                Some(log) => log.hold_reads(pages).await,
                None => None,
            };
            match held.is_some() {
                true => {
                    let is_over = timeout(HELD, self.copy_all(true)).await;
                    if !matches!(is_over, Ok(Some(true))) {
                        LogLength::report_in_use(pages);
                    }
                }
                false => drop(self.copy_all(false).await),
            }
            drop(held);
            self.is_checkpointing.store(false, Ordering::Relaxed);
        });
    }

    /// Copies the log. The next writer starts it over if nobody reads from it. While reads are held back (`is_held`),
    /// waits for single statements too, and returns whether that is so. `None` if the log cannot be copied.
    async fn copy_all(self: &Arc<Self>, is_held: bool) -> Option<bool> {
        let (home, own) = (Arc::clone(self), Arc::clone(&self.checkpointer).lock_owned().await);
        // The long part, while others write.
        tokio::task::spawn_blocking(move || home.copy_log(own)).await.ok()?.ok()?;
        // What they wrote in the meantime, while nobody writes.
        let patience = if is_held { PATIENCE } else { TURN };
        let place = timeout(patience, Arc::clone(&self.places).acquire_owned()).await.ok()?.ok()?;
        let lease = self.lease(Some(place), false).ok()?;
        let copy = move |connection: &Connection| match is_held {
            true => connection.checkpoint_all(),
            false => connection.checkpoint().map(|()| false),
        };
        let home = Arc::clone(self);
        tokio::task::spawn_blocking(move || home.copied(lease.with(copy))).await.ok()?.ok()
    }

    /// Copies the log through a connection of its own, and flushes the database's file. SQLite does not flush it while
    /// others write.
    fn copy_log(&self, mut own: OwnedMutexGuard<Option<Checkpointer>>) -> Result<(), Failure> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Failure::Reading(Error::NoConnection));
        }
        let checkpointer = match own.take() {
            Some(checkpointer) => checkpointer,
            None => Checkpointer::open(&self.file)?,
        };
        self.copied(own.insert(checkpointer).copy())
    }

    /// Notes whether the disk has failed to store what was copied. The system reports that only once, so a later success
    /// would prove nothing.
    fn copied<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        done.inspect_err(|failure| {
            if let (Some(flushes), Some(error)) = (&self.flushes, failure.of_disk()) {
                flushes.fail(error);
            }
        })
    }
}

impl Lease {
    /// A connection that no pool lends. It is closed when dropped.
    pub(in crate::db) fn alone(connection: Connection) -> Self {
        let home = Connections::new(PathBuf::new(), 0, None, None);
        home.closed.store(true, Ordering::Relaxed);
        Self { connection: Some(connection), home, in_transaction: false, _place: None }
    }

    /// Runs a part of a transaction on the calling thread.
    pub(in crate::db) fn with<T>(&self, run: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
        self.connection.as_ref().map_or_else(|| Err(Failure::Reading(Error::NoConnection)), run)
    }

    /// Prepares for a slow statement and returns the handle that stops it.
    pub(in crate::db) fn begin_long(&self) -> Option<Stop> {
        self.connection.as_ref().map(Connection::begin_long)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        // A connection whose transaction cannot be ended is not reused.
        if thread::panicking() || connection.end().is_err() || self.home.closed.load(Ordering::Relaxed) {
            return;
        }
        let mut idle = lock(&self.home.idle);
        if idle.len() < CONNECTIONS {
            idle.push(Idle { connection, since: Instant::now() });
        }
    }
}

/// Closes connections that were idle for [`IDLE`], because their page caches take memory. Ends with the pool.
async fn close_idle(connections: Weak<Connections>) {
    loop {
        tokio::time::sleep(IDLE / 2).await;
        let Some(connections) = connections.upgrade() else { return };
        let mut idle = lock(&connections.idle);
        let kept = idle.iter().position(|idle| idle.since.elapsed() < IDLE).unwrap_or(idle.len());
        let closed: Vec<Idle> = idle.drain(..kept).collect();
        drop(idle);
        drop(closed);
    }
}
