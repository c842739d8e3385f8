//! Why a database cannot be opened.

use std::fmt;

use super::Error;
use super::error::{SQLITE_BUSY, SQLITE_LOCKED, SQLITE_READONLY};

/// Why the database cannot be opened or migrated, in one sentence. Names the database but never the password.
#[derive(Debug)]
pub enum OpenError {
    /// The URL has an unknown scheme or is malformed, for the given reason: the rest of a sentence about it.
    Url(String),
    /// A parameter of the URL is unknown or has a wrong value, for the given reason.
    Parameter(String),
    /// Another program holds the lock.
    Locked {
        /// The file.
        place: String,
    },
    /// The file is damaged, or not a database.
    Corrupt {
        /// The file.
        place: String,
    },
    /// A newer program has migrated the database, and this one cannot use it any more.
    Newer {
        /// The file, or the server and database.
        place: String,
        /// The last unknown migration.
        step: String,
    },
    /// The file cannot be opened, or the server refuses the login.
    Refused {
        /// The file, or the server and database.
        place: String,
        /// The reason.
        why: String,
    },
    /// The server cannot be reached.
    Unreachable {
        /// The server and database.
        place: String,
        /// The reason.
        why: String,
    },
    /// Anything else.
    Failed {
        /// The file, or the server and database.
        place: String,
        /// The cause.
        cause: Error,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(fault) => write!(f, "the database URL {fault}"),
            Self::Parameter(why) => f.write_str(why),
            Self::Locked { place } => {
                write!(f, "the database {place} is locked by another process, which may be another rollcall; try again")
            }
            Self::Corrupt { place } => {
                write!(f, "the file {place} is damaged or not a database; restore a backup or name another file")
            }
            Self::Newer { place, step } => {
                write!(f, "the database {place} was upgraded by a newer rollcall (it has step {step}); start that one")
            }
            Self::Refused { place, why } => write!(f, "the database {place} cannot be opened: {why}"),
            Self::Unreachable { place, why } => write!(f, "the database server {place} cannot be reached: {why}"),
            Self::Failed { place, cause } => write!(f, "the database {place} does not work: {}", cause.reason()),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

impl OpenError {
    pub(super) fn new(place: &str, error: Error) -> Self {
        let place = place.to_owned();
        match (&error, error.sqlite_code(), error.sqlstate()) {
            (Error::Lost { why, .. }, ..) => Self::Unreachable { place, why: why.to_string() },
            (Error::Tls(why), ..) => Self::Refused { place, why: why.to_string() },
            (_, Some(SQLITE_BUSY | SQLITE_LOCKED), _) => Self::Locked { place },
            (_, Some(SQLITE_CORRUPT | SQLITE_NOTADB), _) => Self::Corrupt { place },
            (_, Some(SQLITE_CANTOPEN), _) => Self::Refused { why: cannot_open(&place), place },
            (_, Some(SQLITE_PERM | SQLITE_READONLY), _) => {
                Self::Refused { place, why: "it is not writable".to_owned() }
            }
            // Class 28: invalid authorization; 3D000: no such database.
            (Error::Answered(answer), _, Some(code)) if code.starts_with("28") || code == "3D000" => {
                Self::Refused { place, why: answer.message.to_string() }
            }
            // A protocol violation, before anything was asked.
            (Error::Answered(answer), _, Some("08P01")) => {
                let why = format!("{} (behind PgBouncer, the URL needs pgbouncer=true)", answer.message);
                Self::Refused { place, why }
            }
            _ => Self::Failed { place, cause: error },
        }
    }
}

const SQLITE_PERM: i32 = 3;
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_CANTOPEN: i32 = 14;
const SQLITE_NOTADB: i32 = 26;

/// Finds out why SQLite could not open a file; SQLite does not say. Does not open the file: closing it would drop the
/// locks of this process.
fn cannot_open(place: &str) -> String {
    let path = std::path::Path::new(place);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let another = "or name another file with --database-url";
    match folder {
        _ if path.is_dir() => "it is a folder".to_owned(),
        Some(folder) if !folder.is_dir() => "its folder does not exist".to_owned(),
        Some(folder) if !path.exists() => {
            format!("permission denied; let this user write to the folder {}, {another}", folder.display())
        }
        _ => format!("permission denied; let this user read and write the file and its folder, {another}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_made_names_its_folder_and_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name).display().to_string();
        let expected = format!(
            "permission denied; let this user write to the folder {}, or name another file with --database-url",
            folder.path().display()
        );
        assert_eq!(cannot_open(&place("new.db")), expected);
        assert_eq!(cannot_open(&place("none/new.db")), "its folder does not exist");
        assert_eq!(cannot_open(&place("")), "it is a folder");
    }
}
