//! Lists deploys, newest first, by conditions that no index serves. A page reads a bounded number of deploys, and says
//! where the next one goes on.

use std::cmp::Reverse;

use futures_util::future::BoxFuture;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, SelectStatement};
use sea_orm::{QueryOrder, QuerySelect, QueryTrait, Select};

use crate::db::{self, OfKeys, Read, ReadHandle, Row, any};
use crate::entity::deploy::{Column, Entity, Environments, Model, Status, environment_key};
use crate::entity::{ByIds, TimeCursor, Timestamp};

/// The maximum number of deploys that a page of a filtered list reads.
pub const SEARCHED: usize = 5_000;
/// The maximum number of services whose deploys a list shows.
pub const SERVICES: usize = 500;
/// The maximum number of deploys that are counted.
pub const COUNTED: usize = 1_000;

/// Selects deploys. A condition that is `None` selects all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Deploys of these services, at most [`SERVICES`].
    pub services: Option<Vec<i64>>,
    /// Deploys to this environment, in any case.
    pub environment: Option<String>,
    /// Deploys with this status.
    pub status: Option<Status>,
    /// Deploys to these environments, beside [`environment`](Self::environment).
    pub production: Option<Environments>,
    /// Deploys by somebody whose name or email address contains this text, in any case. A whole email address means
    /// nobody else's.
    pub person: Option<String>,
    /// Deploys at or after this time.
    pub start: Option<Timestamp>,
    /// Deploys before this time.
    pub end: Option<Timestamp>,
}

impl Filter {
    /// Whether indexes serve all conditions.
    fn is_indexed(&self) -> bool {
        self.status.is_none() && self.person.is_none() && self.production.is_none()
    }
}

/// A page of the list.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The deploys.
    pub deploys: Vec<Model>,
    /// Where the next page begins; `None` after the last deploy. Without deploys, the search goes on there.
    pub next: Option<TimeCursor>,
}

/// A deploy that a page looks at, and whether it is in the list.
type Seen = (TimeCursor, bool);

/// Returns at most `most` deploys after a place.
pub fn page<'f>(
    db: &'f dyn ReadHandle,
    filter: &'f Filter,
    after: Option<TimeCursor>,
    most: usize,
) -> BoxFuture<'f, Result<Found, db::Error>> {
    Box::pin(async move {
        let is_indexed = filter.is_indexed();
        let (lists, each) = match &filter.services {
            Some(services) => {
                let each = if is_indexed { most + 1 } else { (most + 1).max(SEARCHED / services.len().max(1)) };
                (of_services(db, filter, services, after, each as u64).await?, each)
            }
            None => {
                let each = if is_indexed { most + 1 } else { SEARCHED };
                let select = conditions(filter, select(filter), after).limit(each as u64);
                (vec![db.rows(select.as_query(), reader(filter)).await?], each)
            }
        };
        let (places, next) = merged(lists, each, most);
        let deploys = Entity::by_ids(db, places.iter().map(|(_, id)| Some(*id))).await?;
        Ok(Found { deploys: deploys.into_iter().flatten().collect(), next })
    })
}

/// The newest deploys of each of the services, at most `each`.
async fn of_services(
    db: &dyn ReadHandle,
    filter: &Filter,
    services: &[i64],
    after: Option<TimeCursor>,
    each: u64,
) -> Result<Vec<Vec<Seen>>, db::Error> {
    let build = |key: Expr| -> SelectStatement {
        conditions(filter, select(filter).filter(key), after).limit(each).into_query()
    };
    let own = || Expr::col(Column::ServiceId.as_column_ref());
    let (keys, values) = (services.to_vec(), Vec::new());
    let query = OfKeys { shape: None, build: &build, values, key: own(), selected: own(), keys, is_limited: true };
    let seen = db.rows_of(query, reader(filter)).await?;
    Ok(crate::db::by_key(seen).into_iter().map(|(_, list)| list).collect())
}

/// Selects what [`reader`] reads: no more than an index has, unless somebody is looked for.
fn select(filter: &Filter) -> Select<Entity> {
    let mut select = Entity::find().select_only().columns([Column::DeployedAt, Column::Id]);
    if !filter.is_indexed() {
        select = select.columns([Column::DeployStatus, Column::EnvironmentKey]);
    }
    if filter.person.is_some() {
        select = select.columns([Column::DeployerName, Column::DeployerEmail]);
    }
    select
}

