//! Reads at a replica: a standby server of PostgreSQL that replays what the primary has written, some time later.
//!
//! Two rules decide whether a request may read there. A watcher compares the positions of both servers each second, and
//! lets no request read what is older than [`LAG`]. And a request sees at least what its caller has written: the replica
//! must have the rows that the caller's changes have left at the primary, such as their audit entries. A row and its
//! change were committed together, so the replica has both or neither.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::{DbBackend, Statement};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::server::{Access, Server, Transaction};
use super::url::Target;
use super::{Hosts, Locks};
use crate::budget::Budget;
use crate::db::read::{SnapshotKind, Source};
use crate::db::{Backend, Db, Error, Ids, OpenError, Read, Reader, Snapshot, is_any};

/// Requests do not read at the replica while what it shows may be older than this.
const LAG: Duration = Duration::from_secs(10);

/// The interval of comparisons of the two servers, and the timeout of each statement for it.
const WATCH: Duration = Duration::from_secs(1);

/// How long a request waits for the replica to begin before it reads at the primary.
const PATIENCE: Duration = Duration::from_millis(500);

/// A caller with as many recent changes reads at the primary: looking for them all would cost too much.
const CHANGES: usize = 1_000;

/// Selects what identifies the database, and a position in the write-ahead log: what the primary has stored, or what a
/// replica has replayed. A replica that was promoted counts as a primary.
const POSITION: &str = "SELECT system_identifier || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()), \
     pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_flush_lsn() END, '0/0')::bigint, \
     pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END, '0/0')::bigint \
     FROM pg_control_system()";

/// Connections to a replica. All clones share them.
#[derive(Debug, Clone)]
pub(in crate::db) struct Replica {
    pub(in crate::db) server: Server,
    /// How old what it shows may be, at most. `None` while it may not be read.
    lag: watch::Receiver<Option<Duration>>,
    watcher: Arc<Watcher>,
}

/// Compares the two servers, in a task of its own. Ends when dropped.
#[derive(Debug)]
struct Watcher(JoinHandle<()>);

/// A server's answer to [`POSITION`].
#[derive(Debug)]
struct Position {
    /// The database: the cluster's identifier, and the database's number in it.
    database: String,
    /// What a server that accepts writes has stored.
    stored: Option<i64>,
    /// What a standby server has replayed.
    replayed: Option<i64>,
}

