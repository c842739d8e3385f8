//! Parses the URL of a PostgreSQL database.
//!
//! A URL means what it means to libpq, with three exceptions. Without `sslmode`, the certificate of a host that is not
//! local is verified, because libpq's default sends the password in the clear to whoever answers. An unknown parameter
//! is an error, because ignoring it could do the same. Without a host, the driver chooses between the usual folders of
//! sockets and `localhost`, because it does not know the folder that libpq was built with.

use std::str::FromStr;
use std::time::Duration;

use ::url::Url;
use percent_encoding::percent_decode_str;
use tokio_postgres::Config;

use super::defaults::Options;
use super::tls::{Mode, Tls};
use crate::db::{OpenError, url};

/// Connections to PostgreSQL for readers and writers together, unless the URL has `pool_max_conns`.
const CONNECTIONS: u32 = 10;

/// The timeout for connecting to a host, unless the URL has `connect_timeout`.
const CONNECT: Duration = Duration::from_secs(5);

/// The settings of every connection. The URL's `options` come later and prevail. Through PgBouncer they are the settings
/// of every transaction.
pub(in crate::db) const SETTINGS: [(&str, &str); 8] = [
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

/// The same on our side, for a server whose host has died.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);
const USER_TIMEOUT: Duration = Duration::from_secs(20);

/// The parameters of a URL that are passed on to the driver as they are.
const PASSED_ON: [&str; 10] =
    ["application_name", "dbname", "host", "hostaddr", "options", "password", "port", "sslcert", "sslkey", "user"];

/// A database on one of several hosts, as a URL names it.
#[derive(Debug, Clone)]
pub(in crate::db) struct Target {
    pub(in crate::db) hosts: Vec<Host>,
    pub(in crate::db) connect_timeout: Duration,
    /// Whether only a host that accepts writes will do.
    pub(in crate::db) must_be_writable: bool,
    /// Connections for readers and writers together.
    pub(in crate::db) connections: u32,
}

/// A server, and how to connect to it.
#[derive(Debug, Clone)]
pub(in crate::db) struct Host {
    pub(in crate::db) config: Config,
    pub(in crate::db) tls: Tls,
    pub(in crate::db) options: Options,
    /// Whether PgBouncer stands before the server. Each transaction may then be on another connection to the server, so
    /// a connection keeps no settings and no statements.
    pub(in crate::db) is_shared: bool,
}

/// The parameters of a URL.
struct Parameters {
    /// The parameters that the driver reads.
    passed_on: Vec<(String, String)>,
    /// How to encrypt, if the URL says so.
    mode: Option<Mode>,
    /// Whether the URL names the certificate that signs the server's.
    has_root: bool,
    connect_timeout: Duration,
    must_be_writable: bool,
    connections: u32,
    is_shared: bool,
}

impl FromStr for Target {
    type Err = OpenError;

    fn from_str(url: &str) -> Result<Self, OpenError> {
        url::check(url)?;
        let (_, rest) = url.split_once("://").ok_or_else(|| OpenError::Url(url::SCHEME.to_owned()))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let mut parameters = Parameters::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            parameters.take(&name, &value)?;
        }
        let mut passed_on = form_urlencoded::Serializer::new(String::new());
        passed_on.append_pair("application_name", "rollcall");
        if !parameters.is_shared {
            passed_on.extend_pairs(SETTINGS.map(|(name, value)| (format!("options[{name}]"), value)));
        }
        let has_options = parameters.passed_on.iter().any(|(name, _)| name.starts_with("options"));
        if parameters.is_shared && has_options {
            let why = "in the database URL, pgbouncer=true leaves no place for options: set them for the role";
            return Err(OpenError::Parameter(why.to_owned()));
        }
        let passed_on = passed_on.extend_pairs(&parameters.passed_on).finish();
        let of_host = |host: &str| {
            let url = match host.strip_prefix(':').or(Some(host).filter(|host| host.is_empty())) {
                Some(port) => format!("postgres:///{path}?{}&{passed_on}", without_host(user, port)?),
                None if user.is_empty() => format!("postgres://{host}/{path}?{passed_on}"),
                None => format!("postgres://{user}@{host}/{path}?{passed_on}"),
            };
            let url = Url::parse(&url).map_err(|_| OpenError::Url(url::POSTGRES.to_owned()))?;
            Host::new(Options::from_url(&url)?, &parameters)
        };
        let hosts = hosts.split(',').map(of_host).collect::<Result<_, OpenError>>()?;
        let Parameters { connect_timeout, must_be_writable, connections, .. } = parameters;
        Ok(Self { hosts, connect_timeout, must_be_writable, connections })
    }
}

