//! Opens the database: its connections, their settings, and migrations under a lock.
//!
//! This is the only folder that names a backend. Everything else reads through [`Db::read`] or [`Db::begin_read`],
//! writes through [`Db::write`], and does not know whether SQLite or PostgreSQL is behind it. [`read`] reads rows;
//! `migration/` defines the tables.
//!
//! [`read`](mod@read) and [`write`](mod@write) have typed rows, [`transaction`] is what a mutation writes in, and
//! [`record`] what it has changed. [`rehearsal`] is a database in memory, in which a change is tried. [`table`] is what
//! a table says of its rows, and [`dependents`] which tables refer to which, and what is deleted along with a row.
//! [`bulk`] stores very many rows. [`search`] is the index of services, [`find`] that of all nouns, and
//! [`find_refresh`] keeps both up to date.
//!
//! [`row`] and [`cells`] are columns by position, [`shape`] keeps texts of statements, [`copies`] has rows for each
//! parent of a level, [`text`] compares texts, and [`sequence`] gives ids. [`mod@version`] and [`migrating`] migrate.
//! [`mod@url`] says which database a URL names, [`error`] and [`open_error`] what can go wrong, [`writes`] whether the
//! database accepts writes. [`windows`] counts requests over all processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::sea_query::extension::postgres::PgFunc;
use sea_orm::sea_query::{ArrayType, Expr, ExprTrait, SelectStatement};
use sea_orm::{ColumnTrait, DbBackend, Value, metric};

use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::budget::Budget;
use crate::spans;

mod bulk;
mod cells;
mod copies;
mod dependents;
pub mod error;
pub mod find;
mod find_refresh;
mod following;
mod lock;
mod migrating;
mod observer;
mod open_error;
mod postgres;
pub mod read;
mod record;
mod rehearsal;
mod row;
mod said;
pub mod search;
mod secret;
mod sequence;
mod shape;
mod sqlite;
mod table;
pub mod text;
mod transaction;
mod url;
mod version;
mod windows;
mod write;
mod writes;

pub use self::url::fault as url_fault;
pub use bulk::{Bulk, Form, Incomplete, Load, Prepared, Rows, Unstored, rows_at_once};
pub use copies::{by_key, sort_by_key, to_each};
pub use dependents::{MOST_AT_ONCE, has_many_dependents, in_order, referring};
pub use error::{Constraint, Error};
pub use following::{Following, Follows};
use observer::Observer;
pub use open_error::OpenError;
use postgres::replica::Replica;
use postgres::server::{Access, Server};
use read::Source;
pub use read::{Backend, OfKeys, Read, ReadHandle, Reader, Snapshot, count_of, scalar};
pub use record::{Change, MOST_CHANGED, Side};
pub use rehearsal::{Before, rehearse};
pub use row::{Column, Omitted, Row, columns_without, select_without};
pub use said::{MayChange, Told};
pub use secret::Secret;
pub use sequence::{attempt, begin_part, end_part, give_ids_after, last_id};
pub use shape::{Build, Shape};
pub use sqlite::backup::backup;
use sqlite::embedded::Embedded;
pub use sqlite::file::Exposed;
pub use sqlite::log_length::LONG_LOG;
pub use table::{AnyRow, AnyTable, Entry, Owner, RowOf, Table, Unrecorded, Word, World, any_table, is_told};
pub use transaction::{Locking, Transaction};
pub use version::{Version, check, migrate, migrate_first, migrate_telling, one_process_at_a_time, version};
pub use windows::{Counted, LONGEST_WINDOW};
pub use write::{Write, WriteHandle};
use writes::Writes;

/// The timeout for another process's lock on SQLite.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of requests that may read concurrently, quick and slow ones. There is a connection for each.
pub const QUICK_READS: usize = 6;
/// See [`QUICK_READS`].
pub const SLOW_READS: usize = 2;

/// An open database. Cheap to clone; all clones share the connections.
#[derive(Clone, Debug)]
pub struct Db {
    place: String,
    read: Reader,
    /// On PostgreSQL, a pool of its own. Otherwise callers that each hold a connection could wait for one another to
    /// return one: a deadlock.
    committed: Reader,
    writer: Writer,
    /// On PostgreSQL only.
    reserved: Option<Server>,
    /// On PostgreSQL only.
    replica: Option<Replica>,
    writes: Arc<Writes>,
}

/// What begins the transactions that write.
#[derive(Clone, Debug)]
enum Writer {
    Server(Server),
    Embedded(Embedded),
}

