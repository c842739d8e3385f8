//! Dependencies: which service needs which.

use std::collections::HashSet;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Order, Query};
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::text;
use crate::db::{self, Read};

/// A row of `service_dependency`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_dependency")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service that depends.
    pub source_id: i64,
    /// The service that it depends on; another one, and once.
    pub destination_id: i64,
    /// Why, or how.
    pub notes: Option<String>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[FieldRule::text("notes", Column::Notes, text::DESCRIPTION)];
}

/// The most steps that a search follows.
pub const STEPS: u8 = 5;
/// The most services that a search finds.
pub const FOUND: usize = 10_000;
/// The most dependencies that a search follows.
pub const FOLLOWED: usize = 30_000;

/// Which way a search follows dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a service to those that depend on it.
    Dependents,
    /// From a service to those that it depends on.
    Dependencies,
}

/// What the search from one service has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The services by distance, then by id. The service itself is not among them.
    pub found: Vec<Found>,
    /// Whether the search came to its end before one of its limits.
    pub is_complete: bool,
}

/// A service that a search has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The service.
    pub id: i64,
    /// The number of dependencies on the shortest way to it.
    pub distance: u8,
    /// The service before it on that way.
    pub via: i64,
}

/// Searches from each service, breadth first, at most `steps` dependencies deep. Takes one statement for each step,
/// whatever the number of services.
pub async fn reach(db: &impl Read, services: &[i64], direction: Direction, steps: u8) -> Result<Vec<Reach>, DbErr> {
    let mut searches: Vec<Search> = services.iter().copied().map(Search::from).collect();
    let most = FOLLOWED.saturating_mul(searches.len());
    for distance in 1..=steps {
        let mut keys: Vec<i64> = searches.iter().flat_map(|search| &search.frontier).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() {
            break;
        }
        let ways = ways(db, direction, &keys, most).await?;
        // The rows were charged when they were read; following one for another search costs as much again.
        let mut paid = ways.len();
        for search in &mut searches {
            search.is_complete &= ways.len() <= most || search.frontier.is_empty();
            search.step(&ways, distance, &mut || match paid.checked_sub(1) {
                Some(rest) => {
                    paid = rest;
                    Ok(())
                }
                None => db.charge::<(i64, i64)>(0),
            })?;
        }
    }
    Ok(searches.into_iter().map(|Search { found, is_complete, .. }| Reach { found, is_complete }).collect())
}

/// The dependencies at these services: the service, and the one at the other end. Ordered by service; at most one more
/// than `most`.
async fn ways(db: &impl Read, direction: Direction, keys: &[i64], most: usize) -> Result<Vec<(i64, i64)>, DbErr> {
    let (from, to) = match direction {
        Direction::Dependents => (Column::DestinationId, Column::SourceId),
        Direction::Dependencies => (Column::SourceId, Column::DestinationId),
    };
    let select = Query::select()
        .columns([from, to])
        .from(Entity)
        .and_where(db::any(db, from, keys))
        .order_by(from, Order::Asc)
        .order_by(Column::Id, Order::Asc)
        .limit(most as u64 + 1)
        .take();
    db.rows(&select, |row| Ok((row.get(0)?, row.get(1)?))).await
}

/// A search that is under way.
struct Search {
    seen: HashSet<i64>,
    /// What the last step has found, by id.
    frontier: Vec<i64>,
    found: Vec<Found>,
    followed: usize,
    is_complete: bool,
}

impl Search {
    fn from(service: i64) -> Self {
        let (seen, frontier) = (HashSet::from([service]), vec![service]);
        Self { seen, frontier, found: Vec::new(), followed: 0, is_complete: true }
    }

    /// Follows the dependencies of the frontier. `pay` is called for each.
    fn step(
        &mut self,
        ways: &[(i64, i64)],
        distance: u8,
        pay: &mut impl FnMut() -> Result<(), DbErr>,
    ) -> Result<(), DbErr> {
        let known = self.found.len();
        'frontier: for via in std::mem::take(&mut self.frontier) {
            let start = ways.partition_point(|(from, _)| *from < via);
            for (_, id) in ways[start..].iter().take_while(|(from, _)| *from == via) {
                pay()?;
                self.followed += 1;
                let is_new = !self.seen.contains(id);
                if self.followed > FOLLOWED || is_new && self.found.len() == FOUND {
                    self.is_complete = false;
                    break 'frontier;
                }
                if is_new {
                    self.seen.insert(*id);
                    self.found.push(Found { id: *id, distance, via });
                }
            }
        }
        self.found[known..].sort_unstable_by_key(|found| found.id);
        if self.is_complete {
            self.frontier = self.found[known..].iter().map(|found| found.id).collect();
        }
        Ok(())
    }
}

/// The dependencies between these services: the one that depends, and the other. The caller gives a few services, since
/// all of them may depend on each other.
pub async fn among(db: &impl Read, services: &[i64]) -> Result<Vec<(i64, i64)>, DbErr> {
    let select = Query::select()
        .columns([Column::SourceId, Column::DestinationId])
        .from(Entity)
        .and_where(db::any(db, Column::SourceId, services))
        .and_where(db::any(db, Column::DestinationId, services))
        .order_by(Column::Id, Order::Asc)
        .take();
    db.rows(&select, |row| Ok((row.get(0)?, row.get(1)?))).await
}

/// All dependencies at these services, each once: the one that depends, and the other. Also returns whether these are
/// all: about `most` are read in each direction.
pub async fn around(db: &impl Read, services: &[i64], most: usize) -> Result<(Vec<(i64, i64)>, bool), DbErr> {
    let needs = ways(db, Direction::Dependencies, services, most).await?;
    let needed = ways(db, Direction::Dependents, services, most).await?;
    let is_complete = needs.len() <= most && needed.len() <= most;
    let mut seen = HashSet::new();
    let all = needs.into_iter().chain(needed.into_iter().map(|(to, from)| (from, to)));
    Ok((all.filter(|edge| seen.insert(*edge)).collect(), is_complete))
}
