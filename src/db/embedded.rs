//! Reads an SQLite file in place: on the thread that asks.
//!
//! A row out of the page cache takes less than a microsecond, and to be handed each statement and each row by another
//! thread, as sqlx does it, costs ten times as much. So a statement is begun where it is asked for. When it turns out to
//! be more than a little work, or the file is locked, it is begun again on a thread that may be kept waiting, so that no
//! request waits for another's search through the whole catalogue. There it is interrupted as soon as nobody waits for
//! it any more: a caller who drops the future, at a time limit for example, need not do more.
//!
//! Writing is left to sqlx, and to [`super`] which connections there are beside these.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, InterruptHandle, OpenFlags};
use sea_orm::sqlx::error::{DatabaseError, ErrorKind};
use sea_orm::{DbErr, RuntimeErr, Value, metric, sqlx};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::read::{Row, Work};
use super::{PATIENCE, Pool};

/// Transactions at a time. Requests that are answered in place need as many as there are threads; the others are for
/// those that take their time.
const SNAPSHOTS: usize = 6;

/// Connections that are kept open. Beside the transactions' there are some for single statements, which never wait for
/// a place: a token is looked up, and a deploy taken in, however many long queries run.
const CONNECTIONS: usize = SNAPSHOTS + 2;

/// The page cache of a connection, in KiB.
const CACHE: i64 = 8192;

/// Prepared statements of a connection.
const STATEMENTS: usize = 128;

/// The steps of SQLite's machine that a statement may take in place: a quarter of a millisecond or so. A page of a
/// hundred rows takes a tenth of them.
const STEPS: i64 = 50_000;

/// How many steps are counted at once.
const COUNTED: i32 = 1000;

pub(super) type Observer = Arc<dyn Fn(&metric::Info<'_>) + Send + Sync>;

/// The connections to one file.
#[derive(Clone)]
pub struct Embedded {
    connections: Arc<Connections>,
    pub(super) observer: Option<Observer>,
}

struct Connections {
    file: PathBuf,
    idle: Mutex<Vec<Session>>,
    snapshots: Arc<Semaphore>,
    closed: AtomicBool,
}

/// A transaction that reads, begun with its first statement and over when it is dropped.
pub struct Snapshot {
    /// Always there, but for the moments when it is lent to a thread for blocking work.
    lease: tokio::sync::Mutex<Option<Lease>>,
    observer: Option<Observer>,
}

/// An open connection.
struct Session {
    sqlite: rusqlite::Connection,
    /// What is left of the steps that the statement may take.
    steps: Arc<AtomicI64>,
}

/// The use of a connection; given back when it is dropped.
struct Lease {
    session: Option<Session>,
    home: Arc<Connections>,
    /// Whether statements see the state of the first.
    in_transaction: bool,
    _place: Option<OwnedSemaphorePermit>,
}

/// Why a statement has no answer.
enum Failure {
    /// It has not been begun.
    Long,
    Sqlite(rusqlite::Error),
    Reading(DbErr),
}

impl Embedded {
    /// Connections to a file that is there. None is opened before it is needed.
    pub(super) fn new(file: PathBuf) -> Self {
        let connections = Connections {
            file,
            idle: Mutex::default(),
            snapshots: Arc::new(Semaphore::new(SNAPSHOTS)),
            closed: AtomicBool::new(false),
        };
        Self { connections: Arc::new(connections), observer: None }
    }

    /// Begins a transaction; waits while there are too many.
    pub(super) async fn begin(&self) -> Result<Snapshot, DbErr> {
        let place = Arc::clone(&self.connections.snapshots).acquire_owned().await.map_err(|_| closed())?;
        let lease = self.connections.lease(Some(place))?;
        Ok(Snapshot { lease: tokio::sync::Mutex::new(Some(lease)), observer: self.observer.clone() })
    }

    /// The rows of a statement, outside of any transaction.
    pub(super) async fn rows<T, F>(&self, work: Work, read: F) -> Result<Vec<T>, DbErr>
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        let mut lease = Some(self.connections.lease(None)?);
        rows(&mut lease, self.observer.as_ref(), work, read).await
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
    pub(super) async fn rows<T, F>(&self, work: Work, read: F) -> Result<Vec<T>, DbErr>
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        rows(&mut *self.lease.lock().await, self.observer.as_ref(), work, read).await
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
            Some(session) => session,
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
            idle.push(session);
        }
    }
}

