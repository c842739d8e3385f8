//! Evaluates checks of custom events on the events that are kept.
//!
//! The webhook does so when it has stored an event. A background task does so for what is left: after a restart, after a
//! change of a check, and if there was no time. What is left is what has no [outcome](custom_event_outcome) of what the
//! check asks now, so nothing is lost, and several processes may do this at the same time.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use sea_orm::sea_query::ExprTrait;

use super::kinds::CustomEvent;
use super::parameters;
use super::reported::fingerprint;
use crate::db::Db;
use crate::entity::check::{self, Kind, MOST, Model};
use crate::entity::check_due::{self, Marks, Part};
use crate::entity::{check_reported as reported, custom_event as event, custom_event_outcome as outcome};
use crate::entity::{service, service_alias};
use crate::evaluation::{self, Evaluated, Expressions, One};
use crate::graphql::prelude::*;

/// The pause between two looks at what is left.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause after an error.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(30);

/// Evaluates what is left, again and again. Runs until dropped, which is safe at any await.
pub fn run(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        loop {
            let pause = match judge(&db, None).await {
                Ok(()) => PAUSE,
                Err(error) => {
                    tracing::warn!(%error, "checks cannot be evaluated on custom events");
                    PAUSE_AFTER_ERROR
                }
            };
            tokio::time::sleep(pause).await;
        }
    })
}

/// Evaluates what is left, of all integrations or of one, from the newest event to the oldest. Of one, it stops after the
/// time that an event may take: somebody waits for the answer.
///
/// # Errors
/// The database fails, or no process can be started that evaluates.
pub fn judge(db: &Db, integration: Option<i64>) -> BoxFuture<'_, Result<()>> {
    Box::pin(async move {
        let checks = check::Entity::find().filter(check::Column::Kind.eq(Kind::Generic));
        let checks = match integration {
            Some(integration) => checks.filter(check::Column::IntegrationId.eq(integration)),
            None => checks.filter(check::Column::IntegrationId.is_not_null()),
        };
        let checks = db.read().all(checks.order_by_asc(check::Column::Id).limit(MOST as u64)).await?;
        if checks.is_empty() {
            return Ok(());
        }
        let until = integration.map(|_| Instant::now() + evaluation::BATCH);
        for (event, due) in left(db.read(), &checks).await? {
            if until.is_some_and(|until| Instant::now() > until) {
                break;
            }
            let Some(payload) = payload(db.read(), event).await? else { continue };
            let expressions: Vec<Expressions> =
                due.iter().map(|check| parameters::<CustomEvent>(check).expressions()).collect();
            let evaluated = evaluation::of_event(payload.payload, expressions).await;
            let evaluated = evaluated.map_err(|why| crate::error::Error::Internal(why.into()))?;
            for (check, evaluated) in due.into_iter().zip(evaluated) {
                // Without one, it is evaluated the next time.
                let Some(evaluated) = evaluated else { continue };
                db.write(async |tx| store(tx, check, (event, payload.at), &evaluated).await).await?;
            }
        }
        Ok(())
    })
}

