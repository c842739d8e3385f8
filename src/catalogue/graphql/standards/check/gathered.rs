//! What a request evaluates: whoever asks, each check is counted once, and each list of services evaluated once.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{Mutex, OnceCell};

use super::evaluate::{self, Counts};
use super::home::{self, CheckSet, Placed};
use super::question::Facts;
use super::report::Standing;
use super::standing;
use crate::graphql::prelude::*;

/// How services stand, by their ids in the order of the request. `None` if no check counts.
type Standings = Option<Vec<Arc<Standing>>>;

/// What a request has evaluated.
#[derive(Default)]
pub(super) struct Gathered {
    placed: OnceCell<Arc<Vec<Placed>>>,
    /// By the id of the check.
    counts: Mutex<HashMap<i64, Counts>>,
    /// The number of services that a filter matches, by its id.
    sizes: Mutex<HashMap<Option<i64>, i64>>,
    /// The number of services that miss a check of a set. `None` if it has no check that counts.
    missing: Mutex<HashMap<CheckSet, Option<i64>>>,
    pub(super) standings: Mutex<Vec<(Vec<i64>, Standings)>>,
}

/// How the checks of a scorecard or a campaign stand, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of results of its checks that count.
    pub total: i64,
    /// Those of them that are passed.
    pub passed: i64,
}

/// All checks, in order of creation.
pub(super) async fn all(ctx: &Ctx<'_>) -> Result<Arc<Vec<Placed>>> {
    let kept = ctx.kept::<Gathered>();
    let read = async || home::place(ctx.db(), evaluate::checks(ctx.db()).await?).await.map(Arc::new);
    Ok(Arc::clone(kept.placed.get_or_try_init(read).await?))
}

/// How all services stand with each of the checks.
pub(super) async fn counts(ctx: &Ctx<'_>, checks: &[Placed]) -> Result<Vec<Counts>> {
    let kept = ctx.kept::<Gathered>();
    let mut known = kept.counts.lock().await;
    let new: Vec<Placed> = checks.iter().filter(|one| !known.contains_key(&one.check.id)).cloned().collect();
    if !new.is_empty() {
        let ids: Vec<i64> = new.iter().map(|one| one.check.id).collect();
        let prepared = evaluate::prepare(new, everywhere(ctx.db())).await?;
        known.extend(ids.into_iter().zip(evaluate::counts(ctx.db(), &prepared).await?));
    }
    Ok(checks.iter().map(|one| known.get(&one.check.id).copied().unwrap_or_default()).collect())
}

/// For all services, now.
pub(super) fn everywhere(db: &dyn ReadHandle) -> Facts<'_> {
    Facts { db, only: None, now: Timestamp::now() }
}

/// The checks of a set that count now.
async fn counting(ctx: &Ctx<'_>, set: CheckSet) -> Result<Vec<Placed>> {
    let now = Timestamp::now();
    let is_own = |one: &&Placed| one.home.set() == Some(set) && one.check.counts(now);
    Ok(all(ctx).await?.iter().filter(is_own).cloned().collect())
}

/// How the checks of each set stand, in numbers.
pub(in crate::graphql) async fn tallies(ctx: &Ctx<'_>, sets: &[CheckSet]) -> Result<Vec<Tally>> {
    let now = Timestamp::now();
    let is_asked = |one: &&Placed| one.check.counts(now) && one.home.set().is_some_and(|set| sets.contains(&set));
    let checks: Vec<Placed> = all(ctx).await?.iter().filter(is_asked).cloned().collect();
    let mut tallies: HashMap<CheckSet, Tally> = HashMap::new();
    for (one, counts) in checks.iter().zip(counts(ctx, &checks).await?) {
        if let Some(set) = one.home.set() {
            let tally = tallies.entry(set).or_default();
            tally.total += counts.services;
            tally.passed += counts.passed;
        }
    }
    Ok(sets.iter().map(|set| tallies.get(set).copied().unwrap_or_default()).collect())
}