impl Position {
    async fn read(reader: &Reader) -> Result<Self, Error> {
        let statement = Statement::from_string(DbBackend::Postgres, POSITION);
        let read = reader
            .rows_by(statement, |row| Ok(Self { database: row.get(0)?, stored: row.get(1)?, replayed: row.get(2)? }));
        let found = timeout(WATCH, read).await.unwrap_or(Err(Error::Stalled))?.pop();
        found.ok_or_else(|| Error::fault("the server's position"))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Replica {
    fn lag(&self) -> Option<Duration> {
        *self.lag.borrow()
    }

    /// Closes the connections.
    pub(in crate::db) async fn close(&self) {
        self.watcher.0.abort();
        self.server.close().await;
    }

    /// Begins a read. `None` if the replica lacks some of the rows that `written` selects, which are at the primary.
    async fn begin(
        &self,
        once: bool,
        written: Option<(Ids, Vec<i64>)>,
        budget: &Arc<Budget>,
    ) -> Result<Option<Snapshot>, Error> {
        let access = (!once).then_some(Access::Read);
        let transaction = match (written, access) {
            (None, None) => self.server.once().await?,
            (None, Some(access)) => self.server.begin(access).await?,
            (Some((Ids { mut select, id, .. }, at_primary)), access) => {
                // A statement of its own: a transaction would go on showing what its first statement has seen.
                let check = Snapshot::new(SnapshotKind::Once(self.server.once().await?), None);
                select.and_where(is_any(DbBackend::Postgres, id, &at_primary));
                if check.count_rows(select).await? < at_primary.len() as u64 {
                    return Ok(None);
                }
                let SnapshotKind::Once(checked) = check.kind else { return Ok(None) };
                checked.then(access)
            }
        };
        let kind: fn(Transaction) -> SnapshotKind = if once { SnapshotKind::Once } else { SnapshotKind::Server };
        Ok(Some(Snapshot::new(kind(transaction), Some(Arc::clone(budget)))))
    }
}

impl Db {
    /// Lets requests read at the replica that a URL names. It need not be reachable yet.
    ///
    /// # Errors
    /// This database is not on PostgreSQL, or the URL does not name one server of PostgreSQL.
    pub fn with_replica(mut self, url: &str) -> Result<Self, OpenError> {
        let (place, server) = self.replica_at(url)?;
        let (told, lag) = watch::channel(None);
        let primary = self.reserved().read().clone();
        let replica = Reader(Source::Server(server.clone()));
        let watcher = Arc::new(Watcher(tokio::spawn(watch(place, primary, replica, told))));
        self.replica = Some(Replica { server, lag, watcher });
        Ok(self)
    }

    /// Compares this database with the replica that a URL names. Returns the replica's host and database, for messages,
    /// and how old what it shows may be, at most.
    ///
    /// # Errors
    /// Why requests could not read there, in one sentence.
    pub async fn examine_replica(&self, url: &str) -> Result<(String, Duration), String> {
        let (place, server) = self.replica_at(url).map_err(|error| error.to_string())?;
        let replica = Reader(Source::Server(server.clone()));
        let mut progress = Progress::default();
        let mut seen = compare(self.read(), &replica, &mut progress).await;
        if seen.is_err() {
            // It may just not have replayed what was written a moment ago.
            sleep(WATCH).await;
            seen = compare(self.read(), &replica, &mut progress).await;
        }
        server.close().await;
        match seen {
            Ok(lag) => Ok((place, lag)),
            Err(why) => Err(format!("queries cannot read at the replica {place}: {why}")),
        }
    }

    /// The connections to the replica that a URL names, and where it is, for messages.
    fn replica_at(&self, url: &str) -> Result<(String, Server), OpenError> {
        let wrong = |why: &str| OpenError::Parameter(format!("the URL of the replica {why}"));
        if self.read.backend() != DbBackend::Postgres {
            return Err(wrong("needs a database on PostgreSQL, and this one is on SQLite"));
        }
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(wrong("must be postgres://USER:PASSWORD@HOST/DATABASE"));
        }
        let target: Target = url.parse()?;
        if target.hosts.len() > 1 {
            return Err(wrong("must name one host"));
        }
        if target.must_be_writable {
            return Err(wrong("must not ask for a server that accepts writes"));
        }
        let (place, connections) = (target.place(), target.connections);
        Ok((place, Server::new(&Arc::new(Hosts::unconnected(target)), connections, Locks::Usual, Some(WATCH))))
    }

    /// Whether there is a replica.
    pub fn has_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// How old what the replica shows may be, at most. `None` while it may not be read, or if there is none.
    pub fn replica_lag(&self) -> Option<Duration> {
        self.replica.as_ref().and_then(Replica::lag)
    }

    /// Like [`Self::begin_read`], or [`Self::read_once`] if `once`, at the replica. `written` selects the rows that the
    /// reader has written and must see. `None` if the replica does not have them yet, or may not be read. If it fails,
    /// or its reads do, the primary may be able to answer.
    pub async fn begin_at_replica(
        &self,
        once: bool,
        written: Option<Ids>,
        budget: &Arc<Budget>,
    ) -> Result<Option<Snapshot>, Error> {
        let Some(replica) = self.replica.as_ref().filter(|replica| replica.lag().is_some()) else { return Ok(None) };
        let mut expected = None;
        if let Some(written) = written {
            let select = written.select.clone().limit(CHANGES as u64).take();
            let at_primary = self.read.rows(&select, |row| row.get::<i64>(0)).await?;
            if at_primary.len() >= CHANGES {
                return Ok(None);
            }
            expected = Some((written, at_primary)).filter(|(_, at_primary)| !at_primary.is_empty());
        }
        let begun = Box::pin(replica.begin(once, expected, budget));
        timeout(PATIENCE, begun).await.unwrap_or(Err(Error::Stalled))
    }

    /// Does what reads at the replica, until the replica may not be read any more. Then returns `None`.
    pub async fn while_replica_is_usable<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let Some(replica) = &self.replica else { return None };
        let mut lag = replica.lag.clone();
        tokio::select! {
            biased;
            done = work => Some(done),
            // It also ends with the watcher.
            _ = lag.wait_for(Option::is_none) => None,
        }
    }
}

