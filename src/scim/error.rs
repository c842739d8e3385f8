//! What can be wrong with a request (RFC 7644, section 3.12), and what can go wrong with it here.

use super::Answer;
use crate::db;
use crate::error::UserError;

/// Why a request has no answer.
#[derive(Debug)]
pub enum Error {
    /// The client has to change something.
    Refused(Refusal),
    /// The database.
    Database(db::Error),
    /// The service is not available, for this reason.
    Unavailable(&'static str),
    /// Something else. The cause is for the log.
    Internal(String),
}

/// The kind of an error: `scimType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScimType {
    /// A filter cannot be read, or an attribute or an operator is not supported in it.
    InvalidFilter,
    /// The request takes too much, or has too many parts.
    TooMany,
    /// Another resource has the value.
    Uniqueness,
    /// The attribute cannot be changed, or not at present.
    Mutability,
    /// The body is not what it must be.
    InvalidSyntax,
    /// The path of an operation cannot be read, or names no attribute.
    InvalidPath,
    /// The path of an operation finds nothing to change, or is missing.
    NoTarget,
    /// A value is missing, or not what it must be.
    InvalidValue,
}

impl ScimType {
    fn word(self) -> &'static str {
        match self {
            Self::InvalidFilter => "invalidFilter",
            Self::TooMany => "tooMany",
            Self::Uniqueness => "uniqueness",
            Self::Mutability => "mutability",
            Self::InvalidSyntax => "invalidSyntax",
            Self::InvalidPath => "invalidPath",
            Self::NoTarget => "noTarget",
            Self::InvalidValue => "invalidValue",
        }
    }
}

/// An error of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    status: u16,
    /// Its kind, if RFC 7644 has one.
    pub kind: Option<ScimType>,
    /// One sentence for people.
    pub detail: String,
}

impl Refusal {
    /// An error of a kind.
    pub fn new(kind: ScimType, detail: impl Into<String>) -> Self {
        let status = if kind == ScimType::Uniqueness { 409 } else { 400 };
        Self { status, kind: Some(kind), detail: detail.into() }
    }

    /// A value is missing, or not what it must be.
    pub fn value(detail: impl Into<String>) -> Self {
        Self::new(ScimType::InvalidValue, detail)
    }

    /// There is no such resource.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self { status: 404, kind: None, detail: detail.into() }
    }

    /// The resource does not have this method.
    pub fn not_allowed() -> Self {
        Self { status: 405, kind: None, detail: "This resource does not have this method.".to_owned() }
    }

    /// The resource cannot be asked so.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self { status: 403, kind: None, detail: detail.into() }
    }

    /// The state of the resource forbids it.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self { status: 409, kind: None, detail: detail.into() }
    }

    /// What RFC 7644 leaves to services, and this one does not do.
    pub fn not_implemented() -> Self {
        let detail = "This service has no /Me, no bulk operations and no searches by POST.".to_owned();
        Self { status: 501, kind: None, detail }
    }

    /// The request is larger than what is done at once.
    pub fn too_large(detail: impl Into<String>) -> Self {
        Self { status: 413, kind: Some(ScimType::TooMany), detail: detail.into() }
    }

    /// Whether it says that there is no such attribute, or that nobody may change it. The value is not to blame.
    pub fn is_about_the_path(&self) -> bool {
        matches!(self.kind, Some(ScimType::InvalidPath | ScimType::Mutability))
    }

    /// The same error, of another kind.
    pub fn of_kind(self, kind: ScimType) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// The answer that tells it.
    pub fn answer(&self) -> Answer {
        Answer::refused(self.status, self.kind.map(ScimType::word), &self.detail)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Database(error)
    }
}

impl From<UserError> for Error {
    fn from(error: UserError) -> Self {
        Self::Refused(Refusal::value(error.message))
    }
}

impl From<crate::error::Error> for Error {
    fn from(error: crate::error::Error) -> Self {
        if let Some(cause) = db::Error::cause_of(&error) {
            return Self::Database(cause.clone());
        }
        match error {
            crate::error::Error::User(errors) => {
                let sentences: Vec<_> = errors.into_iter().map(|error| error.message.into_owned()).collect();
                Self::Refused(Refusal::value(sentences.join("; ")))
            }
            crate::error::Error::Internal(cause) => Self::Internal(cause.to_string()),
        }
    }
}

impl Error {
    /// Whether the transaction may succeed when it is repeated.
    pub fn is_lost_race(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_lost_race())
    }
}

/// Says that there is no resource with an id.
pub fn absent(id: impl std::fmt::Display) -> Refusal {
    let id: String = id.to_string().chars().take(100).collect();
    Refusal::not_found(format!("There is no resource with the id {id}."))
}
