//! Evaluates checks for services. Nothing is stored: a result is computed from the snapshot of the request that reads it.
//!
//! Some checks at a time become one statement, in which each has a column. So a service is read once for all of them,
//! and only the services of a page are read.

use std::borrow::Borrow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use sea_orm::sea_query::{CaseStatement, ExprTrait, Func, Order, Query as Select, SelectStatement};

use super::home::Placed;
use super::kind::{Asked, ask};
use super::question::Facts;
use crate::entity::check::{Column, Entity, Kind, MOST, Model};
use crate::entity::check_result::Status;
use crate::entity::{filter, known, level, service};
use crate::graphql::prelude::*;
use crate::graphql::service::service_filter;

/// The number of checks in a statement.
pub(super) const AT_ONCE: usize = 40;

/// The maximum number of services that a report names.
pub const NAMED: u64 = 50;

/// The status of a service, as SQL has it. Null if the check does not concern the service.
pub(super) const PASSED: i64 = 1;
pub(super) const PENDING: i64 = 2;
pub(super) const FAILED: i64 = 0;

/// A check that can be evaluated.
pub(super) struct Prepared {
    pub(super) check: Arc<Model>,
    is_upcoming: bool,
    filter: Option<Expr>,
    asked: Asked,
}

/// What a check says of a service.
pub(super) struct Outcome {
    /// The position of the check.
    pub(super) check: usize,
    pub(super) status: CheckStatus,
    pub(super) message: String,
}

/// How many services a check concerns, and how they stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) services: i64,
    pub(super) passed: i64,
    pub(super) pending: i64,
}

/// Reads the checks whose kind this version [knows](known), in order of creation: for what a request is told.
pub(super) async fn checks(db: &dyn ReadHandle) -> Result<Vec<Model>> {
    let own = Entity::find().filter(known::<Kind>(Column::Kind));
    Ok(db.all(own.order_by_asc(Column::Id).limit(MOST as u64)).await?)
}

/// Reads all checks, in order of creation: for what is stored. Fails if there is one of another kind: without its results,
/// services would be stored at levels that they do not have, and everybody would be told.
pub(super) async fn all_checks(db: &dyn ReadHandle) -> Result<Vec<Model>> {
    Ok(db.all(Entity::find().order_by_asc(Column::Id).limit(MOST as u64)).await?)
}

/// Prepares checks. Reads each filter once.
pub(super) async fn prepare(checks: Vec<Placed>, facts: Facts<'_>) -> Result<Vec<Prepared>> {
    let mut filters = HashMap::new();
    let ids: BTreeSet<i64> =
        checks.iter().flat_map(|one| [one.check.filter_id, one.home.filter_id()]).flatten().collect();
    for filter in filter::Entity::by_ids(facts.db, ids.into_iter().map(Some)).await?.into_iter().flatten() {
        if let Entry::Vacant(place) = filters.entry(filter.id) {
            place.insert(unless_wrong(service_filter::of_checks(facts.db, &filter).await)?);
        }
    }
    let mut prepared = Vec::with_capacity(checks.len());
    for Placed { check, home } in checks {
        let mut asked = ask(&check, facts).await?;
        let mut filter: Option<Expr> = None;
        for (id, whose) in [(check.filter_id, None), (home.filter_id(), Some(home.noun()))] {
            match id.and_then(|id| filters.get(&id)) {
                None => {}
                Some(Ok(condition)) => {
                    filter = Some(match filter {
                        Some(other) => other.and(condition.clone()),
                        None => condition.clone(),
                    });
                }
                Some(Err(reason)) => {
                    let whose =
                        whose.map_or_else(|| "its filter".to_owned(), |noun| format!("the filter of its {noun}"));
                    asked.question = Err(format!("{whose} is wrong: {reason}"));
                }
            }
        }
        let is_upcoming = check.is_upcoming(facts.now);
        prepared.push(Prepared { check, is_upcoming, filter, asked });
    }
    Ok(prepared)
}

