//! What can go wrong at the database, and what a caller can do about it.
//!
//! Which variant to use:
//!
//! - The database has answered with an error of its own: [`Error::Answered`], by [`Error::of_sqlite`] or
//!   [`Error::of_server`]. [`Error::violation`] says which constraint a write violates.
//! - There is no answer: [`Error::Lost`] if the connection broke, [`Error::Tls`] if it could not be encrypted,
//!   [`Error::Stalled`] if the server did not respond in time, [`Error::NoConnection`] if none was free.
//! - The transaction must be repeated from its start: [`Error::LostRace`].
//! - The commit may have been carried out, and nobody knows: [`Error::Uncertain`].
//! - Writes are refused: [`Error::DiskFailed`], [`Error::Newer`].
//! - The program is at fault, or the data is not what it must be: [`Error::Fault`].
//!
//! An error that the caller of the API can mend is no error of the database: see [`crate::error::UserError`].

use std::error::Error as _;
use std::{fmt, io};

use sea_orm::DbErr;
use tokio_postgres::error::Severity;

/// An error of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The database answered with an error.
    Answered(Box<Answer>),
    /// The connection to the server broke, or none could be made. A commit that ends like this may have been carried
    /// out.
    Lost {
        /// The kind of the I/O error, or [`io::ErrorKind::Other`].
        kind: io::ErrorKind,
        /// What the driver says.
        why: Box<str>,
    },
    /// The connection to the server could not be encrypted, for this reason.
    Tls(Box<str>),
    /// No connection was free in time, or the database was closed.
    NoConnection,
    /// The server did not respond in time.
    Stalled,
    /// Another transaction came first. Repeat this one from its start.
    LostRace,
    /// The commit was not confirmed, so it may have been carried out.
    Uncertain(Unconfirmed),
    /// The disk has failed to store an earlier change, so all changes are refused.
    DiskFailed,
    /// A newer program has migrated the database, and this one cannot write to it any more.
    Newer,
    /// A statement cannot be built or run, or a row cannot be read: the program is at fault, or the data.
    Fault(Box<str>),
}

/// Why a commit was not confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unconfirmed {
    /// The connection to the server was lost, or the server did not respond in time.
    Connection,
    /// The disk failed to store it.
    Disk,
}

/// An error in the words of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The code.
    pub(super) code: Code,
    /// The message.
    pub(super) message: Box<str>,
    /// Whether PostgreSQL ended the connection with it: FATAL, or PANIC. If it fails to flush its log, a commit ends in a
    /// PANIC although its record may be in the log already: recovery then carries it out.
    pub(super) is_fatal: bool,
    /// Where in a statement PostgreSQL found it, as its CONTEXT says.
    pub(super) context: Option<Box<str>>,
}

/// The database's own code of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Code {
    /// The extended result code.
    Sqlite(i32),
    /// The SQLSTATE.
    Postgres(Box<str>),
}

/// The constraint that a write violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constraint {
    /// Another row has the same key. The message names the key.
    Unique(Box<str>),
    /// A row refers to one that does not exist, or is referred to. The message names the constraint.
    ForeignKey(Box<str>),
}

pub(super) const SQLITE_BUSY: i32 = 5;
pub(super) const SQLITE_LOCKED: i32 = 6;
pub(super) const SQLITE_READONLY: i32 = 8;
const SQLITE_IOERR: i32 = 10;
const SQLITE_FULL: i32 = 13;
const SQLITE_CONSTRAINT_FOREIGNKEY: i32 = 787;
const SQLITE_CONSTRAINT_PRIMARYKEY: i32 = 1555;
const SQLITE_CONSTRAINT_UNIQUE: i32 = 2067;

impl Error {
    /// The error of the database that made something fail, if it was one.
    pub fn cause_of(error: &crate::error::Error) -> Option<&Self> {
        match error {
            crate::error::Error::Internal(cause) => cause.downcast_ref(),
            crate::error::Error::User(_) => None,
        }
    }

    /// The program is at fault, or the data, for this reason.
    pub fn fault(why: impl Into<Box<str>>) -> Self {
        Self::Fault(why.into())
    }

    /// An error of SQLite.
    pub(super) fn of_sqlite(cause: rusqlite::Error) -> Self {
        match cause {
            rusqlite::Error::SqliteFailure(code, message) => {
                let message = message.unwrap_or_else(|| code.to_string()).into();
                let code = Code::Sqlite(code.extended_code);
                Self::Answered(Box::new(Answer { code, message, is_fatal: false, context: None }))
            }
            cause => Self::fault(cause.to_string()),
        }
    }

