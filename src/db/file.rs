//! The files of an SQLite database and their permissions.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{self, Path, PathBuf};

/// A file that other users of the machine can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The file.
    pub path: PathBuf,
    /// Its permissions.
    pub mode: u32,
}

/// The path from the root, for messages: a relative one says nothing to people who do not know the process's folder.
pub(super) fn absolute(file: &Path) -> PathBuf {
    path::absolute(file).unwrap_or_else(|_| file.to_path_buf())
}

/// Creates an empty file with mode 0600, if there is none. SQLite gives its other files the same mode.
///
/// Does not even open an existing file: closing it would drop the locks that this process holds on it.
pub(super) fn create(file: &Path) -> io::Result<()> {
    if fs::exists(file)? {
        return Ok(());
    }
    // Not `create_new`, which fails on a symbolic link to a missing file.
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file).map(drop)
}

/// Returns those of the database's files that other users can read. Leaves their mode alone: it may be intended.
pub(super) fn exposed(file: &Path) -> Vec<Exposed> {
    let files = ["", "-wal", "-shm"].map(|suffix| with_suffix(file, suffix)).into_iter();
    let mode = |path: &Path| fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o777);
    let exposed = files.filter_map(|path| Some(Exposed { mode: mode(&path)?, path }));
    exposed.filter(|file| file.mode & 0o044 != 0).collect()
}

/// The name of a file that SQLite keeps beside `file`.
pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
