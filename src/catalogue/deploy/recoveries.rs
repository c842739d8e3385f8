//! Which successful deploy recovers a failed one: the next of the same service and environment, in the order of
//! `deployedAt` and id. Deploys without an environment are as of one.
//!
//! Every lookup is one search in an index: `deploy_by_success` or `deploy_by_failure`. A null-safe comparison of
//! environments would not use these, so there is a branch for those without one.

use sea_orm::ActiveEnum;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Cond, ExprTrait, Func, JoinType, Order, Query, SelectStatement};

use crate::db::scalar;
use crate::entity::Timestamp;
use crate::entity::deploy::{self, Column, Status};

/// The alias of the successful deploy in [`recoveries_of_earlier`].
pub const SUCCESS: &str = "success";
/// The alias of the failed deploy in [`recoveries_of_earlier`].
pub const FAILURE: &str = "failure";
const NEXT: &str = "next";
const PREVIOUS: &str = "previous";
const FIRST: &str = "earlier";

/// A status as a literal. With a parameter the planner could not use a partial index.
pub fn is(status: Status) -> Expr {
    Expr::Constant(status.to_value().into())
}

/// Returns the time of the next success after a deploy, whose columns `of` names: service, environment, time and id.
///
/// Two lookups, of the deploy's own time and of later ones. With one for both, SQLite would walk all deploys of that
/// time, and somebody may have given the same time to all deploys.
pub fn next_success(of: impl Fn(Column) -> Expr) -> Expr {
    let next = |column| Expr::col((NEXT, column));
    let look = |environment: Expr| {
        let first = |condition: Expr| {
            let look = successes(NEXT, &of, environment.clone())
                .expr(next(Column::DeployedAt))
                .and_where(condition)
                // Constant here, but PostgreSQL needs it to use the index's order for nulls too.
                .order_by((NEXT, Column::EnvironmentKey), Order::Asc)
                .order_by((NEXT, Column::DeployedAt), Order::Asc)
                .order_by((NEXT, Column::Id), Order::Asc)
                .limit(1)
                .take();
            scalar(look)
        };
        let at_once = next(Column::DeployedAt).eq(of(Column::DeployedAt)).and(next(Column::Id).gt(of(Column::Id)));
        Func::coalesce([first(at_once), first(next(Column::DeployedAt).gt(of(Column::DeployedAt)))])
    };
    let none = look(Expr::col((NEXT, Column::EnvironmentKey)).is_null());
    let same = look(Expr::col((NEXT, Column::EnvironmentKey)).eq(of(Column::EnvironmentKey)));
    Expr::case(of(Column::EnvironmentKey).is_null(), none).finally(same).into()
}

/// Selects the failures before a time ([`FAILURE`]) that are recovered from then on, with the successes that recover
/// them ([`SUCCESS`]): the environment's key, the service, the time of the failure, and that of the success. `is_named`
/// selects those with an environment or those without. The caller limits the successes to times before an end.
///
/// Such a success is the first one from then on of its service and environment. The failure and the success never have
/// the same time, so every lookup finds its row at once, however many deploys have one time.
pub fn recoveries_of_earlier(is_named: bool, start: Timestamp) -> SelectStatement {
    let success = |column: Column| Expr::col((SUCCESS, column));
    let failure = |column: Column| Expr::col((FAILURE, column));
    let same = |table: &'static str| match is_named {
        true => Expr::col((table, Column::EnvironmentKey)).eq(success(Column::EnvironmentKey)),
        false => Expr::col((table, Column::EnvironmentKey)).is_null(),
    };
    let previous = |column: Column| {
        let previous = successes(PREVIOUS, success, same(PREVIOUS))
            .expr(Expr::col((PREVIOUS, column)))
            .and_where(Expr::col((PREVIOUS, Column::DeployedAt)).lt(start))
            .order_by((PREVIOUS, Column::EnvironmentKey), Order::Desc)
            .order_by((PREVIOUS, Column::DeployedAt), Order::Desc)
            .order_by((PREVIOUS, Column::Id), Order::Desc)
            .limit(1)
            .take();
        Expr::from(Func::coalesce([scalar(previous), Expr::value(i64::MIN)]))
    };
    let first = |column| Expr::col((FIRST, column));
    let earlier = successes(FIRST, success, same(FIRST))
        .expr(Expr::value(1))
        .and_where(first(Column::DeployedAt).gte(start))
        .and_where(place(first).lt(place(success)))
        .limit(1)
        .take();
    let environment = success(Column::EnvironmentKey);
    Query::select()
        .columns([(SUCCESS, Column::EnvironmentKey), (SUCCESS, Column::ServiceId)])
        .columns([(FAILURE, Column::DeployedAt), (SUCCESS, Column::DeployedAt)])
        .from_as(deploy::Entity, SUCCESS)
        // The only join whose order SQLite keeps.
        .join_as(JoinType::CrossJoin, deploy::Entity, FAILURE, Cond::all())
        .and_where(success(Column::DeployStatus).eq(is(Status::Succeeded)))
        .and_where(success(Column::ServiceId).is_not_null())
        .and_where(if is_named { environment.is_not_null() } else { environment.is_null() })
        .and_where(success(Column::DeployedAt).gte(start))
        // PostgreSQL would make a join of NOT EXISTS, and compare each success with each if it has no statistics.
        .and_where(scalar(earlier).is_null())
        .and_where(failure(Column::DeployStatus).eq(is(Status::Failed)))
        .and_where(failure(Column::ServiceId).eq(success(Column::ServiceId)))
        .and_where(same(FAILURE))
        .and_where(failure(Column::DeployedAt).lt(start))
        // Implied by the next one, but an index needs it as its start.
        .and_where(failure(Column::DeployedAt).gte(previous(Column::DeployedAt)))
        .and_where(place(failure).gt(Expr::tuple([previous(Column::DeployedAt), previous(Column::Id)])))
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
