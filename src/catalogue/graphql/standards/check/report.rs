//! How services stand with checks, as clients read it.

use std::collections::HashMap;
use std::sync::Arc;

use super::evaluate::{self, Counts, Outcome};
use super::gathered::{self, Gathered, shown};
use super::history;
use super::home::{self, CheckSet, Home, Placed};
use super::question::Facts;
use super::standing;
use crate::engine::page::{Cursor, Edge, Page};
use crate::entity::check::Model;
use crate::entity::{category, check, pages};
use crate::graphql::list::relation::to_one;
use crate::graphql::prelude::*;

/// How a service stands.
#[derive(Debug)]
pub(super) struct Standing {
    /// The levels, lowest first.
    levels: Arc<Vec<Level>>,
    /// Its level, by its position.
    level: Option<usize>,
    /// Its level in each category that has checks that count, in order of creation.
    categories: Vec<(Arc<category::Model>, Option<usize>)>,
    /// The results of the checks that concern it.
    results: Vec<CheckResult>,
}

/// The results of a service's checks.
#[derive(Debug, Clone)]
pub struct ServiceCheckResults(Arc<Standing>);

/// The results of a level's checks.
#[derive(Debug, Clone)]
pub struct CheckResultsByLevel {
    level: Level,
    results: Vec<CheckResult>,
}

/// What a check says of a service.
#[derive(Debug, Clone)]
pub struct CheckResult {
    check: Arc<Model>,
    service: i64,
    service_alias: Arc<str>,
    status: CheckStatus,
    message: Arc<str>,
    at: Timestamp,
}

/// How the services stand with a check.
#[derive(Debug, Clone)]
pub struct CheckReport {
    placed: Placed,
}

/// Evaluates the checks that count towards overall levels, or will count. `None` if none counts. Whoever asks for the
/// same services in the same request gets the same answer.
async fn standings(services: &[&Service], ctx: &Ctx<'_>) -> Result<Option<Vec<Arc<Standing>>>> {
    let ids: Vec<i64> = services.iter().map(|service| service.id).collect();
    let kept = ctx.kept::<Gathered>();
    let mut known = kept.standings.lock().await;
    if let Some((_, standings)) = known.iter().find(|(own, _)| *own == ids) {
        return Ok(standings.clone());
    }
    let standings = evaluated(services, &ids, ctx).await?;
    known.push((ids, standings.clone()));
    Ok(standings)
}

/// The same, with services that are not measured if none counts.
async fn measured_or_not(services: &[&Service], ctx: &Ctx<'_>) -> Result<Vec<Arc<Standing>>> {
    Ok(match standings(services, ctx).await? {
        Some(standings) => standings,
        None => services.iter().map(|_| Arc::new(Standing::unmeasured())).collect(),
    })
}

async fn evaluated(services: &[&Service], ids: &[i64], ctx: &Ctx<'_>) -> Result<Option<Vec<Arc<Standing>>>> {
    let (db, now) = (ctx.db(), Timestamp::now());
    let is_asked = |one: &&Placed| one.home.is_overall() && (one.check.counts(now) || one.check.is_upcoming(now));
    let checks: Vec<Placed> = gathered::all(ctx).await?.iter().filter(is_asked).cloned().collect();
    let counting: Vec<Placed> = checks.iter().filter(|one| one.check.counts(now)).cloned().collect();
    if counting.is_empty() {
        return Ok(None);
    }
    let levels = Arc::new(standing::in_order(db).await?);
    let categories = standing::categories(db, &counting).await?;
    let results = results(services, ids, checks, now, db).await?;
    let standing = |results| Arc::new(stand(results, &levels, &categories));
    Ok(Some(results.into_iter().map(standing).collect()))
}

/// What the checks say of each of the services.
async fn results(
    services: &[&Service],
    ids: &[i64],
    checks: Vec<Placed>,
    now: Timestamp,
    db: &dyn ReadHandle,
) -> Result<Vec<Vec<CheckResult>>> {
    let prepared = evaluate::prepare(checks, Facts { db, only: Some(ids), now }).await?;
    let mut outcomes = evaluate::results(db, &prepared, ids).await?;
    let of = |service: &&Service| {
        let alias: Arc<str> = Arc::from(&*service.slug);
        let results = outcomes.remove(&service.id).unwrap_or_default().into_iter().map(|outcome| {
            let Outcome { check, status, message } = outcome;
            let (check, message) = (Arc::clone(&prepared[check].check), Arc::from(message));
            CheckResult { check, service: service.id, service_alias: Arc::clone(&alias), status, message, at: now }
        });
        results.collect()
    };
    Ok(services.iter().map(of).collect())
}

