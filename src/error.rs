//! What can go wrong, by who can mend it: the caller ([`UserError`]) or the people who run rollcall (anything else).
//!
//! How an error is shown is each surface's own affair: a mutation puts user errors into its payload, a query field
//! reports them at the top level, the webhook answers 400. An internal error is logged once, at the edge, and shown
//! as a fixed sentence.

use std::borrow::Cow;
use std::fmt;

/// The outcome of a resolver, a finder or a constructor.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something that the caller can mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    /// One sentence for a person.
    pub message: Cow<'static, str>,
    /// The input field at fault, outermost first; `["base"]` when it is no one field.
    pub path: Vec<Cow<'static, str>>,
    /// The class of the error, shown as `extensions.code` where it reaches the top level.
    pub code: Code,
}

/// `extensions.code` of a top-level error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The document cannot be read.
    ParseFailed,
    /// The document does not fit the schema, or is too large.
    ValidationFailed,
    /// The request may answer with more than anybody may ask for.
    EstimateTooHigh,
    /// The request needs more than anybody may use.
    TooExpensive,
    /// A value that does not fit its type or its rule.
    BadUserInput,
    /// A thing that is asked for by name is not there.
    NotFound,
    /// No token, or one that is not valid.
    Unauthenticated,
    /// The token may not do this.
    Forbidden,
    /// Too many requests.
    RateLimited,
    /// Not the caller's fault.
    Internal,
}

impl Code {
    /// The code as clients see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ParseFailed => "GRAPHQL_PARSE_FAILED",
            Self::ValidationFailed => "GRAPHQL_VALIDATION_FAILED",
            Self::EstimateTooHigh => "COST_ESTIMATED_TOO_EXPENSIVE",
            Self::TooExpensive => "COST_ACTUAL_TOO_EXPENSIVE",
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::NotFound => "NOT_FOUND",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::RateLimited => "RATE_LIMITED",
            Self::Internal => "INTERNAL",
        }
    }
}

impl UserError {
    /// An error about one input field.
    pub fn new(field: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), path: vec![field.into()], code: Code::BadUserInput }
    }

    /// An error about the whole object: its path is `["base"]`.
    pub fn base(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("base", message)
    }

    /// The same error, saying that the thing which was named does not exist.
    pub fn not_found(mut self) -> Self {
        self.code = Code::NotFound;
        self
    }

    /// The same error about a field inside `field`, or about `field` as a whole.
    pub fn within(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        if self.path == ["base"] {
            self.path.clear();
        }
        self.path.insert(0, field.into());
        self
    }
}

/// Collects what is wrong with an input, so that all of it is told at once.
#[derive(Debug, Default)]
pub struct Problems(Vec<UserError>);

impl Problems {
    /// The value, unless it is one more thing that is wrong.
    pub fn take<T>(&mut self, checked: Result<T, UserError>) -> Option<T> {
        checked.map_err(|error| self.0.push(error)).ok()
    }

    /// The same for a check that may also fail internally, which ends everything.
    pub fn take_any<T>(&mut self, checked: Result<T>) -> Result<Option<T>> {
        match checked {
            Ok(value) => Ok(Some(value)),
            Err(Error::User(errors)) => {
                self.0.extend(errors);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// One more thing that is wrong.
    pub fn push(&mut self, error: UserError) {
        self.0.push(error);
    }

    /// Fails when anything is wrong.
    pub fn none(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::User(self.0)) }
    }
}

/// An error by who can mend it.
#[derive(Debug)]
pub enum Error {
    /// The caller can: one entry for each thing that is wrong, never empty.
    User(Vec<UserError>),
    /// We must. The cause is for the log alone.
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// The same error, with each thing that the caller can mend changed by `change`.
    pub fn map_user(self, change: impl Fn(UserError) -> UserError) -> Self {
        match self {
            Self::User(errors) => Self::User(errors.into_iter().map(change).collect()),
            error => error,
        }
    }

    /// An internal error described by a sentence.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }
}

/// What a client sent, as a message repeats it: of a text that is longer than any name its beginning.
pub fn shortened(text: &str) -> impl fmt::Display {
    const MOST: usize = 255;
    fmt::from_fn(move |f| match text.char_indices().nth(MOST) {
        None => f.write_str(text),
        Some((end, _)) => write!(f, "{}…", &text[..end]),
    })
}

/// The same in quotation marks.
pub fn quoted(text: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| write!(f, "\"{}\"", shortened(text)))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    let separator = if i == 0 { "" } else { "; " };
                    write!(f, "{separator}{}", error.message)?;
                }
                Ok(())
            }
            Self::Internal(cause) => cause.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<UserError> for Error {
    fn from(error: UserError) -> Self {
        Self::User(vec![error])
    }
}

impl From<sea_orm::DbErr> for Error {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::Internal(Box::new(error))
    }
}
