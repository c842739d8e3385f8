//! The errors of rusqlite and tokio-postgres in the form of sqlx, so that [`super::refusal`] interprets those of all
//! drivers.

use std::borrow::Cow;
use std::error::Error as _;
use std::io::{self, ErrorKind::ConnectionReset};
use std::sync::Arc;
use std::{error, fmt};

use sea_orm::sqlx::error::{DatabaseError, ErrorKind};
use sea_orm::{DbErr, RuntimeErr, sqlx};
use tokio_postgres::error::Severity;

/// An error of SQLite.
pub(super) fn error(cause: rusqlite::Error) -> DbErr {
    match cause {
        rusqlite::Error::SqliteFailure(code, message) => {
            let message = message.unwrap_or_else(|| code.to_string());
            let answer = Answer { code: Code::Sqlite(code.extended_code), is_fatal: false, message };
            DbErr::Query(RuntimeErr::SqlxError(Arc::new(sqlx::Error::Database(Box::new(answer)))))
        }
        cause => DbErr::Query(RuntimeErr::Internal(cause.to_string())),
    }
}

/// An error of PostgreSQL, or of the connection to it.
pub(super) fn of_server(cause: &tokio_postgres::Error) -> sqlx::Error {
    let of_driver = cause.source();
    if let Some(answer) = cause.as_db_error() {
        let (code, message) = (Code::Postgres(answer.code().code().to_owned()), answer.message().to_owned());
        let is_fatal = matches!(answer.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
        return sqlx::Error::Database(Box::new(Answer { code, is_fatal, message }));
    }
    // The driver does not say otherwise which kind of error it is.
    let kind = cause.to_string();
    let why = of_driver.map_or_else(|| kind.clone(), |of_driver| format!("{kind}: {of_driver}"));
    match of_driver.and_then(|of_driver| of_driver.downcast_ref::<io::Error>()) {
        _ if kind == "error performing TLS handshake" => {
            sqlx::Error::Tls(of_driver.map_or(kind, ToString::to_string).into())
        }
        Some(io) => sqlx::Error::Io(io::Error::new(io.kind(), io.to_string())),
        None if cause.is_closed() => sqlx::Error::Io(io::Error::new(ConnectionReset, kind)),
        None if kind == "invalid configuration" => sqlx::Error::Configuration(why.into()),
        None if kind.starts_with("error serializing") || kind.starts_with("error deserializing") => {
            sqlx::Error::Encode(why.into())
        }
        None => sqlx::Error::Protocol(why),
    }
}

/// A database's error in the form of sqlx.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: Code,
    /// Whether PostgreSQL ended the connection with it: FATAL, or PANIC.
    pub(super) is_fatal: bool,
    message: String,
}

/// The database's own code of an error.
#[derive(Debug)]
pub(super) enum Code {
    /// The extended code.
    Sqlite(i32),
    /// The SQLSTATE.
    Postgres(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Code::Sqlite(code) => write!(f, "(code: {code}) {}", self.message),
            Code::Postgres(_) => f.write_str(&self.message),
        }
    }
}

impl error::Error for Answer {}

impl DatabaseError for Answer {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(match &self.code {
            Code::Sqlite(code) => code.to_string().into(),
            Code::Postgres(code) => code.into(),
        })
    }

    fn as_error(&self) -> &(dyn error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}
