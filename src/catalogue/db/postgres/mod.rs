//! PostgreSQL: a server that others may use at the same time. This module chooses one of several hosts, and makes the
//! pools.
//!
//! Invariants: nothing outside `db/` names this folder. Columns become the same values as those of SQLite ([`value`]),
//! so the rows of both are read in one way.
//!
//! [`mod@url`], [`defaults`] and [`tls`] read how to reach it (the URL; what libpq's environment says; encryption),
//! [`server`] reads and writes, [`pool`] lends the connections, [`connection`] runs statements on one, and [`value`]
//! has the binary format. [`outcome`] finds out what became of commits that were not confirmed, and [`replica`] which
//! queries may read at a standby server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use tokio::time::{sleep, timeout};
use tracing::{error, info};

use crate::db::read::Source;
use crate::db::{Db, Error, OpenError, Reader, Writer};

pub(in crate::db) mod connection;
pub(in crate::db) mod defaults;
pub(in crate::db) mod outcome;
pub(in crate::db) mod pool;
pub(in crate::db) mod replica;
pub(in crate::db) mod server;
pub(in crate::db) mod tls;
pub(in crate::db) mod url;
pub(in crate::db) mod value;

use connection::Connection;
use server::Server;
use tls::Mode;
use url::{Host, Target};

/// PostgreSQL connections that read committed data during a write transaction: a few short statements for each write.
const CONNECTIONS_BESIDE: u32 = 2;

/// PostgreSQL connections for [`Db::reserved`].
const CONNECTIONS_RESERVED: u32 = 3;

/// The timeout for beginning a transaction on PostgreSQL, and for the statements of [`Db::reserved`].
pub(in crate::db) const BEGIN: Duration = Duration::from_secs(4);

/// How long to wait for PostgreSQL to confirm a commit.
pub(in crate::db) const COMMIT: Duration = Duration::from_secs(15);

/// How long to wait for a free connection, or for a new one.
pub(in crate::db) const ACQUIRE: Duration = Duration::from_secs(3);

/// The interval of checks of the host in use, if there are several, and the timeout of a check.
const WATCH: Duration = Duration::from_secs(1);

/// The pause before hosts are asked again, while none will do.
const AGAIN: Duration = Duration::from_millis(500);

/// Lifts these limits for the rest of a transaction: migrations, exports and imports take as long as they take.
pub(in crate::db) const UNLIMITED: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0";

impl Target {
    /// Finds a host that will do, by connecting to it: the first in order, or the only one that accepts writes. To find
    /// that one, all are asked at the same time, because one that hangs takes long to give up on. Meanwhile the others are
    /// asked again and again: one may be promoted.
    async fn find(&self) -> Result<usize, OpenError> {
        let mut last = OpenError::Url(crate::db::url::POSTGRES.to_owned());
        let (at_once, unanswered) = match self.must_be_writable {
            true => (self.hosts.len(), AtomicUsize::new(self.hosts.len())),
            false => (1, AtomicUsize::new(0)),
        };
        let tries: Vec<_> = (0..self.hosts.len()).map(|place| self.try_host_again(place, &unanswered)).collect();
        let mut tries = stream::iter(tries).buffer_unordered(at_once);
        while let Some(tried) = tries.next().await {
            match tried {
                Ok(place) => return Ok(place),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// Returns the host's place if it will do. Asks it again as long as there are hosts that have not answered yet.
    async fn try_host_again(&self, place: usize, unanswered: &AtomicUsize) -> Result<usize, OpenError> {
        let mut tried = self.try_host(place).await;
        let _ = unanswered.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |hosts| hosts.checked_sub(1));
        while tried.is_err() && unanswered.load(Ordering::Relaxed) > 0 {
            sleep(AGAIN).await;
            tried = self.try_host(place).await;
        }
        tried
    }

    /// Returns the host's place if it will do.
    async fn try_host(&self, place: usize) -> Result<usize, OpenError> {
        let host = &self.hosts[place];
        match timeout(self.connect_timeout, Box::pin(self.check(host))).await {
            Ok(Ok(None)) => Ok(place),
            Ok(Ok(Some(why))) => Err(OpenError::Refused { place: self.place(), why: why.to_owned() }),
            Ok(Err(error)) => Err(self.explain(host, error)),
            Err(_) => Err(OpenError::Unreachable { place: self.place(), why: "it does not respond".to_owned() }),
        }
    }

    /// Connects to a host. Returns why it will not do.
    async fn check(&self, host: &Host) -> Result<Option<&'static str>, Error> {
        let connection = Connection::open(host, Locks::Usual, Instant::now()).await?;
        let is_read_only = self.must_be_writable && connection.is_read_only().await?;
        connection.close().await;
        Ok(is_read_only.then_some("it is read-only, and the URL asks for a server that accepts writes"))
    }

    /// Explains a failed connection. If TLS has failed, says which settings of the URL to change.
    fn explain(&self, host: &Host, error: Error) -> OpenError {
        let why = match &error {
            Error::Tls(why) => why,
            // rustls reports a certificate that is not valid as an I/O error.
            Error::Lost { kind: std::io::ErrorKind::InvalidData, why } => why,
            _ => return OpenError::new(&self.place(), error),
        };
        let choice = match host.tls.mode {
            Mode::VerifyFull | Mode::VerifyCa => {
                "the certificate is verified: name what signs it with sslrootcert=FILE, or choose another sslmode: \
                 require encrypts without verifying, disable does not encrypt"
            }
            _ => "sslmode=disable does not encrypt",
        };
        OpenError::Refused { place: self.place(), why: format!("TLS: {why} ({choice})") }
    }
}

/// How long the statements of a pool wait for locks.
#[derive(Debug, Clone, Copy)]
pub(in crate::db) enum Locks {
    /// As long as the settings of every connection say.
    Usual,
    /// Half a second.
    Short,
}

/// The hosts of a database, and the pools that use one of them.
#[derive(Debug)]
pub(in crate::db) struct Hosts {
    target: Target,
    current: AtomicUsize,
    /// Connections made before this moment are to another host.
    since: Arc<Mutex<Instant>>,
}

impl Hosts {
    /// Connects once outside of any pool, because a pool hides why a connection fails.
    pub(in crate::db) async fn connect(target: Target) -> Result<Self, OpenError> {
        let current = Box::pin(target.find()).await?;
        Ok(Self { current: AtomicUsize::new(current), ..Self::unconnected(target) })
    }