/// A statement that selects the ids of rows.
#[derive(Debug, Clone)]
pub struct Ids {
    /// Selects the ids, in any order.
    pub select: SelectStatement,
    /// The selected column.
    pub id: Expr,
    /// Whether it may return an id twice.
    pub may_repeat: bool,
    /// The ids of the page that is read, if they are known already.
    pub page: Option<Vec<i64>>,
}

/// The state of a connection pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// The purpose of the pool.
    pub name: &'static str,
    /// Connections in use.
    pub in_use: u32,
    /// Idle connections.
    pub idle: u32,
    /// The maximum number of connections.
    pub most: u32,
}

impl Pool {
    /// The state of a pool of which each connection in use has one of the `places`.
    fn of(name: &'static str, most: u32, places: &Semaphore, idle: impl FnOnce() -> usize) -> Self {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let in_use = most.saturating_sub(count(places.available_permits()));
        Self { name, in_use, idle: Ord::min(count(idle()), most - in_use), most }
    }
}

impl Db {
    /// Connections for reading. On SQLite they cannot write.
    pub fn read(&self) -> &Reader {
        &self.read
    }

    /// Reads committed data while a transaction writes: what others see until it ends. A transaction sees its own
    /// changes, but the audit tells what was before them, and who may make them depends on that too.
    pub fn committed(&self) -> &Reader {
        &self.committed
    }

    /// The same database, in which transactions on SQLite share no flushes: each waits for its own before the next
    /// begins. Benches compare group commit with it.
    pub fn with_a_flush_per_commit(mut self) -> Self {
        if let Writer::Embedded(file) = &mut self.writer {
            file.flushes_each = true;
        }
        self
    }

    /// The same database, through connections that long work never occupies: for tokens, sessions, the webhook and the
    /// readiness check. Its reads end after a few seconds whatever happens.
    pub fn reserved(&self) -> Self {
        match &self.reserved {
            Some(reserved) => Self {
                read: Reader(Source::Server(reserved.clone())),
                writer: Writer::Server(reserved.clone()),
                ..self.clone()
            },
            None => self.clone(),
        }
    }

    /// Begins a read transaction. It sees the database as of its first statement, and ends when dropped. Reads are
    /// charged to `budget`. Without a budget there are no limits.
    pub async fn begin_read(&self, budget: Option<Arc<Budget>>) -> Result<Snapshot, Error> {
        let kind = match &self.read.0 {
            Source::Embedded(file) => read::SnapshotKind::Embedded(Box::new(file.begin().await?)),
            Source::Server(server) => {
                let transaction = server.begin(Access::Read).await?;
                if budget.is_none() {
                    transaction.script(postgres::UNLIMITED).await?;
                }
                read::SnapshotKind::Server(transaction)
            }
        };
        Ok(Snapshot::new(kind, budget))
    }

    /// Like [`Self::begin_read`], for a request that may take a single statement. On PostgreSQL that statement needs no
    /// transaction, which saves most of its round trips. A second statement exhausts the budget
    /// ([`Excess::Statement`](crate::budget::Excess::Statement)): it might see another state, so the request must
    /// restart in a transaction.
    pub async fn read_once(&self, budget: &Arc<Budget>) -> Result<Snapshot, Error> {
        match &self.read.0 {
            Source::Embedded(_) => self.begin_read(Some(Arc::clone(budget))).await,
            Source::Server(server) => {
                Ok(Snapshot::new(read::SnapshotKind::Once(server.once().await?), Some(Arc::clone(budget))))
            }
        }
    }

    /// Begins a write transaction. It is rolled back if dropped without a commit. On SQLite there is one at a time: it
    /// takes the write lock at once, so what it has read stays true until it commits, and it never fails halfway
    /// because another came first. Fails once a newer program has migrated the database so that this one cannot use it.
    pub async fn begin_write(&self) -> Result<Transaction, Error> {
        self.begin_transaction(Access::Write).await
    }

    /// Like [`Self::begin_write`], for a transaction that may end with [`Self::commit_with`].
    pub async fn begin_change(&self) -> Result<Transaction, Error> {
        self.begin_transaction(Access::WriteWithId).await
    }

    async fn begin_transaction(&self, access: Access) -> Result<Transaction, Error> {
        let begun = self.in_span("BEGIN", async {
            self.writes.check_version()?;
            let kind = match &self.writer {
                Writer::Server(server) => transaction::TransactionKind::Server(Box::new(server.begin(access).await?)),
                Writer::Embedded(file) => transaction::TransactionKind::Embedded(Box::new(file.begin_write().await?)),
            };
            Ok(Transaction::new(kind))
        });
        begun.await.inspect_err(|error| self.note_failed_write(error))
    }

    async fn in_span<T>(&self, text: &str, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let span = spans::statement(system(self.read.backend()), text, 1);
        span.instrument(work).await.inspect_err(|_| span.returned(None))
    }

