//! Connects to PostgreSQL: chooses one of several hosts, and makes the pools. [`postgres_url`](super::postgres_url)
//! parses the URL.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgSslMode};
use sea_orm::sqlx::{self, Connection as _, Executor, Row as _};
use sea_orm::{
    DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqlxPostgresConnector, TransactionOptions,
    TransactionTrait,
};
use tokio::time::{sleep, timeout};
use tracing::{error, info};

use super::postgres_url::Target;
use super::refusal::{OpenError, STALLED, is_broken};
use super::{Db, Reader};

/// PostgreSQL connections that read committed data during a write transaction: a few short statements for each write.
const CONNECTIONS_BESIDE: u32 = 2;

/// PostgreSQL connections for [`Db::reserved`].
const CONNECTIONS_RESERVED: u32 = 3;

/// The timeout for beginning a transaction on PostgreSQL, and for the statements of [`Db::reserved`].
pub(super) const BEGIN: Duration = Duration::from_secs(4);

/// How long to wait for PostgreSQL to confirm a commit.
pub(super) const COMMIT: Duration = Duration::from_secs(15);

/// How long to wait for a free connection, or for a new one.
const ACQUIRE: Duration = Duration::from_secs(3);

/// How long a connection that is returned to the pool may take to respond before it is closed.
const RETURN: Duration = Duration::from_secs(2);

/// The interval of checks of the host in use, if there are several, and the timeout of a check.
const WATCH: Duration = Duration::from_secs(1);

/// Lifts these limits for the rest of a transaction: migrations, exports and imports take as long as they take.
pub(super) const UNLIMITED: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0";

impl Target {
    /// Finds the first host that will do, by connecting to it.
    async fn find(&self) -> Result<usize, OpenError> {
        let mut last = OpenError::Url;
        for (place, host) in self.hosts.iter().enumerate() {
            match timeout(self.connect_timeout, self.check(host)).await {
                Ok(Ok(None)) => return Ok(place),
                Ok(Ok(Some(why))) => last = OpenError::Refused { place: self.place(), why: why.to_owned() },
                Ok(Err(error)) => last = self.explain(host, error),
                Err(_) => {
                    last = OpenError::Unreachable { place: self.place(), why: "it does not respond".to_owned() };
                }
            }
        }
        Err(last)
    }

    /// Connects to a host. Returns why it will not do.
    async fn check(&self, host: &PgConnectOptions) -> Result<Option<&'static str>, sqlx::Error> {
        let mut connection = PgConnection::connect_with(host).await?;
        let is_read_only = self.must_be_writable && is_read_only(&mut connection).await?;
        connection.close().await?;
        Ok(is_read_only.then_some("it is read-only, and the URL asks for a server that accepts writes"))
    }

    /// Explains a failed connection. If TLS has failed, says which settings of the URL to change.
    fn explain(&self, host: &PgConnectOptions, error: sqlx::Error) -> OpenError {
        let why = match &error {
            sqlx::Error::Tls(why) => why.to_string(),
            // rustls reports a certificate that is not valid as an I/O error.
            sqlx::Error::Io(io) if io.kind() == std::io::ErrorKind::InvalidData => io.to_string(),
            _ => return OpenError::of_sqlx(&self.place(), error),
        };
        let choice = match host.get_ssl_mode() {
            PgSslMode::VerifyFull | PgSslMode::VerifyCa => {
                "the certificate is verified: name what signs it with sslrootcert=FILE, or choose another sslmode: \
                 require encrypts without verifying, disable does not encrypt"
            }
            _ => "sslmode=disable does not encrypt",
        };
        OpenError::Refused { place: self.place(), why: format!("TLS: {why} ({choice})") }
    }
}

async fn is_read_only(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let row = connection.fetch_one("SHOW transaction_read_only").await?;
    Ok(row.try_get::<String, _>(0)? == "on")
}

/// How long the statements of a pool wait for locks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Locks {
    /// As long as the settings of every connection say.
    Usual,
    /// Half a second.
    Short,
}

impl Locks {
    fn of(self, host: &PgConnectOptions) -> PgConnectOptions {
        match self {
            Self::Usual => host.clone(),
            Self::Short => host.clone().options([("lock_timeout", "500ms")]),
        }
    }
}

/// The hosts of a database, and the pools that use one of them.
#[derive(Debug)]
pub(super) struct Hosts {
    target: Target,
    current: AtomicUsize,
    /// Connections made before this moment are to another host.
    since: Arc<Mutex<Instant>>,
}

impl Hosts {
    /// Connects once outside of any pool, because a pool hides why a connection fails.
    pub(super) async fn connect(target: Target) -> Result<Self, OpenError> {
        let current = AtomicUsize::new(target.find().await?);
        Ok(Self { target, current, since: Arc::new(Mutex::new(Instant::now())) })
    }

