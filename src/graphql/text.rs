//! Texts that clients send: what it means that one is absent, null or empty. How long they may be is
//! [`entity::text`](crate::entity::text)'s to say.

use async_graphql::MaybeUndefined;

use crate::entity;
pub use crate::entity::text::{DESCRIPTION, NOTE, SHORT, URL, at_most, required};
use crate::error::{Result, UserError};

/// The most entries of a list in an input.
pub const ENTRIES: usize = 1_000;

/// A text that may be left out; an empty one is the same as null.
pub fn optional(field: &'static str, text: &MaybeUndefined<String>, most: usize) -> Result<Option<String>, UserError> {
    match text.value() {
        None => Ok(None),
        Some(text) => entity::text::optional(field, text, most),
    }
}

/// The same for an update: the outer `None` leaves the field as it is, the inner one clears it.
pub fn changed(
    field: &'static str,
    text: &MaybeUndefined<String>,
    most: usize,
) -> Result<Option<Option<String>>, UserError> {
    match text {
        MaybeUndefined::Undefined => Ok(None),
        given => optional(field, given, most).map(Some),
    }
}

/// The new name of an update: absent leaves it, null and blank are errors.
pub fn renamed(field: &'static str, text: &MaybeUndefined<String>) -> Result<Option<String>, UserError> {
    match text {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Err(UserError::new(field, format!("{field} must not be null"))),
        MaybeUndefined::Value(text) => required(field, text, SHORT).map(Some),
    }
}
