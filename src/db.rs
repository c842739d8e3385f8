//! Opens the database: its connections and their settings, and its migration under a lock.
//!
//! The only file that names a backend. Everything else reads from [`Db::read`], writes inside [`Db::write`], and does
//! not know whether SQLite or PostgreSQL is behind it. What the tables are is told in `migration/`.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use migration::{Migrator, MigratorTrait};
use sea_orm::sea_query::extension::postgres::PgFunc;
use sea_orm::sea_query::{ArrayType, Expr, ExprTrait};
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::sqlx::{self, ConnectOptions, Connection, Executor, SqliteConnection};
use sea_orm::{
    AccessMode, ColumnTrait, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    IsolationLevel, RuntimeErr, SqlErr, SqliteTransactionMode, SqlxPostgresConnector, SqlxSqliteConnector,
    TransactionOptions, TransactionTrait, Value, metric,
};

/// How long a writer of SQLite waits for another process's lock, and a client of PostgreSQL for the server to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Readers of SQLite. Each keeps its own page cache, and two cores do not feed more.
const SQLITE_READERS: u32 = 4;

/// Connections to PostgreSQL, for readers and writers together.
const POSTGRES_CONNECTIONS: u32 = 10;

/// How long a statement may take on PostgreSQL, and wait for a lock. When nobody waits for its outcome any more, its
/// connection is free no later than then.
const STATEMENT: Duration = Duration::from_secs(60);

/// "rollcall", as the key of the lock that migrations hold on PostgreSQL.
const MIGRATION_LOCK: i64 = i64::from_be_bytes(*b"rollcall");

/// An open database. Cheap to clone; all clones share the connections.
#[derive(Clone, Debug)]
pub struct Db {
    place: String,
    read: DatabaseConnection,
    write: DatabaseConnection,
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
    pub fn read(&self) -> &DatabaseConnection {
        &self.read
    }

    /// Begins a transaction that only reads, and sees the database as it is at its first statement, whatever is written
    /// meanwhile. Dropped, it is over.
    pub async fn begin_read(&self) -> Result<DatabaseTransaction, DbErr> {
        let options = match self.read.get_database_backend() {
            DbBackend::Postgres => TransactionOptions {
                isolation_level: Some(IsolationLevel::RepeatableRead),
                access_mode: Some(AccessMode::ReadOnly),
                ..TransactionOptions::default()
            },
            // A transaction of SQLite always sees one state, and the readers refuse to write.
            _ => TransactionOptions::default(),
        };
        self.read.begin_with_options(options).await
    }