/// The user, the password and the port of a URL without a host, as parameters. Written before the host, the driver
/// refuses them. The driver then looks for the socket of a server on this machine, and takes `localhost` if there is
/// none.
fn without_host(user: &str, port: &str) -> Result<String, OpenError> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    for (name, value) in [("user", user), ("password", password), ("port", port)] {
        if !value.is_empty() {
            let value = percent_decode_str(value).decode_utf8();
            let value = value.map_err(|_| OpenError::Url(url::POSTGRES.to_owned()))?;
            parameters.append_pair(name, &value);
        }
    }
    Ok(parameters.finish())
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            passed_on: Vec::new(),
            mode: None,
            has_root: false,
            connect_timeout: CONNECT,
            must_be_writable: false,
            connections: CONNECTIONS,
            is_shared: false,
        }
    }
}

impl Parameters {
    fn take(&mut self, name: &str, value: &str) -> Result<(), OpenError> {
        match name {
            "sslmode" => self.mode = Some(mode(value)?),
            "sslrootcert" if value == "system" => self.mode = self.mode.or(Some(Mode::VerifyFull)),
            "sslrootcert" => {
                self.has_root = true;
                self.passed_on.push((name.to_owned(), value.to_owned()));
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
            "pgbouncer" => {
                self.is_shared = match value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(wrong(name, "true or false")),
                };
            }
            "host" if value.contains(',') => return Err(wrong(name, "one host; name several before the slash")),
            name if PASSED_ON.contains(&name) || name.starts_with("options[") => {
                self.passed_on.push((name.to_owned(), value.to_owned()));
            }
            name => {
                let name = crate::error::quoted(name);
                return Err(OpenError::Parameter(format!("the database URL has an unknown parameter, {name}")));
            }
        }
        Ok(())
    }

    /// Returns how to encrypt. As in libpq, `require` verifies the certificate if its signer is named.
    fn mode_of(&self, options: &Options) -> Mode {
        match self.mode.or(options.ssl_mode) {
            Some(Mode::Require) if self.has_root => Mode::VerifyCa,
            Some(mode) => mode,
            None if options.is_local() => Mode::Prefer,
            None => Mode::VerifyFull,
        }
    }
}

