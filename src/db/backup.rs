//! A copy of a database, while it is used.
//!
//! SQLite writes the copy in one transaction that reads: it is what was committed when that began, whatever is written
//! meanwhile, and nobody waits for it. It has its name from the moment on which it is whole and on the disk.

use std::path::Path;
use std::str::FromStr;

use rusqlite::OpenFlags;
use sea_orm::sqlx::sqlite::SqliteConnectOptions;

use super::file::with_suffix;
use super::{OpenError, PATIENCE};
use crate::new_file::{Existing, NewFile};

/// Copies the database behind `url` to `file`, which is not to be there yet and is for its owner alone, and says how many
/// bytes that took. It keeps the thread until then.
///
/// # Errors
/// Why there is no copy, in one sentence.
pub fn backup(url: &str, file: &Path) -> Result<u64, String> {
    match url.split_once(':') {
        Some(("sqlite", _)) => {}
        Some(("postgres" | "postgresql", _)) => {
            return Err("a backup of PostgreSQL is made by its own program: pg_dump --format=custom".to_owned());
        }
        _ => return Err(OpenError::Url.to_string()),
    }
    let options = SqliteConnectOptions::from_str(url).map_err(|_| OpenError::Url.to_string())?;
    let original = options.get_filename();
    // What SQLite keeps beside a file would be taken for a part of the copy.
    for beside in ["", "-wal", "-journal"].map(|suffix| with_suffix(file, suffix)) {
        if beside.symlink_metadata().is_ok() {
            return Err(format!("{} is there already; name a new file", beside.display()));
        }
    }
    copy(original, file)
}

fn copy(original: &Path, file: &Path) -> Result<u64, String> {
    let cannot_be_read =
        |error: &dyn std::fmt::Display| format!("the database {} cannot be copied: {error}", original.display());
    let cannot_be_written = |error: &dyn std::fmt::Display| format!("{} cannot be written: {error}", file.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = rusqlite::Connection::open_with_flags(original, flags).map_err(|error| cannot_be_read(&error))?;
    database.busy_timeout(PATIENCE).map_err(|error| cannot_be_read(&error))?;

    let part = NewFile::create(file).map_err(|error| cannot_be_written(&error))?;
    let name = part.part().to_str().ok_or_else(|| cannot_be_written(&"its name is no text"))?;
    database.execute("VACUUM INTO ?1", [name]).map_err(|error| cannot_be_read(&error))?;
    part.finish(Existing::Keep).map_err(|error| cannot_be_written(&error))
}