/// Compares the two servers, and tells how old what the replica shows may be.
async fn watch(place: String, primary: Reader, replica: Reader, told: watch::Sender<Option<Duration>>) {
    let mut progress = Progress::default();
    let mut was_usable = None;
    loop {
        let seen = compare(&primary, &replica, &mut progress).await;
        let is_usable = seen.is_ok();
        // Logged when it changes, not every second.
        match &seen {
            _ if was_usable == Some(is_usable) => {}
            Ok(_) => info!(replica = place, "queries read at the replica"),
            Err(why) => warn!(replica = place, why, "queries read at the primary, not at the replica"),
        }
        told.send_replace(seen.ok());
        was_usable = Some(is_usable);
        sleep(WATCH).await;
    }
}

/// Returns how old what the replica shows may be, or why that cannot be said. A primary that does not answer, for example
/// because it is busy, does not make the replica unusable at once.
async fn compare(primary: &Reader, replica: &Reader, progress: &mut Progress) -> Result<Duration, String> {
    let away = |server: &'static str| move |error: Error| format!("{server} does not answer: {}", error.reason());
    // In this order: what the primary has stored by now, the replica may have replayed a moment later.
    let asked = Instant::now();
    let primary = Position::read(primary).await.map_err(away("the primary"));
    let replica = Position::read(replica).await.map_err(away("it"))?;
    let replayed = replica.replayed.ok_or("it is not a replica any more, or has replayed nothing yet")?;
    let stored = match &primary {
        Ok(primary) if primary.database != replica.database => {
            *progress = Progress::default();
            return Err("it is a replica of another database".to_owned());
        }
        Ok(primary) => Some(primary.stored.ok_or("the primary is a replica itself")?),
        Err(_) => None,
    };
    progress.note(asked, stored, replayed).map_err(|why| primary.err().unwrap_or(why))
}

/// What the primary had stored at recent moments, and where the replica was.
#[derive(Debug, Default)]
struct Progress {
    /// Of the last [`LAG`], the oldest first.
    stored: VecDeque<(Instant, i64)>,
    replayed: i64,
}

impl Progress {
    /// Notes the positions, that of the primary if it is known. Returns how old what the replica shows may be, by the
    /// last moment whose changes it has.
    fn note(&mut self, at: Instant, stored: Option<i64>, replayed: i64) -> Result<Duration, String> {
        // The primary was asked after the replica had got that far.
        let is_ahead = stored.is_some_and(|stored| self.replayed > stored);
        self.replayed = replayed;
        if is_ahead {
            return Err("it has replayed changes that the primary does not have".to_owned());
        }
        self.stored.retain(|(then, _)| at.saturating_duration_since(*then) <= LAG);
        self.stored.extend(stored.map(|stored| (at, stored)));
        let reached = self.stored.iter().rev().find(|(_, stored)| *stored <= replayed);
        let lag = reached.map(|(then, _)| at.saturating_duration_since(*then));
        lag.ok_or_else(|| format!("it has not caught up with what was written {} s ago", LAG.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_is_as_old_as_the_last_moment_whose_changes_it_has() {
        let (mut progress, began) = (Progress::default(), Instant::now());
        let mut at = |second: u64, stored, replayed| {
            progress.note(began + Duration::from_secs(second), stored, replayed).map(|lag| lag.as_secs())
        };
        assert!(at(0, Some(100), 90).is_err(), "nothing is known of 90");
        assert_eq!(at(1, Some(200), 99).ok(), None);
        assert_eq!(at(2, Some(300), 100), Ok(2));
        assert_eq!(at(3, Some(400), 299), Ok(2));
        assert_eq!(at(4, Some(400), 400), Ok(0));
        assert_eq!(at(14, Some(500), 450), Ok(10));
        assert!(at(15, Some(600), 450).is_err(), "it has not moved for longer than it may");
        assert_eq!(at(16, Some(600), 700), Ok(0), "it may have got further by the time it was asked");
        assert!(at(17, Some(600), 700).is_err(), "but not further than the primary has by the next time");
        assert!(at(18, Some(699), 700).is_err());
        assert_eq!(at(19, Some(700), 700), Ok(0), "the primary has it now");
        assert_eq!(at(22, None, 800), Ok(3), "the primary does not answer");
        assert_eq!(at(29, None, 800), Ok(10));
        assert!(at(30, None, 900).is_err(), "not for longer than the replica may lag");
        assert_eq!(at(31, Some(950), 950), Ok(0));
    }
}
