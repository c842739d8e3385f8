//! Which periods have figures that are not stale: those with figures, without those that a change concerns.

use std::collections::BTreeSet;
use std::ops::Range;

use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};

use super::super::recoveries::next_success;
use super::{ALL, CHANGE, CHANGES, FIGURES, MANY, Period, SEEN, period_of, start_of, time};
use crate::db::{self, Read, ReadHandle, Row};
use crate::entity::deploy::Environments;

/// Returns the periods among these that have figures of the environments, stale ones included.
pub async fn periods_with_figures(
    db: &dyn ReadHandle,
    environments: &Environments,
    periods: Range<Period>,
) -> Result<BTreeSet<Period>, db::Error> {
    if environments.keys().is_empty() {
        return periods_with(db, &[ALL], periods).await;
    }
    let query = with(db, &[ALL, MANY], periods).column("environment").take();
    let rows = db.rows(&query, |row| Ok((row.get::<Period>(0)?, row.get::<String>(1)? == ALL))).await?;
    let (found, above): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, has_figures)| *has_figures);
    let mut found: BTreeSet<Period> = found.into_iter().map(|(period, _)| period).collect();
    for (period, _) in above {
        found.remove(&period);
    }
    Ok(found)
}

/// Returns the periods among these that have a row of any of these names.
pub async fn periods_with(
    db: &dyn ReadHandle,
    names: &[&str],
    periods: Range<Period>,
) -> Result<BTreeSet<Period>, db::Error> {
    let query = with(db, names, periods);
    Ok(db.rows(&query, |row| row.get::<Period>(0)).await?.into_iter().collect())
}

/// Selects those of these periods that have a row of any of these names, once for each row.
fn with(db: &dyn ReadHandle, names: &[&str], periods: Range<Period>) -> SelectStatement {
    Query::select()
        .column("period")
        .from(FIGURES)
        .and_where(db::is_any_text(db.backend(), Expr::col("environment"), names))
        .and_where(Expr::col("period").gte(periods.start))
        .and_where(Expr::col("period").lt(periods.end))
        .take()
}

/// Removes the periods that changes concern. `None` if there are too many changes.
pub async fn without_changed(
    db: &dyn ReadHandle,
    mut periods: BTreeSet<Period>,
) -> Result<Option<BTreeSet<Period>>, db::Error> {
    let Some(last) = periods.last() else { return Ok(Some(periods)) };
    let some = Query::select().column("number").from(CHANGE).limit(SEEN + 1).take();
    if db.count_rows(some).await? > SEEN {
        return Ok(None);
    }
    let query = changes(*last).limit(CHANGES + 1).take();
    let changes = db.rows(&query, change).await?;
    if changes.len() as u64 > CHANGES {
        return Ok(None);
    }
    for (_, concerned) in changes {
        for period in concerned.into_iter().flatten() {
            periods.remove(&period);
        }
    }
    Ok(Some(periods))
}

/// Selects the changes that can concern a period up to `last`, for [`change`]. New posts are not among them.
fn changes(last: Period) -> SelectStatement {
    let next = next_success(|column| Expr::col((CHANGE, column)));
    Query::select()
        .column((CHANGE, "number"))
        .column((CHANGE, "deployed_at"))
        .expr(next)
        .from(CHANGE)
        .and_where(Expr::col((CHANGE, "deployed_at")).lt(start_of(last + 1)))
        .take()
}

/// Reads the number of a change, and the periods that it concerns.
pub fn change(row: &Row<'_>) -> Result<(i64, [Option<Period>; 2]), db::Error> {
    let next: Option<i64> = row.get(2)?;
    Ok((row.get(0)?, [Some(period_of(time(row.get(1)?))), next.map(time).map(period_of)]))
}
