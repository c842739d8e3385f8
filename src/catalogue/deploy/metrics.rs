//! DORA's metrics, computed by the database in one statement for any number of services or teams, over a time window.
//! The SDL says at `DeployMetrics` which deploys count. [`figures`](super::figures) sums those of all services.

use std::collections::HashMap;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{
    CommonTableExpression, ExprTrait, Func, JoinType, Order, OverStatement, Query, SelectStatement, WindowStatement,
    WithClause,
};

use super::recoveries::{is, next_success};
use crate::db::{self, Read, ReadHandle, Row};
use crate::entity::deploy::{self, Column, Environments, Status};
use crate::entity::{Timestamp, service, system};

/// Whose deploys are measured.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// The deploys of each of these services.
    Services(&'a [i64]),
    /// The deploys of each of these teams' services.
    Teams(&'a [i64]),
    /// The deploys of each of these systems' services.
    Systems(&'a [i64]),
    /// The deploys of the services of each of these domains' systems.
    Domains(&'a [i64]),
    /// The deploys of all services, under the key 0.
    All,
}

/// Which deploys are measured.
#[derive(Debug, Clone)]
pub struct Window {
    /// The start, inclusive.
    pub start: Timestamp,
    /// The end, exclusive.
    pub end: Timestamp,
    /// The environments.
    pub environments: Environments,
}

/// Which durations are measured. Each costs several times what counting the deploys does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// [`Metrics::lead_time`].
    pub lead_time: bool,
    /// [`Metrics::recovery_time`].
    pub recovery_time: bool,
}

impl Wanted {
    /// All durations.
    pub const ALL: Self = Self { lead_time: true, recovery_time: true };
}

/// The metrics of a window. The default is for no deploys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Deploys that succeeded, or were sent without a status.
    pub deploys: i64,
    /// Those of them with an explicit status.
    pub succeeded: i64,
    /// Deploys that failed.
    pub failed: i64,
    /// The time from commit to deploy.
    pub lead_time: Option<Percentiles>,
    /// The time from a failed deploy to the next successful one.
    pub recovery_time: Option<Percentiles>,
}

/// Durations in whole seconds, rounded down, by nearest rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// The number of durations.
    pub count: i64,
    /// The 50th percentile.
    pub median: i64,
    /// The 90th percentile.
    pub percentile90: i64,
}

const PARENT: &str = "parent";
const FAILED: &str = "failed";
const STATUS: &str = "deploy_status";
/// The lead time of a successful deploy, or the recovery time of a failed one. No deploy has both.
const VALUE: &str = "value";
/// The cumulative distribution (0 to 1) of the value among those of its parent and kind.
const PART: &str = "part";
const MEASURED: &str = "measured";
/// The numbers of: failed deploys, other deploys, those with an explicit success, lead times, recovery times.
const COUNTS: [&str; 5] = ["failures", "deploys", "successes", "lead_times", "recovery_times"];
/// The percentiles of the lead times and of the recovery times.
const PERCENTILES: [&str; 4] = ["lead_median", "lead_percentile_90", "recovery_median", "recovery_percentile_90"];

/// A deploy that counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Each {
    /// Whether it failed.
    pub has_failed: bool,
    /// Whether its status was sent.
    pub is_explicit: bool,
    /// Its lead time or recovery time in microseconds, if that is wanted and known.
    pub duration: Option<i64>,
}

/// Reads each deploy that counts, of all services, with its time.
pub(super) async fn each(
    db: &dyn ReadHandle,
    window: &Window,
    wanted: Wanted,
) -> Result<Vec<(Timestamp, Each)>, db::Error> {
    let mut select = deploys(db, Whose::All, window, wanted);
    select.expr(column(Column::DeployedAt));
    db.rows(&select, timed).await
}

/// Reads the last `most` deploys that count, each with its time, the latest first.
pub(super) async fn last_of(
    db: &dyn ReadHandle,
    whose: Whose<'_>,
    window: &Window,
    most: u64,
) -> Result<Vec<(Timestamp, Each)>, db::Error> {
    let mut select = deploys(db, whose, window, Wanted::ALL);
    let order = match whose {
        // An index has them in this order, so that only the last ones are read.
        Whose::Services([only]) => {
            select.and_where(column(Column::ServiceId).eq(*only));
            column(Column::DeployedAt)
        }
        // SQLite would walk the deploys of all services in this order.
        _ => db::unindexed(db, Column::DeployedAt),
    };
    select.expr(column(Column::DeployedAt)).order_by_expr(order, Order::Desc).limit(most);
    db.rows(&select, timed).await
}