/// Separates what a user has to mend from what we have to.
fn unless_wrong<T>(result: Result<T>) -> Result<Result<T, String>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error @ Error::User(_)) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

impl Prepared {
    /// Whether its question can be put. If not, it is pending for every service.
    pub(super) fn can_be_evaluated(&self) -> bool {
        self.asked.question.is_ok()
    }

    /// The status of a service, as SQL.
    pub(super) fn status(&self) -> Expr {
        let status: Expr = match &self.asked.question {
            Err(_) => word(PENDING),
            Ok(question) => {
                let case = Expr::case(question.passed.clone(), word(PASSED));
                let case = match &question.pending {
                    Some(pending) => case.case(pending.clone(), word(PENDING)),
                    None => case,
                };
                case.finally(word(FAILED)).into()
            }
        };
        match &self.filter {
            Some(filter) => Expr::case(filter.clone(), status).into(),
            None => status,
        }
    }

    /// What was found of a service, as SQL.
    fn found(&self) -> Expr {
        self.asked.question.as_ref().map_or_else(|_| Expr::cust("NULL"), |question| question.found.clone())
    }

    /// The outcome for a service, if the check concerns it.
    fn outcome(&self, place: usize, status: Option<i64>, found: Option<&str>) -> Option<Outcome> {
        let status = status?;
        let said = || (self.asked.said)(found);
        let message = match &self.asked.question {
            Err(reason) => format!("This check cannot be evaluated: {reason}."),
            Ok(_) if status == PASSED => said(),
            Ok(_) => format!("{} Wanted: {}.", said(), self.asked.wanted),
        };
        let status = match status {
            _ if self.is_upcoming => CheckStatus::Upcoming,
            PASSED => CheckStatus::Passed,
            PENDING => CheckStatus::Pending,
            _ => CheckStatus::Failed,
        };
        Some(Outcome { check: place, status, message })
    }
}

/// Evaluates the checks for services. Returns the outcomes of each service by its id, in the order of the checks.
pub(super) async fn results<P: Borrow<Prepared> + Sync>(
    db: &dyn ReadHandle,
    prepared: &[P],
    services: &[i64],
) -> Result<HashMap<i64, Vec<Outcome>>> {
    let mut results: HashMap<i64, Vec<Outcome>> = HashMap::with_capacity(services.len());
    for (part, some) in prepared.chunks(AT_ONCE).enumerate() {
        let mut select = Select::select();
        select.expr(service::Column::Id.into_expr()).from(service::Entity);
        for one in some.iter().map(Borrow::borrow) {
            select.expr(one.status()).expr(one.found());
        }
        select.and_where(db::is_any(db.backend(), service::Column::Id.into_expr(), services));
        let many = some.len();
        let rows = db.scan(&select, move |row| {
            let mut cells = Vec::with_capacity(many);
            for place in 0..many {
                cells.push((row.get::<Option<i64>>(1 + 2 * place)?, row.get::<Option<String>>(2 + 2 * place)?));
            }
            Ok((row.get::<i64>(0)?, cells))
        });
        for (service, cells) in rows.await? {
            db.pause().await?;
            let own = results.entry(service).or_default();
            for (place, ((status, found), one)) in cells.iter().zip(some).enumerate() {
                if let Some(outcome) = one.borrow().outcome(part * AT_ONCE + place, *status, found.as_deref()) {
                    db.charge::<Outcome>(outcome.message.len())?;
                    own.push(outcome);
                }
            }
        }
    }
    Ok(results)
}

