//! Things that are named in exactly one of two ways: by id, or by an alias, an email address and the like.

use async_graphql::MaybeUndefined;

use super::schema::IdentifierInput;
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
    /// What an input names.
    pub fn of(input: &'a IdentifierInput) -> Result<Self, UserError> {
        Self::new(&input.id, &input.alias)
    }

    /// What an argument that must be given names.
    pub fn of_argument(name: &'static str, input: &'a MaybeUndefined<IdentifierInput>) -> Result<Self, UserError> {
        Self::of(input.value().ok_or_else(|| UserError::new(name, format!("{name} must be given")))?)
    }

    /// The one that is given. Null and the empty text are the same as absent.
    pub fn new(id: &'a MaybeUndefined<String>, alias: &'a MaybeUndefined<String>) -> Result<Self, UserError> {
        Ok(match exactly_one(("id", given(id)), ("alias", given(alias)))? {
            OneOf::First(id) => Self::Id(id),
            OneOf::Second(alias) => Self::Alias(alias),
        })
    }
}

/// The one of two fields that is given.
pub(super) enum OneOf<A, B> {
    First(A),
    Second(B),
}

/// Takes the one of two fields that is given; both and none are errors.
pub(super) fn exactly_one<A, B>(
    (first, a): (&str, Option<A>),
    (second, b): (&str, Option<B>),
) -> Result<OneOf<A, B>, UserError> {
    match (a, b) {
        (Some(a), None) => Ok(OneOf::First(a)),
        (None, Some(b)) => Ok(OneOf::Second(b)),
        _ => Err(UserError::base(format!("exactly one of {first} and {second} must be given"))),
    }
}

/// A text that names something: null and the empty one name nothing.
pub(super) fn given(text: &MaybeUndefined<String>) -> Option<&str> {
    text.value().map(String::as_str).filter(|text| !text.is_empty())
}
