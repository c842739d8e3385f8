//! The rules of texts that clients send: how long they may be, and what an empty one means.

use async_graphql::MaybeUndefined;

use crate::error::{Result, UserError};

/// The longest name, alias or other short text, in characters.
pub const SHORT: usize = 255;
/// The longest description.
pub const DESCRIPTION: usize = 5_000;
/// The longest note.
pub const NOTE: usize = 50_000;
/// The longest address.
pub const URL: usize = 2_000;
/// The longest key of a tag.
pub const TAG_KEY: usize = 64;
/// The longest value of a tag.
pub const TAG_VALUE: usize = 1_000;

/// A text that must not be blank and is at most `most` characters long.
pub fn required(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    if text.trim().is_empty() {
        return Err(UserError::new(field, format!("{field} must not be empty")));
    }
    at_most(field, text, most)
}

/// A text of at most `most` characters, without the one character that no database text may hold.
pub fn at_most(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    let length = text.chars().count();
    if length > most {
        return Err(UserError::new(field, format!("{field} has {length} characters; at most {most} are allowed")));
    }
    if text.contains('\0') {
        return Err(UserError::new(field, format!("{field} must not contain the null character")));
    }
    Ok(text.to_owned())
}

/// A text that may be left out; an empty one is the same as null.
pub fn optional(
    field: &'static str,
    text: &MaybeUndefined<String>,
    most: usize,
) -> Result<Option<String>, UserError> {
    match text.value() {
        None => Ok(None),
        Some(text) if text.is_empty() => Ok(None),
        Some(text) => at_most(field, text, most).map(Some),
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
