//! Reads and writes an SQLite file on the calling thread.
//!
//! Reading a cached row takes less than a microsecond. Passing each statement and row through another thread costs ten
//! times as much. So a statement starts on the calling thread. If it turns out to be slow, or the file is locked, it
//! starts over on a blocking thread, so that one request's full scan does not delay the others. Dropping the future
//! cancels the statement there (`sqlite3_interrupt`). That is all a caller has to do at its deadline.
//!
//! A statement that writes cannot start over. It runs on the calling thread only if it stores few rows, and so does the
//! commit of a transaction that has changed few. Only [`super::group_commit`] and checkpoints wait for the disk, on
//! blocking threads.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::Statement;

use super::connection::{CHECKPOINT, Connection, Failure};
use super::log_length::LogLength;
use super::pool::{Connections, Lease};
use super::watch::Stop;
use crate::budget::Budget;
use crate::db::observer::{Observer, observe};
use crate::db::row::{Collect, Work, over};
use crate::db::{Error, PATIENCE, Pool};

/// The connections to one file.
#[derive(Clone)]
pub struct Embedded {
    connections: Arc<Connections>,
    pub(in crate::db) observer: Option<Observer>,
    /// Whether a transaction that writes begins only when the one before it is durable.
    pub(in crate::db) flushes_each: bool,
}

/// A transaction, rolled back when dropped. One that reads begins with its first statement.
pub struct Transaction {
    /// `None` only while a blocking thread has it.
    lease: tokio::sync::Mutex<Option<Lease>>,
    observer: Option<Observer>,
    flushes_each: bool,
}

impl Embedded {
    /// Creates the pool of connections that read an existing file. Opens them on demand. Must be called within a tokio
    /// runtime.
    pub(in crate::db) fn reading(file: PathBuf) -> Self {
        Self { connections: Connections::reading(file), observer: None, flushes_each: false }
    }

    /// Creates the connection that writes to an existing file, which `readers` read. Opens it on demand, and keeps it.
    pub(in crate::db) fn writing(file: PathBuf, readers: &Self) -> Self {
        let log = LogLength::new(Arc::clone(&readers.connections), CHECKPOINT);
        Self { connections: Connections::writing(file, log), observer: None, flushes_each: false }
    }

    /// Opens the connection that writes, unless it is open. The log exists as long as it is.
    pub(in crate::db) async fn open(&self) -> Result<(), Error> {
        self.connections.lend_in_turn().await.map(drop)
    }

    /// Runs statements that change the settings of the connection that writes, between two transactions.
    pub(in crate::db) async fn configure(&self, sql: &str) -> Result<(), Error> {
        let lease = self.connections.lend_in_turn().await?;
        Ok(lease.with(|connection| connection.configure(sql))?)
    }

    /// Begins a transaction that reads. Waits for a permit if there are too many.
    pub(in crate::db) async fn begin(&self) -> Result<Transaction, Error> {
        let lease = self.connections.lend().await?;
        Ok(self.transaction(Some(lease)))
    }

    /// Begins a transaction that writes, after the one before it.
    pub(in crate::db) async fn begin_write(&self) -> Result<Transaction, Error> {
        let mut lease = Some(self.connections.lend_in_turn().await?);
        match with(&lease, |connection| connection.begin_write(Duration::ZERO)) {
            Err(failure) if failure.needs_blocking_thread() => {
                let begin = |lease: &Lease| lease.with(|connection| connection.begin_write(PATIENCE));
                on_blocking_thread(&mut lease, false, begin).await??;
            }
            begun => begun?,
        }
        Ok(self.transaction(lease))
    }

    fn transaction(&self, lease: Option<Lease>) -> Transaction {
        let (lease, observer) = (tokio::sync::Mutex::new(lease), self.observer.clone());
        Transaction { lease, observer, flushes_each: self.flushes_each }
    }

    /// Runs a statement outside of any transaction and returns its rows.
    pub(in crate::db) async fn rows(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
        let mut lease = Some(self.connections.lend_at_once()?);
        run(&mut lease, self.observer.as_ref(), work, rows, None).await
    }

    /// The state of the pool.
    pub(in crate::db) fn pool(&self, name: &'static str) -> Pool {
        self.connections.state(name)
    }

    /// Waits for all transactions to end, then closes all connections.
    pub(in crate::db) async fn close(&self) {
        self.connections.close().await;
    }
}

impl Transaction {
    /// Begins a transaction on a new database in memory, which has these tables and is lost with the transaction.
    pub(in crate::db) async fn in_memory(tables: &'static [String]) -> Result<Self, Error> {
        let opened = tokio::task::spawn_blocking(move || Connection::in_memory(tables)).await;
        let connection = opened.map_err(|error| Error::fault(error.to_string()))??;
        let lease = tokio::sync::Mutex::new(Some(Lease::alone(connection)));
        Ok(Self { lease, observer: None, flushes_each: false })
    }

