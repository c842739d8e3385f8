//! Reads an SQLite file on the calling thread.
//!
//! Reading a cached row takes less than a microsecond. Passing each statement and row through another thread, as sqlx
//! does, costs ten times as much. So a statement starts on the calling thread. If it turns out to be slow, or the file
//! is locked, it starts over on a blocking thread, so that one request's full scan does not delay the others. Dropping
//! the future cancels the statement there (`sqlite3_interrupt`). That is all a caller has to do at its deadline.
//!
//! sqlx does the writing; [`super`] says which connections exist besides these.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use sea_orm::{DbErr, metric};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Pool;
use super::row::{Collect, Work, over};
use super::session::{Failure, Session, Stop, closed, error, lock};
use crate::budget::Budget;

/// The maximum number of concurrent transactions: one for each admitted request ([`super::QUICK_READS`],
/// [`super::SLOW_READS`]), and one for an export.
const SNAPSHOTS: usize = super::QUICK_READS + super::SLOW_READS + 1;

/// The maximum number of idle connections. Single statements need a few more than the transactions. They never wait for
/// a permit: tokens are checked and deploys recorded however many long queries run.
const CONNECTIONS: usize = SNAPSHOTS + 2;

/// Idle connections are closed after this time.
const IDLE: Duration = Duration::from_secs(10);

