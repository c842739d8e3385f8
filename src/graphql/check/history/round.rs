//! Evaluates checks for services, and stores what differs from what was stored last.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set};

use super::super::evaluate::{self, Prepared};
use super::super::home::{self, Placed};
use super::super::question::Facts;
use super::super::standing;
use crate::db::{self, Db, Read, ReadHandle, Transaction, Write};
use crate::entity::check_due::Part;
use crate::entity::check_result::{self, Status};
use crate::entity::{ByIds, Timestamp, level, remembered, service, service_level, standing_change};
use crate::error::Result;
use crate::events::{OfChecks, Wanted};

/// About how many results are evaluated and stored at a time.
const RESULTS: usize = 20_000;

/// The fewest and the most services that are evaluated at a time.
const FEWEST: usize = 20;
const MOST: usize = 500;

/// How often a portion is tried while others store results.
const ATTEMPTS: u32 = 20;

/// Which checks are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// One.
    Check(i64),
    /// Those that ask about a part of services. A filter may ask about any part.
    About(Part),
}

impl Asked {
    fn is(self, one: &Placed) -> bool {
        match self {
            Self::Check(id) => one.check.id == id,
            Self::About(part) => {
                let has_filter = one.check.filter_id.or(one.home.filter_id()).is_some();
                has_filter || one.check.kind.asks_about(part)
            }
        }
    }

    /// The only check.
    fn check(self) -> Option<i64> {
        match self {
            Self::Check(id) => Some(id),
            Self::About(_) => None,
        }
    }
}

/// What is evaluated, and why.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// Which checks.
    pub(super) asked: Asked,
    /// Who changed what.
    pub(super) cause: String,
    /// Whether nobody is told.
    pub(super) is_quiet: bool,
}

/// Evaluates and stores.
#[derive(Clone)]
pub(super) struct Round {
    db: Db,
    wanted: Wanted,
}

/// A result that is not as stored.
#[derive(Debug, Clone)]
struct Changed {
    service: i64,
    check: i64,
    before: Option<Status>,
    after: Option<Status>,
    /// What the check found. `None` if nobody reads it.
    message: Option<String>,
}

/// A level that is not as stored.
#[derive(Debug, Clone)]
struct Moved {
    service: i64,
    before: Option<level::Model>,
    after: Option<level::Model>,
}

/// What is not as stored.
#[derive(Default)]
struct Found {
    /// The number of times that results were stored before.
    round: Option<String>,
    results: Vec<Changed>,
    levels: Vec<Moved>,
    /// The services of which somebody is told.
    services: HashMap<i64, service::Model>,
    /// The names of the checks.
    names: HashMap<i64, String>,
}

impl Found {
    fn len(&self) -> usize {
        self.results.len() + self.levels.len()
    }
}

/// The results of some services as they are stored, by service and check.
type Stored = HashMap<(i64, i64), Status>;

impl Round {
    pub(super) fn new(db: &Db, wanted: &Wanted) -> Self {
        Self { db: db.clone(), wanted: wanted.clone() }
    }

    /// Evaluates all services, a portion at a time. Notes the checks with results that have changed. Returns the number of
    /// differences.
    pub(super) async fn everything(&self, scope: &Scope, changed: &mut BTreeSet<i64>) -> Result<usize> {
        let (mut last, mut found) = (0, 0);
        let size = self.size(scope).await?;
        while let Some(ids) = self.after(last, size).await? {
            last = ids.last().copied().unwrap_or(i64::MAX);
            found += self.portion(&ids, scope, changed).await?;
        }
        Ok(found)
    }

    /// Evaluates these services.
    pub(super) async fn services(&self, ids: &[i64], scope: &Scope, changed: &mut BTreeSet<i64>) -> Result<()> {
        let size = self.size(scope).await?;
        for ids in ids.chunks(size) {
            self.portion(ids, scope, changed).await?;
        }
        Ok(())
    }

    /// How many results and levels are not as stored, and of how many services.
    pub(super) async fn differences(&self, patience: Duration) -> Result<(usize, usize)> {
        let end = Instant::now() + patience;
        let scope = &Scope { asked: Asked::About(Part::Any), cause: String::new(), is_quiet: true };
        let (mut last, mut found, mut services) = (0, 0, 0);
        let size = self.size(scope).await?;
        while let Some(ids) = self.after(last, size).await?
            && Instant::now() < end
        {
            last = ids.last().copied().unwrap_or(i64::MAX);
            services += ids.len();
            found += find(&self.db.begin_read(None).await?, &ids, scope, false).await?.len();
        }
        Ok((found, services))
    }

