//! One connection to an SQLite file: opens it, runs statements, and stops slow ones.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags};
use sea_orm::{Statement, Value};

use super::group_commit::{Commit, Flushes, Log};
use super::watch::{COUNTED, Stop, Watch};
use crate::budget::Budget;
use crate::db::row::{Collect, Row, Work, over};
use crate::db::{Error, PATIENCE};

/// The page cache of a connection, in KiB. With twice as much, a page of any 100 services takes 1 % less processor time,
/// and eight busy connections 16 MiB more memory.
const CACHE: i64 = 2048;

/// The settings of a connection that writes. The log is truncated to 64 MiB after a burst.
pub(in crate::db) const WRITER: &[(&str, i64)] =
    &[("cache_size", -8192), ("foreign_keys", 1), ("journal_size_limit", 64 << 20)];

/// The number of pages at which the log is checkpointed: late, so that a page written often is copied once. One index
/// block of the log covers 4,062 pages.
pub(in crate::db) const CHECKPOINT: i32 = 4000;

/// A checkpoint waits this long for single statements that read.
const STATEMENTS_END: Duration = Duration::from_secs(1);

/// The rows that a transaction may change and still commit on the calling thread. Each takes about 50 microseconds at
/// most: ten pages that are appended to the log.
const FEW: u64 = 64;

thread_local! {
    /// The pages in the log after a commit, which SQLite passes to a function without a state.
    static PAGES: Cell<Option<i32>> = const { Cell::new(None) };
}

/// The capacity of a connection's prepared statement cache.
const STATEMENTS: usize = 128;

/// An open connection.
pub(in crate::db) struct Connection {
    pub(in crate::db) sqlite: rusqlite::Connection,
    watch: Arc<Watch>,
    /// Of a connection that writes.
    log: Option<Arc<Log>>,
    /// The rows that it had changed when its transaction began.
    changed_before: Cell<u64>,
    /// Whether it has run a slow statement that reads since it was leased.
    has_run_slow: Cell<bool>,
}

/// Why a statement failed.
pub(in crate::db) enum Failure {
    /// It was not started, because it is known to be slow.
    Long,
    Sqlite(rusqlite::Error),
    Reading(Error),
    /// A file could not be flushed.
    Disk(std::io::Error),
}

impl Connection {
    /// Opens a connection that reads.
    pub(in crate::db) fn reading(file: &Path) -> Result<Self, Error> {
        Self::open(file, &[("query_only", 1)]).map_err(Error::of_sqlite)
    }

