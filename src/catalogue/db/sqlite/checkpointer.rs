//! Copies the log of an SQLite file beside the connection that writes.

use std::fs::{File, OpenOptions};
use std::mem::ManuallyDrop;
use std::path::Path;

use super::connection::{Connection, Failure};
use crate::db::Error;

/// A connection that copies the log.
pub(in crate::db) struct Checkpointer {
    connection: Connection,
    /// The database's file. Never closed: closing any handle of a file drops all locks of the process on it, also those
    /// of SQLite.
    file: ManuallyDrop<File>,
}

impl Checkpointer {
    /// Opens the connection. A file that cannot be opened says nothing about the disk: the process may have too many
    /// others open.
    pub(in crate::db) fn open(file: &Path) -> Result<Self, Failure> {
        let connection = Connection::reading(file).map_err(Failure::Reading)?;
        let file = OpenOptions::new().write(true).open(file);
        let file = file.map_err(|error| Failure::Reading(Error::fault(format!("the database's file: {error}"))))?;
        Ok(Self { connection, file: ManuallyDrop::new(file) })
    }

    /// Copies the log, and flushes the database's file. SQLite does not flush it while others write.
    pub(in crate::db) fn copy(&self) -> Result<(), Failure> {
        self.connection.checkpoint()?;
        self.file.sync_data().map_err(Failure::Disk)
    }
}