    /// An error of PostgreSQL, or of the connection to it.
    pub(super) fn of_server(cause: &tokio_postgres::Error) -> Self {
        let of_driver = cause.source();
        if let Some(answer) = cause.as_db_error() {
            let is_fatal = matches!(answer.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
            let (code, message) = (Code::Postgres(answer.code().code().into()), answer.message().into());
            let context = answer.where_().map(Into::into);
            return Self::Answered(Box::new(Answer { code, message, is_fatal, context }));
        }
        // The driver does not say otherwise which kind of error it is.
        let kind = cause.to_string();
        let why = of_driver.map_or_else(|| kind.clone(), |of_driver| format!("{kind}: {of_driver}"));
        match of_driver.and_then(|of_driver| of_driver.downcast_ref::<io::Error>()) {
            _ if kind == "error performing TLS handshake" => {
                Self::Tls(of_driver.map_or(kind, ToString::to_string).into())
            }
            Some(io) => Self::Lost { kind: io.kind(), why: io.to_string().into() },
            None if cause.is_closed() => Self::Lost { kind: io::ErrorKind::ConnectionReset, why: kind.into() },
            None if ["invalid configuration", "error serializing", "error deserializing"]
                .iter()
                .any(|fault| kind.starts_with(fault)) =>
            {
                Self::fault(why)
            }
            None => Self::Lost { kind: io::ErrorKind::Other, why: why.into() },
        }
    }

    /// SQLite's primary result code: the low byte of the extended code.
    pub(super) fn sqlite_code(&self) -> Option<i32> {
        match self {
            Self::Answered(answer) => match answer.code {
                Code::Sqlite(code) => Some(code & 0xff),
                Code::Postgres(_) => None,
            },
            _ => None,
        }
    }

    /// PostgreSQL's SQLSTATE.
    pub(super) fn sqlstate(&self) -> Option<&str> {
        match self {
            Self::Answered(answer) => match &answer.code {
                Code::Postgres(code) => Some(code),
                Code::Sqlite(_) => None,
            },
            _ => None,
        }
    }

    /// Whether a connection was lost, or its server is stopping, so that the same statement may succeed on another one. A
    /// commit that ends like this may have been carried out.
    pub(super) fn is_broken(&self) -> bool {
        match self {
            Self::Lost { .. } => true,
            Self::Answered(answer) => {
                answer.is_fatal
                    || self.sqlstate().is_some_and(|code| {
                        // The server is stopping; the connection was ended; a connection exception.
                        matches!(code, "57P01" | "57P02" | "25P03" | "57P05") || code.starts_with("08")
                    })
            }
            _ => false,
        }
    }

    /// The sentence for a client whose request failed because of the database's state rather than its input: disk full,
    /// locked, read-only, unreachable. `None` for any other error.
    pub fn refusal(&self) -> Option<&'static str> {
        match self {
            Self::Uncertain(Unconfirmed::Connection) => Some(
                "The connection to the database was lost while the change was committed. It may have been carried out. \
                 Look before you repeat it.",
            ),
            Self::Uncertain(Unconfirmed::Disk) => Some(
                "The disk of the database failed while the change was committed. It may have been carried out. Look \
                 before you repeat it.",
            ),
            Self::DiskFailed => Some(
                "The disk of the database failed to store a change. Changes are refused until rollcall is restarted.",
            ),
            Self::Newer => {
                Some("A newer version of rollcall has upgraded the database. This process is now read-only.")
            }
            _ => self.trouble().map(Trouble::sentence),
        }
    }

    /// What the database suffers from, if that is why it did not do as it was told.
    fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Lost { .. } | Self::NoConnection | Self::Stalled => Some(Trouble::Away),
            Self::Answered(answer) => answer.code.trouble(),
            _ => None,
        }
    }

    /// Why a statement failed, for people: the sentence of [`Self::refusal`], or else the database's own words.
    pub fn reason(&self) -> String {
        self.refusal().map_or_else(|| self.to_string(), str::to_owned)
    }

    /// Whether the database can be read but not written: it is full, read-only or locked.
    pub fn accepts_no_writes(&self) -> bool {
        matches!(self, Self::DiskFailed) || self.trouble().is_some_and(|trouble| trouble != Trouble::Away)
    }

    /// The sentence for a client whose commit was not confirmed, so that it may have happened. `None` for any other
    /// error.
    pub fn uncertain(&self) -> Option<&'static str> {
        self.refusal().filter(|_| matches!(self, Self::Uncertain(_)))
    }

    /// Whether PostgreSQL waited for another transaction's lock for too long.
    pub fn is_locked(&self) -> bool {
        self.sqlstate() == Some("55P03")
    }

    /// Whether a transaction lost a race, and succeeds perhaps when it is repeated: a serialization failure, a deadlock,
    /// or a row that was deleted after it was read and before it was written or referenced.
    pub fn is_lost_race(&self) -> bool {
        matches!(self, Self::LostRace)
            || matches!(self.violation(), Some(Constraint::ForeignKey(_)))
            // PostgreSQL: serialization failure, deadlock. SQLite has one writer at a time.
            || matches!(self.sqlstate(), Some("40001" | "40P01"))
    }

    /// The constraint that a write violates, if it failed for that.
    pub fn violation(&self) -> Option<Constraint> {
        let Self::Answered(answer) = self else { return None };
        let message = answer.message.clone();
        match &answer.code {
            Code::Sqlite(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => Some(Constraint::Unique(message)),
            Code::Sqlite(SQLITE_CONSTRAINT_FOREIGNKEY) => Some(Constraint::ForeignKey(message)),
            Code::Postgres(code) if &**code == "23505" => Some(Constraint::Unique(message)),
            Code::Postgres(code) if &**code == "23503" => Some(Constraint::ForeignKey(message)),
            Code::Sqlite(_) | Code::Postgres(_) => None,
        }
    }
}