/// Reads a deploy of [`deploys`], with its time behind.
fn timed(row: &Row<'_>) -> Result<(Timestamp, Each), db::Error> {
    let each = Each {
        is_explicit: row.get::<Option<String>>(1)?.is_some(),
        has_failed: row.get::<i32>(2)? != 0,
        duration: row.get(3)?,
    };
    Ok((Timestamp::from_micros(row.get(4)?), each))
}

/// Returns the metrics by the id of the service or team. Without deploys, an id is missing or has the default metrics.
/// Durations that are not wanted are `None`. Reads all deploys of the window.
pub async fn measure(
    db: &dyn ReadHandle,
    whose: Whose<'_>,
    window: &Window,
    wanted: Wanted,
) -> Result<HashMap<i64, Metrics>, db::Error> {
    let is_of_all = matches!(whose, Whose::All);
    let statement = summary(deploys(db, whose, window, wanted), is_of_all, wanted);
    let read = |row: &Row<'_>| {
        let percentiles = |count: usize, median: usize| {
            let (median, percentile90) = (row.get::<Option<i64>>(median)?, row.get(median + 1)?);
            let count = row.get(count)?;
            let seconds = |micros: i64| micros / 1_000_000;
            let both = median.zip(percentile90);
            // Rounding keeps the order, so it can come last.
            Ok::<_, db::Error>(both.map(|(median, percentile90)| Percentiles {
                count,
                median: seconds(median),
                percentile90: seconds(percentile90),
            }))
        };
        let metrics = Metrics {
            failed: row.get(1)?,
            deploys: row.get(2)?,
            succeeded: row.get(3)?,
            lead_time: percentiles(4, 6)?,
            recovery_time: percentiles(5, 8)?,
        };
        Ok((row.get::<Option<i64>>(0)?, metrics))
    };
    let rows = if is_of_all { db.scan(&statement, read).await? } else { db.rows(&statement, read).await? };
    Ok(rows.into_iter().filter_map(|(parent, metrics)| Some((parent?, metrics))).collect())
}

/// Selects the deploys that count, each with its parent, kind and value.
fn deploys(db: &dyn ReadHandle, whose: Whose<'_>, window: &Window, wanted: Wanted) -> SelectStatement {
    let mut deploys = Query::select();
    deploys.from(deploy::Entity);
    match whose {
        Whose::Services(ids) => {
            deploys.expr_as(column(Column::ServiceId), PARENT).and_where(db::any(db, Column::ServiceId, ids));
        }
        Whose::Teams(ids) | Whose::Systems(ids) => {
            let key =
                if matches!(whose, Whose::Teams(_)) { service::Column::OwnerId } else { service::Column::SystemId };
            let of_service = column(service::Column::Id).eq(column(Column::ServiceId));
            deploys.inner_join(service::Entity, of_service);
            deploys.expr_as(column(key), PARENT);
            deploys.and_where(db::any(db, key, ids));
        }
        Whose::Domains(ids) => {
            let of_service = column(service::Column::Id).eq(column(Column::ServiceId));
            let of_system = column(system::Column::Id).eq(column(service::Column::SystemId));
            deploys.inner_join(service::Entity, of_service).inner_join(system::Entity, of_system);
            deploys.expr_as(column(system::Column::DomainId), PARENT);
            deploys.and_where(db::any(db, system::Column::DomainId, ids));
        }
        Whose::All => {
            deploys.expr_as(Expr::value(0_i64), PARENT).and_where(Column::ServiceId.is_not_null());
        }
    }
    restrict(&mut deploys, window, matches!(whose, Whose::All));
    let recovery_time =
        if wanted.recovery_time { next_success(column).sub(column(Column::DeployedAt)) } else { none() };
    let lead_time = if wanted.lead_time { lead_time() } else { none() };
    deploys
        .expr_as(column(Column::DeployStatus), STATUS)
        .expr_as(Expr::case(has_failed(), 1).finally(0), FAILED)
        .expr_as(Expr::case(has_failed(), recovery_time).finally(lead_time), VALUE)
        .take()
}

/// Leaves only those deploys of a window that count. `is_of_all` says that they are not looked up by their services.
pub fn restrict(deploys: &mut SelectStatement, window: &Window, is_of_all: bool) {
    deploys.and_where(Column::DeployedAt.gte(window.start)).and_where(Column::DeployedAt.lt(window.end));
    let environment = column(Column::EnvironmentKey);
    let environment = match is_of_all {
        true => environment,
        // SQLite would consider the index on the environment as good as that on the service. This expression has the
        // same value but no index.
        false => Func::coalesce([environment.clone(), environment]).into(),
    };
    if let Some(condition) = window.environments.condition(environment) {
        deploys.and_where(condition);
    }
    let has_succeeded = column(Column::DeployStatus).eq(is(Status::Succeeded));
    deploys.and_where(has_failed().or(has_succeeded).or(Column::Status.is_null()));
}