/// The status of each check for each of the services, by the service's id. None for a check that does not concern it.
pub(super) async fn statuses(
    db: &dyn ReadHandle,
    prepared: &[Prepared],
    services: &[i64],
) -> Result<HashMap<i64, Vec<Option<Status>>>> {
    let mut statuses: HashMap<i64, Vec<Option<Status>>> = HashMap::with_capacity(services.len());
    for some in prepared.chunks(AT_ONCE) {
        let mut select = Select::select();
        select.expr(service::Column::Id.into_expr()).from(service::Entity);
        for one in some {
            select.expr(one.status());
        }
        select.and_where(db::is_any(db.backend(), service::Column::Id.into_expr(), services));
        let many = some.len();
        let rows = db.scan(&select, move |row| {
            let cells = (1..=many).map(|place| row.get::<Option<i64>>(place));
            Ok((row.get::<i64>(0)?, cells.collect::<Result<Vec<_>, _>>()?))
        });
        for (service, cells) in rows.await? {
            db.pause().await?;
            let status = |cell: Option<i64>| match cell? {
                PASSED => Some(Status::Passed),
                PENDING => Some(Status::Pending),
                _ => Some(Status::Failed),
            };
            statuses.entry(service).or_default().extend(cells.into_iter().map(status));
        }
    }
    Ok(statuses)
}

/// Counts how all services stand with each check.
pub(super) async fn counts(db: &dyn ReadHandle, prepared: &[Prepared]) -> Result<Vec<Counts>> {
    const EACH: &str = "each";
    let mut counts = Vec::with_capacity(prepared.len());
    for some in prepared.chunks(AT_ONCE) {
        let (mut each, mut select) = (Select::select(), Select::select());
        each.from(service::Entity);
        for (place, one) in some.iter().enumerate() {
            let name = format!("status_{place}");
            let own = || Expr::col((EACH, sea_orm::sea_query::Alias::new(&name)));
            each.expr_as(one.status(), name.clone());
            let of = |status: i64| {
                Func::sum(
                    Expr::case(own().eq(Expr::cust(status.to_string())), Expr::cust("1")).finally(Expr::cust("0")),
                )
            };
            select.expr(Func::count(own())).expr(of(PASSED)).expr(of(PENDING));
        }
        select.from_subquery(each, EACH);
        let many = some.len();
        let rows = db.scan(&select, move |row| {
            let number = |place| Ok::<_, db::Error>(row.get::<Option<i64>>(place)?.unwrap_or_default());
            (0..many)
                .map(|place| {
                    let first = 3 * place;
                    Ok(Counts { services: number(first)?, passed: number(first + 1)?, pending: number(first + 2)? })
                })
                .collect::<Result<Vec<_>, db::Error>>()
        });
        counts.extend(rows.await?.into_iter().flatten());
    }
    Ok(counts)
}

/// Counts the services that miss some of the checks of each set. `None` for a set without checks. Several sets at a time
/// become one statement.
pub(super) async fn missing(facts: Facts<'_>, sets: Vec<Vec<Placed>>) -> Result<Vec<Option<i64>>> {
    let mut missing = vec![None; sets.len()];
    let (mut some, mut checks): (Vec<(usize, Expr)>, usize) = (Vec::new(), 0);
    for (place, set) in sets.into_iter().enumerate() {
        let many = set.len();
        if checks + many > AT_ONCE {
            count_missing(facts.db, std::mem::take(&mut some), &mut missing).await?;
            checks = 0;
        }
        let prepared = prepare(set, facts).await?;
        if let Some(misses) = prepared.iter().map(|one| one.status().is_in(MISSED.map(word))).reduce(Expr::or) {
            some.push((place, misses));
            checks += many;
        }
    }
    count_missing(facts.db, some, &mut missing).await?;
    Ok(missing)
}

