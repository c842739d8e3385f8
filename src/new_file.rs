//! Files with secrets that this program makes for a person: backups and exports.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that only its owner may read, and that gets its name once it is whole. Dropped before that, it is removed.
#[derive(Debug)]
pub struct NewFile {
    part: NamedTempFile,
    folder: PathBuf,
    path: PathBuf,
}

/// What [`NewFile::finish`] does with another file of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Keeps it and fails.
    Keep,
    /// Replaces it.
    Replace,
}

impl NewFile {
    /// Creates an empty file beside `path`, with mode 0600.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let part = tempfile::Builder::new().prefix(".rollcall-part-").tempfile_in(&folder)?;
        Ok(Self { part, folder, path: path.to_owned() })
    }

    /// The file, to write to.
    pub fn as_file(&self) -> &File {
        self.part.as_file()
    }

    /// The name that the file has until it is finished.
    pub fn part(&self) -> &Path {
        self.part.path()
    }

    /// Writes the file to the disk, gives it its name and returns its length in bytes.
    pub fn finish(self, existing: Existing) -> io::Result<u64> {
        self.part.as_file().sync_all()?;
        let bytes = self.part.as_file().metadata()?.len();
        match existing {
            Existing::Keep => self.part.persist_noclobber(&self.path),
            Existing::Replace => self.part.persist(&self.path),
        }
        .map_err(|error| error.error)?;
        // Makes the name as durable as the content.
        File::open(&self.folder)?.sync_all()?;
        Ok(bytes)
    }
}