/// What the checks of scorecards and campaigns say that do not count towards levels.
pub(in crate::graphql) async fn others(services: &[&Service], ctx: &Ctx<'_>) -> Result<Vec<Vec<CheckResult>>> {
    let now = Timestamp::now();
    let is_asked = |one: &&Placed| {
        let counts = one.check.counts(now) || one.check.is_upcoming(now);
        !one.home.is_overall() && one.home.has_begun(now) && counts
    };
    let checks: Vec<Placed> = gathered::all(ctx).await?.iter().filter(is_asked).cloned().collect();
    if checks.is_empty() {
        return Ok(services.iter().map(|_| Vec::new()).collect());
    }
    let ids: Vec<i64> = services.iter().map(|service| service.id).collect();
    results(services, &ids, checks, now, ctx.db()).await
}

/// Says how a service with these results stands.
fn stand(results: Vec<CheckResult>, levels: &Arc<Vec<Level>>, categories: &[Arc<category::Model>]) -> Standing {
    let index: HashMap<i64, i32> = levels.iter().map(|level| (level.id, level.index)).collect();
    let missed = results.iter().filter(|result| matches!(result.status, CheckStatus::Failed | CheckStatus::Pending));
    let missed: Vec<(i64, i32)> =
        missed.filter_map(|result| Some((result.check.category_id, *index.get(&result.check.level_id)?))).collect();
    let level = standing::position(levels, missed.iter().map(|(_, index)| *index));
    let of = |category: &Arc<category::Model>| {
        let own = missed.iter().filter(|(own, _)| *own == category.id).map(|(_, index)| *index);
        (Arc::clone(category), standing::position(levels, own))
    };
    Standing { levels: Arc::clone(levels), level, categories: categories.iter().map(of).collect(), results }
}

impl Standing {
    /// Of a service while no check counts.
    fn unmeasured() -> Self {
        Self { levels: Arc::default(), level: None, categories: Vec::new(), results: Vec::new() }
    }

    fn level_at(&self, place: Option<usize>) -> Option<Level> {
        self.levels.get(place?).cloned()
    }
}

/// The maturity of services.
pub(in crate::graphql) async fn maturity(services: &[&Service], ctx: &Ctx<'_>) -> Result<Vec<Option<MaturityReport>>> {
    let Some(standings) = standings(services, ctx).await? else { return Ok(services.iter().map(|_| None).collect()) };
    let report = |standing: Arc<Standing>| {
        let in_category = |(category, place): &(Arc<category::Model>, Option<usize>)| CategoryBreakdown {
            category: Some((**category).clone()),
            level: standing.level_at(*place),
        };
        Some(MaturityReport {
            overall_level: standing.level_at(standing.level),
            category_breakdown: Some(standing.categories.iter().map(in_category).collect()),
            latest_check_results: Some(standing.results.clone()),
        })
    };
    Ok(standings.into_iter().map(report).collect())
}

/// How services stand in the rubric.
pub(in crate::graphql) async fn stats(services: &[&Service], ctx: &Ctx<'_>) -> Result<Vec<Option<ServiceStats>>> {
    let standings = measured_or_not(services, ctx).await?;
    let stats = |standing: Arc<Standing>| {
        let level = standing.level_at(standing.level);
        let check_results = Some(ServiceCheckResults(standing));
        Some(ServiceStats { rubric: RubricReport { level, category_level: None, check_results } })
    };
    Ok(standings.into_iter().map(stats).collect())
}

/// The checks of services, in numbers.
pub(in crate::graphql) async fn counts(services: &[&Service], ctx: &Ctx<'_>) -> Result<Vec<Option<CheckStats>>> {
    let standings = measured_or_not(services, ctx).await?;
    let stats = |standing: Arc<Standing>| {
        let counting = standing.results.iter().filter(|result| result.status != CheckStatus::Upcoming);
        let (total, passing) = counting.fold((0, 0), |(total, passing), result| {
            (total + 1, passing + i32::from(result.status == CheckStatus::Passed))
        });
        Some(CheckStats { total_checks: total, total_passing_checks: passing })
    };
    Ok(standings.into_iter().map(stats).collect())
}