/// Runs a statement: in place, or else where it may take its time.
async fn rows<T, F>(
    lease: &mut Option<Lease>,
    observer: Option<&Observer>,
    work: Work,
    read: F,
) -> Result<Vec<T>, DbErr>
where
    T: Send + 'static,
    F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
{
    let started = observer.map(|_| Instant::now());
    let in_place = match lease {
        Some(lease) if !work.is_long => lease.run(&work, &read, Patience::Little),
        Some(_) => Err(Failure::Long),
        None => Err(Failure::Reading(closed())),
    };
    let (work, result) = match in_place {
        Err(failure) if failure.is_for_now() => elsewhere(lease, work, read).await?,
        done => (work, done),
    };
    if let (Some(observer), Some(started)) = (observer, started) {
        let statement = &work.statement;
        observer(&metric::Info { elapsed: started.elapsed(), statement, failed: result.is_err() });
    }
    Ok(result?)
}

/// Runs a statement on a thread that may be kept waiting.
async fn elsewhere<T, F>(
    place: &mut Option<Lease>,
    work: Work,
    read: F,
) -> Result<(Work, Result<Vec<T>, Failure>), DbErr>
where
    T: Send + 'static,
    F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
{
    let lease = place.take().ok_or_else(closed)?;
    let stop = lease.session.as_ref().map(Session::unlimited);
    let mut running = tokio::task::spawn_blocking(move || {
        let result = lease.run(&work, &read, Patience::Any);
        (lease, work, result)
    });
    // Dropped before what is running, which then may give the connection to another.
    let mut stop = Stop(stop);
    let (lease, work, result) = (&mut running).await.map_err(|error| DbErr::Custom(error.to_string()))?;
    stop.0 = None;
    *place = Some(lease);
    Ok((work, result))
}

/// Stops a statement when it is dropped, unless that is over.
struct Stop(Option<(Arc<AtomicI64>, InterruptHandle)>);

impl Drop for Stop {
    fn drop(&mut self) {
        if let Some((steps, handle)) = &self.0 {
            // Should it not have begun, it will not get far; what is a single step, however long, has to be interrupted.
            steps.store(0, Ordering::Relaxed);
            handle.interrupt();
        }
    }
}

/// How long a statement may keep its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// [`STEPS`], and it waits for no lock.
    Little,
    /// As long as somebody waits for its answer.
    Any,
}

impl Lease {
    fn run<T, F>(&self, work: &Work, read: &F, patience: Patience) -> Result<Vec<T>, Failure>
    where
        F: Fn(&Row<'_>) -> Result<T, DbErr>,
    {
        let Some(session) = &self.session else { return Err(Failure::Reading(closed())) };
        if patience == Patience::Little {
            session.steps.store(STEPS, Ordering::Relaxed);
            return session.rows(work, read, self.in_transaction);
        }
        session.sqlite.busy_timeout(PATIENCE).map_err(Failure::Sqlite)?;
        let rows = session.rows(work, read, self.in_transaction);
        session.sqlite.busy_timeout(Duration::ZERO).map_err(Failure::Sqlite)?;
        rows
    }
}

impl Session {
    fn open(file: &Path) -> rusqlite::Result<Self> {
        // One thread at a time uses it, which the type says.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sqlite = rusqlite::Connection::open_with_flags(file, flags)?;
        sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        sqlite.set_prepared_statement_cache_capacity(STATEMENTS);
        sqlite.busy_timeout(PATIENCE)?;
        sqlite.pragma_update(None, "cache_size", -CACHE)?;
        sqlite.pragma_update(None, "temp_store", "MEMORY")?;
        sqlite.pragma_update(None, "query_only", "ON")?;
        sqlite.busy_timeout(Duration::ZERO)?;
        let steps = Arc::new(AtomicI64::new(STEPS));
        let left = Arc::clone(&steps);
        let counted = i64::from(COUNTED);
        sqlite.progress_handler(COUNTED, Some(move || left.fetch_sub(counted, Ordering::Relaxed) < counted))?;
        Ok(Self { sqlite, steps })
    }