/// Counts the services that satisfy each of the conditions, and notes the numbers at their places.
async fn count_missing(db: &dyn ReadHandle, some: Vec<(usize, Expr)>, missing: &mut [Option<i64>]) -> Result<()> {
    if some.is_empty() {
        return Ok(());
    }
    let (places, conditions): (Vec<usize>, Vec<Expr>) = some.into_iter().unzip();
    let mut select = Select::select();
    select.from(service::Entity);
    for condition in conditions {
        select.expr(Func::sum(Expr::case(condition, Expr::cust("1")).finally(Expr::cust("0"))));
    }
    let many = places.len();
    let read = move |row: &db::Row<'_>| (0..many).map(|place| row.get(place)).collect::<Result<Vec<Option<i64>>, _>>();
    let numbers = db.scan(&select, read).await?.pop().unwrap_or_default();
    for (place, number) in places.into_iter().zip(numbers) {
        if let Some(own) = missing.get_mut(place) {
            // Of no services, SQL has no sum.
            *own = Some(number.unwrap_or_default());
        }
    }
    Ok(())
}

/// The statuses of a check that is not passed.
const MISSED: [i64; 2] = [FAILED, PENDING];

fn word(status: i64) -> Expr {
    Expr::cust(status.to_string())
}

/// The number of services that a filter matches: all without a filter, none if it is wrong.
pub(super) async fn size(db: &dyn ReadHandle, filter: Option<i64>) -> Result<i64> {
    let mut select = Select::select();
    select.expr(Func::count(Expr::cust("*"))).from(service::Entity);
    if let Some(filter) = filter::Entity::by_ids(db, [filter]).await?.pop().flatten() {
        let Ok(condition) = unless_wrong(service_filter::of_checks(db, &filter).await)? else { return Ok(0) };
        select.and_where(condition);
    }
    Ok(db.scan(&select, |row| row.get::<i64>(0)).await?.pop().unwrap_or_default())
}

/// The services that miss some of the checks, each with the lowest index of the levels of those that it misses.
pub(super) async fn lowest_missed(
    db: &dyn ReadHandle,
    prepared: &[Prepared],
    levels: &[level::Model],
) -> Result<HashMap<i64, i32>> {
    let indexes: HashMap<i64, i32> = levels.iter().map(|level| (level.id, level.index)).collect();
    let index = |level: i64| indexes.get(&level).copied().unwrap_or(i32::MAX);
    let mut prepared: Vec<&Prepared> = prepared.iter().collect();
    prepared.sort_by_key(|one| index(one.check.level_id));
    let mut lowest: HashMap<i64, i32> = HashMap::new();
    for some in prepared.chunks(AT_ONCE) {
        // The checks are in the order of their levels: the first that is missed has the lowest one.
        let mut first = CaseStatement::new();
        for one in some {
            first = first.case(one.status().is_in(MISSED.map(word)), Expr::cust(index(one.check.level_id).to_string()));
        }
        let select = Select::select().expr(service::Column::Id.into_expr()).expr(first).from(service::Entity).take();
        let rows = db.scan(&select, |row| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?))).await?;
        for (service, index) in rows {
            db.pause().await?;
            let Some(index) = index.and_then(|index| i32::try_from(index).ok()) else { continue };
            lowest.entry(service).and_modify(|own| *own = Ord::min(index, *own)).or_insert(index);
        }
    }
    Ok(lowest)
}

/// The first services that a check concerns and that do not pass, each with its id, its alias and the outcome.
pub(super) async fn failing(db: &dyn ReadHandle, one: &Prepared) -> Result<Vec<(i64, String, Outcome)>> {
    let select = failing_services(one);
    let rows = db.scan(&select, |row| {
        Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<Option<i64>>(2)?, row.get::<Option<String>>(3)?))
    });
    let rows = rows.await?.into_iter().filter_map(|(service, alias, status, found)| {
        Some((service, alias, one.outcome(0, status, found.as_deref())?))
    });
    Ok(rows.collect())
}

fn failing_services(one: &Prepared) -> SelectStatement {
    Select::select()
        .expr(service::Column::Id.into_expr())
        .expr(service::Column::Slug.into_expr())
        .expr(one.status())
        .expr(one.found())
        .from(service::Entity)
        .and_where(one.status().is_in(MISSED.map(word)))
        .order_by_expr(service::Column::Id.into_expr(), Order::Asc)
        .limit(NAMED)
        .take()
}
