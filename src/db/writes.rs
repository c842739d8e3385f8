//! Whether the database takes writes at present, as what became of the last one tells.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sea_orm::{ConnectionTrait, DbBackend, DbErr};

use super::refusal::NEWER;
use super::{Db, refusal};

/// After how long without a write one is tried, to know whether it would succeed.
const QUIET: Duration = Duration::from_secs(60);

/// The same, while writes fail.
const AGAIN: Duration = Duration::from_secs(5);

/// What became of the last write of a process.
#[derive(Debug)]
pub(super) struct Writes {
    last: Mutex<Last>,
    /// Whether a newer program has migrated the database. What this one would write may break what that one expects.
    newer: AtomicBool,
}

#[derive(Debug)]
struct Last {
    /// When it was done or tried.
    at: Instant,
    /// Why it failed.
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

    /// Notes what became of a write. An error that is about what was written says nothing of the next one.
    pub(super) fn note(&self, outcome: Result<(), &DbErr>) {
        let failing = match outcome.map_err(refusal) {
            Ok(()) => None,
            Err(Some(reason)) => Some(reason),
            Err(None) => return,
        };
        *self.lock() = Last { at: Instant::now(), failing };
    }

    /// Notes whether the database is of a newer program.
    pub(super) fn note_version(&self, is_newer: bool) {
        self.newer.store(is_newer, Ordering::Relaxed);
    }

    /// Refuses every write while the database is of a newer program.
    pub(super) fn check_version(&self) -> Result<(), DbErr> {
        if self.newer.load(Ordering::Relaxed) { Err(DbErr::Custom(NEWER.to_owned())) } else { Ok(()) }
    }

    /// Whether a write is to be tried, because there was none for long. Says so to one caller alone.
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
    /// Why writes fail at present; nothing while they succeed. Where there was none for long, one is tried beside the
    /// caller, whose outcome is then told to the next.
    pub fn writes_fail(&self) -> Option<&'static str> {
        if self.writes.is_due(Instant::now()) {
            let db = self.clone();
            tokio::spawn(async move {
                // Its outcome is noted on the way.
                let _ = db.try_write().await;
            });
        }
        self.writes.lock().failing
    }

    /// Notes that a write failed, where that is said of any write at present and not of this one.
    pub fn note_failed_write(&self, error: &DbErr) {
        self.writes.note(Err(error));
    }

    /// Writes something that nobody reads, to the disk.
    pub async fn try_write(&self) -> Result<(), DbErr> {
        let transaction = self.begin_write().await?;
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let write = match transaction.get_database_backend() {
            DbBackend::Postgres => "UPDATE seaql_migrations SET applied_at = applied_at \
                 WHERE version = (SELECT max(version) FROM seaql_migrations)"
                .to_owned(),
            // Another number each time: what is the same is not written.
            _ => format!("PRAGMA user_version = {}", seconds & 0x7fff_ffff),
        };
        if let Err(error) = transaction.execute_unprepared(&write).await {
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
        writes.note(Err(&DbErr::ConnectionAcquire(sea_orm::ConnAcquireErr::Timeout)));
        let failed = Instant::now();
        assert_eq!(writes.lock().failing, Some("The database cannot be reached."));
        writes.note(Err(&DbErr::RecordNotUpdated));
        assert!(writes.lock().failing.is_some(), "what one write is refused for says nothing of the others");
        assert!(!writes.is_due(failed) && writes.is_due(failed + AGAIN));
        writes.note(Ok(()));
        assert_eq!(writes.lock().failing, None);
    }
}
