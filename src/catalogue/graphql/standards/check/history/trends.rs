//! Trends of categories, teams and systems, from what is kept of checks and services.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::{ExprTrait, Func, Query as Select, SelectStatement};

use super::super::{gathered, shown, standing};
use super::read::{begin, given, rows, summed};
use super::stored::By;
use super::today;
use crate::entity::{category, service, service_level, standing_change, standing_day};
use crate::graphql::prelude::*;

/// The figures of the checks of each category together, for each of the last days.
pub(in crate::graphql) async fn days_of_categories(
    categories: &[&category::Model],
    days: &MaybeUndefined<i32>,
    ctx: &Ctx<'_>,
) -> Result<Vec<Vec<CheckDay>>> {
    let days = given(days)?;
    let asked: HashSet<i64> = categories.iter().map(|category| category.id).collect();
    let placed = gathered::all(ctx).await?;
    let own = placed.iter().filter(|one| one.check.campaign_id.is_none() && asked.contains(&one.check.category_id));
    let category_of: HashMap<i64, i64> = own.map(|one| (one.check.id, one.check.category_id)).collect();
    let checks: Vec<i64> = category_of.keys().copied().collect();
    let mut of: HashMap<i64, Vec<standing_day::Model>> = HashMap::new();
    for row in rows(ctx.db(), &checks, days).await? {
        if let Some(category) = row.check_id.and_then(|check| category_of.get(&check)) {
            of.entry(*category).or_default().push(row);
        }
    }
    Ok(categories
        .iter()
        .map(|category| of.get(&category.id).map_or_else(Vec::new, |rows| summed(rows, days)))
        .collect())
}

/// A service of a team or a system, with its level.
struct Standing {
    group: i64,
    created: i32,
    level: Option<i64>,
}

/// How many of the services that belong to each team or system now had which level, for each of the last days. The levels of
/// now, with the changes that are kept undone, newest first.
pub(in crate::graphql) async fn level_days_by(
    by: By<'_>,
    days: &MaybeUndefined<i32>,
    ctx: &Ctx<'_>,
) -> Result<Vec<Vec<LevelDay>>> {
    let (db, today) = (ctx.db(), today());
    let Some(known) = first_day(db).await? else { return Ok(by.ids.iter().map(|_| Vec::new()).collect()) };
    let first = Ord::max(known, today - given(days)? + 1);
    let levels = standing::in_order(db).await?;
    let mut services = services(db, by).await?;
    let mut changes = changes(db, by, first).await?.into_iter().peekable();
    let mut counts: HashMap<(i64, i64), i64> = HashMap::new();
    for own in services.values() {
        if let Some(level) = own.level {
            *counts.entry((own.group, level)).or_default() += 1;
        }
    }
    let mut young: Vec<(i32, i64)> = services.iter().map(|(id, own)| (own.created, *id)).collect();
    young.sort_unstable();
    let named: HashMap<&str, i64> = levels.iter().map(|level| (&*level.name, level.id)).collect();
    let mut move_to = |counts: &mut HashMap<(i64, i64), i64>, service: i64, level: Option<i64>| {
        let Some(own) = services.get_mut(&service) else { return };
        let before = std::mem::replace(&mut own.level, level);
        for (level, by) in [(before, -1), (level, 1)] {
            if let Some(level) = level {
                *counts.entry((own.group, level)).or_default() += by;
            }
        }
    };
    let mut all: HashMap<i64, Vec<LevelDay>> = HashMap::new();
    for day in (first..=today).rev() {
        db.pause().await?;
        for id in by.ids {
            all.entry(*id).or_default().push(of_day(day, *id, &levels, &counts));
        }
        while let Some((_, service, before)) = changes.next_if(|(own, ..)| *own >= day) {
            let level = before.as_deref().and_then(|name| named.get(name).copied());
            move_to(&mut counts, service, level);
        }
        while let Some((_, service)) = young.pop_if(|(created, _)| *created >= day) {
            move_to(&mut counts, service, None);
        }
    }
    let oldest_first = |id: &i64| {
        let mut days = all.remove(id).unwrap_or_default();
        days.reverse();
        days
    };
    Ok(by.ids.iter().map(oldest_first).collect())
}

fn of_day(day: i32, id: i64, levels: &[Level], counts: &HashMap<(i64, i64), i64>) -> LevelDay {
    let count = |level: &Level| LevelCount {
        level: level.clone(),
        service_count: shown(counts.get(&(id, level.id)).copied().unwrap_or_default()),
    };
    LevelDay { day: begin(day), level_counts: levels.iter().map(count).collect() }
}

/// The first day of which it is known which levels services had.
async fn first_day(db: &dyn ReadHandle) -> Result<Option<i32>> {
    use standing_day::Column::{Day, LevelId};
    let mut first = Select::select();
    first.expr(Func::min(Day.into_expr())).from(standing_day::Entity).and_where(LevelId.is_not_null());
    Ok(db.rows(&first, |row| row.get::<Option<i32>>(0)).await?.pop().flatten())
}

fn day_of(at: Timestamp) -> i32 {
    i32::try_from(at.as_micros().div_euclid(86_400_000_000)).unwrap_or_default()
}

/// The services of these teams or systems, by their ids.
async fn services(db: &dyn ReadHandle, by: By<'_>) -> Result<HashMap<i64, Standing>> {
    use service_level::Column::{LevelId, ServiceId};
    let is_own = service::Column::Id.into_expr().eq(ServiceId.into_expr());
    let select = Select::select()
        .expr(service::Column::Id.into_expr())
        .expr(by.column.into_expr())
        .expr(service::Column::CreatedAt.into_expr())
        .expr(LevelId.into_expr())
        .from(service::Entity)
        .left_join(service_level::Entity, is_own)
        .and_where(db::any(db, by.column, by.ids))
        .take();
    let rows = db.rows(&select, |row| {
        let (group, created) = (row.get(1)?, day_of(Timestamp::from_micros(row.get(2)?)));
        Ok((row.get(0)?, Standing { group, created, level: row.get(3)? }))
    });
    Ok(rows.await?.into_iter().collect())
}

/// The changes of levels of these services since a day, newest first: the day, the service and the level before.
async fn changes(db: &dyn ReadHandle, by: By<'_>, first: i32) -> Result<Vec<(i32, i64, Option<String>)>> {
    use standing_change::Column::{At, CheckId, Id, ServiceId};
    let own: SelectStatement = Select::select()
        .expr(service::Column::Id.into_expr())
        .from(service::Entity)
        .and_where(db::any(db, by.column, by.ids))
        .take();
    let changes = standing_change::Entity::find().filter(ServiceId.in_subquery(own)).filter(CheckId.is_null());
    let changes = changes.filter(At.gte(begin(first))).order_by_desc(At).order_by_desc(Id);
    Ok(db.all(changes).await?.into_iter().map(|row| (day_of(row.at), row.service_id, row.before)).collect())
}