    /// Uses the first host, without connecting.
    pub(in crate::db) fn unconnected(target: Target) -> Self {
        Self { target, current: AtomicUsize::new(0), since: Arc::new(Mutex::new(Instant::now())) }
    }

    /// The host in use.
    pub(in crate::db) fn host(&self) -> &Host {
        &self.target.hosts[self.current.load(Ordering::Relaxed)]
    }

    /// The moment of the last change of host.
    pub(in crate::db) fn since(&self) -> Instant {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches to another host when the one in use fails its check. Runs until the pool is closed.
    pub(in crate::db) async fn watch(self: Arc<Self>, pool: Server) {
        let mut was_away = false;
        while !pool.is_closed() {
            sleep(if was_away { AGAIN } else { WATCH }).await;
            if !was_away && matches!(timeout(WATCH, Box::pin(self.target.check(self.host()))).await, Ok(Ok(None))) {
                continue;
            }
            let found = self.target.find().await;
            let is_away = found.is_err();
            match found {
                Ok(found) if found != self.current.load(Ordering::Relaxed) => {
                    self.current.store(found, Ordering::Relaxed);
                    let host = &self.host().options;
                    info!(host = host.host, port = host.port, "changed to another database host");
                    *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                }
                Ok(_) => {}
                // Logged once.
                Err(error) if !was_away => error!(%error, "no database host will do"),
                Err(_) => {}
            }
            was_away = is_away;
        }
    }

    /// Whether there is more than one host.
    pub(in crate::db) fn are_several(&self) -> bool {
        self.target.hosts.len() > 1
    }
}

/// Connects to the database that a URL names.
pub(in crate::db) async fn open(target: Target) -> Result<Db, OpenError> {
    let (place, connections) = (target.place(), target.connections);
    let hosts = Arc::new(Hosts::connect(target).await?);
    let requests = Server::new(&hosts, connections, Locks::Usual, None);
    if hosts.are_several() {
        tokio::spawn(Arc::clone(&hosts).watch(requests.clone()));
    }
    // A migration waits for the locks of a mutation, and keeps new readers of its tables waiting. The mutation must not
    // wait behind it.
    let committed = Server::new(&hosts, CONNECTIONS_BESIDE, Locks::Short, None);
    // The webhook sets aside posts whose rows are locked.
    let reserved = Server::new(&hosts, CONNECTIONS_RESERVED, Locks::Short, Some(BEGIN));
    Ok(Db {
        place,
        read: Reader(Source::Server(requests.clone())),
        committed: Reader(Source::Server(committed)),
        writer: Writer::Server(requests),
        reserved: Some(reserved),
        replica: None,
        writes: Arc::default(),
    })
}
