//! The files of an SQLite database: their permissions, and the mark of the server that uses them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{self, Path, PathBuf};

use crate::db::Db;

/// A file that other users of the machine can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The file.
    pub path: PathBuf,
    /// Its permissions.
    pub mode: u32,
}

/// The path from the root, for messages: a relative one says nothing to people who do not know the process's folder.
pub(in crate::db) fn absolute(file: &Path) -> PathBuf {
    path::absolute(file).unwrap_or_else(|_| file.to_path_buf())
}

/// Creates an empty file with mode 0600, if there is none. SQLite gives its other files the same mode.
///
/// Does not even open an existing file: closing it would drop the locks that this process holds on it.
pub(in crate::db) fn create(file: &Path) -> io::Result<()> {
    if fs::exists(file)? {
        return Ok(());
    }
    // Not `create_new`, which fails on a symbolic link to a missing file.
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file).map(drop)
}

/// Returns those of the database's files that other users can read. Leaves their mode alone: it may be intended.
pub(in crate::db) fn exposed(file: &Path) -> Vec<Exposed> {
    let files = ["", "-wal", "-shm"].map(|suffix| with_suffix(file, suffix)).into_iter();
    let mode = |path: &Path| fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o777);
    let exposed = files.filter_map(|path| Some(Exposed { mode: mode(&path)?, path }));
    exposed.filter(|file| file.mode & 0o044 != 0).collect()
}

/// The name of a file that SQLite keeps beside `file`.
pub(in crate::db) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

impl Db {
    /// Marks an SQLite file as served, until the result is dropped. `None` if another server has marked it.
    ///
    /// # Errors
    /// The file system has no locks, or this is no SQLite file.
    pub fn mark_as_served(&self) -> io::Result<Option<File>> {
        mark(Path::new(&self.place))
    }
}

/// Locks the write-ahead log, which exists while anybody has the database open. SQLite keeps its own locks on the other
/// files: opening and closing one of those here would drop them.
fn mark(file: &Path) -> io::Result<Option<File>> {
    // The log is beside the file itself, and not beside a symbolic link to it.
    let log = OpenOptions::new().write(true).open(with_suffix(&fs::canonicalize(file)?, "-wal"))?;
    match log.try_lock() {
        Ok(()) => Ok(Some(log)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_file_is_marked_once_and_can_be_written_meanwhile() {
        let folder = tempfile::tempdir().expect("a folder");
        let [file, link] = ["rows.db", "link.db"].map(|name| folder.path().join(name));
        let made = Connection::open(&file).and_then(|made| {
            made.pragma_update(None, "journal_mode", "WAL")?;
            made.execute_batch("CREATE TABLE row (id INTEGER)")?;
            Ok(made)
        });
        let sqlite = made.expect("a table");
        symlink(&file, &link).expect("a link");
        let marked = mark(&file).expect("a lock");
        assert!(marked.is_some());
        assert!(mark(&link).expect("a lock").is_none());
        sqlite.execute_batch("INSERT INTO row VALUES (1)").expect("a row");
        let other = Connection::open(&link).expect("another connection");
        other.execute_batch("INSERT INTO row VALUES (2)").expect("a row");
        let is_busy = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        assert_eq!(is_busy, Ok(false));
        assert!(mark(&file).expect("a lock").is_none());
        drop(marked);
        assert!(mark(&link).expect("a lock").is_some());
    }
}
