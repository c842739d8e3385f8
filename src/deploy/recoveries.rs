//! Which successful deploy recovers a failed one: the next of the same service and environment, in the order of
//! `deployedAt` and id. Deploys without an environment are as of one.
//!
//! Every lookup is one search in an index: `deploy_by_success` or `deploy_by_failure`. A null-safe comparison of
//! environments would not use these, so there is a branch for those without one.

use sea_orm::ActiveEnum;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Cond, ExprTrait, Func, JoinType, Order, Query, SelectStatement, SubQueryStatement};

use crate::entity::deploy::{self, Column, Status};

/// The alias of the successful deploy in [`recoveries`].
pub const SUCCESS: &str = "success";
/// The alias of the failed deploy in [`recoveries`].
pub const FAILURE: &str = "failure";
const NEXT: &str = "next";
const PREVIOUS: &str = "previous";
const BETWEEN: &str = "between_them";

/// A status as a literal. With a parameter the planner could not use a partial index.
pub fn is(status: Status) -> Expr {
    Expr::Constant(status.to_value().into())
}

/// Returns the time of the next success after a deploy, whose columns `of` names: service, environment, time and id.
pub fn next_success(of: impl Fn(Column) -> Expr) -> Expr {
    let look = |environment: Expr| {
        let look = successes(NEXT, &of, environment)
            .expr(Expr::col((NEXT, Column::DeployedAt)))
            .and_where(place(|column| Expr::col((NEXT, column))).gt(place(&of)))
            // Implied, but PostgreSQL begins to look at this time only if it is told so.
            .and_where(Expr::col((NEXT, Column::DeployedAt)).gte(of(Column::DeployedAt)))
            // Constant here, but PostgreSQL needs it to use the index's order for nulls too.
            .order_by((NEXT, Column::EnvironmentKey), Order::Asc)
            .order_by((NEXT, Column::DeployedAt), Order::Asc)
            .order_by((NEXT, Column::Id), Order::Asc)
            .limit(1)
            .take();
        scalar(look)
    };
    let none = look(Expr::col((NEXT, Column::EnvironmentKey)).is_null());
    let same = look(Expr::col((NEXT, Column::EnvironmentKey)).eq(of(Column::EnvironmentKey)));
    Expr::case(of(Column::EnvironmentKey).is_null(), none).finally(same).into()
}

/// Selects successes ([`SUCCESS`]) with the failures that they recover ([`FAILURE`]): the environment's key, the time of
/// the failure, and that of the success. `is_named` selects those with an environment or those without. The caller
/// limits the successes.
pub fn recoveries(is_named: bool) -> SelectStatement {
    let success = |column: Column| Expr::col((SUCCESS, column));
    let failure = |column: Column| Expr::col((FAILURE, column));
    let same = |table: &'static str| match is_named {
        true => Expr::col((table, Column::EnvironmentKey)).eq(success(Column::EnvironmentKey)),
        false => Expr::col((table, Column::EnvironmentKey)).is_null(),
    };
    let previous = successes(PREVIOUS, success, same(PREVIOUS))
        .expr(Expr::col((PREVIOUS, Column::DeployedAt)))
        .and_where(place(|column| Expr::col((PREVIOUS, column))).lt(place(success)))
        // Implied, as above.
        .and_where(Expr::col((PREVIOUS, Column::DeployedAt)).lte(success(Column::DeployedAt)))
        .order_by((PREVIOUS, Column::EnvironmentKey), Order::Desc)
        .order_by((PREVIOUS, Column::DeployedAt), Order::Desc)
        .order_by((PREVIOUS, Column::Id), Order::Desc)
        .limit(1)
        .take();
    // Several deploys can have the time of the previous success.
    let between = |column| Expr::col((BETWEEN, column));
    let between = successes(BETWEEN, success, same(BETWEEN))
        .expr(Expr::value(1))
        .and_where(place(between).gt(place(failure)))
        .and_where(place(between).lt(place(success)))
        .take();
    let environment = success(Column::EnvironmentKey);
    Query::select()
        .columns([(SUCCESS, Column::EnvironmentKey), (FAILURE, Column::DeployedAt), (SUCCESS, Column::DeployedAt)])
        .from_as(deploy::Entity, SUCCESS)
        // The only join whose order SQLite keeps.
        .join_as(JoinType::CrossJoin, deploy::Entity, FAILURE, Cond::all())
        .and_where(success(Column::DeployStatus).eq(is(Status::Succeeded)))
        .and_where(success(Column::ServiceId).is_not_null())
        .and_where(if is_named { environment.is_not_null() } else { environment.is_null() })
        .and_where(failure(Column::DeployStatus).eq(is(Status::Failed)))
        .and_where(failure(Column::ServiceId).eq(success(Column::ServiceId)))
        .and_where(same(FAILURE))
        .and_where(place(failure).lt(place(success)))
        .and_where(failure(Column::DeployedAt).gte(Func::coalesce([scalar(previous), Expr::value(i64::MIN)])))
        .and_where(Expr::exists(between).not())
        .take()
}

/// Selects successes of a deploy's service, under an alias, from the environment that the condition selects.
fn successes(alias: &'static str, of: impl Fn(Column) -> Expr, environment: Expr) -> SelectStatement {
    Query::select()
        .from_as(deploy::Entity, alias)
        .and_where(Expr::col((alias, Column::ServiceId)).eq(of(Column::ServiceId)))
        .and_where(environment)
        .and_where(Expr::col((alias, Column::DeployStatus)).eq(is(Status::Succeeded)))
        .take()
}

/// The place of a deploy in the order of time.
fn place(of: impl Fn(Column) -> Expr) -> Expr {
    Expr::tuple([of(Column::DeployedAt), of(Column::Id)])
}

fn scalar(select: SelectStatement) -> Expr {
    Expr::SubQuery(None, Box::new(SubQueryStatement::SelectStatement(select)))
}
