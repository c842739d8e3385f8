//! Group commit on SQLite: transactions that commit at the same time share one disk flush.
//!
//! Mutations share even the commit: while others wait for their turn, each is a savepoint in one transaction of SQLite
//! ([`super::connection`]). So a page that all of them change, such as the last one of the audit, is written once.
//! A loop of the statements alone runs 1.6 to 1.9 times as fast with it. The gain of a whole request is smaller, because
//! most of its time goes elsewhere: on two cores that they shared with the server, 64 clients who change services made
//! 2,180 changes a second rather than 1,900 with a commit for each, and 2,720 rather than 2,550 on a disk whose flush takes
//! 2 ms more.
//!
//! With `synchronous = FULL`, SQLite flushes its write-ahead log in each commit, and the next transaction waits for the
//! disk. Here a commit only appends to the log (`synchronous = NORMAL`), and the next transaction begins at once. One
//! flush then makes all commits durable that came before it. [`crate::db::Db::commit`] returns after the flush that covers
//! its commit, so whatever was answered survives a power cut.
//!
//! Most of the gain is that of the shared flush. A loop that only runs the statements of such changes does 3,200 a second
//! for 64 clients with it, and 210 with `FULL`. SQLite cannot share it by itself: it flushes in the connection that commits.
//!
//! Others can read a change a moment before it is durable. That is a few milliseconds, and nobody has been told yet
//! that it is stored.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::db::Error;
use crate::db::error::Unconfirmed;
use crate::db::lock::lock;

/// The write-ahead log of an SQLite file, to be flushed.
#[derive(Debug)]
pub(in crate::db) struct Log {
    file: File,
    flushes: Arc<Flushes>,
}

/// The flushes of a database's log. They outlive the connection that writes, which is replaced after a panic: the next
/// one can read what the running flush has not stored yet.
#[derive(Debug, Default)]
pub(in crate::db) struct Flushes {
    progress: Mutex<Progress>,
    /// Whether a flush has failed. The system reports a failure once and forgets what it could not store, so a later
    /// success would prove nothing.
    has_failed: AtomicBool,
}

#[derive(Debug, Default)]
struct Progress {
    /// Whether a flush runs.
    is_flushing: bool,
    /// The commits that the running flush does not cover. The next one does.
    next: Vec<Waiting>,
    /// The commits that the running flush covers.
    covered: Vec<Waiting>,
}

/// A commit that is not durable yet: where its outcome is told. Dropped without one, it may or may not be durable.
pub(in crate::db) type Waiting = oneshot::Sender<Result<(), Error>>;

/// The outcome of a commit, once it is known.
pub(in crate::db) struct Commit(oneshot::Receiver<Result<(), Error>>);

/// Counts a caller as waiting, until dropped.
pub(in crate::db) struct Waits<'c>(&'c AtomicUsize);

impl<'c> Waits<'c> {
    pub(in crate::db) fn new(waiting: &'c AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Flushes {
    /// Whether the disk has failed to store a change.
    pub(in crate::db) fn have_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Notes that the disk has failed to store a change.
    pub(in crate::db) fn fail(&self, error: impl Display) {
        tracing::error!(%error, "the disk failed to store a change; rollcall refuses changes until it is restarted");
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

impl Log {
    /// Opens the log of a database that is open.
    pub(in crate::db) fn open(database: &Path, flushes: &Arc<Flushes>) -> io::Result<Self> {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let file = OpenOptions::new().write(true).open(&log)?;
        // The log may be new. Its name must survive a power cut too.
        if let Some(folder) = log.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self { file, flushes: Arc::clone(flushes) })
    }

    /// Notes that a transaction has committed, before another one can begin. If it wrote to the log (`has_changed`),
    /// begins to flush it, unless a flush is running, which then goes on. One that wrote nothing may have read what is
    /// not durable yet.
    pub(in crate::db) fn note(self: &Arc<Self>, has_changed: bool, commits: Vec<Waiting>) {
        let mut progress = lock(&self.flushes.progress);
        if self.flushes.have_failed() {
            // Nobody tells them: waiting for them fails.
            return;
        }
        match has_changed {
            true => progress.next.extend(commits),
            // They wait for the commits before them.
            false if !progress.next.is_empty() => progress.next.extend(commits),
            false if progress.is_flushing => progress.covered.extend(commits),
            false => return tell(commits, &Ok(())),
        }
        if !progress.is_flushing {
            progress.is_flushing = true;
            let log = Arc::clone(self);
            tokio::task::spawn_blocking(move || while log.flush() {});
        }
    }

    /// Makes durable what was committed before. Returns whether more was committed in the meantime.
    fn flush(&self) -> bool {
        let mut progress = lock(&self.flushes.progress);
        progress.covered = std::mem::take(&mut progress.next);
        drop(progress);
        let flushed = self.file.sync_data();
        let mut progress = lock(&self.flushes.progress);
        if let Err(error) = flushed {
            self.flushes.fail(error);
        }
        let covered = std::mem::take(&mut progress.covered);
        let has_failed = self.flushes.have_failed();
        if has_failed {
            progress.next.clear();
        }
        let goes_on = !progress.next.is_empty();
        progress.is_flushing = goes_on;
        drop(progress);
        if !has_failed {
            tell(covered, &Ok(()));
        }
        goes_on
    }
}

impl Commit {
    /// Creates a commit, and where its outcome is told.
    pub(in crate::db) fn new() -> (Waiting, Self) {
        let (tell, told) = oneshot::channel();
        (tell, Self(told))
    }

    /// Waits until the transaction is durable. Fails if it was not stored, and as uncertain if a flush has failed.
    pub(in crate::db) async fn durable(self) -> Result<(), Error> {
        self.0.await.unwrap_or_else(|_| Err(uncertain()))
    }
}

/// Tells the outcome of commits.
pub(in crate::db) fn tell(commits: Vec<Waiting>, outcome: &Result<(), Error>) {
    for commit in commits {
        // Its caller may have given up.
        let _ = commit.send(outcome.clone());
    }
}

/// The error of a commit that may not be durable.
fn uncertain() -> Error {
    Error::Uncertain(Unconfirmed::Disk)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_commit_waits_for_the_flush_that_another_connection_has_begun() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("rows.db-wal"), "").expect("a log");
        let flushes: Arc<Flushes> = Arc::default();
        // A connection has written, and was closed while the disk stores that.
        lock(&flushes.progress).is_flushing = true;
        let next = Arc::new(Log::open(&folder.path().join("rows.db"), &flushes).expect("a log"));
        let (waiting, commit) = Commit::new();
        next.note(false, vec![waiting]);
        let mut durable = Box::pin(commit.durable());
        assert!((&mut durable).now_or_never().is_none(), "what it has read is not durable yet");
        let covered = std::mem::take(&mut lock(&flushes.progress).covered);
        tell(covered, &Ok(()));
        durable.await.expect("it is durable");
    }
}
