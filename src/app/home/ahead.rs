//! What is next: the checks that the visitor's services miss, and the delivery of the visitor's teams.

use std::cmp::Reverse;
use std::collections::HashMap;

use maud::{Markup, html};
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, QueryTrait, RelationDef};

use super::mine::Mine;
use super::{Read as Page, view};
use crate::parts::{count, level, short};
use crate::standard_parts;
use crate::{Fault, delivery_figures as figures};
use catalogue::db::{OfKeys, Read, ReadHandle, Row, any};
use catalogue::deploy::delivery::{self, Delivery};
use catalogue::deploy::list::SERVICES;
use catalogue::entity::check_result::Status;
use catalogue::entity::deploy::Environments;
use catalogue::entity::{Timestamp, category, check, check_result, level, scorecard, service, standing_day, team};
use catalogue::graphql::field::id::Id;

/// The maximum number of results of checks that services do not pass that are read.
pub const RESULTS: usize = 5_000;
/// The number of checks shown.
pub const SHOWN: usize = 5;
/// The number of services shown that miss a check.
const NAMED: usize = 3;
/// The maximum number of teams whose figures are shown.
pub const MEASURED: usize = 2;

/// A check that services miss.
pub struct Missed {
    check: Known,
    /// The number of services.
    services: usize,
    /// The first of them, if they are the visitor's.
    named: Vec<i64>,
}

/// A check that counts towards overall levels.
struct Known {
    id: i64,
    name: String,
    level: String,
    index: i32,
}

/// The checks that are missed, those to pass first at the top.
pub struct Next {
    missed: Vec<Missed>,
    /// Whether they are those of the whole organisation.
    is_of_all: bool,
    /// Whether all results were read.
    is_whole: bool,
}

impl Next {
    /// Reads what the visitor's services miss, or those of the organisation. `None` if there are no checks or no services.
    pub async fn read(db: &dyn ReadHandle, mine: &Mine, now: Timestamp) -> Result<Option<Self>, Fault> {
        let checks = checks(db, now).await?;
        let is_of_all = mine.services.is_none();
        if checks.is_empty() || mine.services.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        let (mut is_whole, mut found) = (true, HashMap::<i64, (usize, Vec<i64>)>::new());
        match &mine.services {
            Some(services) => {
                let results = results(db, services).await?;
                is_whole = results.len() < RESULTS;
                for (check, service) in results {
                    let (count, named) = found.entry(check).or_default();
                    *count += 1;
                    if named.len() < NAMED {
                        named.push(service);
                    }
                }
            }
            None => found = of_all(db, &checks).await?,
        }
        let missed = checks.into_iter().filter_map(|check| {
            let (services, named) = found.remove(&check.id)?;
            Some(Missed { check, services, named })
        });
        let mut missed: Vec<Missed> = missed.collect();
        // A team passes the next level first. An organisation looks at what most services miss.
        let level = |one: &Missed| if is_of_all { 0 } else { one.check.index };
        missed.sort_by_key(|one| (level(one), Reverse(one.services), one.check.id));
        missed.truncate(SHOWN);
        Ok(Some(Self { missed, is_of_all, is_whole }))
    }

    /// The ids of the services that the card names.
    pub fn services(&self) -> impl Iterator<Item = i64> {
        self.missed.iter().flat_map(|one| one.named.iter().copied())
    }
}

/// The checks that count towards overall levels at `now`, as [`check::Model::counts`] says.
async fn checks(db: &dyn ReadHandle, now: Timestamp) -> Result<Vec<Known>, Fault> {
    use check::Column;
    let level: RelationDef =
        check::Entity::belongs_to(level::Entity).from(Column::LevelId).to(level::Column::Id).into();
    let category: RelationDef =
        check::Entity::belongs_to(category::Entity).from(Column::CategoryId).to(category::Column::Id).into();
    let scorecard: RelationDef = category::Entity::belongs_to(scorecard::Entity)
        .from(category::Column::ScorecardId)
        .to(scorecard::Column::Id)
        .into();
    let counts = Column::EnableAt.lte(now).or(Column::EnableAt.is_null().and(Column::Enabled.eq(true)));
    let is_in_rubric = category::Column::ScorecardId.is_null();
    let is_overall = is_in_rubric.or(scorecard::Column::AffectsOverallServiceLevels.eq(true));
    let select = check::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Name])
        .columns([level::Column::Name, level::Column::Index])
        .join(JoinType::InnerJoin, level)
        .join(JoinType::InnerJoin, category)
        .join(JoinType::LeftJoin, scorecard)
        .filter(Column::CampaignId.is_null())
        .filter(counts)
        .filter(is_overall)
        .limit(check::MOST as u64);
    let known =
        |row: &Row<'_>| Ok(Known { id: row.get(0)?, name: row.get(1)?, level: row.get(2)?, index: row.get(3)? });
    Ok(db.rows(select.as_query(), known).await?)
}

