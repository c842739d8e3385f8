//! Things that are named by id or by alias, exactly one of the two.

use async_graphql::MaybeUndefined;

use crate::error::UserError;

/// How a client names a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identifier<'a> {
    /// By its global id.
    Id(&'a str),
    /// By one of its aliases.
    Alias(&'a str),
}

impl<'a> Identifier<'a> {
    /// The one that is given. Null and the empty text are the same as absent.
    pub fn new(id: &'a MaybeUndefined<String>, alias: &'a MaybeUndefined<String>) -> Result<Self, UserError> {
        let given = |text: &'a MaybeUndefined<String>| text.value().map(String::as_str).filter(|text| !text.is_empty());
        match (given(id), given(alias)) {
            (Some(id), None) => Ok(Self::Id(id)),
            (None, Some(alias)) => Ok(Self::Alias(alias)),
            _ => Err(UserError::base("exactly one of id and alias must be given")),
        }
    }
}
