//! The rules for all texts from outside: how long they may be, and which characters they must not contain.

use crate::error::UserError;

/// The maximum length of a name, alias or other short text, in characters.
pub const SHORT: usize = 255;
/// The maximum length of a description.
pub const DESCRIPTION: usize = 5_000;
/// The maximum length of a note.
pub const NOTE: usize = 50_000;
/// The maximum length of a URL.
pub const URL: usize = 2_000;
/// The maximum length of the name of a branch.
pub const BRANCH: usize = 2_000;
/// The maximum length of a tag's key.
pub const TAG_KEY: usize = 64;
/// The maximum length of a tag's value.
pub const TAG_VALUE: usize = 1_000;
/// The maximum length of a commit message, and of the description of a deploy, which usually is a commit message.
/// Storing a long one is better than truncating it or refusing the deploy.
pub const MESSAGE: usize = 50_000;

/// The maximum number of items of a list in an input.
pub const ENTRIES: usize = 1_000;

/// The maximum number of rows of a short list: contacts of one owner, component types, levels, categories. Also the
/// maximum number of objects that are assigned to another at once.
pub const FEW: usize = 100;

/// Checks that a text is not blank and has at most `most` characters.
pub fn required(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    if text.trim().is_empty() {
        return Err(UserError::new(field, format!("{field} must not be empty")));
    }
    at_most(field, text, most)
}

/// Checks that a text has at most `most` characters and no NUL, which PostgreSQL cannot store.
pub fn at_most(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    match fault(text, most) {
        None => Ok(text.to_owned()),
        Some(fault) => Err(UserError::new(field, format!("{field} {fault}"))),
    }
}

/// Says what is wrong with a text, as the rest of a sentence about it. Returns `None` if the text has at most `most`
/// characters and no NUL.
pub fn fault(text: &str, most: usize) -> Option<String> {
    let length = text.chars().count();
    if length > most {
        return Some(format!("has {length} characters; at most {most} are allowed"));
    }
    text.contains('\0').then(|| "must not contain the null character".to_owned())
}

/// Checks a text like [`at_most`]. The empty text becomes `None`.
pub fn optional(field: &'static str, text: &str, most: usize) -> Result<Option<String>, UserError> {
    if text.is_empty() { Ok(None) } else { at_most(field, text, most).map(Some) }
}
