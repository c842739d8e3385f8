//! Services whose last deploy to production failed: no deploy to the same environment has succeeded since.

use std::cmp::Reverse;
use std::collections::HashMap;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Order, Query, SelectStatement};

use super::recoveries::{is, next_success};
use crate::db::{self, OfKeys, Read, ReadHandle, Row};
use crate::entity::Timestamp;
use crate::entity::deploy::{self, Column, Environments, Status};

/// A failure after which no deploy succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failing {
    /// The service.
    pub service_id: i64,
    /// The time of the last failure.
    pub since: Timestamp,
}

/// The maximum number of production deploys that are read to find the failing ones of all services.
pub const SEARCHED: u64 = 2_000;

/// Returns those of the services that are failing, if they failed after `start`: the last failure first.
pub async fn of_services(
    db: &dyn ReadHandle,
    services: &[i64],
    start: Timestamp,
    production: &Environments,
) -> Result<Vec<Failing>, db::Error> {
    // The key is the first parameter of the statement, so the next success, which has parameters too, is no column.
    let build = |key: Expr| -> SelectStatement {
        let mut last = Query::select();
        last.expr(column(Column::DeployedAt)).from(deploy::Entity).and_where(key);
        add_failures(&mut last, start, production);
        last.and_where(next_success(column).is_null());
        last.order_by(Column::DeployedAt.as_column_ref(), Order::Desc).limit(1).take()
    };
    let own = || column(Column::ServiceId);
    let (keys, values) = (services.to_vec(), Vec::new());
    let query = OfKeys { shape: None, build: &build, values, key: own(), selected: own(), keys, is_limited: true };
    let found = db.rows_of(query, |row| Ok(Timestamp::from_micros(row.get(0)?))).await?;
    Ok(newest_first(found.into_iter().map(|(service_id, since)| Failing { service_id, since }).collect()))
}

/// The same of all services, as far as the last [`SEARCHED`] deploys show it.
pub async fn of_all(
    db: &dyn ReadHandle,
    start: Timestamp,
    production: &Environments,
) -> Result<Vec<Failing>, db::Error> {
    let mut recent = Query::select();
    recent.column(Column::Id.as_column_ref()).from(deploy::Entity);
    recent.and_where(Column::DeployedAt.gte(start)).order_by(Column::DeployedAt.as_column_ref(), Order::Desc);
    recent.limit(SEARCHED);
    let mut select = Query::select();
    select.expr(column(Column::DeployedAt)).expr(next_success(column)).expr(column(Column::ServiceId));
    select.from(deploy::Entity).and_where(Column::ServiceId.is_not_null());
    add_failures(&mut select, start, production);
    select.and_where(Column::Id.in_subquery(recent.take()));
    let read = |row: &Row<'_>| Ok((row.get(2)?, Timestamp::from_micros(row.get(0)?), row.get::<Option<i64>>(1)?));
    let mut last = HashMap::<i64, Timestamp>::new();
    for (service, at, success) in db.rows(&select, read).await? {
        if success.is_none() {
            last.entry(service).and_modify(|known| *known = Ord::max(*known, at)).or_insert(at);
        }
    }
    Ok(newest_first(last.into_iter().map(|(service_id, since)| Failing { service_id, since }).collect()))
}

/// Adds the conditions of failed deploys to production from a time on.
fn add_failures(select: &mut SelectStatement, start: Timestamp, production: &Environments) {
    select.and_where(column(Column::DeployStatus).eq(is(Status::Failed)));
    select.and_where(Column::DeployedAt.gte(start));
    if let Some(condition) = production.condition(column(Column::EnvironmentKey)) {
        select.and_where(condition);
    }
}

fn newest_first(mut failing: Vec<Failing>) -> Vec<Failing> {
    failing.sort_unstable_by_key(|one| (Reverse(one.since), one.service_id));
    failing
}

fn column(column: Column) -> Expr {
    Expr::col(column.as_column_ref())
}