    /// Commits a transaction from [`Db::begin_write`]. If the server does not confirm it, the error
    /// [is uncertain](Error::Uncertain).
    pub async fn commit(&self, transaction: Transaction) -> Result<(), Error> {
        self.commit_and(transaction, || ()).await
    }

    /// Like [`Self::commit`]. Calls `on_written` as soon as the transaction only waits for the disk and the next one can
    /// begin. On PostgreSQL that is never known.
    pub async fn commit_and(&self, transaction: Transaction, on_written: impl FnOnce() + Send) -> Result<(), Error> {
        let committed = self.in_span("COMMIT", async {
            match transaction.kind {
                transaction::TransactionKind::Server(transaction) => transaction.commit().await,
                transaction::TransactionKind::Embedded(transaction) => transaction.commit(on_written).await,
            }
        });
        let committed = committed.await;
        self.writes.note(committed.as_ref().copied());
        committed
    }

    /// Rolls a transaction from [`Db::begin_write`] back. A server that does not respond rolls it back by itself.
    pub async fn roll_back(&self, transaction: Transaction) -> Result<(), Error> {
        match transaction.kind {
            transaction::TransactionKind::Server(transaction) => transaction.roll_back().await,
            // It is rolled back when it is dropped.
            transaction::TransactionKind::Embedded(_) => Ok(()),
        }
    }

    /// Runs a part of a write transaction. On PostgreSQL, it ends at the deadline: the server may have stopped
    /// responding. SQLite always responds.
    pub async fn until<T, E: From<Error>>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        match self.read.backend() {
            DbBackend::Postgres => {
                let late = |_| Err(Error::Stalled.into());
                timeout_at(deadline.into(), work).await.unwrap_or_else(late)
            }
            _ => work.await,
        }
    }

    /// Runs `work` in a transaction of [`Db::begin_write`]. Commits if it succeeds and rolls back if it fails.
    pub async fn write<T, E: From<Error>>(&self, work: impl AsyncFnOnce(&Transaction) -> Result<T, E>) -> Result<T, E> {
        let transaction = self.begin_write().await?;
        match work(&transaction).await {
            Ok(done) => {
                self.commit(transaction).await?;
                Ok(done)
            }
            Err(error) => {
                // Report the first error, not that of the rollback.
                let _ = self.roll_back(transaction).await;
                Err(error)
            }
        }
    }

    /// The state of the connection pools.
    pub fn pools(&self) -> Vec<Pool> {
        match (&self.read.0, &self.writer) {
            (Source::Embedded(file), Writer::Embedded(writer)) => vec![file.pool("read"), writer.pool("write")],
            (_, Writer::Server(all)) => {
                let reserved = self.reserved.as_ref().map(|reserved| reserved.pool("reserved"));
                let replica = self.replica.as_ref().map(|replica| replica.server.pool("replica"));
                [Some(all.pool("all")), reserved, replica].into_iter().flatten().collect()
            }
            (Source::Server(_), Writer::Embedded(_)) => Vec::new(),
        }
    }

    /// Where the database is, for messages: the absolute path of its file, or its hosts and name.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The files of an SQLite database that other users can read. They hold secrets: the URLs of deploy endpoints.
    pub fn readable_by_others(&self) -> Vec<Exposed> {
        if self.read.is_embedded() { sqlite::file::exposed(Path::new(&self.place)) } else { Vec::new() }
    }

    /// Calls `observer` after every statement. Does not affect clones made earlier.
    pub fn observe(&mut self, observer: impl Fn(&metric::Info<'_>) + Clone + Send + Sync + 'static) {
        let observer: Observer = Arc::new(observer);
        for reader in [&mut self.read, &mut self.committed] {
            reader.observe(&observer);
        }
        match &mut self.writer {
            Writer::Server(server) => server.observer = Some(Arc::clone(&observer)),
            Writer::Embedded(file) => file.observer = Some(Arc::clone(&observer)),
        }
        let replica = self.replica.as_mut().map(|replica| &mut replica.server);
        for server in [self.reserved.as_mut(), replica].into_iter().flatten() {
            server.observer = Some(Arc::clone(&observer));
        }
    }

    /// Opens a span for every statement outside of [`Read`]. Does not affect clones made earlier.
    pub fn trace(&mut self) {
        self.observe(|done| {
            let (system, text) = (system(done.statement.db_backend), &done.statement.sql);
            spans::statement_done(system, text, done.elapsed, done.failed);
        });
    }

    /// Waits for running work, then closes all connections.
    pub async fn close(&self) -> Result<(), Error> {
        for reader in [&self.read, &self.committed] {
            reader.close().await;
        }
        match &self.writer {
            Writer::Server(server) => server.close().await,
            Writer::Embedded(file) => file.close().await,
        }
        // Its watcher uses the reserved connections.
        if let Some(replica) = &self.replica {
            replica.close().await;
        }
        if let Some(reserved) = &self.reserved {
            reserved.close().await;
        }
        Ok(())
    }
}

