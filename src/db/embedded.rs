//! Reads and writes an SQLite file on the calling thread.
//!
//! Reading a cached row takes less than a microsecond. Passing each statement and row through another thread, as sqlx
//! does, costs ten times as much. So a statement starts on the calling thread. If it turns out to be slow, or the file
//! is locked, it starts over on a blocking thread, so that one request's full scan does not delay the others. Dropping
//! the future cancels the statement there (`sqlite3_interrupt`). That is all a caller has to do at its deadline.
//!
//! A statement that writes cannot start over. It runs on the calling thread only if it stores few rows, and so does the
//! commit of a transaction that has changed few. Only [`super::group_commit`] and checkpoints wait for the disk, on
//! blocking threads.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use sea_orm::{ConnAcquireErr, DbErr, Statement, metric};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::checkpointer::Checkpointer;
use super::group_commit::{FAILED, Waits};
use super::refusal::DISK_FAILED;
use super::row::{Collect, Work, over};
use super::session::{Failure, Session, closed, lock};
use super::watch::Stop;
use super::{PATIENCE, Pool};
use crate::budget::Budget;

/// The maximum number of concurrent transactions: one for each admitted request ([`super::QUICK_READS`],
/// [`super::SLOW_READS`]), and one for an export.
const SNAPSHOTS: u32 = (super::QUICK_READS + super::SLOW_READS + 1) as u32;

/// The maximum number of idle connections. Single statements need a few more than the transactions. They never wait for
/// a permit: tokens are checked and deploys recorded however many long queries run.
const CONNECTIONS: usize = SNAPSHOTS as usize + 2;

/// A write transaction waits this long for the one before it.
const TURN: Duration = Duration::from_secs(30);

/// The most transactions that share a commit.
const GROUP: usize = 32;

/// Idle connections are closed after this time.
const IDLE: Duration = Duration::from_secs(10);

