//! Dependencies between services.

use foldhash::HashSet;
use sea_orm::JoinType;
use sea_orm::sea_query::{Expr, ExprTrait, Order};

use super::prelude::*;
use super::{service, tier};

super::table! {
    "service_dependency";

    /// The service that depends.
    pub source_id: i64,
    /// The service that it depends on. Never the same service; each pair occurs once.
    pub destination_id: i64,
    /// Why, or how.
    pub notes: Option<String>,
}

super::called!(noun "dependency");

impl Table for Entity {
    const TOLD: Told = Told::Alone("ServiceDependency");
    const LIST: Option<&'static str> = Some("dependencies");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.source_id))
    }

    fn other_owner(row: &Model) -> Option<RowOf> {
        Some(RowOf::new::<service::Entity>(row.destination_id))
    }

    fn entry(row: &Model) -> Entry {
        let notes = row.notes.as_ref().map_or(String::new(), |notes| format!(" ({notes})"));
        let other = RowOf::new::<service::Entity>(row.destination_id);
        Entry { name: vec![Word::NameOf(other), Word::Text(notes)], value: None }
    }
}

super::rules![FieldRule::text("notes", Column::Notes, text::DESCRIPTION).by_hand()];

/// The maximum depth of a search.
pub const STEPS: u8 = 5;
/// The maximum number of services that a search finds.
pub const FOUND: usize = 10_000;
/// The maximum number of dependencies that a search follows.
pub const FOLLOWED: usize = 30_000;

/// The direction in which a search follows dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the services that depend on a service.
    Dependents,
    /// To the services that a service depends on.
    Dependencies,
}

/// The result of the search from one service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The services by distance, then by id. The start is not among them.
    pub found: Vec<Found>,
    /// Whether the search ended before it reached a limit.
    pub is_complete: bool,
}

/// A service that a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The service.
    pub id: i64,
    /// The number of dependencies on the shortest path to it.
    pub distance: u8,
    /// The previous service on that path.
    pub via: i64,
}

/// Searches breadth first from each service, at most `steps` dependencies deep. Runs one statement per level, whatever
/// the number of services.
pub async fn reach(
    db: &dyn ReadHandle,
    services: &[i64],
    direction: Direction,
    steps: u8,
) -> Result<Vec<Reach>, db::Error> {
    let mut searches: Vec<Search> = services.iter().copied().map(Search::from).collect();
    for distance in 1..=steps {
        let mut keys: Vec<i64> = searches.iter().flat_map(|search| &search.frontier).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() {
            break;
        }
        // A single search reads no more than it still follows.
        let followed = searches.iter().map(|search| search.followed).min().unwrap_or_default();
        let most = FOLLOWED.saturating_mul(searches.len()).saturating_sub(followed);
        let ways = ways(db, direction, &keys, most).await?;
        // Each row was charged once when it was read. Following it for a second search charges it again.
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

/// Reads the dependencies of these services: each service, and the one at the other end. Ordered by service. Reads at
/// most one more than `most`.
async fn ways(
    db: &dyn ReadHandle,
    direction: Direction,
    keys: &[i64],
    most: usize,
) -> Result<Vec<(i64, i64)>, db::Error> {
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

/// A running search.
struct Search {
    seen: HashSet<i64>,
    /// The services found by the last step, ordered by id.
    frontier: Vec<i64>,
    found: Vec<Found>,
    followed: usize,
    is_complete: bool,
}

impl Search {
    fn from(service: i64) -> Self {
        let (seen, frontier) = (HashSet::from_iter([service]), vec![service]);
        Self { seen, frontier, found: Vec::new(), followed: 0, is_complete: true }
    }

    /// Follows the dependencies of the frontier. Calls `pay` for each.
    fn step(
        &mut self,
        ways: &[(i64, i64)],
        distance: u8,
        pay: &mut impl FnMut() -> Result<(), db::Error>,
    ) -> Result<(), db::Error> {
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

/// What says how important a service is.
pub struct Weight {
    /// The service.
    pub id: i64,
    /// The index of its tier. The smallest index is the most critical tier.
    pub tier: Option<i32>,
    /// How many services depend on it, counted to [`WEIGHED`].
    pub dependents: i64,
}

/// The number to which the services that depend on one are counted, which bounds what [`weights`] costs.
const WEIGHED: u64 = 50;

/// Reads how important these services are, in any order.
pub async fn weights(db: &dyn ReadHandle, services: &[i64]) -> Result<Vec<Weight>, db::Error> {
    let is_own = Expr::col(Column::DestinationId.as_column_ref()).eq(Expr::col(service::Column::Id.as_column_ref()));
    let some = Query::select().column(Column::Id.as_column_ref()).from(Entity).and_where(is_own).limit(WEIGHED).take();
    let mut read = service::Entity::find()
        .select_only()
        .column(service::Column::Id)
        .column(tier::Column::Index)
        .join(JoinType::LeftJoin, service::tier_of())
        .filter(db::any(db, service::Column::Id, services));
    QueryTrait::query(&mut read).expr(db::scalar(db::count_of(some)));
    let weight = |row: &db::Row<'_>| Ok(Weight { id: row.get(0)?, tier: row.get(1)?, dependents: row.get(2)? });
    db.rows(read.as_query(), weight).await
}

/// Reads the dependencies among these services, as pairs of the service that depends and the other one. Pass only a few
/// services, because each may depend on every other.
pub async fn among(db: &dyn ReadHandle, services: &[i64]) -> Result<Vec<(i64, i64)>, db::Error> {
    let select = Query::select()
        .columns([Column::SourceId, Column::DestinationId])
        .from(Entity)
        .and_where(db::any(db, Column::SourceId, services))
        .and_where(db::any(db, Column::DestinationId, services))
        .order_by(Column::Id, Order::Asc)
        .take();
    db.rows(&select, |row| Ok((row.get(0)?, row.get(1)?))).await
}

/// Reads the dependencies of these services in both directions, each once, as pairs of the service that depends and the
/// other one. Reads about `most` in each direction. Also returns whether there are no more.
pub async fn around(db: &dyn ReadHandle, services: &[i64], most: usize) -> Result<(Vec<(i64, i64)>, bool), db::Error> {
    let needs = ways(db, Direction::Dependencies, services, most).await?;
    let needed = ways(db, Direction::Dependents, services, most).await?;
    let is_complete = needs.len() <= most && needed.len() <= most;
    let mut seen = HashSet::default();
    let all = needs.into_iter().chain(needed.into_iter().map(|(to, from)| (from, to)));
    Ok((all.filter(|edge| seen.insert(*edge)).collect(), is_complete))
}
