//! Opens the database: its connections, their settings, and migrations under a lock.
//!
//! This is the only folder that names a backend. Everything else reads through [`Db::read`] or [`Db::begin_read`],
//! writes through [`Db::write`], and does not know whether SQLite or PostgreSQL is behind it. [`read`] reads rows;
//! `migration/` defines the tables.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use migration::{Migrator, MigratorTrait};
use sea_orm::sea_query::extension::postgres::PgFunc;
use sea_orm::sea_query::{ArrayType, Expr, ExprTrait, SelectStatement};
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::sqlx::{self, ConnectOptions, Connection as _, Executor, SqliteConnection};
use sea_orm::{
    AccessMode, ColumnTrait, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    IsolationLevel, SqliteTransactionMode, SqlxPostgresConnector, SqlxSqliteConnector, TransactionOptions,
    TransactionTrait, Value, metric,
};

use crate::budget::Budget;
use crate::spans;

mod backup;
mod cells;
mod copies;
mod embedded;
mod file;
pub mod find;
pub mod read;
mod refusal;
mod row;
pub mod search;
mod sequence;
mod session;
mod shape;
pub mod text;
mod writes;

pub use backup::backup;
pub use copies::to_each;
use embedded::{Embedded, Observer};
pub use file::Exposed;
pub use read::{Backend, OfKeys, Read, Reader, Snapshot};
use refusal::busy;
pub use refusal::{OpenError, is_lost_race, refusal};
pub use row::{Row, Table};
pub use sequence::{attempt, give_ids_after, last_id};
pub use shape::Shape;
use writes::Writes;

/// The timeout for another process's lock on SQLite, and for connecting to PostgreSQL.
const PATIENCE: Duration = Duration::from_secs(5);

/// SQLite connections for reads that do not go through [`embedded`]. Each has its own page cache.
const SQLITE_READERS: u32 = 2;

/// The number of requests that may read concurrently, quick and slow ones. There is a connection for each.
pub const QUICK_READS: usize = 6;
/// See [`QUICK_READS`].
pub const SLOW_READS: usize = 2;

/// Connections to PostgreSQL, for readers and writers together.
const POSTGRES_CONNECTIONS: u32 = 10;

/// PostgreSQL connections that read committed data during a write transaction: a few short statements for each write.
const POSTGRES_CONNECTIONS_BESIDE: u32 = 2;

/// The timeout of a statement on PostgreSQL, including waits for locks. An abandoned statement frees its connection
/// after this time at the latest.
const STATEMENT: Duration = Duration::from_secs(60);

/// The key of the advisory lock that migrations hold on PostgreSQL: "rollcall" as an integer.
const MIGRATION_LOCK: i64 = i64::from_be_bytes(*b"rollcall");

/// An open database. Cheap to clone; all clones share the connections.
#[derive(Clone, Debug)]
pub struct Db {
    place: String,
    read: Reader,
    committed: Reader,
    write: DatabaseConnection,
    writes: Arc<Writes>,
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

impl Db {
    /// Connections for reading. On SQLite they cannot write.
    pub fn read(&self) -> &Reader {
        &self.read
    }

    /// Connections that read committed data while the caller has a write transaction open. On PostgreSQL they are a
    /// separate pool. Otherwise callers that each hold a connection could wait for one another to return one: a
    /// deadlock.
    pub fn committed(&self) -> &Reader {
        &self.committed
    }

    /// Begins a read transaction. It sees the database as of its first statement, and ends when dropped. Reads are
    /// charged to `budget`, if there is one.
    pub async fn begin_read(&self, budget: Option<Arc<Budget>>) -> Result<Snapshot, DbErr> {
        if let Some(embedded) = &self.read.embedded {
            return Ok(Snapshot { kind: read::Kind::Embedded(Box::new(embedded.begin().await?)), budget });
        }
        let options = TransactionOptions {
            isolation_level: Some(IsolationLevel::RepeatableRead),
            access_mode: Some(AccessMode::ReadOnly),
            ..TransactionOptions::default()
        };
        let transaction = self.read.pool.begin_with_options(options).await?;
        Ok(Snapshot { kind: read::Kind::Pooled(transaction), budget })
    }

