//! Opens the database: its connections and their settings, and its migration under a lock.
//!
//! The only folder that names a backend. Everything else reads from [`Db::read`] or inside [`Db::begin_read`], writes
//! inside [`Db::write`], and does not know whether SQLite or PostgreSQL is behind it. How rows are read is told in
//! [`read`]; what the tables are, in `migration/`.

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
pub mod read;
mod refusal;
mod row;
pub mod search;
mod sequence;
mod session;
mod shape;
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

/// How long a writer of SQLite waits for another process's lock, and a client of PostgreSQL for the server to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Readers of SQLite for what is not read in place. Each keeps its own page cache.
const SQLITE_READERS: u32 = 2;

/// Requests that read at one time, quick ones and slow ones. There are connections for all of them.
pub const QUICK_READS: usize = 6;
/// See [`QUICK_READS`].
pub const SLOW_READS: usize = 2;

/// Connections to PostgreSQL, for readers and writers together.
const POSTGRES_CONNECTIONS: u32 = 10;

/// Connections to PostgreSQL that read what is committed beside a transaction: a few short statements for each write.
const POSTGRES_CONNECTIONS_BESIDE: u32 = 2;

/// How long a statement may take on PostgreSQL, and wait for a lock. When nobody waits for its outcome any more, its
/// connection is free no later than then.
const STATEMENT: Duration = Duration::from_secs(60);

/// "rollcall", as the key of the lock that migrations hold on PostgreSQL.
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

/// Ids of rows, as a statement selects them.
#[derive(Debug, Clone)]
pub struct Ids {
    /// Selects them, in any order.
    pub select: SelectStatement,
    /// The column that it selects.
    pub id: Expr,
    /// Whether it may select an id twice.
    pub may_repeat: bool,
}

/// The connections of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// What they are for.
    pub name: &'static str,
    /// Those that are lent.
    pub in_use: u32,
    /// Those that wait.
    pub idle: u32,
    /// The most that there may be.
    pub most: u32,
}

impl Db {
    /// The connections to read by. On SQLite they refuse to write.
    pub fn read(&self) -> &Reader {
        &self.read
    }

    /// The connections to read by what is committed, beside a transaction that the caller has not ended. On PostgreSQL
    /// they are a pool of their own: a caller that holds a connection must not wait for another one of the same pool, which
    /// others who hold one may be waiting for too.
    pub fn committed(&self) -> &Reader {
        &self.committed
    }

    /// Begins a transaction that only reads, and sees the database as it is at its first statement, whatever is written
    /// meanwhile. Dropped, it is over. What it reads is charged to `budget`, if there is one.
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

    /// Begins a transaction that may write. On SQLite there is one at a time: it takes the write lock at once, so
    /// that what it reads stays true until it commits and it never fails half-way because another came first.
    /// Dropped without a commit, it is rolled back. Fails once a newer program has migrated the database ([`lacking`]).
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

    /// Commits a transaction of [`Db::begin_write`].
    pub async fn commit(&self, transaction: DatabaseTransaction) -> Result<(), DbErr> {
        let span = spans::statement(system(self.write.get_database_backend()), "COMMIT", 1);
        let committed = span.around(transaction.commit()).await;
        if committed.is_err() {
            span.returned(None);
        }
        self.writes.note(committed.as_ref().copied());
        committed
    }

    /// Runs `work` in a transaction of [`Db::begin_write`]: committed when it succeeds, rolled back when it does not.
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
                // What went wrong first is what is to be told.
                let _ = transaction.rollback().await;
                Err(error)
            }
        }
    }

    /// How the connections are used.
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
            // The two are not read at one moment.
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

    /// The files of an SQLite database that other users of the machine may read. The database holds secrets: the
    /// addresses of deploy endpoints.
    pub fn readable_by_others(&self) -> Vec<Exposed> {
        if self.read.embedded.is_some() { file::exposed(Path::new(&self.place)) } else { Vec::new() }
    }

    /// Tells `observer` of every statement, once it has run. Clones that were made before are not observed.
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

    /// Opens a span for every statement that is run outside of [`Read`]. Clones that were made before open none.
    pub fn trace(&mut self) {
        self.observe(|done| {
            let (system, text) = (system(done.statement.db_backend), &done.statement.sql);
            spans::statement_done(system, text, done.elapsed, done.failed);
        });
    }

    /// Closes all connections, once what they are doing is done.
    pub async fn close(&self) -> Result<(), DbErr> {
        if let Some(embedded) = &self.read.embedded {
            embedded.close().await;
        }
        self.read.pool.close_by_ref().await?;
        self.committed.pool.close_by_ref().await?;
        // The last, so that SQLite writes its log back.
        self.write.close_by_ref().await
    }
}

/// Opens the database behind `sqlite://FILE` or `postgres://USER:PASSWORD@HOST/DATABASE`, without looking at what it
/// holds. A file that is missing is created.
pub async fn connect(url: &str) -> Result<Db, OpenError> {
    match url.split_once(':') {
        Some(("sqlite", _)) => connect_sqlite(url).await,
        Some(("postgres" | "postgresql", _)) => connect_postgres(url).await,
        _ => Err(OpenError::Url),
    }
}

