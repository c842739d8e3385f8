//! Evaluates checks for services, and stores what differs from what was stored last.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use super::super::evaluate::{self, Prepared};
use super::super::home::{self, Placed};
use super::super::question::Facts;
use super::super::standing;
use super::found::{Asked, Changed, Found, Moved, Scope, is_kept};
use super::store::store;
use crate::db::Db;
use crate::entity::check_due::{self, Marks, Part};
use crate::entity::check_result::{self, Status};
use crate::entity::{filter_predicate, remembered, service, service_level};
use crate::events::{OfChecks, Wanted};
use crate::graphql::filter::predicate_key::Key;
use crate::graphql::prelude::*;

/// About how many results are evaluated and stored at a time.
const RESULTS: usize = 20_000;

/// The fewest and the most services that are evaluated at a time.
const FEWEST: usize = 20;
const MOST: usize = 500;

/// How often a portion is tried while others store results.
const ATTEMPTS: u32 = 20;

impl Asked {
    /// Whether a check is among them. `filters` are those that ask about the part.
    fn is(self, one: &Placed, filters: &HashSet<i64>) -> bool {
        match self {
            Self::Check(id) => one.check.id == id,
            Self::About(part) => {
                one.check.kind.asks_about(part) || filters_of(one).any(|filter| filters.contains(&filter))
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

/// Evaluates and stores.
#[derive(Clone)]
pub(super) struct Round {
    db: Db,
    wanted: Wanted,
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
        while let Some(ids) = self.next_ids(last, size).await? {
            last = ids.last().copied().unwrap_or(i64::MAX);
            found += self.portion(&ids, scope, changed).await?;
        }
        Ok(found)
    }

    /// Evaluates these services.
    pub(super) async fn services(&self, ids: &[i64], scope: &Scope, changed: &mut BTreeSet<i64>) -> Result<()> {
        let size = self.size(scope).await?;
        for ids in ids.chunks(size) {
            match self.portion(ids, scope, changed).await {
                Ok(_) => {}
                Err(error) if has_lost(&error) => self.evaluate_singly(ids, scope, changed).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Evaluates the services of a portion that always loses, one at a time. One that still does is left to the evaluation of
    /// everything.
    async fn evaluate_singly(&self, ids: &[i64], scope: &Scope, changed: &mut BTreeSet<i64>) -> Result<()> {
        for id in ids {
            match self.portion(&[*id], scope, changed).await {
                Ok(_) => {}
                Err(error) if has_lost(&error) => {
                    tracing::warn!(
                        service = id,
                        "results of checks cannot be stored for a service; trying again later"
                    );
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// How many results and levels are not as stored, and of how many services.
    pub(super) async fn differences(&self, patience: Duration) -> Result<(usize, usize)> {
        let end = Instant::now() + patience;
        let scope =
            &Scope { asked: Asked::About(Part::Any), leaves_marked: false, cause: String::new(), is_quiet: true };
        let (mut last, mut found, mut services) = (0, 0, 0);
        let size = self.size(scope).await?;
        while let Some(ids) = self.next_ids(last, size).await?
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
            Asked::About(_) => evaluate::all_checks(self.db.read()).await?.len(),
        };
        Ok((RESULTS / checks.max(1)).clamp(FEWEST, MOST))
    }

    /// The next services after an id.
    async fn next_ids(&self, last: i64, size: usize) -> Result<Option<Vec<i64>>> {
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
            if !found.left.is_empty() {
                let marks = Marks::quiet(found.left.iter().copied());
                self.db.write(async |tx| marks.store(tx, &scope.cause).await).await?;
            }
            if found.len() == 0 {
                return Ok(0);
            }
            let stored = self.db.write(async |tx| store(tx, &found, scope, is_told).await).await;
            match stored {
                Ok(true) => {
                    changed.extend(found.results.iter().map(|one| one.check));
                    return Ok(found.len());
                }
                Ok(false) => tokio::time::sleep(Duration::from_millis(fastrand::u64(1..50))).await,
                // A service or a check was deleted meanwhile.
                Err(error) if error.is_lost_race() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(db::Error::LostRace.into())
    }
}

/// Whether others have always come between.
fn has_lost(error: &Error) -> bool {
    db::Error::cause_of(error).is_some_and(db::Error::is_lost_race)
}

/// Finds what is not as stored.
async fn find(seen: &dyn ReadHandle, ids: &[i64], scope: &Scope, is_told: bool) -> Result<Found> {
    let now = Timestamp::now();
    let round = remembered::check_round(seen).await?;
    let (ids, left) = existing(seen, ids, scope).await?;
    let ids = &*ids;
    let placed = home::place(seen, evaluate::all_checks(seen).await?).await?;
    // The results of an ended campaign stay as they were at its end.
    let (over, others): (Vec<Placed>, Vec<Placed>) = placed.into_iter().partition(|one| one.home.is_over());
    let over: HashSet<i64> = over.iter().map(|one| one.check.id).collect();
    let live: Vec<Placed> = others.into_iter().filter(|one| one.check.counts(now)).collect();
    let filters = filters_about(seen, &live, scope.asked).await?;
    let asked: Vec<Placed> = live.iter().filter(|one| scope.asked.is(one, &filters)).cloned().collect();
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
            let mut current = if is_whole { stored } else { self::stored(seen, &moved, None).await? };
            current.retain(|(_, check), _| !is_meant(*check));
            current.extend(evaluated);
            moves(seen, &moved, &live, &current).await?
        }
    };
    let mut found = Found { round, results, levels, left, ..Found::default() };
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

/// The filters that say which services a check concerns.
fn filters_of(one: &Placed) -> impl Iterator<Item = i64> {
    [one.check.filter_id, one.home.filter_id()].into_iter().flatten()
}

/// The filters of these checks that ask about a part of services.
async fn filters_about(seen: &dyn ReadHandle, checks: &[Placed], asked: Asked) -> Result<HashSet<i64>> {
    let used: BTreeSet<i64> = checks.iter().flat_map(filters_of).collect();
    let part = match asked {
        Asked::About(part) if part != Part::Any && !used.is_empty() => part,
        _ => return Ok(used.into_iter().collect()),
    };
    let used: Vec<i64> = used.into_iter().collect();
    let predicates = filter_predicate::Entity::find().filter(db::any(seen, filter_predicate::Column::FilterId, &used));
    let mut about = HashSet::new();
    for predicate in seen.all(predicates).await? {
        let key = PredicateKeyEnum::from_word(&predicate.key).map(Key::from);
        if key.is_none_or(|key| key.asks_about(part)) {
            about.insert(predicate.filter_id);
        }
    }
    Ok(about)
}

/// The services that exist, and those of them that are left to their own marks: if everything is evaluated, a change that
/// has come meanwhile would get the wrong cause, and might not be told.
async fn existing(seen: &dyn ReadHandle, ids: &[i64], scope: &Scope) -> Result<(Vec<i64>, Vec<i64>)> {
    let own = service::Entity::find().select_only().column(service::Column::Id);
    let own = own.filter(db::any(seen, service::Column::Id, ids));
    let mut there: Vec<i64> = seen.rows(own.as_query(), |row| row.get(0)).await?;
    let mut left = Vec::new();
    if scope.leaves_marked {
        left = check_due::told(seen, &there).await?;
        there.retain(|id| !left.contains(id));
    }
    Ok((there, left))
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