/// The results of these services that are not passed: check and service, at most [`RESULTS`].
async fn results(db: &dyn ReadHandle, services: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
    use check_result::Column;
    let own = check_result::Entity::find().select_only().columns([Column::CheckId, Column::ServiceId]);
    let own = own.filter(any(db, Column::ServiceId, services)).filter(Column::Status.ne(Status::Passed));
    let own = own.limit(RESULTS as u64);
    Ok(db.rows(own.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?)
}

/// How many services of the organisation miss each of these checks, as last counted.
async fn of_all(db: &dyn ReadHandle, checks: &[Known]) -> Result<HashMap<i64, (usize, Vec<i64>)>, Fault> {
    use standing_day::Column;
    let build = |key| {
        let last = standing_day::Entity::find().select_only().columns([Column::Services, Column::Passed]).filter(key);
        last.order_by_desc(Column::Day).limit(1).into_query()
    };
    let own = || Column::CheckId.into_expr();
    let (keys, values) = (checks.iter().map(|check| check.id).collect(), Vec::new());
    let query = OfKeys { shape: None, build: &build, values, key: own(), selected: own(), keys, is_limited: true };
    let found = db.rows_of(query, |row| Ok(row.get::<i64>(0)? - row.get::<i64>(1)?)).await?;
    let some = found.into_iter().filter(|(_, missed)| *missed > 0);
    Ok(some.map(|(check, missed)| (check, (usize::try_from(missed).unwrap_or_default(), Vec::new()))).collect())
}

/// The figures of the visitor's first teams.
pub async fn deliveries(
    db: &dyn ReadHandle,
    mine: &Mine,
    now: Timestamp,
    production: &Environments,
) -> Result<Vec<(team::Model, Delivery)>, Fault> {
    let mut all = Vec::new();
    for team in mine.teams.iter().take(MEASURED) {
        let services = service::ids_of(db, service::Column::OwnerId, team.id, SERVICES as u64).await?;
        let found = delivery::of_services(db, &services, figures::end(now), production, delivery::GLANCED).await?;
        all.push((team.clone(), found));
    }
    Ok(all)
}

/// The card of the checks that are missed. Nothing without checks.
pub(super) fn card(page: &Page) -> Markup {
    let Some(Some(next)) = &page.next else { return html! {} };
    let whose = if next.is_of_all { "All services pass" } else { "Your services pass" };
    html! {
        section.card {
            h2 #next { @if next.is_of_all { "Missed checks" } @else { "What is next" } a href="/standards" { "Standards" } }
            @if next.missed.is_empty() { p.soft { (whose) " all of their checks." } }
            ul.missing { @for one in &next.missed {
                li {
                    span {
                        a href=(standard_parts::address(&Id::new::<check::Entity>(one.check.id).text())) { (short(&one.check.name)) }
                        @if !one.named.is_empty() {
                            small {
                                @for (at, id) in one.named.iter().enumerate() { @if at > 0 { ", " } (view::name(page, *id)) }
                                @if one.services > one.named.len() { " and " (one.services - one.named.len()) " more" }
                            }
                        }
                    }
                    span {
                        (level(&one.check.level)) " "
                        span.soft { (count(i64::try_from(one.services).unwrap_or(i64::MAX), "service")) }
                    }
                }
            } }
            @if !next.is_whole { p.soft { "There are more than could be counted here." } }
        }
    }
}

/// The card with the figures of the visitor's teams. Nothing without deploys.
pub(super) fn delivery(page: &Page) -> Markup {
    let all = page.deliveries.as_deref().unwrap_or_default();
    let shown: Vec<(&team::Model, Markup)> =
        all.iter().map(|(team, found)| (team, figures::small(found, &team.alias))).collect();
    let shown: Vec<_> = shown.into_iter().filter(|(_, figures)| !figures.0.is_empty()).collect();
    html! {
        @if !shown.is_empty() {
            section.card {
                h2 #delivery { "Delivery" }
                @for (team, figures) in &shown {
                    @if page.mine.teams.len() > 1 { h3 { (short(&team.name)) } }
                    (figures)
                }
            }
        }
    }
}
