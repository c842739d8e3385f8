//! SQLite's errors in the form of sqlx, so that [`super::refusal`] interprets those of both drivers.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use sea_orm::sqlx::error::{DatabaseError, ErrorKind};
use sea_orm::{DbErr, RuntimeErr, sqlx};

pub(super) fn error(cause: rusqlite::Error) -> DbErr {
    match cause {
        rusqlite::Error::SqliteFailure(code, message) => {
            let message = message.unwrap_or_else(|| code.to_string());
            let answer = Answer { code: code.extended_code, message };
            DbErr::Query(RuntimeErr::SqlxError(Arc::new(sqlx::Error::Database(Box::new(answer)))))
        }
        cause => DbErr::Query(RuntimeErr::Internal(cause.to_string())),
    }
}

/// An SQLite error in the form of sqlx.
#[derive(Debug)]
pub(super) struct Answer {
    code: i32,
    message: String,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) {}", self.code, self.message)
    }
}

impl std::error::Error for Answer {}

impl DatabaseError for Answer {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.to_string().into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}
