//! Keeps the write-ahead log of an SQLite file from growing without bound.
//!
//! SQLite starts the log over once all of it is copied and nobody reads from it. While long reads overlap, there is no
//! such moment, and the log grows by all that is written. So when it stays too long although it was copied, new
//! transactions that read wait until those that run have ended and the rest is copied. Single statements do not wait:
//! they are short.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::connection::CHECKPOINT;
use super::pool::Connections;

/// The log is too long at this many times the pages at which it is checkpointed.
const TIMES: i32 = 16;

/// The number of pages at which the log is too long, so that new reads wait until it can start over: 250 MiB.
pub const LONG_LOG: i32 = TIMES * CHECKPOINT;

/// How long new reads wait for those that run: a little longer than a query may take.
const READS_END: Duration = Duration::from_secs(35);

/// Decides by its length what is done about the log.
pub(in crate::db) struct LogLength {
    readers: Arc<Connections>,
    /// The number of pages at which the log is checkpointed.
    checkpoint: i32,
    /// Whether it was too long when it was copied last.
    was_long: AtomicBool,
    /// The number of pages at which reads are held back.
    held_at: AtomicI32,
}

impl LogLength {
    /// The log that these connections read, to be checkpointed at so many pages: [`CHECKPOINT`], except in tests.
    pub(in crate::db) fn new(readers: Arc<Connections>, checkpoint: i32) -> Self {
        let held_at = AtomicI32::new(TIMES * checkpoint);
        Self { readers, checkpoint, was_long: AtomicBool::new(false), held_at }
    }

    /// Whether a log of so many pages is checkpointed.
    pub(in crate::db) fn is_long(&self, pages: i32) -> bool {
        pages >= self.checkpoint
    }

    /// Whether to hold reads back while a log of this many pages is copied. The first copy of a long log holds nothing
    /// back: perhaps no read is in the way. After a copy with reads held back, the next one waits until the log is twice
    /// as long or has started over, because holding reads back delays them and may not have helped.
    fn is_too_long(&self, pages: i32) -> bool {
        let long = TIMES * self.checkpoint;
        if pages < long {
            self.held_at.store(long, Ordering::Relaxed);
            self.was_long.store(false, Ordering::Relaxed);
            return false;
        }
        let is_too_long = self.was_long.swap(true, Ordering::Relaxed) && pages >= self.held_at.load(Ordering::Relaxed);
        if is_too_long {
            self.held_at.store(pages.saturating_mul(2), Ordering::Relaxed);
        }
        is_too_long
    }

    /// If a log of so many pages is too long, waits until no transaction reads. None begins before the permit is
    /// dropped.
    pub(in crate::db) async fn hold_reads(&self, pages: i32) -> Option<OwnedSemaphorePermit> {
        if !self.is_too_long(pages) {
            return None;
        }
        tracing::info!(pages, "the write-ahead log is too long: new reads wait until it can start over");
        let Ok(held) = timeout(READS_END, self.readers.hold_back()).await else {
            tracing::warn!(
                pages,
                "the write-ahead log cannot start over: a read takes too long; new reads wait no longer, and the log \
                 grows until that read has ended"
            );
            return None;
        };
        // It fails only when the database is closed.
        held.ok()
    }

