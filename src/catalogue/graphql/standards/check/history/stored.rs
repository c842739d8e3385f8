//! How services stand as last stored, for lists, teams and systems: too many services to evaluate as they are read.

use std::collections::HashMap;

use sea_orm::sea_query::{ExprTrait, Func, Query as Select, SelectStatement};

use super::super::{gathered, shown, standing};
use crate::entity::check_result::Status;
use crate::entity::{check_result, level, service, service_level};
use crate::graphql::prelude::*;

/// The maximum number of missed checks of a team or a system that are named.
const MISSED: usize = 20;

/// The level of each service.
pub(in crate::graphql) async fn levels_of(services: &[&Service], ctx: &Ctx<'_>) -> Result<Vec<Option<Level>>> {
    let ids: Vec<i64> = services.iter().map(|service| service.id).collect();
    let own = service_level::Entity::find().filter(db::any(ctx.db(), service_level::Column::ServiceId, &ids));
    let levels: HashMap<i64, i64> =
        ctx.db().all(own).await?.into_iter().map(|row| (row.service_id, row.level_id)).collect();
    Ok(level::Entity::by_ids(ctx.db(), ids.iter().map(|id| levels.get(id).copied())).await?)
}

/// Services by a column of theirs: those of teams, or of systems.
#[derive(Clone, Copy)]
pub(in crate::graphql) struct By<'a> {
    pub(in crate::graphql) column: service::Column,
    pub(in crate::graphql) ids: &'a [i64],
}

/// Counts rows that belong to such services, by team or system and a column of theirs.
fn grouped<C: ColumnTrait>(db: &dyn ReadHandle, by: By<'_>, service: C, column: C) -> SelectStatement {
    let By { column: owner, ids } = by;
    Select::select()
        .expr(owner.into_expr())
        .expr(column.into_expr())
        .expr(Func::count(Expr::cust("*")))
        .from(service::Entity)
        .inner_join(column.entity_name(), service.into_expr().eq(service::Column::Id.into_expr()))
        .and_where(db::any(db, owner, ids))
        .group_by_columns([owner.as_column_ref()])
        .group_by_columns([column.as_column_ref()])
        .take()
}

async fn counted(db: &dyn ReadHandle, select: &SelectStatement) -> Result<HashMap<(i64, i64), i64>> {
    let rows = db.scan(select, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).await?;
    Ok(rows.into_iter().collect())
}

/// How many services of each team or system have which level.
pub(in crate::graphql) async fn level_counts(by: By<'_>, ctx: &Ctx<'_>) -> Result<Vec<Vec<LevelCount>>> {
    use service_level::Column::{LevelId, ServiceId};
    let counts = counted(ctx.db(), &grouped(ctx.db(), by, ServiceId, LevelId)).await?;
    let levels = standing::in_order(ctx.db()).await?;
    let of = |id: &i64| {
        let count = |level: &Level| LevelCount {
            level: level.clone(),
            service_count: shown(counts.get(&(*id, level.id)).copied().unwrap_or_default()),
        };
        levels.iter().map(count).collect()
    };
    Ok(by.ids.iter().map(of).collect())
}

/// The checks that services of each team or system miss, in the order in which they are worth passing.
pub(in crate::graphql) async fn missed_checks(by: By<'_>, ctx: &Ctx<'_>) -> Result<Vec<Vec<MissedCheck>>> {
    use check_result::Column::{CheckId, ServiceId, Status as Own};
    let mut select = grouped(ctx.db(), by, ServiceId, CheckId);
    select.and_where(Own.ne(Status::Passed));
    let counts = counted(ctx.db(), &select).await?;
    let (now, levels) = (Timestamp::now(), standing::in_order(ctx.db()).await?);
    let index: HashMap<i64, i32> = levels.iter().map(|level| (level.id, level.index)).collect();
    let placed = gathered::all(ctx).await?;
    let missed_by = |id: &i64| {
        let own = placed.iter().filter(|one| one.home.is_overall() && one.check.counts(now));
        let mut own: Vec<_> = own.filter_map(|one| Some((one, *counts.get(&(*id, one.check.id))?))).collect();
        own.sort_by_key(|(one, count)| {
            (index.get(&one.check.level_id).copied(), std::cmp::Reverse(*count), one.check.id)
        });
        let missed = own.into_iter().take(MISSED);
        missed
            .map(|(one, count)| MissedCheck { check: Check::from((*one.check).clone()), services: shown(count) })
            .collect()
    };
    Ok(by.ids.iter().map(missed_by).collect())
}
