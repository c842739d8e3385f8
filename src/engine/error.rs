//! Errors, by who can fix them: the caller ([`UserError`]) or the operator (everything else).
//!
//! Each surface shows errors in its own way. A mutation puts user errors into its payload, a query field reports them
//! at the top level, and the webhook answers 400. An internal error is logged once, at the edge, and shown as a fixed
//! sentence.

use std::borrow::Cow;
use std::fmt;

/// The result of a resolver, a finder or a constructor.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that the caller can fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    /// One sentence for people.
    pub message: Cow<'static, str>,
    /// The input field at fault, outermost first. `["base"]` if it is no single field.
    pub path: Vec<Cow<'static, str>>,
    /// The error code, shown as `extensions.code` when the error is at the top level.
    pub code: Code,
}

/// `extensions.code` of a top-level error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The document cannot be parsed.
    ParseFailed,
    /// The document does not match the schema, or is too large.
    ValidationFailed,
    /// The estimate of the request exceeds the limit.
    EstimateTooHigh,
    /// The request exceeded its budget.
    TooExpensive,
    /// A value does not match its type or breaks a rule.
    BadUserInput,
    /// A named object does not exist.
    NotFound,
    /// The token is missing or not valid.
    Unauthenticated,
    /// The token's scope does not allow this.
    Forbidden,
    /// The client sent only the hash of a document.
    PersistedQueryNotSupported,
    /// Too many requests.
    RateLimited,
    /// The response has more errors than it lists.
    ErrorsOmitted,
    /// The request was sent before.
    Conflict,
    /// An internal error.
    Internal,
    /// The request cannot be carried out now. Nothing was done, unless the message says otherwise.
    Unavailable,
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
            Self::PersistedQueryNotSupported => "PERSISTED_QUERY_NOT_SUPPORTED",
            Self::RateLimited => "RATE_LIMITED",
            Self::ErrorsOmitted => "ERRORS_OMITTED",
            Self::Conflict => "CONFLICT",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
        }
    }
}

impl UserError {
    /// An error about one input field.
    pub fn new(field: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), path: vec![field.into()], code: Code::BadUserInput }
    }

    /// An error about the whole object, with the path `["base"]`.
    pub fn base(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("base", message)
    }

    /// Marks the error as being about something that the caller may not do.
    pub fn forbidden(mut self) -> Self {
        self.code = Code::Forbidden;
        self
    }

    /// Marks the error as being about a named object that does not exist.
    pub fn not_found(mut self) -> Self {
        self.code = Code::NotFound;
        self
    }

    /// Moves the error inside `field`. An error about the whole object becomes one about `field`.
    pub fn within(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        if self.path == ["base"] {
            self.path.clear();
        }
        self.path.insert(0, field.into());
        self
    }
}

/// Collects the errors of an input, so that all of them are reported together.
#[derive(Debug, Default)]
pub struct Problems(Vec<UserError>);

impl Problems {
    /// Returns the value, or records the error.
    pub fn take<T>(&mut self, checked: Result<T, UserError>) -> Option<T> {
        checked.map_err(|error| self.0.push(error)).ok()
    }

    /// The same for a check that may also fail internally. Such an error is returned at once.
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

    /// Records an error.
    pub fn push(&mut self, error: UserError) {
        self.0.push(error);
    }

    /// Fails if any error was recorded.
    pub fn none(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::User(self.0)) }
    }
}

/// An error, by who can fix it.
#[derive(Debug)]
pub enum Error {
    /// The caller's errors, at least one.
    User(Vec<UserError>),
    /// An internal error. The cause is logged and never shown.
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Changes the user errors with `change`.
    pub fn map_user(self, change: impl Fn(UserError) -> UserError) -> Self {
        match self {
            Self::User(errors) => Self::User(errors.into_iter().map(change).collect()),
            error => error,
        }
    }

    /// Creates an internal error from a description.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }
}

/// Shortens a client's text for a message. Names are never so long.
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

impl From<UserError> for Error {
    fn from(error: UserError) -> Self {
        Self::User(vec![error])
    }
}

/// Any other error is internal. So an [`Error`] itself cannot be a [`std::error::Error`].
impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Internal(Box::new(error))
    }
}