pub(super) type Observer = Arc<dyn Fn(&metric::Info<'_>) + Send + Sync>;

/// The connections to one file.
#[derive(Clone)]
pub struct Embedded {
    connections: Arc<Connections>,
    pub(super) observer: Option<Observer>,
    /// Whether a transaction that writes begins only when the one before it is durable.
    pub(super) flushes_each: bool,
}

struct Connections {
    file: PathBuf,
    /// Of the connection that writes: whether the disk has failed to store a commit.
    has_failed: Option<Arc<AtomicBool>>,
    /// Ordered by last use, the most recent last.
    idle: Mutex<Vec<Idle>>,
    /// The maximum number of concurrent transactions.
    most: u32,
    places: Arc<Semaphore>,
    closed: AtomicBool,
    /// Of the connection that writes: what copies the log beside it.
    checkpointer: Arc<tokio::sync::Mutex<Option<Checkpointer>>>,
    is_checkpointing: AtomicBool,
    /// Of the connection that writes: how many wait for their turn.
    waiting: AtomicUsize,
    /// Whether the group of transactions that is open will be committed after those that wait.
    is_closing: AtomicBool,
}

/// An idle connection.
struct Idle {
    session: Session,
    since: Instant,
}

/// A transaction, rolled back when dropped. One that reads begins with its first statement.
pub struct Transaction {
    /// `None` only while a blocking thread has it.
    lease: tokio::sync::Mutex<Option<Lease>>,
    observer: Option<Observer>,
    flushes_each: bool,
    /// Whether it shares its commit with transactions before it.
    pub(super) is_joined: bool,
}

/// A leased connection, returned when dropped.
struct Lease {
    session: Option<Session>,
    home: Arc<Connections>,
    /// Whether the first statement begins a transaction.
    in_transaction: bool,
    _place: Option<OwnedSemaphorePermit>,
}

impl Embedded {
    /// Creates the pool of connections that read an existing file. Opens them on demand. Must be called within a tokio
    /// runtime.
    pub(super) fn reading(file: PathBuf) -> Self {
        let embedded = Self::new(file, SNAPSHOTS, None);
        tokio::spawn(close_idle(Arc::downgrade(&embedded.connections)));
        embedded
    }

    /// Creates the connection that writes to an existing file. Opens it on demand.
    pub(super) fn writing(file: PathBuf) -> Self {
        Self::new(file, 1, Some(Arc::default()))
    }

    fn new(file: PathBuf, most: u32, has_failed: Option<Arc<AtomicBool>>) -> Self {
        let places = Arc::new(Semaphore::new(most as usize));
        let (idle, closed) = (Mutex::default(), AtomicBool::new(false));
        let (checkpointer, is_checkpointing) = (Arc::default(), AtomicBool::new(false));
        let (waiting, is_closing) = (AtomicUsize::new(0), AtomicBool::new(false));
        let connections = Connections {
            file,
            has_failed,
            idle,
            most,
            places,
            closed,
            checkpointer,
            is_checkpointing,
            waiting,
            is_closing,
        };
        Self { connections: Arc::new(connections), observer: None, flushes_each: false }
    }

    /// Begins a transaction that reads. Waits for a permit if there are too many.
    pub(super) async fn begin(&self) -> Result<Transaction, DbErr> {
        let place = Arc::clone(&self.connections.places).acquire_owned().await.map_err(|_| closed())?;
        let lease = self.connections.lease(Some(place), true)?;
        Ok(self.transaction(Some(lease), false))
    }

    /// Begins a transaction that writes, after the one before it. It `joins` that one's commit if that is still to come.
    pub(super) async fn begin_write(&self, joins: bool) -> Result<Transaction, DbErr> {
        let place = Arc::clone(&self.connections.places).acquire_owned();
        let waits = Waits::of(&self.connections.waiting);
        let place = timeout(TURN, place).await.map_err(|_| DbErr::ConnectionAcquire(ConnAcquireErr::Timeout))?;
        drop(waits);
        let lease = self.connections.lease(Some(place.map_err(|_| closed())?), false)?;
        let mut lease = Some(lease);
        let is_joined = match with(&lease, |session| session.begin_write(Duration::ZERO, joins)) {
            Err(failure) if failure.needs_blocking_thread() => {
                let begin = move |lease: &Lease| lease.with(|session| session.begin_write(PATIENCE, joins));
                on_blocking_thread(&mut lease, false, begin).await??
            }
            begun => begun?,
        };
        Ok(self.transaction(lease, is_joined))
    }

    fn transaction(&self, lease: Option<Lease>, is_joined: bool) -> Transaction {
        let (lease, observer) = (tokio::sync::Mutex::new(lease), self.observer.clone());
        Transaction { lease, observer, flushes_each: self.flushes_each, is_joined }
    }

    /// Runs a statement outside of any transaction and returns its rows.
    pub(super) async fn rows(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, DbErr> {
        let mut lease = Some(self.connections.lease(None, false)?);
        run(&mut lease, self.observer.as_ref(), work, rows, None).await
    }

    /// The state of the pool.
    pub(super) fn pool(&self, name: &'static str) -> Pool {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let most = self.connections.most;
        let in_use = most.saturating_sub(count(self.connections.places.available_permits()));
        Pool { name, in_use, idle: count(lock(&self.connections.idle).len()).min(most - in_use), most }
    }

    /// Waits for all transactions to end, then closes all connections.
    pub(super) async fn close(&self) {
        self.connections.closed.store(true, Ordering::Relaxed);
        let _over = self.connections.places.acquire_many(self.connections.most).await;
        self.connections.places.close();
        self.connections.commit_idle();
        self.connections.checkpointer.lock().await.take();
    }
}

impl Transaction {
    /// Runs a statement and returns its rows.
    pub(super) async fn rows(
        &self,
        work: Work,
        rows: Box<dyn Collect>,
        budget: Option<&Arc<Budget>>,
    ) -> Result<Box<dyn Collect>, DbErr> {
        run(&mut *self.lease.lock().await, self.observer.as_ref(), work, rows, budget).await
    }

    /// Runs a statement that writes, and returns the number of rows that it changed.
    pub(super) async fn change(&self, statement: Statement) -> Result<u64, DbErr> {
        let mut lease = self.lease.lock().await;
        let started = self.observer.as_ref().map(|_| Instant::now());
        let work = Work::writing(statement, false);
        let (statement, result) = match work.is_long {
            false => {
                let result = with(&lease, |session| session.write(&work.statement, None));
                (work.statement, result)
            }
            true => {
                let change = move |lease: &Lease| {
                    let result = lease.with(|session| session.write(&work.statement, None));
                    (work.statement, result)
                };
                on_blocking_thread(&mut lease, false, change).await?
            }
        };
        observe(self.observer.as_ref(), started, &statement, result.is_err());
        Ok(result?)
    }

    /// Runs statements without parameters in a transaction that writes.
    pub(super) async fn script(&self, sql: &str) -> Result<(), DbErr> {
        Ok(with(&*self.lease.lock().await, |session| session.script(sql))?)
    }

    /// Commits a transaction that writes. Returns when the commit is durable. The next transaction begins before that,
    /// unless each waits for its own flush. If others wait for their turn, they may join this commit.
    pub(super) async fn commit(self) -> Result<(), DbErr> {
        let mut lease = self.lease.into_inner();
        let home = lease.as_ref().map(|lease| Arc::clone(&lease.home)).ok_or_else(closed)?;
        let others_wait = !self.flushes_each && home.waiting.load(Ordering::Relaxed) > 0;
        let state = |session: &Session| Ok((session.has_changed_many(), others_wait && session.members() + 1 < GROUP));
        let (commit, is_log_long) = match with(&lease, state)? {
            (false, stays_open) => {
                let ended = with(&lease, |session| session.commit(stays_open))?;
                if stays_open {
                    Arc::clone(&home).close_group_later();
                }
                ended
            }
            (true, _) => {
                on_blocking_thread(&mut lease, false, |lease| lease.with(|session| session.commit(false))).await??
            }
        };
        if is_log_long {
            home.begin_checkpoint();
        }
        // The next transaction begins when the lease is dropped.
        if !self.flushes_each {
            drop(lease.take());
        }
        commit.durable().await
    }
}

/// Runs a part of a transaction on the calling thread.
fn with<T>(lease: &Option<Lease>, run: impl FnOnce(&Session) -> Result<T, Failure>) -> Result<T, Failure> {
    lease.as_ref().map_or_else(|| Err(Failure::Reading(closed())), |lease| lease.with(run))
}

impl Connections {
    fn lease(self: &Arc<Self>, place: Option<OwnedSemaphorePermit>, in_transaction: bool) -> Result<Lease, DbErr> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(closed());
        }
        if self.has_failed.as_ref().is_some_and(|has_failed| has_failed.load(Ordering::Relaxed)) {
            return Err(DbErr::Custom(DISK_FAILED.to_owned()));
        }
        // The most recently used connection has the warmest page cache.
        let idle = lock(&self.idle).pop();
        let session = match idle {
            Some(Idle { session, .. }) => session,
            None => match &self.has_failed {
                Some(has_failed) => Session::writing(&self.file, has_failed)?,
                None => Session::reading(&self.file)?,
            },
        };
        Ok(Lease { session: Some(session), home: Arc::clone(self), in_transaction, _place: place })
    }

    /// Commits the group that is open after those that wait for their turn now.
    fn close_group_later(self: Arc<Self>) {
        if self.is_closing.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            let place = Arc::clone(&self.places).acquire_owned().await;
            // Only while nobody else has the place: whoever leaves a group open later must see it.
            self.is_closing.store(false, Ordering::Relaxed);
            let Ok(place) = place else { return };
            match self.lease(Some(place), false) {
                // Its members are told if it fails.
                Ok(lease) => {
                    if let Ok(true) = lease.with(Session::commit_group) {
                        Arc::clone(&self).begin_checkpoint();
                    }
                }
                Err(_) => self.commit_idle(),
            }
        });
    }

    /// Closes the idle connections, and commits the group that is open.
    fn commit_idle(&self) {
        for idle in lock(&self.idle).drain(..) {
            let _ = idle.session.commit_group();
        }
    }

    /// Begins to copy the log into the database's file, unless that is being done. If it fails, the next commit tries
    /// again.
    fn begin_checkpoint(self: Arc<Self>) {
        if self.is_checkpointing.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            let (home, own) = (Arc::clone(&self), Arc::clone(&self.checkpointer).lock_owned().await);
            // The long part, while others write.
            let copied = tokio::task::spawn_blocking(move || home.copy_log(own)).await;
            // What they wrote in the meantime, while nobody writes. The next writer then starts the log over.
            if let Ok(Ok(())) = copied
                && let Ok(place) = Arc::clone(&self.places).acquire_owned().await
                && let Ok(lease) = self.lease(Some(place), false)
            {
                let home = Arc::clone(&self);
                let copy = |session: &Session| {
                    // Its members are told if it fails.
                    let _ = session.commit_group();
                    session.checkpoint()
                };
                let _ = tokio::task::spawn_blocking(move || home.copied(lease.with(copy))).await;
            }
            self.is_checkpointing.store(false, Ordering::Relaxed);
        });
    }

    /// Copies the log through a connection of its own, and flushes the database's file. SQLite does not flush it while
    /// others write.
    fn copy_log(&self, mut own: OwnedMutexGuard<Option<Checkpointer>>) -> Result<(), Failure> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Failure::Reading(closed()));
        }
        let checkpointer = match own.take() {
            Some(checkpointer) => checkpointer,
            None => Checkpointer::open(&self.file)?,
        };
        self.copied(own.insert(checkpointer).copy())
    }

    /// Notes whether the disk has failed to store what was copied. The system reports that only once, so a later success
    /// would prove nothing.
    fn copied(&self, done: Result<(), Failure>) -> Result<(), Failure> {
        done.inspect_err(|failure| {
            if let (Some(has_failed), Some(error)) = (&self.has_failed, failure.of_disk()) {
                tracing::error!(%error, "{FAILED}");
                has_failed.store(true, Ordering::Relaxed);
            }
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        // A connection whose transaction cannot be ended is not reused.
        if thread::panicking() || session.end().is_err() {
            return;
        }
        if self.home.closed.load(Ordering::Relaxed) {
            let _ = session.commit_group();
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
            let (budget, may_stop) = (budget.cloned(), !work.writes);
            let again = move |lease: &Lease| {
                let result = lease.run(&work, &mut *rows, Patience::Any, budget.as_ref());
                (work, rows, result)
            };
            on_blocking_thread(lease, may_stop, again).await?
        }
        done => (work, rows, done),
    };
    observe(observer, started, &work.statement, result.is_err());
    result?;
    Ok(rows)
}

/// Tells the observer, if there is one, of a statement that has ended.
pub(super) fn observe(observer: Option<&Observer>, started: Option<Instant>, statement: &Statement, failed: bool) {
    if let (Some(observer), Some(started)) = (observer, started) {
        observer(&metric::Info { elapsed: started.elapsed(), statement, failed });
    }
}

/// Runs a part of a transaction on a blocking thread. `may_stop` says that a statement which reads is stopped when the
/// future is dropped.
async fn on_blocking_thread<T: Send + 'static>(
    place: &mut Option<Lease>,
    may_stop: bool,
    run: impl FnOnce(&Lease) -> T + Send + 'static,
) -> Result<T, DbErr> {
    let lease = place.take().ok_or_else(closed)?;
    let stop = lease.session.as_ref().filter(|_| may_stop).map(Session::begin_long);
    let mut running = tokio::task::spawn_blocking(move || {
        let done = run(&lease);
        (lease, done)
    });
    // Drop order matters: declared after `running`, so `stop` is dropped first. Until `running` is dropped, it holds
    // the lease. Afterwards another request may use the connection, and a late interrupt would kill its statement.
    let mut stop = stop;
    let (lease, done) = (&mut running).await.map_err(|error| DbErr::Custom(error.to_string()))?;
    stop.iter_mut().for_each(Stop::disarm);
    *place = Some(lease);
    Ok(done)
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
    fn with<T>(&self, run: impl FnOnce(&Session) -> Result<T, Failure>) -> Result<T, Failure> {
        self.session.as_ref().map_or_else(|| Err(Failure::Reading(closed())), run)
    }

    fn run(
        &self,
        work: &Work,
        rows: &mut dyn Collect,
        patience: Patience,
        budget: Option<&Arc<Budget>>,
    ) -> Result<(), Failure> {
        self.with(|session| match patience {
            _ if work.writes => session.write(&work.statement, Some(rows)).map(drop),
            Patience::Little => session.run_quick(work, rows, self.in_transaction, budget),
            Patience::Any => session.run_slow(work, rows, self.in_transaction, budget),
        })
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedded").field(&self.connections.file).finish()
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transaction")
    }
}