/// Opens the database at `sqlite://FILE` or `postgres://USER:PASSWORD@HOST/DATABASE`, without reading its contents.
/// Creates a missing file.
pub async fn connect(url: &str) -> Result<Db, OpenError> {
    match url.split_once(':') {
        Some(("sqlite", _)) => sqlite::open(url).await,
        _ => postgres::open(url.parse()?).await,
    }
}

/// The absolute path of an SQLite database's file. `None` for a server or an invalid URL.
pub fn file(url: &str) -> Option<PathBuf> {
    Some(sqlite::file::absolute(&sqlite::file_of(url)?))
}

/// Returns [`file`] if nothing exists there. A file in a folder that this user cannot read may exist.
pub fn missing_file(url: &str) -> Option<PathBuf> {
    file(url).filter(|file| matches!(fs::exists(file), Ok(false)))
}

/// Whether there is only one writer at a time, so that what a transaction has read stays true until it ends.
pub fn has_one_writer(db: &dyn Backend) -> bool {
    db.backend() != DbBackend::Postgres
}

/// Whether a statement can read some rows for each row of another table (`LATERAL`).
pub fn joins_laterally(db: &dyn Backend) -> bool {
    db.backend() == DbBackend::Postgres
}

/// The database's name in the OpenTelemetry semantic conventions.
fn system(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "postgresql",
        _ => "sqlite",
    }
}

/// The column as an expression that SQLite looks up in no index. SQLite keeps no statistics here: of two conditions it
/// may look up the one that most rows meet. PostgreSQL chooses by its statistics.
pub fn unindexed(db: &dyn Backend, column: impl ColumnTrait) -> Expr {
    let column = Expr::col(column.as_column_ref());
    match db.backend() {
        DbBackend::Postgres => column,
        _ => Expr::cust_with_exprs("+?", [column]),
    }
}

/// The condition that `column` is one of `ids`. It binds a single parameter, so that the text of the prepared statement
/// is the same for any number of ids.
pub fn any(db: &dyn Backend, column: impl ColumnTrait, ids: &[i64]) -> Expr {
    is_any(db.backend(), Expr::col(column.as_column_ref()), ids)
}

/// Like [`any`], for any expression.
pub fn is_any(backend: DbBackend, column: Expr, ids: &[i64]) -> Expr {
    let ids = Expr::value(list(backend, ids));
    match backend {
        DbBackend::Postgres => column.eq(PgFunc::any(ids)),
        _ => Expr::cust_with_exprs("? IN (SELECT value FROM json_each(?))", [column, ids]),
    }
}

/// Binds the numbers as one value: an array, or JSON on SQLite.
fn list(backend: DbBackend, ids: &[i64]) -> Value {
    match backend {
        DbBackend::Postgres => {
            Value::Array(ArrayType::BigInt, Some(Box::new(ids.iter().map(|id| Value::from(*id)).collect())))
        }
        _ => {
            let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
            format!("[{}]", ids.join(",")).into()
        }
    }
}

/// The condition that `column` is one of `bytes`, and the value that it binds. For PostgreSQL only.
pub fn any_bytes<const LENGTH: usize>(column: impl ColumnTrait, bytes: &[[u8; LENGTH]]) -> (Expr, Value) {
    let bytes = bytes.iter().map(|bytes| Value::from(&bytes[..])).collect();
    let list = Value::Array(ArrayType::Bytes, Some(Box::new(bytes)));
    (Expr::col(column.as_column_ref()).eq(PgFunc::any(Expr::value(list.clone()))), list)
}

/// Like [`any`], for texts.
pub fn any_text(db: &dyn Backend, column: impl ColumnTrait, texts: &[&str]) -> Expr {
    is_any_text(db.backend(), Expr::col(column.as_column_ref()), texts)
}

/// Like [`any_text`], for any expression.
pub fn is_any_text(backend: DbBackend, column: Expr, texts: &[&str]) -> Expr {
    match backend {
        DbBackend::Postgres => {
            let texts = texts.iter().map(|text| Value::from(*text)).collect();
            column.eq(PgFunc::any(Expr::value(Value::Array(ArrayType::String, Some(Box::new(texts))))))
        }
        _ => {
            let texts = serde_json::Value::from(texts).to_string();
            Expr::cust_with_exprs("? IN (SELECT value FROM json_each(?))", [column, Expr::value(texts)])
        }
    }
}
