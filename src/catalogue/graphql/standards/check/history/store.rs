//! Stores what a round has found: results, levels, their changes, and the events of these.

use std::collections::BTreeMap;

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use super::found::{Changed, Found, Moved, Scope, is_kept};
use crate::db::{self, Transaction, Write};
use crate::entity::check_result::{self, Status};
use crate::entity::{Timestamp, level, remembered, service_level, standing_change};
use crate::events::OfChecks;

/// Stores what was found. Returns false if others have stored results since it was read.
pub(super) async fn store(tx: &Transaction, found: &Found, scope: &Scope, is_told: bool) -> Result<bool, db::Error> {
    if !remembered::next_check_round(tx, found.round.as_deref()).await? {
        return Ok(false);
    }
    let now = Timestamp::now();
    store_results(tx, &found.results, now).await?;
    store_levels(tx, &found.levels, now).await?;
    let word = |status: Option<Status>| status.map(|status| status.word().to_owned());
    let result = |one: &Changed| standing_change::ActiveModel {
        service_id: Set(one.service),
        check_id: Set(Some(one.check)),
        at: Set(now),
        before: Set(word(one.before)),
        after: Set(word(one.after)),
        message: Set(one.message.clone()),
        cause: Set(scope.cause.clone()),
        ..Default::default()
    };
    let name = |level: &Option<level::Model>| level.as_ref().map(|level| level.name.clone());
    let level = |one: &Moved| standing_change::ActiveModel {
        service_id: Set(one.service),
        check_id: Set(None),
        at: Set(now),
        before: Set(name(&one.before)),
        after: Set(name(&one.after)),
        message: Set(None),
        cause: Set(scope.cause.clone()),
        ..Default::default()
    };
    let results = found.results.iter().filter(|one| is_kept(scope, one.before.is_none() || one.after.is_none()));
    let levels = found.levels.iter().filter(|one| is_kept(scope, one.before.is_none() || one.after.is_none()));
    let rows: Vec<standing_change::ActiveModel> = results.map(result).chain(levels.map(level)).collect();
    tx.insert_all(rows).await?;
    if is_told {
        tell(tx, found, scope).await?;
    }
    Ok(true)
}

async fn store_results(tx: &Transaction, results: &[Changed], now: Timestamp) -> Result<(), db::Error> {
    use check_result::Column::{CheckId, ServiceId, Since, Status as Own};
    // One statement for all services that a check now says the same of.
    let mut alike: BTreeMap<(i64, Option<Status>), Vec<i64>> = BTreeMap::new();
    let mut new = Vec::new();
    for one in results {
        match (one.before, one.after) {
            (None, Some(status)) => new.push(check_result::ActiveModel {
                check_id: Set(one.check),
                service_id: Set(one.service),
                status: Set(status),
                since: Set(now),
                ..Default::default()
            }),
            (_, after) => alike.entry((one.check, after)).or_default().push(one.service),
        }
    }
    for ((check, status), services) in alike {
        let is_own = CheckId.eq(check).and(db::any(tx, ServiceId, &services));
        match status {
            Some(status) => {
                let change = check_result::Entity::update_many().col_expr(Own, Expr::value(status));
                tx.exec(change.col_expr(Since, Expr::value(now)).filter(is_own)).await?;
            }
            None => {
                tx.exec(check_result::Entity::delete_many().filter(is_own)).await?;
            }
        }
    }
    tx.insert_all(new).await
}

async fn store_levels(tx: &Transaction, levels: &[Moved], now: Timestamp) -> Result<(), db::Error> {
    if levels.is_empty() {
        return Ok(());
    }
    let services: Vec<i64> = levels.iter().map(|one| one.service).collect();
    let old = service_level::Entity::delete_many().filter(db::any(tx, service_level::Column::ServiceId, &services));
    tx.exec(old).await?;
    let row = |one: &Moved| {
        Some(service_level::ActiveModel {
            service_id: Set(one.service),
            level_id: Set(one.after.as_ref()?.id),
            since: Set(now),
            ..Default::default()
        })
    };
    let rows: Vec<service_level::ActiveModel> = levels.iter().filter_map(row).collect();
    tx.insert_all(rows).await
}

/// Stores the events of what was found.
async fn tell(tx: &Transaction, found: &Found, scope: &Scope) -> Result<(), db::Error> {
    let mut events = OfChecks::default();
    for one in &found.results {
        // A check that begins to concern a service, or no longer does, tells nothing.
        let (Some(before), Some(after)) = (one.before, one.after) else { continue };
        if let (Some(service), Some(check)) = (found.services.get(&one.service), found.names.get(&one.check)) {
            events.add_result(
                service,
                check,
                [before, after],
                (one.message.as_deref().unwrap_or_default(), &scope.cause),
            );
        }
    }
    for one in &found.levels {
        let (Some(before), Some(after)) = (&one.before, &one.after) else { continue };
        if let Some(service) = found.services.get(&one.service) {
            events.add_level(service, [&before.name, &after.name], after.index > before.index, &scope.cause);
        }
    }
    events.store(tx).await
}
