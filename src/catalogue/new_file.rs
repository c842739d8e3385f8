//! Files with secrets that this program creates for people: backups and exports.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A new file that only its owner can read. It gets its name once it is complete. If dropped before that, it is
/// removed.
#[derive(Debug)]
pub struct NewFile {
    part: NamedTempFile,
    folder: PathBuf,
    path: PathBuf,
}

/// What [`NewFile::finish`] does with an existing file of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Keeps it and fails.
    Keep,
    /// Replaces it.
    Replace,
}

/// The reason without the temporary file's name, which says nothing to people.
fn without_path(error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), "its folder does not exist"),
        io::ErrorKind::PermissionDenied => io::Error::new(error.kind(), "this user may not write to its folder"),
        kind => kind.into(),
    }
}

impl NewFile {
    /// Creates an empty temporary file in the folder of `path`, with mode 0600.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let part = tempfile::Builder::new().prefix(".rollcall-part-").tempfile_in(&folder);
        Ok(Self { part: part.map_err(|error| without_path(&error))?, folder, path: path.to_owned() })
    }

    /// The file, to write to.
    pub fn as_file(&self) -> &File {
        self.part.as_file()
    }

    /// The temporary path.
    pub fn part(&self) -> &Path {
        self.part.path()
    }

    /// Syncs the file to disk, gives it its name and returns its size in bytes.
    pub fn finish(self, existing: Existing) -> io::Result<u64> {
        self.part.as_file().sync_all()?;
        let bytes = self.part.as_file().metadata()?.len();
        match existing {
            Existing::Keep => self.part.persist_noclobber(&self.path),
            Existing::Replace => self.part.persist(&self.path),
        }
        .map_err(|error| error.error)?;
        // Syncs the folder, so that the name is as durable as the content.
        File::open(&self.folder)?.sync_all()?;
        Ok(bytes)
    }
}
