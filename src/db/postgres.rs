//! Connects to PostgreSQL: parses the URL, sets up TLS and the limits of every connection, and chooses one of several
//! hosts.
//!
//! A URL means what it means to libpq, with two exceptions. Without `sslmode`, the certificate of a host that is not
//! local is verified, because libpq's default sends the password in the clear to whoever answers. An unknown parameter
//! is an error, because ignoring it could do the same.

use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgSslMode};
use sea_orm::sqlx::{self, ConnectOptions, Connection as _, Executor, Row as _};
use sea_orm::{
    DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqlxPostgresConnector, TransactionOptions,
    TransactionTrait,
};
use tokio::time::{sleep, timeout};
use tracing::{error, info};

use super::refusal::{OpenError, STALLED, is_broken};
use super::{Db, Reader};

/// Connections to PostgreSQL for readers and writers together, unless the URL has `pool_max_conns`.
const CONNECTIONS: u32 = 10;

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

/// The timeout for connecting to a host, unless the URL has `connect_timeout`.
const CONNECT: Duration = Duration::from_secs(5);

/// The interval of checks of the host in use, if there are several, and the timeout of a check.
const WATCH: Duration = Duration::from_secs(1);

/// The settings of every connection. The URL's `options` come later and prevail.
const SETTINGS: [(&str, &str); 8] = [
    // JIT compilation takes longer than any of our statements.
    ("jit", "off"),
    // Includes waits for locks. An abandoned statement frees its connection after this time at the latest.
    ("statement_timeout", "60s"),
    ("lock_timeout", "10s"),
    // A process that stalls inside a transaction loses its locks after this time; so does one whose host has died,
    // whether it was idle (keepalive: 10 s + 3 × 5 s) or was being sent something (user timeout).
    ("idle_in_transaction_session_timeout", "15s"),
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "20s"),
];

/// Lifts these limits for the rest of a transaction: migrations, exports and imports take as long as they take.
pub(super) const UNLIMITED: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0";

/// The parameters of a URL that are passed on to the driver as they are.
const PASSED_ON: [&str; 10] =
    ["application_name", "dbname", "host", "hostaddr", "options", "password", "port", "sslcert", "sslkey", "user"];

/// A database on one of several hosts, as a URL names it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    hosts: Vec<PgConnectOptions>,
    connect_timeout: Duration,
    /// Whether only a host that accepts writes will do.
    must_be_writable: bool,
    /// Connections for readers and writers together.
    connections: u32,
}

/// The parameters of a URL.
struct Parameters {
    /// The parameters that the driver reads, as a query string.
    passed_on: form_urlencoded::Serializer<'static, String>,
    /// How to encrypt, if the URL says so.
    mode: Option<PgSslMode>,
    /// Whether the URL names the certificate that signs the server's.
    has_root: bool,
    connect_timeout: Duration,
    must_be_writable: bool,
    connections: u32,
}

impl FromStr for Target {
    type Err = OpenError;

    fn from_str(url: &str) -> Result<Self, OpenError> {
        let (_, rest) = url.split_once("://").ok_or(OpenError::Url)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (format!("{user}@"), hosts),
            None => (String::new(), authority),
        };
        let mut parameters = Parameters::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            parameters.take(&name, &value)?;
        }
        let passed_on = parameters.passed_on.finish();
        let of_host = |host: &str| {
            let options = PgConnectOptions::from_str(&format!("postgres://{user}{host}/{path}?{passed_on}"));
            let options = options.map_err(|_| OpenError::Url)?;
            let mode = parameters.mode_of(&options);
            Ok(options.ssl_mode(mode).statement_cache_capacity(256).disable_statement_logging())
        };
        let hosts = hosts.split(',').map(of_host).collect::<Result<_, OpenError>>()?;
        let Parameters { connect_timeout, must_be_writable, connections, .. } = parameters;
        Ok(Self { hosts, connect_timeout, must_be_writable, connections })
    }
}

impl Default for Parameters {
    fn default() -> Self {
        let mut passed_on = form_urlencoded::Serializer::new(String::new());
        passed_on.append_pair("application_name", "rollcall");
        for (name, value) in SETTINGS {
            passed_on.append_pair(&format!("options[{name}]"), value);
        }
        Self {
            passed_on,
            mode: None,
            has_root: false,
            connect_timeout: CONNECT,
            must_be_writable: false,
            connections: CONNECTIONS,
        }
    }
}

impl Parameters {
    fn take(&mut self, name: &str, value: &str) -> Result<(), OpenError> {
        match name {
            "sslmode" => self.mode = Some(mode(value)?),
            "sslrootcert" if value == "system" => self.mode = self.mode.or(Some(PgSslMode::VerifyFull)),
            "sslrootcert" => {
                self.has_root = true;
                self.passed_on.append_pair(name, value);
            }
            "connect_timeout" => {
                let seconds = value.parse().ok().filter(|seconds| (1..=60).contains(seconds));
                let seconds = seconds.ok_or_else(|| wrong(name, "a number of seconds from 1 to 60"))?;
                self.connect_timeout = Duration::from_secs(seconds);
            }
            "pool_max_conns" => {
                let connections = value.parse().ok().filter(|connections| (2..=100).contains(connections));
                self.connections = connections.ok_or_else(|| wrong(name, "a number of connections from 2 to 100"))?;
            }
            "target_session_attrs" => {
                self.must_be_writable = match value {
                    "any" => false,
                    "read-write" | "primary" => true,
                    _ => return Err(wrong(name, "any, read-write or primary")),
                };
            }
            "host" if value.contains(',') => return Err(wrong(name, "one host; name several before the slash")),
            name if PASSED_ON.contains(&name) || name.starts_with("options[") => {
                self.passed_on.append_pair(name, value);
            }
            name => {
                let name = crate::error::quoted(name);
                return Err(OpenError::Parameter(format!("the database URL has an unknown parameter, {name}")));
            }
        }
        Ok(())
    }

