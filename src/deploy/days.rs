//! Counts a service's deploys by day, for the charts on its page. The SDL says at `DeployMetrics` which deploys count.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Asterisk, ExprTrait, Func, Query};

use crate::db::{self, Read, ReadHandle};
use crate::entity::Timestamp;
use crate::entity::deploy::{self, Column, Environments, Status};

/// A day of 24 hours, in microseconds.
pub const DAY: i64 = 86_400 * 1_000_000;

/// The deploys of a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Day {
    /// Deploys that succeeded, or were sent without a status.
    pub deploys: i64,
    /// Deploys that failed.
    pub failed: i64,
}

const DAYS: &str = "days";
const FAILED: &str = "failed";
const COUNT: &str = "deploys";

/// Counts the deploys to these environments, for a number of days from `start`.
pub async fn of_service(
    db: &dyn ReadHandle,
    service_id: i64,
    start: Timestamp,
    days: usize,
    environments: &Environments,
) -> Result<Vec<Day>, db::Error> {
    let status = || Expr::col(Column::DeployStatus.as_column_ref());
    let at = || Expr::col(Column::DeployedAt.as_column_ref());
    let end = Timestamp::from_micros(start.as_micros() + days as i64 * DAY);
    let has_failed = || status().eq(Status::Failed.to_value());
    let counts = has_failed().or(status().eq(Status::Succeeded.to_value())).or(Column::Status.is_null());
    let mut query = Query::select()
        .expr_as(at().sub(Expr::value(start)).div(Expr::value(DAY)), DAYS)
        .expr_as(Expr::case(has_failed(), 1).finally(0), FAILED)
        .expr_as(Func::count(Expr::col(Asterisk)), COUNT)
        .from(deploy::Entity)
        .and_where(Column::ServiceId.eq(service_id))
        .and_where(at().gte(start))
        .and_where(at().lt(end))
        .and_where(counts)
        .group_by_columns([DAYS, FAILED])
        .take();
    if let Some(condition) = environments.condition(Expr::col(Column::EnvironmentKey.as_column_ref())) {
        query.and_where(condition);
    }
    let mut found = vec![Day::default(); days];
    let counted = db.rows(&query, |row| Ok((row.get::<i64>(0)?, row.get::<i32>(1)?, row.get(2)?)));
    for (day, failed, count) in counted.await? {
        let day = usize::try_from(day).ok();
        let Some(day) = day.and_then(|day| found.get_mut(day)) else { continue };
        if failed == 0 { day.deploys = count } else { day.failed = count }
    }
    Ok(found)
}