    /// How many services are evaluated at a time.
    async fn size(&self, scope: &Scope) -> Result<usize> {
        let checks = match scope.asked {
            Asked::Check(_) => 1,
            Asked::About(_) => evaluate::all(self.db.read()).await?.len(),
        };
        Ok((RESULTS / checks.max(1)).clamp(FEWEST, MOST))
    }

    /// The next services after an id.
    async fn after(&self, last: i64, size: usize) -> Result<Option<Vec<i64>>> {
        let ids = service::Entity::find().select_only().column(service::Column::Id);
        let ids = ids.filter(service::Column::Id.gt(last)).order_by_asc(service::Column::Id).limit(size as u64);
        let ids: Vec<i64> = self.db.read().rows(ids.as_query(), |row| row.get(0)).await?;
        Ok((!ids.is_empty()).then_some(ids))
    }

    /// Evaluates a portion of the services, again if others store results meanwhile.
    async fn portion(&self, ids: &[i64], scope: &Scope, changed: &mut BTreeSet<i64>) -> Result<usize> {
        let is_told = !scope.is_quiet && OfChecks::are_wanted(&self.wanted);
        for _ in 0..ATTEMPTS {
            let seen = self.db.begin_read(None).await?;
            let found = find(&seen, ids, scope, is_told).await?;
            drop(seen);
            if found.len() == 0 {
                return Ok(0);
            }
            let stored = self.db.write(async |tx| store(tx, &found, scope, is_told).await).await;
            match stored {
                Ok(true) => {
                    changed.extend(found.results.iter().map(|one| one.check));
                    return Ok(found.len());
                }
                Ok(false) => {}
                // A service or a check was deleted meanwhile.
                Err(error) if error.is_lost_race() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(db::Error::LostRace.into())
    }
}

/// Finds what is not as stored.
async fn find(seen: &dyn ReadHandle, ids: &[i64], scope: &Scope, is_told: bool) -> Result<Found> {
    let now = Timestamp::now();
    let round = remembered::check_round(seen).await?;
    let placed = home::place(seen, evaluate::all(seen).await?).await?;
    // The results of an ended campaign stay as they were at its end.
    let (over, others): (Vec<Placed>, Vec<Placed>) = placed.into_iter().partition(|one| one.home.is_over());
    let over: HashSet<i64> = over.iter().map(|one| one.check.id).collect();
    let live: Vec<Placed> = others.into_iter().filter(|one| one.check.counts(now)).collect();
    let asked: Vec<Placed> = live.iter().filter(|one| scope.asked.is(one)).cloned().collect();
    let asked_ids: HashSet<i64> = asked.iter().map(|one| one.check.id).collect();
    let is_whole = scope.asked == Asked::About(Part::Any);
    // What is stored of a check that does not count any more goes, when all checks or this one are evaluated.
    let is_meant = |check: i64| {
        let is_one = scope.asked == Asked::Check(check);
        !over.contains(&check) && (is_whole || is_one || asked_ids.contains(&check))
    };
    let prepared = evaluate::prepare(asked, Facts { db: seen, only: Some(ids), now }).await?;
    let statuses = match prepared.is_empty() {
        true => HashMap::new(),
        false => evaluate::statuses(seen, &prepared, ids).await?,
    };
    let mut evaluated = Stored::new();
    for (service, own) in &statuses {
        for (one, status) in prepared.iter().zip(own) {
            if let Some(status) = status {
                evaluated.insert((*service, one.check.id), *status);
            }
        }
    }
    let some = (!is_whole).then(|| asked_ids.iter().copied().chain(scope.asked.check()).collect::<Vec<_>>());
    let stored = stored(seen, ids, some.as_deref()).await?;
    let results = changes(&stored, &evaluated, is_meant);
    // The level of a service changes only with its results, unless standards have changed.
    let moved: Vec<i64> = match is_whole || scope.is_quiet {
        true => ids.to_vec(),
        false => results.iter().map(|one| one.service).collect::<BTreeSet<_>>().into_iter().collect(),
    };
    let levels = match moved.is_empty() {
        true => Vec::new(),
        false => {
            let mut current = self::stored(seen, &moved, None).await?;
            current.retain(|(_, check), _| !is_meant(*check));
            current.extend(evaluated);
            moves(seen, &moved, &live, &current).await?
        }
    };
    let mut found = Found { round, results, levels, ..Found::default() };
    say(seen, &prepared, scope, &mut found).await?;
    if is_told && found.len() > 0 {
        let ids: BTreeSet<i64> =
            found.results.iter().map(|one| one.service).chain(found.levels.iter().map(|one| one.service)).collect();
        let services = service::Entity::by_ids(seen, ids.into_iter().map(Some)).await?;
        found.services = services.into_iter().flatten().map(|service| (service.id, service)).collect();
        found.names = live.iter().map(|one| (one.check.id, one.check.name.clone())).collect();
    }
    Ok(found)
}

/// The stored results of services, of some checks or of all.
async fn stored(seen: &dyn ReadHandle, ids: &[i64], checks: Option<&[i64]>) -> Result<Stored> {
    let own = check_result::Entity::find().filter(db::any(seen, check_result::Column::ServiceId, ids));
    let own = match checks {
        Some(checks) => own.filter(db::any(seen, check_result::Column::CheckId, checks)),
        None => own,
    };
    let rows = seen.all(own).await?;
    Ok(rows.into_iter().map(|row| ((row.service_id, row.check_id), row.status)).collect())
}

/// The results that differ, of the checks that are meant.
fn changes(stored: &Stored, current: &Stored, is_meant: impl Fn(i64) -> bool) -> Vec<Changed> {
    let keys: BTreeSet<&(i64, i64)> = stored.keys().chain(current.keys()).collect();
    let differing = keys.into_iter().filter(|(_, check)| is_meant(*check)).map(|key| {
        let (service, check) = *key;
        let (before, after) = (stored.get(key).copied(), current.get(key).copied());
        Changed { service, check, before, after, message: None }
    });
    differing.filter(|one| one.before != one.after).collect()
}

/// The levels that differ.
async fn moves(seen: &dyn ReadHandle, ids: &[i64], live: &[Placed], current: &Stored) -> Result<Vec<Moved>> {
    let levels = standing::in_order(seen).await?;
    let own = service_level::Entity::find().filter(db::any(seen, service_level::Column::ServiceId, ids));
    let stored: HashMap<i64, i64> =
        seen.all(own).await?.into_iter().map(|row| (row.service_id, row.level_id)).collect();
    let index: HashMap<i64, i32> = levels.iter().map(|level| (level.id, level.index)).collect();
    let overall: Vec<(i64, i32)> = live
        .iter()
        .filter(|one| one.home.is_overall())
        .filter_map(|one| Some((one.check.id, *index.get(&one.check.level_id)?)))
        .collect();
    let level = |id: i64| levels.iter().find(|level| level.id == id).cloned();
    let moved = ids.iter().filter_map(|service| {
        let missed = overall
            .iter()
            .filter(|(check, _)| current.get(&(*service, *check)).is_some_and(|status| *status != Status::Passed));
        let place = match overall.is_empty() {
            true => None,
            false => standing::position(&levels, missed.map(|(_, index)| *index)),
        };
        let (before, after) = (stored.get(service).copied(), place.map(|place| levels[place].id));
        (before != after).then(|| Moved {
            service: *service,
            before: before.and_then(level),
            after: after.and_then(level),
        })
    });
    Ok(moved.collect())
}

/// Adds what the checks found, where somebody will read it.
async fn say(seen: &dyn ReadHandle, prepared: &[Prepared], scope: &Scope, found: &mut Found) -> Result<()> {
    let read = |one: &Changed| one.after.is_some() && is_kept(scope, one.before.is_none());
    let services: BTreeSet<i64> = found.results.iter().filter(|one| read(one)).map(|one| one.service).collect();
    if services.is_empty() {
        return Ok(());
    }
    let checks: HashSet<i64> = found.results.iter().filter(|one| read(one)).map(|one| one.check).collect();
    let asked: Vec<&Prepared> = prepared.iter().filter(|one| checks.contains(&one.check.id)).collect();
    let services: Vec<i64> = services.into_iter().collect();
    let mut messages: HashMap<(i64, i64), String> = HashMap::new();
    for (service, outcomes) in evaluate::results(seen, &asked, &services).await? {
        messages.extend(outcomes.into_iter().map(|own| ((service, asked[own.check].check.id), own.message)));
    }
    for one in &mut found.results {
        one.message = messages.remove(&(one.service, one.check));
    }
    Ok(())
}

/// Whether a change is kept. What follows from a new check, or from one that has ended, is not.
fn is_kept(scope: &Scope, is_new: bool) -> bool {
    !(scope.is_quiet && is_new)
}

/// Stores what was found. Returns false if others have stored results since it was read.
async fn store(tx: &Transaction, found: &Found, scope: &Scope, is_told: bool) -> Result<bool, db::Error> {
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
        let (Some(_), Some(after)) = (one.before, one.after) else { continue };
        if let (Some(service), Some(check)) = (found.services.get(&one.service), found.names.get(&one.check)) {
            events.add_result(service, check, after, (one.message.as_deref().unwrap_or_default(), &scope.cause));
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