    /// Opens a connection that writes. If the file has no write-ahead log, it has one from then on.
    pub(in crate::db) fn writing(file: &Path, flushes: &Arc<Flushes>) -> Result<Self, Error> {
        let mut connection = Self::open(file, WRITER).map_err(Error::of_sqlite)?;
        let sqlite = &connection.sqlite;
        sqlite.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).map_err(Error::of_sqlite)?;
        // The log is flushed after a commit, for several at once.
        sqlite.pragma_update(None, "synchronous", 1).map_err(Error::of_sqlite)?;
        // SQLite would checkpoint on the calling thread.
        sqlite.wal_hook(Some(|_, pages| {
            PAGES.set(Some(pages));
            Ok(())
        }));
        // The first read opens the log.
        sqlite.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(Error::of_sqlite)?;
        let log = Log::open(sqlite.path().map_or(file, Path::new), flushes);
        connection.log = Some(Arc::new(log.map_err(|error| Error::fault(format!("the write-ahead log: {error}")))?));
        Ok(connection)
    }

    /// Opens a database in memory, with these tables, and begins a transaction in it.
    pub(in crate::db) fn in_memory(tables: &[String]) -> Result<Self, Failure> {
        let connection = Self::open(Path::new(":memory:"), &[("cache_size", -8192), ("foreign_keys", 0)])?;
        for table in tables {
            connection.watch.allow_any();
            connection.sqlite.execute_batch(table)?;
        }
        connection.begin_write(Duration::ZERO)?;
        Ok(connection)
    }

    /// Runs statements outside of any transaction, such as those that change the connection's settings.
    pub(in crate::db) fn configure(&self, sql: &str) -> Result<(), Failure> {
        self.watch.allow_any();
        Ok(self.sqlite.execute_batch(sql)?)
    }

    /// Opens a connection with these settings besides those of all.
    fn open(file: &Path, settings: &[(&str, i64)]) -> rusqlite::Result<Self> {
        // One thread at a time uses it: the type is not `Sync`.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sqlite = rusqlite::Connection::open_with_flags(file, flags)?;
        sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        sqlite.set_prepared_statement_cache_capacity(STATEMENTS);
        sqlite.busy_timeout(PATIENCE)?;
        sqlite.pragma_update(None, "cache_size", -CACHE)?;
        sqlite.pragma_update(None, "temp_store", "MEMORY")?;
        for (name, value) in settings {
            sqlite.pragma_update(None, name, value)?;
        }
        sqlite.busy_timeout(Duration::ZERO)?;
        let watch = Arc::new(Watch::new());
        let asked = Arc::clone(&watch);
        sqlite.progress_handler(COUNTED, Some(move || asked.is_over()))?;
        Ok(Self { sqlite, watch, log: None, changed_before: Cell::default(), has_run_slow: Cell::default() })
    }

    /// Begins a transaction that writes. `patience` is the time to wait for another process's lock.
    pub(in crate::db) fn begin_write(&self, patience: Duration) -> Result<(), Failure> {
        // What has stopped an earlier statement must not stop these.
        self.watch.allow_any();
        self.sqlite.busy_timeout(patience)?;
        let begun = self.sqlite.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.raw_execute());
        self.sqlite.busy_timeout(Duration::ZERO)?;
        self.changed_before.set(self.sqlite.total_changes());
        begun?;
        Ok(())
    }

    /// Whether the transaction has changed so many rows that its commit must not run on the calling thread.
    pub(in crate::db) fn has_changed_many(&self) -> bool {
        self.sqlite.total_changes().saturating_sub(self.changed_before.get()) > FEW
    }

    /// Runs a statement that writes, to its end: SQLite rolls the whole transaction back if it is interrupted. Returns
    /// the number of rows that it changed, and passes those that it returns to `rows`.
    pub(in crate::db) fn write(&self, statement: &Statement, rows: Option<&mut dyn Collect>) -> Result<u64, Failure> {
        self.begin_uninterrupted()?;
        let mut prepared = self.sqlite.prepare_cached(&statement.sql)?;
        bind(&mut prepared, statement)?;
        match rows {
            Some(rows) => fetch(&mut prepared, None, rows, &mut Charge { budget: None, bytes: 0 })?,
            None => while prepared.raw_query().next()?.is_some() {},
        }
        Ok(self.sqlite.changes())
    }

    /// Runs statements without parameters, to their end.
    pub(in crate::db) fn script(&self, sql: &str) -> Result<(), Failure> {
        self.begin_uninterrupted()?;
        Ok(self.sqlite.execute_batch(sql)?)
    }

    /// Prepares for a statement that must not be interrupted. Fails if SQLite has rolled the transaction back by itself,
    /// as when the disk is full: what came after it would be committed alone.
    fn begin_uninterrupted(&self) -> Result<(), Failure> {
        if self.sqlite.is_autocommit() {
            return Err(Failure::Reading(Error::fault("the transaction was rolled back")));
        }
        self.watch.allow_any();
        Ok(())
    }

    /// Commits the transaction. If that fails, it is rolled back. Returns the commit, and the number of pages in the
    /// log, or 0 if nothing was written.
    pub(in crate::db) fn commit(&self) -> Result<(Commit, i32), Failure> {
        self.begin_uninterrupted()?;
        let log = self.log.as_ref().ok_or_else(|| Failure::Reading(Error::NoConnection))?;
        PAGES.set(None);
        let committed = self.sqlite.prepare_cached("COMMIT").and_then(|mut commit| commit.raw_execute());
        // Report the first error, not that of the rollback.
        committed.inspect_err(|_| drop(self.end()))?;
        let pages = PAGES.take();
        Ok((log.note(pages.is_some()), pages.unwrap_or(0)))
    }

    /// Copies the log into the database's file, as far as nobody reads older pages.
    pub(in crate::db) fn checkpoint(&self) -> Result<(), Failure> {
        self.watch.allow_any();
        Ok(self.sqlite.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
    }

    /// Copies the log into the database's file, and waits until nobody reads from the log, but not for long. Returns
    /// whether that is so: then the next writer starts the log over.
    pub(in crate::db) fn checkpoint_all(&self) -> Result<bool, Failure> {
        self.watch.allow_any();
        self.sqlite.busy_timeout(STATEMENTS_END)?;
        let is_busy = self.sqlite.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, bool>(0));
        self.sqlite.busy_timeout(Duration::ZERO)?;
        Ok(!is_busy?)
    }

    /// Runs a statement while it is quick, without waiting for locks.
    pub(in crate::db) fn run_quick(
        &self,
        work: &Work,
        rows: &mut dyn Collect,
        in_transaction: bool,
        budget: Option<&Arc<Budget>>,
    ) -> Result<(), Failure> {
        self.watch.allow_quick();
        let before = budget.map(|budget| budget.used().rows);
        let done = self.rows(work, rows, in_transaction, budget);
        if let Err(failure) = &done
            && failure.needs_blocking_thread()
        {
            rows.clear();
            if let (Some(budget), Some(before)) = (budget, before) {
                budget.charge_rows_from(before);
            }
        }
        done
    }

    /// Runs a slow statement until its caller gives up or its budget is exhausted. Call [`Self::begin_long`] first.
    pub(in crate::db) fn run_slow(
        &self,
        work: &Work,
        rows: &mut dyn Collect,
        in_transaction: bool,
        budget: Option<&Arc<Budget>>,
    ) -> Result<(), Failure> {
        self.has_run_slow.set(true);
        self.watch.charge(budget.map(Budget::slice));
        let done = self.sqlite.busy_timeout(PATIENCE).map_err(Failure::Sqlite);
        let done = done.and_then(|()| self.rows(work, rows, in_transaction, budget));
        let patient = self.sqlite.busy_timeout(Duration::ZERO).map_err(Failure::Sqlite);
        self.watch.charge(None);
        patient.and(done)
    }

    fn rows(
        &self,
        work: &Work,
        rows: &mut dyn Collect,
        in_transaction: bool,
        budget: Option<&Arc<Budget>>,
    ) -> Result<(), Failure> {
        if in_transaction && self.sqlite.is_autocommit() {
            self.sqlite.prepare_cached("BEGIN").and_then(|mut begin| begin.raw_execute()).map_err(Failure::Sqlite)?;
        }
        let mut statement = self.sqlite.prepare_cached(&work.statement.sql).map_err(Failure::Sqlite)?;
        bind(&mut statement, &work.statement)?;
        let mut charge = Charge { budget, bytes: 0 };
        if work.keys.is_empty() {
            fetch(&mut statement, None, rows, &mut charge)?;
        }
        for key in &work.keys {
            statement.raw_bind_parameter(1, key).map_err(Failure::Sqlite)?;
            fetch(&mut statement, Some(*key), rows, &mut charge)?;
        }
        charge.all()
    }

    /// Prepares for a slow statement and returns the handle that stops it.
    pub(in crate::db) fn begin_long(&self) -> Stop {
        self.watch.allow_slow(self.sqlite.get_interrupt_handle())
    }

    /// Rolls the transaction back, if there is one. After a slow statement the page cache is emptied: it is full of
    /// pages that the next request does not read, and each connection would keep its own.
    pub(in crate::db) fn end(&self) -> rusqlite::Result<()> {
        // What has stopped an earlier statement must not stop these.
        self.watch.allow_any();
        if !self.sqlite.is_autocommit() {
            self.sqlite.prepare_cached("ROLLBACK")?.raw_execute()?;
        }
        if self.has_run_slow.replace(false) {
            self.sqlite.release_memory()?;
        }
        Ok(())
    }
}