/// The condition that a deploy failed.
pub fn has_failed() -> Expr {
    column(Column::DeployStatus).eq(is(Status::Failed))
}

/// The lead time of a deploy that did not fail, in microseconds; null if it is unknown.
pub fn lead_time() -> Expr {
    let moment = || column(Column::DeployedAt);
    let commit = || Func::coalesce([column(Column::CommitAuthoringDate), column(Column::CommittedAt)]);
    Expr::case(moment().gte(commit()), moment().sub(commit())).into()
}

/// One row per parent: its id, the number of deploys and values of each kind, and their percentiles. When all deploys
/// are measured together, there is always one row; without deploys its id is null.
fn summary(deploys: SelectStatement, is_of_all: bool, wanted: Wanted) -> SelectStatement {
    let mut counts = counts();
    if !wanted.lead_time && !wanted.recovery_time {
        // The deploys are neither kept nor sorted.
        for name in PERCENTILES {
            counts.expr_as(none(), name);
        }
        let counts = by_parent(counts.from_subquery(deploys, MEASURED), is_of_all);
        return Query::select()
            .columns([PARENT].into_iter().chain(COUNTS).chain(PERCENTILES))
            .from_subquery(counts, "counts")
            .take();
    }
    let counts = by_parent(counts.from(MEASURED), is_of_all);
    let percentiles = by_parent(&mut percentiles(), is_of_all);
    // Materialised, so that the lookup of the next success is not repeated for each use.
    let measured = CommonTableExpression::new().table_name(MEASURED).query(deploys).materialized(true).to_owned();
    let same = Expr::col(("counts", PARENT)).equals(("percentiles", PARENT));
    Query::select()
        .column(("counts", PARENT))
        .columns(COUNTS.into_iter().chain(PERCENTILES))
        .from_subquery(counts, "counts")
        .join_subquery(JoinType::LeftJoin, percentiles, "percentiles", same)
        .with_cte(WithClause::new().cte(measured).to_owned())
        .take()
}

/// One row per parent, with its id. A single group needs no sort.
fn by_parent(rows: &mut SelectStatement, is_of_all: bool) -> SelectStatement {
    rows.expr_as(Func::min(Expr::col(PARENT)), PARENT);
    if is_of_all { rows.take() } else { rows.group_by_col(PARENT).take() }
}

/// Selects the numbers of deploys and values of each kind, from nowhere yet.
fn counts() -> SelectStatement {
    let count = |failed: i32, value: Expr| Func::count(Expr::case(Expr::col(FAILED).eq(failed), value));
    let mut counts = Query::select();
    for (name, count) in COUNTS.into_iter().zip([
        count(1, Expr::value(1)),
        count(0, Expr::value(1)),
        count(0, Expr::col(STATUS)),
        count(0, Expr::col(VALUE)),
        count(1, Expr::col(VALUE)),
    ]) {
        counts.expr_as(count, name);
    }
    counts
}

/// Selects the percentiles of the values of each kind.
fn percentiles() -> SelectStatement {
    let by_value =
        WindowStatement::partition_by(PARENT).add_partition_by(Expr::col(FAILED)).order_by(VALUE, Order::Asc).take();
    let ranked = Query::select()
        .columns([PARENT, FAILED, VALUE])
        .expr_window_as(Expr::cust("CUME_DIST()"), by_value, PART)
        .from(MEASURED)
        .and_where(Expr::col(VALUE).is_not_null())
        .take();
    // The nearest-rank percentile is the smallest value whose cumulative distribution reaches `part`. The comparison is
    // exact: a quotient of integers and the literal round to the same float.
    let at = |failed: i32, part: f64| {
        let is_there = Expr::col(FAILED).eq(failed).and(Expr::col(PART).gte(part));
        Func::min(Expr::case(is_there, Expr::col(VALUE)))
    };
    let mut percentiles = Query::select();
    for (name, value) in PERCENTILES.into_iter().zip([at(0, 0.5), at(0, 0.9), at(1, 0.5), at(1, 0.9)]) {
        percentiles.expr_as(value, name);
    }
    percentiles.from_subquery(ranked, "ranked").and_where(Expr::col(PART).gte(0.5)).take()
}

/// No duration.
fn none() -> Expr {
    Expr::cust("NULL").cast_as("bigint")
}

fn column(column: impl ColumnTrait) -> Expr {
    Expr::col(column.as_column_ref())
}