/// Cuts a page out of a list that is in memory. Each item has its cursor.
fn cut<T>(items: Vec<(Cursor, T)>, args: &PageArguments, is_own: impl Fn(&Cursor) -> bool) -> Result<Page<T>> {
    let request: PageRequest = args.request()?;
    request.check(is_own)?;
    let total = i32::try_from(items.len()).unwrap_or(i32::MAX);
    let key = |cursor: &Cursor| (cursor.order, cursor.id);
    let after = request.after.as_ref().map(key);
    let rest = items.into_iter().filter(|(cursor, _)| after.is_none_or(|after| key(cursor) > after));
    let edges = rest.map(|(cursor, node)| Edge { node, cursor }).collect();
    Ok(Page { total_count: Some(total), ..Page::new(edges, &request) })
}

impl ServiceCheckResultsResolver for ServiceCheckResults {
    async fn by_level(
        results: &[&Self],
        args: &PageArguments,
        _: &Ctx<'_>,
    ) -> Result<Vec<CheckResultsByLevelConnectionType>> {
        let page = |Self(standing): &&Self| {
            let of_level = |level: &Level| {
                let own = standing.results.iter().filter(|result| result.check.level_id == level.id).cloned();
                let by_level = CheckResultsByLevel { level: level.clone(), results: own.collect() };
                (Cursor::ordered(level.index.into(), level.id), by_level)
            };
            let levels = standing.levels.iter().map(of_level).filter(|(_, level)| !level.results.is_empty());
            cut(levels.collect(), args, |cursor| cursor.order.is_some())
        };
        results.iter().map(page).collect()
    }

    async fn next_level(results: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<ServiceNextLevel>>> {
        let next = |Self(standing): &&Self| {
            let level = standing.level_at(Some(standing.level? + 1))?;
            Some(ServiceNextLevel { level: Some(level) })
        };
        Ok(results.iter().map(next).collect())
    }
}

impl CheckResultsByLevelResolver for CheckResultsByLevel {
    async fn level(levels: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Level>>> {
        Ok(levels.iter().map(|own| Some(own.level.clone())).collect())
    }

    async fn items(levels: &[&Self], args: &PageArguments, _: &Ctx<'_>) -> Result<Vec<CheckResultsConnectionType>> {
        let page = |own: &&Self| {
            let items = own.results.iter().map(|result| (Cursor::id(result.check.id), result.clone()));
            cut(items.collect(), args, Cursor::is_id)
        };
        levels.iter().map(page).collect()
    }
}

impl CheckResultResolver for CheckResult {
    fn last_updated(&self) -> Timestamp {
        self.at
    }

    fn created_at(&self) -> Timestamp {
        self.at
    }

    fn message(&self) -> &str {
        &self.message
    }

