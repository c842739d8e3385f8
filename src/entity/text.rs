//! The rules of texts that come from outside, whichever way they come: how long they may be, and what they may not hold.

use crate::error::UserError;

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

/// A text of which an empty one is the same as none.
pub fn optional(field: &'static str, text: &str, most: usize) -> Result<Option<String>, UserError> {
    if text.is_empty() { Ok(None) } else { at_most(field, text, most).map(Some) }
}
