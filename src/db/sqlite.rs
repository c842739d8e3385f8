//! Opens an SQLite file.

use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::SqlxSqliteConnector;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::sqlx::{self, ConnectOptions, Connection as _, SqliteConnection};

use super::embedded::Embedded;
use super::read::Source;
use super::refusal::{OpenError, busy};
use super::session::{CHECKPOINT, WRITER};
use super::{Db, PATIENCE, Reader, Writer, file, url};

/// Opens the file that a URL names, and creates it if it is missing.
pub(super) async fn open(url: &str) -> Result<Db, OpenError> {
    url::check(url)?;
    let options = SqliteConnectOptions::from_str(url).map_err(|_| OpenError::Url(url::SQLITE.to_owned()))?;
    let file = options.get_filename().to_path_buf();
    let place = file::absolute(&file).display().to_string();
    // Ignored: if the file cannot be created, SQLite reports why when it opens it.
    let _ = file::create(&file);
    let options = options
        .create_if_missing(true)
        .busy_timeout(PATIENCE)
        .pragma("temp_store", "MEMORY")
        .statement_cache_capacity(256)
        .disable_statement_logging();
    // A commit that was confirmed survives a power cut.
    let writer = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    let writer = writer.pragma("wal_autocheckpoint", CHECKPOINT.to_string());
    let writer = WRITER.iter().fold(writer, |writer, (name, value)| writer.pragma(*name, value.to_string()));
    let started = Instant::now();
    let write = loop {
        // The writer connects first: it creates the file, and SQLite does not wait for the lock that switching to WAL
        // takes.
        let pool = SqlitePoolOptions::new().max_connections(1);
        // An embedded connection does not go stale. Testing, timing out or recycling it would only discard its prepared
        // statements.
        let pool = pool.test_before_acquire(false).idle_timeout(None).max_lifetime(None);
        let pool = pool.after_release(|connection, _| Box::pin(has_no_transaction(connection)));
        match pool.connect_with(writer.clone()).await {
            Ok(pool) => break pool,
            Err(error) if busy(&error) && started.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => return Err(OpenError::of_sqlx(&place, error)),
        }
    };
    let readers = Embedded::reading(file.clone());
    let writer = Writer::Embedded(Embedded::writing(file, &readers));
    let read = Reader(Source::Embedded(readers));
    Ok(Db {
        place,
        committed: read.clone(),
        read,
        writer,
        sea_orm: SqlxSqliteConnector::from_sqlx_sqlite_pool(write),
        reserved: None,
        replica: None,
        writes: Arc::default(),
    })
}

/// Whether a URL names a database in memory, which would be lost with its connection.
pub(super) fn is_in_memory(url: &str) -> bool {
    url.contains(":memory:") || url.contains("mode=memory")
}

/// Whether a connection can be reused. When the disk is full, SQLite rolls the transaction back by itself, and the
/// driver believes that it is still open.
async fn has_no_transaction(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // A queued rollback runs before this ping.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}
