//! Removes expired deploys.
//!
//! The last deploy of each service is kept, however old it is, so that the service still shows when it was last
//! deployed. Deploys without a service are removed by age alone; their suggestions stay. A removed deploy is forgotten:
//! another post with its `dedup_id` is a new deploy, and if it is expired too, the next run removes it.
//!
//! Several processes may do this at the same time: each skips rows that another one has locked.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, LockBehavior, LockType, Query};
use sea_orm::{QueryOrder, QuerySelect, QueryTrait};

use crate::db::{self, Db, Read, Write, WriteHandle};
use crate::entity::deploy::{self, Column};
use crate::entity::{TimeCursor, Timestamp};
use crate::retention::{Kept, PAUSE, hourly};

/// The number of deploys that one transaction examines. Small, so that a writer never waits longer than for an ordinary
/// post.
const BATCH: u64 = 500;

/// Removes deploys older than `keep` every hour, first after an hour. Runs until dropped, which is safe at any await.
pub fn run(db: Db, keep: Duration) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        hourly("deploys", Kept::AsSet, keep, |before| remove(&db, before)).await;
    })
}

/// Removes all deploys before a time, except those that are kept, and returns their number.
pub async fn remove(db: &Db, before: Timestamp) -> Result<u64, db::Error> {
    let mut removed = 0;
    let mut after = None;
    loop {
        let batch = db.write(async |tx| batch(tx, before, after).await).await?;
        removed += batch.removed;
        match batch.last {
            Some(last) => after = Some(last),
            None => return Ok(removed),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

struct Batch {
    removed: u64,
    /// The last examined deploy, if there may be more.
    last: Option<TimeCursor>,
}

/// Removes expired deploys from the oldest ones after a position. The position skips the deploys that were kept.
async fn batch(db: &dyn WriteHandle, before: Timestamp, after: Option<TimeCursor>) -> Result<Batch, db::Error> {
    let mut old = deploy::Entity::find()
        .select_only()
        .columns([Column::DeployedAt, Column::Id])
        .expr(is_superseded())
        .filter(Column::DeployedAt.lt(before))
        .order_by_asc(Column::DeployedAt)
        .order_by_asc(Column::Id)
        .limit(BATCH)
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    if let Some((moment, id)) = after {
        let place = Expr::tuple([column(Column::DeployedAt), column(Column::Id)]);
        old = old.filter(place.gt(Expr::tuple([Expr::value(moment), Expr::value(id)])));
    }
    let old: Vec<(Timestamp, i64, bool)> =
        db.rows(old.as_query(), |row| Ok((Timestamp::from_micros(row.get(0)?), row.get(1)?, row.get(2)?))).await?;
    let last = old.last().filter(|_| old.len() as u64 == BATCH).map(|(moment, id, _)| (*moment, *id));
    let superseded: Vec<i64> = old.iter().filter_map(|(_, id, is_superseded)| is_superseded.then_some(*id)).collect();
    if superseded.is_empty() {
        return Ok(Batch { removed: 0, last });
    }
    let deleted = db.exec(deploy::Entity::delete_many().filter(db::any(db, Column::Id, &superseded))).await?;
    Ok(Batch { removed: deleted, last })
}

/// The condition that a deploy has no service, or that its service has a later one.
fn is_superseded() -> Expr {
    const LATER: &str = "later";
    let later = |column| Expr::col((LATER, column));
    let exists = Query::select()
        .expr(Expr::value(1))
        .from_as(deploy::Entity, LATER)
        .and_where(later(Column::ServiceId).eq(column(Column::ServiceId)))
        .and_where(
            Expr::tuple([later(Column::DeployedAt), later(Column::Id)])
                .gt(Expr::tuple([column(Column::DeployedAt), column(Column::Id)])),
        )
        .take();
    Column::ServiceId.is_null().or(Expr::exists(exists))
}

fn column(column: Column) -> Expr {
    Expr::col(column.as_column_ref())
}
