//! Relations by key. Generated methods call these functions through `types`, and the nouns' files share them.

use sea_orm::{
    ColumnTrait, EntityTrait, Iterable, ModelTrait, PrimaryKeyToColumn, QueryFilter, QuerySelect, QueryTrait,
};

use super::List;
use crate::db::{self, Read, ReadHandle, Table, Transaction};
use crate::engine::object::Parted;
use crate::engine::page::{Page, PageArguments, PartialPage};
use crate::entity::{ByIds, Texts};
use crate::error::{Error, Result, UserError};
use crate::graphql::request::context::Ctx;

/// Reads the row of each key, in one statement. `None` where there is no key.
pub async fn to_one<M>(ctx: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<Option<M>>>
where
    M: ModelTrait<Entity: Table<Model = M> + ByIds>,
{
    Ok(M::Entity::by_ids(ctx.db(), keys).await?)
}

/// Like [`to_one`], for foreign keys that are never null, so that each has its row.
pub async fn to_its_one<M>(ctx: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<M>>
where
    M: ModelTrait<Entity: Table<Model = M> + ByIds>,
{
    present(to_one(ctx, keys).await?)
}

/// Reads a page of rows for each parent, oldest first. The column `key` of a row holds the parent's id.
pub async fn list<M>(ctx: &Ctx<'_>, args: &PageArguments, key: &'static str, parents: Vec<i64>) -> Result<Vec<Page<M>>>
where
    M: ModelTrait<Entity: Table<Model = M>>,
{
    all_rows::<M>().of_column(key, parents).pages(ctx, &args.request()?).await
}

/// Reads a page of rows for each parent through a table of links, in the order of the links. `columns` are the links'
/// columns for the parent and for the row.
pub async fn list_through<M>(
    ctx: &Ctx<'_>,
    args: &PageArguments,
    links: &'static str,
    columns: [&'static str; 2],
    parents: Vec<i64>,
) -> Result<Vec<Page<M>>>
where
    M: ModelTrait<Entity: Table<Model = M>>,
{
    all_rows::<M>().linked(links, columns, parents).pages(ctx, &args.request()?).await
}

/// Like [`list`], without the columns that no selected field reads.
pub async fn partial_list<M>(
    ctx: &Ctx<'_>,
    args: &PageArguments,
    key: &'static str,
    parents: Vec<i64>,
) -> Result<Vec<PartialPage<M>>>
where
    M: Parted + ModelTrait<Entity: Table<Model = M>>,
{
    all_rows::<M>().of_column(key, parents).partial_pages(ctx, &args.request()?).await
}

/// Like [`list_through`], without the columns that no selected field reads.
pub async fn partial_list_through<M>(
    ctx: &Ctx<'_>,
    args: &PageArguments,
    links: &'static str,
    columns: [&'static str; 2],
    parents: Vec<i64>,
) -> Result<Vec<PartialPage<M>>>
where
    M: Parted + ModelTrait<Entity: Table<Model = M>>,
{
    all_rows::<M>().linked(links, columns, parents).partial_pages(ctx, &args.request()?).await
}

fn all_rows<M: ModelTrait<Entity: Table<Model = M>>>() -> List<M::Entity> {
    let id = <M::Entity as EntityTrait>::PrimaryKey::iter().next().expect("a table of the catalogue has a key");
    List::new(id.into_column())
}

/// Unwraps rows that a foreign key guarantees to exist.
pub(in crate::graphql) fn present<T>(rows: Vec<Option<T>>) -> Result<Vec<T>> {
    let rows: Option<Vec<T>> = rows.into_iter().collect();
    rows.ok_or_else(|| Error::internal("a foreign key has no row"))
}

/// Copies a row, and charges the copy to the budget.
pub(in crate::graphql) fn clone_charged<M: Clone + Texts>(row: &M, ctx: &Ctx<'_>) -> Result<M> {
    ctx.db().charge::<M>(row.texts())?;
    Ok(row.clone())
}

/// Returns the items of each key, in the order of the keys. `text` returns the bytes of text in an item.
pub(in crate::graphql) fn lists<T: Clone>(
    db: &dyn ReadHandle,
    keys: &[i64],
    items: Vec<(i64, T)>,
    text: impl Fn(&T) -> usize,
) -> Result<Vec<Vec<T>>> {
    let charge = |items: &Vec<T>| items.iter().try_for_each(|item| db.charge::<T>(text(item)));
    let lists = db::to_each(&mut keys.iter().copied().map(Some), db::by_key(items), &charge)?;
    Ok(lists.into_iter().map(Option::unwrap_or_default).collect())
}

/// Fails if more than `most` rows have the value `id` in the column `owner`. Call it after the insert, in the same
/// transaction. `said` is what the message calls the owner and the rows.
pub(in crate::graphql) async fn check_row_limit<E: EntityTrait>(
    db: &Transaction,
    owner: E::Column,
    id: i64,
    most: usize,
    said: (&str, &str),
) -> Result<()> {
    let rows = E::find().select_only().column(owner).filter(owner.eq(id)).offset(most as u64);
    if !db.rows(rows.limit(1).as_query(), |row| row.get::<i64>(0)).await?.is_empty() {
        let (owner, rows) = said;
        return Err(UserError::base(format!("no more {rows} can be added: {owner} has at most {most}")).into());
    }
    Ok(())
}

/// Defines methods of a resolver trait that are one expression each. After `relations! { |teams: Self, args, ctx|`, the line
/// `contacts(PageArguments) -> Contacts = …;` becomes
/// `async fn contacts(teams: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<Contacts>>`, whose body is `…`.
/// Without arguments it has no `args`.
macro_rules! relations {
    (
        |$parents:ident: $parent:ty, $args:ident, $ctx:ident|
        $($field:ident($($given:ty)?) -> $answer:ty = $value:expr;)*
    ) => {$(
        async fn $field($parents: &[&$parent], $($args: &$given,)? $ctx: &Ctx<'_>) -> Result<Vec<$answer>> {
            $value
        }
    )*};
}
pub(in crate::graphql) use relations;
