//! DORA's metrics, computed by the database: one statement for all whose metrics are asked for, over the deploys of a
//! window of time. What is counted and what is left out is told in the SDL, at `DeployMetrics`.

use std::collections::HashMap;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{
    Asterisk, ExprTrait, Func, Order, OverStatement, Query, SelectStatement, SubQueryStatement, WindowStatement,
};
use sea_orm::{ActiveEnum, QueryResult};

use crate::db;
use crate::entity::deploy::{self, Column, Status};
use crate::entity::{Timestamp, service};

/// Whose deploys are measured.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// Those of each of these services.
    Services(&'a [i64]),
    /// Those of the services of each of these teams.
    Teams(&'a [i64]),
    /// Those of all services, under the key 0.
    All,
}

/// Which of their deploys.
#[derive(Debug, Clone)]
pub struct Window {
    /// From this moment on.
    pub start: Timestamp,
    /// Until before this one.
    pub end: Timestamp,
    /// To one of these environments; to any when there is none.
    pub environments: Vec<String>,
}

/// What the deploys of a window amount to. The default is that of no deploys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Deploys that succeeded, or were sent without a status.
    pub deploys: i64,
    /// Those of them that say that they succeeded.
    pub succeeded: i64,
    /// Deploys that failed.
    pub failed: i64,
    /// From the commit to the deploy.
    pub lead_time: Option<Percentiles>,
    /// From a failed deploy to the next that succeeded.
    pub recovery_time: Option<Percentiles>,
}

/// Durations in microseconds, by nearest rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// How many there are.
    pub count: i64,
    /// The 50th percentile.
    pub median: i64,
    /// The 90th percentile.
    pub percentile90: i64,
}

const PARENT: &str = "parent";
const FAILED: &str = "failed";
const STATUS: &str = "deploy_status";
/// The lead time of a deploy that took place, the recovery time of one that failed: no deploy has both.
const VALUE: &str = "value";
/// Which part of the known values of its parent and kind are not greater than the value, of 1.
const PART: &str = "part";
const MEDIAN: &str = "median";
const PERCENTILE_90: &str = "percentile_90";
const COUNT: &str = "deploys";
const NEXT: &str = "next";

/// The metrics by the service's or team's key; none for one without a deploy.
pub async fn measure<C: ConnectionTrait>(
    db: &C,
    whose: Whose<'_>,
    window: &Window,
) -> Result<HashMap<i64, Metrics>, DbErr> {
    let mut metrics = HashMap::<i64, Metrics>::new();
    for row in db.query_all(&summary(ranked(deploys(db, whose, window)))).await? {
        let of_parent = metrics.entry(row.try_get("", PARENT)?).or_default();
        let (deploys, with_status) = (row.try_get("", COUNT)?, row.try_get("", STATUS)?);
        if row.try_get::<i32>("", FAILED)? == 0 {
            (of_parent.deploys, of_parent.succeeded) = (deploys, with_status);
            of_parent.lead_time = percentiles(&row)?;
        } else {
            of_parent.failed = deploys;
            of_parent.recovery_time = percentiles(&row)?;
        }
    }
    Ok(metrics)
}

fn percentiles(row: &QueryResult) -> Result<Option<Percentiles>, DbErr> {
    let count = row.try_get("", VALUE)?;
    let median: Option<i64> = row.try_get("", MEDIAN)?;
    let percentile90: Option<i64> = row.try_get("", PERCENTILE_90)?;
    Ok(median.zip(percentile90).map(|(median, percentile90)| Percentiles { count, median, percentile90 }))
}