    async fn since(results: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Timestamp>>> {
        let stored = history::status_since(ctx.db(), results.iter().map(|result| result.service)).await?;
        let since = |result: &&Self| {
            let own = stored.get(&(result.service, result.check.id))?;
            let is_same = own.status.word() == result.status.as_str();
            is_same.then_some(own.since)
        };
        Ok(results.iter().map(since).collect())
    }

    fn service_alias(&self) -> Option<&str> {
        Some(&self.service_alias)
    }

    fn status(&self) -> CheckStatus {
        self.status
    }

    relations! { |results: Self, args, ctx|
        check() -> Check = copies(results.iter().map(|result| &result.check), ctx);
        home() -> Option<CheckHome> = homes(results, ctx).await;
        service() -> Option<Service> = to_one(ctx, results.iter().map(|result| Some(result.service)).collect()).await;
    }
}

/// What the check of each result belongs to beside the rubric.
async fn homes(results: &[&CheckResult], ctx: &Ctx<'_>) -> Result<Vec<Option<CheckHome>>> {
    let placed = gathered::all(ctx).await?;
    let homes: HashMap<i64, &Home> = placed.iter().map(|one| (one.check.id, &one.home)).collect();
    let app_url = &ctx.settings().app_url;
    let home = |result: &&CheckResult| match homes.get(&result.check.id)? {
        Home::Rubric => None,
        Home::Scorecard(scorecard) => Some(CheckHome {
            kind: CheckHomeKind::Scorecard,
            name: scorecard.name.clone(),
            html_url: pages::url(app_url, ["standards", "scorecards", &scorecard.slug]),
        }),
        Home::Campaign(campaign) => Some(CheckHome {
            kind: CheckHomeKind::Campaign,
            name: campaign.name.clone(),
            html_url: pages::url(app_url, ["standards", "campaigns", &id::Id::of_row::<Campaign>(campaign.id).text()]),
        }),
    };
    Ok(results.iter().map(home).collect())
}

/// Copies checks, and charges the copies.
fn copies<'c>(checks: impl Iterator<Item = &'c Arc<Model>>, ctx: &Ctx<'_>) -> Result<Vec<Check>> {
    checks.map(|check| Ok(Check::from(clone_charged(&**check, ctx)?))).collect()
}

/// How all services stand with each check of the rubric.
pub(in crate::graphql) async fn reports(ctx: &Ctx<'_>) -> Result<Vec<CheckReport>> {
    let checks = gathered::all(ctx).await?;
    Ok(reported(checks.iter().filter(|one| one.home.set().is_none()).cloned().collect()))
}

/// How all services stand with each check of each set.
pub(in crate::graphql) async fn reports_of(ctx: &Ctx<'_>, sets: &[CheckSet]) -> Result<Vec<Vec<CheckReport>>> {
    let checks = gathered::all(ctx).await?;
    let mut reports = Vec::with_capacity(sets.len());
    for set in sets {
        reports.push(reported(checks.iter().filter(|one| one.home.set() == Some(*set)).cloned().collect()));
    }
    Ok(reports)
}

/// How all services stand with the check of this id.
pub(in crate::graphql) async fn report(ctx: &Ctx<'_>, id: &str) -> Result<Option<CheckReport>> {
    let Some(check) = id::find::<check::Entity>(ctx.db(), id).await? else { return Ok(None) };
    Ok(reported(home::place(ctx.db(), vec![check]).await?).pop())
}

fn reported(checks: Vec<Placed>) -> Vec<CheckReport> {
    checks.into_iter().map(|placed| CheckReport { placed }).collect()
}

/// A figure of each report. The checks are counted once for all figures of a request.
async fn figures(reports: &[&CheckReport], ctx: &Ctx<'_>, figure: fn(Counts) -> i64) -> Result<Vec<i32>> {
    let checks: Vec<Placed> = reports.iter().map(|report| report.placed.clone()).collect();
    Ok(gathered::counts(ctx, &checks).await?.into_iter().map(|counts| shown(figure(counts))).collect())
}

impl CheckReportResolver for CheckReport {
    async fn history(reports: &[&Self], args: &CheckReportHistoryArgs, ctx: &Ctx<'_>) -> Result<Vec<Vec<CheckDay>>> {
        let checks: Vec<i64> = reports.iter().map(|report| report.placed.check.id).collect();
        history::days_of(ctx, &checks, &args.days).await
    }

    async fn failing(reports: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<CheckResult>>> {
        let (db, at) = (ctx.db(), Timestamp::now());
        let checks = reports.iter().map(|report| report.placed.clone()).collect();
        let prepared = evaluate::prepare(checks, gathered::everywhere(db)).await?;
        let mut failing = Vec::with_capacity(reports.len());
        for one in &prepared {
            let result = |(service, alias, outcome): (i64, String, Outcome)| CheckResult {
                check: Arc::clone(&one.check),
                service,
                service_alias: alias.into(),
                status: outcome.status,
                message: outcome.message.into(),
                at,
            };
            failing.push(evaluate::failing(db, one).await?.into_iter().map(result).collect());
        }
        Ok(failing)
    }

    relations! { |reports: Self, args, ctx|
        check() -> Check = copies(reports.iter().map(|report| &report.placed.check), ctx);
        services() -> i32 = figures(reports, ctx, |counts| counts.services).await;
        passed() -> i32 = figures(reports, ctx, |counts| counts.passed).await;
        failed() -> i32 = figures(reports, ctx, |counts| counts.services - counts.passed - counts.pending).await;
        pending() -> i32 = figures(reports, ctx, |counts| counts.pending).await;
    }
}