    /// Begins a write transaction. It is rolled back if dropped without a commit. On SQLite there is one at a time: it
    /// takes the write lock at once, so what it has read stays true until it commits, and it never fails halfway
    /// because another came first. Fails once a newer program has migrated the database ([`lacking`]).
    pub async fn begin_write(&self) -> Result<DatabaseTransaction, DbErr> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let span = spans::statement(system(self.write.get_database_backend()), "BEGIN", 1);
        let begun = match self.writes.check_version() {
            Ok(()) => span.around(self.write.begin_with_options(options)).await,
            Err(error) => Err(error),
        };
        begun.inspect_err(|error| {
            span.returned(None);
            self.note_failed_write(error);
        })
    }

    /// Commits a transaction from [`Db::begin_write`].
    pub async fn commit(&self, transaction: DatabaseTransaction) -> Result<(), DbErr> {
        let span = spans::statement(system(self.write.get_database_backend()), "COMMIT", 1);
        let committed = span.around(transaction.commit()).await;
        if committed.is_err() {
            span.returned(None);
        }
        self.writes.note(committed.as_ref().copied());
        committed
    }

    /// Runs `work` in a transaction of [`Db::begin_write`]. Commits if it succeeds and rolls back if it fails.
    pub async fn write<T, E: From<DbErr>>(
        &self,
        work: impl AsyncFnOnce(&DatabaseTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self.begin_write().await?;
        match work(&transaction).await {
            Ok(done) => {
                self.commit(transaction).await?;
                Ok(done)
            }
            Err(error) => {
                // Report the first error, not that of the rollback.
                let _ = transaction.rollback().await;
                Err(error)
            }
        }
    }

    /// The state of the connection pools.
    pub fn pools(&self) -> Vec<Pool> {
        let pool = |name, connection: &DatabaseConnection| {
            let (size, idle, most) = match connection.get_database_backend() {
                DbBackend::Postgres => {
                    let pool = connection.get_postgres_connection_pool();
                    (pool.size(), pool.num_idle(), pool.options().get_max_connections())
                }
                _ => {
                    let pool = connection.get_sqlite_connection_pool();
                    (pool.size(), pool.num_idle(), pool.options().get_max_connections())
                }
            };
            // The two numbers are not read atomically.
            let idle = u32::try_from(idle).unwrap_or(u32::MAX);
            Pool { name, in_use: size.saturating_sub(idle), idle, most }
        };
        match self.read.get_database_backend() {
            DbBackend::Postgres => vec![pool("all", &self.write)],
            _ => {
                let embedded = self.read.embedded.as_ref().map(Embedded::pool);
                [embedded, Some(pool("write", &self.write))].into_iter().flatten().collect()
            }
        }
    }

    /// The files of an SQLite database that other users can read. They hold secrets: the URLs of deploy endpoints.
    pub fn readable_by_others(&self) -> Vec<Exposed> {
        if self.read.embedded.is_some() { file::exposed(Path::new(&self.place)) } else { Vec::new() }
    }

    /// Calls `observer` after every statement. Does not affect clones made earlier.
    pub fn observe(&mut self, observer: impl Fn(&metric::Info<'_>) + Clone + Send + Sync + 'static) {
        self.read.pool.set_metric_callback(observer.clone());
        self.committed.pool.set_metric_callback(observer.clone());
        self.write.set_metric_callback(observer.clone());
        let observer: Observer = Arc::new(observer);
        for reader in [&mut self.read, &mut self.committed] {
            if let Some(embedded) = &mut reader.embedded {
                embedded.observer = Some(Arc::clone(&observer));
            }
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
    pub async fn close(&self) -> Result<(), DbErr> {
        if let Some(embedded) = &self.read.embedded {
            embedded.close().await;
        }
        self.read.pool.close_by_ref().await?;
        self.committed.pool.close_by_ref().await?;
        // Last, so that SQLite checkpoints the write-ahead log.
        self.write.close_by_ref().await
    }
}

/// Opens the database at `sqlite://FILE` or `postgres://USER:PASSWORD@HOST/DATABASE`, without reading its contents.
/// Creates a missing file.
pub async fn connect(url: &str) -> Result<Db, OpenError> {
    match url.split_once(':') {
        Some(("sqlite", _)) => connect_sqlite(url).await,
        Some(("postgres" | "postgresql", _)) => connect_postgres(url).await,
        _ => Err(OpenError::Url),
    }
}

/// Runs pending migrations and returns their number. Of several processes one migrates and the others wait. All
/// migrations run in one transaction, so a failure changes nothing.
pub async fn migrate(db: &Db) -> Result<usize, OpenError> {
    let failed = |error: DbErr| OpenError::of(&db.place, error);
    if lacking(db).await? == 0 {
        return Ok(0);
    }
    let transaction = db.begin_write().await.map_err(failed)?;
    if transaction.get_database_backend() == DbBackend::Postgres {
        // A migration may take longer than the statement timeout on a large database.
        let lock = format!("SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})");
        transaction.execute_unprepared(&lock).await.map_err(failed)?;
    }
    // Check again: another process may have migrated while we waited for the lock.
    let pending = pending(&db.place, Migrator::standing(&transaction).await.map_err(failed)?)?;
    Migrator::up(&transaction, None).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(pending)
}

/// Checks that the database responds and has exactly this program's migrations.
pub async fn check(db: &Db) -> Result<(), OpenError> {
    match lacking(db).await? {
        0 => Ok(()),
        steps => Err(OpenError::of(&db.place, DbErr::Custom(format!("it lacks {steps} migrations")))),
    }
}

/// Returns the number of pending migrations, without running them. If the database has migrations of a newer program,
/// this process stops writing.
pub async fn lacking(db: &Db) -> Result<usize, OpenError> {
    let standing = Migrator::standing(&db.read.pool).await;
    let lacking = pending(&db.place, standing.map_err(|error| OpenError::of(&db.place, error))?);
    db.writes.note_version(matches!(lacking, Err(OpenError::Newer { .. })));
    lacking
}

/// The file of an SQLite database. `None` for a server or an invalid URL.
pub fn file(url: &str) -> Option<PathBuf> {
    let options = SqliteConnectOptions::from_str(url).ok().filter(|_| url.starts_with("sqlite:"))?;
    Some(options.get_filename().to_path_buf())
}

/// Counts pending migrations. Fails if the database is newer than this program.
fn pending(place: &str, standing: migration::Standing) -> Result<usize, OpenError> {
    match standing.unknown.into_iter().next_back() {
        Some(step) => Err(OpenError::Newer { place: place.to_owned(), step }),
        None => Ok(standing.pending),
    }
}

/// Whether there is only one writer at a time, so that what a transaction has read stays true until it ends.
pub fn has_one_writer(db: &impl Backend) -> bool {
    db.backend() != DbBackend::Postgres
}

/// Whether a statement can read some rows for each row of another table (`LATERAL`).
pub fn joins_laterally(db: &impl Backend) -> bool {
    db.backend() == DbBackend::Postgres
}

/// The database's name in the OpenTelemetry semantic conventions.
fn system(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "postgresql",
        _ => "sqlite",
    }
}

/// The condition that `column` is one of `ids`. It binds a single parameter, so that the text of the prepared statement
/// is the same for any number of ids.
pub fn any(db: &impl Backend, column: impl ColumnTrait, ids: &[i64]) -> Expr {
    is_any(db.backend(), Expr::col(column.as_column_ref()), ids)
}

/// The same for any expression.
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

/// The same condition for texts.
pub fn any_text(db: &impl Backend, column: impl ColumnTrait, texts: &[&str]) -> Expr {
    is_any_text(db.backend(), Expr::col(column.as_column_ref()), texts)
}

/// The same for any expression.
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

async fn connect_sqlite(url: &str) -> Result<Db, OpenError> {
    let options = SqliteConnectOptions::from_str(url).map_err(|_| OpenError::Url)?;
    if url.contains(":memory:") || url.contains("mode=memory") {
        return Err(OpenError::Url);
    }
    let file = options.get_filename().to_path_buf();
    let place = file.display().to_string();
    // Ignored: if the file cannot be created, SQLite reports why when it opens it.
    let _ = file::create(&file);
    let options = options
        .create_if_missing(true)
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
        // A commit that was confirmed survives a power cut.
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", "-8192")
        .pragma("temp_store", "MEMORY")
        .statement_cache_capacity(256)
        .disable_statement_logging();
    // Embedded connections do not go stale. Testing, timing out or recycling them would only discard their prepared
    // statements.
    let pool = || SqlitePoolOptions::new().test_before_acquire(false).idle_timeout(None).max_lifetime(None);

    let writer = options
        .clone()
        .journal_mode(SqliteJournalMode::Wal)
        // Checkpoint at this many pages, so that a page written often is copied once. One index block of the log covers
        // 4,062 pages.
        .pragma("wal_autocheckpoint", "4000")
        // The log is truncated to this size after a burst.
        .pragma("journal_size_limit", "67108864");
    let started = Instant::now();
    let write = loop {
        // The writer connects first: it creates the file, and SQLite does not wait for the lock that switching to WAL
        // takes.
        let pool = pool().max_connections(1).after_release(|connection, _| Box::pin(has_no_transaction(connection)));
        match pool.connect_with(writer.clone()).await {
            Ok(pool) => break pool,
            Err(error) if busy(&error) && started.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => return Err(OpenError::of_sqlx(&place, error)),
        }
    };
    let reader = options.pragma("query_only", "ON");
    let read = pool().max_connections(SQLITE_READERS).connect_lazy_with(reader);
    let pool = SqlxSqliteConnector::from_sqlx_sqlite_pool(read);
    let read = Reader { pool, embedded: Some(Embedded::new(file)) };
    Ok(Db {
        place,
        committed: read.clone(),
        read,
        write: SqlxSqliteConnector::from_sqlx_sqlite_pool(write),
        writes: Arc::default(),
    })
}

/// Whether a connection can be reused. When the disk is full, SQLite rolls the transaction back by itself, and the
/// driver believes that it is still open.
async fn has_no_transaction(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // A queued rollback runs before this ping.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

async fn connect_postgres(url: &str) -> Result<Db, OpenError> {
    let options = PgConnectOptions::from_str(url).map_err(|_| OpenError::Url)?;
    let server = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let place = format!("{server}/{}", options.get_database().unwrap_or_default());
    let options = options.application_name("rollcall").statement_cache_capacity(256).disable_statement_logging();
    // JIT compilation takes longer than any of our statements.
    let options = options.options([("jit", "off")]);
    // Connects once outside the pool, because the pool hides why a connection fails.
    match tokio::time::timeout(PATIENCE, PgConnection::connect_with(&options)).await {
        Ok(Ok(connection)) => drop(connection.close().await),
        Ok(Err(error)) => return Err(OpenError::of_sqlx(&place, error)),
        Err(_) => return Err(OpenError::Unreachable { place, why: "it does not respond".to_owned() }),
    }
    let pool = |connections| {
        let pool = PgPoolOptions::new().max_connections(connections).test_before_acquire(false);
        let pool = pool.after_connect(|connection, _| {
            let limit = format!("SET statement_timeout = {}", STATEMENT.as_millis());
            Box::pin(async move { connection.execute(sqlx::AssertSqlSafe(limit)).await.map(drop) })
        });
        SqlxPostgresConnector::from_sqlx_postgres_pool(pool.connect_lazy_with(options.clone()))
    };
    let reader = |pool| Reader { pool, embedded: None };
    let write = pool(POSTGRES_CONNECTIONS);
    let (read, committed) = (reader(write.clone()), reader(pool(POSTGRES_CONNECTIONS_BESIDE)));
    Ok(Db { place, read, committed, write, writes: Arc::default() })
}