/// The events that checks are to be evaluated on, newest first, each with these checks.
async fn left<'c>(db: &dyn ReadHandle, checks: &'c [Model]) -> Result<Vec<(i64, Vec<&'c Model>)>> {
    let integrations: Vec<i64> = checks.iter().filter_map(|check| check.integration_id).collect();
    let ids: Vec<i64> = checks.iter().map(|check| check.id).collect();
    let events = event::Entity::find()
        .select_only()
        .columns([event::Column::Id, event::Column::IntegrationId])
        .filter(db::any(db, event::Column::IntegrationId, &integrations))
        .order_by_desc(event::Column::Id);
    let events: Vec<(i64, i64)> = db.rows(events.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let done = outcome::Entity::find()
        .select_only()
        .columns([outcome::Column::EventId, outcome::Column::CheckId, outcome::Column::Fingerprint])
        .filter(db::any(db, outcome::Column::CheckId, &ids));
    let done = db.rows(done.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    let done: HashSet<(i64, i64, String)> = done.into_iter().collect();
    let asked: Vec<(&Model, String)> = checks.iter().map(|check| (check, fingerprint(check))).collect();
    let due = |event: i64, integration: i64| {
        let of_it = asked.iter().filter(|(check, _)| check.integration_id == Some(integration));
        let due = of_it.filter(|(check, asked)| !done.contains(&(event, check.id, asked.clone())));
        due.map(|(check, _)| *check).collect::<Vec<_>>()
    };
    let left = events.into_iter().map(|(event, integration)| (event, due(event, integration)));
    Ok(left.filter(|(_, due)| !due.is_empty()).collect())
}

async fn payload(db: &dyn ReadHandle, event: i64) -> Result<Option<event::Model>> {
    Ok(db.all(event::Entity::find().filter(event::Column::Id.eq(event))).await?.pop())
}

/// Stores what a check says of an event, unless one of them has changed meanwhile.
async fn store(db: &Transaction, check: &Model, event: (i64, Timestamp), evaluated: &Evaluated) -> Result<()> {
    let (event, at) = event;
    let asked = fingerprint(check);
    let now = check::Entity::find().filter(check::Column::Id.eq(check.id));
    let now = db.locking(LockType::KeyShare).all(now).await?.pop();
    let kept = event::Entity::find().select_only().column(event::Column::Id).filter(event::Column::Id.eq(event));
    // No other process stores what the same check says of it.
    let kept: Vec<i64> = db.rows(kept.lock(LockType::NoKeyUpdate).as_query(), |row| row.get(0)).await?;
    if kept.is_empty() || now.is_none_or(|now| fingerprint(&now) != asked) {
        return Ok(());
    }
    let services = services(db, &evaluated.names).await?;
    let mut results: HashMap<i64, &One> = HashMap::new();
    let mut unknown = 0;
    for (name, one) in evaluated.names.iter().zip(&evaluated.ones) {
        match services.get(name) {
            None => unknown += 1,
            // Of several names of a service, the worst counts.
            Some(service) => {
                let own = results.entry(*service).or_insert(one);
                if !one.passed {
                    *own = one;
                }
            }
        }
    }
    replace(db, (check.id, &asked), at, &results).await?;
    Marks::of_services(results.keys().copied(), Part::Reports).store(db, check_due::EVENT).await?;
    let same = outcome::Column::EventId.eq(event).and(outcome::Column::CheckId.eq(check.id));
    db.exec(outcome::Entity::delete_many().filter(same)).await?;
    let passed = results.values().filter(|one| one.passed).count();
    let fault = evaluated.ones.iter().find_map(|one| one.fault.clone());
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let row = outcome::ActiveModel {
        event_id: Set(event),
        check_id: Set(check.id),
        fingerprint: Set(asked),
        passed: Set(number(passed)),
        failed: Set(number(results.len() - passed)),
        unknown: Set(unknown),
        fault: Set(evaluated.fault.clone().or(fault)),
        ..Default::default()
    };
    db.insert(row).await?;
    Ok(())
}

/// Stores the results of a check that asks this, in place of those that came of older events, and of those of what it asked
/// before.
async fn replace(
    db: &Transaction,
    (check, asked): (i64, &str),
    at: Timestamp,
    results: &HashMap<i64, &One>,
) -> Result<()> {
    let newer = newer(db, check, asked, at, results).await?;
    let mut services: Vec<(&i64, &&One)> = results.iter().filter(|(service, _)| !newer.contains(service)).collect();
    if services.is_empty() {
        return Ok(());
    }
    services.sort_unstable_by_key(|(service, _)| **service);
    let replaced: Vec<i64> = services.iter().map(|(service, _)| **service).collect();
    let of_check = reported::Column::CheckId.eq(check).and(db::any(db, reported::Column::ServiceId, &replaced));
    db.exec(reported::Entity::delete_many().filter(of_check)).await?;
    let rows = services.into_iter().map(|(service, one)| reported::ActiveModel {
        check_id: Set(check),
        service_id: Set(*service),
        fingerprint: Set(asked.to_owned()),
        passed: Set(one.passed),
        message: Set(match &one.fault {
            Some(fault) => format!("The condition cannot be evaluated: {fault}."),
            None => one.message.clone().unwrap_or_default(),
        }),
        reported_by: Set("custom event".to_owned()),
        reported_at: Set(at),
        ..Default::default()
    });
    db.exec(reported::Entity::insert_many(rows)).await?;
    Ok(())
}

/// The services of which this event, or a newer one, has said already what the check asks.
async fn newer(
    db: &Transaction,
    check: i64,
    asked: &str,
    at: Timestamp,
    results: &HashMap<i64, &One>,
) -> Result<HashSet<i64>> {
    use reported::Column;
    let services: Vec<i64> = results.keys().copied().collect();
    let newer = reported::Entity::find()
        .select_only()
        .column(Column::ServiceId)
        .filter(Column::CheckId.eq(check))
        .filter(db::any(db, Column::ServiceId, &services))
        .filter(Column::Fingerprint.eq(asked))
        .filter(Column::ReportedAt.gte(at));
    Ok(db.rows(newer.as_query(), |row| row.get(0)).await?.into_iter().collect())
}

/// Finds the services that have these aliases or ids. A service with an id need not exist.
pub(super) async fn found(db: &dyn ReadHandle, names: &[String]) -> Result<HashMap<String, i64>> {
    let ids = names.iter().filter_map(|name| Some((name.clone(), id::number::<service::Entity>(name)?)));
    let mut found: HashMap<String, i64> = ids.collect();
    let aliases: Vec<&str> = names.iter().map(String::as_str).filter(|name| !found.contains_key(*name)).collect();
    use service_alias::Column;
    let named = service_alias::Entity::find()
        .select_only()
        .columns([Column::Value, Column::ServiceId])
        .filter(db::any_text(db, Column::Value, &aliases));
    found.extend(db.rows(named.as_query(), |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?))).await?);
    Ok(found)
}

/// Finds the services that have these aliases or ids, and locks them, so that they are not deleted, and no other results
/// come between.
async fn services(db: &Transaction, names: &[String]) -> Result<HashMap<String, i64>> {
    let mut found = found(db, names).await?;
    let ids: Vec<i64> = found.values().copied().collect();
    let locked = service::Entity::find()
        .select_only()
        .column(service::Column::Id)
        .filter(db::any(db, service::Column::Id, &ids))
        .order_by_asc(service::Column::Id)
        .lock(LockType::NoKeyUpdate);
    let locked: HashSet<i64> = db.rows(locked.as_query(), |row| row.get(0)).await?.into_iter().collect();
    found.retain(|_, id| locked.contains(id));
    Ok(found)
}
