//! Copies a database while it is in use.
//!
//! SQLite writes the copy in one read transaction: the copy holds what was committed when the transaction began, and no
//! writer waits for it. The copy gets its final name once it is complete and on disk.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::file::{absolute, with_suffix};
use crate::db::{OpenError, PATIENCE, sqlite, url};
use crate::new_file::{Existing, NewFile};

/// Copies the database behind `url` to `file` and returns the size of the copy in bytes. `file` must not exist yet;
/// only its owner may read it. Blocks the thread until it is done. Once it begins, calls `begun` with the file that grows,
/// and with about how many bytes that will have.
///
/// # Errors
/// Why there is no copy, in one sentence.
pub fn backup(url: &str, file: &Path, begun: impl FnOnce(&Path, u64)) -> Result<u64, String> {
    url::check(url).map_err(|error| error.to_string())?;
    if !url.starts_with("sqlite:") {
        return Err("to back up PostgreSQL use its own program: pg_dump --format=custom".to_owned());
    }
    let original = sqlite::file_of(url).ok_or_else(|| OpenError::Url(url::SQLITE.to_owned()).to_string())?;
    // SQLite would take an old journal beside the new file for a part of the copy.
    for beside in ["", "-wal", "-journal"].map(|suffix| with_suffix(file, suffix)) {
        if beside.symlink_metadata().is_ok() {
            return Err(format!("{} already exists; name a new file", beside.display()));
        }
    }
    copy(&original, file, begun)
}

fn copy(original: &Path, file: &Path, begun: impl FnOnce(&Path, u64)) -> Result<u64, String> {
    let cannot_be_read = |error: &dyn std::fmt::Display| {
        format!("the database {} cannot be copied: {error}", absolute(original).display())
    };
    let cannot_be_written = |error: &dyn std::fmt::Display| format!("{} cannot be written: {error}", file.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(original, flags).map_err(|error| cannot_be_read(&error))?;
    database.busy_timeout(PATIENCE).map_err(|error| cannot_be_read(&error))?;

    let bytes = size(&database).map_err(|error| cannot_be_read(&error))?;

    let part = NewFile::create(file).map_err(|error| cannot_be_written(&error))?;
    let name = part.part().to_str().ok_or_else(|| cannot_be_written(&"its name is not valid UTF-8"))?;
    begun(part.part(), bytes);
    database.execute("VACUUM INTO ?1", [name]).map_err(|error| cannot_be_read(&error))?;
    part.finish(Existing::Keep).map_err(|error| cannot_be_written(&error))
}

/// About how many bytes a copy has: those of the pages that are in use.
fn size(database: &Connection) -> rusqlite::Result<u64> {
    let figure = |name: &str| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = figure("page_count")? - figure("freelist_count")?;
    Ok(pages.saturating_mul(figure("page_size")?).unsigned_abs())
}
