//! Interprets database errors: a sentence for the client, and one for the operator.

use std::fmt;

use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::postgres::{PgDatabaseError, PgSeverity};
use sea_orm::{DbErr, RuntimeErr, SqlErr, sqlx};

use super::answer::{Answer, Code};

/// The sentence for a client whose write is refused because a newer program has migrated the database.
pub(super) const NEWER: &str = "A newer version of rollcall has upgraded the database. This process is now read-only.";

/// The sentence for a client while the server is away.
pub(super) const AWAY: &str = "The database cannot be reached.";

/// The sentence for a client whose write the database does not accept.
pub(super) const READ_ONLY: &str = "The database is read-only.";

/// The error of a statement that the server did not respond to in time.
pub(super) const STALLED: &str = "the database server does not respond";

/// The sentence for a client whose commit was not confirmed.
pub(super) const UNCERTAIN: &str = "The connection to the database was lost while the change was committed. It may have been \
     carried out. Look before you repeat it.";

/// The sentence for a client whose commit the disk failed to store.
pub(super) const UNCERTAIN_DISK: &str = "The disk of the database failed while the change was committed. It may have been \
     carried out. Look before you repeat it.";

/// The sentence for a client after that.
pub(super) const DISK_FAILED: &str = "The disk of the database failed to store a change. Changes are refused until rollcall \
     is restarted.";

/// The error of a transaction that asks for [`super::Committed`] data and shares its commit.
pub(super) const OWN_COMMIT: &str = "the transaction needs a commit of its own";

/// Whether a connection was lost, or its server is stopping, so that the same statement may succeed on another one. A
/// commit that ends like this may have been carried out.
pub(super) fn is_broken(error: &DbErr) -> bool {
    match sqlx_error(error) {
        Some(sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed) => true,
        Some(sqlx::Error::Database(answer)) => {
            is_fatal(&**answer)
                || answer.code().is_some_and(|code| {
                    // The server is stopping; the connection was ended; a connection exception.
                    matches!(&*code, "57P01" | "57P02" | "25P03" | "57P05") || code.starts_with("08")
                })
        }
        _ => false,
    }
}

/// Whether PostgreSQL ended the connection with this error: FATAL, or PANIC. If it fails to flush its log, a commit ends
/// in a PANIC although its record may be in the log already: recovery then carries it out.
fn is_fatal(answer: &dyn DatabaseError) -> bool {
    let severity = |answer: &PgDatabaseError| matches!(answer.severity(), PgSeverity::Fatal | PgSeverity::Panic);
    match answer.try_downcast_ref::<Answer>() {
        Some(answer) => answer.is_fatal,
        None => answer.try_downcast_ref::<PgDatabaseError>().is_some_and(severity),
    }
}

/// The sentence for a client whose write failed because of the database's state rather than its input: disk full,
/// locked, read-only, unreachable. `None` for any other error.
pub fn refusal(error: &DbErr) -> Option<&'static str> {
    const FULL: &str = "The disk of the database is full.";
    const BUSY: &str = "The database is locked by another change, which has not ended in time. Try again.";
    const BROKEN: &str = "The disk of the database fails to read or write.";
    match error {
        DbErr::ConnectionAcquire(_) => return Some(AWAY),
        DbErr::Custom(reason) if reason == STALLED => return Some(AWAY),
        DbErr::Custom(reason) => {
            return [NEWER, UNCERTAIN, UNCERTAIN_DISK, DISK_FAILED].into_iter().find(|known| known == reason);
        }
        _ => {}
    }
    match sqlx_error(error)? {
        sqlx::Error::Io(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => Some(AWAY),
        sqlx::Error::Database(answer) => match sqlite_code(&**answer) {
            Some(SQLITE_FULL) => Some(FULL),
            Some(SQLITE_BUSY | SQLITE_LOCKED) => Some(BUSY),
            Some(SQLITE_READONLY) => Some(READ_ONLY),
            Some(SQLITE_IOERR) => Some(BROKEN),
            Some(_) => None,
            // PostgreSQL: disk full; lock not available; read-only transaction; I/O error; shutting down, starting, out
            // of connections, or the connection was ended because its transaction was idle.
            None => match answer.code()?.as_ref() {
                "53100" => Some(FULL),
                "55P03" => Some(BUSY),
                "25006" => Some(READ_ONLY),
                "58030" => Some(BROKEN),
                "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "53300" => Some(AWAY),
                code if code.starts_with("08") => Some(AWAY),
                _ => None,
            },
        },
        _ => None,
    }
}

/// Why a statement failed, for people: the sentence of [`refusal`] if it has one, or else the database's own words.
pub fn reason(error: &DbErr) -> String {
    refusal(error).map_or_else(|| error.to_string(), str::to_owned)
}

/// Whether the database can be read but not written: it is full, read-only or locked.
pub fn accepts_no_writes(error: &DbErr) -> bool {
    refusal(error).is_some_and(|reason| ![AWAY, NEWER, UNCERTAIN, UNCERTAIN_DISK].contains(&reason))
}

/// The sentence for a client whose commit was not confirmed, so that it may have happened. `None` for any other error.
pub fn uncertain(error: &DbErr) -> Option<&'static str> {
    refusal(error).filter(|reason| [UNCERTAIN, UNCERTAIN_DISK].contains(reason))
}