    /// Returns how to encrypt. As in libpq, `require` verifies the certificate if the URL names its signer.
    fn mode_of(&self, options: &PgConnectOptions) -> PgSslMode {
        // The driver reads PGSSLMODE.
        let of_environment = Some(options.get_ssl_mode()).filter(|mode| !matches!(mode, PgSslMode::Prefer));
        match self.mode.or(of_environment) {
            Some(PgSslMode::Require) if self.has_root => PgSslMode::VerifyCa,
            Some(mode) => mode,
            None if is_local(options) => PgSslMode::Prefer,
            None => PgSslMode::VerifyFull,
        }
    }
}

fn is_local(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || address.is_ok_and(|address| address.is_loopback())
}

fn mode(word: &str) -> Result<PgSslMode, OpenError> {
    match word {
        "disable" => Ok(PgSslMode::Disable),
        "prefer" => Ok(PgSslMode::Prefer),
        "require" => Ok(PgSslMode::Require),
        "verify-ca" => Ok(PgSslMode::VerifyCa),
        "verify-full" => Ok(PgSslMode::VerifyFull),
        _ => Err(wrong("sslmode", "disable, prefer, require, verify-ca or verify-full")),
    }
}

fn wrong(parameter: &str, must_be: &str) -> OpenError {
    OpenError::Parameter(format!("in the database URL, {parameter} must be {must_be}"))
}

impl Target {
    /// The server and the database, without the password.
    pub(super) fn place(&self) -> String {
        let server = |options: &PgConnectOptions| match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        let servers: Vec<String> = self.hosts.iter().map(server).collect();
        let database = self.hosts.first().and_then(PgConnectOptions::get_database).unwrap_or_default();
        format!("{}/{database}", servers.join(","))
    }

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
    /// As long as [`SETTINGS`] say.
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
    Ok(Db { place, read: reader(write.clone()), committed: reader(committed), write, reserved, writes: Arc::default() })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(url: &str) -> Vec<PgSslMode> {
        let target = Target::from_str(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        target.hosts.iter().map(PgConnectOptions::get_ssl_mode).collect()
    }

    #[test]
    fn the_certificate_of_a_host_that_is_not_local_is_verified_unless_the_url_says_otherwise() {
        use PgSslMode::{Disable, Prefer, Require, VerifyCa, VerifyFull};
        let cases = [
            ("postgres://ada:secret@db.example.com/catalogue", VerifyFull),
            ("postgres://10.0.0.5/catalogue", VerifyFull),
            ("postgres://localhost/catalogue", Prefer),
            ("postgres://127.0.0.1:5433/catalogue", Prefer),
            ("postgres://[::1]:5433/catalogue", Prefer),
            ("postgres:///catalogue?host=/var/run/postgresql", Prefer),
            ("postgres://db.example.com/catalogue?sslmode=disable", Disable),
            ("postgres://db.example.com/catalogue?sslmode=require", Require),
            ("postgres://db.example.com/catalogue?sslmode=require&sslrootcert=/ca.pem", VerifyCa),
            ("postgres://db.example.com/catalogue?sslrootcert=/ca.pem", VerifyFull),
            ("postgres://localhost/catalogue?sslrootcert=system", VerifyFull),
        ];
        for (url, mode) in cases {
            assert_eq!(format!("{:?}", modes(url)), format!("{:?}", [mode]), "{url}");
        }
    }

    #[test]
    fn what_a_url_says_wrongly_is_named_and_a_password_never_is() {
        let cases = [
            ("nonsense=1", "unknown parameter, \"nonsense\""),
            ("sslmode=allow", "sslmode must be disable, prefer, require, verify-ca or verify-full"),
            ("sslmode=Require", "sslmode must be"),
            ("connect_timeout=0", "connect_timeout must be a number of seconds from 1 to 60"),
            ("target_session_attrs=standby", "target_session_attrs must be any, read-write or primary"),
            ("host=a,b", "host must be one host"),
            ("pool_max_conns=1", "pool_max_conns must be a number of connections from 2 to 100"),
            ("statement-cache-capacity=0", "unknown parameter, \"statement-cache-capacity\""),
        ];
        for (query, why) in cases {
            let refused = Target::from_str(&format!("postgres://ada:secret@localhost/catalogue?{query}"));
            let refused = refused.expect_err(query).to_string();
            assert!(refused.contains(why) && !refused.contains("secret"), "{query}: {refused}");
        }
    }

    #[test]
    fn a_url_names_several_hosts_and_what_it_says_of_a_connection_prevails() {
        let url = "postgres://ada:p%40ss@one.example.com:5433,[2001:db8::1],three/catalogue\
             ?target_session_attrs=read-write&connect_timeout=7&pool_max_conns=20&options[lock_timeout]=3s&application_name=mine";
        let target = Target::from_str(url).expect("a target");
        assert_eq!(target.place(), "one.example.com:5433,[2001:db8::1]:5432,three:5432/catalogue");
        assert!(target.must_be_writable);
        assert_eq!(target.connections, 20);
        assert_eq!(target.connect_timeout, Duration::from_secs(7));
        for host in &target.hosts {
            let options = host.get_options().unwrap_or_default();
            let [ours, given] = ["lock_timeout=10s", "lock_timeout=3s"].map(|setting| options.find(setting));
            assert!(ours.is_some() && ours < given, "{options}");
            assert_eq!((host.get_application_name(), host.get_username()), (Some("mine"), "ada"));
        }
    }
}