fn bind(prepared: &mut rusqlite::Statement<'_>, statement: &Statement) -> rusqlite::Result<()> {
    let values = statement.values.iter().flat_map(|values| &values.0);
    values.enumerate().try_for_each(|(place, value)| prepared.raw_bind_parameter(place + 1, Bound(value)))
}

fn fetch(
    statement: &mut rusqlite::Statement<'_>,
    key: Option<i64>,
    rows: &mut dyn Collect,
    charge: &mut Charge<'_>,
) -> Result<(), Failure> {
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(Failure::Sqlite)? {
        charge.row(rows.row(&Row::of_file(row, key)).map_err(Failure::Reading)?)?;
    }
    Ok(())
}

/// Charges rows to a budget, several at a time: other threads read the budget, so each charge is a locked instruction.
struct Charge<'b> {
    budget: Option<&'b Arc<Budget>>,
    /// What is still to be charged.
    bytes: usize,
}

impl Charge<'_> {
    /// The bytes after which they are charged. A request exceeds its budget by less than this and one row.
    const BATCH: usize = 16_384;

    fn row(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes += bytes;
        if self.bytes < Self::BATCH { Ok(()) } else { self.all() }
    }

    fn all(&mut self) -> Result<(), Failure> {
        let bytes = std::mem::take(&mut self.bytes);
        let charged = self.budget.map_or(Ok(()), |budget| budget.charge_rows(bytes));
        charged.map_err(|excess| Failure::Reading(over(excess)))
    }
}

/// Binds a value in SQLite.
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
                let why = format!("{other:?} cannot be bound to a statement that reads");
                return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
            }
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl Failure {
    /// Whether the statement may succeed on a blocking thread.
    pub(in crate::db) fn needs_blocking_thread(&self) -> bool {
        match self {
            Self::Long => true,
            Self::Sqlite(error) => {
                matches!(error.sqlite_error_code(), Some(ErrorCode::OperationInterrupted | ErrorCode::DatabaseBusy))
            }
            Self::Reading(_) | Self::Disk(_) => false,
        }
    }

    /// How the disk has failed to read or write, if it has.
    pub(in crate::db) fn of_disk(&self) -> Option<String> {
        match self {
            Self::Disk(error) => Some(error.to_string()),
            Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
                Some(error.to_string())
            }
            Self::Sqlite(_) | Self::Long | Self::Reading(_) => None,
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Sqlite(cause) => Error::of_sqlite(cause),
            Failure::Reading(error) => error,
            Failure::Disk(error) => Error::fault(error.to_string()),
            Failure::Long => Error::fault("a statement was not started"),
        }
    }
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
        let connection = Connection::reading(&file).expect("a connection");
        let mut statement =
            connection.sqlite.prepare("SELECT id FROM row WHERE id > ? ORDER BY id LIMIT ?").expect("a statement");
        for (place, limit) in (0..1000_i64).zip(0..1000_i64) {
            statement.raw_bind_parameter(1, place).expect("a place");
            statement.raw_bind_parameter(2, limit).expect("a limit");
            assert!(statement.raw_query().next().expect("no row").is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