/// Whether PostgreSQL waited for another transaction's lock for too long.
pub fn is_locked(error: &DbErr) -> bool {
    matches!(sqlx_error(error), Some(sqlx::Error::Database(answer)) if answer.code().as_deref() == Some("55P03"))
}

/// Whether a transaction lost a race: a serialization failure, a deadlock, or a row that was deleted after it was read
/// and before it was written or referenced.
pub fn is_lost_race(error: &DbErr) -> bool {
    let lost = |code: &str| matches!(code, "40001" | "40P01");
    matches!(error, DbErr::RecordNotUpdated)
        || needs_own_commit(error)
        || matches!(violation(error), Some(SqlErr::ForeignKeyConstraintViolation(_)))
        // PostgreSQL: serialization failure, deadlock. SQLite has one writer at a time.
        || matches!(sqlx_error(error), Some(sqlx::Error::Database(answer)) if answer.code().as_deref().is_some_and(lost))
}

/// Whether a transaction has failed because it shares its commit, and has asked for [`super::Committed`] data.
pub fn needs_own_commit(error: &DbErr) -> bool {
    matches!(error, DbErr::Custom(reason) if reason == OWN_COMMIT)
}

/// The constraint that a write violates, if it failed for that. Use it instead of [`DbErr::sql_err`], which does not
/// know the errors of [`super::answer`].
pub fn violation(error: &DbErr) -> Option<SqlErr> {
    if let Some(sqlx::Error::Database(answer)) = sqlx_error(error)
        && let Some(answer) = answer.try_downcast_ref::<Answer>()
    {
        let message = answer.message().to_owned();
        return match &answer.code {
            Code::Sqlite(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => {
                Some(SqlErr::UniqueConstraintViolation(message))
            }
            Code::Sqlite(SQLITE_CONSTRAINT_FOREIGNKEY) => Some(SqlErr::ForeignKeyConstraintViolation(message)),
            Code::Postgres(code) if code == "23505" => Some(SqlErr::UniqueConstraintViolation(message)),
            Code::Postgres(code) if code == "23503" => Some(SqlErr::ForeignKeyConstraintViolation(message)),
            _ => None,
        };
    }
    error.sql_err()
}

pub(super) fn sqlx_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(cause))
        | DbErr::Exec(RuntimeErr::SqlxError(cause))
        | DbErr::Query(RuntimeErr::SqlxError(cause)) => Some(cause),
        _ => None,
    }
}

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
        cause: DbErr,
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
            Self::Failed { place, cause } => write!(f, "the database {place} does not work: {}", reason(cause)),
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
    pub(super) fn of_sqlx(place: &str, error: sqlx::Error) -> Self {
        Self::of(place, DbErr::Conn(RuntimeErr::SqlxError(error.into())))
    }

    pub(super) fn of(place: &str, error: DbErr) -> Self {
        let place = place.to_owned();
        let Some(cause) = sqlx_error(&error) else { return Self::Failed { place, cause: error } };
        match cause {
            sqlx::Error::Io(io) => Self::Unreachable { place, why: io.to_string() },
            sqlx::Error::Tls(why) => Self::Refused { place, why: why.to_string() },
            sqlx::Error::Database(answer) => match sqlite_code(&**answer) {
                Some(SQLITE_BUSY | SQLITE_LOCKED) => Self::Locked { place },
                Some(SQLITE_CORRUPT | SQLITE_NOTADB) => Self::Corrupt { place },
                Some(SQLITE_CANTOPEN) => Self::Refused { why: cannot_open(&place), place },
                Some(SQLITE_PERM | SQLITE_READONLY) => Self::Refused { place, why: "it is not writable".to_owned() },
                // Class 28: invalid authorization; 3D000: no such database.
                None if answer.code().is_some_and(|code| code.starts_with("28") || code == "3D000") => {
                    Self::Refused { place, why: answer.message().to_owned() }
                }
                // A protocol violation, before anything was asked.
                None if answer.code().is_some_and(|code| code == "08P01") => {
                    let why = format!("{} (behind PgBouncer, the URL needs pgbouncer=true)", answer.message());
                    Self::Refused { place, why }
                }
                _ => Self::Failed { place, cause: error },
            },
            _ => Self::Failed { place, cause: error },
        }
    }
}

const SQLITE_PERM: i32 = 3;
const SQLITE_BUSY: i32 = 5;
const SQLITE_LOCKED: i32 = 6;
const SQLITE_READONLY: i32 = 8;
const SQLITE_IOERR: i32 = 10;
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_FULL: i32 = 13;
const SQLITE_CANTOPEN: i32 = 14;
const SQLITE_NOTADB: i32 = 26;
const SQLITE_CONSTRAINT_FOREIGNKEY: i32 = 787;
const SQLITE_CONSTRAINT_PRIMARYKEY: i32 = 1555;
const SQLITE_CONSTRAINT_UNIQUE: i32 = 2067;

pub(super) fn busy(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(answer) if sqlite_code(&**answer) == Some(SQLITE_BUSY))
}

/// SQLite's primary result code: the low byte of the extended code.
fn sqlite_code(answer: &dyn DatabaseError) -> Option<i32> {
    let code = match answer.try_downcast_ref::<Answer>() {
        Some(Answer { code: Code::Sqlite(code), .. }) => *code,
        Some(_) => return None,
        None => {
            answer.try_downcast_ref::<sqlx::sqlite::SqliteError>()?;
            answer.code()?.parse().ok()?
        }
    };
    Some(code & 0xff)
}

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
