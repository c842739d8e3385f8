//! How services stood at the end of each day.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::sea_query::{Expr, ExprTrait, Func, Query as Select, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use crate::db::{self, Db, Read, ReadHandle, Write};
use crate::entity::check_result::Status;
use crate::entity::standing_day::{ActiveModel, Column, Entity, Model};
use crate::entity::{check_result, remembered, service_level};
use crate::error::Result;

/// A check or a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Of {
    Check(i64),
    Level(i64),
}

/// How many services, how many of them pass, and how many are pending.
type Figures = [i64; 3];

/// Stores the figures of a day, where they differ from those of the last day that has some: of these checks and all levels,
/// or of all checks. Returns whether they are stored now: others may have stored results meanwhile.
pub(super) async fn store(db: &Db, checks: Option<&BTreeSet<i64>>, day: i32) -> Result<bool> {
    let seen = db.begin_read(None).await?;
    let round = remembered::check_round(&seen).await?;
    let mut figures = of_checks(&seen, checks).await?;
    figures.extend(of_levels(&seen).await?);
    let last = last(&seen, checks).await?;
    drop(seen);
    let nothing = |of: &Of| !figures.contains_key(of);
    // What has no services any more had some.
    let gone: Vec<Of> = last.keys().filter(|of| nothing(of)).copied().collect();
    figures.extend(gone.into_iter().map(|of| (of, [0; 3])));
    let differing = figures.into_iter().filter(|(of, own)| last.get(of).map_or([0; 3], |(_, last)| *last) != *own);
    let rows: Vec<(Of, Figures)> = differing.collect();
    if rows.is_empty() {
        return Ok(true);
    }
    let stored = db.write(async |tx| {
        if !remembered::next_check_round(tx, round.as_deref()).await? {
            return Ok(false);
        }
        for (of, [services, passed, pending]) in rows {
            let (check_id, level_id) = match of {
                Of::Check(id) => (Some(id), None),
                Of::Level(id) => (None, Some(id)),
            };
            let own = Entity::delete_many().filter(Column::Day.eq(day));
            tx.exec(match of {
                Of::Check(id) => own.filter(Column::CheckId.eq(id)),
                Of::Level(id) => own.filter(Column::LevelId.eq(id)),
            })
            .await?;
            let row = ActiveModel {
                day: Set(day),
                check_id: Set(check_id),
                level_id: Set(level_id),
                services: Set(services),
                passed: Set(passed),
                pending: Set(pending),
                ..Default::default()
            };
            tx.exec(Entity::insert(row)).await?;
        }
        Ok::<_, db::Error>(true)
    });
    match stored.await {
        // A check or a level was deleted meanwhile.
        Err(error) if error.is_lost_race() => Ok(false),
        done => Ok(done?),
    }
}

async fn of_checks(db: &dyn ReadHandle, checks: Option<&BTreeSet<i64>>) -> Result<BTreeMap<Of, Figures>> {
    use check_result::Column::{CheckId, Status as Own};
    let mut select = Select::select();
    select.column(CheckId).column(Own).expr(Func::count(Expr::cust("*"))).from(check_result::Entity);
    if let Some(checks) = checks {
        select.and_where(db::any(db, CheckId, &Vec::from_iter(checks.iter().copied())));
    }
    select.group_by_columns([CheckId, Own]);
    let mut figures: BTreeMap<Of, Figures> = BTreeMap::new();
    let rows: Vec<(i64, String, i64)> = db.scan(&select, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    for (check, status, count) in rows {
        let [services, passed, pending] = figures.entry(Of::Check(check)).or_default();
        *services += count;
        if status == Status::Passed.word() {
            *passed += count;
        } else if status == Status::Pending.word() {
            *pending += count;
        }
    }
    Ok(figures)
}

async fn of_levels(db: &dyn ReadHandle) -> Result<BTreeMap<Of, Figures>> {
    let mut select = Select::select();
    select.column(service_level::Column::LevelId).expr(Func::count(Expr::cust("*"))).from(service_level::Entity);
    select.group_by_col(service_level::Column::LevelId);
    let rows: Vec<(i64, i64)> = db.scan(&select, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    Ok(rows.into_iter().map(|(level, count)| (Of::Level(level), [count, 0, 0])).collect())
}

/// The ids of the last rows of each check and each level, up to a day.
pub(super) fn last_ids(until: Option<i32>) -> SelectStatement {
    let mut last = Select::select();
    last.expr(Func::max(Expr::col(Column::Id))).from(Entity);
    if let Some(day) = until {
        last.and_where(Column::Day.lt(day));
    }
    last.group_by_columns([Column::CheckId, Column::LevelId]).take()
}

/// The last figures that are stored, with their days.
async fn last(db: &dyn ReadHandle, checks: Option<&BTreeSet<i64>>) -> Result<HashMap<Of, (i32, Figures)>> {
    let rows = Entity::find().filter(Column::Id.in_subquery(last_ids(None)));
    let rows = match checks {
        Some(checks) => {
            let own = db::any(db, Column::CheckId, &Vec::from_iter(checks.iter().copied()));
            rows.filter(own.or(Column::CheckId.is_null()))
        }
        None => rows,
    };
    let rows: Vec<Model> = db.all(rows).await?;
    let of = |row: &Model| row.check_id.map(Of::Check).or(row.level_id.map(Of::Level));
    Ok(rows.iter().filter_map(|row| Some((of(row)?, (row.day, [row.services, row.passed, row.pending])))).collect())
}

/// Removes the figures of days before this one, but for the last of each: they hold until today.
pub(super) async fn remove(db: &Db, day: i32) -> Result<()> {
    let old = Entity::delete_many().filter(Column::Day.lt(day)).filter(Column::Id.not_in_subquery(last_ids(Some(day))));
    db.write(async |tx| tx.exec(old).await).await?;
    Ok(())
}