impl Host {
    fn new(options: Options, parameters: &Parameters) -> Result<Self, OpenError> {
        let mut config = Config::new();
        config.port(options.port).user(&options.user);
        match options.folder() {
            Some(folder) => config.host_path(folder),
            None => config.host(options.host.trim_matches(['[', ']'])),
        };
        config.dbname(options.database.as_ref().unwrap_or(&options.user));
        config.application_name(&options.application_name);
        if !options.settings.is_empty() {
            config.options(&options.settings);
        }
        let (idle, interval, retries) = KEEPALIVE;
        config.keepalives_idle(idle).keepalives_interval(interval).keepalives_retries(retries);
        config.tcp_user_timeout(USER_TIMEOUT);
        if let Some(password) = &options.password {
            config.password(password);
        }
        let client = match (&options.certificate, &options.key) {
            (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
            (None, None) => None,
            _ => {
                return Err(OpenError::Parameter("in the database URL, sslcert and sslkey need each other".to_owned()));
            }
        };
        let tls = Tls { mode: parameters.mode_of(&options), roots: options.roots.clone(), client };
        config.ssl_mode(tls.mode());
        Ok(Self { config, tls, options, is_shared: parameters.is_shared })
    }
}

fn mode(word: &str) -> Result<Mode, OpenError> {
    match word {
        "disable" => Ok(Mode::Disable),
        "prefer" => Ok(Mode::Prefer),
        "require" => Ok(Mode::Require),
        "verify-ca" => Ok(Mode::VerifyCa),
        "verify-full" => Ok(Mode::VerifyFull),
        _ => Err(wrong("sslmode", "disable, prefer, require, verify-ca or verify-full")),
    }
}

fn wrong(parameter: &str, must_be: &str) -> OpenError {
    OpenError::Parameter(format!("in the database URL, {parameter} must be {must_be}"))
}

impl Target {
    /// The server and the database, without the password.
    pub(in crate::db) fn place(&self) -> String {
        let server = |host: &Host| match host.options.folder() {
            Some(folder) => folder.display().to_string(),
            None => format!("{}:{}", host.options.host, host.options.port),
        };
        let servers: Vec<String> = self.hosts.iter().map(server).collect();
        let database = self.hosts.first().and_then(|host| host.options.database.as_deref()).unwrap_or_default();
        format!("{}/{database}", servers.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(url: &str) -> Vec<Mode> {
        let target = Target::from_str(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        target.hosts.iter().map(|host| host.tls.mode).collect()
    }

    #[test]
    fn the_certificate_of_a_host_that_is_not_local_is_verified_unless_the_url_says_otherwise() {
        use Mode::{Disable, Prefer, Require, VerifyCa, VerifyFull};
        let cases = [
            ("postgres://ada:secret@db.example.com/catalogue", VerifyFull),
            ("postgres://10.0.0.5/catalogue", VerifyFull),
            ("postgres://localhost/catalogue", Prefer),
            ("postgres://127.0.0.1:5433/catalogue", Prefer),
            ("postgres://[::1]:5433/catalogue", Prefer),
            ("postgres:///catalogue?host=/var/run/postgresql", Prefer),
            ("postgres://ada:secret@/catalogue", Prefer),
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
            ("pgbouncer=yes", "pgbouncer must be true or false"),
            ("pgbouncer=true&options[lock_timeout]=3s", "pgbouncer=true leaves no place for options"),
            ("sslcert=/own.pem", "sslcert and sslkey need each other"),
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
            let options = host.config.get_options().unwrap_or_default();
            let [ours, given] = ["lock_timeout=10s", "lock_timeout=3s"].map(|setting| options.find(setting));
            assert!(ours.is_some() && ours < given, "{options}");
            let (name, user) = (host.config.get_application_name(), host.config.get_user());
            assert_eq!((name, user, host.config.get_password()), (Some("mine"), Some("ada"), Some(&b"p@ss"[..])));
        }
    }
    #[test]
    fn a_url_without_a_host_keeps_its_user_password_and_port() {
        for (url, user, port) in [
            ("postgresql://ada@/catalogue", "ada", 5432),
            ("postgresql://a%2Bda:p%40ss@:5433/catalogue", "a+da", 5433),
            ("postgresql://ada@/catalogue?user=eve&port=5434", "eve", 5434),
        ] {
            let target = Target::from_str(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            let [host] = &*target.hosts else { panic!("{url}: one host") };
            let of_host = (host.config.get_user(), host.config.get_ports(), host.config.get_dbname());
            assert_eq!(of_host, (Some(user), &[port][..], Some("catalogue")));
            assert!(host.options.is_local(), "{url}: {}", host.options.host);
        }
        assert!(matches!(Target::from_str("postgres://%ff@/catalogue"), Err(OpenError::Url(_))));
    }
}