    /// Reports that the log cannot start over although reads were held back.
    pub(in crate::db) fn report_in_use(pages: i32) {
        tracing::warn!(
            pages,
            "the write-ahead log cannot start over: another process uses the database, such as a backup, or a \
             statement or a change takes too long; the log grows until that has ended"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tokio::task::JoinHandle;
    use tokio::time::sleep;

    use super::super::connection::{Connection, Failure};
    use super::*;
    use crate::db::PATIENCE;

    /// The number of pages at which the log of a test is checkpointed.
    const SHORT: i32 = 50;

    /// The bytes that a page takes in the log.
    const PAGE: u64 = 4096 + 24;

    /// The pages that [`LogFixture::write`] appends to the log, at least.
    const WRITTEN: u64 = 25;

    struct LogFixture {
        _folder: tempfile::TempDir,
        file: PathBuf,
        readers: Arc<Connections>,
        writer: Arc<Connections>,
    }

    impl LogFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("rows.db");
            let made = rusqlite::Connection::open(&file).and_then(|made| {
                made.pragma_update(None, "journal_mode", "WAL")?;
                made.execute_batch("CREATE TABLE row (id INTEGER PRIMARY KEY, bytes BLOB)")
            });
            made.expect("a table");
            let readers = Connections::reading(file.clone());
            let writer = Connections::writing(file.clone(), LogLength::new(Arc::clone(&readers), SHORT));
            Self { _folder: folder, file, readers, writer }
        }

        /// Writes a row, and returns the number of pages in the log.
        async fn write(&self) -> i32 {
            let lease = self.writer.lend_in_turn().await.expect("the connection");
            let committed = lease.with(|connection| {
                connection.begin_write(PATIENCE)?;
                connection.script("REPLACE INTO row (id, bytes) VALUES (1, randomblob(100000))")?;
                connection.commit()
            });
            drop(lease);
            let (commit, pages) = committed.map_err(crate::db::Error::from).expect("a commit");
            Arc::clone(&self.writer).begin_checkpoint(pages);
            commit.durable().await.expect("it is durable");
            sleep(Duration::from_millis(1)).await;
            pages
        }

        /// Reads in one transaction after another, each of which takes this long.
        fn keep_reading(&self, time: Duration) -> JoinHandle<()> {
            let readers = Arc::clone(&self.readers);
            tokio::spawn(async move {
                while let Ok(lease) = readers.lend().await {
                    assert!(lease.with(begin_read).is_ok(), "a snapshot");
                    sleep(time).await;
                }
            })
        }

        async fn close(&self) {
            self.readers.close().await;
            self.writer.close().await;
        }
    }

    fn begin_read(connection: &Connection) -> Result<(), Failure> {
        snapshot(&connection.sqlite).map_err(Failure::Sqlite)
    }

    /// Begins to read what is there.
    fn snapshot(sqlite: &rusqlite::Connection) -> rusqlite::Result<()> {
        sqlite.execute_batch("BEGIN")?;
        sqlite.query_row("SELECT count(*) FROM row", [], |_| Ok(()))
    }

    #[tokio::test]
    async fn the_log_starts_over_although_reads_always_overlap() {
        let place = LogFixture::new();
        let reads = [60, 90].map(|time| place.keep_reading(Duration::from_millis(time)));
        let writes = 20 * u64::from((TIMES * SHORT).unsigned_abs()) / WRITTEN;
        for _ in 0..writes {
            place.write().await;
        }
        let length = fs::metadata(place.file.with_extension("db-wal")).expect("the log").len();
        assert!(reads.iter().all(|read| !read.is_finished()), "they have read all the time");
        assert!(length < writes * WRITTEN * PAGE / 2, "{length} bytes after {writes} writes");
        reads.iter().for_each(JoinHandle::abort);
        place.close().await;
    }

    #[tokio::test]
    async fn reads_go_on_while_another_process_keeps_the_log_from_starting_over() {
        let place = LogFixture::new();
        let other = rusqlite::Connection::open(&place.file).expect("a connection");
        snapshot(&other).expect("a snapshot");
        while place.write().await < 2 * TIMES * SHORT {}
        let lent = timeout(Duration::from_secs(10), place.readers.lend()).await;
        drop(lent.expect("reads wait a moment only").expect("a connection"));
        drop(other);
        let mut writes = 0;
        while place.write().await >= TIMES * SHORT {
            writes += 1;
            assert!(writes < 1_000, "the log starts over when nobody reads");
        }
        place.close().await;
    }

    #[tokio::test]
    async fn reads_are_held_back_when_copying_does_not_help_and_again_when_the_log_is_twice_as_long() {
        let place = LogFixture::new();
        let log = LogLength::new(Arc::clone(&place.readers), SHORT);
        let long = TIMES * SHORT;
        for (pages, is_too_long) in [
            (long - 1, false),
            (long, false),
            (long, true),
            (long + 1, false),
            (2 * long, true),
            (3 * long, false),
            (SHORT, false),
            (3 * long, false),
            (3 * long, true),
        ] {
            assert_eq!(log.is_too_long(pages), is_too_long, "{pages} pages");
        }
    }
}
