//! SQLite: one file, which this process opens.
//!
//! Invariants: nothing outside `db/` names this folder. One connection writes; others read, on the thread that asks.
//!
//! [`open`] opens the file, [`embedded`] reads and writes, [`pool`] lends the connections, [`connection`] is one of
//! them, and [`watch`] stops its slow statements. [`group_commit`] lets transactions share a flush. [`checkpointer`]
//! copies the write-ahead log, and [`log_length`] holds reads back while it is too long. [`mod@file`] has the names of
//! the files and the mark of the server that uses them, [`backup`](mod@backup) copies them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;

use crate::db::error::SQLITE_BUSY;
use crate::db::read::Source;
use crate::db::{Db, OpenError, PATIENCE, Reader, Writer, url};

pub(in crate::db) mod backup;
pub(in crate::db) mod checkpointer;
pub(in crate::db) mod connection;
pub(in crate::db) mod embedded;
pub(in crate::db) mod file;
pub(in crate::db) mod group_commit;
pub(in crate::db) mod log_length;
pub(in crate::db) mod pool;
pub(in crate::db) mod watch;

use embedded::Embedded;

/// The pause before an attempt to open a file that is locked.
const PAUSE: Duration = Duration::from_millis(20);

/// Opens the file that a URL names, and creates it if it is missing.
pub(in crate::db) async fn open(url: &str) -> Result<Db, OpenError> {
    url::check(url)?;
    let file = file_of(url).ok_or_else(|| OpenError::Url(url::SQLITE.to_owned()))?;
    let place = file::absolute(&file).display().to_string();
    // Ignored: if the file cannot be created, SQLite reports why when it opens it.
    let _ = file::create(&file);
    let readers = Embedded::reading(file.clone());
    let writer = Embedded::writing(file, &readers);
    let started = Instant::now();
    loop {
        // SQLite does not wait for the lock that switching to a write-ahead log takes.
        match writer.open().await {
            Ok(()) => break,
            Err(error) if error.sqlite_code() == Some(SQLITE_BUSY) && started.elapsed() < PATIENCE => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(OpenError::new(&place, error)),
        }
    }
    let read = Reader(Source::Embedded(readers));
    Ok(Db {
        place,
        committed: read.clone(),
        read,
        writer: Writer::Embedded(writer),
        reserved: None,
        replica: None,
        writes: Default::default(),
    })
}

/// The file that a URL names: `sqlite://FILE`, or `sqlite:FILE`, percent-encoded. `?mode=rwc` and `?mode=rw` may follow,
/// as other programs write it; a missing file is always created. `None` for anything else, and for a database in memory,
/// which would be lost with its connection.
pub(in crate::db) fn file_of(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (file, query) = rest.split_once('?').unwrap_or((rest, ""));
    let may_write = |(name, value): (_, _)| name == "mode" && matches!(value, "rw" | "rwc");
    let is_known =
        query.split('&').filter(|part| !part.is_empty()).all(|part| part.split_once('=').is_some_and(may_write));
    let file = percent_decode_str(file).decode_utf8().ok()?;
    (is_known && file != ":memory:").then(|| Path::new(&*file).to_path_buf())
}

/// Whether a URL names a database in memory, which would be lost with its connection.
pub(in crate::db) fn is_in_memory(url: &str) -> bool {
    url.contains(":memory:") || url.contains("mode=memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_file() {
        for (url, file) in [
            ("sqlite://rollcall.db", Some("rollcall.db")),
            ("sqlite:///var/lib/rollcall/rollcall.db", Some("/var/lib/rollcall/rollcall.db")),
            ("sqlite:rollcall.db?mode=rwc", Some("rollcall.db")),
            ("sqlite://a%20file%3F.db?mode=rw", Some("a file?.db")),
            ("sqlite://", Some("")),
            ("sqlite::memory:", None),
            ("sqlite://:memory:", None),
            ("sqlite://rollcall.db?mode=memory", None),
            ("sqlite://rollcall.db?mode=ro", None),
            ("sqlite://rollcall.db?cache=shared", None),
            ("postgres://localhost/rollcall", None),
        ] {
            assert_eq!(file_of(url).as_deref(), file.map(Path::new), "{url}");
        }
    }
}