/// Reads a deploy's place, and whether it meets the conditions that no index serves.
fn reader(filter: &Filter) -> impl Fn(&Row<'_>) -> Result<Seen, db::Error> + Clone + Send + Sync + 'static {
    let (status, person) = (filter.status, filter.person.as_ref().map(|text| text.to_lowercase()));
    let (production, is_indexed) = (filter.production.clone(), filter.is_indexed());
    move |row| {
        let place = (Timestamp::from_micros(row.get(0)?), row.get(1)?);
        if is_indexed {
            return Ok((place, true));
        }
        let has_status = match status {
            Some(status) => row.get::<Option<String>>(2)?.is_some_and(|word| word == status.to_value()),
            None => true,
        };
        let is_production = match &production {
            Some(production) => production.contain(row.get::<Option<String>>(3)?.as_deref()),
            None => true,
        };
        let is_by = match &person {
            Some(person) => {
                let (name, email) = (row.get::<Option<String>>(4)?, row.get::<Option<String>>(5)?);
                [name, email].into_iter().flatten().any(|text| is_named(&text.to_lowercase(), person))
            }
            None => true,
        };
        Ok((place, has_status && is_production && is_by))
    }
}

/// Whether a name or an email address is what is looked for. Both are in lower case.
fn is_named(text: &str, person: &str) -> bool {
    let (local, host) = person.split_once('@').unwrap_or_default();
    let is_whole = !local.is_empty() && host.contains('.') && !host.ends_with('.');
    if is_whole { text == person } else { text.contains(person) }
}

/// Adds the conditions that an index serves, and the order.
fn conditions(filter: &Filter, mut select: Select<Entity>, after: Option<TimeCursor>) -> Select<Entity> {
    if let Some(environment) = &filter.environment {
        select = select.filter(Column::EnvironmentKey.eq(environment_key(environment)));
    }
    if let Some(start) = filter.start {
        select = select.filter(Column::DeployedAt.gte(start));
    }
    if let Some(end) = filter.end {
        select = select.filter(Column::DeployedAt.lt(end));
    }
    if let Some((at, id)) = after {
        let place = Expr::tuple([Column::DeployedAt, Column::Id].map(|column| Expr::col(column.as_column_ref())));
        select = select.filter(place.lt(Expr::tuple([Expr::value(at), Expr::value(id)])));
    }
    select.order_by_desc(Column::DeployedAt).order_by_desc(Column::Id)
}

/// Merges lists, each of which ends after `each` deploys or is whole. Returns the places of at most `most` deploys, and
/// where the next page begins. Nothing behind the end of a list that is not whole is known.
fn merged(lists: Vec<Vec<Seen>>, each: usize, most: usize) -> (Vec<TimeCursor>, Option<TimeCursor>) {
    let ends = lists.iter().filter(|list| list.len() >= each);
    let end = ends.filter_map(|list| list.last()).map(|(place, _)| *place).max();
    let wanted = lists.into_iter().flatten().filter(|(_, is_wanted)| *is_wanted).map(|(place, _)| place);
    let mut places: Vec<TimeCursor> = wanted.filter(|place| end.is_none_or(|end| *place >= end)).collect();
    places.sort_unstable_by_key(|place| Reverse(*place));
    let next = if places.len() > most { places.get(most.saturating_sub(1)).copied() } else { end };
    places.truncate(most);
    (places, next)
}

/// Counts the deploys of services, or of all, from a time on: all, succeeded and failed, up to [`COUNTED`].
pub async fn tally(db: &dyn ReadHandle, services: Option<&[i64]>, start: Timestamp) -> Result<[usize; 3], db::Error> {
    let mut select = Entity::find().select_only().column(Column::DeployStatus).filter(Column::DeployedAt.gte(start));
    if let Some(services) = services {
        select = select.filter(any(db, Column::ServiceId, services));
    }
    let words = db.rows(select.limit(COUNTED as u64 + 1).as_query(), |row| row.get::<Option<String>>(0)).await?;
    let with = |status: Status| words.iter().filter(|word| **word == Some(status.to_value())).count();
    Ok([words.len(), with(Status::Succeeded), with(Status::Failed)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(moment: i64, is_wanted: bool) -> Seen {
        ((Timestamp::from_micros(moment), moment), is_wanted)
    }

    fn moments(places: Vec<TimeCursor>) -> Vec<i64> {
        places.into_iter().map(|(_, id)| id).collect()
    }

    #[test]
    fn a_whole_email_address_means_nobody_elses() {
        for (person, found) in [
            ("al", vec!["al@example.com", "cal@example.com"]),
            ("al@", vec!["al@example.com", "cal@example.com"]),
            ("@example.com", vec!["al@example.com", "cal@example.com"]),
            ("al@example.com", vec!["al@example.com"]),
        ] {
            let all = ["al@example.com", "cal@example.com"];
            assert_eq!(all.into_iter().filter(|text| is_named(text, person)).collect::<Vec<_>>(), found, "{person}");
        }
    }

    #[test]
    fn lists_that_are_not_whole_end_the_page_where_they_end() {
        let lists = vec![vec![at(9, true), at(7, true), at(5, true)], vec![at(8, true), at(2, true)]];
        let (places, next) = merged(lists, 3, 10);
        assert_eq!((moments(places), next.map(|(_, id)| id)), (vec![9, 8, 7, 5], Some(5)));
    }

    #[test]
    fn a_page_goes_on_after_its_last_deploy_or_where_the_search_ended() {
        let list = || vec![at(9, true), at(7, false), at(5, true), at(3, false)];
        let (places, next) = merged(vec![list()], 10, 1);
        assert_eq!((moments(places), next.map(|(_, id)| id)), (vec![9], Some(9)));
        let (places, next) = merged(vec![list()], 4, 2);
        assert_eq!((moments(places), next.map(|(_, id)| id)), (vec![9, 5], Some(3)));
        let (places, next) = merged(vec![list()], 10, 2);
        assert_eq!((moments(places), next), (vec![9, 5], None));
    }
}
