//! Group commit on SQLite: transactions that commit at the same time share one disk flush.
//!
//! With `synchronous = FULL`, SQLite flushes its write-ahead log in each commit, and the next transaction waits for the
//! disk. Here a commit only appends to the log (`synchronous = NORMAL`), and the next transaction begins at once. One
//! flush then makes all commits durable that came before it. [`super::Db::commit`] returns after the flush that covers
//! its commit, so whatever was answered survives a power cut.
//!
//! Others can read a change a moment before it is durable. That is a few milliseconds, and nobody has been told yet
//! that it is stored.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sea_orm::DbErr;
use tokio::sync::watch;

use super::refusal::UNCERTAIN_DISK;

/// What the log says when the disk has failed.
pub(super) const FAILED: &str = "the disk failed to store a change; rollcall refuses changes until it is restarted";

/// The write-ahead log of an SQLite file, to be flushed.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    progress: watch::Sender<Progress>,
    /// Whether a flush has failed. The system reports a failure once and forgets what it could not store, so a later
    /// success would prove nothing.
    has_failed: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Progress {
    /// The number of the last commit.
    committed: u64,
    /// All commits up to this number are durable.
    durable: u64,
    /// Whether a flush runs.
    is_flushing: bool,
}

/// A transaction that has committed.
pub(super) struct Commit {
    log: Arc<Log>,
    /// The number of the last commit when it ended.
    number: u64,
}

impl Log {
    /// Opens the log of a database that is open. Sets `has_failed` when a flush fails.
    pub(super) fn open(database: &Path, has_failed: &Arc<AtomicBool>) -> io::Result<Self> {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let file = OpenOptions::new().write(true).open(&log)?;
        // The log may be new. Its name must survive a power cut too.
        if let Some(folder) = log.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self { file, progress: watch::Sender::default(), has_failed: Arc::clone(has_failed) })
    }

    /// Notes that a transaction has ended, before another one can begin. If it wrote to the log (`has_changed`), begins
    /// to flush it, unless a flush is running, which then goes on. One that wrote nothing may have read what is not
    /// durable yet.
    pub(super) fn note(self: &Arc<Self>, has_changed: bool) -> Commit {
        let (mut number, mut begins) = (0, false);
        self.progress.send_if_modified(|progress| {
            progress.committed += u64::from(has_changed);
            number = progress.committed;
            begins = has_changed && !progress.is_flushing;
            progress.is_flushing |= begins;
            false
        });
        if begins {
            let log = Arc::clone(self);
            tokio::task::spawn_blocking(move || while log.flush() {});
        }
        Commit { log: Arc::clone(self), number }
    }

    /// Makes durable what was committed before. Returns whether more was committed in the meantime.
    fn flush(&self) -> bool {
        let last = self.progress.borrow().committed;
        if let Err(error) = self.file.sync_data() {
            tracing::error!(%error, "{FAILED}");
            self.has_failed.store(true, Ordering::Relaxed);
        }
        let has_failed = self.has_failed.load(Ordering::Relaxed);
        let mut goes_on = false;
        self.progress.send_modify(|progress| {
            if !has_failed {
                progress.durable = last;
            }
            goes_on = !has_failed && progress.committed > last;
            progress.is_flushing = goes_on;
        });
        goes_on
    }
}

impl Commit {
    /// Waits until the transaction is durable.
    pub(super) async fn durable(self) -> Result<(), DbErr> {
        let Self { log, number } = self;
        let mut progress = log.progress.subscribe();
        let is_over = |progress: &Progress| progress.durable >= number || log.has_failed.load(Ordering::Relaxed);
        match progress.wait_for(is_over).await {
            Ok(progress) if progress.durable >= number => Ok(()),
            _ => Err(uncertain()),
        }
    }
}

/// The error of a commit that may not be durable.
fn uncertain() -> DbErr {
    DbErr::Custom(UNCERTAIN_DISK.to_owned())
}
