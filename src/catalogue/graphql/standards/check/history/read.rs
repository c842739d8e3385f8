//! What clients read of how services stood.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::sea_query::ExprTrait;

use super::super::gathered;
use super::super::home::CheckSet;
use super::super::standing;
use super::days::last_ids;
use super::today;
use crate::entity::standing_day::{Column, Entity, Model};
use crate::entity::{check, check_result, standing_change};
use crate::graphql::prelude::*;

/// The days that are shown if nothing else is asked for.
const USUAL: i32 = 90;

/// The maximum number of days of a history.
pub const MOST_DAYS: i32 = 365;

/// Reads the argument `days`.
pub(super) fn given(days: &MaybeUndefined<i32>) -> Result<i32, UserError> {
    match days.value() {
        None => Ok(USUAL),
        Some(days) if (1..=MOST_DAYS).contains(days) => Ok(*days),
        Some(_) => Err(UserError::new("days", format!("days must be 1 to {MOST_DAYS}"))),
    }
}

/// The moment at which a day begins.
pub(super) fn begin(day: i32) -> Timestamp {
    Timestamp::from_micros(i64::from(day) * 86_400_000_000)
}

/// What holds on each of the last days: of each key, its last row up to that day. Nothing before the first row of any.
fn filled(rows: &[Model], key: fn(&Model) -> Option<i64>, days: i32) -> Vec<(i32, Vec<(i64, &Model)>)> {
    let (today, mut rest, mut now) = (today(), rows.iter().peekable(), BTreeMap::<i64, &Model>::new());
    let mut filled = Vec::new();
    for day in today - days + 1..=today {
        while let Some(row) = rest.next_if(|row| row.day <= day) {
            if let Some(key) = key(row) {
                now.insert(key, row);
            }
        }
        if !now.is_empty() {
            filled.push((day, now.iter().map(|(key, row)| (*key, *row)).collect()));
        }
    }
    filled
}

/// The figures of these checks together, for each of the last days.
pub(super) fn summed(rows: &[Model], days: i32) -> Vec<CheckDay> {
    let sum =
        |rows: &[(i64, &Model)], of: fn(&Model) -> i64| super::super::shown(rows.iter().map(|(_, row)| of(row)).sum());
    let one = |(day, rows): (i32, Vec<(i64, &Model)>)| CheckDay {
        day: begin(day),
        total: sum(&rows, |row| row.services),
        passed: sum(&rows, |row| row.passed),
        pending: sum(&rows, |row| row.pending),
    };
    filled(rows, |row| row.check_id, days).into_iter().map(one).collect()
}

/// The condition that a row is of one of the last days, or the last one before them.
fn in_last_days(days: i32) -> Expr {
    let first = today() - days + 1;
    Column::Day.gte(first).or(Column::Id.in_subquery(last_ids(Some(first))))
}

/// The stored figures of checks, oldest first.
pub(super) async fn rows(db: &dyn ReadHandle, checks: &[i64], days: i32) -> Result<Vec<Model>> {
    let own = Entity::find().filter(db::any(db, Column::CheckId, checks)).filter(in_last_days(days));
    Ok(db.all(own.order_by_asc(Column::Day).order_by_asc(Column::Id)).await?)
}

/// The figures of each check, for each of the last days.
pub(in crate::graphql) async fn days_of(
    ctx: &Ctx<'_>,
    checks: &[i64],
    days: &MaybeUndefined<i32>,
) -> Result<Vec<Vec<CheckDay>>> {
    let days = given(days)?;
    let mut own: HashMap<i64, Vec<Model>> = HashMap::new();
    for row in rows(ctx.db(), checks, days).await? {
        own.entry(row.check_id.unwrap_or_default()).or_default().push(row);
    }
    Ok(checks.iter().map(|check| own.get(check).map_or_else(Vec::new, |rows| summed(rows, days))).collect())
}

/// The figures of each set of checks together, for each of the last days.
pub(in crate::graphql) async fn days_of_sets(
    ctx: &Ctx<'_>,
    sets: &[CheckSet],
    days: &MaybeUndefined<i32>,
) -> Result<Vec<Vec<CheckDay>>> {
    let days = given(days)?;
    let placed = gathered::all(ctx).await?;
    let mut all = Vec::with_capacity(sets.len());
    for set in sets {
        let own: Vec<i64> = placed.iter().filter(|one| one.home.set() == Some(*set)).map(|one| one.check.id).collect();
        all.push(summed(&rows(ctx.db(), &own, days).await?, days));
    }
    Ok(all)
}

/// How many services had which level, for each of the last days.
pub(in crate::graphql) async fn level_days(ctx: &Ctx<'_>, days: &MaybeUndefined<i32>) -> Result<Vec<LevelDay>> {
    let days = given(days)?;
    let levels = standing::in_order(ctx.db()).await?;
    let own = Entity::find().filter(Column::LevelId.is_not_null()).filter(in_last_days(days));
    let rows = ctx.db().all(own.order_by_asc(Column::Day).order_by_asc(Column::Id)).await?;
    let one = |(day, rows): (i32, Vec<(i64, &Model)>)| {
        let services = |level: i64| rows.iter().find(|(own, _)| *own == level).map_or(0, |(_, row)| row.services);
        let count = |level: &crate::entity::level::Model| LevelCount {
            level: level.clone(),
            service_count: super::super::shown(services(level.id)),
        };
        LevelDay { day: begin(day), level_counts: levels.iter().map(count).collect() }
    };
    Ok(filled(&rows, |row| row.level_id, days).into_iter().map(one).collect())
}

/// Since when each result is as it is: by service and check, with the status.
pub(in crate::graphql) async fn status_since(
    db: &dyn ReadHandle,
    services: impl Iterator<Item = i64>,
) -> Result<HashMap<(i64, i64), check_result::Model>> {
    let services: HashSet<i64> = services.collect();
    let services: Vec<i64> = services.into_iter().collect();
    let own = check_result::Entity::find().filter(db::any(db, check_result::Column::ServiceId, &services));
    Ok(db.all(own).await?.into_iter().map(|row| ((row.service_id, row.check_id), row)).collect())
}

/// How each service has stood, newest first, a page at a time.
pub(in crate::graphql) async fn changes_of(
    services: &[&Service],
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<StandingChangeConnectionType>> {
    let own = List::<standing_change::Entity>::new(standing_change::Column::Id);
    let own = own.newest_first(standing_change::Column::At);
    let own = own.of_parents(standing_change::Column::ServiceId, services.iter().map(|service| service.id));
    own.pages(ctx, &args.request()?).await
}

impl StandingChangeResolver for StandingChange {
    async fn check(changes: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Check>>> {
        let checks = check::Entity::by_ids(ctx.db(), changes.iter().map(|change| change.check_id)).await?;
        Ok(checks.into_iter().map(|check| check.map(Check::from)).collect())
    }
}