impl Code {
    fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Sqlite(code) => match code & 0xff {
                SQLITE_FULL => Some(Trouble::Full),
                SQLITE_BUSY | SQLITE_LOCKED => Some(Trouble::Locked),
                SQLITE_READONLY => Some(Trouble::ReadOnly),
                SQLITE_IOERR => Some(Trouble::Broken),
                _ => None,
            },
            // Disk full; lock not available; read-only transaction; I/O error; shutting down, starting, out of connections,
            // or the connection was ended because its transaction was idle.
            Self::Postgres(code) => match &**code {
                "53100" => Some(Trouble::Full),
                "55P03" => Some(Trouble::Locked),
                "25006" => Some(Trouble::ReadOnly),
                "58030" => Some(Trouble::Broken),
                "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "53300" => Some(Trouble::Away),
                code if code.starts_with("08") => Some(Trouble::Away),
                _ => None,
            },
        }
    }
}

/// What a database can suffer from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The server cannot be reached, or does not respond.
    Away,
    /// Its disk is full.
    Full,
    /// Another program holds the lock.
    Locked,
    /// It accepts no writes.
    ReadOnly,
    /// Its disk fails.
    Broken,
}

impl Trouble {
    /// The sentence for a client.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Away => "The database cannot be reached.",
            Self::Full => "The disk of the database is full.",
            Self::Locked => "The database is locked by another change, which has not ended in time. Try again.",
            Self::ReadOnly => "The database is read-only.",
            Self::Broken => "The disk of the database fails to read or write.",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(answer) => match &answer.code {
                Code::Sqlite(code) => write!(f, "the database answered: (code: {code}) {}", answer.message),
                Code::Postgres(code) => write!(f, "the database answered: (SQLSTATE {code}) {}", answer.message),
            },
            Self::Lost { why, .. } => write!(f, "the connection to the database was lost: {why}"),
            Self::Tls(why) => write!(f, "the connection to the database cannot be encrypted: {why}"),
            Self::NoConnection => f.write_str("no connection to the database was free in time"),
            Self::Stalled => f.write_str("the database server does not respond"),
            Self::LostRace => f.write_str("another transaction came first"),
            Self::Uncertain(_) | Self::DiskFailed | Self::Newer => f.write_str(self.refusal().unwrap_or_default()),
            Self::Fault(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

impl From<DbErr> for Error {
    /// sea-orm only builds statements here, so its errors are faults of the program. Its migrations pass errors of the
    /// database on: see [`super::migrating`].
    fn from(error: DbErr) -> Self {
        Self::fault(error.to_string())
    }
}

impl From<Error> for DbErr {
    fn from(error: Error) -> Self {
        Self::Custom(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_postgres(code: &str, is_fatal: bool) -> Error {
        let code = Code::Postgres(code.into());
        Error::Answered(Box::new(Answer { code, message: "in its words".into(), is_fatal, context: None }))
    }

    fn of_sqlite(code: i32) -> Error {
        let code = rusqlite::ffi::Error::new(code);
        Error::of_sqlite(rusqlite::Error::SqliteFailure(code, Some("in its words".to_owned())))
    }

    fn lost() -> Error {
        Error::Lost { kind: io::ErrorKind::BrokenPipe, why: "the pipe broke".into() }
    }

    #[test]
    fn trouble_of_the_database_is_a_sentence_and_stops_writes_unless_the_server_is_away() {
        for (error, sentence, stops_writes) in [
            (lost(), Some("cannot be reached"), false),
            (Error::NoConnection, Some("cannot be reached"), false),
            (Error::Stalled, Some("cannot be reached"), false),
            (of_postgres("57P03", true), Some("cannot be reached"), false),
            (of_postgres("08006", false), Some("cannot be reached"), false),
            (of_postgres("53100", false), Some("is full"), true),
            (of_sqlite(SQLITE_FULL), Some("is full"), true),
            (of_postgres("55P03", false), Some("is locked"), true),
            (of_sqlite(SQLITE_BUSY | 2 << 8), Some("is locked"), true),
            (of_sqlite(SQLITE_LOCKED), Some("is locked"), true),
            (of_postgres("25006", false), Some("is read-only"), true),
            (of_sqlite(SQLITE_READONLY | 4 << 8), Some("is read-only"), true),
            (of_postgres("58030", false), Some("fails to read or write"), true),
            (of_sqlite(SQLITE_IOERR | 12 << 8), Some("fails to read or write"), true),
            (Error::DiskFailed, Some("failed to store"), true),
            (Error::Newer, Some("newer version"), false),
            (Error::Uncertain(Unconfirmed::Connection), Some("connection to the database was lost"), false),
            (Error::Uncertain(Unconfirmed::Disk), Some("disk of the database failed"), false),
            (Error::LostRace, None, false),
            (Error::Tls("no".into()), None, false),
            (Error::fault("a fault"), None, false),
            (of_postgres("42P01", false), None, false),
            (of_sqlite(SQLITE_CONSTRAINT_UNIQUE), None, false),
        ] {
            let refusal = error.refusal();
            assert!(refusal.unwrap_or_default().contains(sentence.unwrap_or_default()), "{error:?}: {refusal:?}");
            assert_eq!(refusal.is_some(), sentence.is_some(), "{error:?}");
            assert_eq!(error.accepts_no_writes(), stops_writes, "{error:?}");
            assert_eq!(error.uncertain(), refusal.filter(|_| matches!(error, Error::Uncertain(_))), "{error:?}");
            assert_eq!(error.reason(), refusal.map_or_else(|| error.to_string(), str::to_owned));
        }
    }

    #[test]
    fn the_kind_of_an_error_does_not_depend_on_its_words() {
        // A name that somebody gave a service may be in the words of the database.
        for words in [Error::Stalled, Error::Newer, Error::LostRace, Error::DiskFailed] {
            let error = Error::fault(words.to_string());
            assert_eq!((error.refusal(), error.is_lost_race()), (None, false));
        }
    }

    #[test]
    fn a_transaction_that_came_second_is_repeated() {
        for (error, is_lost_race) in [
            (Error::LostRace, true),
            (of_postgres("40001", false), true),
            (of_postgres("40P01", false), true),
            (of_postgres("23503", false), true),
            (of_sqlite(SQLITE_CONSTRAINT_FOREIGNKEY), true),
            (of_postgres("23505", false), false),
            (of_sqlite(SQLITE_CONSTRAINT_UNIQUE), false),
            (of_sqlite(SQLITE_BUSY), false),
            (Error::Uncertain(Unconfirmed::Connection), false),
        ] {
            assert_eq!(error.is_lost_race(), is_lost_race, "{error:?}");
        }
    }

    #[test]
    fn a_connection_is_broken_when_the_server_has_ended_it() {
        for (error, is_broken) in [
            (lost(), true),
            (of_postgres("XX000", true), true),
            (of_postgres("XX000", false), false),
            (of_postgres("57P01", false), true),
            (of_postgres("25P03", false), true),
            (of_postgres("08003", false), true),
            (of_postgres("40001", false), false),
            (of_sqlite(SQLITE_IOERR), false),
            (Error::Stalled, false),
            (Error::NoConnection, false),
        ] {
            assert_eq!(error.is_broken(), is_broken, "{error:?}");
        }
    }

    #[test]
    fn sqlite_says_which_constraint_a_row_violates() {
        let sqlite = rusqlite::Connection::open_in_memory().expect("a database");
        let tables = "PRAGMA foreign_keys = ON; CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL); \
             CREATE TABLE service (team_id INTEGER REFERENCES team (id)); INSERT INTO team VALUES (1, 'one')";
        sqlite.execute_batch(tables).expect("tables");
        let violation = |sql: &str| Error::of_sqlite(sqlite.execute(sql, []).expect_err(sql)).violation();
        let unique = |message: &str| Some(Constraint::Unique(message.into()));
        for (sql, expected) in [
            ("INSERT INTO team VALUES (1, 'two')", unique("UNIQUE constraint failed: team.id")),
            ("INSERT INTO team VALUES (2, 'one')", unique("UNIQUE constraint failed: team.name")),
            ("INSERT INTO service VALUES (2)", Some(Constraint::ForeignKey("FOREIGN KEY constraint failed".into()))),
            ("INSERT INTO team VALUES (2, NULL)", None),
            ("INSERT INTO nothing VALUES (1)", None),
        ] {
            assert_eq!(violation(sql), expected, "{sql}");
        }
    }
}
