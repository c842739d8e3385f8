//! Tracks whether the database currently accepts writes, from the outcome of the last one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sea_orm::{DbBackend, Statement};

use super::error::{Trouble, Unconfirmed};
use super::write::Write;
use super::{Backend, Db, Error, Read};

/// A test write is made after this long without a write.
const QUIET: Duration = Duration::from_secs(60);

/// The interval of test writes while writes fail.
const AGAIN: Duration = Duration::from_secs(5);

/// The outcome of the process's last write.
#[derive(Debug)]
pub(super) struct Writes {
    last: Mutex<Last>,
    /// Whether a newer program has migrated the database so that this one cannot use it. A write could then break what
    /// that program expects.
    newer: AtomicBool,
}

#[derive(Debug)]
struct Last {
    /// The time of the last write or test write.
    at: Instant,
    /// Why it failed, if it did.
    failing: Option<&'static str>,
}

impl Default for Writes {
    fn default() -> Self {
        Self { last: Mutex::new(Last { at: Instant::now(), failing: None }), newer: AtomicBool::new(false) }
    }
}

impl Writes {
    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the outcome of a write. Ignores errors that concern only the data that was written.
    pub(super) fn note(&self, outcome: Result<(), &Error>) {
        let failing = match outcome {
            Ok(()) => None,
            Err(Error::Uncertain(Unconfirmed::Connection)) => Error::Stalled.refusal(),
            Err(Error::Uncertain(Unconfirmed::Disk)) => Error::DiskFailed.refusal(),
            Err(error) => match error.refusal() {
                Some(reason) => Some(reason),
                None => return,
            },
        };
        *self.lock() = Last { at: Instant::now(), failing };
    }

    /// Records whether a newer program has migrated the database so that this one cannot use it.
    pub(super) fn note_version(&self, is_newer: bool) {
        self.newer.store(is_newer, Ordering::Relaxed);
    }

    /// Refuses every write after a newer program has migrated the database so that this one cannot use it.
    pub(super) fn check_version(&self) -> Result<(), Error> {
        if self.newer.load(Ordering::Relaxed) { Err(Error::Newer) } else { Ok(()) }
    }

    /// Whether a test write is due. Returns true to one caller only.
    fn is_due(&self, now: Instant) -> bool {
        let mut last = self.lock();
        let rest = if last.failing.is_some() { AGAIN } else { QUIET };
        let is_due = now.saturating_duration_since(last.at) >= rest;
        if is_due {
            last.at = now;
        }
        is_due
    }
}

impl Db {
    /// Why writes currently fail; `None` while they succeed. Starts a test write in the background if one is due; the
    /// next call sees its outcome.
    pub fn writes_fail(&self) -> Option<&'static str> {
        if self.writes.is_due(Instant::now()) {
            let db = self.clone();
            tokio::spawn(async move {
                // The call itself records the outcome.
                let _ = db.try_write().await;
            });
        }
        self.writes.lock().failing
    }

    /// Asks PostgreSQL whether it is read-only, because it is a replica or was set so. Records that as a failed write.
    pub(super) async fn look_for_read_only(&self) -> Result<(), Error> {
        if self.read.backend() != DbBackend::Postgres {
            return Ok(());
        }
        let query = Statement::from_string(DbBackend::Postgres, "SHOW transaction_read_only");
        if self.read.rows_by(query, |row| row.get::<String>(0)).await? == ["on"] {
            *self.writes.lock() = Last { at: Instant::now(), failing: Some(Trouble::ReadOnly.sentence()) };
        }
        Ok(())
    }

    /// Records a failed write, if the error would affect any write.
    pub fn note_failed_write(&self, error: &Error) {
        self.writes.note(Err(error));
    }

    /// Makes a test write to the disk.
    pub async fn try_write(&self) -> Result<(), Error> {
        let transaction = self.begin_write().await?;
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let write = match transaction.backend() {
            DbBackend::Postgres => "UPDATE seaql_migrations SET applied_at = applied_at \
                 WHERE version = (SELECT max(version) FROM seaql_migrations)"
                .to_owned(),
            // A different number each time: SQLite does not write an unchanged value.
            _ => format!("PRAGMA user_version = {}", seconds & 0x7fff_ffff),
        };
        if let Err(error) = transaction.script(&write).await {
            self.note_failed_write(&error);
            return Err(error);
        }
        self.commit(transaction).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_tried_when_there_was_none_for_long_and_by_one_caller() {
        let writes = Writes::default();
        let start = Instant::now();
        assert!(!writes.is_due(start + QUIET / 2));
        let later = start + QUIET * 2;
        assert!(writes.is_due(later));
        assert!(!writes.is_due(later));
        writes.note(Err(&Error::NoConnection));
        let failed = Instant::now();
        assert_eq!(writes.lock().failing, Some("The database cannot be reached."));
        writes.note(Err(&Error::LostRace));
        assert!(writes.lock().failing.is_some(), "what one write is refused for says nothing of the others");
        assert!(!writes.is_due(failed) && writes.is_due(failed + AGAIN));
        writes.note(Ok(()));
        assert_eq!(writes.lock().failing, None);
    }
}
