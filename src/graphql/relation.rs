//! Relations that follow from a key: what generated methods call, through `types`, and what the nouns share.

use std::collections::HashMap;
use std::hash::BuildHasher;

use sea_orm::ModelTrait;

use super::context::Ctx;
use crate::db::{self, Read, Table};
use crate::entity::ByIds;
use crate::error::{Error, Result};

/// The row that each key is of, or nothing where there is no key: one statement for all of them.
pub async fn to_one<M>(ctx: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<Option<M>>>
where
    M: ModelTrait<Entity: Table<Model = M> + ByIds>,
{
    Ok(M::Entity::by_ids(ctx.db(), keys).await?)
}

/// The same where a key always has its row, which the database keeps.
pub async fn to_its_one<M>(ctx: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<M>>
where
    M: ModelTrait<Entity: Table<Model = M> + ByIds>,
{
    present(to_one(ctx, keys).await?)
}

/// The rows that a foreign key promises to be there.
pub(super) fn present<T>(rows: Vec<Option<T>>) -> Result<Vec<T>> {
    let rows: Option<Vec<T>> = rows.into_iter().collect();
    rows.ok_or_else(|| Error::internal("a foreign key has no row"))
}

/// The list that was read for each key; an empty one where nothing was. `text` is the bytes of text of an item.
pub(super) fn lists<T: Clone>(
    db: &impl Read,
    keys: &[i64],
    groups: HashMap<i64, Vec<T>, impl BuildHasher>,
    text: impl Fn(&T) -> usize,
) -> Result<Vec<Vec<T>>> {
    let charge = |items: &Vec<T>| items.iter().try_for_each(|item| db.charge::<T>(text(item)));
    let lists = db::to_each(keys.iter().copied().map(Some), groups, charge)?;
    Ok(lists.into_iter().map(Option::unwrap_or_default).collect())
}