/// The number of services that each filter matches. None for a filter that is wrong.
pub(in crate::graphql) async fn sizes(ctx: &Ctx<'_>, filters: &[Option<i64>]) -> Result<Vec<i64>> {
    let kept = ctx.kept::<Gathered>();
    let mut known = kept.sizes.lock().await;
    for id in filters {
        if !known.contains_key(id) {
            let size = evaluate::size(ctx.db(), *id).await?;
            known.insert(*id, size);
        }
    }
    Ok(filters.iter().map(|id| known.get(id).copied().unwrap_or_default()).collect())
}

/// How many of the services of each set, of which there are so many, pass all its checks that count. None if there is no
/// such check.
pub(in crate::graphql) async fn complete(ctx: &Ctx<'_>, sets: &[(CheckSet, i64)]) -> Result<Vec<i64>> {
    let kept = ctx.kept::<Gathered>();
    let mut known = kept.missing.lock().await;
    let (mut new, mut checks) = (Vec::new(), Vec::new());
    for (set, _) in sets {
        if !known.contains_key(set) && !new.contains(set) {
            new.push(*set);
            checks.push(counting(ctx, *set).await?);
        }
    }
    let missing = evaluate::missing(everywhere(ctx.db()), checks).await?;
    known.extend(new.into_iter().zip(missing));
    let complete = |(set, size): &(CheckSet, i64)| match known.get(set).copied().flatten() {
        // By a filter that is wrong, it is for no service, and none passes.
        Some(missing) => (size - missing).max(0),
        None => 0,
    };
    Ok(sets.iter().map(complete).collect())
}

/// How many of the services that the filter matches have which level, by the checks of the set.
pub(in crate::graphql) async fn levels(ctx: &Ctx<'_>, set: CheckSet, filter: Option<i64>) -> Result<Vec<LevelCount>> {
    let size = sizes(ctx, &[filter]).await?.pop().unwrap_or_default();
    let levels = standing::in_order(ctx.db()).await?;
    level_counts(ctx, counting(ctx, set).await?, size, &levels).await
}

/// How many of `size` services have which level, by these checks, none of which concerns another service.
async fn level_counts(ctx: &Ctx<'_>, checks: Vec<Placed>, size: i64, levels: &[Level]) -> Result<Vec<LevelCount>> {
    let prepared = evaluate::prepare(checks, everywhere(ctx.db())).await?;
    let mut services = vec![0_i64; levels.len()];
    if !prepared.is_empty() {
        let missed = evaluate::lowest_missed(ctx.db(), &prepared, levels).await?;
        for index in missed.values() {
            if let Some(place) = standing::position(levels, [*index].into_iter()) {
                services[place] += 1;
            }
        }
        if let Some(highest) = services.last_mut() {
            *highest += size - i64::try_from(missed.len()).unwrap_or(i64::MAX);
        }
    }
    let count = |(level, services): (&Level, i64)| LevelCount { level: level.clone(), service_count: shown(services) };
    Ok(levels.iter().zip(services).map(count).collect())
}

/// How many services have which level, over all and in each category.
pub(in crate::graphql) async fn services_report(ctx: &Ctx<'_>) -> Result<ServicesReport> {
    let now = Timestamp::now();
    let is_counted = |one: &&Placed| one.home.is_overall() && one.check.counts(now);
    let checks: Vec<Placed> = all(ctx).await?.iter().filter(is_counted).cloned().collect();
    let size = sizes(ctx, &[None]).await?.pop().unwrap_or_default();
    let levels = standing::in_order(ctx.db()).await?;
    let mut category_level_counts = Vec::new();
    for category in standing::categories(ctx.db(), &checks).await? {
        let own = checks.iter().filter(|one| one.check.category_id == category.id).cloned().collect();
        for LevelCount { level, service_count } in level_counts(ctx, own, size, &levels).await? {
            category_level_counts.push(CategoryLevelCount { category: (*category).clone(), level, service_count });
        }
    }
    let level_counts = level_counts(ctx, checks, size, &levels).await?;
    Ok(ServicesReport { total_services: shown(size), level_counts, category_level_counts })
}

/// A count as clients read it.
pub(in crate::graphql) fn shown(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