/// The deploys that count, each with its parent, its kind and its value.
fn deploys<C: ConnectionTrait>(db: &C, whose: Whose<'_>, window: &Window) -> SelectStatement {
    let mut deploys = Query::select();
    deploys.from(deploy::Entity);
    match whose {
        Whose::Services(ids) => {
            deploys.expr_as(column(Column::ServiceId), PARENT).and_where(db::any(db, Column::ServiceId, ids));
        }
        Whose::Teams(ids) => {
            let of_service = column(service::Column::Id).eq(column(Column::ServiceId));
            deploys.inner_join(service::Entity, of_service);
            deploys.expr_as(column(service::Column::OwnerId), PARENT);
            deploys.and_where(db::any(db, service::Column::OwnerId, ids));
        }
        Whose::All => {
            deploys.expr_as(Expr::value(0_i64), PARENT).and_where(Column::ServiceId.is_not_null());
        }
    }
    deploys.and_where(Column::DeployedAt.gte(window.start)).and_where(Column::DeployedAt.lt(window.end));
    let environment = column(Column::EnvironmentKey);
    let environment = match whose {
        Whose::All => environment,
        // SQLite would take the index of the environment for as good as that of the service. This is the same value,
        // of which it knows no index.
        _ => Func::coalesce([environment.clone(), environment]).into(),
    };
    if let Some(condition) = deploy::is_in(environment, &window.environments) {
        deploys.and_where(condition);
    }
    let has_failed = || column(Column::DeployStatus).eq(is(Status::Failed));
    deploys.and_where(
        has_failed().or(column(Column::DeployStatus).eq(is(Status::Succeeded))).or(Column::Status.is_null()),
    );

    let moment = || column(Column::DeployedAt);
    let commit = || Func::coalesce([column(Column::CommitAuthoringDate), column(Column::CommittedAt)]);
    let lead_time = moment().sub(commit());
    let recovery_time = next_success().sub(moment());
    let is_in_order = moment().gte(commit());
    deploys
        .expr_as(column(Column::DeployStatus), STATUS)
        .expr_as(Expr::case(has_failed(), 1).finally(0), FAILED)
        .expr_as(Expr::case(has_failed(), recovery_time).case(is_in_order, lead_time), VALUE)
        .take()
}

/// When the next deploy of the same service and environment succeeded. Each of the two is one look into the index
/// `deploy_by_success`, which a comparison that takes nulls for equal would not be.
fn next_success() -> Expr {
    let next = |column| Expr::col((NEXT, column));
    let look = |environment: Expr| -> Expr {
        let look = Query::select()
            .expr(next(Column::DeployedAt))
            .from_as(deploy::Entity, NEXT)
            .and_where(next(Column::ServiceId).eq(column(Column::ServiceId)))
            .and_where(environment)
            .and_where(next(Column::DeployStatus).eq(is(Status::Succeeded)))
            .and_where(
                Expr::tuple([next(Column::DeployedAt), next(Column::Id)])
                    .gt(Expr::tuple([column(Column::DeployedAt), column(Column::Id)])),
            )
            // The same for all; without it PostgreSQL does not see that the index has nulls in this order too.
            .order_by_expr(next(Column::EnvironmentKey), Order::Asc)
            .order_by_expr(next(Column::DeployedAt), Order::Asc)
            .order_by_expr(next(Column::Id), Order::Asc)
            .limit(1)
            .take();
        Expr::SubQuery(None, Box::new(SubQueryStatement::SelectStatement(look)))
    };
    let none = look(next(Column::EnvironmentKey).is_null());
    let same = look(next(Column::EnvironmentKey).eq(column(Column::EnvironmentKey)));
    Expr::case(Column::EnvironmentKey.is_null(), none).finally(same).into()
}

/// The same rows with their parts.
fn ranked(deploys: SelectStatement) -> SelectStatement {
    let mut by_value = WindowStatement::partition_by(PARENT);
    by_value.partition_by(FAILED).add_partition_by(Expr::col(VALUE).is_null()).order_by(VALUE, Order::Asc);
    Query::select()
        .columns([PARENT, FAILED, STATUS, VALUE])
        .expr_window_as(Expr::cust("CUME_DIST()"), by_value, PART)
        .from_subquery(deploys, "measured")
        .take()
}

/// One row for each parent and kind.
fn summary(ranked: SelectStatement) -> SelectStatement {
    // The value at the rank p·n/100, rounded up, is the smallest that is not less than that part of all. The comparison
    // is exact: the quotient of two whole numbers and the number as it is written here are rounded alike.
    let at = |part: f64| Func::min(Expr::case(Expr::col(PART).gte(part), Expr::col(VALUE)));
    Query::select()
        .columns([PARENT, FAILED])
        .expr_as(Func::count(Expr::col(Asterisk)), COUNT)
        .expr_as(Func::count(Expr::col(STATUS)), STATUS)
        .expr_as(Func::count(Expr::col(VALUE)), VALUE)
        .expr_as(at(0.5), MEDIAN)
        .expr_as(at(0.9), PERCENTILE_90)
        .from_subquery(ranked, "ranked")
        .group_by_columns([PARENT, FAILED])
        .take()
}

/// A status as part of the statement's text: a parameter would hide from the planner that an index has it.
fn is(status: Status) -> Expr {
    Expr::Constant(status.to_value().into())
}

fn column(column: impl ColumnTrait) -> Expr {
    Expr::col(column.as_column_ref())
}
