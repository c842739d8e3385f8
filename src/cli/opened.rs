//! Opens the database of a command, and closes it again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::console::say;
use crate::config::Database;
use crate::db::{self, Db};

/// The timeout for closing the database: SQLite checkpoints its log into the file.
const CLOSING: Duration = Duration::from_secs(5);

/// Opens a database that exists, runs `work` and closes the database, even if `work` fails. A closed SQLite database is
/// a single file: SQLite checkpoints and removes its log, unless another process has the database open.
pub(crate) async fn with_database<T>(
    database: &Database,
    work: impl AsyncFnOnce(&Db) -> Result<T, String>,
) -> Result<T, String> {
    existing(database)?;
    with_new_database(database, work).await
}

/// The same for a command that fills an empty catalogue: creates a missing database, and says so.
pub(crate) async fn with_new_database<T>(
    database: &Database,
    work: impl AsyncFnOnce(&Db) -> Result<T, String>,
) -> Result<T, String> {
    // Boxed: the compiler refuses futures that are nested too deeply.
    let (db, created) = Box::pin(open(database)).await?;
    if let Some(file) = created {
        say(&created_sentence(&file));
    }
    let done = Box::pin(work(&db)).await;
    Box::pin(close_or_say(&db)).await;
    done
}

/// Returns the URL of a database that exists. In the wrong folder, a command would otherwise use an empty database that
/// no server knows, and leave it behind.
pub(super) fn existing(database: &Database) -> Result<String, String> {
    let url = database.url()?;
    let Some(file) = db::missing_file(&url) else { return Ok(url) };
    Err(format!(
        "there is no database {}; name the server's database with --database-url, or start the server first",
        file.display()
    ))
}

/// Opens and migrates the database. Returns also the absolute path of its file, if this has created it. The caller
/// closes the database.
pub(crate) async fn open(database: &Database) -> Result<(Db, Option<PathBuf>), String> {
    let (db, created) = connect(&database.url()?).await?;
    match db::migrate(&db).await {
        Ok(_) => Ok((db, created)),
        Err(error) => {
            close_or_say(&db).await;
            Err(error.to_string())
        }
    }
}

pub(super) async fn connect(url: &str) -> Result<(Db, Option<PathBuf>), String> {
    let missing = db::missing_file(url);
    let db = db::connect(url).await.map_err(|error| error.to_string())?;
    Ok((db, missing))
}

/// Tells where a new database is, in case the command was run in the wrong folder.
pub(crate) fn created_sentence(file: &Path) -> String {
    format!("created the database {}", file.display())
}

/// Closes the database.
///
/// # Errors
/// Why the database is not a single file now, in one sentence. Nothing is lost: the committed data is in the log beside
/// the file, and the next process that opens the database reads it there.
pub(crate) async fn close(db: &Db) -> Result<(), String> {
    match timeout(CLOSING, db.close()).await {
        Ok(closed) => closed.map_err(|error| format!("the database was not closed: {error}")),
        Err(_) => Err("the database was not closed in time".to_owned()),
    }
}

/// Closes a command's database. A failure is printed but does not fail the command, which has done its work.
pub(super) async fn close_or_say(db: &Db) {
    if let Err(reason) = close(db).await {
        say(&format!("rollcall: {reason}"));
    }
}