/// Brings the database to the newest version and says how many steps that took. Of several processes one does it and
/// the others wait; all steps are one transaction, so that a failure leaves the database as it was.
pub async fn migrate(db: &Db) -> Result<usize, OpenError> {
    let failed = |error: DbErr| OpenError::of(&db.place, error);
    if lacking(db).await? == 0 {
        return Ok(0);
    }
    let transaction = db.begin_write().await.map_err(failed)?;
    if transaction.get_database_backend() == DbBackend::Postgres {
        // What a step takes depends on how much there is.
        let lock = format!("SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})");
        transaction.execute_unprepared(&lock).await.map_err(failed)?;
    }
    // Again, because another process may have been at it until now.
    let pending = pending(&db.place, Migrator::standing(&transaction).await.map_err(failed)?)?;
    Migrator::up(&transaction, None).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(pending)
}

/// Whether the database answers and is of this program's version.
pub async fn check(db: &Db) -> Result<(), OpenError> {
    match lacking(db).await? {
        0 => Ok(()),
        steps => Err(OpenError::of(&db.place, DbErr::Custom(format!("it lacks {steps} migrations")))),
    }
}

/// How many steps the database lacks, without changing it. Once it has steps of a newer program, nothing is written to it
/// any more.
pub async fn lacking(db: &Db) -> Result<usize, OpenError> {
    let standing = Migrator::standing(&db.read.pool).await;
    let lacking = pending(&db.place, standing.map_err(|error| OpenError::of(&db.place, error))?);
    db.writes.note_version(matches!(lacking, Err(OpenError::Newer { .. })));
    lacking
}

/// The file of an SQLite database; nothing for a server, and for a URL that cannot be read.
pub fn file(url: &str) -> Option<PathBuf> {
    let options = SqliteConnectOptions::from_str(url).ok().filter(|_| url.starts_with("sqlite:"))?;
    Some(options.get_filename().to_path_buf())
}

/// How many steps are to be run, unless the database is beyond this program.
fn pending(place: &str, standing: migration::Standing) -> Result<usize, OpenError> {
    match standing.unknown.into_iter().next_back() {
        Some(step) => Err(OpenError::Newer { place: place.to_owned(), step }),
        None => Ok(standing.pending),
    }
}

/// Whether there is but one writer at a time, so that what a transaction has read stays true until its end.
pub fn has_one_writer(db: &impl Backend) -> bool {
    db.backend() != DbBackend::Postgres
}

/// What the semantic conventions call a database.
fn system(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "postgresql",
        _ => "sqlite",
    }
}

/// The condition that `column` is one of `ids`. It binds one parameter, so that the text of the statement, and with it
/// the prepared statement, is the same for a list of any length.
pub fn any(db: &impl Backend, column: impl ColumnTrait, ids: &[i64]) -> Expr {
    is_any(db.backend(), Expr::col(column.as_column_ref()), ids)
}

fn is_any(backend: DbBackend, column: Expr, ids: &[i64]) -> Expr {
    let ids = Expr::value(list(backend, ids));
    match backend {
        DbBackend::Postgres => column.eq(PgFunc::any(ids)),
        _ => Expr::cust_with_exprs("? IN (SELECT value FROM json_each(?))", [column, ids]),
    }
}

/// The numbers as one value: an array, or as JSON.
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

/// The same for texts.
pub fn any_text(db: &impl Backend, column: impl ColumnTrait, texts: &[&str]) -> Expr {
    let column = Expr::col(column.as_column_ref());
    match db.backend() {
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
    // A file that cannot be made is told by SQLite, in its own words.
    let _ = file::create(&file);
    let options = options
        .create_if_missing(true)
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
        // A commit that was answered survives a power cut.
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", "-8192")
        .pragma("temp_store", "MEMORY")
        .statement_cache_capacity(256)
        .disable_statement_logging();
    // Embedded connections do not go stale: none is tested, closed for idleness or replaced for its age, which would
    // throw its prepared statements away.
    let pool = || SqlitePoolOptions::new().test_before_acquire(false).idle_timeout(None).max_lifetime(None);

    let writer = options
        .clone()
        .journal_mode(SqliteJournalMode::Wal)
        // The log is copied back when it has so many pages: one that was written often meanwhile is copied once. What
        // readers look up it by holds 4,062 of them.
        .pragma("wal_autocheckpoint", "4000")
        // What the log may keep on the disk after a burst.
        .pragma("journal_size_limit", "67108864");
    let started = Instant::now();
    let write = loop {
        // The writer first: it makes the file, and nobody can wait for the lock that the change to WAL takes.
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

/// Whether a connection can be used again. When the disk is full, SQLite ends the transaction by itself, and the driver
/// takes it for open ever after.
async fn has_no_transaction(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // One that is only about to be rolled back is gone after this.
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
    // To compile a statement takes longer than to run any of ours.
    let options = options.options([("jit", "off")]);
    // One connection outside the pool, because the pool hides why it cannot connect.
    match tokio::time::timeout(PATIENCE, PgConnection::connect_with(&options)).await {
        Ok(Ok(connection)) => drop(connection.close().await),
        Ok(Err(error)) => return Err(OpenError::of_sqlx(&place, error)),
        Err(_) => return Err(OpenError::Unreachable { place, why: "it does not answer".to_owned() }),
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
