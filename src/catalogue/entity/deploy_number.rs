//! The last deploy number taken, for each service and for each alias without a service.
//!
//! Only deploys that are sent without a number take one. The number is taken in the transaction that stores the deploy,
//! so no number is skipped or taken twice. Other transactions that take a number of the same service wait until that
//! one ends.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use sea_orm::sea_query::{ExprTrait, SelectStatement};

use super::prelude::*;
use super::{deploy, service, suggestion};
use crate::db::{Db, rows_at_once};

/// The maximum number of counters that a statement raises.
const ROWS: usize = 256;

super::table! {
    "deploy_number", unrecorded, exported;

    /// The service, unless the counter belongs to an alias.
    pub service_id: Option<i64>,
    /// The alias, if no service has it.
    pub alias: Option<String>,
    /// The last number taken.
    pub last: i64,
}

/// Takes the given number of deploy numbers for each service, and returns the last one taken for each.
pub async fn take_of_services(
    db: &dyn WriteHandle,
    counts: &BTreeMap<i64, i64>,
) -> Result<HashMap<i64, i64>, db::Error> {
    take(db, Column::ServiceId, counts.iter().map(|(service, count)| (Expr::value(*service), *count))).await
}

/// Like [`take_of_services`], for aliases without a service.
pub async fn take_of_aliases(
    db: &dyn WriteHandle,
    counts: &BTreeMap<&str, i64>,
) -> Result<HashMap<String, i64>, db::Error> {
    take(db, Column::Alias, counts.iter().map(|(alias, count)| (Expr::value(*alias), *count))).await
}

/// Takes numbers of one kind. The callers pass sorted keys, so that two transactions lock counters in the same order
/// and cannot deadlock.
async fn take<K: crate::db::Column + Eq + Hash + Send + 'static>(
    db: &dyn WriteHandle,
    key: Column,
    mut counts: impl ExactSizeIterator<Item = (Expr, i64)>,
) -> Result<HashMap<K, i64>, db::Error> {
    let mut taken = HashMap::with_capacity(counts.len());
    while counts.len() > 0 {
        let last = Expr::col((Entity, Column::Last)).add(Expr::col(("excluded", Column::Last)));
        let mut insert = Query::insert();
        insert.into_table(Entity).columns([key, Column::Last]);
        let rows = rows_at_once(counts.len(), ROWS);
        for (key, count) in counts.by_ref().take(rows) {
            insert.values_panic([key, Expr::value(count)]);
        }
        insert
            .on_conflict(OnConflict::column(key).value(Column::Last, last).to_owned())
            .returning(Query::returning().columns([key, Column::Last]));
        taken.extend(db.returned::<Entity, _, _>(&insert, |row| Ok((row.get(0)?, row.get(1)?))).await?);
    }
    Ok(taken)
}

/// Gives the counter of an alias to the service that now has the alias. The service continues after the greater of the
/// two numbers.
pub async fn move_to_service(db: &dyn WriteHandle, alias: &str, service_id: i64) -> Result<(), db::Error> {
    let last = Query::select()
        .expr(Expr::value(service_id))
        .column(Column::Last)
        .from(Entity)
        .and_where(Column::Alias.eq(alias))
        .take();
    raise(db, Column::ServiceId, last).await?;
    db.exec(Entity::delete_many().filter(Column::Alias.eq(alias))).await?;
    Ok(())
}

/// Copies the counter of a service that is about to be deleted to each alias in its deploys. The deploys stay, so a
/// later deploy with such an alias must not get one of their numbers.
pub async fn leave_to_aliases(db: &dyn WriteHandle, service_id: i64) -> Result<(), db::Error> {
    // Lock rows in the order in which recording a deploy locks them: service, suggestion, counters. Another order could
    // deadlock.
    let service = db.one(service::Entity::find_by_id(service_id).lock(LockType::Update)).await?;
    let service = service.ok_or(db::Error::LostRace)?;
    db.exec_following::<service::Entity, _>(
        service.id,
        suggestion::Entity::update_many()
            .col_expr(suggestion::Column::ServiceId, Expr::value(None::<i64>))
            .filter(suggestion::Column::ServiceId.eq(service_id)),
    )
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

/// Copies the counter of a service to an alias that it loses, if there are deploys with that alias: they are left to it.
pub async fn leave_to_alias(db: &dyn WriteHandle, alias: &str, service_id: i64) -> Result<(), db::Error> {
    let has_deploys = Query::select()
        .expr(Expr::value(1))
        .from(deploy::Entity)
        .and_where(deploy::Column::ServiceId.eq(service_id))
        .and_where(deploy::Column::ServiceAlias.eq(alias))
        .take();
    let last = Query::select()
        .expr(Expr::value(alias))
        .column(Column::Last)
        .from(Entity)
        .and_where(Column::ServiceId.eq(service_id))
        .and_where(Expr::exists(has_deploys))
        .take();
    raise(db, Column::Alias, last).await
}

/// Does what [`leave_to_aliases`] does ahead, for a service with very many deploys: looks for their aliases without a lock.
pub async fn leave_to_aliases_ahead(db: &Db, service_id: i64) -> Result<(), db::Error> {
    let aliases = Query::select()
        .distinct()
        .column(deploy::Column::ServiceAlias)
        .from(deploy::Entity)
        .and_where(deploy::Column::ServiceId.eq(service_id))
        .take();
    let aliases: Vec<String> = db.read().scan(&aliases, |row| row.get(0)).await?;
    for some in aliases.chunks(ROWS) {
        db.write(async |tx| {
            let counter = tx.one(Entity::find().filter(Column::ServiceId.eq(service_id))).await?;
            let Some(Model { last, .. }) = counter else { return Ok(()) };
            let mut insert = Query::insert();
            insert.into_table(Entity).columns([Column::Alias, Column::Last]);
            for alias in some {
                insert.values_panic([Expr::value(alias.as_str()), Expr::value(last)]);
            }
            insert.on_conflict(or_greater(Column::Alias));
            tx.execute::<Entity>(&insert).await.map(drop)
        })
        .await?;
    }
    Ok(())
}

/// Keeps the greater of the counter that is there and the one that is given.
fn or_greater(key: Column) -> OnConflict {
    let (given, present) = (Expr::col(("excluded", Column::Last)), Expr::col((Entity, Column::Last)));
    let greater = Expr::case(given.clone().gt(present.clone()), given).finally(present);
    OnConflict::column(key).value(Column::Last, greater).to_owned()
}

/// Sets each selected counter (a key and a number) to at least that number.
async fn raise(db: &dyn WriteHandle, key: Column, counters: SelectStatement) -> Result<(), db::Error> {
    let mut insert = Query::insert();
    insert.into_table(Entity).columns([key, Column::Last]);
    insert.select_from(counters).map_err(|error| db::Error::fault(error.to_string()))?;
    insert.on_conflict(or_greater(key));
    db.execute::<Entity>(&insert).await?;
    Ok(())
}
