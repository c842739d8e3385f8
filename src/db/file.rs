//! The files of an SQLite database, and who may read them.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that other users of the machine may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The file.
    pub path: PathBuf,
    /// Its permissions.
    pub mode: u32,
}

/// Creates an empty file that only its owner may read and write, where there is none. SQLite gives the files that it
/// makes beside it the same mode.
///
/// A file that exists is not even opened: closing it would drop the locks that this process holds on it.
pub(super) fn create(file: &Path) -> io::Result<()> {
    if fs::exists(file)? {
        return Ok(());
    }
    // Not `create_new`, which fails at a symbolic link to a file that is to be made.
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file).map(drop)
}

/// The database file and the files beside it that other users may read. They are left as they are: whoever runs the
/// program may want it so.
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