    /// Runs a statement and returns its rows.
    pub(in crate::db) async fn rows(
        &self,
        work: Work,
        rows: Box<dyn Collect>,
        budget: Option<&Arc<Budget>>,
    ) -> Result<Box<dyn Collect>, Error> {
        run(&mut *self.lease.lock().await, self.observer.as_ref(), work, rows, budget).await
    }

    /// Runs a statement that writes, and returns the number of rows that it changed.
    pub(in crate::db) async fn change(&self, statement: Statement) -> Result<u64, Error> {
        let mut lease = self.lease.lock().await;
        let started = self.observer.as_ref().map(|_| Instant::now());
        let work = Work::writing(statement, false);
        let (statement, result) = match work.is_long {
            false => {
                let result = with(&lease, |connection| connection.write(&work.statement, None));
                (work.statement, result)
            }
            true => {
                let change = move |lease: &Lease| {
                    let result = lease.with(|connection| connection.write(&work.statement, None));
                    (work.statement, result)
                };
                on_blocking_thread(&mut lease, false, change).await?
            }
        };
        observe(self.observer.as_ref(), started, &statement, result.is_err());
        Ok(result?)
    }

    /// Runs statements without parameters in a transaction that writes.
    pub(in crate::db) async fn script(&self, sql: &str) -> Result<(), Error> {
        Ok(with(&*self.lease.lock().await, |connection| connection.script(sql))?)
    }

    /// Commits a transaction that writes. Returns when the commit is durable. The next transaction begins before that,
    /// unless each waits for its own flush; `on_written` is called then.
    pub(in crate::db) async fn commit(self, on_written: impl FnOnce()) -> Result<(), Error> {
        let mut lease = self.lease.into_inner();
        let home = lease.as_ref().map(|lease| Arc::clone(&lease.home)).ok_or(Error::NoConnection)?;
        let (commit, pages) = match with(&lease, |connection| Ok(connection.has_changed_many()))? {
            false => with(&lease, Connection::commit)?,
            true => on_blocking_thread(&mut lease, false, |lease| lease.with(Connection::commit)).await??,
        };
        home.begin_checkpoint(pages);
        // The next transaction begins when the lease is dropped.
        if !self.flushes_each {
            drop(lease.take());
            on_written();
        }
        commit.durable().await
    }
}

/// Runs a part of a transaction on the calling thread.
fn with<T>(lease: &Option<Lease>, run: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
    lease.as_ref().map_or_else(|| Err(Failure::Reading(Error::NoConnection)), |lease| lease.with(run))
}

/// Runs a statement on the calling thread, and if that takes too long, on a blocking thread.
async fn run(
    lease: &mut Option<Lease>,
    observer: Option<&Observer>,
    work: Work,
    mut rows: Box<dyn Collect>,
    budget: Option<&Arc<Budget>>,
) -> Result<Box<dyn Collect>, Error> {
    if let Some(excess) = budget.and_then(|budget| budget.exceeded()) {
        return Err(over(excess));
    }
    let started = observer.map(|_| Instant::now());
    let quick = match lease {
        Some(lease) if !work.is_long => lease.run(&work, &mut *rows, Patience::Little, budget),
        Some(_) => Err(Failure::Long),
        None => Err(Failure::Reading(Error::NoConnection)),
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

/// Runs a part of a transaction on a blocking thread. `may_stop` says that a statement which reads is stopped when the
/// future is dropped.
async fn on_blocking_thread<T: Send + 'static>(
    place: &mut Option<Lease>,
    may_stop: bool,
    run: impl FnOnce(&Lease) -> T + Send + 'static,
) -> Result<T, Error> {
    let lease = place.take().ok_or(Error::NoConnection)?;
    let stop = if may_stop { lease.begin_long() } else { None };
    let mut running = tokio::task::spawn_blocking(move || {
        let done = run(&lease);
        (lease, done)
    });
    // Drop order matters: declared after `running`, so `stop` is dropped first. Until `running` is dropped, it holds
    // the lease. Afterwards another request may use the connection, and a late interrupt would kill its statement.
    let mut stop = stop;
    let (lease, done) = (&mut running).await.map_err(|error| Error::fault(error.to_string()))?;
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
    fn run(
        &self,
        work: &Work,
        rows: &mut dyn Collect,
        patience: Patience,
        budget: Option<&Arc<Budget>>,
    ) -> Result<(), Failure> {
        self.with(|connection| match patience {
            _ if work.writes => connection.write(&work.statement, Some(rows)).map(drop),
            Patience::Little => connection.run_quick(work, rows, self.in_transaction, budget),
            Patience::Any => connection.run_slow(work, rows, self.in_transaction, budget),
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