    /// Begins a transaction that may write. On SQLite there is one at a time: it takes the write lock at once, so
    /// that what it reads stays true until it commits and it never fails half-way because another came first.
    /// Dropped without a commit, it is rolled back.
    pub async fn begin_write(&self) -> Result<DatabaseTransaction, DbErr> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        self.write.begin_with_options(options).await
    }

    /// Runs `work` in a transaction of [`Db::begin_write`]: committed when it succeeds, rolled back when it does not.
    pub async fn write<T, E: From<DbErr>>(
        &self,
        work: impl AsyncFnOnce(&DatabaseTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self.begin_write().await?;
        match work(&transaction).await {
            Ok(done) => {
                transaction.commit().await?;
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
            DbBackend::Postgres => vec![pool("all", &self.read)],
            _ => vec![pool("read", &self.read), pool("write", &self.write)],
        }
    }

    /// Tells `observer` of every statement, once it has run. Clones that were made before are not observed.
    pub fn observe(&mut self, observer: impl Fn(&metric::Info<'_>) + Clone + Send + Sync + 'static) {
        self.read.set_metric_callback(observer.clone());
        self.write.set_metric_callback(observer);
    }

    /// Closes all connections, once what they are doing is done.
    pub async fn close(&self) -> Result<(), DbErr> {
        self.read.close_by_ref().await?;
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
    if pending(&db.place, Migrator::standing(&db.read).await.map_err(failed)?)? == 0 {
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
    let failed = |error: DbErr| OpenError::of(&db.place, error);
    match pending(&db.place, Migrator::standing(&db.read).await.map_err(failed)?)? {
        0 => Ok(()),
        steps => Err(failed(DbErr::Custom(format!("it lacks {steps} migrations")))),
    }
}

/// How many steps are to be run, unless the database is beyond this program.
fn pending(place: &str, standing: migration::Standing) -> Result<usize, OpenError> {
    match standing.unknown.into_iter().next_back() {
        Some(step) => Err(OpenError::Newer { place: place.to_owned(), step }),
        None => Ok(standing.pending),
    }
}

/// The sentence for a client whose write the database refuses for now, and not for what is written; nothing for an error
/// of any other kind.
pub fn refusal(error: &DbErr) -> Option<&'static str> {
    const FULL: &str = "The disk of the database is full.";
    const BUSY: &str = "The database is locked by another program.";
    const READ_ONLY: &str = "The database can only be read at present.";
    const BROKEN: &str = "The disk of the database does not work.";
    const AWAY: &str = "The database cannot be reached.";
    if let DbErr::ConnectionAcquire(_) = error {
        return Some(AWAY);
    }
    match sqlx_error(error)? {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            Some(AWAY)
        }
        sqlx::Error::Database(answer) => match sqlite_code(&**answer) {
            Some(SQLITE_FULL) => Some(FULL),
            Some(SQLITE_BUSY | SQLITE_LOCKED) => Some(BUSY),
            Some(SQLITE_READONLY) => Some(READ_ONLY),
            Some(SQLITE_IOERR) => Some(BROKEN),
            Some(_) => None,
            // PostgreSQL: disk full; lock not available; read-only transaction; input or output error; shutting down,
            // starting, or out of connections.
            None => match answer.code()?.as_ref() {
                "53100" => Some(FULL),
                "55P03" => Some(BUSY),
                "25006" => Some(READ_ONLY),
                "58030" => Some(BROKEN),
                "57P01" | "57P02" | "57P03" | "53300" => Some(AWAY),
                code if code.starts_with("08") => Some(AWAY),
                _ => None,
            },
        },
        _ => None,
    }
}

/// Whether a transaction failed because of what another one did at the same time: both wanted what the other held, or
/// a row went away between being looked at and being written or referred to.
pub fn is_lost_race(error: &DbErr) -> bool {
    let lost = |code: &str| matches!(code, "40001" | "40P01");
    matches!(error, DbErr::RecordNotUpdated)
        || matches!(error.sql_err(), Some(SqlErr::ForeignKeyConstraintViolation(_)))
        // PostgreSQL: serialization failure, deadlock. SQLite has one writer at a time.
        || matches!(sqlx_error(error), Some(sqlx::Error::Database(answer)) if answer.code().as_deref().is_some_and(lost))
}

fn sqlx_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(cause))
        | DbErr::Exec(RuntimeErr::SqlxError(cause))
        | DbErr::Query(RuntimeErr::SqlxError(cause)) => Some(cause),
        _ => None,
    }
}

/// The condition that `column` is one of `ids`. It binds one parameter, so that the text of the statement, and with it
/// the prepared statement, is the same for a list of any length.
pub fn any<C: ConnectionTrait>(db: &C, column: impl ColumnTrait, ids: &[i64]) -> Expr {
    let column = Expr::col(column.as_column_ref());
    match db.get_database_backend() {
        DbBackend::Postgres => {
            let ids = ids.iter().map(|id| Value::from(*id)).collect();
            column.eq(PgFunc::any(Expr::value(Value::Array(ArrayType::BigInt, Some(Box::new(ids))))))
        }
        _ => Expr::cust_with_exprs("? IN (SELECT value FROM json_each(?))", [column, Expr::value(json(ids))]),
    }
}

