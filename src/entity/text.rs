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
/// The longest name of a branch.
pub const BRANCH: usize = 2_000;
/// The longest key of a tag.
pub const TAG_KEY: usize = 64;
/// The longest value of a tag.
pub const TAG_VALUE: usize = 1_000;
/// The longest message of a commit, and the longest description of a deploy, which is one as a rule. To cut it or to refuse
/// the deploy for it would be worse than to keep it.
pub const MESSAGE: usize = 50_000;

/// The most entries of a list in an input.
pub const ENTRIES: usize = 1_000;

/// The most rows of a short list: contacts of one owner, component types, levels, categories; and the most things that are
/// assigned to another at once.
pub const FEW: usize = 100;

/// A text that must not be blank and is at most `most` characters long.
pub fn required(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    if text.trim().is_empty() {
        return Err(UserError::new(field, format!("{field} must not be empty")));
    }
    at_most(field, text, most)
}

/// A text of at most `most` characters, without the one character that no database text may hold.
pub fn at_most(field: &'static str, text: &str, most: usize) -> Result<String, UserError> {
    match fault(text, most) {
        None => Ok(text.to_owned()),
        Some(fault) => Err(UserError::new(field, format!("{field} {fault}"))),
    }
}

/// What is wrong with a text of at most `most` characters, as the rest of a sentence about it; nothing when it is right.
pub fn fault(text: &str, most: usize) -> Option<String> {
    let length = text.chars().count();
    if length > most {
        return Some(format!("has {length} characters; at most {most} are allowed"));
    }
    text.contains('\0').then(|| "must not contain the null character".to_owned())
}

/// A text of which an empty one is the same as none.
pub fn optional(field: &'static str, text: &str, most: usize) -> Result<Option<String>, UserError> {
    if text.is_empty() { Ok(None) } else { at_most(field, text, most).map(Some) }
}
