//! The last deploy number given out, for each service and for each alias that no service has.
//!
//! Only deploys that bring no number of their own are counted. A number is given out in the transaction that stores its
//! deploy, so that none is left out and none given twice; whoever counts for the same service waits until then.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, LockType, OnConflict, Query, SelectStatement};
use sea_orm::{QueryResult, QuerySelect, TryGetable};
use serde::Deserialize;

use super::{deploy, service, suggestion};

/// A row of `deploy_number`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "deploy_number")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service, or
    pub service_id: Option<i64>,
    /// the unknown alias.
    pub alias: Option<String>,
    /// The last number given out.
    pub last: i64,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Gives each service so many numbers, and says which is its last.
pub async fn take_of_services<C: ConnectionTrait>(
    db: &C,
    counts: &BTreeMap<i64, i64>,
) -> Result<HashMap<i64, i64>, DbErr> {
    take(db, Column::ServiceId, counts.iter().map(|(service, count)| (Expr::value(*service), *count))).await
}

/// The same for aliases that no service has.
pub async fn take_of_aliases<C: ConnectionTrait>(
    db: &C,
    counts: &BTreeMap<&str, i64>,
) -> Result<HashMap<String, i64>, DbErr> {
    take(db, Column::Alias, counts.iter().map(|(alias, count)| (Expr::value(*alias), *count))).await
}

/// The counters in the order of their keys, so that two who take several never wait for each other.
async fn take<C: ConnectionTrait, K: TryGetable + Eq + Hash>(
    db: &C,
    key: Column,
    counts: impl ExactSizeIterator<Item = (Expr, i64)>,
) -> Result<HashMap<K, i64>, DbErr> {
    if counts.len() == 0 {
        return Ok(HashMap::new());
    }
    let last = Expr::col((Entity, Column::Last)).add(Expr::col(("excluded", Column::Last)));
    let mut insert = Query::insert();
    insert.into_table(Entity).columns([key, Column::Last]);
    for (key, count) in counts {
        insert.values_panic([key, Expr::value(count)]);
    }
    insert
        .on_conflict(OnConflict::column(key).value(Column::Last, last).to_owned())
        .returning(Query::returning().columns([key, Column::Last]));
    let read = |row: &QueryResult| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?));
    db.query_all(&insert).await?.iter().map(read).collect()
}

/// An alias that had no service has one now: the service's numbers go on after the greater of the two last ones.
pub async fn move_to_service<C: ConnectionTrait>(db: &C, alias: &str, service_id: i64) -> Result<(), DbErr> {
    let last = Query::select()
        .expr(Expr::value(service_id))
        .column(Column::Last)
        .from(Entity)
        .and_where(Column::Alias.eq(alias))
        .take();
    raise(db, Column::ServiceId, last).await?;
    Entity::delete_many().filter(Column::Alias.eq(alias)).exec(db).await?;
    Ok(())
}

/// The numbers of a service that is about to be deleted live on with every alias that its deploys were sent with: those
/// stay, and what is sent with such an alias later must not get their numbers again.
pub async fn leave_to_aliases<C: ConnectionTrait>(db: &C, service_id: i64) -> Result<(), DbErr> {
    // In the order in which a deploy that is recorded holds on to things: neither waits for the other for ever.
    service::Entity::find_by_id(service_id).lock(LockType::Update).one(db).await?;
    suggestion::Entity::update_many()
        .col_expr(suggestion::Column::ServiceId, Expr::value(None::<i64>))
        .filter(suggestion::Column::ServiceId.eq(service_id))
        .exec(db)
        .await?;
    let last = Query::select()
        .distinct()
        .column((deploy::Entity, deploy::Column::ServiceAlias))
        .column((Entity, Column::Last))
        .from(deploy::Entity)
        .inner_join(Entity, Expr::col((Entity, Column::ServiceId)).equals((deploy::Entity, deploy::Column::ServiceId)))
        .and_where(deploy::Column::ServiceId.eq(service_id))
        .take();
    raise(db, Column::Alias, last).await
}

/// Sets each counter that is selected, a key and a number, to at least that number.
async fn raise<C: ConnectionTrait>(db: &C, key: Column, counters: SelectStatement) -> Result<(), DbErr> {
    let (given, present) = (Expr::col(("excluded", Column::Last)), Expr::col((Entity, Column::Last)));
    let greater = Expr::case(given.clone().gt(present.clone()), given).finally(present);
    let mut insert = Query::insert();
    insert.into_table(Entity).columns([key, Column::Last]);
    insert.select_from(counters).map_err(|error| DbErr::Custom(error.to_string()))?;
    insert.on_conflict(OnConflict::column(key).value(Column::Last, greater).to_owned());
    db.execute(&insert).await?;
    Ok(())
}