    fn rows<T, F>(&self, work: &Work, read: &F, in_transaction: bool) -> Result<Vec<T>, Failure>
    where
        F: Fn(&Row<'_>) -> Result<T, DbErr>,
    {
        if in_transaction && self.sqlite.is_autocommit() {
            self.sqlite.prepare_cached("BEGIN").and_then(|mut begin| begin.raw_execute()).map_err(Failure::Sqlite)?;
        }
        let mut statement = self.sqlite.prepare_cached(&work.statement.sql).map_err(Failure::Sqlite)?;
        for (place, value) in work.statement.values.iter().flat_map(|values| &values.0).enumerate() {
            statement.raw_bind_parameter(place + 1, Bound(value)).map_err(Failure::Sqlite)?;
        }
        let mut found = Vec::new();
        if work.keys.is_empty() {
            fetch(&mut statement, read, &mut found)?;
        }
        for key in &work.keys {
            statement.raw_bind_parameter(1, key).map_err(Failure::Sqlite)?;
            fetch(&mut statement, read, &mut found)?;
        }
        Ok(found)
    }

    /// Lifts the limit of steps, and answers what stops the statement that is run then.
    fn unlimited(&self) -> (Arc<AtomicI64>, InterruptHandle) {
        self.steps.store(i64::MAX, Ordering::Relaxed);
        (Arc::clone(&self.steps), self.sqlite.get_interrupt_handle())
    }

    /// Ends the transaction, if there is one.
    fn end(&self) -> rusqlite::Result<()> {
        if !self.sqlite.is_autocommit() {
            self.sqlite.prepare_cached("ROLLBACK")?.raw_execute()?;
        }
        Ok(())
    }
}

fn fetch<T>(
    statement: &mut rusqlite::Statement<'_>,
    read: &impl Fn(&Row<'_>) -> Result<T, DbErr>,
    found: &mut Vec<T>,
) -> Result<(), Failure> {
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(Failure::Sqlite)? {
        found.push(read(&Row::Embedded(row)).map_err(Failure::Reading)?);
    }
    Ok(())
}

pub(super) fn unreadable(error: rusqlite::Error) -> DbErr {
    DbErr::Type(error.to_string())
}

/// A value as SQLite binds it.
struct Bound<'v>(&'v Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let integer = |number: Option<i64>| number.map_or(ValueRef::Null, ValueRef::Integer);
        let value = match self.0 {
            Value::Bool(value) => integer(value.map(i64::from)),
            Value::Int(value) => integer(value.map(i64::from)),
            Value::BigInt(value) => integer(*value),
            Value::BigUnsigned(Some(value)) => {
                let number = i64::try_from(*value);
                ValueRef::Integer(number.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?)
            }
            Value::Double(value) => value.map_or(ValueRef::Null, ValueRef::Real),
            Value::String(value) => value.as_ref().map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes())),
            Value::Bytes(value) => value.as_ref().map_or(ValueRef::Null, |bytes| ValueRef::Blob(bytes)),
            other => {
                let why = format!("{other:?} is bound to no statement that reads");
                return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
            }
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl Failure {
    /// Whether the statement may succeed when it takes its time.
    fn is_for_now(&self) -> bool {
        match self {
            Self::Long => true,
            Self::Sqlite(error) => {
                matches!(error.sqlite_error_code(), Some(ErrorCode::OperationInterrupted | ErrorCode::DatabaseBusy))
            }
            Self::Reading(_) => false,
        }
    }
}

impl From<Failure> for DbErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Sqlite(cause) => error(cause),
            Failure::Reading(error) => error,
            Failure::Long => DbErr::Custom("a statement was not begun".to_owned()),
        }
    }
}

fn closed() -> DbErr {
    DbErr::Conn(RuntimeErr::SqlxError(Arc::new(sqlx::Error::PoolClosed)))
}

fn error(cause: rusqlite::Error) -> DbErr {
    match cause {
        rusqlite::Error::SqliteFailure(code, message) => {
            let message = message.unwrap_or_else(|| code.to_string());
            let answer = Answer { code: code.extended_code, message };
            DbErr::Query(RuntimeErr::SqlxError(Arc::new(sqlx::Error::Database(Box::new(answer)))))
        }
        cause => DbErr::Query(RuntimeErr::Internal(cause.to_string())),
    }
}

/// What SQLite says, told as sqlx tells it.
#[derive(Debug)]
pub(super) struct Answer {
    code: i32,
    message: String,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) {}", self.code, self.message)
    }
}

impl std::error::Error for Answer {}

impl DatabaseError for Answer {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.to_string().into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_prepared_statement_stays_prepared_whatever_is_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rows.db");
        let made =
            rusqlite::Connection::open(&file).and_then(|made| made.execute_batch("CREATE TABLE row (id INTEGER)"));
        made.expect("a table");
        let session = Session::open(&file).expect("a connection");
        let mut statement =
            session.sqlite.prepare("SELECT id FROM row WHERE id > ? ORDER BY id LIMIT ?").expect("a statement");
        for (place, limit) in (0..1000_i64).zip(0..1000_i64) {
            statement.raw_bind_parameter(1, place).expect("a place");
            statement.raw_bind_parameter(2, limit).expect("a limit");
            assert!(statement.raw_query().next().expect("no row").is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
