//! Reads an SQLite file in place: on the thread that asks.
//!
//! A row out of the page cache takes less than a microsecond, and to be handed each statement and each row by another
//! thread, as sqlx does it, costs ten times as much. So a statement is begun where it is asked for. When it turns out to
//! be more than a little work, or the file is locked, it is begun again on a thread that may be kept waiting, so that no
//! request waits for another's search through the whole catalogue. There it is interrupted as soon as nobody waits for
//! it any more: a caller who drops the future, at a time limit for example, need not do more.
//!
//! Writing is left to sqlx, and to [`super`] which connections there are beside these.

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

/// Transactions at a time: those of the requests that have a place ([`super::QUICK_READS`], [`super::SLOW_READS`]), and
/// one beside them for an export.
const SNAPSHOTS: usize = super::QUICK_READS + super::SLOW_READS + 1;

/// Connections that are kept open. Beside the transactions' there are some for single statements, which never wait for
/// a place: a token is looked up, and a deploy taken in, however many long queries run.
const CONNECTIONS: usize = SNAPSHOTS + 2;

/// How long a connection is kept that nobody uses.
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
    /// The one that was used last is the last.
    idle: Mutex<Vec<Idle>>,
    snapshots: Arc<Semaphore>,
    closed: AtomicBool,
}

/// A connection that nobody uses.
struct Idle {
    session: Session,
    since: Instant,
}

/// A transaction that reads, begun with its first statement and over when it is dropped.
pub struct Snapshot {
    /// Always there, but for the moments when it is lent to a thread for blocking work.
    lease: tokio::sync::Mutex<Option<Lease>>,
    observer: Option<Observer>,
}

/// The use of a connection; given back when it is dropped.
struct Lease {
    session: Option<Session>,
    home: Arc<Connections>,
    /// Whether statements see the state of the first.
    in_transaction: bool,
    _place: Option<OwnedSemaphorePermit>,
}

impl Embedded {
    /// Connections to a file that is there. None is opened before it is needed. Needs a running tokio.
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

    /// Begins a transaction; waits while there are too many.
    pub(super) async fn begin(&self) -> Result<Snapshot, DbErr> {
        let place = Arc::clone(&self.connections.snapshots).acquire_owned().await.map_err(|_| closed())?;
        let lease = self.connections.lease(Some(place))?;
        Ok(Snapshot { lease: tokio::sync::Mutex::new(Some(lease)), observer: self.observer.clone() })
    }

    /// The rows of a statement, outside of any transaction.
    pub(super) async fn rows(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, DbErr> {
        let mut lease = Some(self.connections.lease(None)?);
        run(&mut lease, self.observer.as_ref(), work, rows, None).await
    }

    /// How the connections are used.
    pub(super) fn pool(&self) -> Pool {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let in_use = SNAPSHOTS.saturating_sub(self.connections.snapshots.available_permits());
        let idle = lock(&self.connections.idle).len().min(SNAPSHOTS - in_use);
        Pool { name: "read", in_use: count(in_use), idle: count(idle), most: count(SNAPSHOTS) }
    }

    /// Closes all connections, once their transactions are over.
    pub(super) async fn close(&self) {
        self.connections.closed.store(true, Ordering::Relaxed);
        let all = u32::try_from(SNAPSHOTS).unwrap_or(u32::MAX);
        let _over = self.connections.snapshots.acquire_many(all).await;
        self.connections.snapshots.close();
        lock(&self.connections.idle).clear();
    }
}

impl Snapshot {
    /// The rows of a statement.
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
        // The one that was used last has the most in its cache.
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
        // One that cannot end its transaction is not used again.
        if thread::panicking() || session.end().is_err() || self.home.closed.load(Ordering::Relaxed) {
            return;
        }
        let mut idle = lock(&self.home.idle);
        if idle.len() < CONNECTIONS {
            idle.push(Idle { session, since: Instant::now() });
        }
    }
}

/// Closes connections that nobody has used for [`IDLE`], for as long as there are any: their page caches are memory.
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

/// Runs a statement: in place, or else where it may take its time.
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
    let in_place = match lease {
        Some(lease) if !work.is_long => lease.run(&work, &mut *rows, Patience::Little, budget),
        Some(_) => Err(Failure::Long),
        None => Err(Failure::Reading(closed())),
    };
    let (work, rows, result) = match in_place {
        Err(failure) if failure.is_for_now() => elsewhere(lease, work, rows, budget.cloned()).await?,
        done => (work, rows, done),
    };
    if let (Some(observer), Some(started)) = (observer, started) {
        let statement = &work.statement;
        observer(&metric::Info { elapsed: started.elapsed(), statement, failed: result.is_err() });
    }
    result?;
    Ok(rows)
}

/// Runs a statement on a thread that may be kept waiting.
async fn elsewhere(
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
    // Dropped before what is running, which then may give the connection to another.
    let mut stop = stop;
    let (lease, work, rows, result) = (&mut running).await.map_err(|error| DbErr::Custom(error.to_string()))?;
    stop.iter_mut().for_each(Stop::disarm);
    *place = Some(lease);
    Ok((work, rows, result))
}

/// How long a statement may keep its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// For as long as it is quick, and it waits for no lock.
    Little,
    /// As long as somebody waits for its answer, and its budget lasts.
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
            Patience::Little => session.in_place(work, rows, self.in_transaction, budget),
            Patience::Any => session.at_length(work, rows, self.in_transaction, budget),
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