    fn host(&self) -> &PgConnectOptions {
        &self.target.hosts[self.current.load(Ordering::Relaxed)]
    }

    /// Creates a pool that connects on demand. Its statements wait for locks as long as `locks` says.
    pub(super) fn pool(&self, connections: u32, locks: Locks) -> PgPool {
        let since = Arc::clone(&self.since);
        let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(ACQUIRE);
        // A dead connection is noticed by its first statement, which is repeated on another ([`repeat`]).
        let pool = pool.test_before_acquire(false).before_acquire(move |_, connection| {
            let since = since.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
            Box::pin(async move { Ok(connection.age <= since) })
        });
        // Without a limit, a connection whose host has died would occupy its place until TCP gives up.
        let pool = pool.after_release(|connection, _| {
            Box::pin(async move {
                let late = |_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
                timeout(RETURN, connection.ping()).await.map_err(late)?.map(|()| true)
            })
        });
        pool.connect_lazy_with(locks.of(self.host()))
    }

    /// Switches to another host when the one in use fails its check. Runs until the pools are closed.
    pub(super) async fn watch(self, pools: Vec<(PgPool, Locks)>) {
        let mut was_away = false;
        while !pools.iter().all(|(pool, _)| pool.is_closed()) {
            sleep(WATCH).await;
            if let Ok(Ok(None)) = timeout(WATCH, self.target.check(self.host())).await {
                was_away = false;
                continue;
            }
            let found = self.target.find().await;
            let is_away = found.is_err();
            match found {
                Ok(found) if found != self.current.load(Ordering::Relaxed) => {
                    self.current.store(found, Ordering::Relaxed);
                    let host = self.host();
                    info!(host = host.get_host(), port = host.get_port(), "changed to another database host");
                    pools.iter().for_each(|(pool, locks)| pool.set_connect_options(locks.of(host)));
                    *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                }
                Ok(_) => {}
                // Logged once, not every second.
                Err(error) if !was_away => error!(%error, "no database host will do"),
                Err(_) => {}
            }
            was_away = is_away;
        }
    }

    /// Whether there is more than one host.
    pub(super) fn are_several(&self) -> bool {
        self.target.hosts.len() > 1
    }
}

/// Connects to the database that a URL names.
pub(super) async fn open(target: Target) -> Result<Db, OpenError> {
    let (place, connections) = (target.place(), target.connections);
    let hosts = Hosts::connect(target).await?;
    let pools = [
        (connections, Locks::Usual),
        (CONNECTIONS_BESIDE, Locks::Usual),
        // The webhook sets aside posts whose rows are locked.
        (CONNECTIONS_RESERVED, Locks::Short),
    ];
    let pools = pools.map(|(connections, locks)| (hosts.pool(connections, locks), locks));
    if hosts.are_several() {
        tokio::spawn(hosts.watch(pools.to_vec()));
    }
    let [write, committed, reserved] = pools.map(|(pool, _)| SqlxPostgresConnector::from_sqlx_postgres_pool(pool));
    let reader = |pool| Reader { pool, embedded: None, patience: None };
    let reserved = Some(Reader { patience: Some(BEGIN), ..reader(reserved) });
    Ok(Db {
        place,
        read: reader(write.clone()),
        committed: reader(committed),
        write,
        writer: None,
        reserved,
        writes: Arc::default(),
    })
}

/// Begins a transaction. On PostgreSQL, a connection may have died while it was idle. It is then discarded, and another
/// attempt is made on another connection, and finally on a new one.
pub(super) async fn begin(
    pool: &DatabaseConnection,
    options: TransactionOptions,
) -> Result<DatabaseTransaction, DbErr> {
    if pool.get_database_backend() != DbBackend::Postgres {
        return pool.begin_with_options(options).await;
    }
    let begun = repeat(pool, || pool.begin_with_options(options));
    timeout(BEGIN, begun).await.unwrap_or_else(|_| Err(DbErr::Custom(STALLED.to_owned())))
}

/// Runs a read or a `BEGIN`, and repeats it while its connection turns out to be dead. On SQLite no connection dies.
pub(super) async fn repeat<T, F>(pool: &DatabaseConnection, work: impl Fn() -> F) -> Result<T, DbErr>
where
    F: Future<Output = Result<T, DbErr>>,
{
    let others = match pool.get_database_backend() {
        DbBackend::Postgres => pool.get_postgres_connection_pool().options().get_max_connections(),
        _ => 0,
    };
    for _ in 0..others {
        match work().await {
            Err(error) if is_broken(&error) => {}
            done => return done,
        }
    }
    work().await
}
