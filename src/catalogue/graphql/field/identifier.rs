//! Identifiers: a client names a thing either by its id, or by its alias, email address or the like.

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::LockType;
use sea_orm::{EntityTrait, ModelTrait, PrimaryKeyTrait};

use super::id::{self, Class};
use crate::db::{ReadHandle, Transaction};
use crate::entity::{ByAlias, text};
use crate::error::{Error, Result, UserError, quoted};
use crate::graphql::schema::IdentifierInput;

/// How a client names a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identifier<'a> {
    /// By its global id.
    Id(&'a str),
    /// By one of its aliases.
    Alias(&'a str),
}

impl<'a> Identifier<'a> {
    /// Reads an input.
    pub fn from_input(input: &'a IdentifierInput) -> Result<Self, UserError> {
        Self::new(&input.id, &input.alias)
    }

    /// Reads a required argument.
    pub fn of_argument(name: &'static str, input: &'a MaybeUndefined<IdentifierInput>) -> Result<Self, UserError> {
        Self::from_input(input.value().ok_or_else(|| UserError::new(name, format!("{name} must be given")))?)
    }

    /// Returns the one that is given. Null and the empty text count as absent.
    pub fn new(id: &'a MaybeUndefined<String>, alias: &'a MaybeUndefined<String>) -> Result<Self, UserError> {
        Ok(match exactly_one(("id", given(id)), ("alias", given(alias)))? {
            OneOf::First(id) => Self::Id(id),
            OneOf::Second(alias) => Self::Alias(alias),
        })
    }
}

/// The one of two fields that is given.
pub(in crate::graphql) enum OneOf<A, B> {
    First(A),
    Second(B),
}

/// Returns the one of two fields that is given. Both or none is an error.
pub(in crate::graphql) fn exactly_one<A, B>(
    (first, a): (&str, Option<A>),
    (second, b): (&str, Option<B>),
) -> Result<OneOf<A, B>, UserError> {
    match (a, b) {
        (Some(a), None) => Ok(OneOf::First(a)),
        (None, Some(b)) => Ok(OneOf::Second(b)),
        _ => Err(UserError::base(format!("exactly one of {first} and {second} must be given"))),
    }
}

/// Returns the text without the blanks around it, unless it is absent, null or blank.
pub(in crate::graphql) fn given(text: &MaybeUndefined<String>) -> Option<&str> {
    text.value().map(|text| text::trim(text)).filter(|text| !text.is_empty())
}

/// A row that a client can name by id or by alias.
pub(in crate::graphql) trait Named: ModelTrait<Entity: Table<Self>> {}

impl<M: ModelTrait<Entity: Table<M>>> Named for M {}

/// The table of a [`Named`] row.
pub(in crate::graphql) trait Table<M>:
    ByAlias + Class + EntityTrait<Model = M, PrimaryKey: PrimaryKeyTrait<ValueType = i64>>
{
}

impl<M, E> Table<M> for E where E: ByAlias + Class + EntityTrait<Model = M, PrimaryKey: PrimaryKeyTrait<ValueType = i64>>
{}

/// Finds the row that a client names. For queries, which answer null if there is none. Programs that keep one text for
/// each thing send an alias as `id`, or an id as `alias`; both are taken for what they are.
pub(in crate::graphql) async fn find<M: Named>(db: &dyn ReadHandle, identifier: Identifier<'_>) -> Result<Option<M>> {
    match identifier {
        Identifier::Id(id) => id::find::<M::Entity>(db, id).await,
        Identifier::Alias(alias) => match M::Entity::by_alias(db, alias).await? {
            None if id::number::<M::Entity>(alias).is_some() => id::find::<M::Entity>(db, alias).await,
            found => Ok(found),
        },
    }
}

/// Finds the row that a client names. The error says why there is none.
pub(in crate::graphql) async fn require<M: Named>(db: &dyn ReadHandle, identifier: Identifier<'_>) -> Result<M> {
    Ok(find::<M>(db, identifier).await?.ok_or_else(|| match identifier {
        Identifier::Id(id) => id::missing::<M::Entity>(id, "id"),
        Identifier::Alias(alias) => {
            let what = format!("{} with the alias {}", M::Entity::NOUN, quoted(alias));
            UserError::new("alias", id::absent(&what)).not_found()
        }
    })?)
}

/// Finds the row that an argument or field of a mutation names. The paths of errors begin with `field`.
pub(in crate::graphql) async fn require_in<M: Named>(
    db: &dyn ReadHandle,
    field: &'static str,
    named: &IdentifierInput,
) -> Result<M> {
    let found = async { require::<M>(db, Identifier::from_input(named)?).await };
    found.await.map_err(|error: Error| error.map_user(|error| error.within(field)))
}

/// Like [`require_in`], and locks the row.
pub(in crate::graphql) async fn locked<M: Named>(
    db: &Transaction,
    field: &'static str,
    named: &IdentifierInput,
    lock: LockType,
) -> Result<M> {
    require_in(&db.locking(lock), field, named).await
}