pub(super) type Observer = Arc<dyn Fn(&metric::Info<'_>) + Send + Sync>;

/// The connections to one file.
#[derive(Clone)]
pub struct Embedded {
    connections: Arc<Connections>,
    pub(super) observer: Option<Observer>,
}

struct Connections {
    file: PathBuf,
    /// Ordered by last use, the most recent last.
    idle: Mutex<Vec<Idle>>,
    snapshots: Arc<Semaphore>,
    closed: AtomicBool,
}

/// An idle connection.
struct Idle {
    session: Session,
    since: Instant,
}

/// A read transaction. Begins with its first statement and ends when dropped.
pub struct Snapshot {
    /// `None` only while a blocking thread has it.
    lease: tokio::sync::Mutex<Option<Lease>>,
    observer: Option<Observer>,
}

/// A leased connection, returned when dropped.
struct Lease {
    session: Option<Session>,
    home: Arc<Connections>,
    /// Whether all statements run in one transaction.
    in_transaction: bool,
    _place: Option<OwnedSemaphorePermit>,
}

impl Embedded {
    /// Creates the pool for an existing file. Opens connections on demand. Must be called within a tokio runtime.
    pub(super) fn new(file: PathBuf) -> Self {
        let connections = Arc::new(Connections {
            file,
            idle: Mutex::default(),
            snapshots: Arc::new(Semaphore::new(SNAPSHOTS)),
            closed: AtomicBool::new(false),
        });
        tokio::spawn(close_idle(Arc::downgrade(&connections)));
        Self { connections, observer: None }
    }

    /// Begins a transaction. Waits for a permit if there are too many.
    pub(super) async fn begin(&self) -> Result<Snapshot, DbErr> {
        let place = Arc::clone(&self.connections.snapshots).acquire_owned().await.map_err(|_| closed())?;
        let lease = self.connections.lease(Some(place))?;
        Ok(Snapshot { lease: tokio::sync::Mutex::new(Some(lease)), observer: self.observer.clone() })
    }

    /// Runs a statement outside of any transaction and returns its rows.
    pub(super) async fn rows(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, DbErr> {
        let mut lease = Some(self.connections.lease(None)?);
        run(&mut lease, self.observer.as_ref(), work, rows, None).await
    }

    /// The state of the pool.
    pub(super) fn pool(&self) -> Pool {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let in_use = SNAPSHOTS.saturating_sub(self.connections.snapshots.available_permits());
        let idle = lock(&self.connections.idle).len().min(SNAPSHOTS - in_use);
        Pool { name: "read", in_use: count(in_use), idle: count(idle), most: count(SNAPSHOTS) }
    }

    /// Waits for all transactions to end, then closes all connections.
    pub(super) async fn close(&self) {
        self.connections.closed.store(true, Ordering::Relaxed);
        let all = u32::try_from(SNAPSHOTS).unwrap_or(u32::MAX);
        let _over = self.connections.snapshots.acquire_many(all).await;
        self.connections.snapshots.close();
        lock(&self.connections.idle).clear();
    }
}

impl Snapshot {
    /// Runs a statement and returns its rows.
    pub(super) async fn rows(
        &self,
        work: Work,
        rows: Box<dyn Collect>,
        budget: Option<&Arc<Budget>>,
    ) -> Result<Box<dyn Collect>, DbErr> {
        run(&mut *self.lease.lock().await, self.observer.as_ref(), work, rows, budget).await
    }
}

impl Connections {
    fn lease(self: &Arc<Self>, place: Option<OwnedSemaphorePermit>) -> Result<Lease, DbErr> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(closed());
        }
        // The most recently used connection has the warmest page cache.
        let idle = lock(&self.idle).pop();
        let session = match idle {
            Some(Idle { session, .. }) => session,
            None => Session::open(&self.file).map_err(error)?,
        };
        let in_transaction = place.is_some();
        Ok(Lease { session: Some(session), home: Arc::clone(self), in_transaction, _place: place })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        // A connection whose transaction cannot be ended is not reused.
        if thread::panicking() || session.end().is_err() || self.home.closed.load(Ordering::Relaxed) {
            return;
        }
        let mut idle = lock(&self.home.idle);
        if idle.len() < CONNECTIONS {
            idle.push(Idle { session, since: Instant::now() });
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

/// Runs a statement on the calling thread, and if that takes too long, on a blocking thread.
async fn run(
    lease: &mut Option<Lease>,
    observer: Option<&Observer>,
    work: Work,
    mut rows: Box<dyn Collect>,
    budget: Option<&Arc<Budget>>,
) -> Result<Box<dyn Collect>, DbErr> {
    if let Some(excess) = budget.and_then(|budget| budget.exceeded()) {
        return Err(over(excess));
    }
    let started = observer.map(|_| Instant::now());
    let quick = match lease {
        Some(lease) if !work.is_long => lease.run(&work, &mut *rows, Patience::Little, budget),
        Some(_) => Err(Failure::Long),
        None => Err(Failure::Reading(closed())),
    };
    let (work, rows, result) = match quick {
        Err(failure) if failure.needs_blocking_thread() => {
            on_blocking_thread(lease, work, rows, budget.cloned()).await?
        }
        done => (work, rows, done),
    };
    if let (Some(observer), Some(started)) = (observer, started) {
        let statement = &work.statement;
        observer(&metric::Info { elapsed: started.elapsed(), statement, failed: result.is_err() });
    }
    result?;
    Ok(rows)
}

/// Runs a statement on a blocking thread.
async fn on_blocking_thread(
    place: &mut Option<Lease>,
    work: Work,
    mut rows: Box<dyn Collect>,
    budget: Option<Arc<Budget>>,
) -> Result<(Work, Box<dyn Collect>, Result<(), Failure>), DbErr> {
    let lease = place.take().ok_or_else(closed)?;
    let stop = lease.session.as_ref().map(Session::begin_long);
    let mut running = tokio::task::spawn_blocking(move || {
        let result = lease.run(&work, &mut *rows, Patience::Any, budget.as_ref());
        (lease, work, rows, result)
    });
    // Drop order matters: declared after `running`, so `stop` is dropped first. Until `running` is dropped, it holds
    // the lease. Afterwards another request may use the connection, and a late interrupt would kill its statement.
    let mut stop = stop;
    let (lease, work, rows, result) = (&mut running).await.map_err(|error| DbErr::Custom(error.to_string()))?;
    stop.iter_mut().for_each(Stop::disarm);
    *place = Some(lease);
    Ok((work, rows, result))
}

/// How long a statement may occupy its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// Only while it is quick, and without waiting for a lock.
    Little,
    /// Until its caller gives up or its budget is exhausted.
    Any,
}

impl Lease {
    fn run(
        &self,
        work: &Work,
        rows: &mut dyn Collect,
        patience: Patience,
        budget: Option<&Arc<Budget>>,
    ) -> Result<(), Failure> {
        let Some(session) = &self.session else { return Err(Failure::Reading(closed())) };
        match patience {
            Patience::Little => session.run_quick(work, rows, self.in_transaction, budget),
            Patience::Any => session.run_slow(work, rows, self.in_transaction, budget),
        }
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedded").field(&self.connections.file).finish()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Snapshot")
    }
}
