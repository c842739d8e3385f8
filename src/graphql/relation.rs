//! Relations that follow from a key: what generated methods call, through `types`, and what the nouns share.

use std::collections::HashMap;
use std::hash::BuildHasher;

use sea_orm::ModelTrait;

use super::context::Ctx;
use crate::db::{Read, Table};
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

/// Gives each key what was read for it. A key that stands several times, because its row does in a level, gets copies;
/// each is charged as if it was read. `text` is the bytes of text of an item.
pub(super) fn to_each<T: Clone>(
    db: &impl Read,
    keys: &[i64],
    mut groups: HashMap<i64, Vec<T>, impl BuildHasher>,
    text: impl Fn(&T) -> usize,
) -> Result<Vec<Vec<T>>> {
    let mut uses = HashMap::<i64, usize>::with_capacity(groups.len());
    for key in keys {
        *uses.entry(*key).or_default() += 1;
    }
    let mut all = Vec::with_capacity(keys.len());
    for key in keys {
        let left = uses.entry(*key).or_default();
        *left = left.saturating_sub(1);
        if *left == 0 {
            all.push(groups.remove(key).unwrap_or_default());
        } else {
            let group = groups.get(key).map(Vec::as_slice).unwrap_or_default();
            group.iter().try_for_each(|item| db.charge::<T>(text(item)))?;
            all.push(group.to_vec());
        }
    }
    Ok(all)
}