/// The same for texts.
pub fn any_text<C: ConnectionTrait>(db: &C, column: impl ColumnTrait, texts: &[&str]) -> Expr {
    let column = Expr::col(column.as_column_ref());
    match db.get_database_backend() {
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

/// The numbers as a JSON array.
fn json(ids: &[i64]) -> String {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", ids.join(","))
}

async fn connect_sqlite(url: &str) -> Result<Db, OpenError> {
    let options = SqliteConnectOptions::from_str(url).map_err(|_| OpenError::Url)?;
    if url.contains(":memory:") || url.contains("mode=memory") {
        return Err(OpenError::Url);
    }
    let place = options.get_filename().display().to_string();
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
    let read = pool().max_connections(SQLITE_READERS).connect_with(reader).await;
    let read = read.map_err(|error| OpenError::of_sqlx(&place, error))?;
    Ok(Db {
        place,
        read: SqlxSqliteConnector::from_sqlx_sqlite_pool(read),
        write: SqlxSqliteConnector::from_sqlx_sqlite_pool(write),
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
    // One connection outside the pool, because the pool hides why it cannot connect.
    match tokio::time::timeout(PATIENCE, PgConnection::connect_with(&options)).await {
        Ok(Ok(connection)) => drop(connection.close().await),
        Ok(Err(error)) => return Err(OpenError::of_sqlx(&place, error)),
        Err(_) => return Err(OpenError::Unreachable { place, why: "it does not answer".to_owned() }),
    }
    let pool = PgPoolOptions::new().max_connections(POSTGRES_CONNECTIONS).test_before_acquire(false);
    let pool = pool.after_connect(|connection, _| {
        let limit = format!("SET statement_timeout = {}", STATEMENT.as_millis());
        Box::pin(async move { connection.execute(sqlx::AssertSqlSafe(limit)).await.map(drop) })
    });
    let pool = SqlxPostgresConnector::from_sqlx_postgres_pool(pool.connect_lazy_with(options));
    Ok(Db { place, read: pool.clone(), write: pool })
}

/// Why the database cannot be opened or migrated, in one sentence. It names the place, never the password.
#[derive(Debug)]
pub enum OpenError {
    /// The URL is not of a kind that can be opened.
    Url,
    /// Another program holds the lock.
    Locked {
        /// The file.
        place: String,
    },
    /// The file is damaged, or something else than a database.
    Corrupt {
        /// The file.
        place: String,
    },
    /// The database has steps that this program does not know.
    Newer {
        /// The file, or the server and the database.
        place: String,
        /// The last step that is not known.
        step: String,
    },
    /// The file cannot be opened, or the server refuses the login.
    Refused {
        /// The file, or the server and the database.
        place: String,
        /// What was said.
        why: String,
    },
    /// The server does not answer.
    Unreachable {
        /// The server and the database.
        place: String,
        /// What was said.
        why: String,
    },
    /// Anything else.
    Failed {
        /// The file, or the server and the database.
        place: String,
        /// What happened.
        cause: DbErr,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url => {
                f.write_str("the database URL must be sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE")
            }
            Self::Locked { place } => write!(f, "the database {place} is locked by another program; try again"),
            Self::Corrupt { place } => {
                write!(f, "the file {place} is damaged or not a database; restore a backup or name another file")
            }
            Self::Newer { place, step } => {
                write!(f, "the database {place} was made by a newer rollcall (it has step {step}); start that one")
            }
            Self::Refused { place, why } => write!(f, "the database {place} cannot be opened: {why}"),
            Self::Unreachable { place, why } => write!(f, "the database server {place} cannot be reached: {why}"),
            Self::Failed { place, cause } => write!(f, "the database {place} does not work: {cause}"),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

impl OpenError {
    fn of_sqlx(place: &str, error: sqlx::Error) -> Self {
        Self::of(place, DbErr::Conn(RuntimeErr::SqlxError(error.into())))
    }

    fn of(place: &str, error: DbErr) -> Self {
        let place = place.to_owned();
        let Some(cause) = sqlx_error(&error) else { return Self::Failed { place, cause: error } };
        match cause {
            sqlx::Error::Io(io) => Self::Unreachable { place, why: io.to_string() },
            sqlx::Error::Tls(why) => Self::Refused { place, why: why.to_string() },
            sqlx::Error::Database(answer) => match sqlite_code(&**answer) {
                Some(SQLITE_BUSY | SQLITE_LOCKED) => Self::Locked { place },
                Some(SQLITE_CORRUPT | SQLITE_NOTADB) => Self::Corrupt { place },
                Some(SQLITE_CANTOPEN) => Self::Refused { why: cannot_open(&place), place },
                Some(SQLITE_PERM | SQLITE_READONLY) => Self::Refused { place, why: "it may not be written".to_owned() },
                // Class 28: invalid authorization; 3D000: no such database.
                None if answer.code().is_some_and(|code| code.starts_with("28") || code == "3D000") => {
                    Self::Refused { place, why: answer.message().to_owned() }
                }
                _ => Self::Failed { place, cause: error },
            },
            _ => Self::Failed { place, cause: error },
        }
    }
}

const SQLITE_PERM: i32 = 3;
const SQLITE_BUSY: i32 = 5;
const SQLITE_LOCKED: i32 = 6;
const SQLITE_READONLY: i32 = 8;
const SQLITE_IOERR: i32 = 10;
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_FULL: i32 = 13;
const SQLITE_CANTOPEN: i32 = 14;
const SQLITE_NOTADB: i32 = 26;

fn busy(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(answer) if sqlite_code(&**answer) == Some(SQLITE_BUSY))
}

/// SQLite's primary result code, which is the low byte of the extended one.
fn sqlite_code(answer: &dyn sqlx::error::DatabaseError) -> Option<i32> {
    answer.try_downcast_ref::<sqlx::sqlite::SqliteError>()?;
    Some(answer.code()?.parse::<i32>().ok()? & 0xff)
}

/// What SQLite does not tell. The file itself is not opened to find out: closing it would drop the locks of this
/// process.
fn cannot_open(place: &str) -> String {
    let path = std::path::Path::new(place);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        "it is a folder".to_owned()
    } else if folder.is_some_and(|folder| !folder.is_dir()) {
        "its folder does not exist".to_owned()
    } else {
        "permission denied".to_owned()
    }
}
